"""How often ``select_features`` with its default settings calls a finding where there is none.

Every column and the target are independent noise, so that any finding is false.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from _common import write

from kernelknife.app.selection import select_features

SIZES = ((60, 20), (100, 50), (200, 100))  # rows, columns


def draw(n, p, classes, seed):
    """Return a table whose target ``y`` has nothing to do with its columns."""
    rng = np.random.default_rng([seed, n, p])
    frame = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    noise = rng.normal(size=n)
    return frame.assign(y=np.where(noise > np.median(noise), "a", "b") if classes else noise)


def run(n, p, classes, seed):
    """Return what is said about one table."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selection = select_features(draw(n, p, classes, seed), "y", n_jobs=1)
    return {
        "target": "classes" if classes else "numbers",
        "rows": n,
        "columns": p,
        "seed": seed,
        "finding": int(selection.better),
        "selected": len(selection.selected),
        "seconds": f"{time.process_time() - begin:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=4, help="draws of every size and target")
    options = parser.parse_args()
    rows = []
    for seed in range(options.replicates):
        for n, p in SIZES:
            for classes in (True, False):
                rows.append(run(n, p, classes, seed))
                print(rows[-1], flush=True)
    write("noise", rows)
    print(f"{sum(row['finding'] for row in rows)} findings in {len(rows)} tables of noise")


if __name__ == "__main__":
    main()
