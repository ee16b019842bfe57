"""The pieces of a report: feature paths with a slider, folds, effects, pairs, a table.

Each reads results and returns HTML; a report is some of them on a page, a notebook shows one.
"""

import itertools
import json
from html import escape
from itertools import count

import numpy as np

from kernelknife._support.formatting import number
from kernelknife.display import log_positions, spread_labels
from kernelknife.report.svg import Axis, Chart

__all__ = ["cv_piece", "effects_piece", "feature_table", "pairs_piece", "path_piece", "unique"]

MOST_COLOURED = 10
MOST_GREY = 120
MOST_LISTED = 20
MOST_ROWS = 40
MOST_OTHERS = 5
MOST_PAIRED = 4
MOST_DOTS = 300
COLOURS = 8

_numbers = count(1)


def unique(prefix="kk"):
    """Return an identifier that no other piece of this process has."""
    return f"{prefix}{next(_numbers)}"


def percent(share):
    return f"{100 * share:.0f} %"


def shorten(name, limit=22):
    name = str(name)
    return name if len(name) <= limit else name[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def plot(svg, caption):
    """Put a chart into a figure that can be scrolled with the keyboard where it is too wide."""
    return (
        f'<figure><div class="plot" tabindex="0" role="group" aria-label="Chart">{svg}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def feature_table(features, n_folds):
    """Return the table of columns: the selected ones, then the runners-up."""
    rows = []
    shown = [feature for feature in features if feature.selected]
    others = [feature for feature in features if not feature.selected]
    shown += [f for i, f in enumerate(others) if i < MOST_OTHERS or f.frequency > 0]
    shown = shown[:MOST_ROWS]
    for feature in shown:
        kind = "" if feature.selected else ' class="out"'
        bar = f'<span class="bar" style="width:{100 * min(feature.weight, 1):.1f}%"></span>'
        rows.append(
            f'<tr{kind}><th scope="row">{escape(feature.name)}</th>'
            f'<td class="weight"><span class="track">{bar}</span> {number(feature.weight)}</td>'
            f"<td>{percent(feature.frequency)}</td><td>{feature.rank}</td></tr>"
        )
    more = len(features) - len(shown)
    note = f"<p>{more} more columns are not shown.</p>" if more else ""
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table of columns"><table>'
        '<thead><tr><th scope="col">column</th><th scope="col">weight</th>'
        f'<th scope="col">selected in folds (of {n_folds})</th>'
        '<th scope="col">order of survival</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def path_piece(names, sparsities, weights, ranking, *, chosen=None, errors=None, error_name=""):
    """Return the feature paths with a slider over the penalty.

    Parameters
    ----------
    names : list of str
    sparsities : ndarray of shape (n_points,)
    weights : ndarray of shape (n_points, n_names)
    ranking : ndarray of int of shape (n_names,)
    chosen : int, default=None
        The chosen point.
    errors : list of float, default=None
        Error over the folds, per point.
    error_name : str, default=""
    """
    key = unique()
    x = log_positions(sparsities)
    start = len(x) // 2 if chosen is None else chosen
    top = float(max(weights.max(initial=0.0), 1e-3))
    chart = Chart(
        Axis(x[0], x[-1], log=True, label="penalty (sparsity)"),
        Axis(0.0, 1.04 * top, label="weight"),
        f"Weights of {len(names)} columns against the penalty; "
        f"{int((weights[start] > 0).sum())} are left at the marked one.",
        right=170,
    )
    order = np.argsort(ranking, kind="stable")
    alive = [j for j in order if weights[:, j].any()]
    coloured = [j for j in alive if weights[start, j] > 0][:MOST_COLOURED] or alive[:MOST_COLOURED]
    grey = [j for j in alive if j not in set(coloured)]
    for j in sorted(grey, key=lambda j: -weights[:, j].max())[:MOST_GREY]:
        chart.line(x, weights[:, j], "line grey", names[j])
    anchors = {}
    for i, j in enumerate(coloured):
        column = weights[:, j]
        chart.line(x, column, f"line c{i % COLOURS}", names[j])
        anchors[j] = int(np.flatnonzero(column >= 0.5 * column.max())[-1])
    inner = chart.height - chart.top - chart.bottom
    heights = [1.0 - (chart.py(weights[anchors[j], j]) - chart.top) / inner for j in coloured]
    places = spread_labels(heights, 0.062)
    for i, (j, place) in enumerate(zip(coloured, places, strict=True)):
        at = chart.top + (1.0 - place) * inner
        spot = anchors[j]
        chart.label(x[spot], weights[spot, j], at, shorten(names[j]), f"c{i % COLOURS}")
    chart.rule(x[start], "marker", key=f"{key}-rule")
    points = []
    for i in range(len(x)):
        order_here = np.argsort(-weights[i], kind="stable")
        kept = [int(j) for j in order_here if weights[i, j] > 0]
        points.append(
            {
                "x": round(chart.px(x[i]), 1),
                "sparsity": number(float(sparsities[i])),
                "count": len(kept),
                "top": [[str(names[j]), number(float(weights[i, j]))] for j in kept[:MOST_LISTED]],
                "error": None if errors is None else number(float(errors[i])),
            }
        )
    data = {"points": points, "chosen": chosen, "errorName": error_name}
    hidden = len(grey) - min(len(grey), MOST_GREY)
    caption = "Each line is a column; where it reaches zero, the column has left."
    if hidden:
        caption += f" {hidden} columns of small weight are not drawn."
    return (
        f'<div class="kk-path" id="{key}">{plot(chart.render(), caption)}'
        f'<div class="control"><label for="{key}-slider">Penalty</label>'
        f'<input type="range" id="{key}-slider" min="0" max="{len(x) - 1}" value="{start}" '
        'step="1">'
        f'<output for="{key}-slider" class="value"></output></div>'
        '<p class="state" aria-live="polite"></p><ul class="chips"></ul>'
        f'<script type="application/json">{json_text(data)}</script></div>'
    )


def json_text(data):
    """Return JSON that no text inside can end: every ``<`` is written as an escape."""
    return json.dumps(data).replace("<", "\\u003c").replace("\u2028", "").replace("\u2029", "")


def cv_piece(search, error_name):
    """Return the error over the folds against the penalty, one line per alpha."""
    results = search.cv_results_
    alphas = np.unique(results["alpha"])
    flip = 1.0 if search.score_name_ == "accuracy" else 0.0
    grids = {a: results["alpha"] == a for a in alphas}
    x = log_positions(results["sparsity"][grids[alphas[0]]])
    errors = {a: flip - results["mean_test_score"][grids[a]] for a in alphas}
    spread = results["standard_error"]
    best = search.alpha_
    here = grids[best]
    edges = [errors[best] - spread[here], errors[best] + spread[here]]
    finite = np.concatenate([*(errors[a] for a in alphas), *edges])
    finite = finite[np.isfinite(finite)]
    low, high = float(finite.min()), float(finite.max())
    margin = 0.08 * (high - low or abs(high) or 1.0)
    chart = Chart(
        Axis(x[0], x[-1], log=True, label="penalty (sparsity)"),
        Axis(max(0.0, low - margin), high + margin, label=error_name),
        f"{error_name} over the folds against the penalty, one line for each alpha.",
        right=110,
        height=300,
    )
    chart.band(
        x,
        np.maximum(errors[best] - spread[here], chart.y.low),
        np.minimum(errors[best] + spread[here], chart.y.high),
        "band",
    )
    ends = [1.0 - (chart.py(errors[a][-1]) - chart.top) / 244 for a in alphas]
    places = spread_labels(ends, 0.075)
    for i, (a, place) in enumerate(zip(alphas, places, strict=True)):
        kind = "line c0 thick" if a == best else f"line c{1 + i % (COLOURS - 1)} thin"
        chart.line(x, errors[a], kind, f"alpha = {number(float(a))}")
        colour = "c0" if a == best else f"c{1 + i % (COLOURS - 1)}"
        chart.label(
            x[-1], errors[a][-1], chart.top + (1 - place) * 244, f"alpha {number(a)}", colour
        )
    chart.rule(max(search.sparsity_, x[0]), "marker", label="chosen")
    return plot(
        chart.render(),
        f"Mean over {len(search.splits_)} folds; the band is one standard error around the chosen "
        "alpha.",
    )


def effects_piece(effects):
    """Return small charts of what the machine predicts as each column takes other values."""
    # One scale for all, so that a steep line is a large effect.
    values = np.concatenate([np.concatenate(list(e.curves.values())) for e in effects])
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 0.1
    charts = (_effect(effect, low - margin, high + margin) for effect in effects)
    return f'<div class="grid-of-plots">{"".join(charts)}</div>'


def _value(value):
    return value if isinstance(value, str) else number(value)


def _effect(effect, low, high):
    curves = np.array(list(effect.curves.values()))
    texts = not len(effect.rug)
    places = list(range(len(effect.values))) if texts else effect.values
    if texts:
        step = max(1, len(places) // 6)
        ticks = [(i, shorten(v, 9)) for i, v in enumerate(effect.values)][::step]
        x = Axis(-0.4, len(places) - 0.6, label=shorten(effect.name, 34), ticks=ticks)
    else:
        x = Axis(min(places), max(places), label=shorten(effect.name, 34))
    label = next(iter(effect.curves)) if len(effect.curves) == 1 else "score"
    chart = Chart(
        x,
        Axis(low, high, label=shorten(label, 26)),
        f"Effect of {effect.name}: from {number(float(curves[0][0]))} at "
        f"{_value(effect.values[0])} to {number(float(curves[0][-1]))} at "
        f"{_value(effect.values[-1])}.",
        width=320,
        height=220,
    )
    if not texts:
        chart.rug(effect.rug[(effect.rug >= x.low) & (effect.rug <= x.high)])
    for i, (name, curve) in enumerate(effect.curves.items()):
        if texts:
            chart.dots(places, curve, [f"dot c{i % COLOURS}"] * len(places), radius=5)
        else:
            chart.line(places, curve, f"line c{i % COLOURS} thick", name)
    legend = ""
    if len(effect.curves) > 1:
        items = (
            f'<li><span class="swatch c{i % COLOURS}"></span>{escape(name)}</li>'
            for i, name in enumerate(effect.curves)
        )
        legend = f'<ul class="legend">{"".join(items)}</ul>'
    return f"<figure>{chart.render()}{legend}</figure>"


def pairs_piece(table, names, random_state=0):
    """Return scatter plots of pairs of the heaviest columns of numbers, coloured by the target."""
    names = [name for name in names if table.features[name].dtype.kind in "biuf"][:MOST_PAIRED]
    if len(names) < 2:
        return ""
    n = len(table.target)
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(n, min(MOST_DOTS, n), replace=False))
    kinds, legend = _target_kinds(table, rows)
    figures = []
    for a, b in itertools.combinations(names, 2):
        X = table.features[[a, b]].to_numpy(dtype=float)[rows]
        known = np.isfinite(X).all(axis=1)
        lows, highs = X[known].min(axis=0), X[known].max(axis=0)
        room = 0.04 * (highs - lows)
        lows, highs = lows - room, highs + room
        chart = Chart(
            Axis(lows[0], highs[0], label=shorten(a, 34)),
            Axis(lows[1], highs[1], label=shorten(b, 30)),
            f"{b} against {a}, coloured by {table.target_name}.",
            width=320,
            height=260,
        )
        shown = [kind for kind, there in zip(kinds, known, strict=True) if there]
        chart.dots(X[known, 0], X[known, 1], shown)
        figures.append(f"<figure>{chart.render()}</figure>")
    return f'{legend}<div class="grid-of-plots">{"".join(figures)}</div>'


def _target_kinds(table, rows):
    """Return a class of the style sheet per row, and the legend."""
    y = table.target
    if table.task == "classification":
        classes = [str(value) for value in np.unique(y)]
        codes = np.searchsorted(np.unique(y), y[rows])
        names = [(f"c{i % COLOURS}", name) for i, name in enumerate(classes)]
    else:
        cuts = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
        codes = np.searchsorted(cuts, y[rows])
        bounds = [y.min(), *cuts, y.max()]
        names = [(f"q{i}", f"{number(bounds[i])} to {number(bounds[i + 1])}") for i in range(5)]
    kinds = [f"dot {names[code][0]}" for code in codes]
    items = "".join(
        f'<li><span class="swatch {kind}"></span>{escape(name)}</li>' for kind, name in names
    )
    return kinds, (
        f'<p class="legend-title">{escape(table.target_name)}</p><ul class="legend">{items}</ul>'
    )
