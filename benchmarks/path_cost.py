"""Factorizations per point of a 50-point path, and how good its points are.

The objective at every point is compared with a cold solve at the same penalty from the
portfolio of starts and five random ones.
"""

import itertools
import sys

import numpy as np
from _common import LOSSES, make_problem, write

from kernelknife._engine.search.path import follow_path
from kernelknife._engine.search.starts import StartSettings, best_of_starts, make_starts
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF


def load(loss, n, p):
    if loss == "squared":
        return make_sinusoidal(n, p - 5, random_state=0)
    X, y = make_skin_of_orange(n, p - 4, random_state=0)
    return X, 2 * y - 1


def main(stride=2):
    rows = []
    for loss, n, p in itertools.product(("squared", "squared_hinge"), (100, 400), (10, 50, 200)):
        problem = make_problem(*load(loss, n, p), RBF(), LOSSES[loss])
        trace = follow_path(problem, Eliminate(tol=1e-4), StartSettings(), 50)
        many = make_starts(problem, StartSettings("auto", 5, 0))
        good = []
        for point in trace.points[::stride]:
            cold, _ = best_of_starts(problem, Eliminate(tol=1e-4), many, point.sparsity)
            good.append(point.objective <= 1.001 * cold.objective)
        rows.append(
            {
                "loss": loss,
                "n": n,
                "p": p,
                "points": len(trace.points),
                "factorizations": trace.n_factorizations,
                "factorizations_per_point": f"{trace.n_factorizations / len(trace.points):.2f}",
                "factorizations_at_points": sum(point.n_factorizations for point in trace.points),
                "compared": len(good),
                "within_0.1_percent_or_lower": f"{np.mean(good):.3f}",
                "start": trace.start,
            }
        )
        print(*rows[-1].values(), file=sys.stderr, flush=True)
    write("path_cost", rows)
    for loss in ("squared", "squared_hinge"):
        chosen = [row for row in rows if row["loss"] == loss]
        mean = np.mean([float(row["factorizations_per_point"]) for row in chosen])
        good = np.average(
            [float(row["within_0.1_percent_or_lower"]) for row in chosen],
            weights=[row["compared"] for row in chosen],
        )
        print(f"{loss:14s} {mean:.2f} factorizations per point, {good:.3f} of the points as good")


if __name__ == "__main__":
    main()
