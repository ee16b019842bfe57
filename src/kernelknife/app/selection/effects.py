"""What each column does to the prediction of the selected model, and which columns act together.

An additive or ANOVA model is a sum of effects, which are shown as they are. Any other model is
one joint function, of which only averages over rows can be shown.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from kernelknife.inspection.effects import GAP, GRID_POINTS
from kernelknife.kernels import check_kernel

__all__ = [
    "Effect",
    "Interaction",
    "Surface",
    "find_effects",
    "find_interactions",
    "order_of",
]

MOST_EFFECTS = 8  # a report shows one chart for each, and more than two rows of charts tire
EFFECT_ROWS = 200  # rows to average over; their mean is known to 7 % of the spread of predictions
EFFECT_POINTS = 40  # points of a curve, one for every 6 pixels of its chart
OUTER_SHARE = 0.02  # share of the values at either end that a curve leaves out, as they are rare
MOST_INTERACTIONS = 8  # a reader looks at the first few of a list
LEAST_SHARE = 0.005  # of the variance; what is less cannot be seen in a chart
MOST_SURFACES = 4  # two rows of charts
MOST_PAIRED = 60  # columns among which all pairs are computed; nobody reads more
CELLS = 24  # of a surface in either direction, each about 10 pixels wide
SURFACE_ROWS = 120  # dots on a surface; more would hide it


@dataclass(frozen=True)
class Effect:
    """What one column does to the prediction as it takes different values.

    Of an additive or ANOVA model it is what the column adds on its own, of all others the average
    output while the other columns stay as they are.

    Attributes
    ----------
    name : str
    values : list of float or of str
        Values that the column takes.
    curves : dict of ndarray
        For every output by its name, one number per value.
    rug : ndarray
        Some of the column's values in the data; empty for a text column.
    separate : bool
        Whether the curves are what the column adds, with an average of zero. For a text column of
        such a model they are average outputs less the average over all rows.
    missing : dict of float
        For every output by its name, one number for rows in which the column has no value; empty
        for a text column, and for one that has all its values.
    """

    name: str
    values: list
    curves: dict
    rug: np.ndarray
    separate: bool = False
    missing: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Surface:
    """What two columns of numbers do together, on a grid of cells.

    Attributes
    ----------
    edges : tuple of two ndarray
        Where the cells of each column begin and end.
    values : ndarray of shape (n_cells, n_cells)
        What the combination adds beyond what each column adds on its own, in the middle of each
        cell; the first axis is the first column.
    output : str
        What it is added to; with several classes the score that it changes most.
    points : ndarray of shape (n_points, 2)
        Both columns of some rows of the data.
    """

    edges: tuple[np.ndarray, np.ndarray]
    values: np.ndarray
    output: str
    points: np.ndarray


@dataclass(frozen=True)
class Interaction:
    """Two or three columns that act together.

    Attributes
    ----------
    names : tuple of str
    share : float
        Part of the variance of the model's output that is due to their acting together.
    surface : Surface or None
        What they do, for the largest pairs of columns of numbers.
    """

    names: tuple[str, ...]
    share: float
    surface: Surface | None = field(default=None, repr=False)


def order_of(model) -> int:
    """Return how many columns of a model act together at most, 0 for one joint function."""
    return check_kernel(model.kernel).order


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
    find = _added if order_of(model) else _averaged
    found = (find(model, encoder, X[rows], X, name) for name in names[:MOST_EFFECTS])
    return tuple(_in_units(encoder, effect) for effect in found)


def _in_units(encoder, effect):
    """Return an effect with the values of its column as the table has them."""
    if effect.name not in encoder.log:
        return effect
    values = [float(value) for value in encoder.in_units_of(effect.name, np.array(effect.values))]
    return replace(effect, values=values, rug=encoder.in_units_of(effect.name, effect.rug))


def _added(model, encoder, rows, X, name):
    """Return what one column adds to the output of a model that is a sum of effects."""
    if name in encoder.levels_:
        # The functions of its levels act together, so that only averages show what the text does.
        effect = _averaged(model, encoder, rows, X, name)
        middle = _mean_outputs(model, rows)
        curves = {f"adds to the {key}": effect.curves[key] - middle[key] for key in middle}
        return Effect(name, effect.values, curves, effect.rug, separate=True)
    column = int(np.argmax(encoder.origins == name))
    effect = model.effect(column)
    (grid,) = effect.grids
    low, high = _usual_range(_known(X[:, column]))
    shown = (grid >= low) & (grid <= high)
    if shown.sum() < 2 or len(grid) < GRID_POINTS:
        shown[:] = True
    outputs = effect.values[shown].reshape(int(shown.sum()), -1)
    curves = {
        f"adds to the {key}": curve
        for key, curve in zip(_output_names(model), outputs.T, strict=True)
    }
    values = [float(value) for value in grid[shown]]
    return Effect(
        name, values, curves, _known(rows[:, column]), True, _added_by_gap(model, rows, column)
    )


def _added_by_gap(model, rows, column):
    """Return what a gap in a column adds to every output; empty where training had none."""
    name = f"x{column}"
    gap = rows[:1].copy()
    gap[:, column] = np.nan
    _, effects = model.effect_values(gap)
    if (GAP.format(name),) not in effects:
        return {}
    added = effects[name,][0] + effects[GAP.format(name),][0]
    names = _output_names(model)
    return {f"adds to the {key}": float(v) for key, v in zip(names, added, strict=True)}


def _known(values):
    """Return the values of a column that are there."""
    return values[~np.isnan(values)]


def find_interactions(model, encoder, X, random_state) -> tuple[Interaction, ...]:
    """Return the columns of the table that act together, the largest share first, at most eight.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted.
    encoder : TableEncoder
    X : ndarray
        The training rows, encoded.
    random_state : int
        Seed of the draw of rows to show.
    """
    if order_of(model) < 2 or np.count_nonzero(model.weights_) > MOST_PAIRED:
        return ()
    # Shares add up. What levels of one text do together is a part of what the text does alone.
    shares: dict[tuple[str, ...], float] = {}
    origins = encoder.origins
    for effect in model.effects():
        names = tuple(dict.fromkeys(str(origins[j]) for j in effect.columns))
        if len(names) > 1:
            shares[names] = shares.get(names, 0.0) + effect.share
    large = [(names, share) for names, share in shares.items() if share > LEAST_SHARE]
    large = sorted(large, key=lambda pair: -pair[1])[:MOST_INTERACTIONS]
    drawn = [names for names, _ in large if len(names) == 2 and not encoder.levels_.keys() & names]
    drawn = drawn[:MOST_SURFACES]
    rng = np.random.default_rng(random_state)
    rows = X[np.sort(rng.choice(len(X), min(SURFACE_ROWS, len(X)), replace=False))]
    return tuple(
        Interaction(names, share, _surface(model, encoder, rows, X, names))
        if names in drawn
        else Interaction(names, share)
        for names, share in large
    )


def _surface(model, encoder, rows, X, names):
    """Return what two columns of numbers do together, on a grid of cells."""
    columns = [int(np.argmax(encoder.origins == name)) for name in names]
    effect = model.effect(*columns)
    outputs = effect.values.reshape(*effect.values.shape[:2], -1)
    strongest = int(np.argmax(outputs.var(axis=(0, 1))))
    edges, values = [], outputs[:, :, strongest]
    for axis, (grid, column) in enumerate(zip(effect.grids, columns, strict=True)):
        ends, at_cells = _cells(grid, _known(X[:, column]))
        edges.append(encoder.in_units_of(names[axis], ends))
        values = np.moveaxis(np.tensordot(at_cells, values, axes=(1, axis)), 0, axis)
    return Surface(
        (edges[0], edges[1]),
        values,
        f"adds to the {_output_names(model)[strongest]}",
        np.column_stack(
            [encoder.in_units_of(n, rows[:, j]) for n, j in zip(names, columns, strict=True)]
        ),
    )


def _cells(grid, observed):
    """Return the edges of a column's cells, and the matrix from the grid's values to the cells'."""
    if len(grid) < GRID_POINTS:  # a cell for every level
        middles = (grid[1:] + grid[:-1]) / 2
        edges = np.array([2 * grid[0] - middles[0], *middles, 2 * grid[-1] - middles[-1]])
        return edges, np.eye(len(grid))
    low, high = _usual_range(observed)
    edges = np.linspace(low, high, CELLS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    return edges, np.stack([np.interp(middles, grid, unit) for unit in np.eye(len(grid))], axis=1)


def _averaged(model, encoder, rows, X, name):
    """Return the average output over some rows as one column takes different values."""
    columns = np.flatnonzero(encoder.origins == name)
    if name in encoder.levels_:
        values, rug = list(encoder.levels_[name]), np.empty(0)
        encoded_values = np.eye(len(values))
    else:
        values = _grid(_known(X[:, columns[0]]))
        rug = _known(rows[:, columns[0]])
        encoded_values = np.array(values)[:, None]
    outputs = []
    for encoded in encoded_values:
        changed = rows.copy()
        changed[:, columns] = encoded
        outputs.append(_mean_outputs(model, changed))
    curves = {key: np.array([output[key] for output in outputs]) for key in outputs[0]}
    missing = {}
    if name not in encoder.levels_ and np.isnan(X[:, columns[0]]).any():
        changed = rows.copy()
        changed[:, columns] = np.nan
        missing = _mean_outputs(model, changed)
    return Effect(name, values, curves, rug, missing=missing)


def _grid(observed):
    """Return the values that a column of numbers takes: its own if they are few, else a grid."""
    distinct = np.unique(observed)
    low, high = np.quantile(observed, [OUTER_SHARE, 1.0 - OUTER_SHARE])
    if len(distinct) <= EFFECT_POINTS // 2 or not high > low:
        return [float(value) for value in distinct]
    return [float(value) for value in np.linspace(low, high, EFFECT_POINTS)]


def _usual_range(observed):
    """Return the range of a column without its rare ends, or all of it where it is mostly one."""
    low, high = np.quantile(observed, [OUTER_SHARE, 1.0 - OUTER_SHARE])
    return (low, high) if high > low else (observed.min(), observed.max())


def _output_names(model):
    """Return the names of the outputs: the prediction, or the score of each class."""
    if not hasattr(model, "classes_"):
        levels = getattr(model.loss, "n_levels", 1)  # a name has one
        if levels == 1:
            return ["prediction"]
        return [f"quantile {level:g}" for level in model.loss.quantile]
    classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    return [f"score of {label}" for label in classes]


def _mean_outputs(model, rows):
    """Return the mean outputs by name."""
    scored = hasattr(model, "classes_")
    outputs = model.decision_function(rows) if scored else model.predict(rows)
    means = outputs.reshape(len(rows), -1).mean(axis=0)
    return {name: float(mean) for name, mean in zip(_output_names(model), means, strict=True)}
