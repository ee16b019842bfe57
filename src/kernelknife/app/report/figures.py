"""The figures of a record, drawn by :mod:`kernelknife.inspection.displays.charts`.

Figures are made without pyplot; the label of each says what it shows. A page shows them as SVG, and
a command writes them to files.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelknife._utils.messages import listed, number
from kernelknife.inspection.displays import charts
from kernelknife.inspection.displays.style import COLORS, fit_left, in_look, new_axes, shorten

__all__ = ["draw_figures", "draw_sparks"]

SMALL = {"width": 320, "height": 230, "left": 52, "bottom": 44}
MOST_DOTS = 1500  # more dots make a file large and the chart no clearer
LINE = 17  # pixels of a row of a legend


def draw_figures(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a record by their names.

    Parameters
    ----------
    record : dict
        What ``to_json`` of a selection, an exploration or a relation returned.

    Returns
    -------
    dict of Figure
        Each with a label that says what it shows.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.app.report import draw_figures
    >>> from kernelknife.app.selection import select_features
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(60, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
    >>> figures = draw_figures(selection.to_json())
    >>> list(figures)[:2], figures["errors"].get_label()[:20]
    (['errors', 'number_of_columns'], 'mean squared error o')
    """
    figures: dict[str, Any] = {}
    with in_look():
        for name, draw in DRAWN.items():
            for key, ax, label in draw(record):
                figures[key or name] = ax.figure
                ax.figure.set_label(label)
    return figures


