"""Convex losses on the score scale.

A loss is pointwise and vectorized: ``value``, ``gradient`` and ``curvature`` take the
target ``y`` and the score ``f`` of the same shape. The problem takes the sum over rows
and columns, for every loss alike, as the paper, ``KernelRidge`` and ``SVC`` do.
Classification losses see ``y`` in {-1, +1}: one column for two classes, one column per
class for more.

Examples
--------
A loss of your own is one small class:

>>> import numpy as np
>>> from kernelknife import KnifeRegressor
>>> from kernelknife.losses import Loss
>>> class LogCosh(Loss):
...     task = "regression"
...     curvature_bound = 1.0
...     def value(self, y, f):
...         return np.logaddexp(f - y, y - f) - np.log(2.0)
...     def gradient(self, y, f):
...         return np.tanh(f - y)
...     def curvature(self, y, f):
...         return 1.0 - np.tanh(f - y) ** 2
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 5))
>>> y = np.sin(2 * X[:, 1])
>>> model = KnifeRegressor(loss=LogCosh(), alpha=0.3, sparsity=1.0).fit(X, y)
>>> model.get_support(indices=True)
array([1])
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from kernelknife._utils.arrays import Array, namespace, nonnegative
from kernelknife._utils.checks import check_number, resolve

__all__ = [
    "LOSSES",
    "Hinge",
    "HuberLoss",
    "HuberizedHinge",
    "LogisticLoss",
    "Loss",
    "SquaredHinge",
    "SquaredLoss",
    "check_loss",
]


class Loss(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base of all losses.

    Attributes
    ----------
    task : {"regression", "classification"}
        What kind of target the loss is for.
    target : str
        Kind of target, a key of ``kernelknife._engine.data.targets.TARGETS``; empty for the one of
        the task: "numbers" or "classes".
    scale_target : bool
        Whether numbers may be standardized before the loss sees them. Counts, say, may not.
    curvature_bound : float
        An upper bound of the second derivative.
    constant_curvature : bool
        Whether the second derivative is the same everywhere: the coefficients are then
        one linear solve, shared by all columns.
    binary_only : bool
        Whether the loss is limited to two classes.
    surrogate : Loss or None
        The smooth loss that the weights are found with, for a loss that is not smooth;
        the coefficients are then refitted with the loss itself.
    robust : bool
        Whether to standardize targets by median and median absolute deviation.
    probability : callable or None
        For losses whose scores are log-odds, ``probability(f)`` gives P(y = +1).

    Examples
    --------
    The squared error, with more weight for large targets:

    >>> from kernelknife.losses import Loss
    >>> class Scaled(Loss):
    ...     def value(self, y, f):
    ...         return (1 + abs(y)) * (y - f) ** 2 / 2
    ...     def gradient(self, y, f):
    ...         return (1 + abs(y)) * (f - y)
    ...     def curvature(self, y, f):
    ...         return 1 + abs(y) + 0 * f
    >>> Scaled().value(3.0, 2.0)
    2.0
    """

    task = "regression"
    target = ""
    scale_target = True
    curvature_bound = 1.0
    constant_curvature = False
    binary_only = False
    surrogate: "Loss | None" = None
    robust = False
    probability: Any = None

    def validate(self) -> None:
        """Raise if a parameter is out of range; called once before a fit."""

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """Return the loss, elementwise.

        Parameters
        ----------
        y, f : ndarray
            Targets and scores, of the same shape.

        Returns
        -------
        ndarray
            The loss of every entry.
        """

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """Return the derivative in ``f``, elementwise.

        Parameters
        ----------
        y, f : ndarray
            Targets and scores, of the same shape.

        Returns
        -------
        ndarray
            The derivative of every entry.
        """

    @abstractmethod
    def curvature(self, y: Array, f: Array) -> Array:
        """Return the second derivative in ``f``, elementwise, never negative.

        Parameters
        ----------
        y, f : ndarray
            Targets and scores, of the same shape.

        Returns
        -------
        ndarray
            The second derivative of every entry.
        """


