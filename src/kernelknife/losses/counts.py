"""Losses for counts and amounts, whose logarithm of the mean is the score.

Each is half the unit deviance of its distribution, as a function of the score ``f = log(mean)``:
zero where the mean is the target. Scores are logarithms, so that ``exposure`` is an offset.
"""

import numpy as np

from kernelknife._utils.arrays import Array, namespace
from kernelknife._utils.checks import check_number
from kernelknife.losses.base import Loss

__all__ = ["GammaLoss", "NegativeBinomialLoss", "PoissonLoss", "TweedieLoss"]

# Scores beyond this are as good as this: its exponential, and the square of that, are finite, so
# that a step which goes too far is seen to raise the objective and is shortened.
FAR = 300.0


class _LogLinkLoss(Loss):
    """What losses with a logarithmic link share."""

    nonnegative = True
    scale_target = False
    curvature_bound = np.inf
    score_name = "neg_mean_deviance"

    def inverse_link(self, f: Array) -> Array:
        """Return the mean, which is the exponential of the score.

        Parameters
        ----------
        f : ndarray
            Scores.

        Returns
        -------
        ndarray
            Of the same shape.
        """
        return _power(f, 1.0)

    def score(self, y: np.ndarray, prediction: np.ndarray, sample_weight: np.ndarray) -> float:
        """Return minus the mean deviance of predicted means.

        Parameters
        ----------
        y, prediction : ndarray
            Targets and means, of the same shape.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the rows.

        Returns
        -------
        float
            The greater, the better; 0 at best.
        """
        f = np.log(np.maximum(prediction, np.exp(-FAR)))
        deviance = 2.0 * self.value(np.asarray(y, dtype=float), f)
        return -float(np.average(deviance, weights=sample_weight, axis=0).mean())


class TweedieLoss(_LogLinkLoss):
    """Half the Tweedie deviance: amounts that are often zero, and else positive.

    The variance is proportional to ``mean**power``: a sum of a random number of amounts, such as
    what an insurance pays in a year.

    Parameters
    ----------
    power : float, default=1.5
        From 1 to 2. At 1 it is the Poisson deviance, and unlike :class:`PoissonLoss` takes numbers
        that are not whole; at 2 it is the gamma deviance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import TweedieLoss
    >>> loss = TweedieLoss(1.5)
    >>> loss.value(np.array([0.0, 1.0, 4.0]), np.zeros(3)).round(2)
    array([2., 0., 2.])
    >>> loss.inverse_link(np.log([0.5, 3.0])).round(2)
    array([0.5, 3. ])
    """

    def __init__(self, power: float = 1.5) -> None:
        self.power = power

    def validate(self) -> None:
        check_number(self.power, "power", low=1.0)
        if self.power > 2.0:
            raise ValueError(f"power must be a number from 1 to 2, got {self.power!r}.")

    def check_target(self, y: np.ndarray) -> None:
        if self.power < 2.0:
            refuse_negative(y, "a Tweedie loss is for amounts of zero or more")
        else:
            _refuse_zero(y)

    def value(self, y: Array, f: Array) -> Array:
        p, xp = self.power, namespace(f)
        f = xp.clip(f, -FAR, FAR)
        if p == 1.0:
            return xp.exp(f) - y * f - (y - _log_times(y, y))
        if p == 2.0:
            return y * xp.exp(-f) + f - (1.0 + xp.log(y))
        least = y ** (2.0 - p) / ((2.0 - p) * (p - 1.0))
        return _power(f, 2.0 - p) / (2.0 - p) + y * _power(f, 1.0 - p) / (p - 1.0) - least

    def gradient(self, y: Array, f: Array) -> Array:
        return _power(f, 2.0 - self.power) - y * _power(f, 1.0 - self.power)

    def curvature(self, y: Array, f: Array) -> Array:
        p = self.power
        return (2.0 - p) * _power(f, 2.0 - p) + (p - 1.0) * y * _power(f, 1.0 - p)


