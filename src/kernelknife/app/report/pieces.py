"""The other pieces of a report: the table of columns, the folds, the effects, and pairs of columns.

Each function reads results and returns HTML.
"""

import itertools
from functools import partial
from html import escape

import numpy as np

from kernelknife._utils.messages import listed, number
from kernelknife.app.report.elements import figure, label_places, percent, shorten, tier_pill
from kernelknife.app.report.rates import rate_cells, rate_heads
from kernelknife.app.report.svg import COLORS, SHADES, Axis, Chart, bottom_of_errors
from kernelknife.app.selection.comparison import to_errors
from kernelknife.app.selection.verdict import KEPT, TIERS
from kernelknife.inspection.curves import cv_curves
from kernelknife.inspection.displays import log_positions

__all__ = [
    "cv_piece",
    "effects_piece",
    "feature_table",
    "pairs_piece",
    "target_kinds",
    "together_piece",
]

MOST_ROWS = 40  # rows of the table of columns; the rest is counted
MOST_DISCRETE = 12  # a column with more different values is not jittered
JITTER = 0.18  # most that a dot is moved, as a share of the least distance of two values
MOST_PAIRED = 4  # columns, which make six scatter plots
MOST_DOTS = 300  # more dots of this size cover each other
MOST_LEVEL_NAMES = 6  # names of levels that fit below a small chart
LABEL_GAP = 0.075  # height of a line of text as a share of the height of the chart of the folds
OTHERS = "gray"  # color of everything for which no color of its own is left
MARGIN = 0.08  # room above and below the values of a chart, as a share of their range


GAP_HEAD = '<th scope="col">rows without a value</th>'


def feature_table(features, tiers, n_folds, rates=None) -> str:
    """Return the table of columns: by tier, and those without any sign of use folded away.

    Parameters
    ----------
    features : sequence of Feature
        The selected columns first.
    tiers : mapping of str to str
        Of a :class:`Verdict`. Where it is empty no column has a tier, and none is shown.
    rates : ErrorRate, default=None
        Adds two columns to the table.
    """
    order = {tier: i for i, tier in enumerate((KEPT, *TIERS, ""))}
    shown = [feature for feature in features if feature.selected or feature.name in tiers]
    shown.sort(key=lambda feature: order[tiers.get(feature.name, "")])
    others = [feature for feature in features if not feature.selected and feature.name not in tiers]
    others.sort(key=lambda feature: (-feature.frequency, feature.rank))
    table = partial(_column_table, tiers=tiers, n_folds=n_folds, rates=rates)
    parts = [table(shown[:MOST_ROWS], "Table of columns")] if shown else []
    if len(shown) > MOST_ROWS:
        parts.append(f"<p>{len(shown) - MOST_ROWS} more columns are not shown.</p>")
    if others:
        count = "1 column" if len(others) == 1 else f"{len(others)} columns"
        hidden = len(others) - MOST_ROWS
        more = f"<p>{hidden} more columns are not shown.</p>" if hidden > 0 else ""
        rest = table(others[:MOST_ROWS], "Columns of weight 0")
        parts.append(f"<details><summary>{count} of weight 0</summary>{rest}{more}</details>")
    return "".join(parts)


def _column_table(features, label, tiers, n_folds, rates):
    """Return a table with one row per column."""
    rows, gaps = [], any(feature.gaps for feature in features)
    for feature in features:
        kind = "" if feature.selected or feature.name in tiers else ' class="out"'
        sure = f"<td>{tier_pill(tiers.get(feature.name, ''))}</td>" if tiers else ""
        rows.append(
            f'<tr{kind}><th scope="row">{escape(feature.name)}</th>{sure}'
            f'<td class="weight">{_bar(feature.weight, "c0")} {number(feature.weight)}</td>'
            f'<td class="weight">{_bar(feature.frequency, "c2")} {percent(feature.frequency)}'
            f"</td><td>{feature.rank}</td>{f'<td>{feature.gaps}</td>' if gaps else ''}"
            f"{rate_cells(rates, feature.name)}</tr>"
        )
    sure = '<th scope="col">how sure</th>' if tiers else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
        '<table class="columns"><thead><tr>'
        f'<th scope="col">column</th>{sure}<th scope="col">weight</th>'
        f'<th scope="col">selected in folds (of {n_folds})</th>'
        f'<th scope="col">elimination order</th>{GAP_HEAD if gaps else ""}'
        f"{rate_heads(rates)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _bar(share, color):
    """Return a bar for a number between 0 and 1."""
    width = 100 * min(max(share, 0.0), 1.0)
    return (
        f'<span class="track"><span class="bar {color}" style="width:{width:.1f}%"></span></span>'
    )


