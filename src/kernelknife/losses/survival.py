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
from scipy.sparse import csr_array

__all__ = ["TIES", "CoxRisk"]

TIES = ("efron", "breslow")
# Risk sets whose rows all score hundreds below the highest would have a sum of zero.
SMALLEST_SUM = 1e-290

Vectors: TypeAlias = np.ndarray  # of shape (n,) or (n, k)


@dataclass(frozen=True)
class _Moments:
    """Sums over risk sets at some scores."""

    mass: np.ndarray  # s exp(f) of every row, up to a factor per stratum
    shifted: np.ndarray  # f without that factor
    Z: np.ndarray  # by term
    intensity: np.ndarray  # of every row, the sum of m q / Z over the terms that it takes part in


class CoxRisk:
    """Minus the logarithm of the partial likelihood of some rows, as a function of their scores.

    Parameters
    ----------
    Y : ndarray of shape (n, 2), (n, 3) or (n, 4)
        Time, event (0 or 1), and perhaps stratum and time of entry.
    s : ndarray of shape (n,)
        Weights of the rows.
    ties : {"efron", "breslow"}, default="efron"
    """

    def __init__(self, Y: np.ndarray, s: np.ndarray, ties: str = "efron"):
        n = len(Y)
        time, event = Y[:, 0], (Y[:, 1] > 0) & (s > 0)
        self.s = np.asarray(s, dtype=float)
        self.event_weight = self.s * event
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
        self._enters, self._leaves = self._counter(self.first), self._counter(self.last)
        shape = (self.n_times, n)
        self._deaths = csr_array((np.ones(len(deaths)), (of_death, deaths)), shape=shape)
        self.deaths_weight = self._deaths @ self.s
        if ties == "breslow":
            tied = np.ones_like(tied)
        self._time_of_term = np.repeat(np.arange(self.n_times), tied)
        self._first_term = np.cumsum(tied) - tied
        place = np.arange(len(self._time_of_term)) - self._first_term[self._time_of_term]
        self._phi = place / tied[self._time_of_term]
        self._m = (self.deaths_weight / tied)[self._time_of_term]

    def _counter(self, place: np.ndarray) -> csr_array:
        """Return the matrix that adds up rows by their place among the event times."""
        n = len(place)
        return csr_array((np.ones(n), (place, np.arange(n))), shape=(self.n_times + 1, n))

    # -- sums over risk sets and over event times ------------------------------------------

    def _over_risk_sets(self, v: Vectors) -> Vectors:
        """Return the sum of ``v`` over the rows at risk at every event time."""
        change = self._leaves @ v
        if self.first.any():
            change = change - self._enters @ v
        sums: np.ndarray = np.cumsum(change[::-1], axis=0)[::-1]
        return sums[1:]

    def _over_time_at_risk(self, u: Vectors) -> Vectors:
        """Return the sum of ``u`` over the event times at which every row is at risk."""
        total = np.zeros((self.n_times + 1, *u.shape[1:]))
        np.cumsum(u, axis=0, out=total[1:])
        difference: np.ndarray = total[self.last] - total[self.first]
        return difference

    def _over_terms(self, u: Vectors) -> Vectors:
        """Return the sum of ``u`` over the terms of every event time."""
        if not len(u):
            return u
        sums: np.ndarray = np.add.reduceat(u, self._first_term, axis=0)
        return sums

    def _at(self, f: np.ndarray) -> _Moments:
        top = np.full(len(self.strata), -np.inf)
        np.maximum.at(top, self.stratum, f)
        shifted = f - top[self.stratum]
        mass = self.s * np.exp(shifted)
        k, phi = self._time_of_term, self._phi
        Z = self._over_risk_sets(mass)[k] - phi * (self._deaths @ mass)[k]
        Z = np.maximum(Z, SMALLEST_SUM)
        share = self._m / Z
        intensity = self._over_time_at_risk(self._over_terms(share))
        intensity = intensity - self._deaths.T @ self._over_terms(share * phi)
        return _Moments(mass, shifted, Z, np.maximum(intensity, 0.0))

    # -- value and derivatives -------------------------------------------------------------

    def value(self, F: np.ndarray) -> float:
        """Return the loss at the scores ``F`` of shape (n, 1)."""
        at = self._at(F[:, 0])
        return float(self._m @ np.log(at.Z) - self.event_weight @ at.shifted)

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """Return the derivative in the scores, of shape (n, 1)."""
        at = self._at(F[:, 0])
        return np.asarray(at.mass * at.intensity - self.event_weight)[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        """Return the diagonal matrix that the Hessian lies below, of shape (n, 1)."""
        at = self._at(F[:, 0])
        return np.asarray(at.mass * at.intensity)[:, None]

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the product of the Hessian at the scores ``F`` with the columns of ``V``."""
        at = self._at(F[:, 0])
        weighted = at.mass[:, None] * V
        k, phi = self._time_of_term, self._phi[:, None]
        inner = self._over_risk_sets(weighted)[k] - phi * (self._deaths @ weighted)[k]
        inner *= (self._m / at.Z**2)[:, None]
        rest = self._over_time_at_risk(self._over_terms(inner))
        rest = rest - self._deaths.T @ self._over_terms(phi * inner)
        return np.asarray(at.intensity[:, None] * weighted - at.mass[:, None] * rest)

    def cumulative_hazards(self, F: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Return Breslow's baseline: of every stratum its label, event times, cumulative hazard."""
        f = F[:, 0]
        top = float(np.max(f, initial=0.0))
        at_risk = self._over_risk_sets(self.s * np.exp(f - top))
        steps = self.deaths_weight / np.maximum(at_risk, SMALLEST_SUM) * np.exp(-top)
        found = []
        for code, label in enumerate(self.strata):
            mine = self.stratum_of_time == code
            found.append((float(label), self.event_times[mine], np.cumsum(steps[mine])))
        return found
