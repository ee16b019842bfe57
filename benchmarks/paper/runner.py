"""Run the repetitions of items in parallel and collect their results in tables.

Every finished repetition is written to a file of its own, a part, under a temporary name and then
renamed. A run that is killed therefore loses only the repetitions that were running, and the next
run continues with these. The tables are made from the parts, in order of the repetitions.
"""

import json
import time
from pathlib import Path

import pandas as pd
from item import Item
from joblib import Parallel, delayed

from kernelknife._utils.files import write_file
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import versions

__all__ = ["read_tables", "run"]

PARTS = "parts"  # folder of the parts, inside the output folder


def run(items, output, *, quick=False, jobs=1, report=lambda item, done, total: None):
    """Run the missing repetitions of some items and write their tables.

    Parameters
    ----------
    items : list of Item
    output : path
        Folder for the tables; the parts are kept in its folder ``parts``.
    quick : bool, default=False
        Whether to use few repetitions and coarse settings.
    jobs : int, default=1
        Number of repetitions that run at the same time.
    report : callable
        Called as ``report(item, done, total)`` at the beginning and after every repetition.

    Returns
    -------
    dict
        Tables by name of item and name of table.
    """
    output = Path(output)
    jobs_to_do, done = [], {}
    for item in items:
        paths = _part_paths(output, item, quick)
        missing = [seed for seed, path in enumerate(paths) if read_part(path) is None]
        done[item.name] = len(paths) - len(missing)
        report(item, done[item.name], len(paths))
        if missing:
            item.check()
        jobs_to_do += [(item, seed, paths[seed]) for seed in missing]
    finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_repeat)(item, seed, quick, path) for item, seed, path in jobs_to_do
    )
    by_name = {item.name: item for item in items}
    for name in finished:
        done[name] += 1
        report(by_name[name], done[name], _repetitions(by_name[name], quick))
    return {item.name: _assemble(item, output, quick) for item in items}


def read_tables(item, output):
    """Return the tables of an item as data frames, read from the files of a folder."""
    names = json.loads((Path(output) / f"{item.name}.json").read_text(encoding="utf-8"))["tables"]
    return {name: pd.read_csv(Path(output) / f"{name}.csv") for name in names}


def _repetitions(item, quick):
    return item.quick_repetitions if quick else item.repetitions


def _part_paths(output, item, quick):
    """Return the files of an item's repetitions, in order."""
    folder = output / PARTS / ("quick" if quick else "full") / item.name
    return [folder / f"{seed:04d}.json" for seed in range(_repetitions(item, quick))]


def read_part(path):
    """Return a finished repetition, None if it is missing or was made with other versions."""
    try:
        part = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return part if part["versions"] == versions() else None


def _repeat(item: Item, seed, quick, path):
    """Run one repetition, write it to its file and return the name of the item."""
    begin = time.perf_counter()
    with limited_blas():
        tables = item.repeat(seed, quick)
    part = {
        "versions": versions(),
        "seconds": round(time.perf_counter() - begin, 2),
        "tables": tables,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(part))
    return item.name


def _assemble(item, output, quick):
    """Write the tables of an item and return them.

    Every row carries the number of its repetition, the wall time of that repetition and the
    versions of the packages.
    """
    tables: dict[str, list] = {}
    paths = _part_paths(output, item, quick)
    for seed, path in enumerate(paths):
        part = read_part(path)
        facts = {"seconds": part["seconds"], **part["versions"]}
        for name, rows in part["tables"].items():
            tables.setdefault(name, []).extend({"repetition": seed, **row, **facts} for row in rows)
    for name, rows in tables.items():
        write_file(output / f"{name}.csv", pd.DataFrame(rows).to_csv(index=False))
    record = {
        "tables": list(tables),
        "repetitions": len(paths),
        "quick": quick,
        "versions": versions(),
    }
    write_file(output / f"{item.name}.json", json.dumps(record, indent=1) + "\n")
    return read_tables(item, output)