class PoissonLoss(TweedieLoss):
    """Half the Poisson deviance: counts, ``exp(f) - y f`` and what does not depend on ``f``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import PoissonLoss
    >>> PoissonLoss().value(np.array([0.0, 1.0, 2.0]), np.zeros(3)).round(2)
    array([1.  , 0.  , 0.39])
    """

    power = 1.0

    def __init__(self) -> None:
        pass  # its power is what it is

    def check_target(self, y: np.ndarray) -> None:
        _refuse_parts(y, "a Poisson loss")


class GammaLoss(TweedieLoss):
    """Half the gamma deviance: positive amounts, ``y exp(-f) + f`` and what depends on ``y`` alone.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import GammaLoss
    >>> GammaLoss().value(np.array([0.5, 1.0, 2.0]), np.zeros(3)).round(2)
    array([0.19, 0.  , 0.31])
    """

    power = 2.0

    def __init__(self) -> None:
        pass  # its power is what it is


class NegativeBinomialLoss(_LogLinkLoss):
    """Half the deviance of the negative binomial: counts that vary more than Poisson's.

    Parameters
    ----------
    dispersion : float, default=1.0
        The variance is ``mean + dispersion * mean**2``; as it goes to zero this is the Poisson
        loss. It is not estimated: compare a few by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import NegativeBinomialLoss
    >>> NegativeBinomialLoss(0.5).value(np.array([0.0, 4.0]), np.zeros(2)).round(2)
    array([0.81, 1.39])
    """

    def __init__(self, dispersion: float = 1.0) -> None:
        self.dispersion = dispersion

    def validate(self) -> None:
        check_number(self.dispersion, "dispersion", strict=True)

    def check_target(self, y: np.ndarray) -> None:
        _refuse_parts(y, "a negative binomial loss")

    def value(self, y: Array, f: Array) -> Array:
        size, xp = 1.0 / self.dispersion, namespace(f)
        f = xp.clip(f, -FAR, FAR)
        # log(size + exp(f)), the logarithm of size and mean together
        together = xp.logaddexp(f, 0.0 * f + float(np.log(size)))
        best = _log_times(y, y) - (y + size) * xp.log(y + size)
        return best - y * f + (y + size) * together

    def gradient(self, y: Array, f: Array) -> Array:
        mean = _power(f, 1.0)
        return (mean - y) / (1.0 + self.dispersion * mean)

    def curvature(self, y: Array, f: Array) -> Array:
        mean = _power(f, 1.0)
        return mean * (1.0 + self.dispersion * y) / (1.0 + self.dispersion * mean) ** 2


def _power(f: Array, exponent: float) -> Array:
    """Return ``exp(exponent f)``, with scores that are too far taken back."""
    xp = namespace(f)
    return xp.exp(exponent * xp.clip(f, -FAR, FAR))


def _log_times(x: Array, y: Array) -> Array:
    """Return ``x log(y)``, which is zero at ``x = 0``."""
    xp = namespace(y)
    return x * xp.log(xp.where(y > 0, y, xp.ones_like(y)))


# -- what suits a loss ----------------------------------------------------------------------------


def refuse_negative(y: np.ndarray, what: str) -> None:
    """Raise where a target has negative values; ``what`` says for which numbers the loss is."""
    negative = int((y < 0).sum())
    if negative:
        raise ValueError(
            f"The target has {negative} negative values (the least is {y.min():g}), but {what}. "
            "Take loss='squared' or loss='huber' for numbers of both signs."
        )


def _refuse_zero(y: np.ndarray) -> None:
    refuse_negative(y, "a gamma loss is for positive amounts")
    zeros = int((y == 0).sum())
    if zeros:
        raise ValueError(
            f"The target is zero in {zeros} rows, but a gamma loss is for positive amounts. Take "
            "loss='tweedie' for amounts that may be zero, or loss='poisson' for counts."
        )


def _refuse_parts(y: np.ndarray, what: str) -> None:
    """Raise where a target is negative or not whole."""
    refuse_negative(y, f"{what} is for counts")
    parts = y[np.asarray(y % 1 != 0)]
    if len(parts):
        raise ValueError(
            f"The target has {len(parts)} values that are not whole (such as {parts[0]:g}), but "
            f"{what} is for counts. Pass counts and exposure= instead of rates; for amounts take "
            "loss='tweedie' (TweedieLoss(power=1) is the Poisson loss for any amounts)."
        )
