"""The effects that an additive or ANOVA model is made of: shares, curves, surfaces, values at rows.

The mathematics is in :mod:`kernelknife._engine.effects`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._engine.effects import EffectMoments, column_terms, effect_term
from kernelknife._engine.model import Model
from kernelknife._utils.messages import import_optional

__all__ = ["Effect", "EffectShare", "EffectTable", "decompose", "evaluate_effect", "rank_effects"]

GAP = "{} is missing"  # what the effect of gaps in a column is called
GRID_POINTS = 50  # values of a column that an effect is evaluated at, unless it has few


@dataclass(frozen=True)
class EffectShare:
    """How much one effect contributes.

    Attributes
    ----------
    names : tuple of str
        One column for a main effect, two for a pair, three for a triple. Gaps in a column have
        effects of their own, called "age is missing".
    share : float
        Its part of the variance of the fitted function: its covariance with the function, divided
        by the function's variance, both over the training rows by their weights. The shares of all
        effects add up to 1; one that works against correlated others may be negative.
    columns : tuple of int
        Indices of these columns, which :meth:`kernelknife.KnifeRegressor.effect` takes as well.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(100, 4))
    >>> model = KnifeRegressor(kernel="additive", sparsity=5.0).fit(X, X[:, 2] ** 2)
    >>> model.effects()[0]  # doctest: +ELLIPSIS
    EffectShare(names=('x2',), share=1.0..., columns=(2,))
    """

    names: tuple[str, ...]
    share: float
    columns: tuple[int, ...]


@dataclass(frozen=True)
class EffectTable:
    """All effects of a model, the largest first.

    Attributes
    ----------
    effects : tuple of EffectShare
        The effects, the largest share first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 5))
    >>> y = 3 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    >>> table = KnifeRegressor(kernel="anova", sparsity=3.0).fit(X, y).effects()
    >>> [effect.names for effect in table][:2]
    [('x0',), ('x1', 'x2')]
    """

    effects: tuple[EffectShare, ...]

    def __iter__(self) -> Any:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def __getitem__(self, i: int) -> EffectShare:
        return self.effects[i]

    def to_frame(self) -> Any:
        """Return a pandas data frame with the columns ``effect``, ``order`` and ``share``.

        Returns
        -------
        DataFrame
            One row per effect, the largest first.
        """
        pandas = import_optional("pandas", "pandas", "EffectTable.to_frame")
        return pandas.DataFrame(
            {
                "effect": [" x ".join(effect.names) for effect in self.effects],
                "order": [len(effect.names) for effect in self.effects],
                "share": [effect.share for effect in self.effects],
            }
        )


@dataclass(frozen=True)
class Effect:
    """One effect on a grid of values.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    grids : tuple of ndarray
        Values of each column, in the user's units. For gaps in a column these are 0 and 1.
    values : ndarray of shape (len(grids[0]), ...) or with one more axis for several outputs
        What the effect adds to the prediction of a regressor, or to the score of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(100, 4))
    >>> model = KnifeRegressor(kernel="additive", sparsity=5.0).fit(X, X[:, 2] ** 2)
    >>> parabola = model.effect("x2")
    >>> bool(parabola.values[0] > 0 > parabola.values[len(parabola.values) // 2])
    True
    """

    names: tuple[str, ...]
    grids: tuple[np.ndarray, ...]
    values: np.ndarray


def decompose(model: Model, Z: np.ndarray) -> tuple[np.ndarray, dict[tuple[int, ...], np.ndarray]]:
    """Return the constant, shape (k,), and the values of every effect at some rows.

    Parameters
    ----------
    model : Model
        Of an additive or ANOVA kernel.
    Z : ndarray of shape (n, d)
        What the model's kernel sees of the rows.

    Returns
    -------
    constant : ndarray of shape (k,)
    effects : dict
        From columns (positions among the selected ones) to arrays of shape (n, k), on the scale
        of the scores. Constant and effects add up to the scores.
    """
    order, moments = _order(model), _moments(model)
    terms = column_terms(model.columns, model.v, Z, model.vectors)
    effects = {
        chosen: effect_term([terms[j] for j in chosen], order, model.coef) - mean
        for chosen, mean in zip(moments.columns, moments.means, strict=True)
    }
    return model.intercept + moments.means.sum(axis=0), effects


def _moments(model: Model) -> EffectMoments:
    """Return the moments of a model's effects over its training rows."""
    if model.moments is not None:
        return model.moments
    if not len(model.columns.index):
        return EffectMoments([], np.zeros((0, len(model.intercept))), np.zeros(0))
    raise ValueError(
        f"The effects of {len(model.columns.index)} columns and of what they do together are too "
        "many to be measured: select fewer columns with a larger sparsity or n_features_to_select."
    )


def _order(model: Model) -> int:
    """Return how many columns act together at most; raise for kernels without effects."""
    order = model.kernel.order
    if not order:
        raise ValueError(
            f"{model.kernel!r} is one joint function of its columns and has no separate effects: "
            "fit with kernel='additive' or kernel='anova'."
        )
    return order


def rank_effects(model: Model, names: np.ndarray) -> EffectTable:
    """Return all effects with their shares of the fitted variance, the largest first."""
    _order(model)
    moments, words = _moments(model), part_names(model, names)
    source = model.columns.index[model.columns.parts[1]]
    shares = [
        EffectShare(
            tuple(words[j] for j in chosen),
            float(share),
            tuple(int(source[j]) for j in chosen),
        )
        for chosen, share in zip(moments.columns, moments.shares, strict=True)
    ]
    return EffectTable(tuple(sorted(shares, key=lambda effect: -effect.share)))


def evaluate_effect(model: Model, names: np.ndarray, wanted: tuple[Any, ...]) -> Effect:
    """Return one effect on a grid of its columns' values.

    Parameters
    ----------
    model : Model
    names : ndarray of str
        Names of all columns of the user.
    wanted : tuple of str or int
        One to three of the selected columns, by name or index.
    """
    order = _order(model)
    chosen = tuple(_position(model, names, column) for column in wanted)
    if not 1 <= len(chosen) <= order or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"{model.kernel!r} has effects of 1 to {order} different columns, got {wanted!r}."
        )
    of_part = model.columns.parts[0]
    terms, units = [], []
    for axis, j in enumerate(chosen):
        mine = of_part == j
        grid, seen = _functions(model, j)
        units.append(grid)
        term = (seen * model.v[mine]) @ model.vectors[:, mine].T
        shape = [1] * len(chosen) + [term.shape[1]]
        shape[axis] = len(grid)
        terms.append(term.reshape(shape))
    mean = _moments(model).mean(chosen)
    values = (effect_term(terms, order, model.coef) - mean) * model.targets.scale
    if model.targets.squeeze:
        values = values[..., 0]
    words = part_names(model, names)
    return Effect(tuple(words[j] for j in chosen), tuple(units), values)


def _functions(model: Model, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a part of a column, in the user's units, and its functions there."""
    columns = model.columns
    _, source, is_gap = columns.parts
    if is_gap[j]:
        return np.array([0.0, 1.0]), np.array([[0.0], [1.0]])
    basis, k = columns.basis, source[j]
    assert basis is not None  # as of every kernel with effects
    curve = basis.curve(k)
    grid = curve.grid(GRID_POINTS)
    return grid * columns.scale[k] + columns.center[k], curve(grid)


def part_names(model: Model, names: np.ndarray) -> list[str]:
    """Return the names of what has effects: the selected columns, and the gaps in them."""
    _, source, is_gap = model.columns.parts
    found = [str(names[j]) for j in model.columns.index[source]]
    return [GAP.format(name) if gap else name for name, gap in zip(found, is_gap, strict=True)]


def _position(model: Model, names: np.ndarray, column: Any) -> int:
    """Return where a column, or the gaps in one, stand among the parts of the selected columns."""
    index = model.columns.index
    if isinstance(column, (int, np.integer)):
        _, source, is_gap = model.columns.parts
        where = np.flatnonzero((index[source] == column) & ~is_gap)
    else:
        where = np.flatnonzero(np.array(part_names(model, names), dtype=object) == column)
    if not len(where):
        shown = ", ".join(str(names[j]) for j in index[:10])
        raise ValueError(f"{column!r} is not a selected column. Selected are: {shown or 'none'}.")
    return int(where[0])
