"""A GPU: one evaluation at a million rows, a path, an exact fit, all in float64.

Needs torch with CUDA and ``pip install kernelknife[gpu]``.
"""

import sys
import time

import numpy as np
import torch
from _common import write

from kernelknife import KnifeRegressor, knife_path
from kernelknife._engine.data import Columns
from kernelknife._engine.data.arrays import DeviceRows
from kernelknife._engine.objective import NystromProblem
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss

PLANTED = {3, 7, 11}


def make(n, p):
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.randn(n, p, dtype=torch.float64, device="cuda", generator=generator)
    noise = torch.randn(n, dtype=torch.float64, device="cuda", generator=generator)
    return X, torch.sin(2 * X[:, 3]) + X[:, 7] * X[:, 11] + 0.3 * noise


def timed(function, repeats=3):
    """Return the median time of a function on the device, after one warm-up, and its result."""
    result, times = function(), []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        result = function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return float(np.median(times)), result


def row(what, n, p, m, seconds, note=""):
    found = {"what": what, "n": n, "p": p, "m": m, "seconds": f"{seconds:.3f}", "note": note}
    print(found, flush=True)
    return found


def evaluation(n=1_000_000, p=100, m=2000):
    X, y = make(n, p)
    Y = ((y - y.mean()) / y.std())[:, None]
    columns = Columns(np.arange(p), np.zeros(p), np.ones(p))
    rows = DeviceRows(X, Y.cpu().numpy())
    problem = NystromProblem(rows, columns, X[:m].cpu().numpy(), RBF(), SquaredLoss())
    w = np.full(p, np.sqrt(0.5 / p))

    def evaluate():
        return problem.gradient(problem.solve(w))

    seconds, _ = timed(evaluate)

    def curved():
        return problem.linearize(problem.solve(w))

    newton, _ = timed(curved)
    K = torch.randn(100_000, m, dtype=torch.float64, device="cuda")
    product, _ = timed(lambda: K.T @ K)
    value, _ = timed(lambda: problem.solve(w))
    return [
        row("value and gradient", n, p, m, seconds),
        row("value, gradient and curvature", n, p, m, newton),
        row("value alone", n, p, m, value),
        row("bare K'K without symmetry", n, p, m, 10 * product),
    ]


def path(n=1_000_000, p=50, m=1000):
    X, y = make(n, p)
    begin = time.perf_counter()
    found = knife_path(X, y, n_centers=m, task="regression", sparsities=50)
    seconds = time.perf_counter() - begin
    top = set(np.argsort(found.ranking)[:3].tolist())
    return row("50-point path", n, p, m, seconds, f"planted rank first: {top == PLANTED}")


def exact(n=30_000, p=200):
    X, y = make(n, p)
    begin = time.perf_counter()
    model = KnifeRegressor(sparsity=0.01 * n, n_centers=n).fit(X, y)
    seconds = time.perf_counter() - begin
    found = set(model.get_support(indices=True).tolist())
    return row("exact fit, all rows as centers", n, p, n, seconds, f"planted: {found == PLANTED}")


def agreement(kernel="rbf", n=4000, p=20, m=300):
    X, y = make(n, p)
    options = {"kernel": kernel, "sparsity": 40.0, "n_centers": m}
    there = KnifeRegressor(**options).fit(X, y)
    here = KnifeRegressor(**options).fit(X.cpu().numpy(), y.cpu().numpy())
    predicted = there.predict(X)
    gap = np.abs(predicted.cpu().numpy() - here.predict(X.cpu().numpy())).max()
    weights = np.abs(there.weights_ - here.weights_).max()
    note = f"weights {weights:.1e}, predictions {gap:.1e}, on {predicted.device}"
    return row(f"largest difference to NumPy, {kernel}", n, p, m, 0.0, note)


def main():
    name = torch.cuda.get_device_name()
    print(name, torch.__version__)
    parts = {
        "agreement": lambda: [agreement(kernel) for kernel in ("rbf", "additive", "anova")],
        "evaluation": evaluation,
        "path": path,
        "exact": exact,
    }
    rows = []
    for part in sys.argv[1:] or parts:
        found = parts[part]()
        rows += found if isinstance(found, list) else [found]
        torch.cuda.empty_cache()
    write("gpu", [{**one, "device": name, "torch": torch.__version__} for one in rows])


if __name__ == "__main__":
    main()
