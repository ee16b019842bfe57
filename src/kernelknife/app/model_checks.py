"""Whether the parts of a model file are what a fit makes, and fit each other.

Whoever has put a file together may have put anything into it. Every number that a prediction, an
effect or a note about a table needs is looked at here: a model that passes predicts finite numbers.
"""

import math
from numbers import Real

import numpy as np

from kernelknife._engine import FitSpec
from kernelknife._engine.effects import list_effects
from kernelknife._tuning.probabilities import PROBABILITIES, ProbabilityMap
from kernelknife.app.tables import TableEncoder
from kernelknife.app.tables.dates import PARTS
from kernelknife.estimators import KnifeClassifier
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss
from kernelknife.survival import ESTIMATORS as TASKS

__all__ = ["check_content"]

ROOM = 1e3  # standard deviations: predictions are tried this far out


def check_content(content, facts) -> None:
    """Raise where the parts of a file are not those of a fitted model.

    Parameters
    ----------
    content : dict
        Encoder and model.
    facts : dict
    """
    _require(
        isinstance(content, dict) and set(content) == {"encoder", "model"}, "a part is missing"
    )
    encoder, model = content["encoder"], content["model"]
    _require(type(encoder) is TableEncoder, "the encoder is none")
    _require(
        isinstance(facts["task"], str) and type(model) is TASKS.get(facts["task"]),
        "the model is for another task",
    )
    check_encoder(encoder)
    check_estimator(model, len(encoder.feature_groups_))
    _require(isinstance(facts["target"], str), "the name of the target is no text")
    selected = facts["selected"]
    _require(_are_names(selected), "the selected columns have no names")
    kept = np.unique(encoder.origins[model.weights_ > 0])
    _require(set(selected) == set(kept.tolist()), "the selected columns are not those of the model")
    exposure, of_counts = facts["exposure"], vars(model)["_model"].targets.offset
    _require(
        isinstance(exposure, str) if of_counts else exposure is None,
        "the exposure is not that of the model",
    )
    adjusted, linear = facts["adjusted"], vars(model)["_model"].adjusted
    _require(_are_names(adjusted), "the adjusted columns have no names")
    there = [] if linear is None else encoder.origins[linear.index].tolist()
    _require(set(there) <= set(adjusted), "the adjusted columns are not those of the model")
    check_dates(facts["dates"])
    _try_out(encoder, model)


def check_encoder(encoder) -> None:
    """Raise where an encoder's columns contradict each other.

    Parameters
    ----------
    encoder : TableEncoder
    """
    names, levels = encoder.columns_, encoder.levels_
    _require(_are_names(names), "the columns have no names")
    _require(isinstance(levels, dict) and set(levels) <= set(names), "levels of unknown columns")
    _require(all(map(_are_names, levels.values())), "levels are no texts")
    numbers = set(names) - set(levels)
    _require(
        isinstance(encoder.medians_, dict)
        and set(encoder.medians_) == numbers
        and all(map(_is_finite, encoder.medians_.values())),
        "medians are no numbers",
    )
    _require(
        isinstance(encoder.ranges_, dict) and set(encoder.ranges_) <= numbers,
        "ranges of unknown columns",
    )
    for ends in encoder.ranges_.values():
        _require(
            isinstance(ends, tuple)
            and len(ends) == 2
            and all(map(_is_finite, ends))
            and ends[0] <= ends[1],
            "ranges are no pairs of numbers in order",
        )
    _require(
        isinstance(encoder.gaps_, dict)
        and set(encoder.gaps_) <= set(names)
        and all(type(count) is int and count > 0 for count in encoder.gaps_.values()),
        "gaps of unknown columns",
    )
    orders = encoder.orders_
    _require(isinstance(orders, dict) and set(orders) <= numbers, "orders of unknown columns")
    _require(all(map(_are_names, orders.values())), "ordered categories are no texts")
    _require(encoder.impute in (None, "median"), "missing values are filled in an unknown way")
    _check_units(encoder, numbers)


