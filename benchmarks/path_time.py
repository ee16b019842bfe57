"""What a path takes: by the number of rows, and point by point as features leave.

Part "rows": a path of 50 points and 50 columns at several numbers of rows, exact and, beyond 1,000
rows, with 300 centers, the default: processor seconds, factorizations, and the bare cost of as many
kernel products and factorizations of all rows. ``--beside SRC`` runs the source of another version
in turn with this one. Part "points": 1,000 rows and 500 columns, first third and last.

    python benchmarks/path_time.py --part rows --rows 100 300 1000 3000 --beside ../old/src
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from _common import make_problem, write
from scipy.linalg.lapack import dpotrf

HERE = str(Path(__file__).parents[1] / "src")
CASES = (("rbf", "squared"), ("anova", "squared"), ("rbf", "squared_hinge"), ("linear", "squared"))

# Run with the source of either version, whose names may differ.
ONE_PATH = """
import json, resource, sys, time, warnings
import numpy as np
from sklearn.datasets import make_friedman1
from kernelknife import knife_path
from kernelknife.datasets import make_skin_of_orange
warnings.simplefilter("ignore")
kernel, loss, n, centers = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
if loss == "squared":
    X, y = make_friedman1(n, 50, noise=1.0, random_state=0)
else:
    X, y = make_skin_of_orange(n, 46, random_state=0)
begin = time.process_time()
path = knife_path(X, y, kernel=kernel, loss=loss, n_centers=centers)
seconds = time.process_time() - begin
count = getattr(path, "n_factorizations", getattr(path, "n_solves", 0))
true = 5 if loss == "squared" else 4
first = sorted(np.argsort(path.ranking)[:true].tolist())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, count, first == list(range(true)), peak]))
"""


def one_path(source, *case):
    """Return seconds, factorizations, whether the true columns are first, and peak MiB."""
    run = subprocess.run(
        [sys.executable, "-c", ONE_PATH, *case],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def bare(n, d=5):
    """Return the seconds of a kernel product and a factorization of all rows."""
    rng = np.random.default_rng(0)
    X, M = rng.normal(size=(n, d)), np.eye(n) + 0.1
    times = []
    for _ in range(3):
        begin = time.process_time()
        X @ X.T.copy()
        dpotrf(M, lower=1, clean=0)
        times.append(time.process_time() - begin)
    return min(times)


def by_rows(sizes, beside, exact_up_to):
    """Return a row per path."""
    sources = {"this": HERE} | ({"beside": beside} if beside else {})
    rows = []
    for (kernel, loss), n in ((case, n) for case in CASES for n in sizes):
        for centers in [None, 300] if n > 1000 else [None]:
            if centers is None and n > exact_up_to:
                continue
            row = {"kernel": kernel, "loss": loss, "n": n, "centers": centers or "exact"}
            for name, source in sources.items():
                seconds, count, first, peak = one_path(
                    source, kernel, loss, str(n), json.dumps(centers)
                )
                row |= {
                    f"{name}_cpu_s": f"{seconds:.2f}",
                    f"{name}_factorizations": count,
                    f"{name}_true_first": first,
                    f"{name}_peak_mib": f"{peak:.0f}",
                }
            count = int(row["this_factorizations"])
            row["bare_cpu_s"] = f"{count * bare(n):.2f}" if centers is None else ""
            rows.append(row)
            print(*row.values(), flush=True)
    for kernel, loss in CASES:
        mine = [
            r for r in rows if (r["kernel"], r["loss"], r["centers"]) == (kernel, loss, "exact")
        ]
        for a, b in pairwise(mine):
            growth = math.log(float(b["this_cpu_s"]) / float(a["this_cpu_s"]))
            print(f"{kernel} {loss} {a['n']} to {b['n']} rows: "
                  f"n^{growth / math.log(b['n'] / a['n']):.2f}")  # fmt: skip
    return rows


def by_points(n=1000, p=500):
    """Return a row per point of a path."""
    from kernelknife._engine.search.grid import place_points
    from kernelknife._engine.search.path import choose_start
    from kernelknife._engine.search.starts import StartSettings, make_starts
    from kernelknife._engine.solvers import Eliminate
    from kernelknife.datasets import make_sinusoidal
    from kernelknife.kernels import RBF
    from kernelknife.losses import SquaredLoss

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
    third = len(rows) // 3
    spent = [sum(float(row["seconds"]) for row in part) for part in (rows[:third], rows[-third:])]
    print(f"first third {spent[0]:.1f} s, last third {spent[1]:.1f} s: {spent[1] / spent[0]:.2f}")
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--part", choices=["rows", "points"], default="rows")
    options.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000, 3000])
    options.add_argument("--beside", help="folder with the package of another version")
    options.add_argument("--exact-up-to", type=int, default=3000)
    given = options.parse_args()
    if given.part == "points":
        write("path_time", by_points())
    else:
        write("path_rows", by_rows(given.rows, given.beside, given.exact_up_to))


if __name__ == "__main__":
    main()
