"""Do the q-values of stability selection hold, and how much do they find?

    python benchmarks/q_values.py --draws 30
    python benchmarks/q_values.py --summary

A selection takes all columns with ``q_values_`` at most 0.1, or 0.2. Over the draws of a problem
its mean share of false columns should be at most that level, up to two standard errors. Beside it
stand the share of the true columns that it finds, and the false columns and the power of
``support_``, which bounds their number. The problems have correlated columns, weak signals, heavy
tails, classes, pairs without an effect of their own, and no signal at all. The rule was selected on
draws of other sizes, so that all of these judge it. Draws that the table of results has are
skipped, so that a run can be stopped and continued.
"""

import argparse
import csv
import time
import warnings
import zlib

import numpy as np
from _common import RESULTS, provenance
from joblib import Parallel, delayed
from sklearn.datasets import make_friedman1

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeStability

LEVELS = (0.1, 0.2)
NAME = "q_values"


def correlated(rng, n, p, correlation):
    """Return normal columns, each correlated with the one before it."""
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    return X


def with_noise(signal, ratio, rng):
    """Return a signal with noise of a share of its variance."""
    return signal + np.sqrt(signal.var() / ratio) * rng.standard_normal(len(signal))


def bumps(rng, n, p, ratio):
    """Sums of ``exp(-x**2)`` of columns in groups of neighbors, as in a published simulation."""
    X, size = correlated(rng, n, p, 0.5), int(rng.integers(5, 16))
    true = rng.choice(p, size, replace=False)
    signs = rng.choice([-1.0, 1.0], size)
    return X, with_noise(np.exp(-(X[:, true] ** 2)) @ signs, ratio, rng), true


