"""What estimators share whose targets are scores of the rows themselves.

Kernel principal components, discriminants and canonical variates are all least squares against
some scores ``U`` of the rows, with ``U'U = n I``: :func:`with_targets` makes the problem of given
scores. At fixed weights the scores come from an eigenproblem of the centered kernel matrix:
:func:`leading_components` solves it, exactly or on centers. :func:`dependence_weights` and
:func:`structure_gap` compare columns with columns that were permuted independently.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._engine.data import TargetEncoder
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import open_rows_to_predict, refuse_lazy_rows
from kernelknife._engine.fitting import Job, prepare_job
from kernelknife._engine.model import Model
from kernelknife._engine.objective import Problem, build_problem
from kernelknife._engine.search.starts import scaled_weights
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import check_number
from kernelknife._utils.inputs import FLOATS
from kernelknife._utils.threads import limited_blas
from kernelknife.estimators import KnifeRegressor
from kernelknife.kernels import Kernel
from kernelknife.kernels.basis import make_basis

__all__ = [
    "Components",
    "TableSelector",
    "centered_features",
    "check_count",
    "check_fixed_weights",
    "check_penalty",
    "check_table",
    "dependence_scores",
    "dependence_weights",
    "expand_columns",
    "favor",
    "leading_components",
    "make_regressor",
    "seen_columns",
    "solution_at",
    "structure_gap",
    "table_job",
    "with_targets",
]

# Parameters that these estimators hand on to the regression underneath.
HANDED_ON = (
    *("kernel", "alpha", "solver", "standardize", "feature_groups", "feature_costs"),
    *("centers", "memory_budget", "max_iter", "tol"),
)
# Past so many rows an exact path takes minutes; with so many centers, seconds.
EXACT_ROWS, DEFAULT_CENTERS = 1500, 300
BLOCK_NUMBERS = 4_000_000  # size of the arrays that are worked on at a time
LEAST_EIGENVALUE = 1e-10  # share of the largest below which an eigenvalue is rounding
DEPENDENCE_ROWS = 2000  # more rows do not make a dependence of two columns clearer, only dearer
# Functions of a column that tell whether two columns depend on each other: a line, a bend, and
# two more. Few of them keep chance low; the width is that of the additive kernel.
N_FUNCTIONS, N_KNOTS, GAMMA = 4, 20, 0.7
# Permutations that tell what chance can do: with 19, columns that are independent exceed it in one
# table of twenty. Very many columns make do with fewer, within so many multiplications.
MOST_NULLS, FEWEST_NULLS, NULL_WORK = 19, 2, 1e11
EQUAL_SHARE = 0.1  # of the starting weights that every column gets, so that none begins at zero
GAP_ROWS = 400  # rows that the gap is measured on: it takes some hundred eigenproblems


# -- from a table to a problem ----------------------------------------------------------------


def check_table(estimator: Any, X: Any) -> np.ndarray:
    """Return a table in memory as an array, in scikit-learn's way; sets ``n_features_in_``."""
    refuse_lazy_rows(X, type(estimator).__name__)
    return validate_data(estimator, X, dtype=FLOATS, ensure_all_finite=False)


def make_regressor(estimator: Any, n_rows: int, seed: int | None) -> KnifeRegressor:
    """Return the regression that finds the weights, with the parameters of an estimator."""
    given = {name: getattr(estimator, name) for name in HANDED_ON}
    if isinstance(given["alpha"], str):
        del given["alpha"]  # chosen later
    n_centers = estimator.n_centers
    given_centers = not isinstance(estimator.centers, str)
    if n_centers is None and n_rows > EXACT_ROWS and not given_centers:
        n_centers = DEFAULT_CENTERS
    return KnifeRegressor(**given, n_centers=n_centers, random_state=seed)


