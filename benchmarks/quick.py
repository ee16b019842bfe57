"""How many seconds ``kernelknife select --quick`` takes from beginning to end, by table.

The command runs in a process of its own, so that the import of the package and the reading of the
file are counted. Five columns of numbers are true, and in tables with texts one text column is; all
others are noise.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import write

# Rows, columns of numbers, columns of text.
TABLES = (
    (200, 50, 0),
    (1_000, 500, 0),
    (10_000, 50, 0),
    (100_000, 50, 0),
    (100_000, 15, 5),
    (60, 20_000, 0),
)
TARGETS = {"numbers": None, "2 classes": 2, "3 classes": 3}


def draw(n, p, n_texts, n_classes, seed):
    """Return a table with the target ``y``, and the names of its true columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(5)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + 0.5 * X[:, 4] ** 2
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    true = {f"x{j}" for j in range(5)}
    for t in range(n_texts):
        frame[f"t{t}"] = rng.choice([f"level {i}" for i in range(3 + 2 * t)], n)
    if n_texts:
        f, true = f + 1.5 * (frame["t0"] == "level 0"), true | {"t0"}
    y = f + 0.5 * rng.normal(size=n)
    if n_classes is None:
        return frame.assign(y=y.round(5)), true
    cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return frame.assign(y=np.array(list("abc"))[np.searchsorted(cuts, y)]), true


def run(folder, n, p, n_texts, target, seed):
    """Return what the command takes and finds on one table."""
    frame, true = draw(n, p, n_texts, TARGETS[target], seed)
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    words = ["-m", "kernelknife", "select", str(path), "--target", "y", "--quick", "--json"]
    before, begin = _processor_seconds(), time.perf_counter()
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - begin
    answer = json.loads(done.stdout)
    found = {name for tier in ("stable", "uncertain") for name in answer[tier]}
    return {
        "target": target,
        "rows": n,
        "columns": p + n_texts,
        "text_columns": n_texts,
        "seed": seed,
        "rows_searched": answer["rows_searched"],
        "seconds": f"{wall:.1f}",
        "processor_seconds": f"{_processor_seconds() - before:.1f}",
        "true_found": len(found & true),
        "true": len(true),
        "others_stable": len(set(answer["stable"]) - true),
    }


def _processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for table in TABLES:
            for target in TARGETS:
                rows.append(run(Path(folder), *table, target, options.seed))
                write("quick", rows)
                print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
