"""Feature-weighted kernels.

A kernel here is a scalar profile ``phi`` of one weighted form ``s`` of two rows,

==========  ==========================================  ==============================
form        ``s(x, z)``                                 kernels
==========  ==========================================  ==============================
dot         ``sum_j v_j x_j z_j``                       linear, polynomial, sigmoid; additive and
                                                        ANOVA on functions of the columns
distance    ``sum_j v_j (x_j - z_j)**2``                Gaussian, Matern, rational quadratic
absolute    ``sum_j v_j abs(x_j - z_j)``                Laplace
==========  ==========================================  ==============================

so that ``k(x, z) = phi(s(x, z))``. The forms know how to contract their derivative in
``v`` with a matrix through matrix products; the ``n x m x p`` tensor of derivatives is
never formed. A kernel adds ``phi`` and its slope, two one-line methods.

The weights ``w`` of the features enter as ``v = w`` for kernels that say
``linear_in_weights = True`` and as ``v = w**2`` otherwise (the paper's equation for
non-linear kernels); :class:`kernelknife.problem.Problem` applies that rule.

Examples
--------
A kernel of your own is one small class:

>>> import numpy as np
>>> from kernelknife import KnifeRegressor
>>> from kernelknife.kernels import Kernel
>>> class Cauchy(Kernel):
...     form = "distance"
...     def profile(self, s):
...         return 1.0 / (1.0 + s)
...     def slope(self, s, k):
...         return -k * k
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 5))
>>> y = np.sin(2 * X[:, 1])
>>> model = KnifeRegressor(kernel=Cauchy(), sparsity=2.0).fit(X, y)
>>> model.get_support(indices=True)
array([1])
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelknife._support.arrays import exponential, namespace, to_host
from kernelknife._support.checks import check_number, resolve
from kernelknife.basis import make_basis
from kernelknife.forms import FORMS, Scaled

__all__ = [
    "KERNELS",
    "RBF",
    "Additive",
    "Anova",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Polynomial",
    "RationalQuadratic",
    "Sigmoid",
    "check_kernel",
]


SINGLE_RANGE = 1e9  # values whose squares, and sums of these, single precision can hold
GROUPED_NUMBERS = 4_000_000  # size of the arrays that a Hessian of groups works on at a time
# Methods that a kernel may replace by faster ones which know its profile.
SHORTCUTS = ("__call__", "evaluate", "jacobian", "gradient", "_scaled_slope", "_scaled_curve")


class Kernel(BaseEstimator, ABC):
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
    expands : bool
        Whether the kernel sees a column through several functions of it, its basis.
    rugged : bool
        Whether the objective has so many local minima that the way to a penalty matters: weights
        are then found twice, at once and over smaller penalties, in a fit and once along a path.
    words : str
        What a machine of this kernel is, for readers who know no kernels.
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
    expands = False
    rugged = False
    words = "one joint function of the columns"
    curve: Any = None

    def __init_subclass__(cls, **options):
        """Honour a profile of its own in a subclass of a kernel that takes shortcuts.

        Some kernels replace general methods by faster ones that know their profile, and have a
        slope and a curve that belong to it.
        """
        super().__init_subclass__(**options)
        own = cls.__dict__
        if not {"profile", "slope"} & own.keys():
            return
        if getattr(super(cls, cls).profile, "__isabstractmethod__", False):
            return  # a kernel of its own
        if "curve" not in own:
            cls.curve = None
        for name in SHORTCUTS:
            if name not in own:
                setattr(cls, name, getattr(Kernel, name))

    @abstractmethod
    def profile(self, s):
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
    def slope(self, s, k):
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

    def validate(self):
        """Raise if a parameter is out of range; called once before a fit."""

    def make_basis(self, Z, s):
        """Return the functions that the kernel sees the columns through, None for none.

        Parameters
        ----------
        Z : ndarray of shape (n, p)
            Standardised training rows.
        s : ndarray of shape (n,)
            Their weights.

        Returns
        -------
        Basis or None
            Learned from the rows.
        """
        return

    @property
    def _form(self):
        return FORMS[self.form]

    @property
    def translation_invariant(self):
        """Whether shifting a feature leaves the kernel unchanged."""
        return self._form.translation_invariant

    def __call__(self, X, Z, v):
        """Return the kernel matrix between the rows of ``X`` and ``Z``, shape (n, m)."""
        return self.profile(self._form.matrix(X, Z, v))

    def diag(self, X, v):
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

    def evaluate(self, X, Z, v):
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

    def jacobian(self, X, Z, S, K, a):
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

    def gradient(self, X, Z, S, K, U, A):
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

    def _scaled_slope(self, S, K):
        return Scaled(self.slope(S, K))

    def _scaled_curve(self, S, K):
        return Scaled(self.curve(S, K))

    @property
    def twice_differentiable(self):
        """Whether :meth:`hessian` can be had: the kernel has a curve, its form a product."""
        return self.curve is not None and hasattr(self._form, "hessian")

    def hessian(self, X, Z, S, K, U, A):
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

    def grouped_hessian(self, X, Z, S, K, U, A, first):
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
        step = max(1, GROUPED_NUMBERS // (len(first) * Z.shape[0]))
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

    def profile(self, s):
        return s

    def slope(self, s, k):
        return namespace(s).ones_like(s)

    # The slope is 1, so the derivatives need no n x m matrix at all.

    def jacobian(self, X, Z, S, K, a):
        return X * (a @ Z)

    def gradient(self, X, Z, S, K, U, A):
        return namespace(X).sum((U.T @ X) * (A.T @ Z), axis=0)


class _Expanding(Kernel):
    """Kernels of functions of the columns, one weight for all functions of a column."""

    form = "dot"
    expands = True

    def __init__(self, gamma=0.7, n_functions=6, n_knots=20):
        self.gamma = gamma
        self.n_functions = n_functions
        self.n_knots = n_knots

    def validate(self):
        check_number(self.gamma, "gamma", strict=True)
        check_number(self.n_functions, "n_functions", low=1, integer=True)
        check_number(self.n_knots, "n_knots", low=2, integer=True)
        if self.n_functions > self.n_knots:
            raise ValueError(
                f"n_functions={self.n_functions} is more than n_knots={self.n_knots} can tell "
                "apart."
            )

    def make_basis(self, Z, s):
        return make_basis(
            Z, s, gamma=self.gamma, n_functions=self.n_functions, n_knots=self.n_knots
        )


class Additive(_Expanding):
    """Additive kernel ``sum_j w_j phi_j(x_j)' phi_j(z_j)``: a sum of separate effects.

    Every column is seen through a few functions ``phi_j`` that are learned from the training rows:
    smooth curves for a column of numbers, one function per level for a column of few values. The
    weights enter linearly, which makes the problem convex: its minimum is global.

    Parameters
    ----------
    gamma : float, default=0.7
        Inverse squared width of the one-dimensional Gaussian kernel whose leading eigenfunctions
        the curves are: the larger, the finer the detail that is cheap. 0.3 is for weak smooth
        effects among many columns, 3 with eight functions for sharp ones.
    n_functions : int, default=6
        Functions of a column of numbers. A column of at most one more distinct values gets one
        function per level instead.
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
    order = 1  # columns that act together

    def profile(self, s):
        return s

    def slope(self, s, k):
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
    n_functions : int, default=6
        See :class:`Additive`.
    n_knots : int, default=20
        See :class:`Additive`.

    Notes
    -----
    The weights enter squared, as in the paper's non-linear kernels. With weights that enter
    linearly the last features of a path have tiny weights, the square of the form vanishes beside
    the form, and features that act only together leave first: of two effects among 64 columns
    such a path found 0.62 of the features, this one all.

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

    rugged = True
    words = "separate effects, and columns that act together"

    def __init__(self, order=2, gamma=0.7, n_functions=6, n_knots=20):
        super().__init__(gamma, n_functions, n_knots)
        self.order = order

    def validate(self):
        super().validate()
        if self.order not in (2, 3):
            raise ValueError(f"order must be 2 or 3, got {self.order!r}.")

    def profile(self, s):
        if self.order == 2:
            return s * (1.0 + 0.5 * s)
        return s * (1.0 + s * (0.5 + s / 6.0))

    def slope(self, s, k):
        return 1.0 + s if self.order == 2 else 1.0 + s * (1.0 + 0.5 * s)

    def curve(self, s, k):
        return namespace(s).ones_like(s) if self.order == 2 else 1.0 + s


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
    rugged = True

    def __init__(self, degree=2, coef0=1.0):
        self.degree = degree
        self.coef0 = coef0

    def validate(self):
        check_number(self.degree, "degree", low=1, integer=True)
        check_number(self.coef0, "coef0")

    def profile(self, s):
        return (s + self.coef0) ** self.degree

    def slope(self, s, k):
        return self.degree * (s + self.coef0) ** (self.degree - 1)

    def curve(self, s, k):
        if self.degree == 1:
            return namespace(s).zeros_like(s)
        return self.degree * (self.degree - 1) * (s + self.coef0) ** (self.degree - 2)