def draw_sparks(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return for every column with an effect a small figure of its shape."""
    sparks = {}
    with in_look():
        for effect in record.get("effects", ()):
            ax = new_axes(84, 22, left=1, right=1, top=1, bottom=1)
            charts.draw_spark(ax, effect)
            ax.figure.set_label(f"Shape of the effect of {shorten(effect['column'], 40)}")
            sparks[effect["column"]] = ax.figure
    return sparks


def _errors(record):
    errors = record.get("errors", ())
    if errors:
        name = record["error"]["name"]
        longest = max(len(shorten(one["of"], 30)) for one in errors)
        ax = new_axes(520, 56 + 30 * len(errors), left=24 + 6 * longest, bottom=42)
        charts.draw_errors(ax, errors, name)
        words = ", ".join(f"{one['of']} {number(one['mean'])}" for one in errors)
        yield "", ax, f"{name} on rows that were not used to fit: {words}."


def _counts(record):
    counts = record.get("counts", ())
    if len(counts) > 1:
        ax = new_axes(520, 290, top=2 * LINE + 16, left=64)
        x, y, spread = ([c[key] for c in counts] for key in ("columns", "error", "standard_error"))
        charts.draw_counts(ax, x, y, spread, record["error"]["name"], "columns")
        fit_left(ax)
        yield "", ax, f"{record['error']['name']} over the folds by the number of columns."


def _path(record):
    path = record.get("path")
    if not path or not path["columns"]:
        return
    ax = new_axes(560, 320, right=140, top=24)
    sparsities = np.array([point["sparsity"] for point in path["points"]])
    weights = np.transpose([one["weights"] for one in path["columns"]])
    names = [one["column"] for one in path["columns"]]
    chosen = None if path["chosen"] is None else sparsities[path["chosen"]]
    charts.draw_paths(ax, sparsities, weights, names, chosen=chosen, mark="selected")
    yield "", ax, f"Weights of {len(names)} columns against the penalty."


def _cross_validation(record):
    folds = record.get("cross_validation")
    if folds:
        ax = new_axes(560, 300, right=140, top=24)
        first = min(s for curve in folds["curves"] for s in curve["sparsity"])
        marks = [("selected", max(folds["selected"], first))] if folds["selected"] > 0 else []
        charts.draw_curves(ax, folds["curves"], record["error"]["name"], marks)
        fit_left(ax)
        yield "", ax, f"{record['error']['name']} over the folds against the penalty."


def _effects(record):
    effects = record.get("effects", ())
    heights = [value for e in effects for curve in e["curves"].values() for value in curve]
    if not heights:
        return
    room = 0.08 * (max(heights) - min(heights)) or 0.1
    ends = (min(heights) - room, max(heights) + room)
    for i, effect in enumerate(effects, start=1):
        several = len(effect["curves"]) > 1
        ax = new_axes(**SMALL, right=84 if several else 12)
        verb = "adds to the " if effect["separate"] else ""
        label = f"{verb}score" if several else next(iter(effect["curves"]))
        charts.draw_effect(ax, effect, heights=ends, label=shorten(label, 30))
        fit_left(ax)
        ends_of = ", ".join(
            f"{key} from {number(curve[0])} to {number(curve[-1])}"
            for key, curve in list(effect["curves"].items())[:3]
        )
        yield f"effect_{i}", ax, f"Effect of {effect['column']}: {ends_of}."


def _surfaces(record):
    drawn = [one for one in record.get("interactions", ()) if one.get("surface")]
    grids = [np.array(one["surface"]["values"], dtype=float) for one in drawn]
    largest = max((float(np.nanmax(np.abs(grid))) for grid in grids), default=0.0) or 1.0
    for i, (one, grid) in enumerate(zip(drawn, grids, strict=True), start=1):
        surface = one["surface"]
        ax = new_axes(**{**SMALL, "height": 280}, top=46)
        data = (surface["edges"], grid, one["names"])
        options = {"points": surface["points"], "key": surface["output"]}
        charts.draw_surface(ax, *data, largest=largest, **options)
        fit_left(ax)
        where = np.unravel_index(np.nanargmax(np.abs(grid)), grid.shape)
        at = [sum(e[k : k + 2]) / 2 for e, k in zip(surface["edges"], where, strict=True)]
        places = listed(f"{n} {number(v)}" for n, v in zip(one["names"], at, strict=True))
        label = f"strongest ({number(float(grid[where]))}) at {places}"
        yield f"surface_{i}", ax, f"What {listed(one['names'])} do together: {label}."


def _scatter(record):
    shown = record.get("scatter")
    if not shown:
        return
    columns, n = shown["columns"], len(shown["columns"]) - 1
    task = "classification" if record["task"] == "classification" else "regression"
    colors, legend = charts.color_rows(shown["target"], task)
    size = (360, 330) if n == 1 else (190 * n, 90 + 170 * n)
    top = 14 if n > 1 else 30 + LINE * len(legend)
    axes = np.reshape(new_axes(*size, top=top, shape=(n, n)), (n, n))
    axes[0, 0].figure.subplots_adjust(wspace=0.32, hspace=0.32)
    for i, j in np.ndindex(n, n):
        ax: Any = axes[i, j]
        if j > i:
            ax.set_axis_off()
            continue
        one, two = columns[j], columns[i + 1]
        names = (one["column"] if i == n - 1 else "", two["column"] if j == 0 else "")
        x, y = (np.array(part["values"], dtype=float) for part in (one, two))
        log = one["log"], two["log"]
        charts.draw_dots(ax, x, y, colors, jitter=(True, True), log=log, names=names, size=4.0)
    charts.draw_legend(axes[0, -1], 1, legend, record["target"] if n > 1 else None)
    every = listed([one["column"] for one in columns])
    yield "", axes[0, 0], f"Pairs of {every}, colored by {record['target']}."


def _confusion(record):
    classes = record.get("classes")
    if classes:
        n = len(classes["classes"])
        longest = max(len(shorten(name, 16)) for name in classes["classes"])
        left, size = 30 + 7 * longest, min(40 * n, 30 * n + 30, 420)
        low = 46 if n <= 4 else 46 + 5 * longest
        ax = new_axes(left + max(size, 160) + 10, size + low + 12, left=left, bottom=low, top=8)
        charts.draw_confusion(ax, classes["classes"], classes["rows_by_class"])
        yield "", ax, "Rows of each class by the class that they are taken for."


def _survival(record):
    survival = record.get("survival")
    if survival:
        ax = new_axes(520, 300, right=110)
        charts.draw_survival(ax, survival["risk_groups"], record["target"])
        yield "", ax, "Share of the rows without an event against time, by predicted risk."


def _calibration(record):
    calibration = record.get("calibration") or {}
    if len(calibration.get("groups", ())) > 1:
        ax = new_axes(420, 320)
        charts.draw_calibration(ax, calibration["groups"], record["target"])
        fit_left(ax)
        yield "", ax, "Means of the target by means of the predictions, on rows held out."


def _scores(record):
    if not record["schema"].startswith("kernelknife.exploration"):
        return
    scores = np.array(record["scores"])
    rows, two = _some_rows(len(scores)), scores.shape[1] > 1
    y = scores[rows, 1] if two else np.random.default_rng(0).uniform(size=len(rows))
    colors, legend = [COLORS[0]] * len(rows), []
    if record["color"] is not None:
        colors, legend = charts.color_rows(
            np.array(record["color"]["values"])[rows], record["color"]["task"]
        )
    ax = new_axes(520, 380 + LINE * -(-len(legend) // 3), top=16 + LINE * -(-len(legend) // 3))
    charts.draw_dots(
        ax, scores[rows, 0], y, colors, names=("component 1", "component 2" if two else "")
    )
    if legend:
        charts.draw_legend(ax, 3, legend)
    by = "" if record["color"] is None else f", colored by {record['settings']['color']}"
    yield "", ax, f"Rows at their scores on the first components{by}."


def _some_rows(n):
    return np.sort(np.random.default_rng(0).choice(n, min(MOST_DOTS, n), replace=False))


def _gap(record):
    if record.get("gap"):
        ax = new_axes(520, 270)
        charts.draw_gap(ax, record["gap"])
        yield "", ax, "Lead in explained variance over permuted columns, by the number of columns."


def _relation(record):
    if not record["schema"].startswith("kernelknife.relation"):
        return
    both = [np.array(scores) for scores in record["scores"]]
    rows = _some_rows(len(both[0]))
    for i in range(both[0].shape[1]):
        ax = new_axes(520, 380)
        names = ("score by the first table", "score by the second table")
        x, y = (scores[rows, i] for scores in both)
        charts.draw_dots(ax, x, y, [COLORS[0]] * len(rows), names=names)
        correlation = number(record["pairs"][i]["correlation"])
        label = f"Scores of the second table against those of the first: correlation {correlation}."
        yield f"pair_{i + 1}", ax, label


DRAWN: dict[str, Callable] = {
    "errors": _errors,
    "number_of_columns": _counts,
    "path": _path,
    "cross_validation": _cross_validation,
    "effect": _effects,
    "surface": _surfaces,
    "scatter": _scatter,
    "confusion": _confusion,
    "survival": _survival,
    "calibration": _calibration,
    "scores": _scores,
    "gap": _gap,
    "pair": _relation,
}
