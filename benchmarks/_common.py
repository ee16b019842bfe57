"""What the benchmark scripts share: one thread, one way to write a table."""

import csv
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

# Comparisons are made on one thread, in processes that are started from here, too.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

from kernelknife._engine.objective import ExactProblem
from kernelknife.kernels import RBF, Linear, Polynomial
from kernelknife.losses import LogisticLoss, SquaredHinge, SquaredLoss

threadpool_limits(1)  # in this process, where NumPy may have been imported before

RESULTS = Path(__file__).parent / "results"
KERNELS = {"linear": Linear(), "rbf": RBF(), "poly2": Polynomial(degree=2)}
LOSSES = {"squared": SquaredLoss(), "squared_hinge": SquaredHinge(), "logistic": LogisticLoss()}


def make_problem(X, y, kernel, loss):
    """Standardize as the estimators do and build the problem."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (y - y.mean()) / y.std() if loss.task == "regression" else np.where(y > 0, 1.0, -1.0)
    return ExactProblem(X, Y[:, None], kernel, loss)


def timed(function):
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def provenance():
    """Return versions and commit, to be carried by every row of a table."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=False,
    ).stdout.strip()
    return {
        "commit": commit,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    }


def write(name, rows):
    """Write rows to ``results/name.csv``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    extra = provenance()
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [*rows[0], *extra])
        table.writeheader()
        table.writerows({**row, **extra} for row in rows)
    print(f"wrote {path.relative_to(Path(__file__).parents[1])}", file=sys.stderr)
