"""A selection as plain data: all that a report, ``--json``, exported tables and figures show.

:func:`describe` makes a dictionary that ``json.dumps`` accepts; the guide documents its keys. What
a page says or draws is read from it, and from nothing else. :func:`tables_of` makes flat tables.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from kernelknife._engine.policy import DEFAULT_LOSSES, infer_task
from kernelknife._utils.messages import import_optional, number
from kernelknife.app.messages import in_python, spelled
from kernelknife.app.selection.comparison import to_errors
from kernelknife.app.selection.effects import order_of
from kernelknife.app.selection.verdict import find_warnings, headline
from kernelknife.inspection.curves import best_by_count, curve_points, rows_of_path
from kernelknife.inspection.substitutes import percent

__all__ = [
    "SCHEMA",
    "as_plain",
    "best_substitute",
    "describe",
    "describe_colors",
    "describe_path",
    "frame_of",
    "tables_of",
]

SCHEMA = "kernelknife.selection/1"  # the number changes when a key changes its meaning or goes
MOST_PATHS = 120  # columns whose weights along the path are listed, those of the best ranks
MOST_SCATTERED, MOST_DOTS = 4, 300  # columns and rows of the scatter plots
WIDE = 30.0  # ratio of the largest to the smallest tenth from which on a logarithm may show more
LEAST_NEAR = 0.02  # of the cells of a surface that must have rows
WEIGHTINGS = {
    "penalized": "as the penalty leaves them",
    "relaxed": "refitted without the penalty that has selected the columns",
    "equal": "the same for all columns",
}
BASELINES = {
    "regression": "the mean of the training rows",
    "classification": "the most frequent class of the training rows",
    "survival": "the same risk for every row",
}


def describe(selection: Any, spell: Any = in_python) -> dict[str, Any]:
    """Return everything that a page says and draws beside the columns and the errors.

    Parameters
    ----------
    selection : Selection
    spell : callable
        How the hints of notes and warnings name options.
    """
    search, model, table = selection.search, selection.model, selection.table
    return {
        "schema": SCHEMA,
        "headline": headline(selection),
        "warnings": [spelled(text, spell) for text in find_warnings(selection)],
        "notes": [spelled(text, spell) for text in table.notes],
        "errors": _errors(selection),
        "words": _words(selection),
        "folds": len(search.splits_),
        "converged": bool(model.converged_),
        "compared": {
            "kernels": list(dict.fromkeys(search.cv_results_["kernel"])),
            "alphas": [float(alpha) for alpha in search.alphas_],
            "paths": int(search.n_paths_),
        },
        "path": _path(selection),
        "cross_validation": _cross_validation(selection),
        "counts": _counts(selection),
        "effects": [_effect(effect, table) for effect in selection.effects],
        "interactions": [_interaction(one, table) for one in selection.interactions],
        "acts_together": bool(order_of(model) > 1 and len(selection.selected) > 1),
        "scatter": _scatter(selection),
        "classes": _classes(selection.quality),
        "substitutes": {place.name: _place(place) for place in selection.substitutes},
        "seconds": selection.seconds,
    }


def _words(selection):
    """Return phrases of the page: what was compared, and what errors are of."""
    table, model = selection.table, selection.model
    return {
        "model": selection.model_in_words,
        "products": selection.products_in_words,
        "full_model": selection.full_model_in_words,
        "baseline": BASELINES[table.task],
        "nested": selection.nested_in_words,
        "quality": selection.quality_in_words,
        "target": _target_in_words(table),
        "loss": _loss_name(model.loss, table.task),
        "weights": WEIGHTINGS[selection.weighting],
    }


def _place(place):
    """Return what could replace a selected column."""
    keys = {"name": "name", "loss": "cost", "correlation": "correlation", "selected": "selected"}
    return {
        "loss_without": place.cost,
        "needed": place.needed,
        "in_words": place.need_in_words,
        "replaced_by": [
            {key: getattr(one, of) for key, of in keys.items()} for one in place.substitutes
        ],
    }


def _errors(selection):
    """Return the errors as rows, the selected columns first."""
    rows = [
        ("selected columns", selection.error),
        ("all columns", selection.full_error),
        (selection.baseline_name, selection.baseline_error),
    ]
    errors = [
        {"of": name, "mean": score.mean, "standard_error": score.spread} for name, score in rows
    ]
    held = selection.held_out
    if held is not None:
        named = (("on rows held out", held.error), ("baseline on rows held out", held.baseline))
        errors += [{"of": name, "mean": mean, "standard_error": None} for name, mean in named]
    return errors


def _target_in_words(table):
    """Return the classes and their counts, or the range of a number."""
    y = table.target
    if table.task == "survival":
        return (
            f"times from {number(y[:, 0].min())} to {number(y[:, 0].max())}, "
            f"{int(y[:, 1].sum())} events observed in {len(y)} rows"
        )
    if table.task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        return ", ".join(f"{value} ({n})" for value, n in zip(classes, counts, strict=True))
    return (
        f"from {number(y.min())} to {number(y.max())}, mean {number(y.mean())}, standard deviation "
        f"{number(y.std())}"
    )


def _loss_name(loss, task):
    """Return the name of a model's loss, which may be None, a name or an object."""
    name = DEFAULT_LOSSES[task] if loss is None else loss
    return (name if isinstance(name, str) else type(name).__name__).replace("_", " ")


