"""Survival times: are the true columns found, and how well are measured tables predicted?

``python benchmarks/survival.py recovery [FIRST LAST [METHOD ...]]`` draws 400 rows of 50 columns;
the log hazard is Friedman's first function, standardized, or 2 sign(x1 x2), and 40 % of the rows
are censored. Counted are the true columns among as many that are ranked first.
``python benchmarks/survival.py tables [REPEATS]`` compares concordances on tables of lifelines, by
five folds that are drawn anew in every repeat. The peers are those of scikit-survival, which is not
a dependency: Cox's lasso, gradient boosting and the random survival forest, each with its penalty
or its size chosen on folds of the training rows, or as by default.
"""

import sys
import time
import warnings

import numpy as np
from _common import write
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from kernelknife import KnifeSurvivalCV, knife_path
from kernelknife.survival_metrics import concordance

N_ROWS, N_COLUMNS, CENSORED = 400, 50, 0.4


# -- planted columns ------------------------------------------------------------------------------


def friedman(n, p, rng):
    X = rng.uniform(size=(n, p))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    f = f + 10 * X[:, 3] + 5 * X[:, 4]
    return X, (f - f.mean()) / f.std(), 5


def sign(n, p, rng):
    X = rng.normal(size=(n, p))
    return X, 2.0 * np.sign(X[:, 0] * X[:, 1]), 2


PROBLEMS = {"exp(Friedman)": friedman, "exp(2 sign(x1 x2))": sign}


def draw(problem, seed):
    """Return columns, times with events, and the number of true columns, which are the first."""
    rng = np.random.default_rng(seed)
    X, f, n_true = PROBLEMS[problem](N_ROWS, N_COLUMNS, rng)
    time_of_event = rng.exponential(np.exp(-f))
    wait = rng.exponential(size=N_ROWS)
    low, high = 1e-3, 1e3
    for _ in range(60):  # the mean wait until censoring that censors as many rows as asked for
        middle = np.sqrt(low * high)
        low, high = (
            (low, middle) if np.mean(middle * wait < time_of_event) < CENSORED else (middle, high)
        )
    event = time_of_event <= middle * wait
    return X, np.column_stack([np.minimum(time_of_event, middle * wait), event]), n_true


def structured(y):
    return np.array(
        list(zip(y[:, 1] > 0, y[:, 0], strict=True)), dtype=[("event", "?"), ("time", float)]
    )


def rank_by_path(kernel, alpha=1.0):
    def rank(X, y):
        return knife_path(X, y, task="survival", kernel=kernel, alpha=alpha).ranking

    return rank


def rank_by_permutation(make):
    def rank(X, y):
        half = np.arange(len(X)) % 2 == 0
        model = make().fit(X[half], structured(y[half]))
        found = permutation_importance(
            model, X[~half], structured(y[~half]), n_repeats=5, random_state=0
        )
        return np.argsort(np.argsort(-found.importances_mean)) + 1

    return rank


def rank_by_lasso(X, y):
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.01).fit(Z, structured(y)).coef_
    entered = np.where((path != 0).any(axis=1), np.argmax(path != 0, axis=1), path.shape[1])
    return np.argsort(np.argsort(entered, kind="stable"), kind="stable") + 1


def boosting():
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    return GradientBoostingSurvivalAnalysis(random_state=0)


def forest():
    from sksurv.ensemble import RandomSurvivalForest

    return RandomSurvivalForest(n_estimators=200, min_samples_leaf=5, random_state=0)


def rank_by_search(X, y):
    """Return 1 for the columns that the default search selects, and 2 for the others."""
    return KnifeSurvivalCV().fit(X, y).ranking_.clip(max=2)


RANKERS = {
    "path, rbf": rank_by_path("rbf"),
    "path, rbf, alpha 0.1": rank_by_path("rbf", alpha=0.1),
    "path, anova, alpha 10": rank_by_path("anova", alpha=10.0),
    "search": rank_by_search,
    "Cox lasso": rank_by_lasso,
    "gradient boosting, permutation": rank_by_permutation(boosting),
    "random survival forest, permutation": rank_by_permutation(forest),
}


