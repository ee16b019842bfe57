"""``kernelknife relate``: which columns of two tables go together."""

from kernelknife._utils.files import write_file
from kernelknife._utils.messages import number
from kernelknife.app.cli.console import Failure, busy, out, print_json, print_note, print_table
from kernelknife.app.cli.files import check_outputs, print_places, writing
from kernelknife.app.exploration import relate_tables
from kernelknife.app.report import build_relation
from kernelknife.app.tables import read_table

__all__ = ["relate"]


def relate(left, right, options, reading, *, report, json):
    """Relate two tables, print the columns and write the report if it was asked for.

    Parameters
    ----------
    left, right : str
        The tables.
    options : RelateOptions
    reading : ReadOptions
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
    frames = [read_table(data, **vars(reading)) for data in (left, right)]
    with busy("relating the tables"):
        found = relate_tables(*frames, **vars(options))
    if report is not None:
        with writing(report):
            write_file(report, build_relation(found, (str(left), str(right)), command=True))
    if json:
        print_json(found.to_json())
    else:
        _print_pairs(found, (str(left), str(right)))
    print_places(Report=report)
    return 0 if found.sure else 1


def _print_pairs(found, names):
    """Print the columns of each pair of scores, and the correlations."""
    for note in found.notes:
        print_note(note)
    model = found.model
    for i in range(len(model.correlations_)):
        rows = [
            (source, name, number(found.weights[k][i][name]))
            for k, source in enumerate(names)
            for name in found.selected(k, i)
        ]
        print_table(("table", "column", "weight"), rows, numeric=(2,))
        out.print()
    rows = [
        (i + 1, number(float(value)), *_on_held_out_rows(model, i))
        for i, value in enumerate(model.correlations_)
    ]
    header = ("pair", "correlation", "on held-out rows", "p-value")
    print_table(header, rows, numeric=(0, 1, 2, 3))
    if not found.sure:
        out.print("\nNo sure finding: independent tables could show as much.")


def _on_held_out_rows(model, i):
    """Return the correlation of a pair on held-out rows and its p-value, nothing without such."""
    if not hasattr(model, "p_values_"):
        return "", ""
    return number(float(model.held_out_correlations_[i])), number(float(model.p_values_[i]))
