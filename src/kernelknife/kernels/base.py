"""What all kernels share: the matrix and its derivatives, from a profile of a weighted form."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelknife._utils.arrays import Array, namespace, to_host
from kernelknife.kernels.basis import Basis
from kernelknife.kernels.forms import FORMS, Form, Scaled

__all__ = ["Kernel"]

SINGLE_RANGE = 1e9  # values whose squares, and sums of these, single precision can hold
GROUPED_NUMBERS = 4_000_000  # size of the arrays that a Hessian of groups works on at a time
# Methods that a kernel may replace by faster ones, which are right for its own profile only.
SHORTCUTS = (
    *("__call__", "evaluate", "jacobian", "gradient"),
    *("hessian", "grouped_hessian", "_scaled_slope", "_scaled_curve"),
)


class Kernel(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base of all kernels: a profile of a weighted form.

    A subclass names its ``form`` and gives ``profile`` and ``slope``. Its constructor
    arguments are plain attributes, so ``kernel__gamma`` works in a grid search.

    Attributes
    ----------
    form : {"dot", "distance", "absolute"}
        The weighted form that the profile is applied to.
    linear_in_weights : bool
        Whether the form takes the weights themselves instead of their squares.
    convex : bool
        Whether the eliminated objective is convex in the weights; the solver then
        reaches the global minimum and may revive a weight from zero.
    indefinite : bool
        Whether its matrices may have negative eigenvalues.
    identity : bool
        Whether the kernel is its form, ``profile(s) = s``, and has a ``jacobian`` and a
        ``gradient`` that need neither matrix, None in their place. If the form is that of inner
        products and the kernel is convex, the matrix, a product of few columns, is then not made.
    expands : bool
        Whether the kernel sees a column through functions of it, its basis.
    order : int
        Largest number of columns that act together where a model is a sum of effects with names;
        0 for a joint function of all columns.
    multimodal : bool
        Whether the objective usually has several local minima, and the order of penalties decides
        which one is reached: weights are then found twice, at once and over smaller penalties, in
        a fit and once along a path.
    words : str
        What a model of this kernel is, for readers who are not familiar with kernels.
    curve : callable or None
        Optional, ``curve(s, k)`` gives ``phi''(s)``: with it the solver takes full Newton
        steps once few features are left.

    Examples
    --------
    The Cauchy kernel ``1 / (1 + s)``:

    >>> from kernelknife.kernels import Kernel
    >>> class Cauchy(Kernel):
    ...     form = "distance"
    ...     def profile(self, s):
    ...         return 1.0 / (1.0 + s)
    ...     def slope(self, s, k):
    ...         return -k * k
    >>> import numpy as np
    >>> Cauchy()(np.array([[0.0], [1.0]]), np.array([[0.0]]), np.array([1.0]))
    array([[1. ],
           [0.5]])
    """

    form = "distance"
    linear_in_weights = False
    convex = False
    indefinite = False
    identity = False
    expands = False
    order = 0
    multimodal = False
    words = "one joint function of the columns"
    curve: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Restore the general methods in a subclass that overrides ``profile`` or ``slope``.

        Some kernels replace general methods by faster ones that are right for their own profile
        only. They must not be inherited together with another profile.
        """
        super().__init_subclass__(**options)
        own = cls.__dict__
        if "identity" not in own and own.keys() & {"profile", "slope", *SHORTCUTS}:
            cls.identity = False
        if not {"profile", "slope"} & own.keys():
            return
        if getattr(super(cls, cls).profile, "__isabstractmethod__", False):
            return  # it overrides nothing but the abstract methods
        if "curve" not in own:
            cls.curve = None
        for name in SHORTCUTS:
            if name not in own:
                setattr(cls, name, getattr(Kernel, name))

    @abstractmethod
    def profile(self, s: Array) -> Array:
        """Return ``phi(s)``, elementwise; ``s`` is left as it is.

        Parameters
        ----------
        s : ndarray
            Values of the form.

        Returns
        -------
        ndarray
            Values of the kernel, of the same shape.
        """

    @abstractmethod
    def slope(self, s: Array, k: Array) -> Array:
        """Return ``phi'(s)``, elementwise, where ``k = phi(s)``, as a new array.

        Parameters
        ----------
        s, k : ndarray
            Values of the form, and of the kernel there.

        Returns
        -------
        ndarray
            The derivative, of the same shape.
        """

    def validate(self) -> None:
        """Raise if a parameter is out of range; called once before a fit."""

    def make_basis(self, Z: np.ndarray, s: np.ndarray) -> Basis | None:
        """Return the functions that the kernel sees the columns through, None for none.

        Parameters
        ----------
        Z : ndarray of shape (n, p)
            Standardized training rows.
        s : ndarray of shape (n,)
            Their weights.

        Returns
        -------
        Basis or None
            Learned from the rows.
        """
        return None

    @property
    def _form(self) -> type[Form]:
        return FORMS[self.form]

    @property
    def translation_invariant(self) -> bool:
        """Whether shifting a feature leaves the kernel unchanged."""
        return self._form.translation_invariant

    def __call__(self, X: Array, Z: Array, v: Array) -> Array:
        """Return the kernel matrix between the rows of ``X`` and ``Z``, shape (n, m)."""
        return self.profile(self._form.matrix(X, Z, v))

    def diag(self, X: Array, v: Array) -> Array:
        """Return ``k(x, x)`` for every row, without the matrix.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Rows.
        v : ndarray of shape (p,)
            What the form takes: the weights, or their squares.

        Returns
        -------
        ndarray of shape (n,)
            The diagonal of the kernel matrix.
        """
        return self.profile(self._form.diag(X, v))

    def evaluate(self, X: Array, Z: Array, v: Array) -> tuple[Array, Array]:
        """Return the form and the kernel matrix.

        Parameters
        ----------
        X, Z : ndarray of shape (n, p) and (m, p)
            Rows and reference points.
        v : ndarray of shape (p,)
            What the form takes: the weights, or their squares.

        Returns
        -------
        S : ndarray of shape (n, m), or None
            The form; None where no derivative needs it.
        K : ndarray of shape (n, m)
            The kernel matrix.
        """
        S = self._form.matrix(X, Z, v)
        return S, self.profile(S)

    def jacobian(self, X: Array, Z: Array, S: Array, K: Array, a: Array) -> Array:
        """Return the derivative of ``K @ a`` in ``v``, shape (n, p).

        Parameters
        ----------
        X, Z : ndarray of shape (n, p) and (m, p)
            Rows and reference points.
        S, K : ndarray of shape (n, m), or None
            From :meth:`evaluate`.
        a : ndarray of shape (m,)
            One coefficient per reference point.

        Returns
        -------
        ndarray of shape (n, p)
            One column per weight.
        """
        return self._form.jacobian(self._scaled_slope(S, K), X, Z, a)

    def gradient(self, X: Array, Z: Array, S: Array, K: Array, U: Array, A: Array) -> Array:
        """Return ``sum_il (U A')_il dK_il / dv_j``, shape (p,).

        Parameters
        ----------
        X, Z : ndarray of shape (n, p) and (m, p)
            Rows and reference points.
        S, K : ndarray of shape (n, m), or None
            From :meth:`evaluate`.
        U, A : ndarray of shape (n, k) and (m, k)
            Factors of the matrix that the derivatives are summed with.

        Returns
        -------
        ndarray of shape (p,)
            One entry per weight.
        """
        M = self._scaled_slope(S, K)
        parts = (self._form.gradient(M, X, Z, U[:, q], A[:, q]) for q in range(U.shape[1]))
        return sum(parts)

    def _scaled_slope(self, S: Array, K: Array) -> Scaled:
        return Scaled(self.slope(S, K))

    def _scaled_curve(self, S: Array, K: Array) -> Scaled:
        return Scaled(self.curve(S, K))

    @property
    def twice_differentiable(self) -> bool:
        """Whether :meth:`hessian` can be had: the kernel has a curve, its form a product."""
        return self.curve is not None and self._form.differentiable_twice

    def hessian(self, X: Array, Z: Array, S: Array, K: Array, U: Array, A: Array) -> Any:
        """Return ``sum_il (U A')_il phi''(S_il) (dS_il / dv_j) (dS_il / dv_k)``, shape (p, p).

        Parameters
        ----------
        X, Z : ndarray of shape (n, p) and (m, p)
            Rows and reference points.
        S, K : ndarray of shape (n, m), or None
            From :meth:`evaluate`.
        U, A : ndarray of shape (n, k) and (m, k)
            Factors of the matrix that the derivatives are summed with.

        Returns
        -------
        ndarray of shape (p, p)
            One entry per pair of weights.
        """
        M = self._scaled_curve(S, K)
        left = [U[:, q] for q in range(U.shape[1])]
        right = left if A is U else [A[:, q] for q in range(A.shape[1])]
        parts = (self._form.hessian(M, X, Z, *pair) for pair in zip(left, right, strict=True))
        return sum(parts)

    def grouped_hessian(
        self,
        X: Array,
        Z: Array,
        S: Array,
        K: Array,
        U: Array,
        A: Array,
        first: Sequence[int] | np.ndarray,
    ) -> np.ndarray:
        """Return what :meth:`hessian` does, summed over groups of columns that begin at ``first``.

        A group's share of the form is one matrix, so that the work grows with the groups and not
        with their columns.

        Parameters
        ----------
        X, Z : ndarray of shape (n, p) and (m, p)
            Rows and reference points, the columns of a group side by side.
        S, K : ndarray of shape (n, m), or None
            From :meth:`evaluate`.
        U, A : ndarray of shape (n, k) and (m, k)
            Factors of the matrix that the derivatives are summed with.
        first : list of int
            Where each group begins.

        Returns
        -------
        ndarray of shape (n_groups, n_groups)
            One entry per pair of groups.
        """
        xp, ends = namespace(X), [*first[1:], X.shape[1]]
        curve = self._scaled_curve(S, K)
        size = max(float(xp.max(xp.abs(X))), float(xp.max(xp.abs(Z)))) if X.shape[0] else 0.0
        # A Newton step need not have more digits, and these arrays are read more than computed.
        kind = xp.float32 if size < SINGLE_RANGE else xp.float64
        X, Z = xp.astype(X, kind), xp.astype(Z, kind)
        H = np.zeros((len(first), len(first)))
        # A model without coefficients, such as one of a hinge that no row touches, has no rows.
        step = max(1, GROUPED_NUMBERS // max(1, len(first) * Z.shape[0]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            M = curve.factor * curve.matrix[rows, :] * (U[rows, :] @ A.T)
            M = xp.reshape(xp.astype(M, kind), (-1,))
            parts = xp.stack(
                [
                    xp.reshape(self._form.matrix(X[rows, a:z], Z[:, a:z], 1.0), (-1,))
                    for a, z in zip(first, ends, strict=True)
                ]
            )
            H += to_host((parts * M) @ parts.T)
        return H
