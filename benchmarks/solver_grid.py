"""Factorizations of `eliminate` against those of `alternate`, the paper's algorithm.

Both start from the scaled weights, relaxed without penalty by the solver itself. The count
is the factorizations until the objective is within 0.1 % of the lower of the two final ones;
a run that never gets there, or not within 1,000, counts 1,000.
"""

import itertools
import sys

import numpy as np
from _common import KERNELS, LOSSES, make_problem, write

from kernelknife._engine.search.starts import StartSettings, make_starts, solve_from
from kernelknife._engine.solvers import Alternate, Eliminate
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange

LIMIT = 1000
SPARSITY_PER_ROW = (0.001, 0.01, 0.1)


def load(name, n, p):
    if name == "orange":
        X, y = make_skin_of_orange(n, p - 4, random_state=0)
        return X, 2 * y - 1
    return make_sinusoidal(n, p - 5, random_state=0)


def count(solution, target):
    for objective, factorizations in zip(solution.history, solution.factorizations, strict=True):
        if objective <= 1.001 * target:
            return min(factorizations, LIMIT)
    return LIMIT


def main(sizes=(100, 400), widths=(10, 50, 200)):
    rows = []
    for kernel, loss, data, n, p in itertools.product(
        KERNELS, LOSSES, ("sinusoidal", "orange"), sizes, widths
    ):
        problem = make_problem(*load(data, n, p), KERNELS[kernel], LOSSES[loss])
        start = make_starts(problem, StartSettings("scaled"))[0]
        for per_row in SPARSITY_PER_ROW:
            ours = solve_from(problem, Eliminate(tol=1e-6), start, per_row * n)
            paper = solve_from(problem, Alternate(tol=1e-6, max_iter=LIMIT), start, per_row * n)
            lower = min(ours.objective, paper.objective)
            rows.append(
                {
                    "kernel": kernel,
                    "loss": loss,
                    "data": data,
                    "n": n,
                    "p": p,
                    "sparsity": per_row * n,
                    "factorizations_eliminate": count(ours, lower),
                    "factorizations_alternate": count(paper, lower),
                    "total_eliminate": ours.n_factorizations,
                    "total_alternate": paper.n_factorizations,
                    "objective_eliminate": f"{ours.objective:.6f}",
                    "objective_alternate": f"{paper.objective:.6f}",
                    "kkt_eliminate": f"{ours.kkt_residual:.1e}",
                    "kkt_alternate": f"{paper.kkt_residual:.1e}",
                    "selected_eliminate": np.count_nonzero(ours.w),
                    "selected_alternate": np.count_nonzero(paper.w),
                }
            )
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    write("solver_grid", rows)
    summary(rows)


def summary(rows):
    def ratio(chosen):
        logs = [
            np.log(row["factorizations_alternate"] / row["factorizations_eliminate"])
            for row in chosen
        ]
        return np.exp(np.mean(logs))

    def fine(chosen):
        good = [
            float(row["objective_eliminate"]) <= 1.001 * float(row["objective_alternate"])
            for row in chosen
        ]
        return np.mean(good)

    print(f"{'cells':16s} {'alternate/eliminate':>20s} {'within 0.1 % or lower':>22s}")
    for key in ("kernel", "loss", "data", "n", "p"):
        for value in dict.fromkeys(row[key] for row in rows):
            chosen = [row for row in rows if row[key] == value]
            print(f"{key}={value!s:<10s} {ratio(chosen):20.1f} {fine(chosen):22.3f}")
    print(f"{'all':16s} {ratio(rows):20.2f} {fine(rows):22.3f}")


if __name__ == "__main__":
    main()
