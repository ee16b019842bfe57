"""The effects that an additive or ANOVA model is made of.

With ``a_j = v_j phi_j(x_j)' phi_j(z_j)`` the kernel is ``s + s**2 / 2 (+ s**3 / 6)`` of
``s = sum_j a_j``, and multiplying out leaves terms of one column, of two and of three:

    a_j + a_j**2 / 2 (+ a_j**3 / 6)            what column j does alone
    a_j a_k (+ (a_j**2 a_k + a_j a_k**2) / 2)  what j and k do together
    a_j a_k a_l                                what three do together

Summed over the coefficients they are functions that can be drawn, and together with a constant they
are the prediction. Each is centered on the model's support vectors.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kernelknife._engine.model import Model
from kernelknife._utils.optional import import_optional

__all__ = ["Effect", "EffectShare", "EffectTable", "decompose", "evaluate_effect", "rank_effects"]

GRID_POINTS = 50  # values of a column that an effect is evaluated at, unless it has few


@dataclass(frozen=True)
class EffectShare:
    """How much one effect contributes.

    Attributes
    ----------
    names : tuple of str
        One column for a main effect, two for a pair, three for a triple.
    share : float
        Its part of the variance of the fitted function: its covariance with the function, divided
        by the function's variance. The shares of all effects add up to 1; one that works against
        correlated others may be negative.
    columns : tuple of int
        Indices of these columns, which :meth:`kernelknife.KnifeRegressor.effect` takes as well.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(100, 4))
    >>> model = KnifeRegressor(kernel="additive", sparsity=5.0).fit(X, X[:, 2] ** 2)
    >>> model.effects()[0]
    EffectShare(names=('x2',), share=1.0, columns=(2,))
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
        Values of each column, in the user's units.
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
    order = _order(model)
    parts = range(len(model.columns.index))
    rows, anchors = _column_terms(model, Z), _column_terms(model, model.vectors)
    constant, effects = model.intercept.copy(), {}
    for size in range(1, order + 1):
        for chosen in combinations(parts, size):
            middle = _term([anchors[j] for j in chosen], order, model.coef).mean(axis=0)
            effects[chosen] = _term([rows[j] for j in chosen], order, model.coef) - middle
            constant = constant + middle
    return constant, effects


def _order(model: Model) -> int:
    """Return how many columns act together at most; raise for kernels without effects."""
    order = model.kernel.order
    if not order:
        raise ValueError(
            f"{model.kernel!r} is one joint function of its columns and has no separate effects: "
            "fit with kernel='additive' or kernel='anova'."
        )
    return order


def _column_terms(model: Model, Z: np.ndarray) -> list[np.ndarray]:
    """Return ``a_j`` between some rows and the support vectors, for every column."""
    terms = []
    sources = model.columns.sources
    for j in range(len(model.columns.index)):
        mine = sources == j
        terms.append((Z[:, mine] * model.v[mine]) @ model.vectors[:, mine].T)
    return terms


def _term(factors: list[np.ndarray], order: int, coef: np.ndarray) -> np.ndarray:
    """Return one effect at some rows, not centered."""
    if len(factors) == 1:
        a = factors[0]
        series = a if order == 1 else a * (1.0 + 0.5 * a)
        if order == 3:
            series = series + a**3 / 6.0
    elif len(factors) == 2:
        a, b = factors
        series = a * b
        if order == 3:
            series = series * (1.0 + 0.5 * (a + b))
    else:
        series = factors[0] * factors[1] * factors[2]
    return series @ coef


def rank_effects(model: Model, names: np.ndarray) -> EffectTable:
    """Return all effects with their shares of the fitted variance, the largest first."""
    _, effects = decompose(model, model.vectors)
    total = np.sum(list(effects.values()), axis=0) if effects else np.zeros((1, 1))
    total = total - total.mean(axis=0)
    variance = max(float((total * total).sum()), 1e-300)
    shares = [
        EffectShare(
            tuple(str(names[model.columns.index[j]]) for j in chosen),
            float((values * total).sum() / variance),
            tuple(int(model.columns.index[j]) for j in chosen),
        )
        for chosen, values in effects.items()
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
    columns = model.columns
    functions = () if columns.basis is None else columns.basis.functions
    grids = [functions[j].grid(GRID_POINTS) for j in chosen]
    sources = columns.sources
    terms = []
    for axis, (j, grid) in enumerate(zip(chosen, grids, strict=True)):
        mine = sources == j
        seen = functions[j](grid)
        term = (seen * model.v[mine]) @ model.vectors[:, mine].T
        shape = [1] * len(chosen) + [term.shape[1]]
        shape[axis] = len(grid)
        terms.append(term.reshape(shape))
    anchors = _column_terms(model, model.vectors)
    middle = _term([anchors[j] for j in chosen], order, model.coef).mean(axis=0)
    values = (_term(terms, order, model.coef) - middle) * model.targets.scale
    if model.targets.squeeze:
        values = values[..., 0]
    units = tuple(
        grid * columns.scale[j] + columns.center[j] for j, grid in zip(chosen, grids, strict=True)
    )
    return Effect(tuple(str(names[columns.index[j]]) for j in chosen), units, values)


def _position(model: Model, names: np.ndarray, column: Any) -> int:
    """Return where a column stands among the selected ones."""
    index = model.columns.index
    if isinstance(column, (int, np.integer)):
        where = np.flatnonzero(index == column)
    else:
        where = np.flatnonzero(np.asarray(names)[index] == column)
    if not len(where):
        shown = ", ".join(str(names[j]) for j in index[:10])
        raise ValueError(f"{column!r} is not a selected column. Selected are: {shown or 'none'}.")
    return int(where[0])
