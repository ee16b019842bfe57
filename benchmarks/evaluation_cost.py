"""One value-and-gradient evaluation against the BLAS and LAPACK calls it cannot avoid.

Those are one n x n x d product for the kernel, one Cholesky factorization and one n x n x d
product for the gradient, where d is the number of columns that the kernel sees: those of the table
for the Gaussian kernel, their basis functions for the ANOVA kernel. Both sides run in turn in one
process; the medians are compared.

The second part compares one step of a path, value, gradient and curvature, between the exact method
and 300 centers, for both kernels.
"""

import statistics

import numpy as np
from _common import timed, write
from scipy.linalg.lapack import dpotrf

from kernelknife import KnifeRegressor
from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._engine.search import scaled_weights
from kernelknife._utils.threads import limited_blas


def make_problem(kernel, n, p, n_centers=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    spec = FitSpec.from_estimator(KnifeRegressor(kernel, n_centers=n_centers))
    return set_up(spec, prepare_arrays(spec, X, np.sin(X[:, 0]))).problem


def compare_evaluation(kernel, n, p, repeats=11):
    """Return an evaluation beside its bare calls, a row per repeat."""
    problem = make_problem(kernel, n, p)
    w = scaled_weights(problem)
    spd = problem.kernel_matrix(w) + np.eye(n)
    M, Z = np.random.default_rng(1).normal(size=(n, n)), problem.centers

    def bare():
        Z @ Z.T.copy()  # a copy, or NumPy would use the cheaper symmetric product
        dpotrf(spd.T.copy(order="F"), lower=1, overwrite_a=1, clean=0)
        M @ Z

    def ours():
        problem.gradient(problem.solve(w))

    bare(), ours()
    pairs = [(timed(bare), timed(ours)) for _ in range(repeats)]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{kernel}: bare {a:.3f} s, value and gradient {b:.3f} s: {b / a:.2f} times")
    return [
        {
            "what": "value and gradient, against bare calls",
            "kernel": kernel,
            "n": n,
            "p": p,
            "columns": Z.shape[1],
            "repeat": i,
            "bare_s": f"{a:.4f}",
            "ours_s": f"{b:.4f}",
        }
        for i, (a, b) in enumerate(pairs)
    ]


def compare_step(kernel, n, p, n_centers, repeats=3):
    """Return a step on centers beside an exact one, a row per repeat."""
    problems = [make_problem(kernel, n, p, m) for m in (n_centers, None)]
    w = scaled_weights(problems[1])

    def step(problem):
        problem.linearize(problem.solve(w))

    times = [tuple(timed(lambda q=q: step(q)) for q in problems) for _ in range(repeats)]
    centered, exact = (min(column) for column in zip(*times, strict=True))
    print(f"{kernel}: a step on {n_centers} centers {centered:.3f} s, exact {exact:.3f} s, "
          f"{exact / centered:.1f} times")  # fmt: skip
    return [
        {
            "what": f"step on {n_centers} centers, against the exact one",
            "kernel": kernel,
            "n": n,
            "p": p,
            "columns": problems[1].centers.shape[1],
            "repeat": i,
            "bare_s": f"{b:.4f}",
            "ours_s": f"{a:.4f}",
        }
        for i, (a, b) in enumerate(times)
    ]


def main():
    with limited_blas():
        rows = compare_evaluation("rbf", 2000, 500) + compare_evaluation("anova", 2000, 100)
        for kernel in ("rbf", "anova"):
            rows += compare_step(kernel, 5000, 256, 300)
    write("evaluation_cost", rows)


if __name__ == "__main__":
    main()