def cv_piece(selection) -> str:
    """Return the error over the folds against the penalty, one line per kernel or alpha."""
    search, error_name = selection.search, selection.error_name
    results = search.cv_results_
    errors = to_errors(results["mean_test_score"], search)
    curves = cv_curves(results, search.best_index_)
    (best,) = (curve.rows for curve in curves if curve.chosen)
    spread = results["standard_error"][best]
    band = (errors[best] - spread, errors[best] + spread)
    places_of = {curve.label: log_positions(results["sparsity"][curve.rows]) for curve in curves}
    every = np.concatenate(list(places_of.values()))
    # Without features all lines are alike, and with too many some are far off the others.
    near = np.concatenate([errors[best], *band])
    near = near[np.isfinite(near)]
    low, high = float(near.min()), float(near.max())
    margin = MARGIN * (high - low or abs(high) or 1.0)
    low, high = low - margin, high + margin
    low = min(low, min(float(np.nanmin(errors[curve.rows])) for curve in curves))
    chart = Chart(
        Axis(every.min(), every.max(), log=True, label="penalty (sparsity)"),
        Axis(bottom_of_errors(low, high), high, label=error_name),
        f"{error_name} over the folds against the penalty, one line for each kernel or alpha.",
        right=150,
        height=300,
    )
    band = (np.maximum(band[0], chart.y.low), np.minimum(band[1], chart.y.high))
    chart.band(log_positions(results["sparsity"][best]), *band, "band")
    heights = [np.clip(errors[curve.rows], chart.y.low, chart.y.high) for curve in curves]
    places = label_places(chart, [height[-1] for height in heights], LABEL_GAP)
    for i, (curve, height, place) in enumerate(zip(curves, heights, places, strict=True)):
        # The selected line has the first color, which no other line takes.
        color = "c0" if curve.chosen else f"c{1 + i % (COLORS - 1)}"
        width = "thick" if curve.chosen else "thin"
        x = places_of[curve.label]
        chart.line(x, height, f"line {color} {width}", curve.label)
        chart.label(x[-1], height[-1], place, curve.label, color)
    chart.rule(max(search.sparsity_, every.min()), "marker", label="selected")
    return figure(
        chart.render(),
        f"Mean over {len(search.splits_)} folds, fewer for lines that a screening round has ruled "
        "out; the band is one standard error around the selected line.",
    )


def effects_piece(effects) -> str:
    """Return small charts of what each column does as it takes different values.

    All charts have one vertical axis, so that a steep line is a large effect.
    """
    if not effects:
        return ""
    values = np.concatenate([curve for effect in effects for curve in effect.curves.values()])
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * (high - low) or 0.1
    colors = _colors(effects)
    charts = (_effect(effect, low - margin, high + margin, colors) for effect in effects)
    legend = ""  # a single curve is named on its axis
    if len(colors) > 1:
        names = [(kind, name) for name, kind in colors.items() if kind != OTHERS]
        if len(names) < len(colors):
            names.append((OTHERS, f"{len(colors) - len(names)} others"))
        legend = _legend(names)
    return f'{legend}<div class="grid-of-plots">{"".join(charts)}</div>'


def _effect(effect, low, high, colors):
    """Return the chart of one effect; ``colors`` has one for every curve."""
    has_levels = not len(effect.rug)
    places = list(range(len(effect.values))) if has_levels else effect.values
    label = "adds to the score" if effect.separate else "score"
    if len(effect.curves) == 1:
        (label,) = effect.curves
    curve = next(iter(effect.curves.values()))
    ends = [value if isinstance(value, str) else number(value) for value in effect.values]
    gap = ""
    if effect.missing:
        gap = f" Where it is missing: {number(next(iter(effect.missing.values())))}."
    chart = Chart(
        _effect_axis(effect, has_levels),
        Axis(low, high, label=shorten(label, 26)),
        f"Effect of {effect.name}: from {number(float(curve[0]))} at {ends[0]} to "
        f"{number(float(curve[-1]))} at {ends[-1]}.{gap}",
        width=320,
        height=220,
    )
    if not has_levels:
        inside = (effect.rug >= chart.x.low) & (effect.rug <= chart.x.high)
        chart.rug(effect.rug[inside])
    for name, curve in effect.curves.items():
        color = colors[name]
        if has_levels:
            chart.dots(places, curve, [f"dot {color}"] * len(places), radius=5)
        else:
            chart.line(places, curve, f"line {color} thick", name)
    # A gap has no place on the axis of a number: what it does stands below.
    gaps = ", ".join(
        f"{number(value)}{'' if len(effect.missing) == 1 else f' ({escape(name)})'}"
        for name, value in effect.missing.items()
    )
    caption = f"<figcaption>where it is missing: {gaps}</figcaption>" if gaps else ""
    return f"<figure>{chart.render()}{caption}</figure>"


