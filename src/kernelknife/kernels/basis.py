"""Small sets of functions of one column each, for kernels that add up separate effects.

An additive kernel sees a column through a few functions ``phi_j``: smooth curves for a column of
numbers, one function per level for a column of few values. They are learned from training rows:

* a smooth column gets the leading eigenfunctions of a one-dimensional Gaussian kernel, whose
  natural decay makes smooth shapes cheap and wiggly ones dear;
* a heavy-tailed column is looked at through its ranks, so that its bulk keeps its resolution;
* a column of few values gets the indicators of its levels, so that their order and spacing do not
  matter.

A kernel of distances sees every column through one function instead, which draws in its tails: see
:func:`make_bent_basis`.

All functions are centered on the training rows, and the mean square of ``|phi_j|`` is 1 there.
Outside the range seen in training a curve stays at its last value, and a new level has no effect.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from kernelknife._utils.arrays import like, namespace

__all__ = ["Basis", "Curve", "Levels", "make_basis", "make_bent_basis"]

GRID = 65  # points that a curve is tabulated at: a tenth of a standard deviation apart
# A normal column has an interquartile range of 1.35 standard deviations; one of less than this
# many has most of its rows crowded together beside a few far ones.
HEAVY_TAILED = 0.9
QUANTILES = 33  # of a heavy-tailed column, that its ranks are interpolated through
WORKING_NUMBERS = 4_000_000  # size of the array of kernel values made at a time
SMALLEST_RANK = 1e-9  # of a row, as a share of all: six standard deviations out
SMALL_EIGENVALUE = 1e-10  # share of the largest below which a direction of the knots is rounding


@dataclass(frozen=True)
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

    def __call__(self, z: Any) -> Any:
        """Return the functions at the values ``z``, shape (n, r)."""
        xp = namespace(z)
        z = z + 0.0  # a column of a matrix, which some libraries search slowly and complain of
        positions, table = like(self.positions, z), like(self.table, z)
        after = xp.clip(xp.searchsorted(positions, z), 1, len(self.positions) - 1)
        low, high = xp.take(positions, after - 1, axis=0), xp.take(positions, after, axis=0)
        share = xp.clip((z - low) / (high - low), 0.0, 1.0)[:, None]
        below, above = xp.take(table, after - 1, axis=0), xp.take(table, after, axis=0)
        return below + share * (above - below)

    def grid(self, n: int) -> np.ndarray:
        """Return values of the column to draw the functions at."""
        where = np.linspace(0, len(self.positions) - 1, n)
        return np.interp(where, np.arange(len(self.positions)), self.positions)


@dataclass(frozen=True)
class Levels:
    """Functions of a column of few values: one row of the table for each of them.

    Attributes
    ----------
    values : ndarray of shape (g,)
    table : ndarray of shape (g, r)
    """

    values: np.ndarray
    table: np.ndarray

    def __call__(self, z: Any) -> Any:
        """Return the functions at the values ``z``; zeros for a value that is not known."""
        xp = namespace(z)
        values = like(self.values, z)
        # Standardized values of one level may differ by rounding.
        gap = 1e-6 * float(np.abs(self.values).max(initial=1.0))
        same = xp.abs(z[:, None] - values[None, :]) <= gap
        return xp.astype(same, values.dtype) @ like(self.table, z)

    def grid(self, n: int) -> np.ndarray:
        """Return the levels."""
        return self.values


@dataclass(frozen=True)
class Basis:
    """The functions of all columns.

    Attributes
    ----------
    functions : tuple of Curve or Levels
        One entry per column.
    """

    functions: tuple

    @property
    def widths(self) -> np.ndarray:
        """Number of functions of every column."""
        return np.array([function.table.shape[1] for function in self.functions], dtype=int)

    @property
    def sources(self) -> np.ndarray:
        """Column that each function belongs to."""
        return np.repeat(np.arange(len(self.functions)), self.widths)

    def expand(self, Z: Any) -> Any:
        """Return all functions of standardized columns, those of one column side by side."""
        if not self.functions:
            return Z
        parts = [function(Z[:, j]) for j, function in enumerate(self.functions)]
        return namespace(Z).concat(parts, axis=1)

    def restricted(self, columns: np.ndarray) -> "Basis":
        """Return the functions of some columns."""
        return Basis(tuple(self.functions[j] for j in columns))

    def shared(self, groups: np.ndarray) -> "Basis":
        """Return the basis of groups of columns, each group with a mean square norm of 1."""
        share = 1.0 / np.sqrt(np.bincount(groups)[groups])
        scaled = []
        for function, factor in zip(self.functions, share, strict=True):
            kind = type(function)
            where = function.positions if kind is Curve else function.values
            scaled.append(kind(where, factor * function.table))
        return Basis(tuple(scaled))


def make_basis(
    Z: np.ndarray, s: np.ndarray, *, gamma: float, n_functions: int, n_knots: int
) -> Basis:
    """Learn the functions of every column.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Standardized training rows.
    s : ndarray of shape (n,)
        Their weights, positive.
    gamma : float
        Inverse squared width of the Gaussian kernel whose eigenfunctions the curves are.
    n_functions : int
        Number of functions of a column of numbers.
    n_knots : int
        Number of quantiles that the kernel is represented at.
    """
    share = s / s.sum()
    functions: list = [None] * Z.shape[1]
    smooth = []
    for j in range(Z.shape[1]):
        values = _few_values(Z[:, j], n_functions + 1)
        if values is None:
            smooth.append(j)
        else:
            functions[j] = _levels(Z[:, j], values, share)
    chunk = max(1, WORKING_NUMBERS // (len(Z) * n_knots))
    for first in range(0, len(smooth), chunk):
        columns = smooth[first : first + chunk]
        curves = _curves(Z[:, columns], share, gamma, n_functions, n_knots)
        for j, curve in zip(columns, curves, strict=True):
            functions[j] = curve
    return Basis(tuple(functions))


def make_bent_basis(Z: np.ndarray, s: np.ndarray) -> Basis:
    """Learn one increasing function of every column: the mean of the column and its normal scores.

    Distances between raw values are those of the few rows in a long tail, and distances between
    ranks forget by how much values differ. The mean of both keeps the bulk of a column apart and
    its tails within reach. A normal column stays as it is, and so does a column of two values.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Standardized training rows.
    s : ndarray of shape (n,)
        Their weights, positive.
    """
    share = s / s.sum()
    return Basis(tuple(_bent(z, share) for z in Z.T))


def _bent(z: np.ndarray, share: np.ndarray) -> Curve | Levels:
    values, which = np.unique(z, return_inverse=True)
    if len(values) == 1:
        # Only other rows than these have other values: nothing is known of them.
        return Levels(values, np.zeros((1, 1)))
    mass = np.bincount(which, share)
    # In the middle of its own mass, so that equal values have one rank, and no end is infinite,
    # not even that of a row with hardly any weight.
    ranks = np.clip(np.cumsum(mass) - 0.5 * mass, SMALLEST_RANK, 1.0 - SMALLEST_RANK)
    scores = ndtri(ranks)
    bent = _standardized(values, mass) + _standardized(scores, mass)
    kept = np.unique(np.linspace(0, len(values) - 1, GRID).round().astype(int))
    table = np.interp(values, values[kept], bent[kept])
    return Curve(values[kept], _standardized(table, mass)[kept][:, None])


def _standardized(values: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return values of mean 0 and mean square 1, each of them with a share of the rows."""
    centered = values - mass @ values
    return centered / np.sqrt(max(float(mass @ (centered * centered)), 1e-300))


