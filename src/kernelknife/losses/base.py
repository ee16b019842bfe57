"""What a loss states about itself, and a loss bound to given rows.

A :class:`Loss` is a formula and its facts. Bound to rows it is a :class:`Risk`: a function of all
scores with a gradient and a curvature, which is all that a problem asks for. A loss that couples
rows, such as the partial likelihood of survival times, is a :class:`CoupledLoss` with a risk of its
own; for all others one implementation adds up the rows.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelknife._utils.arrays import Array, namespace, to_host

__all__ = ["CoupledLoss", "Loss", "PointwiseRisk", "Risk", "ones_where"]

# Where the least loss of a row is looked for, and how often the interval is halved.
FARTHEST, LEAST_BISECTIONS = 700.0, 60


class Loss(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base of all losses.

    Attributes
    ----------
    task : {"regression", "classification", "survival"}
        What kind of target the loss is for.
    target : str
        Kind of target, a key of ``kernelknife._engine.data.targets.TARGETS``; empty for the one of
        the task: "numbers" or "classes".
    nonnegative : bool
        Whether no row's loss is negative. Where a loss has no bound of its second derivative and
        does not state it, what every row loses at best is taken off: the objective, in whose
        relation accuracies and penalties are measured, must not depend on what a formula leaves
        out.
    scale_target : bool
        Whether numbers may be standardized before the loss sees them. Counts, say, may not. A loss
        that is no function of ``y - f`` has to say so, True or False, or is refused.
    curvature_bound : float
        An upper bound of the second derivative; infinity where there is none.
    constant_curvature : bool
        Whether the second derivative is the same everywhere: the coefficients are then
        one linear solve, shared by all columns.
    binary_only : bool
        Whether the loss is limited to two classes.
    surrogate : Loss or None
        The smooth loss that the weights are found with, for a loss that is not smooth;
        the coefficients are then refitted with the loss itself, which has a :meth:`corner`.
    needs_rows : bool
        Whether a model has to be exact, without centers.
    robust : bool
        Whether to standardize targets by median and median absolute deviation.
    probability : callable or None
        For losses whose scores are log-odds, ``probability(f)`` gives P(y = +1).
    score : callable or None
        ``score(y, prediction, sample_weight)`` is what folds compare, the greater the better, for
        targets and predictions in the user's units. None is the accuracy for classes and the
        negative mean squared error for numbers.
    score_name : str
        What ``score`` is called, for pictures and reports.
    has_intercept : bool
        Whether a constant added to all scores changes the loss.
    couples_rows : bool
        Whether the loss of a row depends on the others, as in a :class:`CoupledLoss`.

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
    nonnegative = False
    scale_target = True
    curvature_bound = 1.0
    constant_curvature = False
    binary_only = False
    surrogate: "Loss | None" = None
    needs_rows = False
    robust = False
    probability: Any = None
    score: Any = None
    score_name = ""
    has_intercept = True
    couples_rows = False

    def validate(self) -> None:
        """Raise if a parameter is out of range; called once before a fit."""

    def check_target(self, y: np.ndarray) -> None:
        """Raise a ValueError where numbers cannot be targets of the loss.

        Parameters
        ----------
        y : ndarray of shape (n,) or (n, k)
            The targets as the user gave them, all finite.
        """

    def inverse_link(self, f: Array) -> Array:
        """Return what scores mean on the scale of the target, elementwise.

        Parameters
        ----------
        f : ndarray
            Scores, with the offset where there is one.

        Returns
        -------
        ndarray
            Predictions; the scores themselves unless the loss has a link.
        """
        return f

    @property
    def has_log_link(self) -> bool:
        """Whether scores are logarithms of predictions."""
        one = np.ones((1, 1))
        return bool(
            type(self).inverse_link is not Loss.inverse_link
            and np.isclose(self.inverse_link(one), np.e * self.inverse_link(0.0 * one)).all()
        )

    @property
    def n_levels(self) -> int:
        """Number of scores that one column of numbers has: one, but for several quantiles."""
        return 1

    def of_output(self, q: int) -> "Loss":
        """Return the loss of one column of scores: the loss itself, but for several quantiles.

        Parameters
        ----------
        q : int
            Index of the column.

        Returns
        -------
        Loss
            For scores of one dimension.
        """
        return self

    def smoothed(self, width: float) -> "Loss":
        """Return a loss with a parabola in the place of the corner.

        Parameters
        ----------
        width : float
            Of the parabola.

        Returns
        -------
        Loss
            A smooth one.
        """
        raise NotImplementedError(f"{self!r} has no corner.")

    def corner(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``low`` and ``high``, where the loss is ``max u (y - f)`` over what is between.

        Parameters
        ----------
        y : ndarray
            Targets of one output.

        Returns
        -------
        low, high : ndarray
            Of the shape of ``y``.
        """
        raise NotImplementedError(f"{self!r} has no corner.")

    def bind(self, Y: Array, s: Array, n_outputs: int) -> "Risk":
        """Return the loss on given rows.

        Parameters
        ----------
        Y : ndarray of shape (n, n_outputs) or (n, 2 n_outputs)
            Targets; where rows have offsets, these follow.
        s : ndarray of shape (n,)
            Sample weights.
        n_outputs : int
            Number of columns of scores.

        Returns
        -------
        Risk
            Of all scores.
        """
        offset = Y[:, n_outputs:] if Y.shape[1] > n_outputs else None
        return PointwiseRisk(self, Y[:, :n_outputs], s, offset)

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


