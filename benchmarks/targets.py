"""Are the true columns found for counts and for a quantile, and how does that compare with others?

400 rows, 50 columns, 20 draws of each problem:

* counts: Poisson numbers whose log mean is Friedman's first function, standardized (columns 0 to
  4);
* exposure: the same, each row observed for a time between 0.1 and 10;
* quantile: the 0.9 quantile of a number whose mean depends on columns 0 and 1 and whose spread
  depends on columns 2 and 3.

For every method: whether the true columns are ranked first, and for the default search and other
methods that select whether they are exactly what is selected.

    python benchmarks/targets.py            # everything, into results/targets.csv
    python benchmarks/targets.py --draws 3  # a look
"""

import argparse
import sys
import time
import warnings

import numpy as np
from _common import write
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import PoissonRegressor, QuantileRegressor
from sklearn.model_selection import train_test_split

from kernelknife import KnifeRegressorCV, knife_path
from kernelknife.losses import PoissonLoss, QuantileLoss

ROWS, COLUMNS = 400, 50


def friedman(X):
    """Return Friedman's first function, standardized by its moments under uniform columns."""
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return (f + 10 * X[:, 3] + 5 * X[:, 4] - 14.41) / 4.87


def counts(rng):
    X = rng.uniform(size=(ROWS, COLUMNS))
    return X, rng.poisson(np.exp(friedman(X))).astype(float), None


def exposed(rng):
    X = rng.uniform(size=(ROWS, COLUMNS))
    exposure = 10 ** rng.uniform(-1, 1, size=ROWS)
    return X, rng.poisson(exposure * np.exp(friedman(X))).astype(float), exposure


def spread(rng):
    X = rng.uniform(-1, 1, size=(ROWS, COLUMNS))
    mean = 2 * np.sin(np.pi * X[:, 0]) + 2 * X[:, 1] ** 2
    return X, mean + np.exp(X[:, 2] + X[:, 3]) * rng.normal(size=ROWS), None


PROBLEMS = {
    "counts": (counts, PoissonLoss(), 5),
    "exposure": (exposed, PoissonLoss(), 5),
    "quantile": (spread, QuantileLoss(0.9), 4),
}


# -- methods: the rank of every column, and the selection where there is one ----------------------


def default_path(X, y, exposure, loss):
    offset = {} if exposure is None else {"exposure": exposure}
    return knife_path(X, y, loss=loss, **offset).ranking, None


def default_search(X, y, exposure, loss):
    offset = {} if exposure is None else {"exposure": exposure}
    search = KnifeRegressorCV(loss=loss).fit(X, y, **offset)
    return search.ranking_, search.get_support(indices=True)


def boosting(X, y, exposure, loss):
    """Gradient boosting, and how much a shuffled column costs on a third of the rows."""
    poisson = isinstance(loss, PoissonLoss)
    options = {"loss": "poisson"} if poisson else {"loss": "quantile", "quantile": 0.9}
    rate, s = (y, np.ones(len(y))) if exposure is None else (y / exposure, exposure)
    parts = train_test_split(X, rate, s, test_size=1 / 3, random_state=0)
    train_X, test_X, train_y, test_y, train_s, test_s = parts
    model = HistGradientBoostingRegressor(**options, random_state=0)
    model.fit(train_X, train_y, sample_weight=train_s)
    found = permutation_importance(
        *(model, test_X, test_y), n_repeats=5, random_state=0, sample_weight=test_s
    )
    return ranks(found.importances_mean), None


def straight_lines(X, y, exposure, loss):
    """The generalized linear model of standardized columns, by the size of its coefficients."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    if isinstance(loss, PoissonLoss):
        rate, s = (y, None) if exposure is None else (y / exposure, exposure)
        model = PoissonRegressor(alpha=1e-3, max_iter=1000).fit(Z, rate, sample_weight=s)
        return ranks(np.abs(model.coef_)), None
    model = QuantileRegressor(quantile=0.9, alpha=0.02).fit(Z, y)
    return ranks(np.abs(model.coef_)), np.flatnonzero(np.abs(model.coef_) > 1e-8)


def ranks(strength):
    """Return 1 for the strongest column."""
    order = np.argsort(-strength, kind="stable")
    result = np.empty(len(order), dtype=int)
    result[order] = np.arange(1, len(order) + 1)
    return result


METHODS = {
    "knife_path": default_path,
    "KnifeRegressorCV": default_search,
    "boosting, permutation": boosting,
    "generalized linear": straight_lines,
}


def judge(problem, method, seed):
    draw, loss, n_true = PROBLEMS[problem]
    data = draw(np.random.default_rng(seed))
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranking, selected = METHODS[method](*data, loss)
    known = selected is not None
    return {
        "problem": problem,
        "method": method,
        "seed": seed,
        "first": int((np.sort(ranking[:n_true]) <= n_true).all()),
        "exact": int(np.array_equal(selected, np.arange(n_true))) if known else "",
        "false": int((selected >= n_true).sum()) if known else "",
        "missed": int(n_true - (selected < n_true).sum()) if known else "",
        "seconds": f"{time.perf_counter() - begin:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    options = parser.parse_args()
    rows = []
    for problem in options.problems:
        for method in options.methods:
            mine = [judge(problem, method, 1000 + i) for i in range(options.draws)]
            rows += mine
            first = np.mean([row["first"] for row in mine])
            exact = [row["exact"] for row in mine if row["exact"] != ""]
            words = f"{problem:9s} {method:22s} first {first:.2f}"
            if exact:
                words += f", exactly these {np.mean(exact):.2f}"
            seconds = np.median([float(row["seconds"]) for row in mine])
            print(f"{words}, {seconds:.1f} s", file=sys.stderr, flush=True)
    if options.draws >= 20 and len(options.problems) == len(PROBLEMS):
        write("targets", rows)


if __name__ == "__main__":
    main()
