"""The loss for times until an event, some of which are censored: Cox's partial likelihood.

Rows meet in risk sets. At the event time ``t_k`` of a stratum the rows at risk are those of the
stratum with ``entry < t_k <= time``. Event times are numbered by stratum and by time, so that a row
is at risk at a range of them, ``first <= k < last``. Every sum over risk sets is then a cumulated
sum over event times, and value, gradient and products with the Hessian take O(n) steps.

With weights ``s``, scores ``f`` and ``r = exp(f)``, the loss is

    sum_t m_t log Z_t - sum_{deaths} s_i f_i,     Z_t = S_k - phi_t T_k,

``S_k`` the sum of ``s r`` over the risk set of ``t_k`` and ``T_k`` that over its deaths. Breslow
has one term per event time, with ``phi = 0`` and ``m`` the weight of the deaths; Efron has one per
death, with ``phi = 0, 1/d, ..., (d - 1)/d`` and ``m`` their mean weight.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kernelknife._utils.arrays import Array
from kernelknife.losses.base import CoupledLoss, Risk

__all__ = ["TIES", "Baseline", "CoxLoss", "CoxRisk"]

TIES = ("efron", "breslow")
# Risk sets whose rows all score hundreds below the highest would have a sum of zero.
SMALLEST_SUM = 1e-290

Vectors: TypeAlias = np.ndarray  # of shape (n,) or (n, k)


class CoxLoss(CoupledLoss):
    """Minus the logarithm of Cox's partial likelihood of censored times.

    A score is the logarithm of the hazard, up to a baseline that all rows of a stratum share.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        What is made of events at the same time: as if they came one after the other, in an order
        that is not known, or all at once.

    Examples
    --------
    Two rows with an event and one that is censored; with equal scores the loss is log 3 + log 2:

    >>> import numpy as np
    >>> from kernelknife.losses import CoxLoss
    >>> y = np.array([[1.0, 1], [2, 1], [3, 0]])
    >>> round(CoxLoss().bind(y, np.ones(3)).value(np.zeros((3, 1))), 2)
    1.79
    """

    task = "survival"
    target = "survival"
    score_name = "partial likelihood"
    # A constant changes nothing. It stays in the model because a diagonal that is free to move with
    # it lies much closer to the Hessian: steps of the coefficients are half to a third as many.
    has_intercept = True

    def __init__(self, ties: str = "efron") -> None:
        self.ties = ties

    def validate(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties must be 'efron' or 'breslow', got {self.ties!r}.")

    def bind(self, Y: Array, s: Array, n_outputs: int = 1) -> "CoxRisk":
        """Return the loss on given rows.

        Parameters
        ----------
        Y : ndarray of shape (n, 2), (n, 3) or (n, 4)
            Time, event (0 or 1), and perhaps stratum and time of entry.
        s : ndarray of shape (n,)
            Sample weights.
        n_outputs : int, default=1
            There is one column of scores.

        Returns
        -------
        CoxRisk
            Of all scores.
        """
        return CoxRisk(Y, s, self.ties)


@dataclass(frozen=True)
class _Moments:
    """Sums over risk sets at some scores."""

    rate: np.ndarray  # exp(f) of every row, up to a factor per stratum
    shifted: np.ndarray  # f without that factor
    Z: np.ndarray  # by term
    intensity: np.ndarray  # of every row, the sum of m q / Z over the terms that it takes part in


class CoxRisk(Risk):
    """Minus the logarithm of the partial likelihood of some rows, as a function of their scores.

    Parameters
    ----------
    Y : ndarray of shape (n, 2), (n, 3) or (n, 4)
        Time, event (0 or 1), and perhaps stratum and time of entry.
    s : ndarray of shape (n,)
        Weights of the rows.
    ties : {"efron", "breslow"}, default="efron"
    """

    bound = np.inf
    coupled = True

    def __init__(self, Y: np.ndarray, s: np.ndarray, ties: str = "efron"):
        n = len(Y)
        time, event = Y[:, 0], (Y[:, 1] > 0) & (s > 0)
        self.s = np.asarray(s, dtype=float)
        self._observed, self.event_weight = event.astype(float), self.s * event
        labels = Y[:, 2] if Y.shape[1] > 2 else np.zeros(n)
        self.strata, self.stratum = np.unique(labels, return_inverse=True)
        entry = Y[:, 3] if Y.shape[1] > 3 else np.full(n, -np.inf)
        # Event times in the order of stratum and time, each pair as one whole number.
        values, ranks = np.unique(np.concatenate([time, entry]), return_inverse=True)
        left, entered = self.stratum * len(values) + ranks.reshape(2, n)
        deaths = np.flatnonzero(event)
        keys, of_death, tied = np.unique(left[deaths], return_inverse=True, return_counts=True)
        self.n_times = len(keys)
        self.event_times, self.stratum_of_time = values[keys % len(values)], keys // len(values)
        self.last = np.searchsorted(keys, left, side="right")
        self.first = np.searchsorted(keys, entered, side="right")
        self._leaving, self._entering = self._sorted(self.last), None
        if self.first.any():
            self._entering = self._sorted(self.first)
        self._deaths = deaths[np.argsort(of_death, kind="stable")]
        self._time_of_death = np.sort(of_death)
        self._first_death = np.cumsum(tied) - tied
        self.deaths_weight = self._over_deaths(self.s)
        if ties == "breslow":
            tied = np.ones_like(tied)
        self._time_of_term = np.repeat(np.arange(self.n_times), tied)
        self._first_term = np.cumsum(tied) - tied
        place = np.arange(len(self._time_of_term)) - self._first_term[self._time_of_term]
        self._phi = place / tied[self._time_of_term]
        self._m = (self.deaths_weight / tied)[self._time_of_term]
        self._last_scores: tuple[np.ndarray, _Moments] | None = None

    def _sorted(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows by their place among the event times, the last first, and how many are after.

        The second array has one number for every event time.
        """
        order = np.argsort(-place, kind="stable")
        return order, np.searchsorted(-place[order], -np.arange(self.n_times), side="left")

    # -- sums over risk sets and over event times ------------------------------------------

    def _over_risk_sets(self, v: Vectors) -> Vectors:
        """Return the sum of ``v`` over the rows at risk at every event time."""
        sums: np.ndarray = _cumulated(v[self._leaving[0]])[self._leaving[1]]
        if self._entering is not None:
            sums = sums - _cumulated(v[self._entering[0]])[self._entering[1]]
        return sums

    def _over_deaths(self, v: Vectors) -> Vectors:
        """Return the sum of ``v`` over the deaths at every event time."""
        return _summed(v[self._deaths], self._first_death)

    def _of_deaths(self, u: Vectors) -> Vectors:
        """Return what ``u`` is at the time of every row's event, zero for censored rows."""
        values = np.zeros((len(self.s), *u.shape[1:]))
        values[self._deaths] = u[self._time_of_death]
        return values

    def _over_time_at_risk(self, u: Vectors) -> Vectors:
        """Return the sum of ``u`` over the event times at which every row is at risk."""
        total = _cumulated(u)
        difference: np.ndarray = total[self.last] - total[self.first]
        return difference

    def _over_terms(self, u: Vectors) -> Vectors:
        """Return the sum of ``u`` over the terms of every event time."""
        return _summed(u, self._first_term)

    def _at(self, F: np.ndarray) -> _Moments:
        f = F.reshape(len(self.s))
        known = self._last_scores
        if known is not None and np.array_equal(known[0], f):
            return known[1]
        top = np.full(len(self.strata), -np.inf)
        np.maximum.at(top, self.stratum, f)
        shifted = f - top[self.stratum]
        rate = np.exp(shifted)
        mass, k, phi = self.s * rate, self._time_of_term, self._phi
        Z = self._over_risk_sets(mass)[k] - phi * self._over_deaths(mass)[k]
        Z = np.maximum(Z, SMALLEST_SUM)
        share = self._m / Z
        intensity = self._over_time_at_risk(self._over_terms(share))
        intensity = intensity - self._of_deaths(self._over_terms(share * phi))
        moments = _Moments(rate, shifted, Z, np.maximum(intensity, 0.0))
        # Value, slope and curvature are asked for at the same scores, one after the other.
        self._last_scores = f.copy(), moments
        return moments

    # -- value and derivatives -------------------------------------------------------------

    @property
    def information(self) -> float:
        """Total weight of the events: censored rows alone say nothing of their scores."""
        return float(self.event_weight.sum())

    def value(self, F: np.ndarray) -> float:
        """Return the loss at some scores."""
        at = self._at(F)
        return float(self._m @ np.log(at.Z) - self.event_weight @ at.shifted)

    def values(self, F: np.ndarray) -> np.ndarray:
        """Return what every row adds to the loss, per unit of its weight: events alone do."""
        at = self._at(F)
        level = self._over_terms(self._m * np.log(at.Z)) / self.deaths_weight
        return np.asarray(self._of_deaths(level) - self._observed * at.shifted).reshape(F.shape)

    def slope(self, F: np.ndarray) -> np.ndarray:
        """Return the derivative in every score per unit of sample weight."""
        at = self._at(F)
        return np.asarray(at.rate * at.intensity - self._observed).reshape(F.shape)

    def curvature(self, F: np.ndarray) -> np.ndarray:
        """Return the diagonal matrix that the second derivative lies below."""
        at = self._at(F)
        return np.asarray(self.s * at.rate * at.intensity).reshape(F.shape)

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the second derivative times ``V``, of shape (n,) or (n, m)."""
        at = self._at(F)
        mass = (self.s * at.rate)[:, None]
        weighted = mass * V.reshape(len(V), -1)
        if not self._phi.any():
            # Every event time has one term, and the deaths stay in its risk set.
            inner = self._over_risk_sets(weighted) * (self._m / at.Z / at.Z)[:, None]
            rest = self._over_time_at_risk(inner)
            return np.asarray(at.intensity[:, None] * weighted - mass * rest).reshape(V.shape)
        k, phi = self._time_of_term, self._phi[:, None]
        inner = self._over_risk_sets(weighted)[k] - phi * self._over_deaths(weighted)[k]
        inner *= (self._m / at.Z)[:, None]
        inner /= at.Z[:, None]
        rest = self._over_time_at_risk(self._over_terms(inner))
        rest = rest - self._of_deaths(self._over_terms(phi * inner))
        return np.asarray(at.intensity[:, None] * weighted - mass * rest).reshape(V.shape)

    def column(self, q: int) -> "CoxRisk":
        """Return the risk itself: there is one column of scores."""
        return self

    def baseline(self, F: np.ndarray) -> "Baseline":
        """Return Breslow's estimate of the hazard where the score is zero."""
        f = F.reshape(len(self.s))
        top = float(np.max(f, initial=0.0))
        at_risk = self._over_risk_sets(self.s * np.exp(f - top))
        steps = self.deaths_weight / np.maximum(at_risk, SMALLEST_SUM) * np.exp(-top)
        hazards = np.empty(self.n_times)
        for code in range(len(self.strata)):
            mine = self.stratum_of_time == code
            hazards[mine] = np.cumsum(steps[mine])
        return Baseline(self.event_times, hazards, self.strata[self.stratum_of_time])


def _cumulated(v: Vectors) -> Vectors:
    """Return the sums of the first 0, 1, 2, ... rows."""
    sums = np.zeros((len(v) + 1, *v.shape[1:]))
    np.cumsum(v, axis=0, out=sums[1:])
    return sums


def _summed(v: Vectors, first: np.ndarray) -> Vectors:
    """Return the sums over runs of rows that begin at some rows."""
    if not len(first):
        return np.zeros((0, *v.shape[1:]))
    sums: np.ndarray = np.add.reduceat(v, first, axis=0)
    return sums


@dataclass(frozen=True)
class Baseline:
    """Cumulative hazards of a score of zero, one step function per stratum.

    Attributes
    ----------
    times, hazards, strata : ndarray of shape (n_times,)
        The event times of every stratum, the cumulative hazard from each of them on, and the code
        of its stratum.
    """

    times: np.ndarray
    hazards: np.ndarray
    strata: np.ndarray

    def at(self, times: np.ndarray, stratum: float) -> np.ndarray:
        """Return the cumulative hazard of a stratum at some times."""
        mine = self.strata == stratum
        steps = np.concatenate([[0.0], self.hazards[mine]])
        return np.asarray(steps[np.searchsorted(self.times[mine], times, side="right")])
