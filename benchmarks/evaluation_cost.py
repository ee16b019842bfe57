"""One value-and-gradient evaluation against the BLAS and LAPACK calls it cannot avoid.

Those are one n x n x p product for the kernel, one Cholesky factorisation and one n x n x p
product for the gradient. Both sides run in turn in one process; the medians are compared.
"""

import statistics

import numpy as np
from _common import make_problem, timed, write
from scipy.linalg.lapack import dpotrf

from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def main(n=2000, p=500, repeats=11):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    problem = make_problem(X, np.sin(X[:, 0]), RBF(), SquaredLoss())
    w = np.full(p, np.sqrt(0.5 / p))
    spd = problem.solve(w).K + np.eye(n)
    M, Z = rng.normal(size=(n, n)), problem.centers

    def bare():
        Z @ Z.T.copy()  # a copy, or NumPy would use the cheaper symmetric product
        dpotrf(spd.T.copy(order="F"), lower=1, overwrite_a=1, clean=0)
        M @ Z

    def ours():
        state = problem.solve(w)
        problem.gradient(state)

    bare(), ours()
    pairs = [(timed(bare), timed(ours)) for _ in range(repeats)]
    rows = [
        {"n": n, "p": p, "repeat": i, "bare_s": f"{a:.4f}", "ours_s": f"{b:.4f}"}
        for i, (a, b) in enumerate(pairs)
    ]
    write("evaluation_cost", rows)
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"bare BLAS and LAPACK {a:.3f} s, value and gradient {b:.3f} s: {b / a:.2f} times")


if __name__ == "__main__":
    main()
