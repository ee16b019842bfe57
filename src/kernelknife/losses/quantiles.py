"""Losses for other summaries of a number than its mean: quantiles and expectiles."""

from collections.abc import Sequence

import numpy as np

from kernelknife._utils.arrays import Array, like, namespace
from kernelknife._utils.checks import check_number
from kernelknife.losses.base import Loss, ones_where

__all__ = ["ExpectileLoss", "QuantileLoss", "SmoothQuantileLoss"]


class SmoothQuantileLoss(Loss):
    """Pinball loss of a quantile, whose corner is a parabola.

    Parameters
    ----------
    quantile : float or sequence of float, default=0.5
        Between 0 and 1; several are one output each.
    width : float, default=0.1
        The loss is quadratic for residuals up to this size.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import SmoothQuantileLoss
    >>> SmoothQuantileLoss(0.9, width=0.5).value(np.array([-1.0, 0.0, 2.0]), np.zeros(3)).round(3)
    array([0.1  , 0.125, 1.8  ])
    """

    robust = True

    def __init__(self, quantile: float | Sequence[float] = 0.5, width: float = 0.1) -> None:
        self.quantile = quantile
        self.width = width

    @property
    def curvature_bound(self) -> float:  # type: ignore[override]  # an attribute elsewhere
        return 0.5 / self.width

    def of_output(self, q: int) -> Loss:
        return SmoothQuantileLoss(_level(self.quantile, q), self.width)

    def validate(self) -> None:
        check_quantiles(self.quantile)
        check_number(self.width, "width", strict=True)

    def value(self, y: Array, f: Array) -> Array:
        # The corner, |r| / 2, becomes a parabola; the slope tau - 1/2 of both sides stays.
        r, h = y - f, self.width
        size = abs(r)
        corner = namespace(f).where(size <= h, (size**2 / h + h) / 4.0, size / 2.0)
        return corner + (_levels(self.quantile, f) - 0.5) * r

    def gradient(self, y: Array, f: Array) -> Array:
        r = namespace(f).clip((y - f) / self.width, -1.0, 1.0)
        return 0.5 - _levels(self.quantile, f) - 0.5 * r

    def curvature(self, y: Array, f: Array) -> Array:
        return 0.5 / self.width * ones_where(abs(y - f) <= self.width, f)


