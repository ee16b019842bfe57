"""How well risks and survival curves agree with times until an event, some of them censored.

Everywhere ``time`` is the time until the event or until the last observation, ``event`` whether the
event was observed (1) or the row is censored (0), and a higher ``risk`` means an earlier event.
"""

from typing import Any

import numpy as np

from kernelknife._utils.checks import check_number

__all__ = [
    "brier_scores",
    "concordance",
    "integrated_brier_score",
    "kaplan_meier",
    "uno_concordance",
]


def concordance(
    time: Any, event: Any, risk: Any, sample_weight: Any = None, *, strata: Any = None
) -> float:
    """Count how often of two rows the one with the higher risk has its event first (Harrell).

    Two rows can be compared where the one with the shorter time has had its event; of equal times,
    where one has had it and the other has not. Equal risks count one half.

    Parameters
    ----------
    time, event, risk : array-like of shape (n_samples,)
        Observed times, whether the event was observed, and the predicted risk.
    sample_weight : array-like of shape (n_samples,), default=None
        A pair counts as much as the product of the weights of its rows.
    strata : array-like of shape (n_samples,), default=None
        Rows are compared with those of the same stratum only.

    Returns
    -------
    float
        Between 0 and 1; 0.5 is no better than chance.

    Examples
    --------
    >>> from kernelknife.survival_metrics import concordance
    >>> concordance([2, 4, 6, 8], [1, 0, 1, 1], [0.9, 0.8, 0.1, 0.3])
    0.75
    """
    time, event = _check_observed(time, event)
    risk, s = _check_rows(risk, len(time), "risk"), _check_weights(sample_weight, len(time))
    codes = np.zeros(len(time)) if strata is None else np.asarray(strata)
    counts = np.zeros((3, len(time)))
    for code in np.unique(codes):
        mine = codes == code
        counts[:, mine] = _count_pairs(time[mine], event[mine], risk[mine], s[mine])
    below, equal, pairs = counts
    return _share_of_pairs(below, equal, pairs, s)


def uno_concordance(
    time: Any,
    event: Any,
    risk: Any,
    *,
    horizon: Any = None,
    train_time: Any = None,
    train_event: Any = None,
) -> float | np.ndarray:
    """Measure Uno's concordance up to a horizon, whatever the distribution of the censoring.

    Pairs are those of :func:`concordance` whose first event is before the horizon, each weighted by
    one over the squared probability of not being censored before it.

    Parameters
    ----------
    time, event, risk : array-like of shape (n_samples,)
        Observed times, whether the event was observed, and the predicted risk.
    horizon : float or array-like of shape (n_horizons,), default=None
        Events from this time on begin no pair; None takes all of them.
    train_time, train_event : array-like, default=None
        Rows that the distribution of the censoring is taken from; None takes the same rows.

    Returns
    -------
    float or ndarray of shape (n_horizons,)
        Between 0 and 1; 0.5 is no better than chance.

    Examples
    --------
    >>> from kernelknife.survival_metrics import uno_concordance
    >>> round(uno_concordance([2, 4, 6, 8], [1, 0, 1, 1], [0.9, 0.8, 0.1, 0.3]), 3)
    0.571
    """
    time, event = _check_observed(time, event)
    risk = _check_rows(risk, len(time), "risk")
    before = _probability_uncensored(time, event, train_time, train_event, at=time, included=False)
    counts = _count_pairs(time, event, risk, np.ones(len(time)))
    horizons = np.atleast_1d(np.inf if horizon is None else np.asarray(horizon, dtype=float))
    shares = []
    for end in horizons:
        first = event & (time < end)
        if (before[first] == 0).any():
            raise ValueError(
                "No training row is observed as long as some of these events take: give a horizon "
                f"of at most {time[before > 0].max():g}."
            )
        weight = np.zeros(len(time))
        weight[first] = before[first] ** -2.0
        shares.append(_share_of_pairs(*counts, weight))
    return shares[0] if np.ndim(horizon) == 0 else np.array(shares)


