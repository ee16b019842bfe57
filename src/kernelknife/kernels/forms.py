"""The weighted forms that kernels are profiles of, and their derivatives.

A form takes the rows of ``X`` and ``Z`` and the weights ``v``, and gives ``S`` with one matrix
product where it can. Its derivatives in ``v`` come contracted with a matrix ``M`` of the size of
``S``, a :class:`Scaled`, so that no array of rows by rows by features is ever made.
"""

from abc import ABC, abstractmethod
from functools import cache

import numpy as np
from scipy.spatial.distance import cdist

from kernelknife._utils.arrays import Array, namespace, nonnegative, to_host

__all__ = ["FORMS", "DotForm", "Form", "Scaled"]

CACHED = 32_000  # numbers that stay in a core's cache


class Scaled:
    """A matrix times a number, multiplied out only when asked.

    Derivatives contract it with thin matrices; for kernels whose slope is a multiple of the
    kernel itself this saves every pass over an n x m array.
    """

    def __init__(self, matrix: Array, factor: float = 1.0) -> None:
        self.matrix = matrix
        self.factor = factor

    def __matmul__(self, other: Array) -> Array:
        images = self.matrix @ other
        if self.factor != 1.0:
            images *= self.factor
        return images

    def transposed(self) -> "Scaled":
        """Return the transpose."""
        return Scaled(self.matrix.T, self.factor)

    def between(self, left: Array, right: Array) -> Array:
        """Return ``left_k' M right_k`` for every pair of rows."""
        images = right @ self.matrix.T
        if isinstance(images, np.ndarray):
            return self.factor * np.einsum("kj,kj->k", left, images)
        return self.factor * namespace(images).sum(left * images, axis=1)


