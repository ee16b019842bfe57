"""The statistics of features and their knockoffs, from paths that both are on.

A sum of separate effects misses columns that act only in pairs. Products of two columns that are
correlated with its residuals beyond the size of noise become further columns.
"""

import warnings
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import FitSpec, Setup, finish, follow, prepare_arrays, set_up
from kernelknife._engine.data.columns import filled
from kernelknife._engine.search import Trace
from kernelknife._error_rates.filter import signed_maximum
from kernelknife._error_rates.sampler import KnockoffSampler, explained_by, fill_at_random
from kernelknife._utils.progress import SILENT, Progress
from kernelknife._utils.threads import limited_blas

__all__ = [
    "bounded_columns",
    "draw_statistics",
    "path_statistics",
    "product_columns",
    "strong_pairs",
]

# A coarse path: statistics depend on how long weights stay and how large they are.
PATH_POINTS = 15
# Residuals are those of the first model on the path with at most this many columns per row.
COLUMNS_PER_ROW = 0.1
# Standard deviations beyond which values are cut off, so that no product depends on a few rows.
FAR = 3.0


def draw_statistics(
    spec: FitSpec,
    X: np.ndarray,
    y: np.ndarray,
    sampler: KnockoffSampler,
    n_draws: int,
    *,
    products: bool = True,
    adjusted: np.ndarray | None = None,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> np.ndarray:
    """Return the statistics of several draws of knockoffs, shape (n_draws, p).

    Parameters
    ----------
    sampler : KnockoffSampler
        Of what the adjusted columns do not explain of ``X``.
    n_jobs : int, default=None
        Draws run in parallel through joblib.
    spec, X, y, products, adjusted, progress : see :func:`path_statistics`
    """
    with progress.child("draws", n_draws, ordered=False) as parent:
        calls = [
            delayed(_statistics_of_draw)(
                spec,
                X,
                y,
                sampler,
                draw,
                products,
                adjusted,
                parent.child("draw", None, number=draw),
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
    adjusted: np.ndarray | None,
    progress: Progress,
) -> np.ndarray:
    with limited_blas(), progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statistics need no converged path
        # Given where the gaps are, values and those of their knockoffs can be exchanged.
        linear = 0.0 if adjusted is None else explained_by(adjusted, X)
        drawn = linear + sampler.draw(fill_at_random(X, number) - linear, number)
        return path_statistics(
            spec,
            X,
            np.where(np.isnan(X), np.nan, drawn),
            y,
            products=products,
            adjusted=adjusted,
            progress=progress,
        )


def path_statistics(
    spec: FitSpec,
    X: np.ndarray,
    knockoffs: np.ndarray,
    y: np.ndarray,
    *,
    products: bool = True,
    adjusted: np.ndarray | None = None,
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
    adjusted : ndarray of shape (n, r), default=None
        Columns that are adjusted for, which have no knockoffs.
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
    importance[order] = _importance(spec, both[:, order], y, products, adjusted, progress)
    W = signed_maximum(importance[:p], importance[p:])
    # A column that equals its knockoff has no statistic.
    W[(np.equal(X, knockoffs) | np.isnan(X)).all(axis=0)] = 0.0
    return W


def _importance(
    spec: FitSpec,
    columns: np.ndarray,
    y: np.ndarray,
    products: bool,
    adjusted: np.ndarray | None,
    progress: Progress,
) -> np.ndarray:
    """Return how long and how heavy columns stay in the path."""
    n, p = columns.shape
    setup, trace = _follow(spec, columns, y, adjusted, progress)
    if not products or not spec.kernel.convex:
        return _summed_weights(setup, trace)
    columns = filled(columns)
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
    sums = _summed_weights(*_follow(spec, together, y, adjusted, progress))
    importance = sums[:p].copy()
    np.add.at(importance, first, sums[p:])
    np.add.at(importance, second, sums[p:])
    return importance


def _follow(
    spec: FitSpec,
    columns: np.ndarray,
    y: np.ndarray,
    adjusted: np.ndarray | None,
    progress: Progress,
) -> tuple[Setup, Trace]:
    """Return the path of some columns."""
    if adjusted is not None and adjusted.shape[1]:
        p, r = columns.shape[1], adjusted.shape[1]
        columns, costs = np.hstack([columns, adjusted]), spec.feature_costs
        costs = None if costs is None else np.concatenate([costs, np.ones(r)])
        spec = replace(spec, adjust_for=np.arange(p, p + r), feature_costs=costs)
    setup = set_up(spec, prepare_arrays(spec, columns, y))
    return setup, follow(setup, PATH_POINTS, progress=progress)


def _summed_weights(setup: Setup, trace: Trace) -> np.ndarray:
    """Return the sum of every column's weights over a path.

    The first point is left out: without a penalty, every column has a weight.
    """
    w = np.array([point.w for point in trace.points])
    sums = setup.data.user_values(w[1:].sum(axis=0))
    adjusted = setup.data.adjusted
    return sums if adjusted is None else np.delete(sums, setup.spec.adjust_for)


def _residuals(setup: Setup, trace: Trace, y: np.ndarray) -> np.ndarray:
    """Return what a model of few columns leaves unexplained of the standardized targets."""
    counts = np.array([np.count_nonzero(point.w) for point in trace.points])
    few = np.flatnonzero(counts <= COLUMNS_PER_ROW * len(y))
    point = trace.points[few[0] if len(few) else -1]
    scores = finish(setup, point).model.scores(setup.data.rows)
    targets, loss = setup.data.targets(y), setup.spec.loss
    if loss.couples_rows:
        return np.asarray(-loss.bind(targets, np.ones(len(y)), 1).slope(scores))
    residuals: np.ndarray = targets - scores
    return residuals


def bounded_columns(X: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and deviation 1, without far values; none may be constant."""
    Z: np.ndarray = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -FAR, FAR)
    spread = Z.std(axis=0)
    Z -= Z.mean(axis=0)
    Z /= np.where(spread > 0, spread, 1.0)
    return Z


def strong_pairs(U: np.ndarray, residuals: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of columns whose products are correlated with residuals beyond noise.

    Under pure noise every correlation times the square root of the number of rows is about standard
    normal, and the largest of N of them about ``sqrt(2 log N)``.

    Parameters
    ----------
    U : ndarray of shape (n, p)
        From :func:`bounded_columns`.
    residuals : ndarray of shape (n, k)
    most : int
        Largest number of pairs; the strongest come first.

    Returns
    -------
    first, second : ndarray of int
    """
    n, p = U.shape
    first, second = np.triu_indices(p, 1)
    # Products of correlated columns have a variance above 1, under pure noise too.
    spread = np.sqrt(np.maximum(((U**2).T @ U**2)[first, second] / n, 1.0))
    sizes = np.zeros(len(first))
    for r in residuals.T:
        r = r - r.mean()
        length = np.linalg.norm(r)
        if length > 0:
            sums = (U * (r / length)[:, None]).T @ U
            sizes = np.maximum(sizes, np.abs(sums[first, second]) / spread)
    if not len(sizes):
        return first, second
    strong = np.argsort(-sizes, kind="stable")[:most]
    strong = strong[sizes[strong] > np.sqrt(2.0 * np.log(max(len(sizes), 2)))]
    return first[strong], second[strong]


def product_columns(U: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return products of columns, less what lines and parabolas of both columns explain of them."""
    products = np.empty((len(U), len(first)))
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        u, v = U[:, a], U[:, b]
        alone = np.column_stack([np.ones(len(U)), u, v, u**2, v**2])
        products[:, i] = u * v - alone @ np.linalg.lstsq(alone, u * v, rcond=None)[0]
    return products