def bumps_of_groups(rng, n, p, ratio):
    """``exp(-s**2)`` of sums ``s`` of two or three columns."""
    X, size = correlated(rng, n, p, 0.5), int(rng.integers(5, 11))
    true = rng.choice(p, size, replace=False)
    parts = np.array_split(true, max(2, size // 3))
    signal = sum(np.exp(-((X[:, part].sum(axis=1) / len(part)) ** 2)) for part in parts)
    return X, with_noise(signal, ratio, rng), true


def weak_linear(rng, n, p, ratio):
    X, true = correlated(rng, n, p, 0.8), rng.choice(p, 10, replace=False)
    return X, with_noise(X[:, true] @ rng.choice([-1.0, 1.0], 10), ratio, rng), true


def heavy(rng, n, p):
    X, true = np.exp(correlated(rng, n, p, 0.5)), np.arange(0, p, p // 5)[:5]
    return X, with_noise(np.log(X[:, true]).sum(axis=1), 1.0, rng), true


def friedman(rng, n, p):
    X, y = make_friedman1(n, p, noise=2.0, random_state=int(rng.integers(2**31)))
    return X, y, np.arange(5)


def pair(rng, n, p):
    X = correlated(rng, n, p, 0.3)
    return X, (X[:, 0] * X[:, p // 2] + 0.5 * rng.standard_normal(n) > 0).astype(int), [0, p // 2]


def weak_classes(rng, n, p):
    X, true = correlated(rng, n, p, 0.6), rng.choice(p, 8, replace=False)
    chance = 1.0 / (1.0 + np.exp(-X[:, true] @ rng.choice([-0.8, 0.8], 8)))
    return X, (rng.random(n) < chance).astype(int), true


def noise(rng, n, p):
    return correlated(rng, n, p, 0.5), rng.standard_normal(n), []


# A draw, and the kernel; None is the default of the method.
PROBLEMS = {
    "bumps, ratio 2, additive": (lambda rng: bumps(rng, 150, 100, 2.0), "additive"),
    "bumps, ratio 0.5, additive": (lambda rng: bumps(rng, 150, 100, 0.5), "additive"),
    "bumps of groups, ratio 2": (lambda rng: bumps_of_groups(rng, 200, 60, 2.0), None),
    "bumps of groups, ratio 0.5": (lambda rng: bumps_of_groups(rng, 200, 60, 0.5), None),
    "weak linear, correlation 0.8": (lambda rng: weak_linear(rng, 150, 80, 0.7), "linear"),
    "heavy tails, additive": (lambda rng: heavy(rng, 120, 80), "additive"),
    "Friedman, noise 2": (lambda rng: friedman(rng, 150, 50), None),
    "pair among 40": (lambda rng: pair(rng, 150, 40), None),
    "weak classes, correlation 0.6": (lambda rng: weak_classes(rng, 150, 60), "additive"),
    "noise": (lambda rng: noise(rng, 120, 80), None),
    "bumps of groups, 500 x 500": (lambda rng: bumps_of_groups(rng, 500, 500, 2.0), None),
}
LARGE = "500 x 500"  # the published size, which takes ten times as long as the others


def measure(ranks_or_q, true, level):
    """Return number selected and number of false ones at a level."""
    chosen = np.flatnonzero(ranks_or_q <= level)
    return len(chosen), len(np.setdiff1d(chosen, true))


def run(problem, seed, n_pairs, keep=None):
    """Return what one draw of a problem gives."""
    begin = time.process_time()
    draw, kernel = PROBLEMS[problem]
    X, y, true = draw(np.random.default_rng([seed, zlib.crc32(problem.encode())]))
    estimator = None
    if kernel is not None:
        estimator = (KnifeClassifier if y.dtype.kind == "i" else KnifeRegressor)(kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = KnifeStability(estimator, n_pairs=n_pairs, random_state=seed).fit(X, y)
    if keep is not None:
        name = f"{problem}, {n_pairs} pairs, {seed}.npz"
        np.savez_compressed(f"{keep}/{name}", ranks=found.ranks_, true=true)
    row = {
        "problem": problem,
        "seed": seed,
        "pairs": n_pairs,
        "columns": X.shape[1],
        "true": len(true),
    }
    for level in LEVELS:
        row[f"found_{level}"], row[f"false_{level}"] = measure(found.q_values_, true, level)
    chosen = np.flatnonzero(found.support_)
    row |= {"found_support": len(chosen), "false_support": len(np.setdiff1d(chosen, true))}
    return {**row, "seconds": f"{time.process_time() - begin:.1f}"}


def summarize(rows):
    """Print the false share and the power of every problem, with standard errors."""
    for problem, n_pairs in {(row["problem"], row["pairs"]): None for row in rows}:
        mine = [row for row in rows if (row["problem"], row["pairs"]) == (problem, n_pairs)]
        words = [f"{problem}, {len(mine)} draws of {n_pairs} pairs:"]
        true = np.array([float(row["true"]) for row in mine])
        for level in LEVELS:
            found, false = (
                np.array([float(row[f"{what}_{level}"]) for row in mine])
                for what in ("found", "false")
            )
            share = false / np.maximum(found, 1.0)
            error = share.std(ddof=1) / np.sqrt(len(share)) if len(share) > 1 else np.nan
            power = ((found - false) / np.maximum(true, 1.0)).mean()
            holds = " TOO MANY" if share.mean() > level + 2.0 * error else ""
            words.append(
                f"q <= {level}: false {share.mean():.3f} +- {error:.3f}{holds}, power {power:.2f};"
            )
        found, false = (
            np.array([float(row[f"{what}_support"]) for row in mine]) for what in ("found", "false")
        )
        power = ((found - false) / np.maximum(true, 1.0)).mean()
        print(*words, f"support: {false.mean():.2f} false, power {power:.2f}")


def read():
    """Return the rows of the table of results."""
    path = RESULTS / f"{NAME}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=30, help="draws of every problem")
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--pairs", type=int, default=50, help="pairs of half-samples")
    parser.add_argument("--jobs", type=int, default=1, help="draws at a time")
    parser.add_argument("--keep", help="folder for the ranks of every half-sample")
    parser.add_argument("--only", help="the problems with this in their name")
    parser.add_argument("--summary", action="store_true", help="only read the table of results")
    options = parser.parse_args()
    known = {(row["problem"], int(row["seed"]), int(row["pairs"])) for row in read()}
    if not options.summary:
        tasks = [
            delayed(run)(problem, seed, options.pairs, options.keep)
            for seed in range(options.first, options.first + options.draws)
            for problem in PROBLEMS
            if (problem, seed, options.pairs) not in known
            and (options.only in problem if options.only else LARGE not in problem)
        ]
        path = RESULTS / f"{NAME}.csv"
        for row in Parallel(n_jobs=options.jobs, return_as="generator")(tasks):
            row |= provenance()
            fresh = not path.exists()
            with path.open("a", newline="") as file:
                table = csv.DictWriter(file, list(row))
                if fresh:
                    table.writeheader()
                table.writerow(row)
    summarize(read())


if __name__ == "__main__":
    main()
