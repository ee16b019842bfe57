"""Search for pure interactions: products of two or three features correlated with the target.

No feature of a pure interaction has an effect of its own. A start that judges features one by one
misses it, and in a start with all features in one kernel it is hidden by the noise. But the
correlations of the target with all products of two features take one matrix product, and those with
all products of three features a few more.

Features and target are standardized here, so that under pure noise every sum below is about
standard normal.
"""

from collections.abc import Iterator
from functools import reduce
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

__all__ = ["affordable_rows", "interacting_features"]

Members: TypeAlias = tuple[int, ...]  # the columns of a product
# Sums of products over the rows, one axis per factor, and the column that each axis begins with.
SumBlock: TypeAlias = tuple[np.ndarray, tuple[int, ...]]

# The largest of N standard normal numbers is about sqrt(2 log N). A product counts when it is
# beyond that by this many standard deviations.
MARGIN = 1.5
# Multiplications that an order of products may cost. Those of pairs are one matrix product in
# single precision, half a minute of one core at the limit; a path of as many rows and columns takes
# longer. A larger problem uses only some of its rows.
MOST_STEPS = {2: 1e12, 3: 2e9}
# With fewer rows a product cannot be distinguished from noise; the order is then skipped.
LEAST_ROWS = 100
# Numbers in one block of pairs, 4 MB in single precision, and of triples, 1 MB: blocks that stay
# near the processor take a fifth of the time of large ones.
PAIR_BLOCK, BLOCK = 1_000_000, 250_000
# Products of each order whose size is computed on all rows; the strongest ones are taken.
MOST_CANDIDATES = 50
# Features whose weights a start raises, at most: more would hide each other in the kernel again.
MOST_FEATURES = 12
HEAVY_TAILED = 0.9  # interquartile range, in standard deviations; a normal column has 1.35
# A column whose spread is below this share of its largest value is constant but for rounding.
ROUNDING = 1e-10