def _table_weights(selection):
    """Return the weights of the table's columns at every point of the path.

    What a text column becomes shares one weight, as the columns of a group do: the first stands for
    all.
    """
    return selection.search.path_.weights[:, list(selection.encoder.first_of_units.values())]


def _fold_errors(selection):
    """Return the mean errors over the folds at the points of the path, and standard errors."""
    search, results = selection.search, selection.search.cv_results_
    # The path ends where the last column leaves; the folds go on to the end of the grid.
    rows = rows_of_path(results, search.best_index_)[: len(search.path_)]
    return to_errors(results["mean_test_score"][rows], search), results["standard_error"][rows]


def _chosen_point(selection):
    """Return the index of the point of the path that is nearest to the selected model."""
    wanted = selection.settings.n_features
    if wanted is not None:
        counts = (_table_weights(selection) > 0).sum(axis=1)
        return int(np.argmin(np.abs(counts - wanted)))
    search, model = selection.search, selection.model
    # The search may have used some of the rows only, where penalties are on another scale.
    sparsity = search.sparsity_ if model is search.best_estimator_ else model.sparsity_
    return int(np.argmin(np.abs(search.path_.sparsities - sparsity)))


def describe_path(names, sparsities, weights, ranking, chosen=None, errors=()) -> dict[str, Any]:
    """Return a path as plain data: the columns of the best ranks with their weights.

    Parameters
    ----------
    names : sequence of str
    sparsities : ndarray of shape (n_points,)
    weights : ndarray of shape (n_points, n_names)
    ranking : ndarray of int of shape (n_names,)
    chosen : int, default=None
        Index of the selected point.
    errors : sequence of float, default=()
        Of every point, where they are known.
    """
    order = [j for j in np.argsort(ranking, kind="stable") if weights[:, j].any()]
    points = []
    for i, row in enumerate(weights):
        known = None if i >= len(errors) or not np.isfinite(errors[i]) else float(errors[i])
        point = {"sparsity": float(sparsities[i]), "columns": int((row > 0).sum()), "error": known}
        points.append(point)
    listed = [
        {"column": str(names[j]), "weights": weights[:, j].tolist()} for j in order[:MOST_PATHS]
    ]
    return {
        "points": points,
        "columns": listed,
        "not_listed": len(order) - len(listed),
        "chosen": chosen,
    }


def describe_colors(values) -> dict[str, Any] | None:
    """Return what colors rows, and whether it is classes; gaps are a class of their own.

    Parameters
    ----------
    values : ndarray or None
        One per row.
    """
    if values is None:
        return None
    missing = np.array([value is None or value != value for value in values])
    present = np.array([v for v, gone in zip(values, missing, strict=True) if not gone])
    if infer_task(present) == "classification":
        names = present.astype(str)
    elif missing.any():
        bounds = np.quantile(present, np.linspace(0.0, 1.0, 6))
        codes = np.searchsorted(bounds[1:-1], present)
        names = np.array([f"{number(bounds[i])} to {number(bounds[i + 1])}" for i in codes])
    else:
        return {"task": "regression", "values": present.astype(float).tolist()}
    named = np.full(len(values), "missing", dtype=object)
    named[~missing] = names
    return {"task": "classification", "values": [str(name) for name in named]}


def _path(selection):
    """Return the path of the selected kernel."""
    search, units = selection.search, selection.encoder.first_of_units
    return describe_path(
        list(units),
        search.path_.sparsities,
        _table_weights(selection),
        search.path_.ranking[list(units.values())],
        _chosen_point(selection),
        _fold_errors(selection)[0],
    )


def _cross_validation(selection):
    """Return the error over the folds by penalty, one curve for each kernel or alpha."""
    search, results = selection.search, selection.search.cv_results_
    errors = to_errors(results["mean_test_score"], search)
    curves = curve_points(results, search.best_index_, errors)
    return {"selected": float(search.sparsity_), "curves": curves}


