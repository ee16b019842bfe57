"""How many columns a penalty keeps as the rows grow.

A few of the columns matter and the others are noise. Every line of the table is one point of a
path: the number of rows, the penalty, and how many of the columns of both kinds have a weight.
Friedman's first function decides how the penalty of ``sparsity="auto"`` depends on the number of
rows; the other data judge it.

    python benchmarks/penalty_scale.py --rows 250 500 1000 2000
    python benchmarks/penalty_scale.py --rows 1000 4000 16000 --centers 300
    python benchmarks/penalty_scale.py --data sinusoidal orange line --rows 60 250 1000
"""

import argparse
import csv
import time
from itertools import product
from pathlib import Path

import _common  # noqa: F401 - sets the number of BLAS threads before NumPy is imported
import numpy as np
from sklearn.datasets import make_friedman1

from kernelknife import knife_path
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import check_kernel

RESULTS = Path(__file__).parent / "results" / "penalty_scale.csv"
SPARSITIES = np.geomspace(0.25, 256.0, 21)
# The penalties of convex kernels, whose weights shrink as the rows grow, reach much further.
CONVEX_SPARSITIES = np.geomspace(16.0, 2.0**20, 33)
FIELDS = [
    "data",
    "kernel",
    "centers",
    "rows",
    "columns",
    "seed",
    "sparsity",
    "true",
    "noise",
    "seconds",
]


def make_line(n, p, seed):
    """Return columns of which the first three matter, in proportion to their values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


# How to make rows and columns with a seed, the columns that matter first, and their number.
DATA = {
    "friedman": (lambda n, p, seed: make_friedman1(n, p, noise=1.0, random_state=seed), 5),
    "sinusoidal": (lambda n, p, seed: make_sinusoidal(n, p - 5, random_state=seed), 5),
    "orange": (lambda n, p, seed: make_skin_of_orange(n, p - 4, random_state=seed), 4),
    "line": (make_line, 3),
}


def measure(data, kernel, centers, n, p, seed):
    """Return one line of the table for every penalty."""
    make, n_true = DATA[data]
    X, y = make(n, p, seed)
    grid = CONVEX_SPARSITIES if check_kernel(kernel).convex else SPARSITIES
    started = time.perf_counter()
    path = knife_path(X, y, kernel=kernel, sparsities=grid, n_centers=centers, random_state=seed)
    seconds = round(time.perf_counter() - started, 2)
    for penalty, weights in zip(path.sparsities, path.weights, strict=True):
        kept = weights > 0
        true, noise = int(kept[:n_true].sum()), int(kept[n_true:].sum())
        values = (data, kernel, centers or 0, n, p, seed, f"{penalty:.4g}", true, noise, seconds)
        yield dict(zip(FIELDS, values, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 500, 1000, 2000])
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=["friedman"])
    parser.add_argument("--kernels", nargs="+", default=["rbf"])
    parser.add_argument("--centers", type=int, default=0, help="0 for the exact method")
    parser.add_argument("--replicates", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    new = not options.output.exists()
    with options.output.open("a", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            table.writeheader()
        seeds = range(options.replicates)
        for data, n, kernel, seed in product(options.data, options.rows, options.kernels, seeds):
            lines = measure(data, kernel, options.centers or None, n, options.columns, seed)
            table.writerows(lines)
            file.flush()


if __name__ == "__main__":
    main()
