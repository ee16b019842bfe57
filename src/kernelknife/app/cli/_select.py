"""``kernelknife select`` and ``kernelknife demo``: select columns, print them, write files."""

import contextlib
from pathlib import Path

import numpy as np

from kernelknife._utils.files import write_file
from kernelknife._utils.messages import number, p_value
from kernelknife.app.cli.console import (
    Failure,
    as_line,
    check_ending,
    check_folder,
    check_outputs,
    each_name,
    out,
    print_json,
    print_note,
    print_places,
    print_table,
    warned,
    write_figures,
    write_table,
    writing,
)
from kernelknife.app.cli.progress import fold_bar
from kernelknife.app.options import ReadOptions, SelectOptions
from kernelknife.app.report import build_report
from kernelknife.app.selection import find_warnings, headline, select_features
from kernelknife.app.selection.record import best_substitute
from kernelknife.app.selection.verdict import KEPT, TIERS
from kernelknife.app.storage import save_model
from kernelknife.app.tables import read_table

__all__ = ["demo", "print_selection", "select"]

CLUSTER_TIMEOUT = 10  # seconds; a scheduler that is there answers within one
BAR_LENGTH = 10  # letters of a bar that shows a share of the folds
MOST_INFORMATIVE = 20  # rows of a table in a terminal
MOST_CLASSES = 8  # more do not fit side by side on a terminal


def select(data, options, reading, *, report, save, table, figures, json, cluster):
    """Select columns, print them and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    report, save, table, figures : path or None
        Where to write the report, the model, the table of columns, and all figures.
    json : bool
        Whether to print JSON instead of tables.
    cluster : str or None
        Address of a Dask scheduler.

    Returns
    -------
    int
        The exit status: 0 if there is a finding, else 1.
    """
    check_outputs(report, save, table, inputs=[data])
    check_ending(report, "report")
    check_ending(save, "model")
    check_ending(table, "table")
    check_folder(figures)
    with _on_cluster(cluster):
        frame = read_table(
            data,
            **vars(reading),
            texts=() if options.group is None else (options.group,),
            keys=each_name(options.ids),
            codes=() if options.task == "regression" else (options.target,),
        )
        selection = _run_selection(frame, options)
    if report is not None:
        with writing(report):
            write_file(report, build_report(selection, str(data), reading, command=True))
    if save is not None:
        with writing(save):
            save_model(save, selection)
    if table is not None:
        write_table(table, selection.to_frame())
    write_figures(figures, selection)
    if json:
        print_json(selection.to_json(), indent=2)
    else:
        print_selection(selection)
    print_places(Report=report, Model=save, Table=table, Figures=figures)
    return 0 if selection.verdict.finding else 1


def _run_selection(frame, options):
    """Run the selection with guesses, progress and warnings on standard error."""
    with warned(), fold_bar() as callbacks:
        return select_features(frame, **vars(options), callbacks=callbacks, announce=print_note)


