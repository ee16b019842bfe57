"""Run repetitions in parallel, keep each as soon as it is finished, put them together.

Every repetition is written to a file of its own under a temporary name and renamed, so a run
that is killed loses only what was under way; the next one goes on from there. The tables are
put together from these files, in order.
"""

import json
import time
from pathlib import Path

from joblib import Parallel, delayed

from kernelknife._support.files import write_file
from kernelknife._support.optional import import_optional
from kernelknife._support.threads import limited_blas
from kernelknife.paper.item import Item
from kernelknife.selection import versions

__all__ = ["read_tables", "run"]

PARTS = "parts"


def run(items, output, *, quick=False, jobs=1, report=lambda item, done, total: None):
    """Run the missing repetitions of some items and write their tables.

    Parameters
    ----------
    items : list of Item
    output : path
        Folder for the tables; repetitions are kept in its folder ``parts``.
    quick : bool, default=False
        Few repetitions and coarse settings.
    jobs : int, default=1
    report : callable
        Called as ``report(item, done, total)`` at the beginning and after every repetition.

    Returns
    -------
    dict
        Tables by name of item and name of table.
    """
    output = Path(output)
    todo, done = [], {}
    for item in items:
        total = item.quick_repetitions if quick else item.repetitions
        parts = [_part(output, item, seed, quick) for seed in range(total)]
        done[item.name] = [read_part(part) is not None for part in parts]
        report(item, sum(done[item.name]), total)
        if not all(done[item.name]):
            item.check()
        todo += [
            (item, seed, part)
            for seed, (part, there) in enumerate(zip(parts, done[item.name], strict=True))
            if not there
        ]
    finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_repeat)(item, seed, quick, part) for item, seed, part in todo
    )
    by_name = {item.name: item for item in items}
    for name, seed in finished:
        done[name][seed] = True
        report(by_name[name], sum(done[name]), len(done[name]))
    return {item.name: _assemble(item, output, quick) for item in items}


def read_tables(item, output):
    """Return the tables of an item from the files in a folder."""
    pandas = import_optional("pandas", "kernelknife[cli]", "The reproduction")
    names = json.loads((Path(output) / f"{item.name}.json").read_text(encoding="utf-8"))["tables"]
    return {name: pandas.read_csv(Path(output) / f"{name}.csv") for name in names}


def _part(output, item, seed, quick):
    folder = output / PARTS / ("quick" if quick else "full") / item.name
    return folder / f"{seed:04d}.json"


def read_part(path):
    """Return a finished repetition, None if there is none or other versions made it."""
    try:
        part = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return part if part["versions"] == versions() else None


def _repeat(item: Item, seed, quick, path):
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
    return item.name, seed


def _assemble(item, output, quick):
    """Write the item's tables, one row per line with its repetition, wall time and versions."""
    pandas = import_optional("pandas", "kernelknife[cli]", "The reproduction")
    total = item.quick_repetitions if quick else item.repetitions
    rows: dict[str, list] = {}
    for seed in range(total):
        part = read_part(_part(output, item, seed, quick))
        for name, found in part["tables"].items():
            facts = {"seconds": part["seconds"], **part["versions"]}
            rows.setdefault(name, []).extend({"repetition": seed, **row, **facts} for row in found)
    for name, found in rows.items():
        write_file(output / f"{name}.csv", pandas.DataFrame(found).to_csv(index=False))
    facts = {"tables": list(rows), "repetitions": total, "quick": quick, "versions": versions()}
    write_file(output / f"{item.name}.json", json.dumps(facts, indent=1) + "\n")
    return read_tables(item, output)