def _colors(effects):
    """Return the color of every curve, the same in all charts.

    Of more curves than there are colors, those that vary most have one, and the others are gray.
    """
    spans: dict[str, float] = {}
    for effect in effects:
        for name, curve in effect.curves.items():
            spans[name] = spans.get(name, 0.0) + float(np.ptp(curve))
    if len(spans) <= COLORS:
        return {name: f"c{i}" for i, name in enumerate(spans)}
    largest = set(sorted(spans, key=lambda name: -spans[name])[: COLORS - 1])
    free = iter(range(COLORS))
    return {name: f"c{next(free)}" if name in largest else OTHERS for name in spans}


def _effect_axis(effect, has_levels):
    """Return the horizontal axis of an effect: values of a number, or names of levels."""
    label = shorten(effect.name, 34)
    if not has_levels:
        return Axis(min(effect.values), max(effect.values), label=label)
    n_levels = len(effect.values)
    step = max(1, n_levels // MOST_LEVEL_NAMES)
    ticks = [(i, shorten(level, 9)) for i, level in enumerate(effect.values)][::step]
    return Axis(-0.4, n_levels - 0.6, label=label, ticks=ticks)


def together_piece(interactions, about_surfaces) -> str:
    """Return the table of columns that act together, and surfaces of the largest pairs.

    Parameters
    ----------
    interactions : sequence of Interaction
        Not empty, the largest share first.
    about_surfaces : str
        How to read a surface.
    """
    rows = []
    for together in interactions:
        rows.append(
            f'<tr><th scope="row">{escape(listed(together.names))}</th><td class="weight">'
            f"{_bar(together.share, 'c0')} {100 * together.share:.1f} %</td></tr>"
        )
    table = (
        '<div class="scroll" tabindex="0" role="group" aria-label="Columns that act together">'
        '<table><thead><tr><th scope="col">columns</th>'
        f'<th scope="col">share of the variance</th></tr></thead><tbody>{"".join(rows)}</tbody>'
        "</table></div>"
    )
    drawn = [together for together in interactions if together.surface is not None]
    if not drawn:
        return table
    # One scale for all, so that a strong color is a large effect.
    largest = max(float(np.abs(together.surface.values).max()) for together in drawn) or 1.0
    swatches = "".join(f'<span class="swatch h{i}"></span>' for i in range(SHADES))
    scale = f'<p class="shades">{number(-largest)} {swatches} {number(largest)}</p>'
    charts = "".join(_surface(together, largest) for together in drawn)
    return f'{table}<p>{about_surfaces}</p>{scale}<div class="grid-of-plots">{charts}</div>'


def _surface(together, largest):
    """Return the chart of what two columns do together; ``largest`` has the strongest color."""
    surface = together.surface
    x, y = surface.edges
    steps = np.round((surface.values / largest + 1.0) / 2.0 * (SHADES - 1)).astype(int)
    first, second = together.names
    chart = Chart(
        Axis(x[0], x[-1], label=shorten(first, 34)),
        Axis(y[0], y[-1], label=shorten(second, 30)),
        _surface_in_words(together),
        width=320,
        height=260,
    )
    chart.cells(x, y, steps)
    u, v = surface.points.T
    inside = (u >= x[0]) & (u <= x[-1]) & (v >= y[0]) & (v <= y[-1])
    chart.dots(u[inside], v[inside], ["speck"] * int(inside.sum()), radius=1.5)
    caption = f"{surface.output}, {100 * together.share:.1f} % of the variance"
    return f"<figure>{chart.render()}<figcaption>{escape(caption)}</figcaption></figure>"


def _surface_in_words(together):
    """Return what a surface shows, for those who cannot see it."""
    surface = together.surface
    texts = []
    for word, where in (("most", surface.values.argmax()), ("least", surface.values.argmin())):
        place = np.unravel_index(where, surface.values.shape)
        at = " and ".join(
            f"{name} {number(float(edges[i] + edges[i + 1]) / 2)}"
            for name, edges, i in zip(together.names, surface.edges, place, strict=True)
        )
        texts.append(f"{word} ({number(float(surface.values[place]))}) at {at}")
    return f"What {listed(together.names)} do together: {', '.join(texts)}."


def _legend(names):
    """Return a list of names with their colors, given as (class of the style sheet, name)."""
    items = (f'<li><span class="swatch {kind}"></span>{escape(name)}</li>' for kind, name in names)
    return f'<ul class="legend">{"".join(items)}</ul>'


def pairs_piece(table, names, random_state=0) -> tuple[str, bool]:
    """Return scatter plots of pairs of columns of numbers, colored by the target.

    Parameters
    ----------
    names : list of str
        The selected columns, the largest weight first.
    random_state : int, default=0
        Seed of the draw of rows, where there are too many to show.

    Returns
    -------
    piece : str
    jittered : bool
        Whether dots of columns with few values have been moved a little.
    """
    names = [name for name in names if table.features[name].dtype.kind in "biuf"][:MOST_PAIRED]
    if len(names) < 2:
        return "", False
    n = len(table.target)
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(n, min(MOST_DOTS, n), replace=False))
    kinds, legend = target_kinds(table, rows)
    values = {name: _jittered(table.features[name], rows, rng) for name in names}
    charts = (
        _pair(table, values, kinds, first, second)
        for first, second in itertools.combinations(names, 2)
    )
    jittered = any(moved for _, moved in values.values())
    return f'{legend}<div class="grid-of-plots">{"".join(charts)}</div>', jittered


