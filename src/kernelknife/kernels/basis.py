"""Small sets of functions of one column each, for kernels that add up separate effects.

An additive kernel sees a column through a few smooth curves ``phi_j``, the leading eigenfunctions
of a one-dimensional Gaussian kernel, whose natural decay penalizes wiggly shapes more than smooth
ones. They are learned from training rows:

* a heavy-tailed column is replaced by normal scores, so that its bulk keeps its resolution;
* a column of few values has its curves tabulated at these values. It keeps their order and their
  distances, and between two of them the curves are straight lines. A column whose values are names
  is not one column of numbers but a group of indicators, which share a weight.

A kernel of distances sees every column through one function instead, which draws in its tails: see
:func:`make_bent_basis`.

All functions are centered on the training rows, and the mean square of ``|phi_j|`` is 1 there.
Outside the range seen in training a curve stays at its last value. The functions of a column are
learned from the values that are there; where one is missing, NaN, no function is asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from scipy.special import ndtri

from kernelknife._utils.arrays import Array, like, namespace

__all__ = ["Basis", "Curve", "make_basis", "make_bent_basis"]

GRID = 65  # points that a curve is tabulated at: a tenth of a standard deviation apart
# A normal column has an interquartile range of 1.35 standard deviations. Below this number, most
# rows are close together and a few are far away.
HEAVY_TAILED = 0.9
QUANTILES = 33  # of a heavy-tailed column, that its ranks are interpolated through
WORKING_NUMBERS = 400_000  # size of the array of kernel values made at a time: it stays in cache
SMALLEST_RANK = 1e-9  # of a row, as a share of all: six standard deviations out
SAME_VALUE = 1e-9  # standard deviations by which values differ that differ by rounding
SMALL_EIGENVALUE = 1e-10  # share of the largest below which a direction of the knots is rounding
# The bases made last, by the rows and options that they were made of, and how many numbers they may
# have together: all kernels and rounds of a search have those of a fold in common.
_MADE: "dict[tuple[object, ...], Basis]" = {}
REMEMBERED = 8_000_000


@dataclass(frozen=True, eq=False)
class Curve:
    """Functions of a column of numbers, tabulated and interpolated linearly.

    Attributes
    ----------
    positions : ndarray of shape (g,)
        Increasing values of the column.
    table : ndarray of shape (g, r)
        The functions at these values.
    """

    positions: np.ndarray
    table: np.ndarray

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the functions at the values ``z``, shape (n, r)."""
        values: np.ndarray = _Tables(self.positions[None], self.table[None]).evaluate(z[:, None])
        return values

    def grid(self, n: int) -> np.ndarray:
        """Return values of the column to draw the functions at: few values, or ``n`` of many."""
        if len(self.positions) < GRID:
            return self.positions
        where = np.linspace(0, len(self.positions) - 1, n)
        return np.asarray(np.interp(where, np.arange(len(self.positions)), self.positions))


@dataclass(frozen=True, eq=False)
class _Tables:
    """Curves of several columns, tabulated at equally many positions each.

    Attributes
    ----------
    positions : ndarray of shape (q, g)
    tables : ndarray of shape (q, g, r)
    """

    positions: np.ndarray
    tables: np.ndarray

    def evaluate(self, Z: Array) -> Array:
        """Return the functions of all columns, those of one side by side, shape (n, q r)."""
        xp = namespace(Z)
        q, g, r = self.tables.shape
        n = Z.shape[0]
        positions = like(self.positions.ravel(), Z)
        tables = like(self.tables.reshape(q * g, r), Z)
        first = _index(np.arange(q) * g, Z)[None, :]
        # A binary search in all columns at once, for the last position below each value.
        below = first * 0 + xp.zeros_like(Z, dtype=xp.int64)
        step = 1 << max((g - 1).bit_length() - 1, 0)
        while step:
            ahead = below + step
            inside = ahead <= g - 2
            where = xp.reshape(first + xp.where(inside, ahead, below), (-1,))
            there = xp.reshape(xp.take(positions, where, axis=0), (n, q))
            below = xp.where(inside & (there < Z), ahead, below)
            step >>= 1
        where = xp.reshape(first + below, (-1,))
        low = xp.reshape(xp.take(positions, where, axis=0), (n, q))
        high = xp.reshape(xp.take(positions, where + 1, axis=0), (n, q))
        # Two positions may be equal but for rounding.
        gap = xp.where(high > low, high - low, xp.ones_like(high))
        share = xp.reshape(xp.clip((Z - low) / gap, 0.0, 1.0), (-1, 1))
        here, after = xp.take(tables, where, axis=0), xp.take(tables, where + 1, axis=0)
        return xp.reshape(here + share * (after - here), (n, q * r))


