"""The cost of a path point falls as features leave: n = 1000, p = 500."""

import time

import numpy as np
from _common import make_problem, write

from kernelknife._engine.search.grid import place_points
from kernelknife._engine.search.path import choose_start
from kernelknife._engine.search.starts import StartSettings, make_starts
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def main(n=1000, p=500):
    problem = make_problem(*make_sinusoidal(n, p - 5, random_state=0), RBF(), SquaredLoss())
    solver = Eliminate(tol=1e-4)
    beginning = choose_start(problem, solver, make_starts(problem, StartSettings("scaled")))
    grid, _ = place_points(problem, solver, beginning, 50)
    here, rows = beginning.first, []
    for sparsity in grid:
        begin = time.perf_counter()
        here = solver.solve(problem, here.damped_at_most(1.0), float(sparsity))
        seconds = time.perf_counter() - begin
        rows.append(
            {
                "sparsity": f"{sparsity:.4g}",
                "selected": int(np.count_nonzero(here.w)),
                "factorizations": here.n_factorizations,
                "seconds": f"{seconds:.3f}",
            }
        )
        if not here.w.any():
            break
    write("path_time", rows)
    third = len(rows) // 3
    spent = [sum(float(row["seconds"]) for row in part) for part in (rows[:third], rows[-third:])]
    print(f"first third {spent[0]:.1f} s, last third {spent[1]:.1f} s: {spent[1] / spent[0]:.2f}")


if __name__ == "__main__":
    main()
