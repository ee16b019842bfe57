"""The joint kernel beside the Gaussian one: whole searches with either on measured tables.

Both are one joint function of the columns. The Gaussian kernel takes standardized columns as they
are; the joint kernel draws in their tails and expects less smooth functions. The draws are those of
``small_tables.py``, some of the rows of tables of numbers from the same half, and those of
``many_tables.py`` (which says what to install). None has a row of the half that judges our
defaults. The form of the kernel was found on the choosing half and on every second of the 44 other
tables, from the first in the order of the alphabet; only the rest of these judges it.

    python benchmarks/joint.py --draws 3 --jobs 2
    python benchmarks/joint.py --summary
"""

import argparse
import csv
import sys
import warnings

import many_tables
import numpy as np
import small_tables
import tables
from _common import RESULTS, write
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

from kernelknife import KnifeClassifierCV, KnifeRegressorCV

NAME = "joint"
KERNELS = ("rbf", "joint")
# Training rows of tables of numbers, from the half that our defaults were chosen on.
NUMBERS = {
    "abalone": 250,
    "chemical": 117,
    "concrete": 300,
    "permeability": 110,
    "solubility": 250,
}


def draw_numbers(name, seed):
    """Return training rows and the others, each with the numbers to predict."""
    assert name in tables.CHOOSING, "the other tables judge"
    X, y, _, _ = tables.load(name)
    rows = np.arange(len(y))
    train, test = train_test_split(rows, train_size=NUMBERS[name], random_state=seed)
    A, B = tables.prepare(X, train, test)
    return A, y[train], B, y[test]


def draw(source, name, seed):
    """Return training rows and the others, each with their targets, and if these are classes."""
    if source == "many_tables":
        return many_tables.draw(name, seed)
    if source == "small_tables":
        return *small_tables.draw(name, seed), True
    return *draw_numbers(name, seed), False


def draws(n):
    """Return every draw: a number of each table of the choosing half, one of each other table."""
    jobs = [("many_tables", name, 0) for name in many_tables.NAMES]
    for seed in range(n):
        jobs += [("small_tables", name, seed) for name in small_tables.DRAWS]
        jobs += [("numbers", name, seed) for name in NUMBERS]
    return jobs


def run(source, name, seed):
    """Return one row per kernel."""
    A, y, B, target, classes = draw(source, name, seed)
    rows = []
    for kernel in KERNELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = (KnifeClassifierCV if classes else KnifeRegressorCV)(kernel).fit(A, y)
        rows.append(
            {
                "source": source,
                "table": name,
                "seed": seed,
                "kernel": kernel,
                "rows": len(y),
                "columns": A.shape[1],
                "error": f"{tables.judge(target, model.predict(B), classes):.4f}",
                "selected": int(model.get_support().sum()),
                "note": f"{model.alpha_:g} {model.weighting_}",
            }
        )
    return rows


def summarize(rows):
    """Print the error of the joint kernel over that of the Gaussian one."""
    judging = sorted(many_tables.NAMES)[1::2]
    parts = {True: "many_tables, which judge", False: "many_tables, seen before"}
    cells = {}
    for r in rows:
        source = r["source"]
        if source == "many_tables":
            source = parts[r["table"] in judging]
        cells[(source, r["table"], r["seed"], r["kernel"])] = r
    drawn = list(dict.fromkeys(key[:3] for key in cells))
    for source in dict.fromkeys(key[0] for key in drawn):
        mine = [key for key in drawn if key[0] == source]
        errors, kept = (
            np.array([[float(cells[(*key, k)][what]) for k in KERNELS] for key in mine])
            for what in ("error", "selected")
        )
        columns = np.array([float(cells[(*key, "rbf")]["columns"]) for key in mine])
        ratios = np.log(tables.floored(errors[:, 1]) / tables.floored(errors[:, 0]))
        shares = np.median(kept / columns[:, None], axis=0)
        print(
            f"{source}: {len(mine)} draws of {len({key[1] for key in mine})} tables, error of the "
            f"joint kernel over that of the Gaussian {np.exp(ratios.mean()):.3f} in the geometric "
            f"mean (standard error {ratios.std(ddof=1) / np.sqrt(len(ratios)):.3f}), "
            f"{np.exp(np.median(ratios)):.3f} in the median; columns kept {shares[1]:.2f} and "
            f"{shares[0]:.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3, help="of every table of the choosing half")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="print what is recorded")
    given = parser.parse_args()
    if not given.summary:
        rows = []
        calls = (delayed(run)(*job) for job in draws(given.draws))
        for part in Parallel(n_jobs=given.jobs, return_as="generator")(calls):
            rows += part
            print(*part[0].values(), *part[1].values(), file=sys.stderr, flush=True)
        write(NAME, rows)
    with (RESULTS / f"{NAME}.csv").open(newline="") as file:
        summarize(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