@dataclass(frozen=True, eq=False)
class Basis:
    """The functions of all columns.

    Attributes
    ----------
    columns : tuple of ndarray
        Numbers of the columns of every part.
    positions : tuple of ndarray of shape (q, g)
        By part: increasing values of its columns.
    tables : tuple of ndarray of shape (q, g, r)
        By part: the functions of its columns at these values.
    """

    columns: tuple[np.ndarray, ...]
    positions: tuple[np.ndarray, ...]
    tables: tuple[np.ndarray, ...]

    @classmethod
    def of_curves(cls, curves: Sequence[Curve]) -> "Basis":
        """Return the basis of one curve per column; those of one shape are kept together."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for j, curve in enumerate(curves):
            shapes.setdefault(curve.table.shape, []).append(j)
        parts = list(shapes.values())
        return cls(
            tuple(np.array(part) for part in parts),
            tuple(np.stack([curves[j].positions for j in part]) for part in parts),
            tuple(np.stack([curves[j].table for j in part]) for part in parts),
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(map(len, self.columns))

    @property
    def widths(self) -> np.ndarray:
        """Number of functions of every column."""
        widths = np.zeros(self.n_columns, dtype=int)
        for columns, table in zip(self.columns, self.tables, strict=True):
            widths[columns] = table.shape[2]
        return widths

    @property
    def n_numbers(self) -> int:
        """Number of values that are kept of all functions."""
        return sum(array.size for array in (*self.positions, *self.tables))

    @property
    def sources(self) -> np.ndarray:
        """Column that each function belongs to."""
        return np.repeat(np.arange(self.n_columns), self.widths)

    def curve(self, j: int) -> Curve:
        """Return the functions of one column."""
        for columns, positions, tables in self._parts():
            place = np.flatnonzero(columns == j)
            if len(place):
                return Curve(positions[place[0]], tables[place[0]])
        raise IndexError(j)

    def expand(self, Z: Array) -> Array:
        """Return all functions of standardized columns, those of one column side by side."""
        if not self.columns:
            return Z
        xp = namespace(Z)
        parts = []
        for columns, positions, tables in self._parts():
            mine = Z if len(self.columns) == 1 else xp.take(Z, _index(columns, Z), axis=1)
            parts.append(_Tables(positions, tables).evaluate(mine))
        if len(parts) == 1:
            return parts[0]
        # Where the functions of the parts, one part after the other, belong.
        owner = np.concatenate(
            [np.repeat(c, t.shape[2]) for c, t in zip(self.columns, self.tables, strict=True)]
        )
        order = np.argsort(owner, kind="stable")
        return xp.take(xp.concat(parts, axis=1), _index(order, Z), axis=1)

    def restricted(self, columns: np.ndarray) -> "Basis":
        """Return the functions of some columns, in the order in which they are given."""
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(len(columns))
        parts = []
        for mine, positions, tables in self._parts():
            kept = np.flatnonzero(place[mine] >= 0)
            if len(kept):
                parts.append((place[mine[kept]], positions[kept], tables[kept]))
        # Columns of a part stand in increasing order.
        parts = [
            (mine[order], positions[order], tables[order])
            for mine, positions, tables in parts
            for order in [np.argsort(mine)]
        ]
        return Basis(*(tuple(part[i] for part in parts) for i in range(3)))

    def shared(self, groups: np.ndarray) -> "Basis":
        """Return the basis of groups of columns, each group with a mean square norm of 1."""
        share = 1.0 / np.sqrt(np.bincount(groups)[groups])
        tables = tuple(share[columns][:, None, None] * table for columns, _, table in self._parts())
        return replace(self, tables=tables)

    def with_curves(self, curves: dict[int, Curve]) -> "Basis":
        """Return the basis with other functions of some columns."""
        if not curves:
            return self
        return Basis.of_curves([curves.get(j) or self.curve(j) for j in range(self.n_columns)])

    def _parts(self) -> "zip[tuple[np.ndarray, np.ndarray, np.ndarray]]":
        return zip(self.columns, self.positions, self.tables, strict=True)


def _index(values: np.ndarray, x: Array) -> Array:
    """Return numbers of columns or rows as an array of the library, on the device, of ``x``."""
    return values if isinstance(x, np.ndarray) else namespace(x).asarray(values, device=x.device)


# -- curves of additive kernels -------------------------------------------------------------------


def make_basis(
    Z: np.ndarray, s: np.ndarray, *, gamma: float, n_functions: int, n_knots: int
) -> Basis:
    """Learn the functions of every column; those learned lately are not learned again.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Standardized training rows; NaN where a value is missing.
    s : ndarray of shape (n,)
        Their weights, positive.
    gamma : float
        Inverse squared width of the Gaussian kernel whose eigenfunctions the curves are.
    n_functions : int
        Number of functions of a column, one fewer than it has values at most.
    n_knots : int
        Number of quantiles that the kernel is represented at.
    """
    options = (gamma, n_functions, n_knots)
    key = (Z.shape, *(blake2b(np.ascontiguousarray(a).data).digest() for a in (Z, s)), options)
    # With a default, because starts in other threads may learn bases, too.
    basis = _MADE.pop(key, None) or _make_basis(Z, s / s.sum(), *options)
    left = REMEMBERED - basis.n_numbers
    for other, made in reversed(list(_MADE.items())):
        left -= made.n_numbers
        if left < 0:
            _MADE.pop(other, None)
    _MADE[key] = basis
    return basis


def _make_basis(
    Z: np.ndarray, share: np.ndarray, gamma: float, n_functions: int, n_knots: int
) -> Basis:
    Z, share = _without_gaps(Z, share)
    Z = _without_rounding(Z)
    ranked = np.sort(Z, axis=0)
    n_values = 1 + (ranked[1:] > ranked[:-1]).sum(axis=0)
    parts: list[tuple[np.ndarray, ...]] = []
    chunk = max(1, WORKING_NUMBERS // (len(Z) * n_knots))
    for g in np.unique(np.minimum(n_values, n_knots + 1)):
        mine = np.flatnonzero(np.minimum(n_values, n_knots + 1) == g)
        tabulated = [
            _few_valued(Z[:, some], _of_columns(share, some), gamma, n_functions, int(g))
            if g <= n_knots
            else _many_valued(Z[:, some], _of_columns(share, some), gamma, n_functions, n_knots)
            for some in np.split(mine, range(chunk, len(mine), chunk))
        ]
        parts.append((mine, *(np.concatenate(part) for part in zip(*tabulated, strict=True))))
    return Basis(*(tuple(part[i] for part in parts) for i in range(3)))


def _without_gaps(Z: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return columns without gaps, and the share of every row, or of every row in each column.

    A gap gets a value that its column has elsewhere, and no share, so that it changes nothing.
    """
    gap = np.isnan(Z)
    if not gap.any():
        return Z, share
    first = np.argmin(gap, axis=0)  # of a column of gaps alone it is one, and becomes zero
    elsewhere = np.nan_to_num(Z[first, np.arange(Z.shape[1])])
    each = np.where(gap, 0.0, share[:, None])
    total = each.sum(axis=0)
    each = np.where(total > 0, each / np.where(total > 0, total, 1.0), share[:, None])
    return np.where(gap, elsewhere, Z), each


