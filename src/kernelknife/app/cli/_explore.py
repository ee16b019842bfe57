"""``kernelknife explore`` and ``relate``: tables without a target, on their own and in pairs."""

from pandas import concat

from kernelknife._utils.files import write_file
from kernelknife._utils.messages import number
from kernelknife.app.cli._predict import spreadsheet_notes
from kernelknife.app.cli.console import (
    Failure,
    busy,
    check_ending,
    check_folder,
    check_outputs,
    each_name,
    out,
    print_json,
    print_note,
    print_places,
    print_table,
    write_figures,
    write_table,
    writing,
)
from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.report import build_exploration, build_relation
from kernelknife.app.tables import read_table

__all__ = [
    "explore",
    "relate",
]


def explore(data, options, reading, *, report, scores, table, figures, json):
    """Explore a table, print the columns and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    report, scores, table, figures : path or None
        Where to write the report, the scores of the rows, the columns, and the figures.
    json : bool
        Whether to print JSON instead of a table.
    """
    check_outputs(report, scores, table, inputs=[data])
    check_ending(report, "report")
    check_ending(scores, "table")
    check_ending(table, "table")
    check_folder(figures)
    texts = () if options.group is None else (options.group,)
    frame = read_table(data, **vars(reading), texts=texts, keys=each_name(options.ids))
    with busy("looking for components"):
        found = explore_table(frame, **vars(options))
    if report is not None:
        with writing(report):
            write_file(report, build_exploration(found, str(data), command=True))
    if scores is not None:
        # One row per row of the table that was used, its identifiers before its scores.
        rows, ids = found.to_frame("scores"), list(found.identifiers.columns)
        rows = concat([found.identifiers, rows.drop(columns=ids, errors="ignore")], axis=1)
        for note in spreadsheet_notes(rows[ids], scores):
            print_note(note)
        write_table(scores, rows, exact=ids)
    if table is not None:
        write_table(table, found.to_frame())
    write_figures(figures, found)
    if json:
        print_json(found.to_json())
    else:
        _print_columns(found)
    print_places(Report=report, Scores=scores, Table=table, Figures=figures)


def _print_columns(found):
    """Print the columns that carry the components, and what the components explain."""
    for note in found.notes:
        print_note(note)
    if not getattr(found.model, "beyond_chance_", True):
        out.print("Nothing beyond chance: independent columns could show as much.\n")
    else:
        out.print(f"{len(found.selected)} of {len(found.weights)} columns carry the components\n")
    _print_weights([(None, found.weights, found.tiers)])
    out.print()
    shares = found.model.explained_variance_ratio_
    rows = [(i + 1, f"{100 * share:.1f} %") for i, share in enumerate(shares)]
    print_table(("component", "of the variance"), rows, numeric=(0, 1))


def _print_weights(tables):
    """Print the columns with a weight, and how sure they are where there is a finding.

    ``tables`` are names of tables, None for a single one, with weights and tiers of their columns.
    """
    first = ["table"] if tables[0][0] is not None else []
    sure = ["how sure"] if any(tiers for _, _, tiers in tables) else []
    rows = [
        [
            *([source] if first else []),
            name,
            number(weight),
            *([tiers.get(name, "")] if sure else []),
        ]
        for source, weights, tiers in tables
        for name, weight in weights.items()
        if weight > 0
    ]
    print_table([*first, "column", "weight", *sure], rows, numeric=(len(first) + 1,))


def relate(left, right, options, reading, *, report, table, figures, json):
    """Relate two tables, print the columns and write the report if it was asked for.

    Parameters
    ----------
    left, right : str
        The tables.
    report, table, figures : path or None
        Where to write the report, the columns, and the figures.
    json : bool
        Whether to print JSON instead of tables.

    Returns
    -------
    int
        The exit status: 0 if the correlation holds on held-out rows at the 5 % level, else 1.
    """
    if left == right == "-":
        raise Failure("Only one of both tables can come from standard input.")
    check_outputs(report, table, inputs=[left, right])
    check_ending(report, "report")
    check_ending(table, "table")
    check_folder(figures)
    texts = [name for name in (options.on, options.group) if name is not None]
    frames = [read_table(data, **vars(reading), texts=texts) for data in (left, right)]
    with busy("relating the tables"):
        found = relate_tables(*frames, **vars(options))
    if report is not None:
        with writing(report):
            write_file(report, build_relation(found, (str(left), str(right)), command=True))
    if table is not None:
        write_table(table, found.to_frame())
    write_figures(figures, found)
    if json:
        print_json(found.to_json())
    else:
        _print_pairs(found, (str(left), str(right)))
    print_places(Report=report, Table=table, Figures=figures)
    return 0 if found.sure else 1


def _print_pairs(found, names):
    """Print the columns of each pair of scores, and the correlations."""
    for note in found.notes:
        print_note(note)
    model = found.model
    if not found.sure:
        out.print("No sure finding: independent tables could show as much. The best guess:\n")
    for i in range(len(model.correlations_)):
        _print_weights([(names[k], found.weights[k][i], found.tiers(k, i)) for k in (0, 1)])
        out.print()
    none = [None] * len(model.correlations_)  # where no rows were held out
    held_out = getattr(model, "held_out_correlations_", none)
    figures = zip(model.correlations_, held_out, getattr(model, "p_values_", none), strict=True)
    lines = [
        [i, *("" if value is None else number(float(value)) for value in pair)]
        for i, pair in enumerate(figures, start=1)
    ]
    header = ("pair", "correlation", "on held-out rows", "p-value")
    print_table(header, lines, numeric=(0, 1, 2, 3))
    if found.settings.group is None and found.settings.blocks is None:
        out.print(
            "\nThe p-value is that of independent rows: for those of a series or of groups use "
            "--blocks or --group."
        )