def _few_values(z: np.ndarray, most: int) -> np.ndarray | None:
    """Return the distinct values of a column, None where there are more than ``most``."""
    # A few rows tell most columns of numbers apart without sorting all of them.
    if len(np.unique(z[: 4 * most])) > most:
        return None
    values = np.unique(z)
    return values if len(values) <= most else None


def _levels(z: np.ndarray, values: np.ndarray, share: np.ndarray) -> Levels:
    """Return centered indicators; of two levels one function says it all."""
    indicators = (z[:, None] == values[None, :]).astype(float)
    means = share @ indicators
    table = np.eye(len(values)) - means
    if len(values) == 2:
        table = table[:, :1]
    size = np.sqrt(max(float(means @ (table * table).sum(axis=1)), 1e-300))
    return Levels(values, table / size)


def _curves(
    Z: np.ndarray, share: np.ndarray, gamma: float, n_functions: int, n_knots: int
) -> list[Curve]:
    """Return the curves of some columns, all of them worked on at a time."""
    T, grids, positions = _arguments(Z, share)
    steps = np.linspace(0.0, 1.0, n_knots)
    knots = np.sort(_quantiles(T, share, steps), axis=0)
    # Features whose products are the Gaussian kernel's values, projected onto the knots.
    among = _gaussian(knots.T, knots.T, gamma)
    values, vectors = np.linalg.eigh(among)
    large = values > SMALL_EIGENVALUE * values[:, -1:]
    root = vectors * np.where(large, 1.0 / np.sqrt(np.where(large, values, 1.0)), 0.0)[:, None, :]
    rows = _gaussian(T.T, knots.T, gamma) @ root
    rows -= (share @ rows)[:, None, :]
    # Their principal components are the eigenfunctions, the largest ones last.
    covariance = np.swapaxes(rows * share[None, :, None], 1, 2) @ rows
    axes = np.linalg.eigh(covariance)[1][:, :, : -n_functions - 1 : -1]
    tables = _gaussian(grids.T, knots.T, gamma) @ (root @ axes)
    curves = []
    for j in range(Z.shape[1]):
        curve = Curve(positions[j], tables[j])
        at_rows = curve(Z[:, j])
        mean = share @ at_rows
        size = np.sqrt(max(float(share @ ((at_rows - mean) ** 2).sum(axis=1)), 1e-300))
        # The sign of an eigenvector means nothing; fixed, it does not depend on the model.
        sign = np.where(tables[j][-1] < tables[j][0], -1.0, 1.0)
        curves.append(Curve(positions[j], (tables[j] - mean) * sign / size))
    return curves


