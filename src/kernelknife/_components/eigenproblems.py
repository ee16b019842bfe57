"""Regressions of scores of the rows, and the eigenproblems that the scores come from.

Kernel principal components, discriminants and canonical variates are all least squares against
some scores ``U`` of the rows, with ``U'U = n I``. :func:`set_up_table` sets up a table that has no
target, and ``setup.with_targets(U)`` is the regression of given scores. At fixed weights the scores
come from an eigenproblem of the centered kernel matrix: :func:`leading_components` solves it,
exactly or on centers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from kernelknife._engine import FitSpec, Setup, prepare_data, set_up
from kernelknife._engine.data import Rows
from kernelknife._engine.policy import component_centers
from kernelknife._utils.checks import draw_seed
from kernelknife.kernels import Kernel

__all__ = [
    "Components",
    "centered_features",
    "column_signs",
    "leading_components",
    "seen_columns",
    "set_up_table",
    "share_of_variance",
]

BLOCK_NUMBERS = 4_000_000  # numbers in the kernel matrix of a block of rows
LEAST_EIGENVALUE = 1e-10  # share of the largest below which an eigenvalue is rounding


def set_up_table(spec: FitSpec, rows: Rows) -> Setup:
    """Set up rows without a target; many rows go to centers.

    Centers and starts have a seed of their own, so that they do not repeat what else is drawn from
    that of the specification, such as the rows that are held out.
    """
    n_centers = component_centers(spec.n_centers, given=spec.gives_centers, n_rows=rows.shape[0])
    spec = replace(spec, n_centers=n_centers, seed=draw_seed(spec.seed))
    return set_up(spec, prepare_data(spec, rows))


def seen_columns(setup: Setup) -> np.ndarray:
    """Return what the kernel sees of all rows."""
    sample, _ = setup.data.rows.load()
    seen: np.ndarray = setup.data.columns.take(sample.X)
    return seen


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


def leading_components(setup: Setup, w: np.ndarray, k: int) -> Components:
    """Return the k leading components of all rows at the weights ``w``."""
    problem = setup.problem
    subset = problem.features.select(np.flatnonzero(w))
    rows, centers = seen_columns(setup)[:, subset.columns], problem.centers[:, subset.columns]
    v, kernel = subset.form_weights(w), problem.kernel
    if problem.exact:
        return _exact_components(kernel(rows, rows, v), k)
    return _centered_components(kernel, rows, centers, v, k)


def _exact_components(K: np.ndarray, k: int) -> Components:
    values, vectors = _top(_double_centered(K), k)
    vectors = vectors * column_signs(vectors)
    coef = vectors / np.sqrt(values)
    total = float(np.trace(K) - K.sum() / len(K))
    # The eigenvectors sum to zero, so that only the mean over the training rows is taken off.
    return Components(vectors * np.sqrt(values), values, total, coef, -K.mean(axis=0) @ coef)


def _centered_components(
    kernel: Kernel, rows: np.ndarray, centers: np.ndarray, v: np.ndarray, k: int
) -> Components:
    """Return the components of the kernel matrix as seen through the centers (Nystrom)."""
    root, mean, gram = _centered_factor(kernel, rows, centers, v)
    values, axes = _top(gram, k)
    coef, intercept = root @ axes, -mean @ axes
    parts = [K @ coef + intercept for K in _blocks(kernel, rows, centers, v)]
    scores = np.concatenate(parts)
    sign = column_signs(scores)
    return Components(scores * sign, values, float(np.trace(gram)), coef * sign, intercept * sign)


def centered_features(setup: Setup, X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return features whose products are the centered kernel matrix, or its form on centers.

    Parameters
    ----------
    X : ndarray of shape (n, q)
        What the kernel sees of all rows.
    w : ndarray of shape (n_weights,)
    """
    problem = setup.problem
    subset = problem.features.select(np.flatnonzero(w))
    rows, v = X[:, subset.columns], subset.form_weights(w)
    if problem.exact:
        values, vectors = np.linalg.eigh(_double_centered(problem.kernel(rows, rows, v)))
        kept = values > LEAST_EIGENVALUE * values[-1]
        features: np.ndarray = vectors[:, kept] * np.sqrt(values[kept])
        return features
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
    centered: np.ndarray = K - mean - mean[:, None] + mean.mean()
    return centered


def _top(K: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues that are not zero with their vectors, the largest first."""
    n = len(K)
    values, vectors = eigh(K, subset_by_index=[n - min(k, n), n - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > LEAST_EIGENVALUE * max(values[0], np.finfo(float).tiny)
    return values[kept], vectors[:, kept]


def column_signs(A: np.ndarray) -> np.ndarray:
    """Return the sign of the largest entry of each column, which the order of rows leaves as it is.

    Eigenvectors are determined up to their sign; times this one they are the same every time.
    """
    largest = A[np.abs(A).argmax(axis=0), np.arange(A.shape[1])]
    return np.where(largest < 0, -1.0, 1.0)


def share_of_variance(K: np.ndarray, k: int) -> float:
    """Return the share of the k largest eigenvalues in the trace of a centered kernel matrix."""
    K, n = _double_centered(K), len(K)
    values = eigh(K, subset_by_index=[n - min(k, n), n - 1], eigvals_only=True)
    return float(values.sum() / max(np.trace(K), np.finfo(float).tiny))
