"""The fitted machine: what is needed to predict, and nothing else."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from kernelknife.kernels import Kernel

__all__ = ["Machine", "build_machine", "refit_hinge"]

BLOCK_BYTES = 2**25


@dataclass(frozen=True)
class Machine:
    """Support vectors in the selected columns, with their coefficients.

    Attributes
    ----------
    kernel : Kernel
    selected : ndarray of int
        The user's columns that carry a weight.
    center, scale : ndarray of shape (n_selected,)
        Standardisation of those columns.
    v : ndarray of shape (n_selected,)
        Their weights as the kernel's form takes them.
    support : ndarray of int
        The user's rows that carry a coefficient.
    vectors : ndarray of shape (n_support, n_selected)
        Those rows, standardised.
    coef : ndarray of shape (n_support, k)
    intercept : ndarray of shape (k,)
    """

    kernel: Kernel
    selected: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    v: np.ndarray
    support: np.ndarray
    vectors: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def _standardized(self, X):
        return (X[:, self.selected] - self.center) / self.scale

    def kernel_matrix(self, X):
        """Return the weighted kernel matrix of a user's rows."""
        Z = self._standardized(X)
        return self.kernel(Z, Z, self.v)

    def scores(self, X):
        """Return the scores of a user's rows, in blocks of bounded memory."""
        out = np.empty((len(X), len(self.intercept)))
        rows = max(1, BLOCK_BYTES // (8 * max(1, len(self.vectors))))
        for first in range(0, len(X), rows):
            block = slice(first, first + rows)
            Z = self._standardized(X[block])
            out[block] = self.kernel(Z, self.vectors, self.v) @ self.coef + self.intercept
        return out


def build_machine(problem, columns, rows, column_weights, C, b):
    """Keep the rows with a coefficient and the columns with a weight.

    Parameters
    ----------
    problem : Problem
    columns : Columns
    rows : ndarray of int
        The user's index of each of the problem's rows.
    column_weights : ndarray, one per varying column
    C, b : ndarray
        Coefficients and intercepts.
    """
    selected = np.flatnonzero(column_weights)
    support = np.flatnonzero(C.any(axis=1))
    w = column_weights[selected]
    return Machine(
        kernel=problem.kernel,
        selected=columns.varying[selected],
        center=columns.center[selected],
        scale=columns.scale[selected],
        v=w if problem.kernel.linear_in_weights else w * w,
        support=rows[support],
        vectors=np.ascontiguousarray(problem.data[np.ix_(support, selected)]),
        coef=C[support],
        intercept=np.asarray(b, dtype=float),
    )


def refit_hinge(K, Y, sample_weight, alpha):
    """Return coefficients and intercepts of support vector machines on a given kernel.

    ``sum_i s_i max(0, 1 - y_i f_i) + alpha |f|^2`` is ``SVC``'s objective with
    ``C = 1 / (2 alpha)``, divided by ``C``.
    """
    C, b = np.zeros(Y.shape), np.zeros(Y.shape[1])
    for q, y in enumerate(Y.T):
        # The limit of steps is for a tiny alpha, where they would never end; SVC then warns.
        svm = SVC(
            C=0.5 / alpha, kernel="precomputed", tol=1e-10, cache_size=500, max_iter=1_000_000
        )
        svm.fit(K, y, sample_weight=sample_weight)
        C[svm.support_, q] = svm.dual_coef_[0]
        b[q] = svm.intercept_[0]
    return C, b
