"""Complementary pairs of half-samples: rows of a class in both halves, rows of a group together."""

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

__all__ = ["draw_halves"]


def draw_halves(
    n: int,
    n_pairs: int,
    rng: np.random.Generator,
    strata: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return the rows of ``2 n_pairs`` halves; two that follow each other have all rows.

    Parameters
    ----------
    n : int
        Number of rows.
    n_pairs : int
    rng : numpy.random.Generator
    strata : ndarray of int of shape (n,), default=None
        Class of every row; both halves get half of each class.
    groups : ndarray of shape (n,), default=None
        Rows of one group stay in one half.
    """
    strata = np.zeros(n, dtype=int) if strata is None else strata
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    halves = []
    for _ in range(n_pairs):
        first = _draw_rows(strata, rng) if groups is None else _draw_groups(strata, groups, rng)
        halves += [np.flatnonzero(first), np.flatnonzero(~first)]
    return halves


def _draw_rows(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are in the first half: every second row of a random order, by class."""
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    # Every second row of the sorted list, so that odd classes take turns in giving one row more.
    first = np.zeros(len(strata), dtype=bool)
    first[order[rng.integers(2) :: 2]] = True
    return first


def _draw_groups(strata: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are in the first half, as whole groups."""
    if strata.any():
        split = StratifiedGroupKFold(2, shuffle=True, random_state=int(rng.integers(2**31 - 1)))
        first = np.zeros(len(strata), dtype=bool)
        first[next(split.split(strata, strata, groups))[0]] = True
        return first
    # The next random group goes to the half with fewer rows.
    sizes = np.bincount(groups)
    taken, rows = np.zeros(len(sizes), dtype=bool), [0, 0]
    for group in rng.permutation(len(sizes)):
        smaller = int(rows[1] < rows[0])
        taken[group] = smaller == 0
        rows[smaller] += sizes[group]
    return taken[groups]
