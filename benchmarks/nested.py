"""How far the scores of a search are from the error of its model on fresh rows.

Errors are mean squared errors in excess of the noise: from those of the folds the mean square of
their rows' noise is subtracted, and on 2,000 fresh rows the target has none. There are two truths:
the error of the model that is fitted to all rows, and that of what the same search finds on as many
rows as a fold trains on, which is what a score of folds estimates.
"""

import argparse
import time
import warnings

import numpy as np
from _common import write

from kernelknife import KnifeRegressorCV

N_ROWS, N_COLUMNS, N_FRESH = 60, 8, 2000
PROBLEMS = {
    "noise": lambda X: np.zeros(len(X)),
    "sin(2 x0) + x1/2": lambda X: np.sin(2 * X[:, 0]) + X[:, 1] / 2,
}
OPTIONS = {"kernel": ["linear", "rbf"], "sparsities": 8, "cv": 5, "random_state": 0}
ESTIMATES = ("best", "others", "full")
TRUTHS = ("truth", "truth_of_fold")


def run(problem, seed):
    """Return the errors that one search estimates, and the true ones."""
    begin = time.process_time()
    rng = np.random.default_rng([seed, 35])
    X, noise = rng.normal(size=(N_ROWS, N_COLUMNS)), rng.normal(size=N_ROWS)
    fresh = rng.normal(size=(N_FRESH, N_COLUMNS))
    function = PROBLEMS[problem]
    y = function(X) + noise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        searches = {
            nested: KnifeRegressorCV(**OPTIONS, nested=nested).fit(X, y)
            for nested in ("others", "full")
        }
        search = searches["full"]
        train = search.splits_[0][0]
        fold = KnifeRegressorCV(**OPTIONS).fit(X[train], y[train])
    of_noise = np.mean([np.mean(noise[test] ** 2) for _, test in search.splits_])
    errors = {"best": -search.best_score_ - of_noise}
    errors |= {name: -one.nested_scores_.mean() - of_noise for name, one in searches.items()}
    for name, model in zip(TRUTHS, (search, fold), strict=True):
        errors[name] = np.mean((model.predict(fresh) - function(fresh)) ** 2)
    return {
        "problem": problem,
        "seed": seed,
        **{name: f"{error:.4f}" for name, error in errors.items()},
        "seconds": f"{time.process_time() - begin:.1f}",
    }


def summarize(rows):
    """Print the mean of every estimate minus both truths, with standard errors."""
    for problem in PROBLEMS:
        mine = [row for row in rows if row["problem"] == problem]
        errors = {name: np.array([float(row[name]) for row in mine]) for name in ESTIMATES + TRUTHS}
        for truth in TRUTHS:
            print(f"{problem}, {len(mine)} draws, {truth} {errors[truth].mean():.3f}")
            for name in ESTIMATES:
                bias = errors[name] - errors[truth]
                error = bias.std(ddof=1) / np.sqrt(len(bias))
                print(f"  {name}: {bias.mean():+.3f} +- {error:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=170, help="draws of every problem")
    options = parser.parse_args()
    rows = [run(problem, seed) for seed in range(options.draws) for problem in PROBLEMS]
    write("nested", rows)
    summarize(rows)


if __name__ == "__main__":
    main()
