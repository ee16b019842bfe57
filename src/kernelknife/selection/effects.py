"""What the chosen model predicts on average as one column takes different values."""

import numpy as np

from kernelknife.selection.result import Effect

__all__ = ["find_effects"]

MOST_EFFECTS = 8  # a report shows one chart for each, and more than two rows of charts tire
EFFECT_ROWS = 200  # rows to average over; their mean is known to 7 % of the spread of predictions
EFFECT_POINTS = 40  # points of a curve, one for every 6 pixels of its chart
OUTER_SHARE = 0.02  # share of the values at either end that a curve leaves out, as they are rare


def find_effects(model, encoder, X, names, random_state) -> tuple[Effect, ...]:
    """Return the effects of the selected columns, the heaviest first, at most eight.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted.
    encoder : TableEncoder
    X : ndarray
        The training rows, encoded.
    names : list of str
        The selected columns of the table, the heaviest first.
    random_state : int
        Seed of the draw of rows to average over.
    """
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(len(X), min(EFFECT_ROWS, len(X)), replace=False))
    return tuple(_effect(model, encoder, X[rows], X, name) for name in names[:MOST_EFFECTS])


def _effect(model, encoder, rows, X, name):
    """Return the effect of one column, averaged over some rows."""
    columns = np.flatnonzero(encoder.feature_groups_ == name)
    if name in encoder.levels_:
        values, rug = list(encoder.levels_[name]), np.empty(0)
        encoded_values = np.eye(len(values))
    else:
        values, rug = _grid(X[:, columns[0]]), rows[:, columns[0]]
        encoded_values = np.array(values)[:, None]
    outputs = []
    for encoded in encoded_values:
        changed = rows.copy()
        changed[:, columns] = encoded
        outputs.append(_mean_outputs(model, changed))
    curves = {key: np.array([output[key] for output in outputs]) for key in outputs[0]}
    return Effect(name, values, curves, rug)


def _grid(observed):
    """Return the values that a column of numbers takes: its own if they are few, else a grid."""
    distinct = np.unique(observed)
    low, high = np.quantile(observed, [OUTER_SHARE, 1.0 - OUTER_SHARE])
    if len(distinct) <= EFFECT_POINTS // 2 or not high > low:
        return [float(value) for value in distinct]
    return [float(value) for value in np.linspace(low, high, EFFECT_POINTS)]


def _mean_outputs(model, rows):
    """Return the mean outputs by name: the prediction, or the score of each class."""
    if not hasattr(model, "classes_"):
        return {"prediction": float(model.predict(rows).mean())}
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        return {f"score of {model.classes_[1]}": float(scores.mean())}
    return {
        f"score of {label}": float(column.mean())
        for label, column in zip(model.classes_, scores.T, strict=True)
    }
