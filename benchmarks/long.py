"""Selection from Parquet files in two scans, beside the bare costs of its arithmetic.

    python benchmarks/long.py --rows 1000000 --columns 50 --folder DIR
    python benchmarks/long.py --rows 100000000 --columns 20 --generated

The target is a sum of three strong effects, three that explain 0.6 % of its variance each,
and noise. Beside the streamed selection stand one Arrow scan that computes the means of all
columns, and the bare product Z'Z of as many columns as the selection has functions, with as many
threads; a search of 10,000 sampled rows; and, if it is installed, histogram boosting with
permutation importance on a sample. Seconds are of the wall clock and of all processors together.
With ``--generated`` the blocks are computed instead of read, at a tenth of the rows and at all of
them, beside the time of computing them alone.
"""

import argparse
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from kernelknife import KnifeRegressorCV, select_stream
from kernelknife.sources import Source

STRONG, WEAK = ("x0", "x1", "x2"), ("x3", "x4", "x5")
TRUE = {*STRONG, *WEAK}
GROUP = 100_000  # rows of a row group
SAMPLE = 10_000


def drawn(rng, n_rows, n_columns):
    """Return some rows as columns by name."""
    X = rng.standard_normal((n_columns, n_rows))
    strong = np.sin(1.5 * X[0]) + 0.5 * (X[1] ** 2 - 1.0) + 0.7 * X[2]
    weak = (X[3] + (X[4] ** 2 - 1.0) / np.sqrt(2.0) + np.sign(X[5])) * 0.14
    y = strong + weak + 1.3 * rng.standard_normal(n_rows)
    return {**{f"x{j}": x for j, x in enumerate(X)}, "y": y}


class Generated(Source):
    """Rows that are computed whenever they are asked for, the same ones every time."""

    label = "generated rows"

    def __init__(self, n_rows, n_columns):
        self.n_rows, self.n_columns = n_rows, n_columns
        self.names = [*(f"x{j}" for j in range(n_columns)), "y"]
        self.dtypes = dict.fromkeys(self.names, "number")

    def blocks(self, columns):
        for first in range(0, self.n_rows, GROUP):
            rng = np.random.default_rng(first)
            block = drawn(rng, min(GROUP, self.n_rows - first), self.n_columns)
            yield {name: block[name] for name in columns}


def write(folder, n_rows, n_columns, seed=0):
    """Write the rows, a row group at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{n_rows}x{n_columns}.parquet"
    if file.exists():
        return file
    rng, writer = np.random.default_rng(seed), None
    for first in range(0, n_rows, GROUP):
        table = pa.table(drawn(rng, min(GROUP, n_rows - first), n_columns))
        writer = writer or pq.ParquetWriter(file, table.schema, compression="none")
        writer.write_table(table)
    writer.close()
    return file


def timed(function, *arguments):
    """Return the result, the seconds of the wall clock, and those of all processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return result, time.perf_counter() - wall, time.process_time() - cpu


def means(file):
    """Compute the means of all columns by one scan of Arrow."""
    total, n = 0.0, 0
    for batch in pyarrow.dataset.dataset(file).to_batches():
        total = total + np.array([column.to_numpy().sum() for column in batch.columns])
        n += batch.num_rows
    return total / n


def bare_products(n_rows, width, n_threads, chunk=8192):
    """Compute Z'Z of as many rows, which are the same ones again and again."""
    Z = np.random.default_rng(0).normal(size=(chunk, width))

    def part(_):
        return (Z.T @ Z)[0, 0]

    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        return sum(pool.map(part, range(-(-n_rows // chunk))))


def streamed(file, n_threads):
    """Select in two scans."""
    return select_stream(file, "y", n_workers=n_threads, announce=print)


def sampled(file):
    """Search a sample of the rows in memory, as is usual."""
    table = pq.ParquetFile(file).read_row_group(0).slice(0, SAMPLE).to_pandas()
    X = table.drop(columns="y")
    return KnifeRegressorCV(kernel="additive", random_state=0).fit(X, table["y"])


def boosted(file):
    """Return the columns that permutation importance of histogram boosting calls positive."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.inspection import permutation_importance

    table = pq.ParquetFile(file).read_row_group(0).to_pandas()
    X, y = table.drop(columns="y"), table["y"]
    half = len(X) // 2
    model = HistGradientBoostingRegressor(random_state=0).fit(X[:half], y[:half])
    found = permutation_importance(model, X[half:], y[half:], n_repeats=5, random_state=0)
    sure = found.importances_mean > 2.0 * found.importances_std
    return [name for name, kept in zip(X, sure, strict=True) if kept]


def line(name, wall, cpu, selected=None):
    """Print a line of the table."""
    found = ""
    if selected is not None:
        false = len(set(selected) - TRUE)
        found = f"{len(TRUE & set(selected))} of {len(TRUE)} true, {false} false"
    print(f"| {name} | {wall:.1f} | {cpu:.1f} | {found} |", flush=True)


def generated(n_rows, n_columns, n_threads):
    """Select from generated rows, and from a tenth of them."""
    print("| step | wall | cpu | |\n|---|---|---|---|")
    for n in (n_rows // 10, n_rows):
        source = Generated(n, n_columns)
        _, *spent = timed(lambda rows=source: sum(len(b["y"]) for b in rows.blocks(rows.names)))
        line(f"{n:,} rows computed once", *spent)
        found, *spent = timed(streamed, source, n_threads)
        line(f"{n:,} rows selected from", *spent, found.selected)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"peak memory {peak:.2f} GiB; {found.n_scans} scans", flush=True)


def main():
    """Run everything once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("long"))
    parser.add_argument("--generated", action="store_true", help="blocks that are computed")
    parser.add_argument("--only", choices=["streamed"], help="for the memory of one step")
    options = parser.parse_args()
    if options.generated:
        generated(options.rows, options.columns, options.threads)
        return
    file = write(options.folder, options.rows, options.columns)
    if options.only:
        found, wall, cpu = timed(streamed, file, options.threads)
        line("two scans", wall, cpu, found.selected)
        print({step: round(seconds, 2) for step, seconds in found.seconds.items()})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"peak memory {peak:.2f} GiB; error {found.error:.5f} (s.e. {found.standard_error:.5f})"
        )
        return
    print(f"{file.name}: {file.stat().st_size / 2**30:.2f} GiB")
    print("| step | wall | cpu | |\n|---|---|---|---|")
    _, *scan = timed(means, file)
    line("Arrow scan of the means", *scan)
    _, *products = timed(bare_products, options.rows, 5 * options.columns + 2, options.threads)
    line("bare Z'Z", *products)
    command = [sys.executable, __file__, "--only", "streamed", "--folder", str(options.folder)]
    sizes = ["--rows", str(options.rows), "--columns", str(options.columns)]
    subprocess.run([*command, *sizes, "--threads", str(options.threads)], check=True)
    found, *spent = timed(sampled, file)
    line(f"{SAMPLE} sampled rows, in memory", *spent, found.get_feature_names_out())
    found, *spent = timed(boosted, file)
    line(f"{GROUP} rows, boosting and permutation", *spent, found)


if __name__ == "__main__":
    main()
