"""The feature paths: a chart of every weight against the penalty, and a slider that moves along it.

The chart is drawn once, in Python. The page's script moves the mark on it and shows the point of
the path that the slider stands on, from the numbers that :func:`path_piece` writes beside it.
"""

import numpy as np

from kernelknife._utils.messages import number
from kernelknife.app.report.elements import figure, json_text, label_places, shorten, unique_id
from kernelknife.app.report.svg import COLORS, Axis, Chart
from kernelknife.inspection.displays import log_positions

__all__ = ["path_piece"]

MOST_COLORED = COLORS  # no two lines have the same color
MOST_GRAY = 120  # more lines make the file large and the chart no clearer
MOST_LISTED = 20  # columns that the slider lists by name at one point
LABEL_LETTERS = 20  # as many fit beside the chart
LABEL_GAP = 0.062  # height of a line of text as a share of the chart's height
LEAST_TOP = 1e-3  # keeps the vertical axis from being empty where every weight is 0


def path_piece(names, sparsities, weights, ranking, *, chosen=None, errors=None, error_name=""):
    """Return the feature paths with a slider over the penalty.

    Parameters
    ----------
    names : list of str
    sparsities : ndarray of shape (n_points,)
    weights : ndarray of shape (n_points, n_names)
    ranking : ndarray of int of shape (n_names,)
    chosen : int, default=None
        Index of the chosen point, where the slider begins.
    errors : list of float, default=None
        Error over the folds at every point.
    error_name : str, default=""
    """
    key = unique_id()
    start = len(sparsities) // 2 if chosen is None else chosen
    x = log_positions(sparsities)
    chart, n_hidden = _draw_paths(names, x, weights, ranking, start)
    chart.rule(x[start], "marker", key=f"{key}-rule")
    places = [round(chart.px(value), 1) for value in x]
    points = _describe_points(names, sparsities, weights, places, errors)
    data = {"points": points, "chosen": chosen, "errorName": error_name}
    caption = (
        "Each line is a column; where it reaches zero, the column has left. Gray lines are columns "
        "without a label of their own: hold the mouse over one to see its name."
    )
    if n_hidden:
        caption += f" {n_hidden} columns of small weight are not drawn."
    return (
        f'<div class="kk-path" id="{key}">{figure(chart.render(), caption)}'
        f'<div class="control"><label for="{key}-slider">Penalty</label>'
        f'<input type="range" id="{key}-slider" min="0" max="{len(x) - 1}" value="{start}" '
        'step="1">'
        f'<output for="{key}-slider" class="value"></output></div>'
        '<p class="state" aria-live="polite"></p><ul class="chips"></ul>'
        f'<script type="application/json">{json_text(data)}</script></div>'
    )


def _draw_paths(names, x, weights, ranking, start):
    """Return the chart, and the number of columns whose lines are left out."""
    top = float(max(weights.max(initial=0.0), LEAST_TOP))
    chart = Chart(
        Axis(x[0], x[-1], log=True, label="penalty (sparsity)"),
        Axis(0.0, 1.04 * top, label="weight"),
        f"Weights of {len(names)} columns against the penalty; "
        f"{int((weights[start] > 0).sum())} are left at the marked one.",
        right=170,
    )
    drawn = [j for j in np.argsort(ranking, kind="stable") if weights[:, j].any()]
    colored = [j for j in drawn if weights[start, j] > 0][:MOST_COLORED] or drawn[:MOST_COLORED]
    gray = [j for j in drawn if j not in set(colored)]
    gray.sort(key=lambda j: -weights[:, j].max())
    for j in gray[:MOST_GRAY]:
        chart.line(x, weights[:, j], "line gray", names[j])
    for i, j in enumerate(colored):
        chart.line(x, weights[:, j], f"line c{i}", names[j])
    _label_lines(chart, names, x, weights, colored)
    return chart, max(0, len(gray) - MOST_GRAY)


def _label_lines(chart, names, x, weights, colored):
    """Write the names of the colored lines beside the chart.

    A leader joins each name to the last point where its line is at least half as high as it gets.
    """
    anchors = []
    for j in colored:
        column = weights[:, j]
        anchors.append(int(np.flatnonzero(column >= 0.5 * column.max())[-1]))
    heights = [weights[i, j] for i, j in zip(anchors, colored, strict=True)]
    places = label_places(chart, heights, LABEL_GAP)
    for k, (j, i, place) in enumerate(zip(colored, anchors, places, strict=True)):
        chart.label(x[i], weights[i, j], place, shorten(names[j], LABEL_LETTERS), f"c{k}")


def _describe_points(names, sparsities, weights, places, errors):
    """Return what the slider shows at every point of the path, for the page's script."""
    points = []
    for i, row in enumerate(weights):
        selected = [int(j) for j in np.argsort(-row, kind="stable") if row[j] > 0]
        points.append(
            {
                "x": places[i],
                "sparsity": number(float(sparsities[i])),
                "count": len(selected),
                "top": [[str(names[j]), number(float(row[j]))] for j in selected[:MOST_LISTED]],
                "error": None if errors is None else number(float(errors[i])),
            }
        )
    return points
