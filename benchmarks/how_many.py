"""How many columns: is exactly the true set selected, and is nothing selected of noise?

``python benchmarks/how_many.py planted --draws 20`` selects by ``rule="calibrated"`` with the ANOVA
and the Gaussian kernel, between which folds choose, on planted problems. With one kernel, such as
``--kernels additive``, it is ``sparsity="calibrated"``, without folds. ``--methods`` names what
stands beside it: ``folds``, the search of the same kernels by cross-validation; ``default``, the
search as it is by default; ``stability`` and ``knockoffs`` as they are by default; and ``boruta``,
which needs the package of that name, with its own defaults and the forest of its documentation.
``weak`` has linear effects of 0.1 to 1, ``correlated`` signals among columns correlated by 0.5 to
0.9, and ``noise`` targets that have nothing to do with any column. ``tables`` compares the error of
the calibrated set with that of the folds' set on 120 rows of the choosing half of the measured
tables, and ``cost`` gives the time of a
calibration in units of one full path of the same table. A run adds its rows to those of the table
in results/; the printed shares have their standard errors.
"""

import argparse
import csv
import itertools
import sys
import time
import warnings

import numpy as np
from _common import RESULTS, provenance, write
from error_rates_peers import by_boruta
from recovery import friedman, orange, sign, union
from sklearn.metrics import balanced_accuracy_score
from tables import CHOOSING, load

from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeKnockoffs,
    KnifeRegressor,
    KnifeRegressorCV,
    KnifeStability,
    knife_path,
)
from kernelknife._engine.policy import infer_task
from kernelknife.datasets import make_sinusoidal

KERNELS = ["anova", "rbf"]
METHODS = ("calibrated", "folds", "default", "stability", "knockoffs", "boruta")
TABLE = RESULTS / "how_many.csv"
FIELDS = (
    *(
        "problem",
        "n",
        "p",
        "draw",
        "method",
        "kernel",
        "true",
        "found",
        "false",
        "exact",
        "p_value",
    ),
    *("paths", "seconds", "commit"),
)


def pairs(s):
    """A sum of 10 |x_a - x_b| over s / 2 pairs of 50 columns."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 50))
        return X, 10 * np.abs(X[:, 0:s:2] - X[:, 1:s:2]).sum(axis=1) + rng.normal(size=n)

    return s, draw


def sinusoid(n, seed):
    return make_sinusoidal(n, 95, random_state=seed)


def weak(n, seed):
    """Linear effects of 0.1 to 1 among 100 columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 100))
    return X, X[:, :10] @ (np.arange(1, 11) / 10) + rng.normal(size=n)


def correlated(correlation, function):
    """A function of four of 40 columns that are correlated with each other, in blocks of ten."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        shared = np.repeat(rng.normal(size=(n, 4)), 10, axis=1)
        X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n, 40))
        signal = function(X[:, [0, 10, 20, 30]])
        return X[:, np.r_[0, 10, 20, 30, 1:10, 11:20, 21:30, 31:40]], signal + rng.normal(size=n)

    return 4, draw


PLANTED = {
    "Friedman, 50 columns": (friedman(45), 400),
    "sign of 2 among 200": (sign(2, 200), 400),
    "orange, 46 noise": (orange(46), 400),
    "orange, 196 noise": (orange(196), 400),
    "sinusoidal, 95 noise": ((5, sinusoid), 400),
    "union of 2 among 64": (union(64), 800),
    **{f"sum of 10 |a - b|, s = {s}": (pairs(s), 500) for s in (2, 4, 6, 8, 10, 12, 14, 20)},
}
WEAK = {"linear effects 0.1 to 1": ((10, weak), 400)}
CORRELATED = {
    "sum, correlation 0.5": (correlated(0.5, lambda Z: 1.5 * Z.sum(axis=1)), 400),
    "sines, correlation 0.7": (correlated(0.7, lambda Z: 2 * np.sin(2 * Z).sum(axis=1)), 400),
    "product, correlation 0.9": (
        correlated(0.9, lambda Z: 2 * Z[:, 0] * Z[:, 1] + 2 * Z[:, 2] + 2 * Z[:, 3]),
        400,
    ),
}


def noise(kind):
    """A target that has nothing to do with any of 20 columns."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 20))
        if kind == "heavy tails":
            X = rng.standard_t(2, size=(n, 20))
        elif kind == "discrete":
            X = rng.integers(3, size=(n, 20)).astype(float)
        elif kind == "blocks":
            X = np.repeat(rng.normal(size=(n, 4)), 5, axis=1) + 0.5 * X
        y = rng.standard_t(2, size=n) if kind == "heavy tails" else rng.normal(size=n)
        if kind.startswith("classes"):
            share = float(kind.split()[1].split(":")[0]) / 100
            y = (rng.permutation(n) < share * n).astype(int)
        return X, y

    return 0, draw


NOISE = {
    f"noise, {kind}": (noise(kind), 100)
    for kind in ("normal", "heavy tails", "discrete", "blocks", "classes 50:50", "classes 90:10")
}
SETS = {"planted": PLANTED, "weak": WEAK, "correlated": CORRELATED, "noise": NOISE}


def select(method, X, y, kernels):
    """Return the columns that a method selects, and the fitted estimator, if it is one of ours."""
    regression = infer_task(y) == "regression"
    folds = KnifeRegressorCV if regression else KnifeClassifierCV
    alone = KnifeRegressor if regression else KnifeClassifier
    if method == "boruta":
        return np.isin(np.arange(X.shape[1]), by_boruta(X, y, not regression)), None
    if method == "calibrated" and len(kernels) == 1:
        search = alone(kernels[0], sparsity="calibrated", relax=True)
    elif method == "calibrated":
        search = folds(kernels, rule="calibrated")
    elif method == "folds":
        search = folds(kernels)
    else:
        search = {"default": folds, "stability": KnifeStability, "knockoffs": KnifeKnockoffs}[
            method
        ]()
    search.fit(X, y)
    return search.get_support(), search