def table_job(
    regressor: KnifeRegressor, X: np.ndarray, names: Any = None, sample_weight: Any = None
) -> Job:
    """Return the job of a table whose targets are not known yet; row numbers stand for them."""
    n = len(X)
    s = np.ones(n) if sample_weight is None else sample_weight
    rows = ArrayRows(X, np.arange(n, dtype=float), s, names=names)
    return prepare_job(regressor, rows, None)


def with_targets(job: Job, U: np.ndarray) -> Job:
    """Return the job with the scores ``U``, shape (n, k), as its targets."""
    k = U.shape[1]
    prepared = replace(
        job.prepared,
        rows=job.prepared.rows.encoded(lambda _: U),
        targets=TargetEncoder(np.zeros(k), np.ones(k), None, squeeze=False),
    )
    built = build_problem(prepared, job.choice, alpha=job.problem.alpha, fit_intercept=True)
    return replace(job, prepared=prepared, built=built)


def seen_columns(job: Job) -> np.ndarray:
    """Return what the kernel sees of all rows."""
    sample, _ = job.prepared.rows.load()
    return job.prepared.columns.take(sample.X)


def check_fixed_weights(weights: Any, job: Job) -> np.ndarray:
    """Return weights that a user wants kept, one per weight of the problem.

    A single number is the weight of every column.
    """
    p = job.prepared.n_features
    given = np.asarray(weights, dtype=float)
    if given.shape not in ((), (p,)):
        raise ValueError(
            f"weights must be a number or one weight per column ({p}), got shape {given.shape}."
        )
    given = np.broadcast_to(given, (p,))
    if not ((given >= 0) & (given <= 1)).all() or not given.any():
        raise ValueError(
            "weights must lie between 0 and 1, not all of them 0, got values from "
            f"{given.min():g} to {given.max():g}."
        )
    given = given[job.prepared.columns.index]
    groups = job.prepared.groups
    if groups is None:
        return given
    return np.bincount(groups, given) / np.bincount(groups)


def check_penalty(sparsity: Any) -> None:
    """Raise unless ``sparsity`` is a number or "auto"."""
    if not isinstance(sparsity, str):
        check_number(sparsity, "sparsity")
    elif sparsity != "auto":
        raise ValueError(f"sparsity must be a number or 'auto', got {sparsity!r}.")


def check_count(wanted: Any, available: int) -> int:
    """Return a number of columns to select, checked against those that are not constant."""
    check_number(wanted, "n_features_to_select", low=1, integer=True)
    if wanted > available:
        raise ValueError(
            f"n_features_to_select={wanted} is more than the {available} features (or groups) "
            "that are not constant."
        )
    return int(wanted)


def solution_at(job: Job, w: np.ndarray) -> Solution:
    """Return the solution whose weights are given and not learned."""
    state = job.problem.solve(w)
    return Solution.at(state, 0.0, state.smooth)


# -- the interface of a fitted estimator ------------------------------------------------------


class TableSelector:
    """What estimators with one weight per column and a model of scores share."""

    weights_: np.ndarray
    n_features_in_: int
    _model: Model

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return which columns have a weight.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their numbers instead of a mask.

        Returns
        -------
        ndarray
            A mask, or numbers of columns.
        """
        check_is_fitted(self)
        mask = self.weights_ > 0
        return np.flatnonzero(mask) if indices else mask

    @property
    def feature_importances_(self) -> np.ndarray:
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    def _scores(self, X: Any) -> Any:
        """Return all scores of rows of any kind."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = open_rows_to_predict(X, names, self.n_features_in_, self._check_array)
        if rows.names is None:
            rows.names = names
        with limited_blas(max(rows.shape[0], len(self._model.vectors))):
            return self._model.scores(rows)

    def _check_array(self, X: Any) -> np.ndarray:
        return validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)


# -- scores at fixed weights ------------------------------------------------------------------


