"""The one place that makes a problem of data: exact, or with Nystrom centers."""

from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus

from kernelknife._engine.data import Columns, Sample, TrainingData
from kernelknife._engine.objective.base import Problem
from kernelknife._engine.objective.exact import ExactProblem
from kernelknife._engine.objective.features import Features
from kernelknife._engine.objective.nystrom import NystromProblem
from kernelknife._engine.objective.primal import PrimalProblem, has_primal, measure_sums
from kernelknife._engine.objective.sums import seen_once, spanning_centers
from kernelknife._engine.policy import CENTERS as POLICY
from kernelknife._engine.policy import fit_centers, sums_pay
from kernelknife._utils.arrays import is_foreign, to_host
from kernelknife._utils.checks import check_number
from kernelknife.kernels import Kernel

__all__ = [
    "CENTERS",
    "build_problem",
    "choose_centers",
    "features_of",
    "refresh_centers",
]

# Rows that centers are chosen from, at least and per center: choosing among all rows costs as
# much as the fit and hardly improves the choice.
CANDIDATE_ROWS, CANDIDATES_PER_CENTER = 20_000, 2
CENTERS = ("kmeans++", "uniform", "leverage")
# Rows of the model that estimates how much a row adds to what others span: enough to distinguish
# dense regions from sparse ones, few enough that a 300 x 300 system is solved at once.
PILOT_ROWS = 300
PILOT_RIDGE = 1e-3  # of the mean diagonal of that model's matrix, against singularity
SMALLEST_LEVERAGE = 1e-12  # what rounding may leave of a leverage of zero
# Rows are spread out by their squared distances, which are estimated from projections on this
# number of random directions. The error is about one part in seven, and with 2,500 columns it takes
# a tenth of the time of the distances themselves.
DIRECTIONS = 100


def build_problem(
    data: TrainingData,
    *,
    alpha: float,
    fit_intercept: bool,
    n_centers: Any,
    centers: Any,
    memory_budget: float,
    seed: int,
    from_sums: bool = False,
) -> tuple[Problem, np.ndarray]:
    """Return the problem, and the user's number of each row that carries a coefficient.

    In a problem of sums columns carry them, and their numbers are returned.

    Parameters
    ----------
    data : TrainingData
    alpha, fit_intercept, n_centers, centers, memory_budget
        See :class:`kernelknife.KnifeRegressor`.
    seed : int
    from_sums : bool, default=False
        See :class:`kernelknife._engine.spec.FitSpec`.
    """
    rows, given = data.rows, not isinstance(centers, str)
    options: dict[str, Any] = {
        "alpha": alpha,
        "features": features_of(data),
        "fit_intercept": fit_intercept,
        "n_outputs": data.targets.n_outputs,
    }
    if from_sums and _sums_suffice(data):
        return _problem_of_sums(data, options)
    m = fit_centers(
        n_centers,
        data.kernel,
        data.loss,
        given=given,
        in_memory=rows.in_memory,
        n_rows=rows.shape[0],
        memory_budget=memory_budget,
    )
    if m is None:
        return _problem_of_rows(data, options)
    if given or n_centers not in (None, "auto"):
        remedy = "leave n_centers=None and centers as it is by default"
    elif not rows.in_memory:
        remedy = "pass an array in memory"
    else:
        remedy = f"raise memory_budget to {8.0 * rows.shape[0] ** 2:.2g} bytes or more"
    _check_nystrom(data, remedy)
    return _problem_of_centers(data, m, centers, memory_budget, seed, options)


