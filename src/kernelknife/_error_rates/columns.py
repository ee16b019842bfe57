"""Columns that hold the same information: exact copies, and clusters of correlated ones.

The target plays no part, so that error rates hold for clusters as they do for columns.
"""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

__all__ = ["cluster_columns", "find_copies"]

MOST_CLUSTERED = 5000  # columns, whose correlations with each other take 200 MB


def find_copies(X: np.ndarray, varying: np.ndarray) -> tuple[int, int] | None:
    """Return two columns with the same values, None if there are none.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    varying : ndarray of int
        The columns to compare.
    """
    first: dict[bytes, int] = {}
    for j in varying.tolist():
        original = first.setdefault(X[:, j].tobytes(), j)
        if original != j:
            return original, j
    return None


def cluster_columns(X: np.ndarray, correlation: float) -> np.ndarray:
    """Return the cluster of every column.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        No column is constant.
    correlation : float
        Smallest absolute correlation of two columns of a cluster.
    """
    p = X.shape[1]
    if p > MOST_CLUSTERED:
        raise ValueError(
            f"Clusters need the correlations of all columns with each other; {p} columns are more "
            f"than the limit of {MOST_CLUSTERED}. Leave out cluster_correlation, or drop copies "
            "beforehand."
        )
    if p < 2:
        return np.zeros(p, dtype=int)
    distance = 1.0 - np.abs(np.corrcoef(X, rowvar=False))
    np.fill_diagonal(distance, 0.0)
    distance = np.maximum(0.5 * (distance + distance.T), 0.0)
    # Complete linkage: the weakest correlation inside a cluster decides.
    tree = linkage(squareform(distance, checks=False), method="complete")
    clusters: np.ndarray = fcluster(tree, 1.0 - correlation + 1e-12, criterion="distance")
    return clusters
