"""``kernelknife explore``: what the columns of a table have in common, without a target."""

from kernelknife._utils.files import write_file
from kernelknife._utils.messages import number
from kernelknife.app.cli.console import busy, out, print_json, print_note, print_table
from kernelknife.app.cli.files import check_outputs, print_places, writing
from kernelknife.app.exploration import explore_table
from kernelknife.app.report import build_exploration
from kernelknife.app.tables import read_table

__all__ = ["explore"]


def explore(data, options, reading, *, report, scores, json):
    """Explore a table, print the columns and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    options : ExploreOptions
    reading : ReadOptions
    report, scores : path or None
        Where to write the report, and the scores of the rows as a table.
    json : bool
        Whether to print JSON instead of a table.
    """
    check_outputs(report, scores, inputs=[data])
    frame = read_table(data, **vars(reading))
    with busy("looking for components"):
        found = explore_table(frame, **vars(options))
    if report is not None:
        with writing(report):
            write_file(report, build_exploration(found, str(data), command=True))
    if scores is not None:
        _write_scores(scores, found.scores)
    if json:
        print_json(found.to_json())
    else:
        _print_columns(found)
    print_places(Report=report, Scores=scores)


def _print_columns(found):
    """Print the columns that carry the components, and what the components explain."""
    for note in found.notes:
        print_note(note)
    out.print(f"{len(found.selected)} of {len(found.weights)} columns carry the components\n")
    rows = [(name, number(found.weights[name])) for name in found.selected]
    print_table(("column", "weight"), rows, numeric=(1,))
    out.print()
    shares = found.model.explained_variance_ratio_
    rows = [(i + 1, f"{100 * share:.1f} %") for i, share in enumerate(shares)]
    print_table(("component", "of the variance"), rows, numeric=(0, 1))


def _write_scores(path, scores):
    """Write one row per row of the table that was used, one column per component."""
    lines = [",".join(f"component_{i + 1}" for i in range(scores.shape[1]))]
    lines += [",".join(repr(float(value)) for value in row) for row in scores]
    with writing(path):
        write_file(path, "\n".join(lines) + "\n")