class Risk(ABC):
    """A loss on given rows, as a function of their scores ``F`` of shape (n, k).

    Scores of one output may also have the shape (n,), where the risk is that of one :meth:`column`.

    Attributes
    ----------
    bound : float
        Upper bound of the second derivative of a row of weight 1; infinity where there is none.
    s : ndarray of shape (n,)
        Sample weights.
    coupled : bool
        Whether the true second derivative is more than the diagonal ``curvature``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.losses import SquaredLoss
    >>> risk = SquaredLoss().bind(np.array([[1.0], [2.0]]), np.array([1.0, 3.0]), 1)
    >>> risk.value(np.zeros((2, 1))), risk.gradient(np.zeros((2, 1))).ravel()
    (13.0, array([ -2., -12.]))
    """

    bound: float
    s: Array
    coupled = False

    @property
    def information(self) -> float:
        """Total weight of the rows that say something of their scores on their own."""
        return float(self.s.sum())

    @abstractmethod
    def values(self, F: Array) -> Array:
        """Return the loss of every row, before its sample weight, in the shape of ``F``.

        Parameters
        ----------
        F : ndarray of shape (n, k) or (n,)
            Scores.

        Returns
        -------
        ndarray
            Of the shape of ``F``.
        """

    @abstractmethod
    def value(self, F: Array) -> float:
        """Return the sum of the losses, times the sample weights.

        Parameters
        ----------
        F : ndarray of shape (n, k) or (n,)
            Scores.

        Returns
        -------
        float
            The risk.
        """

    @abstractmethod
    def slope(self, F: Array) -> Array:
        """Return the derivative in every score per unit of sample weight, in the shape of ``F``.

        Parameters
        ----------
        F : ndarray of shape (n, k) or (n,)
            Scores.

        Returns
        -------
        ndarray
            Of the shape of ``F``.
        """

    def gradient(self, F: Array) -> Array:
        """Return the derivative in every score, in the shape of ``F``.

        Parameters
        ----------
        F : ndarray of shape (n, k) or (n,)
            Scores.

        Returns
        -------
        ndarray
            Of the shape of ``F``.
        """
        return self._weighted(self.slope(F))

    @abstractmethod
    def curvature(self, F: Array) -> Array:
        """Return the second derivative in every score, never negative, in the shape of ``F``.

        For a loss that couples rows it is a diagonal matrix that lies above the true one.

        Parameters
        ----------
        F : ndarray of shape (n, k) or (n,)
            Scores.

        Returns
        -------
        ndarray
            Of the shape of ``F``.
        """

    def hessian_product(self, F: Array, V: Array) -> Array:
        """Return the true second derivative times a vector or a matrix, for one output.

        Parameters
        ----------
        F : ndarray of shape (n, 1) or (n,)
            Scores.
        V : ndarray of shape (n,) or (n, m)
            What is multiplied.

        Returns
        -------
        ndarray
            Of the shape of ``V``.
        """
        h = self.curvature(F)
        h = h if h.ndim == 1 else h[:, 0]
        return h * V if V.ndim == 1 else h[:, None] * V

    @abstractmethod
    def column(self, q: int) -> "Risk":
        """Return the risk of one output, for scores of shape (n,).

        Parameters
        ----------
        q : int
            Number of the output.

        Returns
        -------
        Risk
            Of the same rows.
        """

    def reference(self, h: Array) -> float:
        """Return the curvature that others count as small beside: the bound, or the largest.

        Parameters
        ----------
        h : ndarray
            Curvatures of all rows.

        Returns
        -------
        float
            Positive.
        """
        if np.isfinite(self.bound):
            return self.bound
        return max(float(namespace(h).max(h)) if h.shape[0] else 0.0, 1e-300)

    def _weighted(self, values: Array) -> Array:
        return (self.s if values.ndim == 1 else self.s[:, None]) * values


