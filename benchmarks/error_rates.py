"""Do the promises of stability selection and of knockoffs hold, and what do they find?

    python benchmarks/error_rates.py --part stability --replicates 100 --jobs 2

Each part adds rows to a table in ``results`` and skips the replicates that the table has already, so that
a run can be stopped and continued. ``--part summary`` prints the means of all tables.

stability  ``KnifeStability(max_false=1)``: true and false features found on the skin of the orange
           (200 rows, 4 of 200 columns), Friedman's problem (400 rows, 5 of 50), the sign of a
           product (400 rows, 2 of 200), separate effects (400 rows, 6 of 66) and pure noise (200 x 100)
knockoffs  ``KnifeKnockoffs`` at a false discovery rate of 0.1, one draw, on the non-linear
           simulations of Spector and Janson (500 rows, 20 of 200 columns): the knockoffs are
           written to a file, so that ``error_rates_peers.py`` judges other statistics on the same
draws      the same with 20 draws joined by e-values
linear     a linear model (1,000 rows, 80 of 800 columns, correlation 0.5 between neighbours)
null       pure noise (200 x 100): how often anything is selected
speed      stability at 500 x 500, 60 x 20,000 and 100 x 10,000, in seconds
"""

import argparse
import csv
import sys
import time

import numpy as np
from _common import RESULTS, provenance
from sklearn.datasets import make_friedman1

from kernelknife import KnifeStability
from kernelknife.datasets import make_separate_effects, make_skin_of_orange

FDR = 0.1


# -- problems: X, y and which columns are true -----------------------------------------------------


def orange(seed):
    return (*make_skin_of_orange(200, 196, random_state=seed), np.arange(4))


def friedman(seed):
    return (*make_friedman1(400, 50, noise=1.0, random_state=seed), np.arange(5))


def product_sign(seed):
    X = np.random.default_rng(seed).standard_normal((400, 200))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), np.arange(2)


def separate(seed):
    table = make_separate_effects(400, 60, random_state=seed)
    return table.data, table.target, table.relevant


def noise(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((200, 100)), rng.standard_normal(200), np.arange(0)


STABILITY_PROBLEMS = {
    "orange, 196 noise": orange,
    "Friedman, 45 noise": friedman,
    "sign of 2 among 200": product_sign,
    "separate effects, 60 noise": separate,
    "noise": noise,
}


# -- tables that grow row by row -------------------------------------------------------------------


def known(name, keys):
    """Return the values of some columns of every row that a table has."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(row[key] for key in keys) for row in csv.DictReader(file)}


def add(name, row):
    """Add one row to a table."""
    path = RESULTS / f"{name}.csv"
    row = {**row, **provenance()}
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, list(row))
        if fresh:
            table.writeheader()
        table.writerow(row)
    print(", ".join(f"{key} {value}" for key, value in list(row.items())[:-5]), flush=True)


def judge(selected, true):
    """Return how many of the true columns are selected, and how many others."""
    found = len(np.intersect1d(selected, true))
    return {"true": len(true), "found": found, "false": len(selected) - found}


# -- parts -----------------------------------------------------------------------------------------


def run_stability(replicates, jobs):
    done = known("error_rates_stability", ("problem", "seed"))
    for seed in range(replicates):
        for name, make in STABILITY_PROBLEMS.items():
            if (name, str(seed)) in done:
                continue
            X, y, true = make(seed)
            begin, spent = time.perf_counter(), time.process_time()
            model = KnifeStability(n_jobs=jobs, random_state=seed).fit(X, y)
            by_q = np.flatnonzero(model.q_values_ <= FDR)
            judged = judge(by_q, true)
            add(
                "error_rates_stability",
                {
                    "problem": name,
                    "method": "kernelknife stability",
                    "seed": seed,
                    **judge(model.get_support(indices=True), true),
                    "bound": round(model.error_bound_, 4),
                    "found_by_q": judged["found"],
                    "false_by_q": judged["false"],
                    "seconds": round(time.perf_counter() - begin, 1),
                    "processor_seconds": round(time.process_time() - spent, 1),
                },
            )


def summarise():
    for path in sorted(RESULTS.glob("error_rates_*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        groups = {}
        for row in rows:
            kind = tuple(row[key] for key in ("problem", "method", "covariance") if key in row)
            groups.setdefault(kind, []).append(row)
        print(path.stem)
        for kind, members in groups.items():
            print(f"  {', '.join(kind)}: {summary_of(members)}")


def summary_of(rows):
    """Return power, false ones and false share of several replicates, in words."""
    true, found, false = (np.array([int(row[key]) for row in rows]) for key in KEYS)
    share = false / np.maximum(found + false, 1)
    error = share.std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.nan
    words = f"{len(rows)} replicates"
    if true.any():
        words += f", power {(found / np.maximum(true, 1)).mean():.3f}"
    words += f", false {false.mean():.2f}, false share {share.mean():.3f} +- {error:.3f}"
    if "found_by_q" in rows[0] and rows[0]["found_by_q"]:
        found, false = (np.array([int(row[key]) for row in rows]) for key in KEYS_BY_Q)
        share = false / np.maximum(found + false, 1)
        words += f"; by q-value: power {(found / np.maximum(true, 1)).mean():.3f}, "
        words += f"false share {share.mean():.3f}"
    return words


KEYS = ("true", "found", "false")
KEYS_BY_Q = ("found_by_q", "false_by_q")
PARTS = {"stability": run_stability}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=[*PARTS, "summary"], required=True)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.part != "summary":
        PARTS[options.part](options.replicates, options.jobs)
    summarise()


if __name__ == "__main__":
    sys.exit(main())
