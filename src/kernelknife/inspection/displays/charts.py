"""Every chart of the package, each drawn here and nowhere else: plain data into axes.

Displays draw them for notebooks and for the documentation, reports for their pages.
"""

from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

from kernelknife._utils.messages import import_optional, number
from kernelknife.inspection.curves import fewest_within_error, log_positions
from kernelknife.inspection.displays import style as st

MOST_BARS = 30  # from more columns on, their number has a logarithmic axis
MOST_GRAY = 80  # more lines in the background make a file large and the chart no clearer
HEADROOM = 1.04  # axes of weights end this much above the largest weight
MOST_LEVEL_NAMES = 8  # names of levels that fit below a small chart
MOST_IN_CELLS = 15  # classes whose numbers of rows fit into cells
JITTER, MOST_DISCRETE = 0.18, 12  # of columns with few values, in shares of their least distance
BAND = {"alpha": 0.16, "linewidth": 0}


def draw_paths(ax, sparsities, weights, names, *, chosen=None, mark="chosen", style=None):
    """Draw weights against the penalty, the columns in the order of their ranks.

    Columns that are left at the chosen penalty have a color and a name, as far as there are colors;
    all others are gray. Returns the colored lines.
    """
    x, at = log_positions(sparsities), len(sparsities) // 2
    drawn = np.flatnonzero(weights.any(axis=0))
    if chosen is not None:
        at = int(np.argmin(np.abs(np.asarray(sparsities) - chosen)))
    left = [j for j in drawn if weights[at, j] > 0] if chosen is not None else []
    colored = (left or list(drawn))[: len(st.COLORS)]
    gray = sorted(set(drawn) - set(colored), key=lambda j: -weights[:, j].max())[:MOST_GRAY]
    for j in gray:
        ax.plot(x, weights[:, j], color=st.GRAY, linewidth=0.7, zorder=1, gid=st.tip(names[j]))
    lines = []
    for j, color in zip(colored, st.color_lines(len(colored)), strict=True):
        look = {"color": color, "linewidth": 1.8, "zorder": 3, **(style or {})}
        name = st.printable(names[j])
        lines += ax.plot(x, weights[:, j], label=f"\u200b{name}", gid=st.tip(name), **look)
    top = HEADROOM * max(1e-3, float(weights.max(initial=0.0)))
    ax.set_ylim(0.0, top)
    ax.set_xscale("log")
    if x[0] < x[-1]:
        ax.set_xlim(x[0], x[-1])
    st.name_axes(ax, "sparsity", "weight")
    st.round_ticks(ax.xaxis, log=True)
    st.round_ticks(ax.yaxis)
    st.label_zero(ax, sparsities, x)
    half = [np.flatnonzero(weights[:, j] >= 0.5 * weights[:, j].max())[-1] for j in colored]
    points = [(x[i], weights[i, j]) for i, j in zip(half, colored, strict=True)]
    colors = [line.get_color() for line in lines]
    st.label_lines(ax, points, [names[j] for j in colored], colors)
    if chosen is not None:
        st.mark_penalty(ax, max(float(chosen), x[0]), mark, gid="kk-rule")
    return lines