def recovery(first=0, last=20, *methods):
    rows = []
    for seed in range(int(first), int(last)):
        for problem in PROBLEMS:
            X, y, n_true = draw(problem, seed)
            for method in methods or RANKERS:
                begin = time.process_time()
                ranks = np.asarray(RANKERS[method](X, y))
                seconds = round(time.process_time() - begin, 2)
                if method == "search":
                    found, exact = int((ranks[:n_true] == 1).sum()), int((ranks == 1).sum())
                    exact = int(found == exact == n_true)
                else:
                    found, exact = int((ranks[:n_true] <= n_true).sum()), ""
                rows.append({
                    "problem": problem, "seed": seed, "method": method, "true_columns": n_true,
                    "true_found": found, "exact_set": exact, "seconds": seconds,
                })  # fmt: skip
            write("survival_recovery", rows)


# -- measured tables ------------------------------------------------------------------------------


def tables():
    """Yield names, numbers and times of lifelines' tables; texts become indicator columns."""
    import pandas as pd
    from lifelines import datasets

    yield "rossi", datasets.load_rossi(), "week", "arrest", []
    yield "gbsg2", datasets.load_gbsg2(), "time", "cens", []
    yield "lung", datasets.load_lung().dropna(), "time", "status", []
    yield "kidney_transplant", datasets.load_kidney_transplant(), "time", "death", []
    yield "larynx", datasets.load_larynx(), "time", "death", []
    heart = datasets.load_stanford_heart_transplants()
    heart = heart.assign(days=heart["stop"] - heart["start"])
    yield "stanford_heart", heart[heart["days"] > 0], "days", "event", ["start", "stop", "id"]
    aids = datasets.load_multicenter_aids_cohort_study()
    assert isinstance(aids, pd.DataFrame)
    yield "multicenter_aids", aids, "T", "D", []


def read(frame, time_name, event_name, unused):
    import pandas as pd

    y = frame[[time_name, event_name]].to_numpy(float)
    columns = frame.drop(columns=[time_name, event_name, *unused])
    return pd.get_dummies(columns, drop_first=True).astype(float), y


def fit_knife(X, y):
    model = KnifeSurvivalCV().fit(X, y)
    return model.predict, int(model.get_support().sum())


def fit_lasso(X, y):
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    center, scale = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z = (X - center) / scale
    alphas = CoxnetSurvivalAnalysis(l1_ratio=1.0).fit(Z, structured(y)).alphas_
    grid = {"alphas": [[alpha] for alpha in alphas]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = GridSearchCV(
        CoxnetSurvivalAnalysis(l1_ratio=1.0),
        grid,
        cv=list(folds.split(Z, y[:, 1])),
        error_score=0.5,
    ).fit(Z, structured(y))
    kept = int(np.count_nonzero(model.best_estimator_.coef_))
    return lambda new: model.predict((new - center) / scale), kept


def fit_forest(X, y):
    model = forest().fit(X, structured(y))
    return model.predict, X.shape[1]


MODELS = {
    "KnifeSurvivalCV()": fit_knife,
    "Cox lasso": fit_lasso,
    "random survival forest": fit_forest,
}


def measured(repeats=1):
    rows = []
    for name, *source in tables():
        frame, y = read(*source)
        X = frame.to_numpy(float)
        for repeat in range(int(repeats)):
            folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
            for fold, (train, test) in enumerate(folds.split(X, y[:, 1])):
                for method, fit in MODELS.items():
                    begin = time.process_time()
                    predict, kept = fit(X[train], y[train])
                    value = concordance(y[test, 0], y[test, 1], predict(X[test]))
                    rows.append({
                        "table": name, "rows": len(X), "columns": X.shape[1], "repeat": repeat,
                        "fold": fold, "method": method, "concordance": round(value, 4),
                        "kept": kept, "seconds": round(time.process_time() - begin, 2),
                    })  # fmt: skip
                write("survival_tables", rows)
        for method in MODELS:
            mine = [row for row in rows if (row["table"], row["method"]) == (name, method)]
            means = [np.mean([row[key] for row in mine]) for key in ("concordance", "kept")]
            print(name, method, *np.round(means, 3), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kind, *arguments = sys.argv[1:]
    {"recovery": recovery, "tables": measured}[kind](*arguments)
