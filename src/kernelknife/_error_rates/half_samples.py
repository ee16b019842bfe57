"""Half-samples in complementary pairs, and the elimination order of columns on each of them.

Columns that hold the same information, exact copies and clusters of correlated ones, are found
without the target, so that error rates hold for clusters as they do for columns.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.model_selection import StratifiedGroupKFold

from kernelknife._engine import FitSpec, follow, prepare_arrays, set_up
from kernelknife._engine.search import rank_features
from kernelknife._utils.progress import SILENT, Progress
from kernelknife._utils.threads import limited_blas

__all__ = [
    "cluster_columns",
    "draw_half_samples",
    "find_copies",
    "rank_half_samples",
    "rank_units",
]

# A half-sample votes by its elimination order alone, for which a coarse path suffices.
PATH_POINTS = 15


# -- drawing --------------------------------------------------------------------------------------
MOST_CLUSTERED = 5000  # columns, whose correlations with each other take 200 MB


def draw_half_samples(
    n: int,
    n_pairs: int,
    rng: np.random.Generator,
    strata: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return the rows of ``2 n_pairs`` half-samples; two in succession are a complementary pair.

    Parameters
    ----------
    n : int
        Number of rows.
    strata : ndarray of int of shape (n,), default=None
        Class of every row; each half-sample gets half of each class.
    groups : ndarray of shape (n,), default=None
        Rows of one group stay in one half-sample.
    """
    strata = np.zeros(n, dtype=int) if strata is None else strata
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    half_samples = []
    for _ in range(n_pairs):
        first = _draw_rows(strata, rng) if groups is None else _draw_groups(strata, groups, rng)
        half_samples += [np.flatnonzero(first), np.flatnonzero(~first)]
    return half_samples


def _draw_rows(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which rows the first half-sample has: every second row of a random order by class."""
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    # Every second row of the sorted list, so that the extra rows of odd classes alternate.
    first = np.zeros(len(strata), dtype=bool)
    first[order[rng.integers(2) :: 2]] = True
    return first


def _draw_groups(strata: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which rows the first half-sample has, as whole groups."""
    if strata.any():
        split = StratifiedGroupKFold(2, shuffle=True, random_state=int(rng.integers(2**31 - 1)))
        first = np.zeros(len(strata), dtype=bool)
        first[next(split.split(strata, strata, groups))[0]] = True
        return first
    # The next random group goes to the half-sample with fewer rows.
    sizes = np.bincount(groups)
    taken, rows = np.zeros(len(sizes), dtype=bool), [0, 0]
    for group in rng.permutation(len(sizes)):
        smaller = int(rows[1] < rows[0])
        taken[group] = smaller == 0
        rows[smaller] += sizes[group]
    in_first: np.ndarray = taken[groups]
    return in_first


# -- ranking --------------------------------------------------------------------------------------


def rank_half_samples(
    spec: FitSpec,
    X: np.ndarray,
    y: np.ndarray,
    half_samples: list[np.ndarray],
    *,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> np.ndarray:
    """Return the elimination order of the columns on every half-sample.

    Parameters
    ----------
    X, y : ndarray
        All rows.
    half_samples : list of ndarray of int
        The rows of each.
    n_jobs : int, default=None
        Half-samples run in parallel through joblib.

    Returns
    -------
    ndarray of int of shape (n_half_samples, n_features)
        1 for the last column to leave the path.
    """
    with progress.child("halves", len(half_samples), ordered=False) as parent:
        calls = [
            delayed(_rank_columns)(spec, X, y, rows, parent.child("half", None, number=i))
            for i, rows in enumerate(half_samples)
        ]
        return np.array(Parallel(n_jobs=n_jobs)(calls))


def _rank_columns(
    spec: FitSpec, X: np.ndarray, y: np.ndarray, rows: np.ndarray, progress: Progress
) -> np.ndarray:
    """Return the elimination order of the columns on some rows."""
    with limited_blas(), progress, warnings.catch_warnings():
        # A single half-sample may converge badly; only what many of them share counts.
        warnings.simplefilter("ignore")
        setup = set_up(spec, prepare_arrays(spec, X[rows], y[rows]))
        trace = follow(setup, PATH_POINTS, progress=progress)
        ranks = rank_features(np.array([point.w for point in trace.points]), trace.tie_break)
        return setup.data.user_values(ranks, constant=len(ranks) + 1)


def rank_units(ranks: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the elimination order of units: one remains active as long as its best column.

    Parameters
    ----------
    ranks : ndarray of int of shape (n_half_samples, n_features)
        Elimination order of the columns.
    units : ndarray of int of shape (n_features,)
        Unit of every column, -1 for columns without one.

    Returns
    -------
    ndarray of int of shape (n_half_samples, n_units)
    """
    members, n_units = np.flatnonzero(units >= 0), int(units.max()) + 1
    best = np.full((len(ranks), n_units), np.iinfo(np.int64).max)
    for of_units, of_columns in zip(best, ranks, strict=True):
        np.minimum.at(of_units, units[members], of_columns[members])
    order = np.argsort(best, axis=1, kind="stable")
    result = np.empty(best.shape, dtype=np.int32)
    np.put_along_axis(result, order, np.arange(1, n_units + 1, dtype=np.int32)[None], axis=1)
    return result


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