@dataclass(frozen=True)
class Components:
    """The leading components of a weighted kernel matrix.

    Attributes
    ----------
    scores : ndarray of shape (n, k)
        Of the rows; the squares of a column sum to its eigenvalue.
    eigenvalues : ndarray of shape (k,)
        Of the centered kernel matrix, the largest first; k is smaller than asked for where the
        matrix has a smaller rank.
    total : float
        Sum of all its eigenvalues.
    coef, intercept : ndarray of shape (m, k) and (k,)
        The scores of a row are ``k(row, centers) @ coef + intercept``.
    """

    scores: np.ndarray
    eigenvalues: np.ndarray
    total: float
    coef: np.ndarray
    intercept: np.ndarray

    @property
    def targets(self) -> np.ndarray:
        """The scores scaled to ``U'U = n I``."""
        return self.scores * np.sqrt(len(self.scores) / self.eigenvalues)


def leading_components(job: Job, X: np.ndarray, w: np.ndarray, k: int) -> Components:
    """Return the leading components of the rows ``X`` at some weights.

    Parameters
    ----------
    job : Job
    X : ndarray of shape (n, q)
        What the kernel sees of the rows.
    w : ndarray of shape (n_weights,)
    k : int
    """
    problem = job.problem
    subset = problem.features.select(np.flatnonzero(w))
    rows, centers = X[:, subset.columns], problem.centers[:, subset.columns]
    v, kernel = subset.form_weights(w), problem.kernel
    if problem.exact:
        return _exact_components(kernel(rows, rows, v), k)
    return _centered_components(kernel, rows, centers, v, k)


def _exact_components(K: np.ndarray, k: int) -> Components:
    n = len(K)
    values, vectors = _top(_double_centered(K), min(k, n))
    total = float(np.trace(K) - K.sum() / n)
    values, vectors = _of_full_rank(values, vectors)
    vectors = _with_sign(vectors)
    coef = vectors / np.sqrt(values)
    # The eigenvectors sum to zero, so that only the mean over the training rows is taken off.
    return Components(vectors * np.sqrt(values), values, total, coef, -K.mean(axis=0) @ coef)


def _centered_components(
    kernel: Kernel, rows: np.ndarray, centers: np.ndarray, v: np.ndarray, k: int
) -> Components:
    """Return the components of the kernel matrix as seen through the centers (Nystrom)."""
    root, mean, gram = _centered_factor(kernel, rows, centers, v)
    values, axes = _top(gram, min(k, len(gram)))
    values, axes = _of_full_rank(values, axes)
    coef, intercept = root @ axes, -mean @ axes
    parts = [K @ coef + intercept for K in _blocks(kernel, rows, centers, v)]
    scores = np.concatenate(parts)
    sign = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])])
    return Components(scores * sign, values, float(np.trace(gram)), coef * sign, intercept * sign)