def _jittered(column, rows, rng):
    """Return the values of some rows and whether they were moved, which few values need."""
    every = column.to_numpy(dtype=float, na_value=np.nan)
    values, distinct = every[rows], np.unique(every[np.isfinite(every)])
    if not 1 < len(distinct) <= MOST_DISCRETE:
        return values, False
    size = JITTER * np.diff(distinct).min()
    return values + rng.uniform(-size, size, len(values)), True


def _pair(table, values, kinds, first, second):
    """Return one scatter plot; rows where one of both values is missing are left out."""
    x, y = values[first][0], values[second][0]
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    rooms = [0.5 * MARGIN * np.ptp(part) for part in (x, y)]
    chart = Chart(
        Axis(x.min() - rooms[0], x.max() + rooms[0], label=shorten(first, 34)),
        Axis(y.min() - rooms[1], y.max() + rooms[1], label=shorten(second, 30)),
        f"{second} against {first}, colored by {table.target_name}.",
        width=320,
        height=260,
    )
    chart.dots(x, y, [kind for kind, there in zip(kinds, known, strict=True) if there])
    return f"<figure>{chart.render()}</figure>"


def target_kinds(table, rows):
    """Return the class of the style sheet of every row, and the legend.

    Classes have colors of their own, the rarest of many classes share a gray one; a number is cut
    into five parts of equal size.
    """
    y = table.target[:, 0] if table.task == "survival" else table.target
    if table.task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        codes = np.searchsorted(classes, y[rows])
        frequent = np.argsort(-counts, kind="stable")[: COLORS - (len(classes) > COLORS)]
        places = {int(code): i for i, code in enumerate(np.sort(frequent))}
        names = [
            (f"c{places[i]}" if i in places else OTHERS, str(label))
            for i, label in enumerate(classes)
        ]
        legend = [pair for pair in names if pair[0] != OTHERS]
        if len(legend) < len(names):
            legend.append((OTHERS, f"{len(names) - len(legend)} rarer classes"))
    else:
        cuts = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
        codes = np.searchsorted(cuts, y[rows])
        bounds = [y.min(), *cuts, y.max()]
        names = [(f"q{i}", f"{number(bounds[i])} to {number(bounds[i + 1])}") for i in range(5)]
        legend = names
    kinds = [f"dot {names[code][0]}" for code in codes]
    title = f'<p class="legend-title">{escape(table.target_name)}</p>'
    return kinds, title + _legend(legend)
