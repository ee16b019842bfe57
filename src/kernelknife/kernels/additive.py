"""Kernels that see every column through functions of it: sums of effects, and interactions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelknife._utils.arrays import Array, namespace, to_host
from kernelknife._utils.checks import check_number
from kernelknife.kernels.base import Kernel
from kernelknife.kernels.basis import Basis, make_basis
from kernelknife.kernels.dot import Linear

__all__ = ["Additive", "Anova"]


class _Expanding(Kernel):
    """Kernels of functions of the columns, one weight for all functions of a column."""

    form = "dot"
    expands = True

    def __init__(self, gamma: float = 0.7, n_functions: int = 5, n_knots: int = 20) -> None:
        self.gamma = gamma
        self.n_functions = n_functions
        self.n_knots = n_knots

    def validate(self) -> None:
        check_number(self.gamma, "gamma", strict=True)
        check_number(self.n_functions, "n_functions", low=1, integer=True)
        check_number(self.n_knots, "n_knots", low=2, integer=True)
        if self.n_functions > self.n_knots:
            raise ValueError(
                f"n_functions must be at most n_knots ({self.n_knots}), got {self.n_functions}."
            )

    def make_basis(self, Z: np.ndarray, s: np.ndarray) -> Basis:
        return make_basis(
            Z, s, gamma=self.gamma, n_functions=self.n_functions, n_knots=self.n_knots
        )


class Additive(_Expanding):
    """Additive kernel ``sum_j w_j phi_j(x_j)' phi_j(z_j)``: a sum of separate effects.

    Every column is seen through a few smooth curves ``phi_j`` that are learned from the training
    rows. The weights enter linearly, which makes the problem convex: its minimum is global.

    Parameters
    ----------
    gamma : float, default=0.7
        Inverse squared width of the one-dimensional Gaussian kernel whose leading eigenfunctions
        the curves are: the larger, the less fine detail is penalized. 0.3 is for weak smooth
        effects among many columns, 3 with eight functions for sharp ones.
    n_functions : int, default=5
        Functions of a column, one fewer than it has distinct values at most.
    n_knots : int, default=20
        Quantiles of the column that the Gaussian kernel is represented at.

    Notes
    -----
    Where no weight reaches 1 this is a group lasso on the functions: with ``b_j = w_j phi_j' c``
    the penalty is ``2 sqrt(alpha sparsity) |b_j|`` up to ``|b_j| = sqrt(sparsity / alpha)``, and
    ``alpha |b_j|**2 + sparsity`` beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.kernels import Additive
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 6))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 3] ** 2
    >>> model = KnifeRegressor(kernel=Additive(gamma=0.3), sparsity=15.0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 3])
    """

    linear_in_weights = True
    words = "a sum of separate effects"
    convex = True
    identity = True
    order = 1  # columns that act together

    def profile(self, s: Array) -> Array:
        return s

    def slope(self, s: Array, k: Array) -> Array:
        return namespace(s).ones_like(s)

    # The slope is 1, so the derivatives need no n x m matrix at all.
    jacobian = Linear.jacobian
    gradient = Linear.gradient


class Anova(_Expanding):
    """ANOVA kernel: separate effects, and interactions of two (or three) columns.

    With ``s = sum_j w_j**2 phi_j(x_j)' phi_j(z_j)`` it is ``s + s**2 / 2``, and with ``order=3``
    ``s + s**2 / 2 + s**3 / 6``. The fitted function falls apart into effects of single columns, of
    pairs (and of triples), which have names: see ``effects`` of a fitted model.

    Parameters
    ----------
    order : {2, 3}, default=2
        Largest number of columns that act together.
    gamma : float, default=0.7
        See :class:`Additive`.
    n_functions : int, default=5
        See :class:`Additive`.
    n_knots : int, default=20
        See :class:`Additive`.

    Notes
    -----
    The weights enter squared, as in the paper's non-linear kernels. With weights that enter
    linearly the last features of a path have tiny weights, the square of the form vanishes beside
    the form, and features that act only together leave first: where the target was the sum of two
    effects, among 64 columns, such a path found 0.62 of the features and this one all.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.kernels import Anova
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 6))
    >>> y = X[:, 1] * X[:, 4]
    >>> model = KnifeRegressor(kernel=Anova(), sparsity=2.0).fit(X, y)
    >>> model.effects()[0].names
    ('x1', 'x4')
    """

    multimodal = True
    words = "separate effects, and columns that act together"

    def __init__(
        self, order: int = 2, gamma: float = 0.7, n_functions: int = 5, n_knots: int = 20
    ) -> None:
        super().__init__(gamma, n_functions, n_knots)
        self.order = order

    def validate(self) -> None:
        super().validate()
        if self.order not in (2, 3):
            raise ValueError(f"order must be 2 or 3, got {self.order!r}.")

    def profile(self, s: Array) -> Array:
        if self.order == 2:
            return s * (1.0 + 0.5 * s)
        return s * (1.0 + s * (0.5 + s / 6.0))

    def slope(self, s: Array, k: Array) -> Array:
        return 1.0 + s if self.order == 2 else 1.0 + s * (1.0 + 0.5 * s)

    def curve(self, s: Array, k: Array) -> Array:
        return namespace(s).ones_like(s) if self.order == 2 else 1.0 + s

    def hessian(self, X: Array, Z: Array, S: Array, K: Array, U: Array, A: Array) -> Any:
        if self.order > 2:
            return super().hessian(X, Z, S, K, U, A)
        return _sum_of_products(X, Z, U, A)

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
        if self.order > 2:
            return super().grouped_hessian(X, Z, S, K, U, A, first)
        H = _sum_of_products(X, Z, U, A)
        return np.asarray(np.add.reduceat(np.add.reduceat(H, first, 0), first, 1))


def _sum_of_products(X: Array, Z: Array, U: Array, A: Array) -> np.ndarray:
    """Return ``sum_il (U A')_il (x_ij z_lj) (x_ik z_lk)``, shape (p, p).

    Where the curve is constant, the sums over the rows of both sides are products of their own, so
    that no matrix of rows by rows takes part.
    """
    same = Z is X and A is U
    total = np.zeros((X.shape[1],) * 2)
    for q in range(U.shape[1]):
        left = to_host((X * U[:, q : q + 1]).T @ X)
        total += left * (left if same else to_host((Z * A[:, q : q + 1]).T @ Z))
    return total
