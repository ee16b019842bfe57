"""Whether ``select_features`` claims a finding in pure noise, and what a report then shows.

Every column and the target are independent, so that any finding is false. A table has 60 to 400
rows and 20 to 2,000 columns, drawn evenly on logarithmic scales, and a target of numbers or of
classes. ``python benchmarks/noise_tables.py --tables 200 --jobs 16`` runs them all; ``--summary``
repeats the figures of the committed table.
"""

import argparse
import csv
import time
import warnings

import numpy as np
import pandas as pd
from _common import RESULTS, write
from joblib import Parallel, delayed

from kernelknife.app.report import build_report
from kernelknife.app.selection import headline, select_features

ROWS, COLUMNS = (60, 400), (20, 2000)
MOST_CLAIMS = 0.05
KINDS = ("normal", "log-normal", "binary")  # of all columns of a table


def draw(seed, most_rows, most_columns):
    """Return a table whose target ``y`` has nothing to do with its columns, and what it is."""
    rng = np.random.default_rng([seed, 2035])
    n, p = (
        round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))
        for low, high in ((ROWS[0], most_rows), (COLUMNS[0], most_columns))
    )
    kind = KINDS[rng.integers(len(KINDS))]
    X = rng.normal(size=(n, p))
    if kind != "normal":
        X = np.exp(X) if kind == "log-normal" else (X > 0).astype(float)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    noise, classes = rng.normal(size=n), seed % 2 == 1
    if classes:
        noise = np.where(noise > np.quantile(noise, rng.uniform(0.3, 0.7)), "a", "b")
    target = "classes" if classes else "numbers"
    return frame.assign(y=noise), {"target": target, "rows": n, "columns": p, "kind": kind}


def run(seed, most_rows, most_columns):
    """Return what is said about one table."""
    begin = time.perf_counter()
    frame, facts = draw(seed, most_rows, most_columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select_features(frame, "y", n_jobs=1)
    page, verdict = build_report(found), found.verdict
    return {
        **facts,
        "seed": seed,
        "finding": int(verdict.finding),
        "all_better": int(verdict.all_better),
        "selected": len(found.selected),
        "tiers": page.count('class="tier '),
        "folds": len(found.search.splits_),
        "advantage": f"{found.advantage.mean:.4f}",
        "spread": f"{found.advantage.spread:.4f}",
        "all_advantage": f"{found.full_advantage.mean:.4f}",
        "all_spread": f"{found.full_advantage.spread:.4f}",
        "seconds": f"{time.perf_counter() - begin:.1f}",
        "headline": headline(found)[:120],
    }


def summarize(rows):
    """Print the share of tables with a claim, its standard error, and the tiers that were shown."""
    n = len(rows)
    for name, words in (("finding", "claim a finding"), ("all_better", "call all columns better")):
        count = sum(int(row[name]) for row in rows)
        share = count / n
        error = np.sqrt(share * (1.0 - share) / n)
        print(f"{count} of {n} tables of noise {words}: {share:.3f} +- {error:.3f}")
    tiers = sum(int(row["tiers"]) > 0 for row in rows if not int(row["finding"]))
    print(f"{tiers} reports without a finding show a tier")
    share = np.mean([int(row["finding"]) or int(row["all_better"]) for row in rows])
    print(f"either claim: {share:.3f}, at most {MOST_CLAIMS} wanted")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--most-rows", type=int, default=ROWS[1])
    parser.add_argument("--most-columns", type=int, default=COLUMNS[1])
    parser.add_argument("--jobs", type=int, default=1, help="tables at a time")
    parser.add_argument("--output", default="noise_tables", help="name of the table of results")
    parser.add_argument("--summary", action="store_true", help="only read the table of results")
    options = parser.parse_args()
    if options.summary:
        with (RESULTS / f"{options.output}.csv").open() as file:
            summarize(list(csv.DictReader(file)))
        return
    tasks = (
        delayed(run)(seed, options.most_rows, options.most_columns)
        for seed in range(options.first, options.first + options.tables)
    )
    rows = []
    for row in Parallel(n_jobs=options.jobs, return_as="generator")(tasks):
        rows.append(row)
        print(row, flush=True)
    write(options.output, rows)
    summarize(rows)


if __name__ == "__main__":
    main()