def _problem_of_centers(
    data: TrainingData,
    m: int,
    centers: Any,
    memory_budget: float,
    seed: int,
    options: dict[str, Any],
) -> tuple[NystromProblem, np.ndarray]:
    """Return the problem with centers, and the numbers of these."""
    rows = data.rows
    if not isinstance(centers, str):
        Z = _given_centers(centers, data.columns, data.n_features)
        numbers = np.arange(len(Z))
    else:
        p = data.columns.n_seen
        if data.kernel.convex:
            m = max(m, min(spanning_centers(p, rows), POLICY.without_memory))
        Z, numbers = _pick_centers(data, m, centers, np.full(p, 0.5 / p), seed)
    rows, columns, adjusted = seen_once(rows, data.columns, data.adjusted)
    if data.loss.couples_rows:
        if 8.0 * rows.shape[0] * len(Z) > memory_budget:
            raise ValueError(
                f"{data.loss!r} couples all {rows.shape[0]} rows, so that their kernel values at "
                f"{len(Z)} centers have to fit into memory_budget: lower n_centers, or raise it."
            )
        rows = rows.as_one_block()
    problem = NystromProblem(
        rows,
        columns,
        np.ascontiguousarray(Z),
        data.kernel,
        data.smooth_loss,
        adjusted=adjusted,
        total_weight=data.total_weight,
        seed=seed,
        **options,
    )
    return problem, numbers


def _sums_suffice(data: TrainingData) -> bool:
    """Whether sums of products of columns determine the model, and are fewer than the rows."""
    suffice = has_primal(data.kernel, data.loss)
    return suffice and sums_pay(data.rows.shape[0], data.columns.n_seen)


def _problem_of_sums(
    data: TrainingData, options: dict[str, Any]
) -> tuple[PrimalProblem, np.ndarray]:
    """Return the problem of sums, and the numbers of its columns."""
    origin = seen_once(data.rows, data.columns, data.adjusted)
    sums = measure_sums(*origin, options.pop("n_outputs"), options["fit_intercept"])
    problem = PrimalProblem(sums, data.kernel, data.loss, origin=origin, **options)
    return problem, np.arange(sums.n_columns)


def _problem_of_rows(
    data: TrainingData, options: dict[str, Any]
) -> tuple[ExactProblem, np.ndarray]:
    """Return the exact problem, and the numbers of its rows."""
    sample, numbers = data.rows.load()
    problem = ExactProblem(
        data.columns.take(sample.X),
        sample.y,
        data.kernel,
        data.smooth_loss,
        sample_weight=np.asarray(sample.s, dtype=float),
        adjusted=None if data.adjusted is None else data.adjusted.take(sample.X),
        **options,
    )
    return problem, numbers


def features_of(data: TrainingData) -> Features:
    """Return whose weight each column carries that the kernel sees."""
    columns, groups, costs = data.columns, data.groups, data.costs
    squared = not data.kernel.linear_in_weights
    if columns.n_seen == len(columns.index):  # one column, or one function of it, per column
        return Features.of_columns(columns.n_seen, groups, costs, squared=squared, kept=data.kept)
    # A weight costs what its columns cost, however many functions they are seen through.
    p = len(columns.index)
    weights = np.arange(p) if groups is None else groups
    each = np.bincount(weights, np.ones(p) if costs is None else costs)
    owner = weights[columns.sources]
    return Features(columns.n_seen, owner, each, squared=squared, kept=data.kept)


def _check_nystrom(data: TrainingData, remedy: str) -> None:
    """Raise where the loss or the kernel has no model on centers; the remedy is the exact one."""
    if data.loss.needs_rows:
        raise ValueError(
            f"{data.loss!r} has no model on centers: use loss='squared_hinge' or "
            f"'huberized_hinge', or {remedy}."
        )
    if data.kernel.indefinite:
        raise ValueError(
            f"{data.kernel!r} is not positive semi-definite, so a model on centers has no minimum: "
            f"choose another kernel, or {remedy}."
        )


def refresh_centers(
    problem: Problem,
    center_rows: np.ndarray,
    data: TrainingData,
    centers: Any,
    w: np.ndarray,
    seed: int,
) -> tuple[Problem, np.ndarray]:
    """Return the problem with centers chosen anew in the geometry of the weights.

    Given centers are the user's, the exact method has none, and without a weight there is no
    geometry: the problem is then returned as it is.
    """
    if problem.exact or not isinstance(centers, str) or not w.any():
        return problem, center_rows
    everything = problem.features.everything
    v = np.empty(problem.n_columns)
    v[everything.columns] = everything.form_weights(w)
    Z, numbers = _pick_centers(data, len(problem.centers), centers, v, seed + 1)
    return problem.with_centers(Z), numbers


