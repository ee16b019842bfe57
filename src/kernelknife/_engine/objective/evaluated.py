"""The kernel at some weights: its matrix, and derivatives of sums of it, in full or of low rank.

As columns leave a path, the kernel matrix of its rows is soon one of low rank. Of ``m`` rows ``Z``,
the pivots, ``G = K(X, Z)`` and ``M = K(Z, Z) = L L'`` follow ``P = G L^-T`` and

    K = P P' + E,      E positive semidefinite,

where the trace of ``E`` is known without ``E``. Pivots are added until it is below what is asked;
how many that takes is found, never set. With the loss's curvature at most ``h`` per unit of weight
and weights at most ``s``, the objective of ``P P'`` is at least that of ``K``, and at most
``1 + h s trace(E) / (2 alpha)`` times as large, because ``alpha c'E c`` lies between both at the
coefficients ``c`` of ``P P'``, and a loss that is not negative has ``loss'**2 <= 2 h loss``.

The derivative with fixed pivots is that of ``G M^-1 G'``. With ``beta = M^-1 G' c`` it is

    d(K c) = dG beta + P L^-1 q,      q = dG' c - dM beta,
    c' dK c = 2 c' dG beta - beta' dM beta,
    c' d2K c = 2 c' d2G beta - beta' d2M beta + 2 q' M^-1 q.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg.lapack import dpstrf, dtrtrs

from kernelknife._engine.objective.factors import (
    THIN_SHARE,
    DenseMatrix,
    KernelMatrix,
    ProductMatrix,
)
from kernelknife._engine.objective.features import Chain
from kernelknife.kernels import Kernel

__all__ = ["Evaluated", "FullKernel", "Index", "LowRankKernel"]

Index: TypeAlias = np.ndarray | slice  # of some rows or columns, or of all

# Pivots of the first block; every block doubles them. The residual of a pivot is at least this
# share of the mean one, so that a block does not take rows that say nearly the same.
FIRST_PIVOTS, LEAST_PIVOT = 24, 0.05
LEAST_ROWS = 500  # below, Cholesky's factorization is as quick as a search for pivots
BLOCK = 500  # rows of a derivative in columns without weight, which needs the matrix in full


class Evaluated(ABC):
    """The kernel at some weights; ``matrix`` is what the coefficients are solved with."""

    matrix: KernelMatrix

    @abstractmethod
    def jacobian(self, c: np.ndarray, rows: Index, X: np.ndarray) -> np.ndarray:
        """Return the derivative of ``(K c)[rows]`` in the form's ``v`` of the columns ``X``."""

    @abstractmethod
    def gradient(self, C: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return the derivative of ``tr(C' K C)`` in the form's ``v`` of the columns ``X``."""

    @abstractmethod
    def hessian(self, C: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return the second derivative of ``tr(C' K C)``, of columns or of groups of them."""


@dataclass(frozen=True)
class FullKernel(Evaluated):
    """The form and the kernel matrix of all rows, None where no derivative needs them."""

    kernel: Kernel
    X: np.ndarray
    S: np.ndarray | None
    K: np.ndarray | None
    matrix: KernelMatrix

    @classmethod
    def of(cls, kernel: Kernel, X: np.ndarray, v: np.ndarray) -> "FullKernel":
        """Return it for the columns with weight and what the form takes of them."""
        S, K = kernel.evaluate(X, X, v)
        return cls(kernel, X, S, K, DenseMatrix(K))

    def jacobian(self, c: np.ndarray, rows: Index, X: np.ndarray) -> np.ndarray:
        """Only the rows of ``c`` that are not zero enter: the support vectors."""
        used: Index = slice(None)
        if np.count_nonzero(c) < len(c):
            used = c.nonzero()[0]
        S = K = None
        if not self.kernel.identity:
            S, K = _part(self.S, rows, used), _part(self.K, rows, used)
        J: np.ndarray = self.kernel.jacobian(X[rows], X[used], S, K, c[used])
        return J

    def gradient(self, C: np.ndarray, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.kernel.gradient(X, X, self.S, self.K, C, C))

    def hessian(self, C: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        X, S, K = self.X, self.S, self.K
        if np.count_nonzero(C) < C.size and not C.any(axis=1).all():
            used = np.flatnonzero(C.any(axis=1))
            X, C = X[used], C[used]
            S, K = _part(S, used, used), _part(K, used, used)
        return _hessian(self.kernel, X, X, S, K, C, C, first)


@dataclass(frozen=True)
class LowRankKernel(Evaluated):
    """A kernel matrix ``P P'``, and what it is made of.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray of shape (n, q)
        The columns with weight.
    v : ndarray of shape (q,)
        What the form takes of them.
    pivots : ndarray of int of shape (m,)
    S, G : ndarray of shape (n, m)
        The form, None where no derivative needs it, and the kernel of all rows with the pivots.
    matrix : ProductMatrix
    L : ndarray of shape (m, m)
        Cholesky's factor of the pivots' kernel matrix.
    """

    kernel: Kernel
    X: np.ndarray
    v: np.ndarray
    pivots: np.ndarray
    S: np.ndarray | None
    G: np.ndarray
    matrix: ProductMatrix
    L: np.ndarray

    @classmethod
    def find(
        cls, kernel: Kernel, X: np.ndarray, v: np.ndarray, enough: float, n_curved: int
    ) -> "LowRankKernel | None":
        """Return it with a trace of the rest of at most ``enough``.

        None where that takes so many pivots that the full matrix is the faster one, of which
        ``n_curved`` rows would be factorized. The pivots are
        random rows, the more probable the more of them is not yet described (randomly pivoted
        Cholesky, Chen, Epperly, Tropp and Webber 2024), by a seed that is always the same.
        """
        n, most = len(X), int(THIN_SHARE * n_curved)
        rest = np.array(kernel.diag(X, v), dtype=float)
        total, rng = float(rest.sum()), np.random.default_rng(0)
        if n_curved < LEAST_ROWS or not total > enough > 0.0:
            return None
        pivots = np.zeros(0, dtype=int)
        forms: list[np.ndarray] = []
        G, P = np.empty((most, n)).T, np.empty((most, n)).T
        trace = total
        while trace > enough:
            m = len(pivots)
            # The logarithm of the trace falls no faster than at first, unless there are only few
            # functions, or few different rows, and it ends.
            further = m * np.log(total / enough) / max(np.log(total / trace), 1e-300)
            hopeless = m > FIRST_PIVOTS and further > most
            size = min(max(FIRST_PIVOTS, m), most - m, int(np.count_nonzero(rest)))
            if hopeless or size <= 0:
                return None
            drawn = rng.choice(n, size, replace=False, p=rest / trace)
            S, new = kernel.evaluate(X, X[drawn], v)
            left = new - P[:, :m] @ P[drawn, :m].T
            L, order, rank, _ = dpstrf(left[drawn], LEAST_PIVOT * trace / n, lower=1)
            rank = max(int(rank), 1)
            taken = order[:rank] - 1
            fresh = dtrtrs(L[:rank, :rank], left[:, taken].T, lower=1)[0].T
            G[:, m : m + rank], P[:, m : m + rank] = new[:, taken], fresh
            if S is not None:
                forms.append(S[:, taken])
            pivots = np.append(pivots, drawn[taken])
            rest -= np.einsum("ij,ij->i", fresh, fresh)
            rest[pivots] = 0.0
            np.maximum(rest, 0.0, out=rest)
            trace = float(rest.sum())
        form = np.concatenate(forms, axis=1) if forms else None
        G, P = G[:, : len(pivots)], P[:, : len(pivots)]
        return cls(kernel, X, v, pivots, form, G, ProductMatrix(P), np.tril(P[pivots]))

    def _beta(self, C: np.ndarray) -> np.ndarray:
        """Return the coefficients of the pivots with the same function."""
        beta: np.ndarray = dtrtrs(self.L, self.matrix.P.T @ C, lower=1, trans=1)[0]
        return beta

    def _of_pivots(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the columns, the form and the kernel matrix of the pivots."""
        S = None if self.S is None else self.S[self.pivots]
        return self.X[self.pivots], S, self.G[self.pivots]

    def _response(self, c: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return ``L^-1 q`` in the form's ``v``."""
        Z, S, M = self._of_pivots()
        q = self.kernel.jacobian(Z, self.X, None if self.S is None else self.S.T, self.G.T, c)
        q -= self.kernel.jacobian(Z, Z, S, M, beta)
        response: np.ndarray = dtrtrs(self.L, q, lower=1)[0]
        return response

    def jacobian(self, c: np.ndarray, rows: Index, X: np.ndarray) -> np.ndarray:
        beta = self._beta(c)
        S = None if self.S is None else self.S[rows]
        J = self.kernel.jacobian(X[rows], X[self.pivots], S, self.G[rows], beta)
        J += self.matrix.P[rows] @ self._response(c, beta)
        return np.asarray(J)

    def gradient(self, C: np.ndarray, X: np.ndarray) -> np.ndarray:
        if X is self.X:
            beta, (Z, S, M) = self._beta(C), self._of_pivots()
            there = self.kernel.gradient(X, Z, self.S, self.G, C, beta)
            return np.asarray(2.0 * there - self.kernel.gradient(Z, Z, S, M, beta, beta))
        # With a column that has no weight the pivots no longer describe the others.
        total = np.zeros(X.shape[1])
        for begin in range(0, len(X), BLOCK):
            rows = slice(begin, begin + BLOCK)
            S, K = self.kernel.evaluate(self.X[rows], self.X, self.v)
            total += self.kernel.gradient(X[rows], X, S, K, C[rows], C)
        return total

    def hessian(self, C: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        kernel, beta, (Z, S, M) = self.kernel, self._beta(C), self._of_pivots()
        H = 2.0 * _hessian(kernel, self.X, Z, self.S, self.G, C, beta, first)
        H -= _hessian(kernel, Z, Z, S, M, beta, beta, first)
        for q in range(C.shape[1]):
            R = Chain(None, first)(self._response(C[:, q], beta[:, q]))
            H += 2.0 * (R.T @ R)
        return H


def _hessian(
    kernel: Kernel,
    X: np.ndarray,
    Z: np.ndarray,
    S: np.ndarray | None,
    K: np.ndarray | None,
    U: np.ndarray,
    A: np.ndarray,
    first: np.ndarray | None,
) -> np.ndarray:
    """Return the kernel's second derivatives, summed over groups where there are some."""
    if first is None:
        return np.asarray(kernel.hessian(X, Z, S, K, U, A))
    return kernel.grouped_hessian(X, Z, S, K, U, A, first)


def _part(matrix: np.ndarray | None, rows: Index, columns: Index) -> np.ndarray | None:
    """Return some rows and columns of a matrix, None of None."""
    if matrix is None or (isinstance(rows, slice) and isinstance(columns, slice)):
        return matrix
    # One after the other, which is three times as fast as both at once.
    part: np.ndarray = matrix[rows][:, columns]
    return part