@cache
def _pairs(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of indices ``j <= k``; they are kept, because few sizes are ever needed."""
    return np.triu_indices(p)


class Form(ABC):
    """What a kernel's profile is applied to: one number for two rows, linear in the weights ``v``.

    Attributes
    ----------
    translation_invariant : bool
        Whether shifting a column leaves the form unchanged.
    differentiable_twice : bool
        Whether a sum of products of two derivatives can be had, a ``hessian``.
    """

    translation_invariant = True
    differentiable_twice = True

    @staticmethod
    @abstractmethod
    def matrix(X: Array, Z: Array, v: Array) -> Array:
        """Return the form of every row of ``X`` with every row of ``Z``, shape (n, m)."""

    @staticmethod
    @abstractmethod
    def diag(X: Array, v: Array) -> Array:
        """Return the form of every row with itself, shape (n,)."""

    @staticmethod
    @abstractmethod
    def jacobian(M: Scaled, X: Array, Z: Array, a: Array) -> Array:
        """Return ``J_ij = sum_l M_il a_l dS_il / dv_j``, shape (n, p)."""

    @staticmethod
    @abstractmethod
    def gradient(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> Array:
        """Return ``sum_il u_i M_il a_l dS_il / dv_j``, shape (p,)."""

    @staticmethod
    def hessian(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> np.ndarray:
        """Return ``sum_il u_i M_il a_l (dS_il / dv_j) (dS_il / dv_k)``, shape (p, p)."""
        raise NotImplementedError


class DotForm(Form):
    """``S = (X * v) Z'``."""

    translation_invariant = False

    @staticmethod
    def matrix(X: Array, Z: Array, v: Array) -> Array:
        if Z is X:
            # A product with its own transpose, of which only one half is computed.
            root = DotForm.root(X, v)
            return root @ root.T
        # The weights go to the side with fewer rows, for a smaller copy of it.
        if Z.shape[0] < X.shape[0]:
            return X @ (Z * v).T
        return (X * v) @ Z.T

    @staticmethod
    def root(X: Array, v: Array) -> Array:
        """Return P with ``S = P P'`` among the rows of ``X``."""
        return X * namespace(X).sqrt(v)

    @staticmethod
    def diag(X: Array, v: Array) -> Array:
        return (X * X) @ v

    @staticmethod
    def jacobian(M: Scaled, X: Array, Z: Array, a: Array) -> Array:
        J = M @ (a[:, None] * Z)
        J *= X
        return J

    @staticmethod
    def gradient(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> Array:
        return u @ DotForm.jacobian(M, X, Z, a)

    @staticmethod
    def hessian(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> np.ndarray:
        xp, (j, k) = namespace(X), _pairs(X.shape[1])
        if xp is not np:
            j, k = (xp.asarray(index, device=X.device) for index in (j, k))
        # With features as rows, taking pairs of them copies whole rows.
        left = xp.take(X.T, j, axis=0) * xp.take(X.T, k, axis=0) * u
        right = left
        if Z is not X or a is not u:
            right = xp.take(Z.T, j, axis=0) * xp.take(Z.T, k, axis=0) * a
        upper = to_host(M.between(left, right))
        H = np.empty((X.shape[1],) * 2)
        j, k = _pairs(X.shape[1])
        H[j, k] = H[k, j] = upper
        return H


class DistanceForm(Form):
    """``S_il = sum_j v_j (x_ij - z_lj)**2`` by one matrix product."""

    @staticmethod
    def matrix(X: Array, Z: Array, v: Array) -> Array:
        # The two squared norms ride along as extra columns of the product, which saves
        # two passes over the n x m result.
        xp = namespace(X)
        weighted = X * v
        left_norm = xp.sum(weighted * X, axis=1)[:, None]
        right_norm = left_norm if Z is X else xp.sum(Z * Z * v, axis=1)[:, None]
        one = xp.ones_like(left_norm)
        left = xp.concat([weighted * -2.0, left_norm, one], axis=1)
        right = xp.concat([Z, one if Z is X else xp.ones_like(right_norm), right_norm], axis=1)
        return nonnegative(left @ right.T)

    @staticmethod
    def diag(X: Array, v: Array) -> Array:
        return np.zeros(len(X))

    @staticmethod
    def jacobian(M: Scaled, X: Array, Z: Array, a: Array) -> Array:
        p = X.shape[1]
        weighted = Z * a[:, None]
        products = M @ namespace(X).concat([a[:, None], weighted, weighted * Z], axis=1)
        J = X * products[:, :1]
        J -= 2.0 * products[:, 1 : p + 1]
        J *= X
        J += products[:, p + 1 :]
        return J

    @staticmethod
    def gradient(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> Array:
        cross = u @ (X * (M @ (a[:, None] * Z)))
        rows, columns = u * (M @ a), a * (M.transposed() @ u)
        return rows @ (X * X) + columns @ (Z * Z) - 2.0 * cross

    @staticmethod
    def hessian(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> np.ndarray:
        # The nine terms of (x_j - z_j)^2 (x_k - z_k)^2, each a product with M or its transpose.
        xp, p = namespace(X), X.shape[1]
        corners = DotForm.hessian(M, X, Z, u, a)
        same = Z is X and a is u
        u = u[:, None]
        X2, uX = X * X, u * X
        a, Z2, aZ = (u, X2, uX) if same else (a[:, None], Z * Z, a[:, None] * Z)
        there = M @ xp.concat([a, aZ, a * Z2], axis=1)
        if same:
            # What is not symmetric is added to its transpose: one product is enough for both.
            rest = there[:, :1] * X2
            rest += there[:, p + 1 :]
            rest -= 4.0 * X * there[:, 1 : p + 1]
            half = X2.T @ (u * rest)
            return to_host(half + half.T) + 4.0 * corners
        mixed = X2.T @ (uX * there[:, 1 : p + 1])
        ends = X2.T @ (u * there[:, :1] * X2)
        both = X2.T @ (u * there[:, p + 1 :]) - 2.0 * mixed
        back = M.transposed() @ xp.concat([u, uX], axis=1)
        both = both - 2.0 * (aZ * back[:, 1:]).T @ Z2
        ends = ends + Z2.T @ (a * back[:, :1] * Z2)
        return to_host(ends + both + both.T) + 4.0 * corners


class AbsoluteForm(Form):
    """``S_il = sum_j v_j abs(x_ij - z_lj)``.

    No matrix product gives this form or its derivative: both cost ``n m p`` elementary
    steps, taken a few rows at a time so that the working set stays in cache.
    """

    differentiable_twice = False

    @staticmethod
    def matrix(X: Array, Z: Array, v: Array) -> Array:
        if not isinstance(X, np.ndarray):
            gaps = (v[j] * AbsoluteForm._gap(X, Z, j) for j in range(X.shape[1]))
            return sum(gaps)
        used = v > 0
        return cdist(X[:, used] * v[used], Z[:, used] * v[used], "cityblock")

    @staticmethod
    def diag(X: Array, v: Array) -> Array:
        return np.zeros(len(X))

    @staticmethod
    def _gap(X: Array, Z: Array, j: int) -> Array:
        return abs(X[:, j][:, None] - Z[:, j][None, :])

    @staticmethod
    def jacobian(M: Scaled, X: Array, Z: Array, a: Array) -> Array:
        if not isinstance(X, np.ndarray):
            slope = M.factor * M.matrix
            columns = [(slope * AbsoluteForm._gap(X, Z, j)) @ a for j in range(X.shape[1])]
            return namespace(X).stack(columns, axis=1)
        J = np.empty(X.shape, dtype=np.float32 if X.dtype == np.float32 else float)
        # A few rows at a time: many enough that the interpreter's time does not count, few enough
        # to stay in cache.
        step = max(1, CACHED // max(Z.size, 1))
        weights = (M.factor * M.matrix * a).astype(J.dtype)
        for first in range(0, len(X), step):
            rows = slice(first, first + step)
            # |x - z| is twice the larger minus both, and those are one product for all rows.
            larger = np.maximum(Z, X[rows, None, :])
            J[rows] = np.matmul(weights[rows, None, :], larger)[:, 0]
        J *= 2.0
        J -= X * weights.sum(axis=1)[:, None]
        J -= weights @ Z
        return J

    @staticmethod
    def gradient(M: Scaled, X: Array, Z: Array, u: Array, a: Array) -> Array:
        return u @ AbsoluteForm.jacobian(M, X, Z, a)


FORMS: dict[str, type[Form]] = {"dot": DotForm, "distance": DistanceForm, "absolute": AbsoluteForm}