def _pick_centers(
    data: TrainingData, m: int, how: str, v: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return standardized centers and their row numbers, chosen where the rows are."""
    if how not in CENTERS:
        raise ValueError(
            f"Unknown centers {how!r}. Known names: {', '.join(CENTERS)}; or give the rows "
            "themselves."
        )
    rows = data.rows
    rng = np.random.default_rng(seed)
    size = min(rows.n_counted, max(CANDIDATE_ROWS, CANDIDATES_PER_CENTER * m))
    index = rows.numbers(np.sort(rng.choice(rows.n_counted, size, replace=False)))
    arguments = (index, data.columns, m, how, data.kernel, v, seed)
    return rows.fetch(rows.apply(_centers_of, rows.sample(index), *arguments))


def choose_centers(
    X: np.ndarray, n_centers: int, how: str, kernel: Kernel, v: np.ndarray, seed: int
) -> np.ndarray:
    """Return the index of the rows to take as centers.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardized rows, a sample of all of them.
    n_centers : int
    how : {"kmeans++", "uniform", "leverage"}
        Spread out, at random, or by how much a row adds to what others span.
    kernel : Kernel
    v : ndarray of shape (p,)
        Factors of the columns in the kernel's form: the geometry to choose in.
    seed : int
    """
    check_number(n_centers, "n_centers", low=1, integer=True)
    rng = np.random.default_rng(seed)
    n = len(X)
    if n_centers >= n:
        return np.arange(n)
    if how == "uniform":
        return np.sort(rng.choice(n, n_centers, replace=False))
    used = np.flatnonzero(v)
    X, v = X[:, used], v[used]
    if how == "kmeans++":
        scaled = X * (np.sqrt(v) if kernel.form == "distance" else v)
        if len(v) > 2 * DIRECTIONS:
            scaled = scaled @ rng.normal(size=(len(v), DIRECTIONS))
        _, index = kmeans_plusplus(scaled, n_centers, random_state=int(rng.integers(2**31)))
        # Copies of a row may be drawn twice.
        index = np.unique(index)
        rest = np.setdiff1d(np.arange(n), index)
        extra = rng.choice(rest, n_centers - len(index), replace=False)
        return np.sort(np.concatenate([index, extra]))
    # Ridge leverages from a pilot set of centers: k(x, x) - k(x, Z) (K + r I)^-1 k(Z, x).
    pilot = X[rng.choice(n, min(n, PILOT_ROWS), replace=False)]
    K = kernel(pilot, pilot, v)
    ridge = PILOT_RIDGE * np.trace(K) / len(K)
    K.flat[:: len(K) + 1] += ridge
    cross = kernel(X, pilot, v)
    explained = np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    leverage = np.maximum(kernel.diag(X, v) - explained, SMALLEST_LEVERAGE) + ridge
    return np.sort(rng.choice(n, n_centers, replace=False, p=leverage / leverage.sum()))


def _centers_of(
    sample: Sample,
    index: np.ndarray,
    columns: Columns,
    m: int,
    how: str,
    kernel: Kernel,
    v: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    counted = sample.counted()
    X = columns.take(sample.X[counted])
    chosen = choose_centers(X, m, how, kernel, v, seed)
    return X[chosen], index[counted[chosen]]


def _given_centers(centers: Any, columns: Columns, p: int) -> np.ndarray:
    """Return centers that the user gave, standardized."""
    Z = np.asarray(to_host(centers) if is_foreign(centers) else centers, dtype=float)
    if Z.ndim != 2 or Z.shape[1] != p:
        raise ValueError(f"centers must have {p} columns as X has, got shape {Z.shape}.")
    if np.isinf(Z).any() or (columns.refuses_gaps and np.isnan(Z).any()):
        raise ValueError("centers contain NaN or infinity.")
    return np.asarray(columns.take(Z))
