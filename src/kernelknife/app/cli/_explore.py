"""``kernelknife explore``: what the columns of a table have in common, without a target."""

from contextlib import nullcontext

from kernelknife._utils.files import write_file
from kernelknife._utils.formatting import number
from kernelknife.app.cli.console import errors, out, say, show_json, show_table, warned
from kernelknife.app.cli.files import announce, check_outputs, writing
from kernelknife.app.exploration import explore_table
from kernelknife.app.report import build_exploration
from kernelknife.app.tables import read_table

__all__ = ["explore"]


def explore(data, settings, reading, *, report, scores, json):
    """Explore a table, print the columns and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    settings : dict
        Arguments of :func:`kernelknife.app.exploration.explore_table`.
    reading : dict
        Arguments of :func:`kernelknife.app.tables.read_table`.
    report, scores : path or None
        Where to write the report, and the scores of the rows as a table.
    json : bool
        Whether to print JSON instead of a table.
    """
    check_outputs(report, scores, inputs=[data])
    frame = read_table(data, **reading)
    busy = errors.status("looking for components") if errors.is_terminal else nullcontext()
    with warned(), busy:
        found = explore_table(frame, **settings)
    if report is not None:
        with writing(report):
            write_file(report, build_exploration(found, str(data)))
    if scores is not None:
        _write_scores(scores, found.scores)
    if json:
        show_json(found.to_json())
    else:
        _show(found)
    for kind, file in (("Report", report), ("Scores", scores)):
        if file is not None:
            announce(kind, file)


def _show(found):
    """Print the columns that carry the components, and what the components explain."""
    for note in found.notes:
        say(note)
    out.print(f"{len(found.selected)} of {len(found.weights)} columns carry the components\n")
    rows = [(name, number(found.weights[name])) for name in found.selected]
    show_table(("column", "weight"), rows, numeric=(1,))
    out.print()
    shares = found.model.explained_variance_ratio_
    rows = [(i + 1, f"{100 * share:.1f} %") for i, share in enumerate(shares)]
    show_table(("component", "of the variance"), rows, numeric=(0, 1))


def _write_scores(path, scores):
    """Write one row per row of the table that was used, one column per component."""
    lines = [",".join(f"component_{i + 1}" for i in range(scores.shape[1]))]
    lines += [",".join(repr(float(value)) for value in row) for row in scores]
    with writing(path):
        write_file(path, "\n".join(lines) + "\n")
