"""Redundant columns as groups with one weight each.

``feature_groups="correlated"`` asks an estimator to find such groups itself. The target is not
used, so that the groups of a cross-validation may be found once, on all rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from kernelknife._utils.checks import check_number
from kernelknife.kernels import Kernel

__all__ = ["CorrelatedGroups"]

SIMILARITIES = ("spearman", "kernel")
# Rows that similarities are measured on, at most: with 2,000 rows a rank correlation of 0.9 has an
# error of 0.004. A kernel's matrices are much larger, and an error of 0.02 is good enough.
MOST_ROWS, MOST_KERNEL_ROWS = 2000, 200
BLOCK_NUMBERS = 20_000_000  # size of the arrays that columns are compared in
# Two similarities this close count as equal: rounding does not decide which columns join first.
ROUNDING = 1e-9


class CorrelatedGroups(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Groups of redundant columns, to be passed as ``feature_groups``.

    Two columns belong together where their similarity is at least the threshold. Groups are made
    by complete linkage, so that this holds for any two columns of a group, and a chain of columns
    does not join its two ends. A group is named after its medoid, the column that is most similar
    to the others. Together, its columns cost what one of them would cost alone.

    Parameters
    ----------
    threshold : float, default=0.9
        Least similarity inside a group, between 0 and 1.
    similarity : {"spearman", "kernel"}, default="spearman"
        The absolute rank correlation, or the alignment of the kernel matrices that two columns have
        on their own. The second one detects relations that neither rise nor fall, and is slower.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import CorrelatedGroups, KnifeRegressor
    >>> rng = np.random.default_rng(0)
    >>> x, z, noise = rng.normal(size=(3, 100))
    >>> X = np.column_stack([x, z, x + 0.1 * rng.normal(size=100), noise])
    >>> model = KnifeRegressor(feature_groups=CorrelatedGroups(threshold=0.8)).fit(X, np.sin(x))
    >>> model.feature_groups_
    {'x0': ['x0', 'x2'], 'x1': ['x1'], 'x3': ['x3']}
    >>> model.get_support(indices=True)
    array([0, 2])
    """

    def __init__(self, threshold: float = 0.9, similarity: str = "spearman") -> None:
        self.threshold = threshold
        self.similarity = similarity

    def find(self, X: np.ndarray, kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
        """Return the group of every column and the medoid of every group.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Some rows, without missing values. Constant columns stay on their own.
        kernel : Kernel
            For ``similarity="kernel"``.

        Returns
        -------
        labels : ndarray of int of shape (p,)
            Numbered in order of appearance.
        medoids : ndarray of int of shape (n_groups,)
            A column of each group.
        """
        check_number(self.threshold, "threshold", strict=True)
        if self.threshold > 1:
            raise ValueError(f"threshold must lie in (0, 1], got {self.threshold}.")
        if self.similarity not in SIMILARITIES:
            raise ValueError(
                f"Unknown similarity {self.similarity!r}. Known names: {', '.join(SIMILARITIES)}."
            )
        p = X.shape[1]
        left, right, values = _similar_pairs(self._describe(X, kernel), self.threshold)
        graph = coo_matrix((values, (left, right)), shape=(p, p)).tocsr()
        graph = graph + graph.T
        _, part = connected_components(graph, directed=False)
        labels = np.full(p, -1)
        medoids: list[int] = []
        order = np.argsort(part, kind="stable")
        first = np.searchsorted(part[order], np.arange(part.max() + 1))
        members_of = np.split(order, first[1:])
        groups = [group for members in members_of for group in self._split(members, graph[members])]
        for number, group in enumerate(sorted(groups, key=lambda group: int(group.min()))):
            labels[group] = number
            inside = graph[group][:, group].sum(axis=1)
            medoids.append(int(group[np.argmax(np.round(np.asarray(inside).ravel(), 9))]))
        return labels, np.array(medoids)

    def _split(self, members: np.ndarray, rows: Any) -> Iterator[np.ndarray]:
        """Yield the groups of connected columns, given sorted with the graph's sparse rows."""
        if len(members) < 3:
            yield members
            return
        distance = 1.0 - rows[:, members].toarray()
        np.fill_diagonal(distance, 0.0)
        # Pairs below the threshold are stored as 0, a distance of 1: no group may hold them.
        joined = fcluster(
            linkage(squareform(np.round(distance, 9), checks=False), "complete"),
            1.0 - self.threshold + ROUNDING,
            "distance",
        )
        for label in np.unique(joined):
            yield members[joined == label]

    def _describe(self, X: np.ndarray, kernel: Kernel) -> np.ndarray:
        """Return a vector of length 1 per column; the similarity is the size of their product."""
        if self.similarity == "spearman":
            vectors = rankdata(X, axis=0).T
            vectors = vectors - vectors.mean(axis=1, keepdims=True)
        else:
            vectors = np.array([_centered_matrix(column, kernel) for column in X.T])
        size = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(size > 0, size, 1.0))

    @property
    def most_rows(self) -> int:
        """How many rows the similarities should be measured on, at most."""
        return MOST_ROWS if self.similarity == "spearman" else MOST_KERNEL_ROWS


def _centered_matrix(column: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Return the centered kernel matrix of one standardized column, as a vector."""
    spread = column.std()
    z = (column - column.mean())[:, None] / (spread if spread > 0 else 1.0)
    basis = kernel.make_basis(z, np.ones(len(z)))
    if basis is not None:
        z = basis.expand(z)
    K = kernel(z, z, np.ones(z.shape[1]))
    K = K - K.mean(axis=0)
    return np.asarray((K - K.mean(axis=1, keepdims=True)).ravel(), dtype=np.float32)


def _similar_pairs(
    vectors: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of vectors whose product is at least the threshold, and these products."""
    p = len(vectors)
    step = max(1, BLOCK_NUMBERS // max(p, 1))
    left, right, values = [], [], []
    for begin in range(0, p, step):
        products = np.abs(vectors[begin : begin + step] @ vectors[begin:].T)
        i, j = np.nonzero(products >= threshold - ROUNDING)
        upper = j > i
        left.append(i[upper] + begin)
        right.append(j[upper] + begin)
        values.append(np.minimum(products[i[upper], j[upper]], 1.0))
    return np.concatenate(left), np.concatenate(right), np.concatenate(values)