def judge(name, n_true, draw, n, seed, kernels, method):
    """Select once, and compare with the truth."""
    X, y = draw(n, seed)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        support, search = select(method, X, y, kernels)
    seconds = time.process_time() - begin
    found, false = int(support[:n_true].sum()), int(support[n_true:].sum())
    p_value = getattr(search, "p_value_", None)
    return {
        "problem": name, "n": n, "p": X.shape[1], "draw": seed,
        "method": f"{method}, {' '.join(kernels)}" if method in ("calibrated", "folds") else method,
        "kernel": getattr(search, "kernel_name_", "") or (kernels[0] if len(kernels) == 1 else ""),
        "true": n_true, "found": found, "false": false,
        "exact": int(found == n_true and not false),
        "p_value": "" if p_value is None else f"{p_value:.4f}",
        "paths": getattr(search, "n_paths_", ""), "seconds": f"{seconds:.1f}",
        "commit": provenance()["commit"],
    }  # fmt: skip


def print_costs():
    """Print the time of a calibration beside that of one full path."""
    rng = np.random.default_rng(0)
    genes, y = rng.lognormal(size=(72, 7129)), np.repeat([0, 1], 36)
    genes[:, 0] *= np.exp(1.5 * y)
    tables = {"500 x 50": pairs(6)[1](500, 500), "72 x 7129": (genes, y)}
    for (name, (X, y)), kernel in itertools.product(tables.items(), (*KERNELS, "additive")):
        model = KnifeClassifier if len(np.unique(y)) == 2 else KnifeRegressor
        times = []
        for run in (knife_path, model(sparsity="calibrated", kernel=kernel).fit):
            begin = time.process_time()
            run(X, y, **({"kernel": kernel} if run is knife_path else {}))
            times.append(time.process_time() - begin)
        path, whole = times
        print(f"{name:10s} {kernel:9s} {whole:5.1f} s, {whole / path:5.1f} paths of {path:.2f} s")


def compare_on_tables(draws):
    """Compare models of both sets on new rows of the tables that defaults may be chosen on."""
    rows = []
    for seed, name in itertools.product(range(draws), CHOOSING):
        X, y, _, classes = load(name)
        rng = np.random.default_rng(seed)
        X = np.asarray(X, dtype=float)
        X = X[:, np.sort(rng.choice(X.shape[1], min(60, X.shape[1]), replace=False))]
        order, n = rng.permutation(len(y)), min(120, len(y) - 30)
        train, test = order[:n], order[n : n + 2000]
        for rule in ("min", "calibrated"):
            search = (KnifeClassifierCV if classes else KnifeRegressorCV)(rule=rule)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted = search.fit(X[train], y[train]).predict(X[test])
            error = (
                np.mean((y[test] - predicted) ** 2) / np.var(y[test])
                if not classes
                else (1 - balanced_accuracy_score(y[test], predicted))
            )
            rows.append({
                "table": name, "p": X.shape[1], "draw": seed, "rule": rule, "error": f"{error:.3f}",
                "columns": int(search.get_support().sum()), "kernel": search.kernel_name_,
            })  # fmt: skip
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    write("how_many_tables", rows)


def read():
    """Return the rows of the committed table."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def add(row):
    """Replace or append a row of the table, which is written after every draw."""
    key = ("problem", "n", "draw", "method")
    rows = [r for r in read() if any(str(r[k]) != str(row[k]) for k in key)] + [row]
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows(rows)


def share(values):
    """Return a mean of zeros and ones with its standard error."""
    values = np.array(values, dtype=float)
    return (
        f"{values.mean():.2f} +- {np.sqrt(values.mean() * (1 - values.mean()) / len(values)):.2f}"
    )


def print_table():
    """Print what the rows say, by problem and method."""
    rows = read()
    for name, n, method in dict.fromkeys((r["problem"], r["n"], r["method"]) for r in rows):
        mine = [r for r in rows if (r["problem"], r["n"], r["method"]) == (name, n, method)]
        true = int(mine[0]["true"])
        recall = np.mean([int(r["found"]) for r in mine]) / true if true else np.nan
        print(
            f"{name:28s} n={n:4s} {method:22s} draws {len(mine):3d}  exact "
            f"{share([int(r['exact']) for r in mine])}  recall {recall:.2f}  false "
            f"{np.mean([int(r['false']) for r in mine]):.2f}  any false "
            f"{share([int(r['false']) > 0 for r in mine])}  seconds "
            f"{np.mean([float(r['seconds']) for r in mine]):.1f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=[*SETS, "tables", "cost", "table"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, help="rows of a table, instead of the problem's own")
    parser.add_argument("--only", default="", help="part of the name of a problem")
    parser.add_argument("--kernels", nargs="+", default=KERNELS)
    parser.add_argument("--methods", nargs="+", default=["calibrated"], choices=METHODS)
    options = parser.parse_args()
    if options.what == "cost":
        print_costs()
        return
    if options.what == "tables":
        compare_on_tables(options.draws)
        return
    problems = SETS.get(options.what, {})
    for seed in range(500, 500 + options.draws):
        for name, ((n_true, draw), n) in problems.items():
            if options.only not in name:
                continue
            for method in options.methods:
                n_rows = options.rows or n
                row = judge(name, n_true, draw, n_rows, seed, options.kernels, method)
                add(row)
                print(*row.values(), file=sys.stderr, flush=True)
    print_table()


if __name__ == "__main__":
    main()
