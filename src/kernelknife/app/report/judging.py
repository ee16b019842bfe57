"""Pieces of a report on errors: by the number of columns, and of single classes."""

from html import escape

import numpy as np

from kernelknife._utils.messages import number
from kernelknife.app.report.elements import figure, label_places, percent
from kernelknife.app.report.svg import Axis, Chart, bottom_of_errors
from kernelknife.inspection.displays import best_by_count, fewest_within_error

__all__ = ["classes_piece", "counts_piece", "survival_piece"]

MANY_COLUMNS = 30  # from here on the number of columns has a logarithmic axis
MARGIN = 0.08  # room above and below the values of a chart, as a share of their range
MOST_WRONG_ROWS = 30  # rows that a reader looks through
RISK_MARGIN, LABEL_GAP = 110, 0.06  # room for the names of curves, and between two of them
MOST_CLASSES = 15  # more columns do not fit on a page


def counts_piece(counts, errors, spread, chosen, error_name) -> str:
    """Return the error over the folds against the number of columns.

    Parameters
    ----------
    counts : ndarray of int of shape (n_points,)
        Number of columns at every point of a path.
    errors, spread : ndarray of shape (n_points,)
        Mean error over the folds and its standard error.
    chosen : int
        Number of columns of the selected model.
    error_name : str
    """
    points = best_by_count(counts, errors)
    if len(points) < 2:
        return ""
    x, index = np.array(list(points)), list(points.values())
    best, width = errors[index], spread[index]
    log = x[-1] > MANY_COLUMNS
    # A logarithmic axis has no zero: the model without columns stands at one half.
    places = np.maximum(x, 0.5) if log else x.astype(float)
    low, high = float(np.nanmin(best - width)), float(np.nanmax(best + width))
    room = MARGIN * (high - low or 1.0)
    bottom = bottom_of_errors(low - room, high)
    chart = Chart(
        Axis(places[0], places[-1], log=log, label="number of columns"),
        Axis(bottom, high + room, label=error_name),
        f"{error_name} over the folds against the number of columns.",
        height=280,
    )
    chart.band(
        places,
        np.maximum(best - width, chart.y.low),
        np.minimum(best + width, chart.y.high),
        "band",
    )
    chart.line(places, best, "line c0 thick")
    chart.dots(places, best, ["dot c0"] * len(x))
    least, fewest = int(np.nanargmin(best)), fewest_within_error(best, width)
    bar = best[least] + width[least]
    chart.line([places[0], places[-1]], [bar, bar], "line gray")
    for i, kind in {least: "c2", fewest: "c1"}.items():
        chart.dots([places[i]], [best[i]], [f"dot {kind}"], radius=6.0)
    words = (
        f"Least error: {number(float(best[least]))} with {_columns(x[least])}. Fewest columns "
        f"within one standard error of it (below the gray line): {_columns(x[fewest])}, error "
        f"{number(float(best[fewest]))}. The model of this page uses {_columns(chosen)}. The "
        "band is one standard error wide in both directions."
    )
    key = (
        '<ul class="legend"><li><span class="swatch c2"></span>least error</li>'
        '<li><span class="swatch c1"></span>fewest within one standard error</li></ul>'
    )
    return key + figure(chart.render(), words)


def _columns(count):
    return "1 column" if count == 1 else f"{count} columns"


def classes_piece(quality) -> str:
    """Return which classes are taken for which, and the rows that are wrong.

    Parameters
    ----------
    quality : ClassQuality or None
        None, for a number, has no piece.
    """
    if quality is None:
        return ""
    cards = [(quality.balanced_error, "balanced error")]
    if quality.area is not None:
        cards.append((quality.area, "area under the ROC curve"))
    shown = "".join(
        f'<div class="card"><b>{number(value)}</b><span>{words}</span></div>'
        for value, words in cards
    )
    return f'<div class="cards">{shown}</div>{_confusion(quality)}{_wrong_rows(quality)}'


def _confusion(quality):
    """Return the table of classes by predicted classes; of many classes only their errors."""
    wide = len(quality.classes) <= MOST_CLASSES
    names = quality.classes if wide else ()
    head = "".join(f'<th scope="col">taken for {escape(name)}</th>' for name in names)
    rows = []
    for i, label in enumerate(quality.classes):
        total = quality.confusion[i].sum()
        cells = "".join(
            f'<td class="{"right" if i == j else "quiet"}">{number(float(count))}</td>'
            for j, count in enumerate(quality.confusion[i] if wide else ())
        )
        rows.append(
            f'<tr><th scope="row">{escape(label)}</th>{cells}<td>{number(float(total))}</td>'
            f"<td>{percent(float(quality.class_errors[i]))}</td></tr>"
        )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Classes and predicted classes">'
        f'<table><thead><tr><th scope="col">class</th>{head}<th scope="col">rows</th>'
        f'<th scope="col">wrong</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _wrong_rows(quality):
    """Return the rows that are predicted wrongly, folded away."""
    wrong = quality.wrong_rows
    if not wrong:
        return "<p>No row is predicted wrongly.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{escape(row.actual)}</td>'
        f"<td>{escape(row.predicted)}</td><td>{percent(row.share)}</td></tr>"
        for row in wrong[:MOST_WRONG_ROWS]
    )
    hidden = len(wrong) - MOST_WRONG_ROWS
    more = f"<p>{hidden} more rows are not shown.</p>" if hidden > 0 else ""
    count = "1 row is" if len(wrong) == 1 else f"{len(wrong)} rows are"
    return (
        f"<details><summary>{count} predicted wrongly at least once</summary>"
        '<div class="scroll" tabindex="0" role="group" aria-label="Rows that are wrong"><table>'
        '<thead><tr><th scope="col">row</th><th scope="col">class</th>'
        '<th scope="col">taken for</th><th scope="col">share of its predictions</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}</details>"
    )


def survival_piece(quality) -> str:
    """Return concordances, and the Kaplan-Meier curves of the thirds of the rows by their risk.

    Parameters
    ----------
    quality : SurvivalQuality or None
        None, for a target that is no time until an event, has no piece.
    """
    if quality is None:
        return ""
    cards = [
        (quality.concordance, "concordance of the selected columns"),
        (quality.full_concordance, "of all columns, equal weights"),
    ]
    shown = "".join(
        f'<div class="card"><b>{number(score.mean)} &plusmn; {number(score.spread)}</b>'
        f"<span>{words}</span></div>"
        for score, words in cards
    )
    last = max(float(group.times[-1]) for group in quality.groups if len(group.times))
    title = "Share of the rows without an event against time, by third of the predicted risk."
    axes = Axis(0.0, last, label="time"), Axis(0.0, 1.0, label="without event")
    chart = Chart(*axes, title, right=RISK_MARGIN)
    ends = [float(group.survival[-1]) if len(group.times) else 1.0 for group in quality.groups]
    places = label_places(chart, ends, LABEL_GAP)
    for i, group in enumerate(quality.groups):
        # The curve is a step at every event time, and level in between.
        times = np.repeat(np.concatenate([[0.0], group.times, [last]]), 2)[1:-1]
        shares = np.repeat(np.concatenate([[1.0], group.survival]), 2)
        chart.line(times, shares, f"line c{i} thick")
        chart.label(last, ends[i], places[i], group.name, f"c{i}")
    names = ", ".join(
        f"{group.name}: {group.n_events} events in {group.n_rows} rows" for group in quality.groups
    )
    return f'<div class="cards">{shown}</div>{figure(chart.render(), names)}'