class SquaredLoss(Loss):
    """Squared error ``(y - f)**2``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import SquaredLoss
    >>> SquaredLoss().value(np.zeros(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([1.  , 0.25, 4.  ])
    """

    curvature_bound = 2.0
    constant_curvature = True

    def value(self, y: Array, f: Array) -> Array:
        return (y - f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return 2.0 * (f - y)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * namespace(f).ones_like(f)


class HuberLoss(Loss):
    """Huber's loss: squared error up to ``delta``, linear beyond.

    Parameters
    ----------
    delta : float, default=1.345
        Where the loss turns linear, in robust standard deviations of ``y`` (from its median
        absolute deviation) when the estimator standardizes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import HuberLoss
    >>> HuberLoss(delta=1.0).value(np.zeros(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([1.  , 0.25, 3.  ])
    """

    curvature_bound = 2.0
    robust = True

    def __init__(self, delta: float = 1.345) -> None:
        self.delta = delta

    def validate(self) -> None:
        check_number(self.delta, "delta", strict=True)

    def value(self, y: Array, f: Array) -> Array:
        size = abs(y - f)
        return namespace(f).where(
            size <= self.delta, size**2, self.delta * (2.0 * size - self.delta)
        )

    def gradient(self, y: Array, f: Array) -> Array:
        return 2.0 * namespace(f).clip(f - y, -self.delta, self.delta)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * _where(abs(y - f) <= self.delta, f)


class SquaredHinge(Loss):
    """Squared hinge ``max(0, 1 - y f)**2``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import SquaredHinge
    >>> SquaredHinge().value(np.ones(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([4.  , 0.25, 0.  ])
    """

    task = "classification"
    curvature_bound = 2.0

    def value(self, y: Array, f: Array) -> Array:
        return _gap(y, f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return -2.0 * y * _gap(y, f)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * _where(y * f < 1.0, f)


class HuberizedHinge(Loss):
    """Huberized hinge: a hinge whose corner is a parabola of the given width.

    Parameters
    ----------
    width : float, default=1.0
        The loss is quadratic for margins between ``1 - width`` and 1; a small width
        comes close to the hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import HuberizedHinge
    >>> HuberizedHinge().value(np.ones(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([1.5 , 0.12, 0.  ])
    """

    task = "classification"

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    @property
    def curvature_bound(self) -> float:  # type: ignore[override]  # an attribute elsewhere
        return 1.0 / self.width

    def validate(self) -> None:
        check_number(self.width, "width", strict=True)

    def value(self, y: Array, f: Array) -> Array:
        gap = _gap(y, f)
        return namespace(f).where(
            gap <= self.width, gap**2 / (2.0 * self.width), gap - self.width / 2.0
        )

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * namespace(f).clip((1.0 - y * f) / self.width, 0.0, 1.0)

    def curvature(self, y: Array, f: Array) -> Array:
        gap = 1.0 - y * f
        return _where((gap > 0.0) & (gap <= self.width), f) / self.width


class Hinge(Loss):
    """Hinge loss ``max(0, 1 - y f)`` of the support vector machine.

    It is not smooth, so the weights are found with a Huberized hinge; the coefficients
    are then those of a support vector machine on the weighted kernel (the paper's
    Section 3.4).

    Parameters
    ----------
    width : float, default=1.0
        Width of the Huberized hinge that finds the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import Hinge
    >>> Hinge().value(np.ones(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([2. , 0.5, 0. ])
    """

    task = "classification"
    curvature_bound = 0.0

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    @property
    def surrogate(self) -> Loss:  # type: ignore[override]  # an attribute elsewhere
        return HuberizedHinge(self.width)

    def validate(self) -> None:
        check_number(self.width, "width", strict=True)

    def value(self, y: Array, f: Array) -> Array:
        return _gap(y, f)

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * _where(y * f < 1.0, f)

    def curvature(self, y: Array, f: Array) -> Array:
        return namespace(f).zeros_like(f)


class LogisticLoss(Loss):
    """Logistic loss ``log(1 + exp(-y f))``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import LogisticLoss
    >>> LogisticLoss().value(np.ones(3), np.array([-1.0, 0.5, 2.0])).round(2)
    array([1.31, 0.47, 0.13])
    """

    task = "classification"
    curvature_bound = 0.25

    def value(self, y: Array, f: Array) -> Array:
        margin = y * f
        return namespace(f).logaddexp(0.0 * margin, -margin)

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * _sigmoid(-y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        q = _sigmoid(y * f)
        return q * (1.0 - q)

    def probability(self, f: Array) -> Array:
        return _sigmoid(f)


def _gap(y: Array, f: Array) -> Array:
    """Return how far scores fall short of the margin, ``max(0, 1 - y f)``."""
    return nonnegative(1.0 - y * f)


def _where(condition: Array, f: Array) -> Array:
    """Return ones where the condition holds and zeros elsewhere, of the type of ``f``."""
    return namespace(f).astype(condition, f.dtype)


def _sigmoid(f: Array) -> Array:
    if isinstance(f, np.ndarray):
        return expit(f)
    return 1.0 / (1.0 + namespace(f).exp(-f))


LOSSES: dict[str, type[Loss]] = {
    "squared": SquaredLoss,
    "huber": HuberLoss,
    "squared_hinge": SquaredHinge,
    "huberized_hinge": HuberizedHinge,
    "hinge": Hinge,
    "logistic": LogisticLoss,
}


def check_loss(loss: Any, task: str) -> Loss:
    """Return a :class:`Loss` for a name or an instance, made for the task.

    Parameters
    ----------
    loss : str or Loss
    task : {"regression", "classification"}

    Returns
    -------
    Loss
    """
    known = {name: cls for name, cls in LOSSES.items() if cls.task == task}
    if isinstance(loss, str) and loss in LOSSES and loss not in known:
        raise ValueError(
            f"The loss {loss!r} is for {LOSSES[loss].task}; for {task} choose one of "
            f"{', '.join(sorted(known))}."
        )
    resolved = resolve(loss, known, Loss, "loss")  # type: ignore[type-abstract]  # not called
    if resolved.task != task:
        raise ValueError(f"{resolved!r} is a loss for {resolved.task}, not for {task}.")
    return resolved