def _counts(selection):
    """Return the least error of every number of columns along the path."""
    errors, spread = _fold_errors(selection)
    best = best_by_count((_table_weights(selection) > 0).sum(axis=1)[: len(errors)], errors)
    return [
        {"columns": count, "error": float(errors[i]), "standard_error": float(spread[i])}
        for count, i in best.items()
    ]


def _shows_more_by_logarithm(values) -> bool:
    """Return whether positive values are so unequal that most would lie in a corner of an axis."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 8 or values.min() <= 0.0:
        return False
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    # On a log axis the median is nearer to the middle than on a linear one.
    linear = (middle - low) / ((high - low) or 1.0)
    return bool(high > WIDE / 3 * low and linear < 0.25 and values.max() > WIDE * low)


def _numbers(table, name):
    """Return a column of the table as numbers, NaN where there is none; None for texts."""
    column = table.features.get(name)
    if column is None or column.dtype.kind not in "biuf":
        return None
    return column.to_numpy(dtype=float, na_value=np.nan)


def _effect(effect, table):
    """Return one effect; its curves by output."""
    values = _numbers(table, effect.name)
    log = values is not None and _shows_more_by_logarithm(values) and min(effect.values) > 0
    return {
        "column": effect.name,
        "values": list(effect.values),
        "curves": {key: np.asarray(curve).tolist() for key, curve in effect.curves.items()},
        "rug": np.sort(effect.rug)[:: max(1, len(effect.rug) // 100)].tolist(),
        "log": bool(log),
        "separate": effect.separate,
        "missing": {key: float(value) for key, value in effect.missing.items()},
    }


def _interaction(together, table):
    """Return columns that act together, with the cells of their surface that have rows near."""
    one: dict[str, Any] = {"names": list(together.names), "share": together.share}
    surface = together.surface
    if surface is None:
        return {**one, "surface": None}
    columns = [_numbers(table, name) for name in together.names]
    known = all(values is not None for values in columns)
    near = _near_rows(surface.edges, columns if known else surface.points.T)
    if near.mean() < LEAST_NEAR:  # the columns of the model are not those of the table
        near = np.ones_like(near)
    values = np.where(near, surface.values, np.nan)
    one["surface"] = {
        "output": surface.output,
        "edges": [edges.tolist() for edges in surface.edges],
        "values": [[None if np.isnan(v) else float(v) for v in row] for row in values],
        "points": surface.points.tolist(),
    }
    return one


def _near_rows(edges, columns):
    """Return which cells of a grid have a row in them or in a neighbor."""
    shape = tuple(len(ends) - 1 for ends in edges)
    where = [np.searchsorted(e, values) - 1 for e, values in zip(edges, columns, strict=True)]
    inside = np.all([(w >= 0) & (w < n) for w, n in zip(where, shape, strict=True)], axis=0)
    full = np.zeros(tuple(n + 2 for n in shape), dtype=bool)
    full[tuple(w[inside] + 1 for w in where)] = True
    steps = itertools.product((0, 1, 2), repeat=2)
    return np.any([full[i : i + shape[0], j : j + shape[1]] for i, j in steps], axis=0)


def _classes(quality):
    """Return the figures of single classes, also in whole rows; None for numbers.

    A row counts as taken for another class where that is so in most of its predictions.
    """
    if quality is None:
        return None
    counts = np.diag(quality.confusion.sum(axis=1).round()).astype(int)
    place = {name: i for i, name in enumerate(quality.classes)}
    for row in quality.wrong_rows:
        if row.share > 0.5:
            i = place[row.actual]
            counts[i, i] -= 1
            counts[i, place[row.predicted]] += 1
    return {**quality.to_json(), "rows_by_class": counts.tolist()}


def _scatter(selection):
    """Return some rows of the columns with the largest weights, for scatter plots, with the target.

    Of columns of numbers alone; None where there are fewer than two.
    """
    table = selection.table
    names = [name for name in selection.selected if _numbers(table, name) is not None]
    names = names[:MOST_SCATTERED]
    if len(names) < 2:
        return None
    n = len(table.target)
    rows = np.sort(np.random.default_rng(0).choice(n, min(MOST_DOTS, n), replace=False))
    y = table.target[:, 0] if table.task == "survival" else table.target
    every = {name: _numbers(table, name) for name in names}
    return {
        "columns": [
            {
                "column": name,
                "log": _shows_more_by_logarithm(values),
                "values": [None if np.isnan(v) else float(v) for v in values[rows]],
            }
            for name, values in every.items()
        ],
        "target": [as_plain(v) for v in y[rows]],
    }


def as_plain(value: Any) -> Any:
    """Return an option as JSON can hold it: sequences as lists, other objects as their text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    # An iterator would be empty by now.
    if isinstance(value, Iterable) and not isinstance(value, Iterator | Mapping):
        return [as_plain(item) for item in value]
    return repr(value)


