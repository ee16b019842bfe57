"""Losses for numbers."""

from kernelknife._utils.arrays import Array, namespace
from kernelknife._utils.checks import check_number
from kernelknife.losses.base import Loss, ones_where

__all__ = ["HuberLoss", "SquaredLoss"]


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
        return 2.0 * ones_where(abs(y - f) <= self.delta, f)