def draw_curves(ax, curves, name, marks=(), style=None):
    """Draw the error by penalty, a line for each kernel or alpha, the chosen one with a band.

    Each curve is a mapping with label, sparsity, error, standard_error and chosen; ``marks`` are
    pairs of a text and a penalty. Returns the lines.
    """
    lines: list = []
    points, near = [], np.empty(0)
    others = iter(st.color_lines(len(curves) + 1)[1:])
    for curve in curves:
        x, y = log_positions(curve["sparsity"]), np.asarray(curve["error"], dtype=float)
        look = {"color": st.COLORS[0] if curve["chosen"] else next(others), "linewidth": 1.3}
        if curve["chosen"]:
            spread = np.asarray(curve["standard_error"], dtype=float)
            look |= {"linewidth": 2.2, "zorder": 4}
            ax.fill_between(x, y - spread, y + spread, color=look["color"], **BAND)
            near = np.concatenate([y - spread, y + spread])
        lines += ax.plot(x, y, label=curve["label"], **{**look, **(style or {})})
        known = np.flatnonzero(np.isfinite(y))
        points.append((x[known[-1]], y[known[-1]]) if len(known) else (x[-1], 0.0))
    if any(np.max(curve["sparsity"]) > 0 for curve in curves):
        ax.set_xscale("log")
        st.round_ticks(ax.xaxis, log=True)
    # With too many columns some lines are far off the others, which must not squeeze these.
    near = np.append(near, [np.nanmin(line.get_ydata()) for line in lines])
    low, high = float(np.nanmin(near)), float(np.nanmax(near))
    room = 0.08 * (high - low or abs(high) or 1.0)
    ax.set_ylim(max(low - room, 0.0) if low >= 0 else low - room, high + room)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, "sparsity", name)
    inside = [(x, min(max(y, low), high)) for x, y in points]
    st.label_lines(ax, inside, [c["label"] for c in curves], [line.get_color() for line in lines])
    for text, place in marks:
        st.mark_penalty(ax, place, text)
    return lines


def draw_counts(ax, counts, errors, spread, name, noun="features", style=None):
    """Draw the error against the number of columns, and mark the least and the fewest near it.

    Returns the line, and the indices of both.
    """
    x, y, spread = (np.asarray(values, dtype=float) for values in (counts, errors, spread))
    look = {"color": st.COLORS[0], "marker": "o", "markersize": 4, **(style or {})}
    ax.fill_between(x, y - spread, y + spread, color=look["color"], **BAND)
    (line,) = ax.plot(x, y, **look)
    least, fewest = int(np.argmin(y)), fewest_within_error(y, spread)
    ax.axhline(y[least] + spread[least], color=st.GRAY, linewidth=1.0, zorder=0)
    marks = (("least error", least, "o"), ("fewest within one standard error", fewest, "D"))
    for i, (text, place, marker) in enumerate(marks, start=1):
        label = f"{text}: {int(x[place])} {noun[:-1] if x[place] == 1 else noun}"
        look = {"color": st.COLORS[i], "linestyle": "none", "markersize": 11 - 4 * (i - 1)}
        ax.plot(x[place], y[place], marker=marker, label=label, zorder=4 + i, **look)
    draw_legend(ax)
    if x[-1] > MOST_BARS:
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([t for t in (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000) if t <= x[-1]])
    st.round_ticks(ax.xaxis, whole=True)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, f"number of {noun}", name)
    return line, least, fewest


def draw_legend(ax, columns=1, entries=(), title=None):
    """Write names above the axes, where they hide nothing; with a title into an empty panel.

    Names are those of what has a label, or the ``entries``, pairs of a name and a color of dots.
    """
    for name, color in entries:
        ax.plot([], [], "o", color=color, label=name)
    handles, labels = ax.get_legend_handles_labels()
    where: dict = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    if title is not None:
        where = {"loc": "upper right", "title": st.shorten(title, 24)}
    names = [st.shorten(label, 48) for label in labels]
    ax.legend(handles, names, fontsize="small", ncols=columns, frameon=False, **where)