def centered_features(job: Job, X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return features whose products are the centered kernel matrix, or its form on centers.

    Parameters
    ----------
    job : Job
    X : ndarray of shape (n, q)
        What the kernel sees of the rows.
    w : ndarray of shape (n_weights,)
    """
    problem = job.problem
    subset = problem.features.select(np.flatnonzero(w))
    rows, v = X[:, subset.columns], subset.form_weights(w)
    if problem.exact:
        values, vectors = np.linalg.eigh(_double_centered(problem.kernel(rows, rows, v)))
        kept = values > LEAST_EIGENVALUE * values[-1]
        return vectors[:, kept] * np.sqrt(values[kept])
    centers = problem.centers[:, subset.columns]
    root, mean, _ = _centered_factor(problem.kernel, rows, centers, v)
    parts = [K @ root - mean for K in _blocks(problem.kernel, rows, centers, v)]
    return np.concatenate(parts)


def _centered_factor(
    kernel: Kernel, rows: np.ndarray, centers: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features of a kernel on centers: ``k(row, centers) @ root`` are their values.

    With their mean over the rows, and their centered products summed over the rows.
    """
    values, vectors = np.linalg.eigh(kernel(centers, centers, v))
    kept = values > LEAST_EIGENVALUE * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    total, gram = np.zeros(root.shape[1]), np.zeros((root.shape[1], root.shape[1]))
    for K in _blocks(kernel, rows, centers, v):
        features = K @ root
        total += features.sum(axis=0)
        gram += features.T @ features
    mean = total / len(rows)
    return root, mean, gram - len(rows) * np.multiply.outer(mean, mean)


def _blocks(
    kernel: Kernel, rows: np.ndarray, centers: np.ndarray, v: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the kernel matrix between blocks of rows and the centers."""
    step = max(1, BLOCK_NUMBERS // max(len(centers), 1))
    for first in range(0, len(rows), step):
        yield kernel(rows[first : first + step], centers, v)


def _double_centered(K: np.ndarray) -> np.ndarray:
    mean = K.mean(axis=0)
    return K - mean - mean[:, None] + mean.mean()


def _top(K: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues with their vectors, the largest first."""
    n = len(K)
    values, vectors = eigh(K, subset_by_index=[n - k, n - 1])
    return values[::-1], vectors[:, ::-1]


def _of_full_rank(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kept = values > LEAST_EIGENVALUE * max(values[0], np.finfo(float).tiny)
    return values[kept], vectors[:, kept]


def _with_sign(vectors: np.ndarray) -> np.ndarray:
    """Return vectors whose largest entries are positive: a sign that the order of rows leaves."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


# -- columns against permuted columns ---------------------------------------------------------


def expand_columns(job: Job, most_rows: int = DEPENDENCE_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return a few functions of every column on some rows, and the weight that each belongs to.

    Functions of one weight stand together and are centered.
    """
    columns, rows = job.prepared.columns, job.prepared.rows
    sample, _ = rows.load()
    n = len(sample.X)
    kept = np.linspace(0, n - 1, min(n, most_rows)).astype(int)
    Z = np.asarray(sample.X, dtype=float)[kept][:, columns.index] - columns.center
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    basis = make_basis(Z, np.ones(len(Z)), gamma=GAMMA, n_functions=N_FUNCTIONS, n_knots=N_KNOTS)
    features = basis.expand(Z)
    groups = job.prepared.groups
    owner = basis.sources if groups is None else groups[basis.sources]
    order = np.argsort(owner, kind="stable")
    return features[:, order] - features[:, order].mean(axis=0), owner[order]


def dependence_scores(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return how much each weight's columns depend on those of each weight of another table.

    It is the alignment of their Gram matrices, between 0 and 1, of shape (p, q).
    """
    (A, a_owner), (B, b_owner) = left, right
    a_first, b_first = (np.unique(owner, return_index=True)[1] for owner in (a_owner, b_owner))
    cross = np.empty((len(a_first), len(b_first)))
    step = max(1, BLOCK_NUMBERS // (B.shape[1] * N_FUNCTIONS))
    for start in range(0, len(a_first), step):
        part = a_first[start : start + step]
        end = a_first[start + step] if start + step < len(a_first) else A.shape[1]
        products = (A[:, part[0] : end].T @ B) ** 2
        products = np.add.reduceat(products, b_first, axis=1)
        cross[start : start + step] = np.add.reduceat(products, part - part[0], axis=0)
    sizes = [_own_sizes(*pair) for pair in ((A, a_first), (B, b_first))]
    return cross / np.multiply.outer(*sizes)


def _own_sizes(A: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the norm of the Gram matrix of every weight's columns."""
    ends = [*first[1:], A.shape[1]]
    norms = (np.linalg.norm(A[:, a:z].T @ A[:, a:z]) for a, z in zip(first, ends, strict=True))
    return np.maximum(np.fromiter(norms, float), 1e-300)


def permuted(A: np.ndarray, owner: np.ndarray, seed: int, draw: int) -> np.ndarray:
    """Return columns permuted independently, those of one weight, which stand together, alike.

    The permutation of a weight's columns depends on nothing but the two numbers and the weight, so
    that sets of columns can be compared without the noise of different permutations.
    """
    result = np.empty_like(A)
    weights, first = np.unique(owner, return_index=True)
    ends = [*first[1:], A.shape[1]]
    for weight, start, end in zip(weights, first, ends, strict=True):
        order = np.random.default_rng([seed, draw, int(weight)]).permutation(len(A))
        result[:, start:end] = A[order, start:end]
    return result


def dependence_weights(job: Job, seed: int | None) -> tuple[np.ndarray, bool]:
    """Return starting weights that favor columns which depend on other columns.

    A column counts by how far its dependence on others exceeds the largest one among columns that
    were permuted independently. Every column keeps a small share. The second value says whether
    any dependence exceeds chance; without, the weights are equal.
    """
    problem = job.problem
    equal = scaled_weights(problem)
    features, owner = expand_columns(job)
    p = problem.n_weights
    if p < 2:
        return equal, False
    work = len(features) * features.shape[1] ** 2
    chance = 0.0
    for draw in range(int(np.clip(NULL_WORK // work, FEWEST_NULLS, MOST_NULLS))):
        shuffled = permuted(features, owner, seed or 0, draw)
        chance = max(chance, _off_diagonal(shuffled, owner).max())
    excess = np.maximum(_off_diagonal(features, owner) - chance, 0.0)
    strength = np.sqrt((excess**2).sum(axis=1))
    if not strength.any():
        return equal, False
    return favor(problem, strength), True


def favor(problem: Problem, strength: np.ndarray) -> np.ndarray:
    """Return starting weights in proportion to a strength, of which every column has a share."""
    equal = scaled_weights(problem)
    v = equal**2 if problem.absorbing else equal
    n_columns = np.ones(len(v))
    if not problem.kernel.expands:
        n_columns = problem.features.columns_of(np.arange(len(v))).astype(float)
    favored = strength * (v @ n_columns) / (strength @ n_columns)
    v = EQUAL_SHARE * v + (1.0 - EQUAL_SHARE) * favored
    return np.minimum(np.sqrt(v) if problem.absorbing else v, 1.0)


def _off_diagonal(features: np.ndarray, owner: np.ndarray) -> np.ndarray:
    scores = dependence_scores((features, owner), (features, owner))
    np.fill_diagonal(scores, 0.0)
    return scores


def structure_gap(
    job: Job, X: np.ndarray, w: np.ndarray, k: int, n_permutations: int, seed: int | None
) -> tuple[float, float]:
    """Return how much more variance the leading components have than those of permuted columns.

    The weights stay as they are and the columns are permuted independently, so that a column on its
    own, however its values lie, gives nothing. The second value is the standard deviation over the
    permutations.

    Parameters
    ----------
    job : Job
    X : ndarray of shape (n, q)
        What the kernel sees of the rows; at most ``GAP_ROWS`` of them are used.
    w : ndarray of shape (n_weights,)
    k, n_permutations : int
    seed : int or None
    """
    check_number(n_permutations, "n_permutations", low=2, integer=True)
    problem = job.problem
    subset = problem.features.select(np.flatnonzero(w))
    kept = np.linspace(0, len(X) - 1, min(len(X), GAP_ROWS)).astype(int)
    rows = X[kept][:, subset.columns]
    v = subset.form_weights(w)
    owner = subset.active if subset.owner is None else subset.active[subset.owner]
    own = _share_of_variance(problem.kernel(rows, rows, v), k)
    others = []
    for draw in range(n_permutations):
        shuffled = permuted(rows, owner, seed or 0, draw)
        others.append(_share_of_variance(problem.kernel(shuffled, shuffled, v), k))
    return own - float(np.mean(others)), float(np.std(others, ddof=1))


def _share_of_variance(K: np.ndarray, k: int) -> float:
    """Return the share of the k largest eigenvalues in the trace of a centered kernel matrix."""
    K, n = _double_centered(K), len(K)
    k = min(k, n)
    values = eigh(K, subset_by_index=[n - k, n - 1], eigvals_only=True)
    return float(values.sum() / max(np.trace(K), np.finfo(float).tiny))