class _Exponential(Kernel):
    """``exp(-gamma s)`` of whatever form."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def validate(self):
        check_number(self.gamma, "gamma", strict=True)

    def profile(self, s):
        return exponential(s * -self.gamma)

    def slope(self, s, k):
        return k * -self.gamma

    def curve(self, s, k):
        return k * self.gamma**2

    # Both are multiples of the kernel matrix: the form is not needed once that is known, and no
    # other array of its size need be made.

    def evaluate(self, X, Z, v):
        return None, self(X, Z, v)

    def __call__(self, X, Z, v):
        S = self._form.matrix(X, Z, v)
        S *= -self.gamma
        return exponential(S)

    def _scaled_slope(self, S, K):
        return Scaled(K, -self.gamma)

    def _scaled_curve(self, S, K):
        return Scaled(K, self.gamma**2)


class RBF(_Exponential):
    """Gaussian kernel ``exp(-gamma * sum_j w_j**2 (x_j - z_j)**2)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse squared bandwidth shared by all features. The weights act as scales of
        their own, so 1 is right for standardised data.

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
    Its landscape in the weights is far kinder than the Gaussian kernel's, and a weight
    at zero still has a gradient; but it costs ``n m p`` elementary steps where the
    others cost a matrix product.

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

    def __init__(self, nu=2.5, gamma=1.0):
        self.nu = nu
        self.gamma = gamma

    def validate(self):
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"nu must be 1.5 or 2.5, got {self.nu!r}.")
        check_number(self.gamma, "gamma", strict=True)

    def _radius(self, s):
        return self.gamma * namespace(s).sqrt(2.0 * self.nu * s)

    def profile(self, s):
        r = self._radius(s)
        bump = 1.0 + r if self.nu == 1.5 else 1.0 + r + r * r / 3.0
        return bump * exponential(-r)

    def slope(self, s, k):
        # The square root of s cancels: both slopes are finite at s = 0.
        r = self._radius(s)
        if self.nu == 1.5:
            return -1.5 * self.gamma**2 * exponential(-r)
        return -5.0 / 6.0 * self.gamma**2 * (1.0 + r) * exponential(-r)

    def curve(self, s, k):
        r = self._radius(s)
        if self.nu == 1.5:
            # Infinite at s = 0, where every derivative that it multiplies is zero.
            xp = namespace(s)
            return 2.25 * self.gamma**4 * xp.exp(-r) / xp.where(r > 0, r, xp.inf)
        return 25.0 / 12.0 * self.gamma**4 * exponential(-r)


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

    def __init__(self, shape=1.0, gamma=1.0):
        self.shape = shape
        self.gamma = gamma

    def validate(self):
        check_number(self.shape, "shape", strict=True)
        check_number(self.gamma, "gamma", strict=True)

    def profile(self, s):
        return (1.0 + self.gamma / self.shape * s) ** -self.shape

    def slope(self, s, k):
        return -self.gamma * k / (1.0 + self.gamma / self.shape * s)

    def curve(self, s, k):
        reach = 1.0 + self.gamma / self.shape * s
        return self.gamma**2 * (1.0 + 1.0 / self.shape) * k / (reach * reach)


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
    with this kernel do, and ``converged_`` says that this condition and that of the weights hold,
    not that the objective is minimal. A fit works as long as the regularised kernel matrix is
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

    def __init__(self, gamma=0.1, coef0=0.0):
        self.gamma = gamma
        self.coef0 = coef0

    def validate(self):
        check_number(self.gamma, "gamma", strict=True)
        check_number(self.coef0, "coef0", low=-np.inf)

    def profile(self, s):
        return namespace(s).tanh(self.gamma * s + self.coef0)

    def slope(self, s, k):
        return self.gamma * (1.0 - k * k)

    def curve(self, s, k):
        return -2.0 * self.gamma**2 * k * (1.0 - k * k)


