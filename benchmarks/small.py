"""What a small problem costs, and how the cost grows: most users have 100 rows.

Five questions, each answered side by side in one process on one BLAS thread:

- a 50-point path at 100 x 50 against one RBF ``KernelRidge`` fit and predict on the same data;
- the same path against one fit of our own at one penalty;
- the share of the path's time that its BLAS and LAPACK calls explain, each timed bare at the sizes
  that the path asked for;
- what fifty kernel matrices and factorizations cost alone, the least that any such path must;
- how path and fit grow with rows and with features: exponents fitted to the best of three.

And, in fresh interpreters, how long the import takes beside that of what it imports.
"""

import statistics
import subprocess
import sys
from collections import Counter

import numpy as np
from _common import timed, write
from scipy.linalg.lapack import dpotrf, dtrtrs
from sklearn.kernel_ridge import KernelRidge

from kernelknife import KnifeRegressor, knife_path
from kernelknife._engine.objective import factory
from kernelknife.datasets import make_sinusoidal

ROWS = (100, 200, 400, 800, 1600)
FEATURES = (25, 50, 100, 200, 400, 800)
FLOOR = "fifty kernel matrices and factorizations"


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def row(what, n, p, seconds, against="", ratio=""):
    shown = f"{ratio:.3f}" if ratio != "" else ""
    return {
        "what": what,
        "n": n,
        "p": p,
        "seconds": f"{seconds:.6f}",
        "against": against,
        "ratio": shown,
    }


def compare_path(repeats=15, n=100, p=50):
    """The path against KernelRidge and against one fit, alternating."""
    rows = []
    for seed in range(3):
        X, y = make_sinusoidal(n, p - 5, random_state=seed)
        Z = standardized(X)

        def path(X=X, y=y):
            knife_path(X, y)

        def ridge(Z=Z, y=y):
            KernelRidge(kernel="rbf", gamma=1 / p).fit(Z, y).predict(Z)

        def fit(X=X, y=y):
            KnifeRegressor(sparsity=1.0).fit(X, y)

        turns = [
            (timed(path), *(timed(ridge) for _ in range(9)), timed(fit)) for _ in range(repeats)
        ]
        whole = statistics.median(turn[0] for turn in turns)
        one = statistics.median(time for turn in turns for time in turn[1:-1])
        single = statistics.median(turn[-1] for turn in turns)
        rows.append(row(f"path, seed {seed}", n, p, whole, "KernelRidge fit, predict", whole / one))
        rows.append(row(f"path, seed {seed}", n, p, whole, "one fit", whole / single))
    return rows


def share_of_blas(n=100, p=50):
    """Time the path, then the bare calls of the sizes it asked for."""
    X, y = make_sinusoidal(n, p - 5, random_state=0)
    asked = Counter()

    class Watched(factory.ExactProblem):
        def solve(self, w, *args, **options):
            asked["solve", np.count_nonzero(w)] += 1
            return super().solve(w, *args, **options)

        def linearize(self, state, penalty=None):
            known = self.absorbing and state.derived.linearization is not None
            model = super().linearize(state, penalty)
            if not known:
                q = len(model.active)
                asked["hessian" if model.H is not None else "linearize", q] += 1
            return model

    factory.ExactProblem, kept = Watched, factory.ExactProblem
    knife_path(X, y)
    factory.ExactProblem = kept
    whole = statistics.median(timed(lambda: knife_path(X, y)) for _ in range(15 if n < 400 else 3))
    bare = sum(count * bare_cost(n, q, kind) for (kind, q), count in asked.items() if q)
    return [row("path", n, p, whole, "its bare BLAS and LAPACK calls", bare / whole)]


def bare_cost(n, q, kind):
    """Seconds of the products and factorizations of one step, on matrices that are there."""
    rng = np.random.default_rng(0)
    K, Z = np.eye(n) + 0.01, rng.normal(size=(n, q))
    L = np.asfortranarray(np.linalg.cholesky(K))
    wide, pairs = rng.normal(size=(n, 2 * q + 1)), rng.normal(size=(q * (q + 1) // 2, n))
    right = Z.T.copy()

    def solve():
        Z @ right
        dpotrf(K.copy(order="F"), lower=1, overwrite_a=1, clean=0)
        dtrtrs(L, wide[:, :2], lower=1)
        dtrtrs(L, wide[:, :1], lower=1, trans=1)
        K @ wide[:, :1]

    def linearize():
        K @ wide
        dtrtrs(L, Z, lower=1)
        right @ Z

    def hessian():
        linearize()
        K @ wide
        pairs @ K

    step = {"solve": solve, "linearize": linearize, "hessian": hessian}[kind]
    step()
    return statistics.median(timed(step) for _ in range(9))


def floor(n_points=50, q=5):
    """What no path can fall below: a kernel matrix and a factorization for each point."""
    rows = []
    for n in (100, 200, 400):
        S = np.random.default_rng(0).uniform(0.0, 2.0, size=(n, n))
        one = statistics.median(timed(lambda S=S: np.exp(-S)) for _ in range(15))
        seconds = n_points * (one + bare_cost(n, q, "solve"))
        rows.append(row(FLOOR, n, q, seconds))
    return rows


def growth():
    """Best of three over rows at 50 features and over features at 200 rows, with exponents."""
    rows = []
    for name, sizes in (
        ("rows", [(n, 50) for n in ROWS]),
        ("features", [(200, p) for p in FEATURES]),
    ):
        for what in ("path", "fit"):
            seconds = []
            for n, p in sizes:
                X, y = make_sinusoidal(n, p - 5, random_state=0)
                if what == "path":
                    cost = min(timed(lambda X=X, y=y: knife_path(X, y)) for _ in range(3))
                else:
                    model = KnifeRegressor(sparsity=0.05 * n)
                    cost = min(timed(lambda X=X, y=y, m=model: m.fit(X, y)) for _ in range(3))
                seconds.append(cost)
                rows.append(row(f"{what} by {name}", n, p, cost))
                print(*rows[-1].values(), file=sys.stderr, flush=True)
            scale = [size[0 if name == "rows" else 1] for size in sizes]
            slope = np.polyfit(np.log(scale[-4:]), np.log(seconds[-4:]), 1)[0]
            rows.append(row(f"{what} by {name}", *sizes[-1], seconds[-1], "exponent", slope))
    return rows


def import_time(repeats=7):
    """Medians of fresh interpreters."""

    def cost(statement):
        command = [sys.executable, "-c", statement]
        return statistics.median(
            timed(lambda: subprocess.run(command, check=True)) for _ in range(repeats)
        )

    base = cost("import sklearn.svm, sklearn.model_selection, scipy.optimize, scipy.spatial")
    return [
        row(statement, 0, 0, ours, "import of scikit-learn's svm and model_selection", ours / base)
        for statement in ("import kernelknife", "from kernelknife import KnifeClassifierCV")
        for ours in [cost(statement)]
    ]


def main():
    rows = compare_path()
    for n in (100, 400, 800):
        rows += share_of_blas(n)
    rows += floor() + growth() + import_time()
    write("small", rows)
    for entry in rows:
        if entry["ratio"]:
            print(f"{entry['what']}: {entry['seconds']} s, {entry['ratio']} ({entry['against']})")


if __name__ == "__main__":
    main()
