"""How many seconds of one core ``select_features`` takes with its default settings, by table.

Friedman's first problem (five true columns) for numbers, the skin of the orange (four) for classes;
all other columns are noise. What is counted is processor time, which other programs on the computer
change little. Rows are written as they come.
"""

import argparse
import csv
import time
import warnings

import numpy as np
import pandas as pd
from _common import RESULTS, provenance, write
from sklearn.datasets import make_friedman1

from kernelknife.app.selection import select_features
from kernelknife.datasets import make_skin_of_orange

ROWS = (100, 300, 1_000, 3_000, 10_000)
COLUMNS = (10, 100)


def draw(task, n, p, seed):
    """Return a table with the target ``y``, and the names of its true columns."""
    if task == "numbers":
        X, y = make_friedman1(n, p, noise=1.0, random_state=seed)
        n_true = 5
    else:
        X, y = make_skin_of_orange(n, p - 4, random_state=seed)
        n_true = 4
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    return frame.assign(y=y), {f"x{j}" for j in range(n_true)}


def run(task, n, p, seed):
    frame, true = draw(task, n, p, seed)
    kind = "regression" if task == "numbers" else "classification"
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selection = select_features(frame, "y", task=kind, n_jobs=1)
    seconds = time.process_time() - begin
    chosen = set(selection.selected)
    return {
        "target": task,
        "rows": n,
        "columns": p,
        "seed": seed,
        "seconds": f"{seconds:.1f}",
        "true_found": len(chosen & true),
        "true": len(true),
        "others_selected": len(chosen - true),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1, help="draws of every size")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--targets", nargs="*", default=("numbers", "classes"))
    parser.add_argument("--more", action="store_true", help="keep the rows of an earlier run")
    options = parser.parse_args()
    rows = read("how_long") if options.more else []
    for task in options.targets:
        for p in options.columns:
            for n in options.rows:
                found = [run(task, n, p, seed) for seed in range(options.replicates)]
                rows += found
                write("how_long", rows)
                seconds = np.mean([float(row["seconds"]) for row in found])
                print(f"{task:8s} {n:6d} rows {p:5d} columns {seconds:8.1f} s", flush=True)


def read(name):
    """Return the rows of a table, without the versions that they were made with."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        extra = provenance()
        return [
            {key: value for key, value in row.items() if key not in extra}
            for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    main()