KERNELS = {
    "linear": Linear,
    "additive": Additive,
    "anova": Anova,
    "rbf": RBF,
    "polynomial": Polynomial,
    "laplace": Laplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "sigmoid": Sigmoid,
}


def check_kernel(kernel):
    """Return a :class:`Kernel` for a name or an instance.

    Parameters
    ----------
    kernel : str or Kernel
        A name, or a kernel.

    Returns
    -------
    Kernel
        The kernel.
    """
    kernel = resolve(kernel, KERNELS, Kernel, "kernel")
    if type(kernel) not in KERNELS.values():
        _check_derivatives(kernel)
    return kernel


def _check_derivatives(kernel):
    """Raise where the slope or the curve of a user's kernel is not that of its profile."""
    s, step = np.array([[0.1, 0.4, 0.9, 1.7]]), 1e-5
    functions = [("slope", kernel.profile, kernel.slope)]
    if kernel.curve is not None:
        functions.append(("curve", lambda s: kernel.slope(s, kernel.profile(s)), kernel.curve))
    for name, function, derivative in functions:
        numeric = (np.asarray(function(s + step)) - np.asarray(function(s - step))) / (2.0 * step)
        given = np.asarray(derivative(s, kernel.profile(s)))
        if not np.allclose(given, numeric, rtol=1e-3, atol=1e-6 * (1.0 + np.abs(numeric).max())):
            raise ValueError(
                f"The {name} of {kernel!r} is not the derivative of its "
                f"{'profile' if name == 'slope' else 'slope'}: at s = {s[0, 1]} it is "
                f"{given[0, 1]:.6g} where differences give {numeric[0, 1]:.6g}."
            )