def brier_scores(
    time: Any,
    event: Any,
    survival: Any,
    times: Any,
    *,
    train_time: Any = None,
    train_event: Any = None,
) -> np.ndarray:
    """Measure the mean squared error of predicted survival probabilities at some times.

    A row counts at a time where it is known whether its event was before; it is weighted by one
    over the probability that this is known (Graf and others, 1999).

    Parameters
    ----------
    time, event : array-like of shape (n_samples,)
        Observed times, and whether the event was observed.
    survival : array-like of shape (n_samples, n_times)
        Predicted probability that the event is after each of the ``times``.
    times : array-like of shape (n_times,)
        Increasing times.
    train_time, train_event : array-like, default=None
        Rows that the distribution of the censoring is taken from; None takes the same rows.

    Returns
    -------
    ndarray of shape (n_times,)
        0 is perfect; 0.25 is what a probability of one half has.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.survival_metrics import brier_scores
    >>> brier_scores([1, 2, 3, 4], [1, 1, 1, 1], np.full((4, 2), 0.5), [1.5, 2.5])
    array([0.25, 0.25])
    """
    time, event = _check_observed(time, event)
    times = np.asarray(times, dtype=float)
    if times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any():
        raise ValueError("times must be a list of increasing numbers.")
    S = np.asarray(survival, dtype=float)
    if S.shape != (len(time), len(times)):
        raise ValueError(
            "survival must have a row per sample and a column per time, "
            f"{(len(time), len(times))}, got {S.shape}."
        )
    uncensored = (train_time, train_event)
    at_event = _probability_uncensored(time, event, *uncensored, at=time, included=False)
    at_times = _probability_uncensored(time, event, *uncensored, at=times, included=True)
    dead = event[:, None] & (time[:, None] <= times)
    alive = time[:, None] > times
    if (at_event[dead.any(axis=1)] == 0).any() or (at_times[alive.any(axis=0)] == 0).any():
        raise ValueError(
            "No training row is observed as long as some of the times: leave out late times."
        )
    with np.errstate(divide="ignore"):
        one = np.where(dead, (1.0 / at_event)[:, None], 0.0)
        other = np.where(alive, 1.0 / at_times, 0.0)
    return np.asarray((S**2 * one + (1.0 - S) ** 2 * other).mean(axis=0))


def integrated_brier_score(
    time: Any,
    event: Any,
    survival: Any,
    times: Any,
    *,
    train_time: Any = None,
    train_event: Any = None,
) -> float:
    """Take the mean of :func:`brier_scores` over the time from the first to the last of ``times``.

    Parameters
    ----------
    time, event, survival, times, train_time, train_event : see :func:`brier_scores`
        At least two times.

    Returns
    -------
    float
        0 is perfect; 0.25 is what a probability of one half has.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.survival_metrics import integrated_brier_score
    >>> integrated_brier_score([1, 2, 3, 4], [1, 1, 1, 1], np.full((4, 2), 0.5), [1.5, 2.5])
    0.25
    """
    times = np.asarray(times, dtype=float)
    if times.ndim == 1:
        check_number(len(times), "The number of times", low=2, integer=True)
    scores = brier_scores(
        time, event, survival, times, train_time=train_time, train_event=train_event
    )
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))


