"""What the defaults take and find on a table of 2,000 x 500, and on one of 50,000 x 50.

``wide`` is scikit-learn's ``make_classification`` with 5 informative and 15 redundant columns of
500, in 16 clusters per class: seconds of ``KnifeClassifierCV`` on two cores, how many of the
selected columns are among the twenty, and the error on 10,000 other rows beside that of the same
kernel with the same penalties, solved exactly from the beginning and relaxed. That shows what
centers cost, and nothing where the search has used none; it does not show what other columns allow.

``long`` is Friedman's first problem with 45 columns of noise, as numbers and as two classes:
seconds of the whole command ``kernelknife select`` on two cores, and which columns it calls stable.

    python benchmarks/large_tables.py --part wide --draws 3
    python benchmarks/large_tables.py --part long
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _common import write
from sklearn.datasets import make_classification, make_friedman1

from kernelknife import KnifeClassifier, KnifeClassifierCV

N_JOBS = 2
N_TRUE = {"wide": 20, "long": 5}  # the first columns
WIDE_ROWS, TEST_ROWS, LONG_ROWS = 2000, 10_000, 50_000


def draw_wide(seed):
    """Return training rows and others."""
    X, y = make_classification(
        WIDE_ROWS + TEST_ROWS,
        n_features=500,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        shuffle=False,  # the columns that carry the signal come first
        random_state=seed,
    )
    order = np.random.default_rng(seed).permutation(len(y))  # rows come cluster by cluster
    X, y = X[order], y[order]
    return X[:WIDE_ROWS], y[:WIDE_ROWS], X[WIDE_ROWS:], y[WIDE_ROWS:]


def run_wide(seed):
    """Return one row for the table of 2,000 x 500."""
    A, y, B, target = draw_wide(seed)
    begin = time.perf_counter()
    search = KnifeClassifierCV(n_jobs=N_JOBS, random_state=0).fit(A, y)
    seconds = time.perf_counter() - begin
    chosen = search.get_support(indices=True)
    exact = KnifeClassifier(
        search.kernel_, alpha=search.alpha_, sparsity=search.sparsity_, relax=True, n_centers=None
    ).fit(A, y)
    error = 1.0 - search.score(B, target)
    exact_error = 1.0 - exact.score(B, target)
    return {
        "seed": seed,
        "kernel": search.kernel_name_,
        "weighting": search.weighting_,
        "seconds": f"{seconds:.0f}",
        "selected": len(chosen),
        "true": int(np.sum(chosen < N_TRUE["wide"])),
        "error": f"{error:.4f}",
        "exact_relaxed_error": f"{exact_error:.4f}",
        "exact_selected": int(exact.get_support().sum()),
        "ratio": f"{error / exact_error:.3f}",
    }


def run_long(classes, seed, folder):
    """Return one row for the table of 50,000 x 50."""
    import pandas as pd

    X, y = make_friedman1(LONG_ROWS, n_features=50, noise=1.0, random_state=seed)
    frame = pd.DataFrame(X.round(6), columns=[f"x{j}" for j in range(X.shape[1])])
    frame["y"] = np.where(y > np.median(y), "high", "low") if classes else y.round(6)
    table = folder / "long.csv"
    frame.to_csv(table, index=False)
    command = [sys.executable, "-m", "kernelknife", "select", str(table), "-t", "y", "--json"]
    command += ["--jobs", str(N_JOBS), "--report", str(folder / "report.html")]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    answer = json.loads(done.stdout)
    return {
        "target": "classes" if classes else "numbers",
        "seed": seed,
        "seconds": f"{seconds:.0f}",
        "kernel": answer["kernel"],
        "stable": len(answer["stable"]),
        "true": sum(int(name[1:]) < N_TRUE["long"] for name in answer["stable"]),
        "selected": len(answer["selected"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("wide", "long"), default="wide")
    parser.add_argument("--draws", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.draws):
            if given.part == "wide":
                rows.append(run_wide(seed))
            else:
                rows += [run_long(classes, seed, Path(folder)) for classes in (False, True)]
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    write(f"large_tables_{given.part}", rows)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