def draw_effect(ax, effect, *, heights=None, label=None, style=None):
    """Draw what a column does as it takes other values: a line for each output, levels as dots.

    ``effect`` is a mapping with ``column``, ``values``, ``curves`` and, where there are any,
    ``rug`` and ``log``. Returns the lines.
    """
    values, curves = effect["values"], effect["curves"]
    levels = any(isinstance(value, str) for value in values)
    x = np.arange(len(values)) if levels else np.asarray(values, dtype=float)
    ax.axhline(0.0, color=st.RULE, linewidth=0.8, zorder=1)
    lines, few = [], levels or len(values) < 13
    spans = sorted(curves, key=lambda key: -np.ptp(curves[key]))[: len(st.COLORS)]
    palette = {key: st.COLORS[i] for i, key in enumerate(key for key in curves if key in spans)}
    for key, curve in curves.items():
        look = {"color": palette.get(key, st.GRAY), "linewidth": 2.0}
        if few:
            look |= {"marker": "o", "linewidth": 0.8, "linestyle": ":", "markersize": 5}
        lines += ax.plot(x, np.asarray(curve, dtype=float), **{**look, **(style or {})})
    if effect.get("log"):
        ax.set_xscale("log")
    if levels:
        ax.set_xlim(-0.5, len(x) - 0.5)
        step = max(1, -(-len(x) // MOST_LEVEL_NAMES))
        names = [st.shorten(level, max(4, 44 // min(len(x), MOST_LEVEL_NAMES))) for level in values]
        ax.set_xticks(x[::step], names[::step])
    else:
        low, high = x.min(), x.max()
        if high > low:
            ax.set_xlim(low, high) if not few else ax.margins(x=0.05)
        st.round_ticks(ax.xaxis, log=bool(effect.get("log")))
        rug = np.asarray(effect.get("rug", ()), dtype=float)
        rug = rug[(rug >= low) & (rug <= high)]
        strokes = np.repeat(rug, 3), np.tile([0.0, 0.03, np.nan], len(rug))
        where = {"transform": ax.get_xaxis_transform(), "scaley": False, "alpha": 0.6}
        ax.plot(*strokes, color=st.QUIET, linewidth=0.6, **where)
    if heights is not None:
        ax.set_ylim(*heights)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, effect["column"], label)
    if len(curves) > 1:
        kept = {key: curve for key, curve in curves.items() if key in palette}
        ends = [(x[-1], curve[-1]) for curve in kept.values()]
        names = [key.rpartition("score of ")[2] for key in kept]
        st.label_lines(ax, ends, names, list(palette.values()), limit=12)
    return lines


def draw_surface(ax, edges, values, names, *, largest, points=(), key=None):
    """Draw what two columns do together, as colored cells where rows are, with a key.

    ``values`` has one number per cell, NaN where no row is near; ``largest`` has the strongest
    color. Neighbors of one color are one rectangle, which keeps a file small.
    """
    patches, paths = (
        import_optional(f"matplotlib.{name}", "kernelknife[plot]", "Drawing")
        for name in ("patches", "path")
    )
    colors, n = st.DIVERGING, len(st.DIVERGING) - 1
    steps = np.where(np.isnan(values), -1, np.round((values / largest + 1.0) / 2.0 * n))
    shapes: dict[int, list] = {}
    for j, (low, high) in enumerate(pairwise(edges[1])):
        for step, run in groupby(enumerate(steps[:, j]), key=itemgetter(1)):
            along = [i for i, _ in run]
            box = [edges[0][along[0]], edges[0][along[-1] + 1], low, high]
            shapes.setdefault(int(step), []).append(box)
    for step, boxes in sorted(shapes.items()):
        if step >= 0:
            corners = [[(a, c), (b, c), (b, d), (a, d), (a, c)] for a, b, c, d in boxes]
            one = paths.Path.make_compound_path(*(paths.Path(c, closed=True) for c in corners))
            look = {"facecolor": colors[step], "edgecolor": colors[step], "linewidth": 0.4}
            ax.add_patch(patches.PathPatch(one, **look))
    for axis, ends in zip((ax.xaxis, ax.yaxis), edges, strict=True):
        axis.axes.set(**{f"{axis.axis_name}lim": (ends[0], ends[-1])})
        st.round_ticks(axis)
    if len(points):
        x, y = np.transpose(points)
        ax.plot(x, y, "o", color=st.INK, alpha=0.5, markersize=2, markeredgewidth=0, scalex=False)
    st.name_axes(ax, *names)
    if key is not None:
        _draw_key(ax.inset_axes([0.0, 1.1, 1.0, 0.05]), largest, key)


def _draw_key(ax, largest, label):
    """Draw the key of a surface's colors: a row of swatches with the ends of the scale."""
    for i, color in enumerate(st.DIVERGING):
        ax.axvspan(i, i + 1, facecolor=color, linewidth=0)
    n = len(st.DIVERGING)
    ax.set(xlim=(0, n), yticks=[])
    ax.set_xticks([0.5, n / 2, n - 0.5])
    ax.set_xticklabels([number(-largest), "0", number(largest)], fontsize="small")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_title(label, fontsize="small", loc="left", parse_math=False)


def color_rows(target, task):
    """Return the color of every row by its target, and the names of the colors for a legend.

    Classes have colors of their own, the rarest of many classes share gray; a number is cut into
    five parts of equal size.
    """
    target = np.asarray(target)
    if task == "classification":
        classes, codes, counts = np.unique(target, return_inverse=True, return_counts=True)
        frequent = np.argsort(-counts, kind="stable")[
            : len(st.COLORS) - (len(classes) > len(st.COLORS))
        ]
        own = {int(code): st.COLORS[i] for i, code in enumerate(np.sort(frequent))}
        legend = [(str(classes[code]), color) for code, color in own.items()]
        if len(own) < len(classes):
            legend.append((f"{len(classes) - len(own)} rarer classes", st.GRAY))
        return [own.get(int(code), st.GRAY) for code in codes], legend
    cuts = np.quantile(target, [0.2, 0.4, 0.6, 0.8])
    bounds = [target.min(), *cuts, target.max()]
    names = [f"{number(a)} to {number(b)}" for a, b in pairwise(bounds)]
    colors = [st.ORDERED[i] for i in np.searchsorted(cuts, target)]
    return colors, list(zip(names, st.ORDERED, strict=True))


def draw_dots(ax, x, y, colors, *, size=5.0, jitter=(), log=(False, False), names=(None, None)):
    """Draw one dot per row, transparent where many lie; columns with few values are jittered."""
    rng = np.random.default_rng(0)
    places = []
    for values, moved in zip((x, y), jitter or (False, False), strict=True):
        values = np.asarray(values, dtype=float)
        distinct = np.unique(values[np.isfinite(values)])
        if moved and 1 < len(distinct) <= MOST_DISCRETE:
            step = JITTER * np.diff(distinct).min()
            values = values + rng.uniform(-step, step, len(values))
        places.append(values)
    alpha = 0.75 if len(places[0]) <= 300 else 0.5
    colors = np.asarray(colors)
    for color in dict.fromkeys(colors):
        mine = (colors == color) & np.isfinite(places[0]) & np.isfinite(places[1])
        look = {"color": color, "markersize": size, "markeredgewidth": 0, "alpha": alpha}
        ax.plot(places[0][mine], places[1][mine], "o", **look)
    for scale, axis in zip(log, (ax.xaxis, ax.yaxis), strict=True):
        if scale:
            axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        st.round_ticks(axis, log=scale)
    st.name_axes(ax, names[0], names[1], limit=30)


def draw_errors(ax, errors, name):
    """Draw errors with their standard errors, one below the other, the first one in color.

    ``errors`` are mappings with ``of``, ``mean`` and ``standard_error``, which may be None.
    """
    top = 0.0
    for i, error in enumerate(errors):
        spread = error["standard_error"] or 0.0
        color, y = (st.COLORS[0] if i == 0 else st.QUIET), -i
        ax.plot([error["mean"] - spread, error["mean"] + spread], [y, y], color=color, linewidth=2)
        ax.plot(error["mean"], y, "o", color=color, markersize=8 if i == 0 else 6)
        top = max(top, error["mean"] + spread)
    low = min(error["mean"] - (error["standard_error"] or 0.0) for error in errors)
    room = 0.06 * ((top - min(low, 0.0)) or 1.0)
    ax.set_xlim(min(low - room, 0.0), top + room)
    ax.set_ylim(0.6 - len(errors), 0.6)
    ax.set_yticks(-np.arange(len(errors)), [st.shorten(error["of"], 30) for error in errors])
    ax.tick_params(axis="y", length=0, labelcolor=st.INK)
    st.round_ticks(ax.xaxis)
    ax.grid(axis="x", color=st.RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)
    st.name_axes(ax, name)


def draw_confusion(ax, classes, counts):
    """Draw the rows of each class by the class that they are taken for, in whole rows."""
    counts = np.asarray(counts)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    (patches,) = (import_optional("matplotlib.patches", "kernelknife[plot]", "Drawing"),)
    n = len(classes)
    for i, j in np.ndindex(n, n):
        look = {"facecolor": st.COLORS[0] if i == j else st.COLORS[1], "alpha": float(shares[i, j])}
        if counts[i, j]:
            ax.add_patch(patches.Rectangle((j - 0.5, i - 0.5), 1, 1, linewidth=0, **look))
        if n <= MOST_IN_CELLS:
            color = "#ffffff" if shares[i, j] > 0.6 else st.INK if counts[i, j] else st.GRAY
            ax.text(j, i, str(int(counts[i, j])), ha="center", va="center", color=color)
    ax.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
    names = [st.shorten(label, 16) for label in classes]
    every = range(0, n, max(1, -(-n // 30)))
    ax.set_yticks(list(every), [names[i] for i in every])
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if n > 4 else {}
    ax.set_xticks(list(every), [names[i] for i in every], **turned)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    st.name_axes(ax, "taken for", "class")


def draw_survival(ax, groups, name="time"):
    """Draw Kaplan-Meier curves: the share of every group without an event against time."""
    last = max((float(group["times"][-1]) for group in groups if len(group["times"])), default=1.0)
    points = []
    for group, color in zip(groups, st.color_lines(len(groups)), strict=True):
        times = np.concatenate([[0.0], group["times"], [last]])
        shares = np.concatenate([[1.0], group["survival"]])
        shares = np.append(shares, shares[-1])
        ax.step(times, shares, where="post", color=color, linewidth=2.0)
        points.append((last, shares[-1]))
    ax.set(xlim=(0.0, last), ylim=(0.0, 1.02))
    st.round_ticks(ax.xaxis)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, name, "share without event")
    st.label_lines(ax, points, [group["name"] for group in groups], st.color_lines(len(groups)))


def draw_calibration(ax, groups, name="target"):
    """Draw what was observed where a model has predicted some value, on held-out rows.

    ``groups`` are parts of the rows by their prediction: mappings with ``predicted``, ``observed``
    and ``spread``, the standard error.
    """
    keys = ("predicted", "observed", "spread")
    x, y, spread = (np.array([one[key] for one in groups], dtype=float) for key in keys)
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    ax.plot([low, high], [low, high], color=st.QUIET, linewidth=1.0, linestyle=st.CHOSEN_DASH)
    for place, middle, width in zip(x, y, np.nan_to_num(spread), strict=True):
        ax.plot([place] * 2, [middle - width, middle + width], color=st.COLORS[0], linewidth=1.8)
    ax.plot(x, y, "o", color=st.COLORS[0], markersize=6)
    st.round_ticks(ax.xaxis)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, f"predicted {st.shorten(name, 30)}", f"observed {st.shorten(name, 24)}")


def draw_gap(ax, gap):
    """Draw the lead in explained variance over permuted columns, by the number of columns."""
    for one in gap:
        ends = [one["lead"] - one["spread"], one["lead"] + one["spread"]]
        ax.plot([one["columns"]] * 2, ends, color=st.GRAY, linewidth=1.5)
    x, y = ([one[key] for one in gap] for key in ("columns", "lead"))
    ax.plot(x, y, "o", color=st.COLORS[0], markersize=6)
    ax.set_xscale("log")
    ax.set_xlim(0.9, 1.1 * max(x))
    st.round_ticks(ax.xaxis, log=True)
    st.round_ticks(ax.yaxis)
    st.name_axes(ax, "columns", "lead in explained variance")


def draw_spark(ax, effect):
    """Draw the shape of an effect without any axes, for one line of a table."""
    curves = list(effect["curves"].values())
    strongest = np.asarray(max(curves, key=np.ptp), dtype=float)
    levels = len(strongest) < 13
    look = {"marker": "o", "markersize": 3.5, "linestyle": "none"} if levels else {"linewidth": 1.6}
    ax.plot(np.arange(len(strongest)), strongest, color=st.COLORS[0], **look)
    ax.set_axis_off()
    ax.margins(x=0.06, y=0.15)
