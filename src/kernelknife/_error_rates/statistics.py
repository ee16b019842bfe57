"""The statistics of features and their knockoffs, from paths that both are on."""

import warnings
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import FitSpec, Setup, finish, follow, prepare_arrays, set_up
from kernelknife._engine.search import Trace
from kernelknife._error_rates.filter import signed_maximum
from kernelknife._error_rates.products import bounded_columns, product_columns, strong_pairs
from kernelknife._error_rates.sampler import KnockoffSampler
from kernelknife._utils.progress import SILENT, Progress
from kernelknife._utils.threads import limited_blas

__all__ = ["draw_statistics", "path_statistics"]

# A coarse path: statistics depend on how long weights stay and how large they are.
PATH_POINTS = 15
# Residuals are those of the first model on the path with at most this many columns per row.
COLUMNS_PER_ROW = 0.1


def draw_statistics(
    spec: FitSpec,
    X: np.ndarray,
    y: np.ndarray,
    sampler: KnockoffSampler,
    n_draws: int,
    *,
    products: bool = True,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> np.ndarray:
    """Return the statistics of several draws of knockoffs, shape (n_draws, p).

    Parameters
    ----------
    sampler : KnockoffSampler
        Of ``X``.
    n_draws : int
    n_jobs : int, default=None
        Draws run in parallel through joblib.
    spec, X, y, products, progress : see :func:`path_statistics`
    """
    with progress.child("draws", n_draws, ordered=False) as parent:
        calls = [
            delayed(_statistics_of_draw)(
                spec, X, y, sampler, draw, products, parent.child("draw", None, number=draw)
            )
            for draw in range(n_draws)
        ]
        return np.array(Parallel(n_jobs=n_jobs)(calls))


def _statistics_of_draw(
    spec: FitSpec,
    X: np.ndarray,
    y: np.ndarray,
    sampler: KnockoffSampler,
    number: int,
    products: bool,
    progress: Progress,
) -> np.ndarray:
    with limited_blas(), progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statistics need no converged path
        knockoffs = sampler.draw(X, number)
        return path_statistics(spec, X, knockoffs, y, products=products, progress=progress)


def path_statistics(
    spec: FitSpec,
    X: np.ndarray,
    knockoffs: np.ndarray,
    y: np.ndarray,
    *,
    products: bool = True,
    progress: Progress = SILENT,
) -> np.ndarray:
    """Return the statistic of every feature from one path of features and knockoffs.

    Exchanging a feature and its knockoff changes the sign of its statistic, and permuting the
    features permutes the statistics; both exactly, not only up to rounding.

    Parameters
    ----------
    spec : FitSpec
        Without feature groups; costs are those of the features, and knockoffs have the same.
    X, knockoffs : ndarray of shape (n, p)
    y : ndarray of shape (n,) or (n, n_outputs)
    products : bool, default=True
        See :class:`kernelknife.KnifeKnockoffs`.
    progress : Progress
        Parent of the progress reports.

    Returns
    -------
    ndarray of shape (p,)
    """
    p = X.shape[1]
    both = np.hstack([X, knockoffs])
    # Columns are sorted by their values, so that nothing depends on which of them are knockoffs.
    order = np.lexsort(both[::-1])
    if spec.feature_costs is not None:
        spec = replace(spec, feature_costs=np.tile(spec.feature_costs, 2)[order])
    importance = np.empty(2 * p)
    importance[order] = _importance(spec, both[:, order], y, products, progress)
    W = signed_maximum(importance[:p], importance[p:])
    # A column that equals its knockoff has no statistic.
    W[np.equal(X, knockoffs).all(axis=0)] = 0.0
    return W


def _importance(
    spec: FitSpec, columns: np.ndarray, y: np.ndarray, products: bool, progress: Progress
) -> np.ndarray:
    """Return how long and how heavy columns stay in the path."""
    n, p = columns.shape
    setup, trace = _follow(spec, columns, y, progress)
    if not products or not spec.kernel.convex:
        return _summed_weights(setup, trace)
    varying = columns.std(axis=0) > 0
    U = np.zeros((n, p))
    U[:, varying] = bounded_columns(columns[:, varying])
    first, second = strong_pairs(U, _residuals(setup, trace, y), most=p)
    if not len(first):
        return _summed_weights(setup, trace)
    if spec.feature_costs is not None:
        costs = spec.feature_costs
        of_products = 0.5 * (costs[first] + costs[second])
        spec = replace(spec, feature_costs=np.concatenate([costs, of_products]))
    together = np.hstack([columns, product_columns(U, first, second)])
    sums = _summed_weights(*_follow(spec, together, y, progress))
    importance = sums[:p].copy()
    np.add.at(importance, first, sums[p:])
    np.add.at(importance, second, sums[p:])
    return importance


def _follow(
    spec: FitSpec, columns: np.ndarray, y: np.ndarray, progress: Progress
) -> tuple[Setup, Trace]:
    """Return the path of some columns."""
    setup = set_up(spec, prepare_arrays(spec, columns, y))
    return setup, follow(setup, PATH_POINTS, progress=progress)


def _summed_weights(setup: Setup, trace: Trace) -> np.ndarray:
    """Return the sum of every column's weights over a path.

    The first point is left out: without a penalty, every column has a weight.
    """
    w = np.array([point.w for point in trace.points])
    return setup.data.user_values(w[1:].sum(axis=0))


def _residuals(setup: Setup, trace: Trace, y: np.ndarray) -> np.ndarray:
    """Return what a model of few columns leaves unexplained of the standardized targets."""
    counts = np.array([np.count_nonzero(point.w) for point in trace.points])
    few = np.flatnonzero(counts <= COLUMNS_PER_ROW * len(y))
    point = trace.points[few[0] if len(few) else -1]
    scores = finish(setup, point).model.scores(setup.data.rows)
    residuals: np.ndarray = setup.data.targets(y) - scores
    return residuals
