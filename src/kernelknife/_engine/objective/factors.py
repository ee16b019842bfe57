"""Kernel matrices ``K``, and factorizations of ``M = K + D`` with a positive diagonal ``D``.

A factorization is some ``M = L L'`` that is used only through ``L^-1`` and ``L^-T``. Cholesky's
takes the cube of the rows. A kernel matrix that is a product of few columns, ``K = P P'``, needs
none of it: with ``S = D^-1/2 P``,

    M = D^1/2 (I + S S') D^1/2,      I + S S' = A A',      A^-1 = I - S G S',

where ``A = I + S (I + N)^-1 S'`` and ``G = (N + N N')^-1`` follow from Cholesky's factorization
``N N' = I + S'S`` of a small matrix.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs

from kernelknife._utils.arrays import gram

__all__ = [
    "CholeskyFactor",
    "DenseMatrix",
    "Factor",
    "IndefiniteKernelError",
    "KernelMatrix",
    "ProductMatrix",
    "ThinFactor",
    "is_thin",
]

# A product of columns pays from this number of rows on, with at most this share of columns.
THIN_ROWS, THIN_SHARE = 300, 0.35
DEPENDENT = 1e-10  # share of the largest singular value of the unpenalized columns that is rounding


class IndefiniteKernelError(ValueError):
    """The regularized kernel matrix is not positive definite."""


def is_thin(n_rows: int, n_columns: int) -> bool:
    """Whether a product ``P P'`` of few columns is better left as it is than multiplied out."""
    return n_rows >= THIN_ROWS and n_columns <= THIN_SHARE * n_rows


class KernelMatrix(ABC):
    """The kernel matrix of the rows, as far as the coefficients need it."""

    @abstractmethod
    def __matmul__(self, C: np.ndarray) -> np.ndarray:
        """Return ``K C``."""

    @abstractmethod
    def part(self, rows: np.ndarray) -> np.ndarray:
        """Return some rows and the same columns, as a new array in C order."""

    @abstractmethod
    def factorize(self, rows: np.ndarray, shift: np.ndarray, U: np.ndarray) -> "Factor":
        """Return the :class:`Factor` of ``K[rows, rows] + diag(shift)``, bordered by ``U[rows]``.

        ``U`` are the unpenalized columns of all rows.
        """


@dataclass(frozen=True)
class DenseMatrix(KernelMatrix):
    """A kernel matrix that is given by its entries.

    Attributes
    ----------
    K : ndarray of shape (n, n)
    """

    K: np.ndarray

    def __matmul__(self, C: np.ndarray) -> np.ndarray:
        product: np.ndarray = self.K @ C
        return product

    def part(self, rows: np.ndarray) -> np.ndarray:
        """Return some rows and the same columns; taken one after the other it is fast."""
        if len(rows) == len(self.K):
            return self.K.copy()
        return self.K.take(rows, axis=0).take(rows, axis=1)

    def factorize(self, rows: np.ndarray, shift: np.ndarray, U: np.ndarray) -> "Factor":
        """Return Cholesky's factorization."""
        return CholeskyFactor.of(self, rows, shift, U)


@dataclass(frozen=True)
class ProductMatrix(KernelMatrix):
    """A kernel matrix ``K = P P'`` of few columns, which is never formed as a whole.

    Attributes
    ----------
    P : ndarray of shape (n, r)
    """

    P: np.ndarray

    def __matmul__(self, C: np.ndarray) -> np.ndarray:
        product: np.ndarray = self.P @ (self.P.T @ C)
        return product

    def part(self, rows: np.ndarray) -> np.ndarray:
        """Return the product of some rows of the columns."""
        some = self._of(rows)
        product: np.ndarray = some @ some.T
        return product

    def factorize(self, rows: np.ndarray, shift: np.ndarray, U: np.ndarray) -> "Factor":
        """Return a thin factorization, or Cholesky's where few rows are factorized."""
        if is_thin(len(rows), self.P.shape[1]):
            return ThinFactor.of(rows, U, self._of(rows), shift)
        return CholeskyFactor.of(self, rows, shift, U)

    def _of(self, rows: np.ndarray) -> np.ndarray:
        return self.P if len(rows) == len(self.P) else self.P[rows]