def _of_columns(share: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the shares of the rows in some columns; one share per row holds for all of them."""
    return share if share.ndim == 1 else share[:, columns]


def _average(share: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the average of every column, by shares of the rows or of each column."""
    return np.asarray(share @ values if share.ndim == 1 else (share * values).sum(axis=0))


def _without_rounding(Z: np.ndarray) -> np.ndarray:
    """Return the columns with values that differ by rounding alone made equal."""
    order = np.argsort(Z, axis=0)
    ranked = np.take_along_axis(Z, order, axis=0)
    close = ranked[1:] - ranked[:-1] <= SAME_VALUE
    if not (close & (ranked[1:] > ranked[:-1])).any():
        return Z
    first = np.where(close, 0, np.arange(1, len(Z))[:, None])
    first = np.maximum.accumulate(np.concatenate([np.zeros_like(first[:1]), first]))
    result = np.empty_like(Z)
    np.put_along_axis(result, order, np.take_along_axis(ranked, first, axis=0), axis=0)
    return result


def _few_valued(
    Z: np.ndarray, share: np.ndarray, gamma: float, n_functions: int, g: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and tables of columns that have ``g`` values each: the curves at these."""
    ranked = np.sort(Z, axis=0)
    # Every column has as many first occurrences, so that they make a matrix.
    new = np.concatenate([np.ones((1, Z.shape[1]), dtype=bool), ranked[1:] > ranked[:-1]])
    values = ranked.T[new.T].reshape(Z.shape[1], g)
    if g == 1:
        # Rows with other values may follow, and the training rows determine nothing for these.
        return np.repeat(values, 2, axis=1), np.zeros((len(values), 2, 1))
    mass = np.stack([_average(share, values[:, i] == Z) for i in range(g)], axis=1)
    T = np.where(_heavy(Z, share)[:, None], _mid_rank_scores(mass), values)
    tables = _eigenfunctions(T, T, T, mass, gamma, min(n_functions, g - 1))
    return values, _of_unit_size(tables, tables, mass)


def _many_valued(
    Z: np.ndarray, share: np.ndarray, gamma: float, n_functions: int, n_knots: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and tables of columns that have many values."""
    T, grids, positions = _arguments(Z, share)
    knots = np.sort(_quantiles(T, share, np.linspace(0.0, 1.0, n_knots)), axis=0).T
    mass = np.broadcast_to(share.T, (Z.shape[1], len(Z)))
    tables = _eigenfunctions(T.T, knots, grids, mass, gamma, n_functions)
    q, _, r = tables.shape
    at_rows = _Tables(positions, tables).evaluate(Z).reshape(len(Z), q, r)
    return positions, _of_unit_size(tables, np.swapaxes(at_rows, 0, 1), mass)


def _eigenfunctions(
    T: np.ndarray, knots: np.ndarray, grids: np.ndarray, mass: np.ndarray, gamma: float, r: int
) -> np.ndarray:
    """Return the leading eigenfunctions of the Gaussian kernel on grids, shape (q, g, r).

    Of values ``T`` with shares ``mass``, both of shape (q, n), represented at knots.
    """
    # Features whose products are the Gaussian kernel's values, projected onto the knots.
    values, vectors = np.linalg.eigh(_gaussian(knots, knots, gamma))
    large = values > SMALL_EIGENVALUE * values[:, -1:]
    some = slice(int(np.argmax(large.any(axis=0))), None)
    values, vectors, large = values[:, some], vectors[:, :, some], large[:, some]
    root = vectors * np.where(large, 1.0 / np.sqrt(np.where(large, values, 1.0)), 0.0)[:, None, :]
    rows = _gaussian(T, knots, gamma) @ root
    rows -= mass[:, None, :] @ rows
    # Their principal components are the eigenfunctions, the largest ones last.
    covariance = np.swapaxes(rows * mass[:, :, None], 1, 2) @ rows
    axes = np.linalg.eigh(covariance)[1][:, :, : -r - 1 : -1]
    return np.asarray(_gaussian(grids, knots, gamma) @ (root @ axes))


def _of_unit_size(tables: np.ndarray, at_rows: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return tables whose functions are centered over the rows, with a mean square norm of 1."""
    mean = mass[:, None, :] @ at_rows
    squares = ((at_rows - mean) ** 2).sum(axis=2)
    size = np.sqrt(np.maximum((mass * squares).sum(axis=1), 1e-300))
    # The sign of an eigenvector is arbitrary; fixed, it does not depend on the computer.
    sign = np.where(tables[:, -1:] < tables[:, :1], -1.0, 1.0)
    return np.asarray((tables - mean) * sign / size[:, None, None])


def _gaussian(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    """Return the Gaussian kernel of the values in each row of A and B, shape (q, a, b)."""
    gap = A[:, :, None] - B[:, None, :]
    return np.asarray(np.exp(-gamma * gap * gap))


def _heavy(Z: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return which columns have most rows close together and a few far away."""
    quartiles = _quantiles(Z, share, np.array([0.25, 0.75]))
    deviation = np.sqrt(_average(share, (Z - _average(share, Z)) ** 2))
    return np.asarray(quartiles[1] - quartiles[0] < HEAVY_TAILED * deviation)


def _mid_rank_scores(mass: np.ndarray) -> np.ndarray:
    """Return the normal scores of increasing values with shares ``mass``, along the last axis.

    In the middle of its own mass, so that equal values have one rank, and no end is infinite, not
    even that of a row with hardly any weight.
    """
    ranks = np.cumsum(mass, axis=-1) - 0.5 * mass
    return np.asarray(ndtri(np.clip(ranks, SMALLEST_RANK, 1.0 - SMALLEST_RANK)))


def _arguments(Z: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the curves are functions of: the columns, or normal scores of heavy-tailed ones.

    With it a grid of arguments for every column, shape (q, g), and the columns' values there.
    """
    low, high = Z.min(axis=0), Z.max(axis=0)
    steps = np.linspace(0.0, 1.0, GRID)
    T, grids = Z, low[:, None] + np.multiply.outer(high - low, steps)
    heavy = np.flatnonzero(_heavy(Z, share))
    if not len(heavy):
        return T, grids, grids
    T, positions = Z.copy(), grids.copy()
    probabilities = np.linspace(0.0, 1.0, QUANTILES)
    share = _of_columns(share, heavy)
    nodes = _quantiles(Z[:, heavy], share, probabilities).T
    # The ends of the normal distribution are infinite; those of half a quantile are not.
    scores = np.repeat(
        ndtri(np.clip(probabilities, 0.5 / QUANTILES, 1.0 - 0.5 / QUANTILES))[None], len(heavy), 0
    )
    for i in range(1, QUANTILES):
        # Of equal quantiles the first one counts.
        same = nodes[:, i] == nodes[:, i - 1]
        scores[same, i] = scores[same, i - 1]
    n_nodes = 1 + (nodes[:, 1:] > nodes[:, :-1]).sum(axis=1)
    for i in np.flatnonzero(n_nodes < QUANTILES // 2).tolist():
        # Most rows have one value: the others get ranks of their own.
        own = share if share.ndim == 1 else share[:, i]
        nodes[i], scores[i] = _nodes_beside_an_atom(Z[:, heavy[i]], own)
    T[:, heavy] = _Tables(nodes, scores[:, :, None]).evaluate(Z[:, heavy])
    first, last = scores[:, :1], scores[:, -1:]
    grids[heavy] = first + (last - first) * steps
    positions[heavy] = _Tables(scores, nodes[:, :, None]).evaluate(grids[heavy].T).T
    return T, grids, positions


def _nodes_beside_an_atom(z: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values spread over the distinct values of a column, and their normal scores."""
    values, which = np.unique(z, return_inverse=True)
    scores = _mid_rank_scores(np.bincount(which, share))
    kept = np.linspace(0, len(values) - 1, QUANTILES).round().astype(int)
    return values[kept], scores[kept]


def _quantiles(Z: np.ndarray, share: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return weighted quantiles of every column, shape (len(probabilities), p).

    They are means of values of rows, so that a row of weight 2 is the same as two rows, and those
    of a mirrored column are mirrored.
    """
    order = np.argsort(Z, axis=0)
    ordered = share[order] if share.ndim == 1 else np.take_along_axis(share, order, axis=0)
    reached = np.cumsum(ordered, axis=0)
    ranked = np.take_along_axis(Z, order, axis=0)
    found = np.zeros((len(probabilities), Z.shape[1]))
    # A little to both sides, so that rounding in the sums does not decide between two rows.
    for side in (-1e-9, 1e-9):
        index = np.stack([(reached < p + side).sum(axis=0) for p in probabilities])
        found += 0.5 * np.take_along_axis(ranked, np.minimum(index, len(Z) - 1), axis=0)
    return found


# -- the one function of a joint kernel -----------------------------------------------------------


def make_bent_basis(Z: np.ndarray, s: np.ndarray) -> Basis:
    """Learn one increasing function of every column: the mean of the column and its normal scores.

    Between raw values the largest distances are those of the few rows in a long tail, and between
    ranks it does not matter by how much values differ. The mean of both spreads out the bulk of a
    column and draws in its tails. Normal columns and columns of two values stay as they are.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Standardized training rows; NaN where a value is missing.
    s : ndarray of shape (n,)
        Their weights, positive.
    """
    Z, share = _without_gaps(Z, s / s.sum())
    shares = np.broadcast_to(share.T, Z.T.shape)
    return Basis.of_curves(list(map(_bent, _without_rounding(Z).T, shares)))


def _bent(z: np.ndarray, share: np.ndarray) -> Curve:
    values, which = np.unique(z, return_inverse=True)
    if len(values) == 1:
        # Rows with other values may follow, and the training rows determine nothing for these.
        return Curve(np.repeat(values, 2), np.zeros((2, 1)))
    mass = np.bincount(which, share)
    bent = _standardized(values, mass) + _standardized(_mid_rank_scores(mass), mass)
    # Counted from both ends, so that a mirrored column is mirrored.
    half = np.linspace(0.0, 0.5 * (len(values) - 1), GRID // 2 + 1).astype(int)
    kept = np.unique(np.concatenate([half, len(values) - 1 - half]))
    table = np.interp(values, values[kept], bent[kept])
    return Curve(values[kept], _standardized(table, mass)[kept][:, None])


def _standardized(values: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return values of mean 0 and mean square 1, each of them with a share of the rows."""
    centered: np.ndarray = values - mass @ values
    spread = math.sqrt(max(float(mass @ (centered * centered)), 1e-300))
    return centered / spread