def interacting_features(X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the columns whose products are correlated with a target, the strongest first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    Y : ndarray of shape (n, k)
    weight : ndarray of shape (n,)
        Sample weights, all positive.

    Returns
    -------
    ndarray of int
        At most ``MOST_FEATURES`` columns. A product whose features all have an effect of their
        own is left out: the other starts find these features.
    """
    X, Y, weight = _merge_equal_rows(X, Y, weight)
    # Single precision is enough for sums that are compared with the size of noise.
    U = _bounded(X, weight).astype(np.float32)
    strong = _strong_products(U, _standardize(Y, weight), weight)
    strong.sort(key=lambda entry: -entry[0])
    chosen: dict[int, None] = {}  # a set that keeps its order
    for _, members in strong:
        if len(chosen.keys() | set(members)) <= MOST_FEATURES:
            chosen.update(dict.fromkeys(members))
    return np.array(list(chosen), dtype=int)


def _merge_equal_rows(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every row once, with the sum of its weights: a row of weight two is two rows."""
    rows = np.ascontiguousarray(np.hstack([X, Y]))
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, owner = np.unique(whole, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X, Y, weight
    return X[first], Y[first], np.bincount(owner.ravel(), weight)


def _strong_products(
    U: np.ndarray, Y: np.ndarray, weight: np.ndarray
) -> list[tuple[float, Members]]:
    """Return size and columns of every product of columns that is beyond the size of noise."""
    (n, p), total = U.shape, weight.sum()
    strong = []
    for y in Y.T:
        t = _scale_to_unit(weight * y)
        single_effect = np.abs(t @ U) > _noise_bound(p, n)
        for members in _candidates(U, t, single_effect, Y.shape[1]):
            product = reduce(np.multiply, (U[:, j] for j in members))
            # The product of correlated features has a variance above 1, under pure noise too.
            spread = np.sqrt(weight @ product**2 / total)
            size = abs(float(t @ product)) / max(float(spread), 1.0)
            if size > _product_bound(len(members), p, n):
                strong.append((size, members))
    return strong


def affordable_rows(p: int, n_outputs: int, order: int = 2) -> int:
    """Return the number of rows that keeps the search within MOST_STEPS, 0 to skip it.

    Parameters
    ----------
    p : int
        Number of columns.
    n_outputs : int
        Number of targets; the search runs once for each.
    order : {2, 3}, default=2
        Number of columns in a product.
    """
    steps = p**2 if order == 2 else p**3 / 3.0  # multiplications per row
    rows = int(MOST_STEPS[order] / (steps * max(n_outputs, 1)))
    return rows if rows >= LEAST_ROWS else 0


def _bounded(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the columns standardized, so that no product depends on a few extreme rows.

    That is what the bounded tanh is for. Of a heavy-tailed column, such as an intensity, it sees
    one long side only: such a column is replaced by its normal scores.
    """
    Z = _standardize(X, weight)
    low, high = np.quantile(Z, [0.25, 0.75], axis=0)
    heavy = np.flatnonzero(high - low < HEAVY_TAILED)
    if len(heavy):
        # Equal values have the mean of their ranks.
        ranks = rankdata(Z[:, heavy], axis=0)
        Z[:, heavy] = ndtri((ranks - 0.5) / len(Z))
    return _standardize(np.tanh(_standardize(Z, weight)), weight)


def _standardize(A: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the columns centered and scaled; constant columns become zeros."""
    size = np.abs(A).max(axis=0)
    A = A - weight @ A / weight.sum()
    spread = np.sqrt(weight @ A**2 / weight.sum())
    varies = spread > ROUNDING * size
    return np.asarray(A / np.where(varies, spread, 1.0) * varies)


def _scale_to_unit(t: np.ndarray) -> np.ndarray:
    """Return ``t`` with norm 1: its product with noise of variance 1 then has variance 1."""
    size = float(np.linalg.norm(t))
    return np.asarray(t / size if size > 0 else t, dtype=np.float32)


def _noise_bound(count: float, n: int) -> float:
    """Return a bound that the largest of ``count`` sums of noise over ``n`` rows rarely exceeds.

    A sum is the square root of n times a correlation, whose Fisher transform is normal with a
    variance of 1 / (n - 3). With many rows the sum is normal itself.
    """
    bound = float(np.sqrt(2.0 * np.log(max(count, 2)))) + MARGIN
    return float(np.sqrt(n) * np.tanh(bound / np.sqrt(max(n - 3, 1))))


def _product_bound(order: int, p: int, n: int) -> float:
    """Return the noise bound for all products of ``order`` different ones of ``p`` columns."""
    pairs = p * (p - 1) / 2
    return _noise_bound(pairs if order == 2 else pairs * (p - 2) / 3, n)


def _candidates(
    U: np.ndarray, t: np.ndarray, single_effect: np.ndarray, n_outputs: int
) -> Iterator[Members]:
    """Yield the pairs and triples of columns whose product has a large sum with ``t``.

    Products whose columns all have a ``single_effect`` are left out.
    """
    n, p = U.shape
    for order, sums in ((2, _pair_sums), (3, _triple_sums)):
        most = affordable_rows(p, n_outputs, order)
        if p < order or not most:
            continue
        rows: np.ndarray | slice = slice(None)
        if most < n:
            rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        blocks = sums(U[rows], _scale_to_unit(t[rows]), single_effect)
        yield from _strongest(blocks, _product_bound(order, p, len(U[rows])))


def _pair_sums(U: np.ndarray, t: np.ndarray, single_effect: np.ndarray) -> Iterator[SumBlock]:
    """Yield blocks of the sums with ``t`` of all products of two columns, each pair once.

    With a block comes the column that each of its axes begins with. Sums of a column with itself,
    and of columns that all have a single effect, are set to zero.
    """
    p = U.shape[1]
    size = max(1, PAIR_BLOCK // p)
    for first in range(0, p, size):
        last = min(first + size, p)
        sums = (U[:, first:last] * t[:, None]).T @ U[:, first:]
        np.fill_diagonal(sums, 0.0)
        sums[np.ix_(single_effect[first:last], single_effect[first:])] = 0.0
        yield sums, (first, first)


def _triple_sums(U: np.ndarray, t: np.ndarray, single_effect: np.ndarray) -> Iterator[SumBlock]:
    """Yield blocks of the sums with ``t`` of all products of three columns, as for pairs."""
    n, p = U.shape
    rows = np.ascontiguousarray(U.T)
    first = 0
    while first < p - 2:
        rest = rows[first + 1 :]
        size = max(1, min(BLOCK // (n * len(rest)), p - 2 - first))
        left = (rows[first : first + size] * t)[:, None, :] * rest
        T = (left.reshape(-1, n) @ rest.T).reshape(size, len(rest), len(rest))
        # No column may occur twice in a product. T[j, k, l] belongs to the columns first + j,
        # first + 1 + k and first + 1 + l.
        np.einsum("jkk->jk", T)[...] = 0.0
        j = np.arange(1, size)
        T[j, j - 1, :] = 0.0
        T[j, :, j - 1] = 0.0
        others = single_effect[first + 1 :]
        T[np.ix_(single_effect[first : first + size], others, others)] = 0.0
        yield T, (first, first + 1, first + 1)
        first += size


def _strongest(blocks: Iterator[SumBlock], bound: float) -> list[Members]:
    """Return the columns of the largest sums above the bound, the largest first."""
    sizes: dict[Members, float] = {}
    most = 6 * MOST_CANDIDATES  # the same three columns may occur in six orders
    for sums, first in blocks:
        if max(sums.max(), -sums.min()) <= bound:
            continue
        flat = np.abs(sums).ravel()
        where = np.flatnonzero(flat > bound)
        if len(where) > most:
            where = where[np.argpartition(-flat[where], most)[:most]]
        members = np.sort(np.transpose(np.unravel_index(where, sums.shape)) + first, axis=1)
        sizes.update(zip(map(tuple, members.tolist()), flat[where], strict=True))
    return sorted(sizes, key=lambda members: -sizes[members])[:MOST_CANDIDATES]