@dataclass(frozen=True)
class Factor(ABC):
    """A factorization ``M = L L'`` on the curved rows, bordered by the unpenalized columns.

    Attributes
    ----------
    rows : ndarray of int
        The curved rows.
    U : ndarray of shape (n, r)
        The unpenalized columns of all rows: ones for the intercept, and any others.
    """

    rows: np.ndarray
    U: np.ndarray

    @cached_property
    def border(self) -> tuple[np.ndarray, np.ndarray] | None:
        """``Q`` and ``T`` with ``L^-1 U = Q T^+`` and ``Q'Q = I``, None without columns."""
        if not self.U.shape[1] or not len(self.rows):
            return None
        half = self.down(self.U[self.rows])
        size = float(np.sqrt(half[:, 0] @ half[:, 0]))
        if half.shape[1] == 1 and size > 0.0:
            return half / size, np.array([[1.0 / size]])
        left, values, right = np.linalg.svd(half, full_matrices=False)
        # Of columns that depend on each other on these rows one is enough.
        kept = values > DEPENDENT * values[0]
        return left[:, kept], right[kept].T / values[kept]

    @abstractmethod
    def down(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-1 z``; ``z`` may be 2-d."""

    @abstractmethod
    def up(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-T z``; ``z`` may be 2-d and may be overwritten."""

    def solve_bordered(
        self, z: np.ndarray, total: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return ``c, b`` with ``M c + U b = z`` and ``U'c = total``, or 0; ``z`` may be 2-d."""
        z = self.down(z)
        if self.border is None:
            return self.up(z), np.zeros((self.U.shape[1], *z.shape[1:]))
        # In whitened form the columns are a projection: L'c = L^-1 z - L^-1 U b.
        Q, T = self.border
        part = Q.T @ z
        if total is not None:
            part -= T.T @ total
        z -= Q @ part
        return self.up(z), T @ part

    def whiten(self, A: np.ndarray) -> np.ndarray:
        """Return V with ``V'V = A' P A``, P the (bordered) inverse; may overwrite ``A``."""
        if not len(self.rows):
            return A
        V = self._down_in_place(A)
        if self.border is not None:
            Q = self.border[0]
            V -= Q @ (Q.T @ V)
        return V

    def unwhiten(self, v: np.ndarray) -> np.ndarray:
        """Return ``L^-T v``: from whitened changes to changes of the coefficients."""
        return self.up(v.copy()) if len(self.rows) else v

    def _down_in_place(self, A: np.ndarray) -> np.ndarray:
        return self.down(A)


@dataclass(frozen=True)
class CholeskyFactor(Factor):
    """Cholesky's factorization; ``L`` is the lower triangle, in Fortran order."""

    L: np.ndarray

    @classmethod
    def of(
        cls, K: KernelMatrix, rows: np.ndarray, shift: np.ndarray, U: np.ndarray
    ) -> "CholeskyFactor":
        """Return it for some rows of a kernel matrix and the diagonal ``shift``."""
        return cls(rows, U, _cholesky(K, rows, shift))

    def down(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-1 z``."""
        solution: np.ndarray = dtrtrs(self.L, z, lower=1)[0]
        return solution

    def up(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-T z``."""
        solution: np.ndarray = dtrtrs(self.L, z, lower=1, trans=1, overwrite_b=1)[0]
        return solution

    def _down_in_place(self, A: np.ndarray) -> np.ndarray:
        V: np.ndarray = dtrsm(1.0, self.L, A.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        return V


@dataclass(frozen=True)
class ThinFactor(Factor):
    """The factorization of a diagonal and a product of few columns.

    Attributes
    ----------
    scale : ndarray of shape (m,)
        ``D^-1/2``.
        With ``L = D^1/2 A``.
    S : ndarray of shape (m, r)
    G : ndarray of shape (r, r)
    """

    scale: np.ndarray
    S: np.ndarray
    G: np.ndarray

    @classmethod
    def of(
        cls, rows: np.ndarray, unpenalized: np.ndarray, P: np.ndarray, shift: np.ndarray
    ) -> "ThinFactor":
        """Return it for the columns ``P`` of the curved rows and the diagonal ``shift``."""
        scale = 1.0 / np.sqrt(shift)
        S = P * scale[:, None]
        if not P.shape[1]:  # LAPACK complains of a matrix without columns
            return cls(rows, unpenalized, scale, S, np.zeros((0, 0)))
        N = gram(S)
        N.flat[:: len(N) + 1] += 1.0
        N = dpotrf(N, lower=1, overwrite_a=1, clean=1)[0]
        inverse = dtrtri(N, lower=1)[0]
        N.flat[:: len(N) + 1] += 1.0
        return cls(rows, unpenalized, scale, S, dtrtrs(N, inverse, lower=1, trans=1)[0])

    def down(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-1 z``."""
        z = (self.scale * z.T).T
        z -= self.S @ (self.G @ (self.S.T @ z))
        return z

    def up(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-T z``."""
        solution: np.ndarray = (self.scale * (z - self.S @ (self.G.T @ (self.S.T @ z))).T).T
        return solution


def _cholesky(K: KernelMatrix, rows: np.ndarray, shift: np.ndarray) -> np.ndarray:
    M = K.part(rows)
    M.flat[:: len(M) + 1] += shift
    if not len(rows):
        return M
    # M is symmetric, so its transpose is the Fortran-ordered matrix LAPACK wants in place.
    L: np.ndarray
    L, info = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    if info > 0:
        L, info = _with_jitter(K, rows, shift)
    if info > 0:
        raise IndefiniteKernelError(
            "The kernel matrix plus its regularization is not positive definite at these "
            "weights: raise alpha, or lower the kernel's gamma (or raise a negative coef0)."
        )
    return L


def _with_jitter(K: KernelMatrix, rows: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, int]:
    """Try again with what rounding may have taken from a semi-definite matrix."""
    M = K.part(rows)
    diagonal = np.abs(M.flat[:: len(M) + 1])
    M.flat[:: len(M) + 1] += shift + 1e-13 * len(M) * diagonal.max()
    L, info = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    return L, info
