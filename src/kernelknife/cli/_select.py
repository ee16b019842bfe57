"""``kernelknife select`` and ``kernelknife demo``: select columns, print them, write files."""

import contextlib
from pathlib import Path

from kernelknife._support.files import write_file
from kernelknife._support.formatting import number
from kernelknife.cli.console import Failure, out, say, show_json, show_table, warned
from kernelknife.cli.files import announce, check_outputs, writing
from kernelknife.cli.progress import fold_bar
from kernelknife.report import build_report
from kernelknife.selection import select_features
from kernelknife.storage import save_model
from kernelknife.tables import read_table

__all__ = ["demo", "select", "show"]

CLUSTER_TIMEOUT = 10  # seconds; a scheduler that is there answers within one


def select(data, target, settings, reading, *, report, save, json, cluster):
    """Select columns, print them and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    target : str
    settings : dict
        Arguments of :func:`kernelknife.selection.select_features`.
    reading : dict
        Arguments of :func:`kernelknife.tables.read_table`.
    report, save : path or None
        Where to write the report and the model.
    json : bool
        Whether to print JSON instead of tables.
    cluster : str or None
        Address of a Dask scheduler.

    Returns
    -------
    int
        The exit status: 0 if the selected columns predict better than a constant, else 1.
    """
    check_outputs(report, save, inputs=[data])
    with _on_cluster(cluster):
        selection = _run_selection(read_table(data, **reading), target, settings)
    if report is not None:
        with writing(report):
            write_file(report, build_report(selection, str(data), reading))
    if save is not None:
        with writing(save):
            save_model(save, selection)
    if json:
        show_json(selection.to_json(), indent=2)
    else:
        show(selection)
    for name, path in (("Report", report), ("Model", save)):
        if path is not None:
            announce(name, path)
    return 0 if selection.better else 1


def _run_selection(frame, target, settings):
    """Run the selection with progress and warnings on standard error."""
    with warned(), fold_bar() as callbacks:
        return select_features(frame, target, callbacks=callbacks, **settings)


@contextlib.contextmanager
def _on_cluster(address):
    """Spread the folds over a Dask cluster, if the address of one is given."""
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


def show(selection):
    """Print a selection: the columns and the errors as tables, doubts in a sentence."""
    for note in selection.table.notes:
        say(note)
    names = selection.selected
    out.print(
        f"{len(names)} of {len(selection.features)} columns selected for "
        f"{selection.table.target_name}\n",
    )
    if selection.rates is not None:
        out.print(f"{selection.rates.sentence}\n")
    shown = _shown_features(selection)
    if shown:
        heads, rows = _column_rows(selection, shown)
        show_table(heads, rows, numeric=tuple(range(1, len(heads))))
        out.print()
    if selection.interactions:
        pairs = [
            (" and ".join(together.names), f"{100 * together.share:.1f} %")
            for together in selection.interactions
        ]
        show_table(("acting together", "of the variance"), pairs, numeric=(1,))
        out.print()
    out.print(f"{selection.machine_in_words}\n")
    show_table(
        (selection.error_name, "mean", "standard error"), _error_rows(selection), numeric=(1, 2)
    )
    for doubt in _doubts(selection):
        out.print(f"\n{doubt}")


def _shown_features(selection):
    """Return the columns that the model uses, and those that votes or races keep."""
    kept = set() if selection.rates is None else set(selection.rates.selected)
    return [feature for feature in selection.features if feature.selected or feature.name in kept]


def _column_rows(selection, features):
    """Return heads and rows of the table of columns."""
    heads = ["column", "weight", "in folds"]
    rows = [
        [feature.name, number(feature.weight), f"{100 * feature.frequency:.0f} %"]
        for feature in features
    ]
    rates = selection.rates
    if rates is not None:
        heads += ["in halves" if rates.method == "stability" else "in draws", "q-value"]
        for feature, row in zip(features, rows, strict=True):
            column = rates.columns[feature.name]
            row += [f"{100 * column.share:.0f} %", number(column.q_value)]
    return heads, rows


def _doubts(selection):
    """Return the sentences that keep a reader from taking a selection for more than it is."""
    doubts = []
    gain, spread = selection.advantage.mean, number(selection.advantage.spread)
    if not selection.selected:
        doubts.append("No column is left at the chosen penalty.")
    elif gain <= 0:
        doubts.append(f"No sure finding: worse than a constant by {number(-gain)} +- {spread}.")
    elif not selection.better:
        reason = "not clearly more than the folds scatter"
        if (
            selection.held_out is not None
            and selection.held_out.error >= selection.held_out.constant
        ):
            reason = "but not on the rows held out"
        doubts.append(
            f"No sure finding: better than a constant by {number(gain)} +- {spread}, {reason}."
        )
    if selection.selected and selection.loses_to_all:
        doubts.append("All columns together predict better than the selected ones.")
    return doubts


def _error_rows(selection):
    """Return the rows of the table of errors."""
    scores = {
        "selected columns": selection.error,
        "all columns, equal weights": selection.full_error,
        "a constant": selection.constant_error,
    }
    rows = [(name, number(score.mean), number(score.spread)) for name, score in scores.items()]
    held_out = selection.held_out
    if held_out is not None:
        label = f"selected columns, {held_out.rows} rows held out"
        rows.append((label, number(held_out.error), ""))
        rows.append(("a constant, the same rows", number(held_out.constant), ""))
    return rows


def demo(output):
    """Select among columns of simulated data, and write the report and the data.

    Parameters
    ----------
    output : path
        Where to write the report; the data go beside it, with the ending ``.csv``.
    """
    import pandas

    from kernelknife.datasets import make_skin_of_orange

    output = Path(output)
    table = output.with_suffix(".csv")
    check_outputs(output, table)
    X, y = make_skin_of_orange(150, 16, random_state=0)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["fruit"] = ["peel" if label else "flesh" for label in y]
    csv = frame.to_csv(index=False)
    if table.exists() and table.read_text(encoding="utf-8", errors="replace") != csv:
        raise Failure(f"{table} exists and holds other data: name another report with --output.")
    out.print(
        "Skin of the orange: 150 rows, 20 columns, two classes, one around the other like a peel.\n"
        "Only x0 to x3 matter, and none of them shows it on its own.\n"
    )
    selection = _run_selection(frame, "fruit", {"rule": "1se", "folds": 5, "n_jobs": -1})
    show(selection)
    with writing(output):
        write_file(table, csv)
        write_file(output, build_report(selection, table.name))
    out.print(f"\nData: {table.resolve()}")
    out.print(f"Report, open it in a browser: {output.resolve()}")
