"""Kernels of a weighted distance of two rows, squared or absolute."""

import numpy as np

from kernelknife._utils.arrays import Array, exponential, namespace
from kernelknife._utils.checks import check_number
from kernelknife.kernels.base import Kernel
from kernelknife.kernels.basis import Basis, make_bent_basis
from kernelknife.kernels.forms import Scaled

__all__ = ["RBF", "Joint", "Laplace", "Matern", "RationalQuadratic"]


class _Exponential(Kernel):
    """``exp(-gamma s)`` of whatever form."""

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def validate(self) -> None:
        check_number(self.gamma, "gamma", strict=True)

    def profile(self, s: Array) -> Array:
        return exponential(s * -self.gamma)

    def slope(self, s: Array, k: Array) -> Array:
        return k * -self.gamma

    def curve(self, s: Array, k: Array) -> Array:
        return k * self.gamma**2

    # Slope and curve are multiples of the kernel matrix: once it is made the form is not needed,
    # nor any other array of its size.

    def evaluate(self, X: Array, Z: Array, v: Array) -> tuple[Array, Array]:
        return None, self(X, Z, v)

    def __call__(self, X: Array, Z: Array, v: Array) -> Array:
        S = self._form.matrix(X, Z, v)
        S *= -self.gamma
        return exponential(S)

    def _scaled_slope(self, S: Array, K: Array) -> Scaled:
        return Scaled(K, -self.gamma)

    def _scaled_curve(self, S: Array, K: Array) -> Scaled:
        return Scaled(K, self.gamma**2)


class RBF(_Exponential):
    """Gaussian kernel ``exp(-gamma * sum_j w_j**2 (x_j - z_j)**2)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse squared bandwidth shared by all features. The weights act as scales of
        their own, so 1 is right for standardized data.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import RBF
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> RBF(gamma=1.0)(X, X, np.array([1.0, 0.0])).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    form = "distance"


class Laplace(_Exponential):
    """Laplace kernel ``exp(-gamma * sum_j w_j abs(x_j - z_j))``, linear in the weights.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse bandwidth shared by all features.

    Notes
    -----
    The objective has far fewer local minima in the weights than with the Gaussian kernel, and
    a weight at zero still has a gradient; but the kernel takes ``n m p`` elementary steps where
    the others take a matrix product.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import Laplace
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> Laplace(gamma=1.0)(X, X, np.array([1.0, 0.0])).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    form = "absolute"
    linear_in_weights = True


class Matern(Kernel):
    """Matern kernel of the weighted distance, with smoothness 3/2 or 5/2.

    Parameters
    ----------
    nu : {1.5, 2.5}, default=2.5
        Smoothness.
    gamma : float, default=1.0
        Inverse length scale shared by all features: with ``r = gamma * sqrt(2 nu s)``
        the kernel is ``(1 + r) exp(-r)`` for 3/2 and ``(1 + r + r**2 / 3) exp(-r)`` for
        5/2.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import Matern
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> Matern(nu=1.5)(X, X, np.array([1.0, 0.0])).round(2)
    array([[1.  , 0.48],
           [0.48, 1.  ]])
    """

    form = "distance"

    def __init__(self, nu: float = 2.5, gamma: float = 1.0) -> None:
        self.nu = nu
        self.gamma = gamma

    def validate(self) -> None:
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"nu must be 1.5 or 2.5, got {self.nu!r}.")
        check_number(self.gamma, "gamma", strict=True)

    def _radius(self, s: Array) -> Array:
        return self.gamma * namespace(s).sqrt(2.0 * self.nu * s)

    def profile(self, s: Array) -> Array:
        r = self._radius(s)
        bump = 1.0 + r if self.nu == 1.5 else 1.0 + r + r * r / 3.0
        return bump * exponential(-r)

    def slope(self, s: Array, k: Array) -> Array:
        # The square root of s cancels: both slopes are finite at s = 0.
        r = self._radius(s)
        if self.nu == 1.5:
            return -1.5 * self.gamma**2 * exponential(-r)
        return -5.0 / 6.0 * self.gamma**2 * (1.0 + r) * exponential(-r)

    def curve(self, s: Array, k: Array) -> Array:
        r = self._radius(s)
        if self.nu == 1.5:
            # Infinite at s = 0, where every derivative that it multiplies is zero.
            xp = namespace(s)
            return 2.25 * self.gamma**4 * xp.exp(-r) / xp.where(r > 0, r, xp.inf)
        return 25.0 / 12.0 * self.gamma**4 * exponential(-r)


class Joint(Matern):
    """One joint function of columns whose long tails are drawn in.

    It is the Matern kernel of smoothness 3/2, and every column is seen through one increasing
    function that is learned from the training rows: the mean of the standardized column and its
    normal scores. Beyond the range of the rows that it is learned from, at most 2,000, that
    function stays at its last value.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse length scale shared by all features; see :class:`Matern`.

    Notes
    -----
    Measured columns often have a few far values, and between these the Gaussian kernel of
    standardized columns spends most of its distance. Functions of measured columns are seldom as
    smooth as that kernel assumes, either. Where columns are normal and functions smooth the
    Gaussian kernel does better. Cross-validation is the way to choose between them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.kernels import Joint
    >>> X = np.exp(1.5 * np.random.default_rng(0).normal(size=(150, 6)))
    >>> y = np.sin(2 * np.log(X[:, 1])) * np.log(X[:, 4])
    >>> model = KnifeRegressor(kernel=Joint(), sparsity=2.0).fit(X, y)
    >>> model.get_support(indices=True)
    array([1, 4])
    """

    expands = True
    nu = 1.5

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def make_basis(self, Z: np.ndarray, s: np.ndarray) -> Basis:
        return make_bent_basis(Z, s)


class RationalQuadratic(Kernel):
    """Rational quadratic kernel ``(1 + gamma * s / shape)**-shape`` of the distance.

    Parameters
    ----------
    shape : float, default=1.0
        Mixture of length scales; large values approach the Gaussian kernel.
    gamma : float, default=1.0
        Inverse squared bandwidth shared by all features.

    Examples
    --------
    The second column has the weight 0, so only the first one counts.

    >>> import numpy as np
    >>> from kernelknife.kernels import RationalQuadratic
    >>> X = np.array([[0.0, 7.0], [1.0, 5.0]])
    >>> RationalQuadratic()(X, X, np.array([1.0, 0.0])).round(2)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    form = "distance"

    def __init__(self, shape: float = 1.0, gamma: float = 1.0) -> None:
        self.shape = shape
        self.gamma = gamma

    def validate(self) -> None:
        check_number(self.shape, "shape", strict=True)
        check_number(self.gamma, "gamma", strict=True)

    def profile(self, s: Array) -> Array:
        return (1.0 + self.gamma / self.shape * s) ** -self.shape

    def slope(self, s: Array, k: Array) -> Array:
        return -self.gamma * k / (1.0 + self.gamma / self.shape * s)

    def curve(self, s: Array, k: Array) -> Array:
        reach = 1.0 + self.gamma / self.shape * s
        return self.gamma**2 * (1.0 + 1.0 / self.shape) * k / (reach * reach)
