"""Kernels of the weighted inner product of two rows."""

import numpy as np

from kernelknife._utils.arrays import Array, namespace
from kernelknife._utils.checks import check_number
from kernelknife.kernels.base import Kernel

__all__ = ["Linear", "Polynomial", "Sigmoid"]


class Linear(Kernel):
    """Linear kernel ``sum_j w_j x_j z_j``.

    The weights enter linearly, which makes the problem convex: its minimum is global.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import Linear
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> Linear()(X, X, np.array([1.0, 0.0]))
    array([[0., 0.],
           [0., 1.]])
    """

    form = "dot"
    linear_in_weights = True
    words = "a weighted sum of the columns"
    convex = True
    identity = True

    def profile(self, s: Array) -> Array:
        return s

    def slope(self, s: Array, k: Array) -> Array:
        return namespace(s).ones_like(s)

    # The slope is 1, so the derivatives need no n x m matrix at all.

    def jacobian(self, X: Array, Z: Array, S: Array, K: Array, a: Array) -> Array:
        return X * (a @ Z)

    def gradient(self, X: Array, Z: Array, S: Array, K: Array, U: Array, A: Array) -> Array:
        return namespace(X).sum((U.T @ X) * (A.T @ Z), axis=0)


class Polynomial(Kernel):
    """Polynomial kernel ``(sum_j w_j**2 x_j z_j + coef0)**degree``.

    Parameters
    ----------
    degree : int, default=2
        Degree, at least 1.
    coef0 : float, default=1.0
        1 for the inhomogeneous kernel, 0 for the homogeneous one.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import Polynomial
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> Polynomial(degree=2)(X, X, np.array([1.0, 0.0]))
    array([[1., 1.],
           [1., 4.]])
    """

    form = "dot"
    multimodal = True

    def __init__(self, degree: int = 2, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def validate(self) -> None:
        check_number(self.degree, "degree", low=1, integer=True)
        check_number(self.coef0, "coef0")

    def profile(self, s: Array) -> Array:
        return (s + self.coef0) ** self.degree

    def slope(self, s: Array, k: Array) -> Array:
        return self.degree * (s + self.coef0) ** (self.degree - 1)

    def curve(self, s: Array, k: Array) -> Array:
        if self.degree == 1:
            return namespace(s).zeros_like(s)
        return self.degree * (self.degree - 1) * (s + self.coef0) ** (self.degree - 2)


class Sigmoid(Kernel):
    """Sigmoid kernel ``tanh(gamma * sum_j w_j**2 x_j z_j + coef0)``.

    Parameters
    ----------
    gamma : float, default=0.1
        Slope.
    coef0 : float, default=0.0
        Offset.

    Notes
    -----
    This kernel is not positive semi-definite, so the objective has no minimum in the
    coefficients: along an eigenvector of a negative eigenvalue it falls without end. What a fit
    solves is the stationarity condition ``s loss'(F) + 2 alpha C = 0``, as support vector machines
    with this kernel do, and ``converged_`` means that this condition and that of the weights hold,
    not that the objective is minimal. A fit works as long as the regularized kernel matrix is
    positive definite, which small ``gamma`` and ``alpha`` of the order of 1 ensure; otherwise it
    raises an error that says so.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import Sigmoid
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> Sigmoid(gamma=0.1)(X, X, np.array([1.0, 0.0])).round(2)
    array([[0. , 0. ],
           [0. , 0.1]])
    """

    form = "dot"
    indefinite = True

    def __init__(self, gamma: float = 0.1, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def validate(self) -> None:
        check_number(self.gamma, "gamma", strict=True)
        check_number(self.coef0, "coef0", low=-np.inf)

    def profile(self, s: Array) -> Array:
        return namespace(s).tanh(self.gamma * s + self.coef0)

    def slope(self, s: Array, k: Array) -> Array:
        return self.gamma * (1.0 - k * k)

    def curve(self, s: Array, k: Array) -> Array:
        return -2.0 * self.gamma**2 * k * (1.0 - k * k)
