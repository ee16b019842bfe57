"""Products of two or three features that tell something about the target.

A pure interaction leaves no trace in its features alone. A start that weighs features one by one
misses it, and one that has all features in one kernel sees it drown in the others. But all
products of two features with the target are one matrix product, and those of three are a few.
"""

from functools import reduce

import numpy as np

__all__ = ["affordable_rows", "interacting_features"]

# Products of noise stay below sqrt(2 log N), N their number, as a rule; what tells something is
# this much above, in standard deviations.
MARGIN = 1.5
MOST_STEPS = 2e9  # multiplications; beyond, some of the rows have to do
LEAST_ROWS = 100  # but not fewer: the order is left out
BLOCK = 250_000  # numbers in a block of products
MOST_CANDIDATES = 50  # products of one order that are looked at closely, the strongest ones
MOST_FEATURES = 12


def interacting_features(X, Y, weight):
    """Return the columns whose products go with a target, those of the strongest first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    Y : ndarray of shape (n, k)
    weight : ndarray of shape (n,)
        Of the rows, positive.

    Returns
    -------
    ndarray of int
        At most twelve. Products of features that all tell something alone do not count: no
        start misses those.
    """
    total = weight.sum()
    # Bounded, so that no product is a matter of a few rows; single, for these are rough figures.
    U = _standardized(np.tanh(_standardized(X, weight)), weight).astype(np.float32)
    p, strong = U.shape[1], []
    for y in _standardized(Y, weight).T:
        t = _unit(weight * y)
        alone = np.abs(t @ U) > _bound(p)
        for members in _candidates(U, t, alone, Y.shape[1]):
            product = reduce(np.multiply, (U[:, j] for j in members))
            # Features that go together make products that vary more.
            spread = np.sqrt(weight @ product**2 / total)
            size = abs(float(t @ product)) / max(float(spread), 1.0)
            if size > _bound_of(len(members), p):
                strong.append((size, members))
    strong.sort(key=lambda entry: -entry[0])
    chosen: dict[int, None] = {}
    for _, members in strong:
        if len(chosen.keys() | set(members)) <= MOST_FEATURES:
            chosen.update(dict.fromkeys(members))
    return np.array(list(chosen), dtype=int)


def affordable_rows(p, n_outputs, order=2):
    """Return with how many rows the products of so many columns can be looked at, 0 for none."""
    steps = p**2 if order == 2 else p**3 / 3.0
    rows = int(MOST_STEPS / (steps * n_outputs))
    return rows if rows >= LEAST_ROWS else 0


def _standardized(A, weight):
    """Return the columns centred and scaled, zeros for those that are constant but for rounding."""
    size = np.abs(A).max(axis=0)
    A = A - weight @ A / weight.sum()
    spread = np.sqrt(weight @ A**2 / weight.sum())
    varies = spread > 1e-10 * size
    return A / np.where(varies, spread, 1.0) * varies


def _unit(t):
    """Return ``t`` such that its sum with noise of variance 1 has variance 1."""
    size = np.linalg.norm(t)
    return (t / size if size > 0 else t).astype(np.float32)


def _bound(count):
    """What the largest of so many standard normal numbers stays below."""
    return np.sqrt(2.0 * np.log(max(count, 2))) + MARGIN


def _bound_of(order, p):
    """The same for all products of so many of ``p`` columns."""
    pairs = p * (p - 1) / 2
    return _bound(pairs if order == 2 else pairs * (p - 2) / 3)


def _candidates(U, t, alone, n_outputs):
    """Yield pairs and triples of columns whose product with ``t`` has a large sum.

    Those with all members in ``alone`` are left out.
    """
    n, p = U.shape
    for order, sums in ((2, _pair_sums), (3, _triple_sums)):
        most = affordable_rows(p, n_outputs, order)
        if p < order or not most:
            continue
        rows: np.ndarray | slice = slice(None)
        if most < n:
            rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        yield from _strongest(sums(U[rows], _unit(t[rows]), alone), _bound_of(order, p))


def _pair_sums(U, t, alone):
    """Yield the sums of all products of two columns, and the first columns."""
    sums = (U * t[:, None]).T @ U
    np.fill_diagonal(sums, 0.0)
    sums[np.ix_(alone, alone)] = 0.0
    yield sums, (0, 0)


def _triple_sums(U, t, alone):
    """Yield blocks of the sums of all products of three columns, and the first columns of each."""
    n, p = U.shape
    rows = np.ascontiguousarray(U.T)
    first = 0
    while first < p - 2:
        rest = rows[first + 1 :]
        size = max(1, min(BLOCK // (n * len(rest)), p - 2 - first))
        left = (rows[first : first + size] * t)[:, None, :] * rest
        T = (left.reshape(-1, n) @ rest.T).reshape(size, len(rest), len(rest))
        # No column twice.
        np.einsum("jkk->jk", T)[...] = 0.0
        j = np.arange(1, size)
        T[j, j - 1, :] = 0.0
        T[j, :, j - 1] = 0.0
        T[np.ix_(alone[first : first + size], alone[first + 1 :], alone[first + 1 :])] = 0.0
        yield T, (first, first + 1, first + 1)
        first += size


def _strongest(blocks, bound):
    """Return the columns of the largest sums beyond the bound, the largest first."""
    sizes: dict[tuple, float] = {}
    most = 6 * MOST_CANDIDATES  # a product of three columns may stand in six places
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
