"""Gaps as the estimators see them, beside filling with medians and gradient boosting.

    python benchmarks/gaps.py [n_draws [first]]

Prints by problem the recall of the path (true columns among as many that leave last), the share of
the true columns that ``KnifeRegressorCV`` or ``KnifeClassifierCV`` selects, and test errors with
standard errors over the draws, on 20 % gaps at random; then how often gaps that depend on the
target are found as the effect of "missing".
"""

import sys

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from kernelknife import (
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife.datasets import make_skin_of_orange

SHARE = 0.2
TEST_ROWS = 1000


def orange(seed):
    """Skin of the orange with 46 columns of noise, 300 training rows."""
    X, y = make_skin_of_orange(300 + TEST_ROWS, 46, random_state=seed)
    return X, y, np.arange(4), 300, "anova"


def friedman(seed):
    """Friedman's first function among 50 columns, 400 training rows."""
    X, y = make_friedman1(400 + TEST_ROWS, 50, noise=1.0, random_state=seed)
    return X, y, np.arange(5), 400, "anova"


def sign(seed):
    """The sign of a product of two among 200 columns, 400 training rows."""
    X = np.random.default_rng(seed).normal(size=(400 + TEST_ROWS, 200))
    return X, np.sign(X[:, 0] * X[:, 1]).astype(int), np.arange(2), 400, "rbf"


def one_draw(make, seed):
    """Return recalls and errors of one draw, by name."""
    X, y, true, n, kernel = make(seed)
    gap = np.random.default_rng(1000 + seed).random(X.shape) < SHARE
    X = np.where(gap, np.nan, X)
    (train, test), (y_train, y_test) = (X[:n], X[n:]), (y[:n], y[n:])
    filler = SimpleImputer(strategy="median").fit(train)
    results = {}
    for name, rows in (("gaps", train), ("filled", filler.transform(train))):
        path = knife_path(rows, y_train, kernel=kernel)
        last = np.argsort(path.ranking, kind="stable")[: len(true)]
        results[f"recall {name}"] = np.isin(true, last).mean()
    classes = y.dtype.kind == "i"
    search = KnifeClassifierCV if classes else KnifeRegressorCV
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    models = {
        "gaps": search(kernel, cv=3),
        "filled": make_pipeline(SimpleImputer(strategy="median"), search(kernel, cv=3)),
        "boosting": boosting(random_state=0),
    }
    for name, model in models.items():
        predicted = model.fit(train, y_train).predict(test)
        wrong = predicted != y_test if classes else (predicted - y_test) ** 2 / y_test.var()
        results[f"error {name}"] = wrong.mean()
    results["error gaps / filled"] = results["error gaps"] / results["error filled"]
    results["found"] = models["gaps"].get_support()[true].mean()
    return results


def informative(seed):
    """Return whether gaps that depend on the target are the largest effect of their column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 50))
    gap = rng.random(X.shape) < SHARE
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 1.5 * gap[:, 2] + 0.5 * rng.normal(size=300)
    model = KnifeRegressor("additive", n_features_to_select=3).fit(np.where(gap, np.nan, X), y)
    shares = {effect.names: effect.share for effect in model.effects()}
    return shares.get(("x2 is missing",), 0.0) > max(shares.get(("x2",), 0.0), 0.05)


def main():
    """Print one line per figure."""
    given = dict(zip(("n_draws", "first"), map(int, sys.argv[1:3]), strict=False))
    n_draws, first = given.get("n_draws", 3), given.get("first", 0)
    for make in (orange, friedman, sign):
        draws = [one_draw(make, seed) for seed in range(first, first + n_draws)]
        print(make.__name__)
        for name in draws[0]:
            values = np.array([draw[name] for draw in draws])
            spread = values.std() / max(n_draws - 1, 1) ** 0.5
            print(f"  {name:19} {values.mean():.3f} +- {spread:.3f}", flush=True)
    found = sum(informative(seed) for seed in range(first, first + 5 * n_draws))
    print("gaps that mean something:", found, "of", 5 * n_draws)


if __name__ == "__main__":
    main()