class PointwiseRisk(Risk):
    """A loss that applies to each row and output separately.

    Parameters
    ----------
    loss : Loss
    Y : ndarray of shape (n, k) or (n,)
    s : ndarray of shape (n,)
    offset : ndarray of the shape of Y, or None
        Known parts of the scores.
    """

    def __init__(self, loss: Loss, Y: Array, s: Array, offset: Array | None = None):
        self.loss, self.Y, self.s, self.offset = loss, Y, s, offset
        self.bound = loss.curvature_bound

    def _at(self, F: Array) -> Array:
        return F if self.offset is None else F + self.offset

    def values(self, F: Array) -> Array:
        """Return the loss of every row, before its sample weight."""
        return self.loss.value(self.Y, self._at(F))

    def value(self, F: Array) -> float:
        """Return the sum of the losses, times the sample weights."""
        values = self.values(F)
        if isinstance(values, np.ndarray):
            return float((self.s @ values).sum()) - self._least
        return float(namespace(values).sum(self._weighted(values))) - self._least

    @cached_property
    def _least(self) -> float:
        """What all rows lose at best; zero for a loss that is known to be fine as it is."""
        if self.loss.nonnegative or np.isfinite(self.bound):
            return 0.0
        Y, s = to_host(self.Y), to_host(self.s)
        if Y.ndim == 2:
            return float(sum(self.column(q)._least for q in range(Y.shape[1])))
        y, places = np.unique(Y, return_inverse=True)
        return float(np.bincount(places, s) @ _least_values(self.loss, y))

    def slope(self, F: Array) -> Array:
        """Return the derivative in every score per unit of sample weight."""
        return self.loss.gradient(self.Y, self._at(F))

    def curvature(self, F: Array) -> Array:
        """Return the second derivative in every score."""
        return self._weighted(self.loss.curvature(self.Y, self._at(F)))

    def column(self, q: int) -> "PointwiseRisk":
        """Return the risk of one output."""
        offset = None if self.offset is None else self.offset[:, q]
        return PointwiseRisk(self.loss.of_output(q), self.Y[:, q], self.s, offset)


class CoupledLoss(Loss):
    """Base of losses that couple rows, which are not sums over single rows.

    A subclass makes a :class:`Risk` of its own in :meth:`bind`. It sees all rows at once, so that
    its rows have to be in memory. The partial likelihood of survival times, :class:`CoxLoss`, is
    one.

    Examples
    --------
    >>> from kernelknife.losses import CoupledLoss, CoxLoss
    >>> issubclass(CoxLoss, CoupledLoss), CoxLoss.couples_rows
    (True, True)
    """

    scale_target = False
    curvature_bound = np.inf
    couples_rows = True

    @abstractmethod
    def bind(self, Y: Array, s: Array, n_outputs: int) -> Risk:
        """Return the loss on given rows; ``Y`` has as many columns as the loss asks for.

        Parameters
        ----------
        Y : ndarray of shape (n, m)
            Encoded targets.
        s : ndarray of shape (n,)
            Sample weights.
        n_outputs : int
            Number of columns of scores.

        Returns
        -------
        Risk
            Of all scores.
        """

    def value(self, y: Array, f: Array) -> Array:
        """Return the loss of every row given all of them.

        Parameters
        ----------
        y : ndarray of shape (n, m)
            Encoded targets.
        f : ndarray of shape (n, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n, 1)
            The loss of every row.
        """
        return self.bind(y, np.ones(len(y)), 1).values(f)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return the derivative in every score given all rows.

        Parameters
        ----------
        y : ndarray of shape (n, m)
            Encoded targets.
        f : ndarray of shape (n, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n, 1)
            The derivative of every score.
        """
        return self.bind(y, np.ones(len(y)), 1).gradient(f)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return a diagonal that lies above the second derivative.

        Parameters
        ----------
        y : ndarray of shape (n, m)
            Encoded targets.
        f : ndarray of shape (n, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n, 1)
            Never negative.
        """
        return self.bind(y, np.ones(len(y)), 1).curvature(f)


def _least_values(loss: Loss, y: np.ndarray) -> np.ndarray:
    """Return the least value of a loss for every target: its slope rises with the score."""
    low, high = np.full(len(y), -FARTHEST), np.full(len(y), FARTHEST)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(LEAST_BISECTIONS):
            middle = 0.5 * (low + high)
            rises = loss.gradient(y, middle) > 0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
        return np.asarray(loss.value(y, 0.5 * (low + high)), dtype=float)


def ones_where(condition: Array, f: Array) -> Array:
    """Return ones where the condition holds and zeros elsewhere, of the type of ``f``."""
    return namespace(f).astype(condition, f.dtype)