def _check_units(encoder, numbers):
    """Raise where logarithms or groups are not those of the columns."""
    _require(
        isinstance(encoder.log, list | tuple)
        and _are_names(list(encoder.log))
        and set(encoder.log) <= numbers,
        "logarithms of no numbers",
    )
    _require(
        all(encoder.medians_[name] > 0 for name in encoder.log), "logarithms of negative numbers"
    )
    groups = {} if encoder.groups is None else encoder.groups
    _require(
        isinstance(groups, dict) and all(map(_are_names, groups.values())), "groups are no names"
    )
    owners = {name: group for group, members in groups.items() for name in members}
    expected = np.array([owners.get(name, name) for name in encoder.origins], dtype=str)
    _require(
        np.array_equal(expected, encoder.feature_groups_)
        and encoder.n_features_in_ == len(encoder.columns_),
        "the columns of the encoder contradict each other",
    )


def check_estimator(estimator, n_features) -> None:
    """Raise where a model is not what a fit on this number of columns makes.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    n_features : int
    """
    spec = FitSpec.from_estimator(estimator)  # raises for parameters that no estimator may have
    model, weights = vars(estimator)["_model"], estimator.weights_
    _require(estimator.n_features_in_ == n_features, "the encoder makes other columns")
    _check_array(weights, (n_features,))
    _require(bool((weights >= 0).all() and (weights <= 1).all()), "weights are not in [0, 1]")
    _require(isinstance(model.kernel, Kernel), "the kernel is none")
    model.kernel.validate()
    _require(type(model.kernel) is type(spec.kernel), "the model has another kernel")
    _check_columns(model, weights)
    m, k = len(model.support), len(model.targets.center)
    _check_array(model.support, (m,), "iu")
    _check_array(model.v, (model.columns.n_seen,))
    _require(bool((model.v >= 0).all()), "weights are negative")
    _check_array(model.vectors, (m, model.columns.n_seen))
    _check_array(model.coef, (m, k))
    _check_adjusted(model)
    _check_array(model.intercept, (k,))
    _check_targets(model.targets, isinstance(estimator, KnifeClassifier))
    _check_moments(model)
    _check_probabilities(estimator, k)
    _check_baseline(estimator, model.baseline)
    for name, own in (
        ("support_vectors_rows_", model.support),
        ("support_vectors_", model.vectors),
        ("dual_coef_", model.coef),
        ("intercept_", model.intercept),
    ):
        _require(np.array_equal(getattr(estimator, name), own), f"{name} is not that of the model")
    names = getattr(estimator, "feature_names_in_", None)
    _require(names is None or len(names) == n_features, "there are other names than columns")


def _check_baseline(estimator, baseline):
    """Raise where the baseline hazard of a survival model is missing or none."""
    is_survival = type(estimator) is TASKS["survival"]
    _require((baseline is not None) is is_survival, "the baseline is that of another model")
    if not is_survival:
        return
    n = len(baseline.times)
    for values in (baseline.times, baseline.hazards, baseline.strata):
        _check_array(values, (n,))
    _require(n > 0 and bool((baseline.hazards >= 0).all()), "hazards are negative")
    for stratum in np.unique(baseline.strata):
        mine = baseline.strata == stratum
        rising = np.diff(baseline.times[mine]) > 0, np.diff(baseline.hazards[mine]) >= 0
        _require(all(part.all() for part in rising), "times or hazards are not in order")
    own = vars(estimator)["baseline_"]
    same = all(
        np.array_equal(getattr(own, name), getattr(baseline, name))
        for name in ("times", "hazards", "strata")
    )
    _require(same, "baseline_ is not that of the model")
    _require(
        np.array_equal(estimator.event_times_, np.unique(baseline.times)),
        "event_times_ are not those of the model",
    )


def check_dates(dates) -> None:
    """Raise where it is not known what becomes of a column of dates.

    Parameters
    ----------
    dates : dict
        What :func:`kernelknife.app.tables.plan_dates` returned.
    """
    _require(isinstance(dates, dict), "the plan for dates is none")
    for plan in dates.values():
        _require(isinstance(plan, dict), "the plan for dates is none")
        parts = plan["parts"]
        _require(_are_names(parts) and set(parts) <= set(PARTS), "dates become nothing known")
        first = plan["first"]
        _require(first is None or isinstance(first, str), "the first date is none")
        if first is not None:
            # Dates have nanoseconds in pandas and reach from 1677 to 2262; NumPy reads no other
            # notation than the one that is saved.
            day = np.datetime64(first.replace(" ", "T"), "s")
            _require(not np.isnat(day) and 1677 < day.astype(object).year < 2262, "no first date")
        known = plan["day_first"] is None or isinstance(plan["day_first"], bool)
        _require(known, "the order of day and month is unknown")