def kaplan_meier(time: Any, event: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the share of rows without an event up to a time.

    Parameters
    ----------
    time, event : array-like of shape (n_samples,)
        Observed times, and whether the event was observed.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    times : ndarray of shape (n_times,)
        The distinct times of events, increasing.
    survival : ndarray of shape (n_times,)
        The share just after each of them; it is 1 before the first.

    Examples
    --------
    >>> from kernelknife.survival_metrics import kaplan_meier
    >>> times, survival = kaplan_meier([1, 2, 2, 3], [1, 0, 1, 1])
    >>> times, survival
    (array([1., 2., 3.]), array([0.75, 0.5 , 0.  ]))
    """
    time, event = _check_observed(time, event)
    s = _check_weights(sample_weight, len(time))
    times, place = np.unique(time, return_inverse=True)
    deaths = np.bincount(place, s * event, minlength=len(times))
    leaving = np.bincount(place, s, minlength=len(times))
    at_risk = np.cumsum(leaving[::-1])[::-1]
    kept = deaths > 0
    # Of the last ones at risk rounding leaves a little more or less than all.
    left = np.maximum(1.0 - deaths[kept] / at_risk[kept], 0.0)
    return times[kept], np.cumprod(left)


# -- pairs of rows --------------------------------------------------------------------------------


def _count_pairs(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, s: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weight of later rows with a lower, with an equal, and with any risk.

    One number each per row; those of censored rows are zero.
    """
    _, ranks = np.unique(risk, return_inverse=True)
    # By time, deaths before censored rows; tied deaths by risk, so that none has a lower one after.
    order = np.lexsort((np.where(event, ranks, 0), ~event, time))
    time, event, ranks, s = time[order], event[order], ranks[order], s[order]
    below = _sum_below(ranks, s)
    # Deaths at one time are no pairs: what such rows add to the sums of those before is taken off.
    _, of_time = np.unique(np.column_stack([time, ~event]), axis=0, return_inverse=True)
    end = np.searchsorted(of_time, of_time, side="right")
    later = np.append(np.cumsum(s[::-1])[::-1], 0.0)
    _, of_rank = np.unique(np.column_stack([of_time, ranks]), axis=0, return_inverse=True)
    equal = _sum_equal(ranks, s) - _sum_equal(of_rank, s)
    counts = np.zeros((3, len(time)))
    counts[:, order[event]] = below[event], equal[event], later[end][event]
    return counts[0], counts[1], counts[2]


def _share_of_pairs(
    below: np.ndarray, equal: np.ndarray, pairs: np.ndarray, weight: np.ndarray
) -> float:
    total = float(weight @ pairs)
    if not total > 0:
        raise ValueError(
            "No two rows can be compared: of the shorter of two times the event must be observed."
        )
    return float(weight @ (below + 0.5 * equal)) / total


def _sum_equal(ranks: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the sum of ``s`` over the rows after each one that have the same rank."""
    order = np.argsort(ranks, kind="stable")
    total = np.cumsum(s[order])
    end = np.searchsorted(ranks[order], ranks[order], side="right")
    sums = np.empty(len(s))
    sums[order] = total[end - 1] - total
    return sums


def _sum_below(ranks: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the sum of ``s`` over the rows after each one that have a lower rank.

    Ranks are compared bit by bit, the highest first. Rows whose higher bits agree stand side by
    side in their order; there those with a bit of 0 are lower than one with a bit of 1. Every bit
    takes O(n) steps, so that all of them take O(n log n).
    """
    sums, order = np.zeros(len(s)), np.arange(len(s))
    for bit in range(max(int(ranks.max(initial=0)).bit_length() - 1, 0), -1, -1):
        prefix, one = ranks[order] >> (bit + 1), (ranks[order] >> bit) & 1 == 1
        zeros = np.cumsum(np.where(one, 0.0, s[order]))
        end = np.searchsorted(prefix, prefix, side="right")
        sums[order] += np.where(one, zeros[end - 1] - zeros, 0.0)
        # Rows of one prefix stay together, those with a 0 before those with a 1.
        order = order[np.argsort(ranks[order] >> bit, kind="stable")]
    return sums


# -- the distribution of the censoring ------------------------------------------------------------


def _probability_uncensored(
    time: np.ndarray,
    event: np.ndarray,
    train_time: Any,
    train_event: Any,
    *,
    at: np.ndarray,
    included: bool,
) -> np.ndarray:
    """Return the probability of not being censored before some times, which may be included.

    Of a death and a censoring at one time the death comes first.
    """
    if train_time is not None:
        time, event = _check_observed(train_time, train_event)
    values, place = np.unique(time, return_inverse=True)
    censored = np.bincount(place, ~event, minlength=len(values))
    deaths = np.bincount(place, event, minlength=len(values))
    at_risk = np.cumsum((censored + deaths)[::-1])[::-1] - deaths
    left = 1.0 - censored / np.maximum(at_risk, 1.0)
    curve = np.concatenate([[1.0], np.cumprod(left)])
    return np.asarray(curve[np.searchsorted(values, at, side="right" if included else "left")])


# -- checks ---------------------------------------------------------------------------------------


def _check_rows(values: Any, n: int, name: str) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.shape != (n,):
        raise ValueError(f"{name} must have one number per row, shape ({n},), got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has missing or infinite values.")
    return values


def _check_observed(time: Any, event: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return times and events as arrays of numbers and of truth values."""
    time = np.asarray(time, dtype=float)
    time = _check_rows(time, len(np.atleast_1d(time)), "time")
    event = _check_rows(event, len(time), "event")
    if not np.isin(event, (0.0, 1.0)).all():
        raise ValueError("event must be 0 (censored) or 1 (observed).")
    return time, event == 1.0


def _check_weights(sample_weight: Any, n: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n)
    return _check_rows(sample_weight, n, "sample_weight")
