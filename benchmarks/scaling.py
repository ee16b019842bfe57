"""Long tables on one model: a fit on centers from a memory map, and what one evaluation costs.

The data are written to a file first and mapped, so that memory is the method's own. Threads: one
BLAS thread per block, as many blocks at a time as there are cores.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import write
from scipy.linalg.blas import dsyrk

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.data import Columns
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective import NystromProblem
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss

PLANTED = {3, 7, 11}


def make_file(folder, n, p):
    """Write n rows of p columns and their target; return both as memory maps."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(Path(folder) / f"X{n}.npy", "w+", float, (n, p))
    y = np.empty(n)
    for first in range(0, n, 50_000):
        rows = slice(first, min(first + 50_000, n))
        block = rng.normal(size=(rows.stop - first, p))
        X[rows] = block
        signal = np.sin(2 * block[:, 3]) + block[:, 7] * block[:, 11]
        y[rows] = signal + 0.3 * rng.normal(size=len(block))
    X.flush()
    del X
    return np.load(Path(folder) / f"X{n}.npy", mmap_mode="r"), y


def fit(folder, n, p, m, loss):
    X, y = make_file(folder, n, p)
    if loss == "squared_hinge":
        model, target = KnifeClassifier(n_centers=m, sparsity=0.01 * n), (y > 0).astype(int)
    else:
        model, target = KnifeRegressor(n_centers=m, sparsity=0.01 * n), y
    begin = time.perf_counter()
    model.fit(X, target)
    seconds = time.perf_counter() - begin
    found = set(model.get_support(indices=True).tolist())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "what": f"fit, {loss}",
        "n": n,
        "p": p,
        "m": m,
        "seconds": f"{seconds:.1f}",
        "peak_gib": f"{peak:.2f}",
        "passes": model.n_factorizations_,
        "planted_found": int(found == PLANTED),
        "ratio": "",
    }


def evaluation(folder, n, p, m):
    """Time value, gradient and curvature against their bare products and exponentials."""
    X, y = make_file(folder, n, p)
    Y = ((y - y.mean()) / y.std())[:, None]
    rows = ArrayRows(X, Y, np.ones(n))
    Z = np.array(X[:m])
    columns = Columns(np.arange(p), np.zeros(p), np.ones(p))
    problem = NystromProblem(rows, columns, Z, RBF(), SquaredLoss())
    w = np.full(p, np.sqrt(0.5 / p))
    begin = time.perf_counter()
    problem.linearize(problem.solve(w))
    ours = time.perf_counter() - begin
    c = np.ones(m)

    def bare(block, *_):
        A, v = np.asarray(block.X), w * w
        for half in range(2):  # once for the coefficients, once for the derivatives
            S = (A * v) @ Z.T
            K = np.exp(S, out=S)
            if half == 0:
                dsyrk(1.0, K.T, lower=1)
            else:
                K @ c
                J = K @ np.hstack([c[:, None], Z, Z])
                J = J[:, :p]
                K.T @ J
                J.T @ J
        return (np.zeros(1),)

    begin = time.perf_counter()
    rows.total(bare, width=m)
    least = time.perf_counter() - begin
    return {
        "what": "value, gradient, curvature",
        "n": n,
        "p": p,
        "m": m,
        "seconds": f"{ours:.1f}",
        "peak_gib": "",
        "passes": 2,
        "planted_found": "",
        "ratio": f"{ours / least:.2f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--centers", type=int, default=500)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        large, m = arguments.largest, arguments.centers
        for n, loss in (
            (large // 10, "squared"),
            (large // 5, "squared_hinge"),
            (large, "squared"),
        ):
            rows.append(fit(folder, n, 100, m, loss))
            print(rows[-1], flush=True)
        rows.append(evaluation(folder, large, 100, m))
        print(rows[-1], flush=True)
    ratio = float(rows[2]["seconds"]) / float(rows[0]["seconds"])
    print(f"ten times the rows take {ratio:.1f} times the time")
    write("scaling", rows)


if __name__ == "__main__":
    main()