def best_substitute(substitutes, name) -> str:
    """Return what could best take the place of a selected column, in a few words.

    Parameters
    ----------
    name : str
        Nothing is returned for a column without an analysis.
    """
    if name not in substitutes:
        return ""
    place = substitutes[name]
    if place.substitutes:
        best = place.substitutes[0]
        return f"{best.name} ({percent(best.cost)})"
    if place.needed:
        return "nothing"
    return "hardly needed" if place.hardly_needed else "not clear"


def tables_of(record: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a record by their names, each a list of rows; empty ones are left out.

    Parameters
    ----------
    record : dict
        What ``to_json`` of a selection returned.
    """
    classes, survival = record["classes"] or {}, record["survival"] or {}
    calibration = record.get("calibration") or {}
    named = classes.get("classes", [])
    tables = {
        "errors": record["errors"],
        "columns": [_row_of(record, feature) for feature in record["features"]],
        "confusion": [
            {"class": name, **{f"taken for {n}": c for n, c in zip(named, row, strict=True)}}
            for name, row in zip(named, classes.get("rows_by_class", []), strict=True)
        ],
        "wrong_rows": classes.get("wrong_rows", []),
        "risk_groups": [
            {"group": group["name"], "time": time, "without_event": share}
            for group in survival.get("risk_groups", [])
            for time, share in zip(group["times"], group["survival"], strict=True)
        ],
        "calibration": calibration.get("groups", []),
        "coverage": calibration.get("coverage", []),
        "substitutes": _substitute_rows(record["substitutes"]),
        "acting_together": [
            {"columns": " x ".join(one["names"]), "share": one["share"]}
            for one in record["interactions"]
        ],
        "number_of_columns": record["counts"],
        "path": record["path"]["points"],
        "cross_validation": _curve_rows(record["cross_validation"]["curves"]),
        "effects": _effect_rows(record["effects"]),
    }
    return {name: rows for name, rows in tables.items() if rows}


def frame_of(tables: Mapping[str, list], name: str) -> Any:
    """Return one of several tables as a data frame of pandas.

    Parameters
    ----------
    tables : dict of list of dict
    name : str
    """
    if name not in tables:
        raise ValueError(f"There is no table {name!r}: there are {', '.join(map(repr, tables))}.")
    pandas = import_optional("pandas", "kernelknife[cli]", "to_frame")
    return pandas.DataFrame(tables[name])


def _curve_rows(curves):
    """Return one row per point of the errors over the folds."""
    keys = ("sparsity", "error", "standard_error")
    return [
        {"model": curve["label"], **dict(zip(keys, point, strict=True))}
        for curve in curves
        for point in zip(*(curve[key] for key in keys), strict=True)
    ]


def _effect_rows(effects):
    """Return one row per point of the effects."""
    return [
        {"column": effect["column"], "value": value, "output": output, "effect": height}
        for effect in effects
        for output, curve in effect["curves"].items()
        for value, height in zip(effect["values"], curve, strict=True)
    ]


def _row_of(record, feature):
    """Return what is known of one column as a flat row."""
    name, rate = feature["name"], record["error_rate"]
    known = record["information"].get(name, {})
    row = {"column": name}
    if record["groups"]:
        row["columns"] = ", ".join(feature["columns"])
    row |= {"selected": feature["weight"] > 0, "tier": feature["tier"]}
    row |= {key: feature[key] for key in ("weight", "frequency", "rank", "gaps")}
    row |= {key: known[key] for key in ("p_value", "q_value", "share", "shape") if key in known}
    row |= {f"mean of {label}": mean for label, mean in known.get("class_means", {}).items()}
    if record["against_noise"] is not None:
        row["adjusted_p_value"] = record["against_noise"]["p_values"][name]
    if rate is not None:
        row[f"{rate['method']}_share"] = rate["columns"][name]["share"]
        row[f"{rate['method']}_q_value"] = rate["columns"][name]["q_value"]
    return row


def _substitute_rows(places):
    """Return one row for each column that can replace a selected one, or that none can."""
    rows = []
    for name, place in places.items():
        row = {"column": name, "loss_without": place["loss_without"]}
        for one in place["replaced_by"] or [{"name": "", "loss": None, "correlation": None}]:
            other = {"replaced_by": one["name"], "loss_with_it": one["loss"]}
            rows.append({**row, **other, "correlation": one["correlation"]})
    return rows
