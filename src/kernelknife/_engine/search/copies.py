"""Columns that are copies of each other.

With ``v = w**2`` the kernel sees only the sum of the squared weights of two copies (or of a column
and its mirror image, such as ``x`` and ``1 - x``), while the penalty is lowest where one of them
has it all. Equal weights on copies are a saddle that no descent leaves, so copies begin as one.
"""

import numpy as np

from kernelknife._engine.objective import Problem

__all__ = ["find_copies", "merge_copies"]

# Standardized values of two copies differ by rounding, which a change of units or of the origin
# may have magnified: a column that was 1e6 away from zero has lost six digits.
ALMOST_EQUAL = 1e-8


def find_copies(problem: Problem) -> np.ndarray:
    """Return for every weight the first weight whose columns are copies of its own, or itself."""
    Z = np.asarray(problem.centers, dtype=float)
    if problem.kernel.translation_invariant:
        Z = Z - Z.mean(axis=0)
    columns = _equal_columns(Z)
    owner = problem.features.owner
    if owner is None or (columns == np.arange(len(columns))).all():
        return columns if owner is None else np.arange(problem.n_weights)
    members: dict[int, list[int]] = {}
    for column, weight in enumerate(owner):
        members.setdefault(int(weight), []).append(int(columns[column]))
    first: dict[tuple[int, ...], int] = {}
    labels = np.arange(problem.n_weights)
    for weight in range(problem.n_weights):
        labels[weight] = first.setdefault(tuple(sorted(members[weight])), weight)
    return labels


def _equal_columns(Z: np.ndarray) -> np.ndarray:
    """Return for every column the first one that equals it up to sign, or itself."""
    # Equal columns have equal products with any vector, up to sign: sorted by these they are
    # neighbors.
    probe = np.random.default_rng(0).normal(size=len(Z))
    image = np.abs(probe @ Z)
    order = np.argsort(image, kind="stable")
    size = max(float(np.abs(Z).max(initial=0.0)), 1e-300)
    near = np.diff(image[order]) <= ALMOST_EQUAL * np.linalg.norm(probe) * size
    labels = np.arange(Z.shape[1])
    if not near.any():
        return labels
    cluster = [int(order[0])]
    for i, close in enumerate(near):
        following = int(order[i + 1])
        if close:
            a, b = Z[:, cluster[-1]], Z[:, following]
            apart = min(np.abs(a - b).max(), np.abs(a + b).max())
            close = apart <= ALMOST_EQUAL * max(float(np.abs(a).max()), 1e-300)
        if close:
            cluster.append(following)
        else:
            cluster = [following]
        labels[cluster] = min(cluster)
    return labels


def merge_copies(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return weights of which the cheapest one of several copies has the squares of all."""
    labels = find_copies(problem)
    if (labels == np.arange(len(labels))).all():
        return w
    merged = w.copy()
    for label in np.unique(labels[labels != np.arange(len(labels))]):
        members = np.flatnonzero(labels == label)
        cheapest = members[np.argmin(problem.costs[members])]
        merged[members] = 0.0
        merged[cheapest] = min(float(np.linalg.norm(w[members])), 1.0)
    return merged
