"""What a loss states about itself."""

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator

from kernelknife._utils.arrays import Array, namespace

__all__ = ["Loss", "ones_where"]


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


def ones_where(condition: Array, f: Array) -> Array:
    """Return ones where the condition holds and zeros elsewhere, of the type of ``f``."""
    return namespace(f).astype(condition, f.dtype)