@contextlib.contextmanager
def _on_cluster(address):
    """Spread the folds over a Dask cluster, if the address of one is given."""
    if address is None:
        yield
        return
    import joblib

    from kernelknife._utils.messages import import_optional

    distributed = import_optional("distributed", "kernelknife[cluster]", "A cluster")
    try:
        client = distributed.Client(address, timeout=CLUSTER_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        raise Failure(f"There is no Dask scheduler at {address}: {error}") from error
    with client, joblib.parallel_config(backend="dask"):
        yield


def print_selection(selection):
    """Print a selection: what to doubt, the answer, the columns and the errors as tables."""
    for warning in find_warnings(selection):
        out.print(f"Note: {as_line(warning)}")
    out.print(f"{as_line(headline(selection))}\n")
    shown = _shown_features(selection)
    if shown:
        heads, rows = _column_rows(selection, shown)
        if not selection.verdict.tiers:
            out.print("The columns of the model with the least error, which is no finding:")
        print_table(heads, rows, numeric=(heads.index("weight"), heads.index("in folds")))
        out.print()
    _print_information(selection)
    if selection.interactions and selection.verdict.better:
        pairs = [
            (" and ".join(together.names), f"{100 * together.share:.1f} %")
            for together in selection.interactions
        ]
        print_table(("acting together", "of the variance"), pairs, numeric=(1,))
        out.print()
    out.print(f"{' '.join([selection.model_in_words, selection.products_in_words]).rstrip()}\n")
    print_table(
        (selection.error_name, "mean", "standard error"), _error_rows(selection), numeric=(1, 2)
    )
    out.print(f"The model with all columns is {selection.full_model_in_words}.")
    if selection.survival is not None:
        out.print()
        _print_survival(selection.survival)
    if selection.quality is not None:
        out.print()
        _print_classes(selection.quality)
        if selection.quality_in_words:
            out.print(selection.quality_in_words)


def _print_information(selection):
    """Print the columns that carry information on their own, the surest first."""
    names = selection.verdict.informative
    if not names:
        return
    rows = []
    for name in names[:MOST_INFORMATIVE]:
        one = selection.information[name]
        values = (p_value(one.p_value), p_value(one.q_value), f"{100 * one.share:.0f} %")
        rows.append((name, *values, one.shape))
    heads = ("carries information", "p-value", "q-value", "explains", "shape")
    print_table(heads, rows, numeric=(1, 2, 3))
    hidden = len(names) - len(rows)
    if hidden > 0:
        out.print(f"{hidden} more carry information; the report and JSON list them.")
    out.print()


def _shown_features(selection):
    """Return the columns that have a tier or are in the model, those with a tier first.

    A model of all columns with equal weights has nothing to show.
    """
    tiers = selection.verdict.tiers
    order = {tier: i for i, tier in enumerate((KEPT, *TIERS, ""))}
    in_model = [] if selection.keeps_all else selection.selected
    shown = [one for one in selection.features if one.name in tiers or one.name in in_model]
    return sorted(shown, key=lambda feature: order[tiers.get(feature.name, "")])


def _column_rows(selection, features):
    """Return heads and rows of the table of columns.

    A model that does not predict has no substitutes worth naming, and its columns have no tier.
    """
    tiers, better = selection.verdict.tiers, selection.verdict.better
    gaps = any(feature.gaps for feature in features)
    heads = ["column", *(["how sure"] if tiers else []), "weight", "in folds"]
    heads += ["missing"] if gaps else []
    heads += ["could be replaced by"] if better else []
    rows = [
        [
            feature.name,
            *([tiers.get(feature.name, "")] if tiers else []),
            number(feature.weight),
            frequency(feature.frequency),
            *([str(feature.gaps)] if gaps else []),
            *([best_substitute(selection.substitutes, feature.name)] if better else []),
        ]
        for feature in features
    ]
    rates = selection.rates
    if rates is not None:
        heads += ["in half-samples" if rates.method == "stability" else "in draws", "q-value"]
        for feature, row in zip(features, rows, strict=True):
            column = rates.columns[feature.name]
            row += [f"{100 * column.share:.0f} %", number(column.q_value)]
    return heads, rows


def frequency(share):
    """Return a share of the folds as text, with a bar where a person reads it."""
    text = f"{100 * share:.0f} %"
    if not out.is_terminal:
        return text
    filled = round(BAR_LENGTH * share)
    return f"{'#' * filled}{'.' * (BAR_LENGTH - filled)} {text:>5}"


def _print_survival(quality):
    """Print concordances, and how the thirds of the rows fare."""
    rows = [
        (name, number(score.mean), number(score.spread))
        for name, score in (
            ("selected columns", quality.concordance),
            ("all columns, equal weights", quality.full_concordance),
        )
    ]
    rows.append(("no column", "0.5", ""))
    print_table(("concordance on test rows", "mean", "standard error"), rows, numeric=(1, 2))
    out.print()
    thirds = [
        (group.name, str(group.n_rows), str(group.n_events), _median(group))
        for group in quality.groups
    ]
    heads = ("third of the test rows", "rows", "events", "median time")
    print_table(heads, thirds, numeric=(1, 2, 3))


def _median(group):
    """Return the time from which half of the rows of a group have had their event, as text."""
    past = np.flatnonzero(group.survival <= 0.5)
    return number(float(group.times[past[0]])) if len(past) else "not reached"


def _print_classes(quality):
    """Print how well single classes are predicted."""
    figures = f"balanced error {number(quality.balanced_error)}"
    if quality.area is not None:
        figures += f", area under the curve {number(quality.area)}"
    out.print(figures)
    if len(quality.classes) > MOST_CLASSES:
        worst = sorted(
            zip(quality.class_errors, quality.classes, strict=True), key=lambda pair: -pair[0]
        )
        rows = [(label, number(float(error))) for error, label in worst[:MOST_CLASSES]]
        print_table(("class, the worst first", "misclassified"), rows, numeric=(1,))
        return
    header = ("class", *(f"taken for {label}" for label in quality.classes), "misclassified")
    rows = [
        (label, *(f"{count:.4g}" for count in counts), number(float(error)))
        for label, counts, error in zip(
            quality.classes, quality.confusion, quality.class_errors, strict=True
        )
    ]
    print_table(header, rows, numeric=tuple(range(1, len(header))))


def _error_rows(selection):
    """Return the rows of the table of errors."""
    scores = {
        "selected columns": selection.error,
        "all columns, equal weights": selection.full_error,
        selection.baseline_name: selection.baseline_error,
    }
    rows = [(name, number(score.mean), number(score.spread)) for name, score in scores.items()]
    held_out = selection.held_out
    if held_out is not None:
        label = f"selected columns, {held_out.rows} rows held out"
        rows.append((label, number(held_out.error), ""))
        rows.append((f"{selection.baseline_name}, the same rows", number(held_out.baseline), ""))
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
    options = SelectOptions(target="fruit", rule="1se", folds=5, n_jobs=-1)
    selection = _run_selection(frame, options)
    print_selection(selection)
    with writing(output):
        write_file(table, csv)
        write_file(output, build_report(selection, table.name, ReadOptions(), command=True))
    out.print(f"\nData: {table.resolve()}")
    out.print(f"Report, open it in a browser: {output.resolve()}")
