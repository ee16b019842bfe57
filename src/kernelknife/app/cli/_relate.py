"""``kernelknife relate``: which columns of two tables go together."""

from contextlib import nullcontext

from kernelknife._utils.files import write_file
from kernelknife._utils.formatting import number
from kernelknife.app.cli.console import Failure, errors, out, say, show_json, show_table, warned
from kernelknife.app.cli.files import announce, check_outputs, writing
from kernelknife.app.exploration import relate_tables
from kernelknife.app.report import build_relation
from kernelknife.app.tables import read_table

__all__ = ["relate"]


def relate(left, right, settings, reading, *, report, json):
    """Relate two tables, print the columns and write the report if it was asked for.

    Parameters
    ----------
    left, right : str
        The tables.
    settings : dict
        Arguments of :func:`kernelknife.app.exploration.relate_tables`.
    reading : dict
        Arguments of :func:`kernelknife.app.tables.read_table`.
    report : path or None
        Where to write the report.
    json : bool
        Whether to print JSON instead of tables.

    Returns
    -------
    int
        The exit status: 0 if the correlation holds on held-out rows at the 5 % level, else 1.
    """
    if left == right == "-":
        raise Failure("Only one of both tables can come from standard input.")
    check_outputs(report, inputs=[left, right])
    frames = [read_table(data, **reading) for data in (left, right)]
    busy = errors.status("relating the tables") if errors.is_terminal else nullcontext()
    with warned(), busy:
        found = relate_tables(*frames, **settings)
    if report is not None:
        with writing(report):
            write_file(report, build_relation(found, (str(left), str(right))))
    if json:
        show_json(found.to_json())
    else:
        _show(found, (str(left), str(right)))
    if report is not None:
        announce("Report", report)
    return 0 if found.sure else 1


def _show(found, names):
    """Print the columns of each pair of scores, and the correlations."""
    for note in found.notes:
        say(note)
    model = found.model
    for i in range(len(model.correlations_)):
        rows = [
            (source, name, number(found.weights[k][i][name]))
            for k, source in enumerate(names)
            for name in found.selected(k, i)
        ]
        show_table(("table", "column", "weight"), rows, numeric=(2,))
        out.print()
    rows = [
        (i + 1, number(float(value)), *_judgment(model, i))
        for i, value in enumerate(model.correlations_)
    ]
    header = ("pair", "correlation", "on held-out rows", "p-value")
    show_table(header, rows, numeric=(0, 1, 2, 3))
    if not found.sure:
        out.print("\nNo sure finding: independent tables would show as much.")


def _judgment(model, i):
    """Return what held-out rows say about a pair, nothing where none were held out."""
    if not hasattr(model, "p_values_"):
        return "", ""
    return number(float(model.held_out_correlations_[i])), number(float(model.p_values_[i]))
