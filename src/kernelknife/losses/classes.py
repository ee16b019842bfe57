"""Losses for classes, which see ``y`` in {-1, +1}."""

import numpy as np
from scipy.special import expit

from kernelknife._utils.arrays import Array, namespace, nonnegative
from kernelknife._utils.checks import check_number
from kernelknife.losses.base import Loss, ones_where

__all__ = ["Hinge", "HuberizedHinge", "LogisticLoss", "SquaredHinge"]


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
        return 2.0 * ones_where(y * f < 1.0, f)


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
        return ones_where((gap > 0.0) & (gap <= self.width), f) / self.width


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
    needs_rows = True

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    @property
    def surrogate(self) -> Loss:  # type: ignore[override]  # an attribute elsewhere
        return self.smoothed(self.width)

    def smoothed(self, width: float) -> Loss:
        return HuberizedHinge(width)

    def corner(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    def validate(self) -> None:
        check_number(self.width, "width", strict=True)

    def value(self, y: Array, f: Array) -> Array:
        return _gap(y, f)

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * ones_where(y * f < 1.0, f)

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


def _sigmoid(f: Array) -> Array:
    if isinstance(f, np.ndarray):
        return expit(f)
    return 1.0 / (1.0 + namespace(f).exp(-f))