def _check_columns(model, weights):
    """Raise where the selected columns, or the functions of them, cannot be had of a row."""
    columns = model.columns
    d = len(columns.index)
    _check_array(columns.index, (d,), "iu")
    _require(np.array_equal(columns.index, np.flatnonzero(weights)), "the model has other columns")
    _check_array(columns.center, (d,))
    _check_array(columns.scale, (d,))
    _require(bool((columns.scale > 0).all()) and columns.ready is False, "the scales are none")
    _check_gaps(columns)
    basis = columns.basis
    _require((basis is not None) is model.kernel.expands, "functions of the columns are missing")
    if basis is None:
        return
    parts = (basis.columns, basis.positions, basis.tables)
    _require(
        all(isinstance(part, tuple) for part in parts) and len(set(map(len, parts))) == 1,
        "functions of the columns are incomplete",
    )
    for mine, positions, tables in zip(*parts, strict=True):
        _check_array(mine, (len(mine),), "iu")
        _require(tables.ndim == 3 and tables.shape[1] > 1, "a function has no values")
        _check_array(positions, (len(mine), tables.shape[1]))
        _check_array(tables, (len(mine), *tables.shape[1:]))
        _require(bool((np.diff(positions, axis=1) >= 0).all()), "positions are not in order")
    found = np.concatenate([np.zeros(0, dtype=int), *basis.columns])
    _require(np.array_equal(np.sort(found), np.arange(d)), "columns without functions")


def _check_probabilities(estimator, k):
    """Raise where scores cannot be turned into probabilities."""
    found = getattr(estimator, "probability_map_", None)
    if found is None:
        _require(not _lacks_probabilities(estimator), "the probabilities are missing")
        return
    _require(type(found) is ProbabilityMap and found.method in PROBABILITIES, "no probabilities")
    _require(isinstance(found.positions, tuple) and len(found.positions) == k, "no probabilities")
    tables = found.chances if found.method == "isotonic" else found.positions
    _require(isinstance(tables, tuple) and len(tables) == k, "no probabilities")
    for at, chance in zip(found.positions, tables, strict=True):
        size = len(at) if found.method == "isotonic" else 2
        _check_array(at, (size,))
        _check_array(chance, (size,))
        if found.method == "isotonic":
            _require(size > 0 and bool((np.diff(at) >= 0).all()), "scores are not in order")
            _require(bool(((chance >= 0) & (chance <= 1)).all()), "probabilities are none")


def _lacks_probabilities(estimator):
    """Return whether an estimator promises probabilities that it can only have learned."""
    if not isinstance(estimator, KnifeClassifier) or estimator.probability is None:
        return False
    return FitSpec.from_estimator(estimator).loss.probability is None


def _check_gaps(columns):
    """Raise where it is not known what becomes of gaps in columns."""
    d, gaps, fill = len(columns.index), columns.gaps, columns.fill
    _check_array(gaps, (len(gaps),), "iu")
    _require(np.array_equal(gaps, np.unique(gaps)), "gaps are of no columns")
    _require(not len(gaps) or 0 <= gaps[0] <= gaps[-1] < d, "gaps are of other columns")
    _require(isinstance(columns.refuses_gaps, bool), "it is unknown what becomes of gaps")
    if fill is not None:
        _check_array(fill, (d,))


def _check_adjusted(model):
    """Raise where the columns that are adjusted for cannot be had of a row."""
    columns, coef = model.adjusted, model.adjusted_coef
    _require((columns is None) is (coef is None), "adjusted columns have no coefficients")
    if columns is None:
        return
    d = len(columns.index)
    _check_array(columns.index, (d,), "iu")
    _require(not len(np.intersect1d(columns.index, model.columns.index)), "columns are there twice")
    _check_array(columns.center, (d,))
    _check_array(columns.scale, (d,))
    _require(columns.basis is None and columns.ready is False, "adjusted columns have functions")
    _require(bool((columns.scale > 0).all()), "the scales are none")
    _check_gaps(columns)
    _check_array(coef, (columns.n_seen, len(model.targets.center)))