def _gaussian(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    """Return the Gaussian kernel of the values in each row of A and B, shape (p, a, b)."""
    gap = A[:, :, None] - B[:, None, :]
    return np.exp(-gamma * gap * gap)


def _arguments(Z: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return what the curves are functions of: the columns, or normal scores of heavy-tailed ones.

    With it a grid of arguments for every column, and the columns' values that it belongs to.
    """
    low, high = Z.min(axis=0), Z.max(axis=0)
    quartiles = _quantiles(Z, share, np.array([0.25, 0.75]))
    mean = share @ Z
    deviation = np.sqrt(share @ (Z - mean) ** 2)
    heavy = quartiles[1] - quartiles[0] < HEAVY_TAILED * deviation
    steps = np.linspace(0.0, 1.0, GRID)
    T, grids = Z.copy(), low + np.multiply.outer(steps, high - low)
    positions = [grids[:, j].copy() for j in range(Z.shape[1])]
    probabilities = np.linspace(0.0, 1.0, QUANTILES)
    # The ends of the normal distribution are infinite; those of half a quantile are not.
    scores = ndtri(np.clip(probabilities, 0.5 / QUANTILES, 1.0 - 0.5 / QUANTILES))
    for j in np.flatnonzero(heavy):
        quantiles, index = np.unique(
            _quantiles(Z[:, [j]], share, probabilities)[:, 0], return_index=True
        )
        if len(quantiles) < 3:
            continue
        T[:, j] = np.interp(Z[:, j], quantiles, scores[index])
        grids[:, j] = np.linspace(scores[index][0], scores[index][-1], GRID)
        positions[j] = np.interp(grids[:, j], scores[index], quantiles)
    return T, grids, positions


def _quantiles(Z: np.ndarray, share: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return weighted quantiles of every column, shape (len(probabilities), p).

    They are values of rows, so that a row of weight 2 is the same as two rows.
    """
    order = np.argsort(Z, axis=0)
    reached = np.cumsum(share[order], axis=0)
    ranked = np.take_along_axis(Z, order, axis=0)
    # A little less, so that rounding in the sums does not decide between two rows.
    index = np.stack([(reached < probability - 1e-9).sum(axis=0) for probability in probabilities])
    return np.take_along_axis(ranked, np.minimum(index, len(Z) - 1), axis=0)
