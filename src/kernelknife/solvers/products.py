"""Products of two or three features that tell something about the target.

A pure interaction leaves no trace in its features alone. A start that weighs features one by one
misses it, and one that has all features in one kernel sees it drown in the others. But all
products of two features with the target are one matrix product, and those of three are a few.
"""

from functools import reduce

import numpy as np

__all__ = ["MOST_STEPS", "telling_features"]

# Products of noise stay below sqrt(2 log N), N their number, as a rule; what tells something is
# this much above, in standard deviations.
MARGIN = 1.5
MOST_STEPS = 2e9  # multiplications; beyond, products of three and then of two are left out
BLOCK = 250_000  # numbers in a block of products
MOST_CANDIDATES = 50  # products of one order that are looked at closely, the strongest ones
MOST_FEATURES = 12


def telling_features(X, Y, weight):
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
    strong = []
    for y in _standardized(Y, weight).T:
        # The sum over rows of a product times t is a standard normal number, if it is noise.
        t = (weight * y / np.sqrt(total)).astype(np.float32)
        alone = np.abs(t @ U) > _bound(U.shape[1])
        for members in _candidates(U, t, alone, MOST_STEPS / Y.shape[1]):
            product = reduce(np.multiply, (U[:, j] for j in members))
            # Features that go together make products that vary more.
            spread = np.sqrt(weight @ product**2 / total)
            strong.append((abs(float(t @ product)) / max(float(spread), 1.0), members))
    strong = [(size, members) for size, members in strong if size > _bound_of(members, U.shape[1])]
    strong.sort(key=lambda entry: -entry[0])
    chosen: dict[int, None] = {}
    for _, members in strong:
        if len(chosen.keys() | set(members)) <= MOST_FEATURES:
            chosen.update(dict.fromkeys(members))
    return np.array(list(chosen), dtype=int)


def _standardized(A, weight):
    A = A - weight @ A / weight.sum()
    spread = np.sqrt(weight @ A**2 / weight.sum())
    return A / np.where(spread > 0, spread, 1.0)


def _bound(count):
    """What the largest of so many standard normal numbers stays below."""
    return np.sqrt(2.0 * np.log(max(count, 2))) + MARGIN


def _bound_of(members, p):
    count = p * (p - 1) / 2
    return _bound(count if len(members) == 2 else count * (p - 2) / 3)


def _candidates(U, t, alone, most_steps):
    """Yield pairs and triples of columns whose product with ``t`` has a large sum.

    Those with all members in ``alone`` are left out.
    """
    n, p = U.shape
    if n * p**2 <= most_steps:
        sums = (U * t[:, None]).T @ U
        np.fill_diagonal(sums, 0.0)
        sums[np.ix_(alone, alone)] = 0.0
        yield from _strongest([(sums, (0, 0))], _bound_of((0, 1), p))
    if p > 2 and n * p**3 / 3 <= most_steps:
        yield from _strongest(_triple_sums(U, t, alone), _bound_of((0, 1, 2), p))


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