def _check_targets(targets, is_classifier):
    """Raise where scores cannot be turned into predictions."""
    k = len(targets.center)
    _check_array(targets.center, (k,))
    _check_array(targets.scale, (k,))
    _require(k > 0 and bool((targets.scale > 0).all()), "the target has no scale")
    _require(isinstance(targets.squeeze, bool), "the shape of predictions is unknown")
    _require(isinstance(targets.offset, bool), "it is unknown whether there were offsets")
    _require(targets.labels is False, "a table has one target")
    loss = targets.loss
    _require(loss is None or isinstance(loss, Loss), "the link of the scores is none")
    if loss is not None:
        loss.validate()
    classes = targets.classes
    _require((classes is not None) is is_classifier, "classes are missing")
    if is_classifier:
        n = len(classes)
        _require(n > 1 and len(np.unique(classes)) == n, "classes are not different")
        _require(k == (1 if n == 2 else n), "there are other classes than scores")
        _require(targets.squeeze is (n == 2), "there are other classes than scores")


def _check_moments(model):
    """Raise where the effects are not those of the columns."""
    moments, order = model.moments, model.kernel.order
    if moments is None:
        return
    _require(isinstance(moments.columns, list), "effects have no columns")
    n, parts = len(moments.columns), len(model.columns.parts[1])
    most = sum(math.comb(parts, size + 1) for size in range(order))
    # Without the effects of gaps in a column together with its values, which are none.
    _require(n <= most <= 3 * n, "effects are missing")
    _require(moments.columns == list_effects(model.columns, order), "effects are missing")
    _check_array(moments.means, (n, len(model.intercept)))
    _check_array(moments.shares, (n,))


def _try_out(encoder, estimator):
    """Raise unless the model predicts finite numbers, or classes, for rows near and far."""
    model = vars(estimator)["_model"]
    columns, targets = model.columns, model.targets
    widths = [len(encoder.levels_.get(name, [name])) for name in encoder.columns_]
    medians = [
        float(encoder.in_scale_of(name, encoder.medians_.get(name, 0.0)))
        for name in encoder.columns_
    ]
    row = np.repeat(np.array(medians, dtype=float), widths)
    near = np.zeros_like(row)
    near[columns.index] = columns.center
    with np.errstate(over="ignore", invalid="ignore"):
        far = near.copy()
        far[columns.index] = columns.center + ROOM * columns.scale
        rows = np.stack([row, near, far])
        _require(bool(np.isfinite(rows).all()), "the scales are too large")
        answer = estimator.predict(rows)
        # No kernel's value is larger than those of its two rows with themselves; the sigmoid
        # kernel, which need not obey that, stays below 1.
        own = np.maximum(model.kernel.diag(columns.take(rows), model.v), 1.0).max()
        others = np.maximum(model.kernel.diag(model.vectors, model.v), 1.0)
        most = np.sqrt(own * others) @ np.abs(model.coef) + np.abs(model.intercept)
        most = most * targets.scale + np.abs(targets.center)
    levels = getattr(getattr(estimator, "loss", None), "n_levels", 1)
    shape = (3,) if levels == 1 else (3, levels)
    _require(np.shape(answer) == shape, "the model does not predict one value per row")
    _require(bool(np.isfinite(most).all()), "the model predicts no finite numbers")


def _check_array(array, shape, kinds="f"):
    """Raise unless an array has a shape, and numbers of that kind that are finite."""
    _require(
        isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.shape == shape,
        f"numbers of the shape {shape} are missing",
    )
    _require(bool(np.isfinite(array).all()), "numbers are not finite")


def _are_names(names):
    """Return whether something is a list of different texts."""
    return (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    )


def _is_finite(value):
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _require(holds, otherwise):
    """Raise a ValueError with a clause that says what is wrong, unless something holds."""
    if not holds:
        raise ValueError(otherwise)
