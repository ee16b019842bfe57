"""``kernelknife select`` and ``demo``: choose, print, write."""

import contextlib
import json as json_module
from pathlib import Path

from kernelknife._support.files import write_file
from kernelknife._support.formatting import number
from kernelknife.cli.console import Failure, errors, out, show_table, warned
from kernelknife.cli.progress import fold_bar
from kernelknife.report import build_report
from kernelknife.selection import select_features
from kernelknife.storage import save_model
from kernelknife.tables import read_table

__all__ = ["check_writable", "choose", "demo", "select", "writing"]


CLUSTER_TIMEOUT = 10  # seconds


def choose(frame, target, settings):
    """Run the selection with progress and warnings on standard error."""
    with warned(), fold_bar() as callbacks:
        return select_features(frame, target, callbacks=callbacks, **settings)


@contextlib.contextmanager
def on_cluster(address):
    """Spread the folds over a Dask cluster, where one is named."""
    if address is None:
        yield
        return
    import joblib

    from kernelknife._support.optional import import_optional

    distributed = import_optional("distributed", "kernelknife[cluster]", "A cluster")
    try:
        client = distributed.Client(address, timeout=CLUSTER_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        raise Failure(f"There is no Dask scheduler at {address}: {error}") from error
    with client, joblib.parallel_config(backend="dask"):
        yield


@contextlib.contextmanager
def writing(path):
    """Turn a failed write into a sentence."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}.") from error


def check_writable(*paths, source=None):
    """Raise before the work begins where its result could not be kept, or would destroy another."""
    taken = [] if source in (None, "-") else [Path(source).resolve()]
    for path in paths:
        if path is None:
            continue
        if Path(path).resolve() in taken:
            raise Failure(f"{path} is the table itself or another result: name another file.")
        taken.append(Path(path).resolve())
        folder = Path(path).resolve().parent
        if not folder.is_dir():
            raise Failure(f"{path} cannot be written: there is no folder {folder}.")
        if Path(path).is_dir():
            raise Failure(f"{path} cannot be written: it is a folder.")
        with writing(path):
            probe = folder / f".{Path(path).name}.probe"
            probe.touch()
            probe.unlink()


def select(data, target, settings, reading, *, report, save, json, cluster):
    """Choose the columns, print them, write what was asked for; return the exit status."""
    check_writable(report, save, source=data)
    with on_cluster(cluster):
        selection = choose(read_table(data, **reading), target, settings)
    if report is not None:
        with writing(report):
            write_file(report, build_report(selection, str(data), reading))
    if save is not None:
        with writing(save):
            save_model(save, selection)
    if json:
        out.print(json_module.dumps(selection.to_json(), indent=2, default=str), markup=False)
    else:
        show(selection)
    for name, path in (("Report", report), ("Model", save)):
        if path is not None:
            errors.print(f"{name}: {Path(path).resolve()}", markup=False)
    return 0 if selection.selected and selection.better else 1


def show(selection):
    """Print the selection for a person."""
    for note in selection.table.notes:
        errors.print(note, markup=False)
    names = selection.selected
    total = len(selection.features)
    out.print(
        f"{len(names)} of {total} columns selected for {selection.table.target_name}\n",
        markup=False,
    )
    rows = [
        (f.name, number(f.weight), f"{100 * f.frequency:.0f} %")
        for f in selection.features
        if f.selected
    ]
    if rows:
        show_table(("column", "weight", "in folds"), rows, numeric=(1, 2))
        out.print()
    scores = [
        ("selected columns", selection.error),
        ("all columns, equal weights", selection.full_error),
        ("a constant", selection.constant_error),
    ]
    rows = [(name, number(s.mean), number(s.spread)) for name, s in scores]
    if selection.held_out is not None:
        there = selection.held_out
        rows.append((f"selected columns, {there.rows} rows held out", number(there.error), ""))
        rows.append(("a constant, the same rows", number(there.constant), ""))
    show_table((selection.error_name, "mean", "standard error"), rows, numeric=(1, 2))
    if not names:
        out.print("\nNo column is left at the chosen penalty.")
    elif not selection.better:
        gain = f"{number(selection.advantage.mean)} +- {number(selection.advantage.spread)}"
        out.print(f"\nNo sure finding: better than a constant by {gain} only.", markup=False)


def demo(output):
    """Write the report on data of our own, and the data beside it."""
    import pandas

    from kernelknife.datasets import make_skin_of_orange

    output = Path(output)
    table = output.with_suffix(".csv")
    check_writable(output, table)
    X, y = make_skin_of_orange(150, 16, random_state=0)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["fruit"] = ["peel" if label else "flesh" for label in y]
    out.print(
        "Skin of the orange: 150 rows, 20 columns, two classes, one around the other like a peel.\n"
        "Only x0 to x3 matter, and none of them shows it on its own.\n"
    )
    selection = choose(frame, "fruit", {"rule": "1se", "folds": 5, "n_jobs": -1})
    show(selection)
    with writing(output):
        write_file(table, frame.to_csv(index=False))
        write_file(output, build_report(selection, table.name))
    out.print(f"\nData: {table.resolve()}", markup=False)
    out.print(f"Report, open it in a browser: {output.resolve()}", markup=False)