class QuantileLoss(Loss):
    """Pinball loss ``r (tau - (r < 0))`` of the residual ``r = y - f``: the quantile ``tau``.

    It is not smooth, so the weights are found with a parabola in the place of its corner; the
    coefficients are then those of the loss itself. Then the share ``tau`` of the training rows lies
    below the fit, but for those that lie on it.

    Parameters
    ----------
    quantile : float or sequence of float, default=0.5
        Between 0 and 1. Several are one output each, in increasing order, with weights of the
        features in common; predictions are sorted, so that they never cross.
    width : float, default=0.1
        Half the width of the parabola that finds the weights, in robust standard deviations of the
        target (from its median absolute deviation) when the estimator standardizes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import QuantileLoss
    >>> QuantileLoss(0.9).value(np.array([-1.0, 0.0, 2.0]), np.zeros(3)).round(3)
    array([0.1, 0. , 1.8])

    The middle half of a number:

    >>> from kernelknife import KnifeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = X[:, 0] + rng.normal(size=200) * np.exp(X[:, 2])
    >>> model = KnifeRegressor(loss=QuantileLoss([0.25, 0.75]), sparsity=5.0).fit(X, y)
    >>> low, high = model.predict(X).T
    >>> float(np.mean((low <= y) & (y <= high)).round(1))
    0.5
    """

    robust = True
    score_name = "neg_mean_pinball_loss"
    curvature_bound = 0.0

    def __init__(self, quantile: float | Sequence[float] = 0.5, width: float = 0.1) -> None:
        self.quantile = quantile
        self.width = width

    @property
    def surrogate(self) -> Loss:  # type: ignore[override]  # an attribute elsewhere
        return self.smoothed(self.width)

    def smoothed(self, width: float) -> Loss:
        return SmoothQuantileLoss(self.quantile, width)

    def corner(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        level = _level(self.quantile, 0)  # of one output
        return np.full(y.shape, level - 1.0), np.full(y.shape, level)

    @property
    def n_levels(self) -> int:
        return int(np.size(self.quantile))

    def of_output(self, q: int) -> Loss:
        return QuantileLoss(_level(self.quantile, q), self.width)

    def inverse_link(self, f: Array) -> Array:
        """Return the scores in increasing order, so that quantiles do not cross.

        That brings predictions nearer to the quantiles, or leaves them as they are
        (Chernozhukov, Fernandez-Val and Galichon, 2010).

        Parameters
        ----------
        f : ndarray of shape (n, k)
            One score per quantile.

        Returns
        -------
        ndarray of shape (n, k)
            The predictions.
        """
        return f if np.ndim(self.quantile) == 0 else namespace(f).sort(f, axis=1)

    def validate(self) -> None:
        self.surrogate.validate()

    def value(self, y: Array, f: Array) -> Array:
        r = y - f
        return 0.5 * abs(r) + (_levels(self.quantile, f) - 0.5) * r

    def gradient(self, y: Array, f: Array) -> Array:
        return ones_where(y < f, f) - _levels(self.quantile, f)

    def curvature(self, y: Array, f: Array) -> Array:
        return namespace(f).zeros_like(f)

    def score(self, y: np.ndarray, prediction: np.ndarray, sample_weight: np.ndarray) -> float:
        """Return minus the mean pinball loss of predictions.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        prediction : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            Predicted quantiles.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the rows.

        Returns
        -------
        float
            The greater, the better; of several quantiles the mean.
        """
        prediction = np.asarray(prediction).reshape(len(prediction), -1)
        loss = self.value(np.asarray(y, dtype=float).reshape(len(prediction), -1), prediction)
        return -float(np.average(loss, weights=sample_weight, axis=0).mean())


class ExpectileLoss(Loss):
    """Squared error with a factor: ``tau (y - f)**2`` below the target, ``1 - tau`` above it.

    What the mean is to the median an expectile is to a quantile: smooth, and moved by how far the
    largest values are. At 1/2 it is half the squared error.

    Parameters
    ----------
    expectile : float, default=0.5
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import ExpectileLoss
    >>> ExpectileLoss(0.9).value(np.array([-1.0, 0.0, 2.0]), np.zeros(3)).round(2)
    array([0.1, 0. , 3.6])
    """

    score_name = "neg_mean_expectile_loss"

    def __init__(self, expectile: float = 0.5) -> None:
        self.expectile = expectile

    @property
    def curvature_bound(self) -> float:  # type: ignore[override]  # an attribute elsewhere
        return 2.0 * max(self.expectile, 1.0 - self.expectile)

    def validate(self) -> None:
        _check_level(self.expectile, "expectile")

    def value(self, y: Array, f: Array) -> Array:
        return self._factor(y, f) * (y - f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return 2.0 * self._factor(y, f) * (f - y)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * self._factor(y, f)

    def _factor(self, y: Array, f: Array) -> Array:
        return self.expectile + (1.0 - 2.0 * self.expectile) * ones_where(y < f, f)

    def score(self, y: np.ndarray, prediction: np.ndarray, sample_weight: np.ndarray) -> float:
        """Return minus the mean loss of predictions.

        Parameters
        ----------
        y, prediction : ndarray of shape (n_samples,)
            Targets and predicted expectiles.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the rows.

        Returns
        -------
        float
            The greater, the better.
        """
        loss = self.value(np.asarray(y, dtype=float), prediction)
        return -float(np.average(loss, weights=sample_weight, axis=0).mean())


def check_quantiles(quantile: float | Sequence[float]) -> None:
    """Raise unless one or several quantiles lie between 0 and 1 and increase."""
    if not isinstance(quantile, Sequence | np.ndarray):
        return _check_level(quantile, "quantile")
    levels = list(quantile)
    if not levels:
        raise ValueError("quantile must be a number between 0 and 1, or several; got none.")
    for level in levels:
        _check_level(level, "quantile")
    if (np.diff(np.array(levels, dtype=float)) <= 0).any():
        raise ValueError(f"Several quantiles must increase, got {levels!r}.")
    return None


def _check_level(level: float, name: str) -> None:
    check_number(level, name, strict=True)
    if level >= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, got {level!r}.")


def _level(quantile: float | Sequence[float], q: int) -> float:
    """Return the level of one output."""
    return float(np.ravel(np.asarray(quantile))[q])


def _levels(quantile: float | Sequence[float], f: Array) -> Array:
    """Return the level, or that of every column of scores of shape (n, k)."""
    return quantile if np.ndim(quantile) == 0 else like(np.array(quantile, dtype=float), f)
