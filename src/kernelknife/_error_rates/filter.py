"""From the statistics of features and their knockoffs to a selection.

A statistic ``W_j`` is positive where a feature beats its knockoff and negative where it loses. The
signs of useless features are independent fair coins, so the number of negative ones estimates how
many of the positive ones are false (Barber and Candes 2015). Several draws of knockoffs are joined
by e-values (Ren and Barber 2024): numbers whose expectation is at most 1 for a useless feature.
"""

import numpy as np

__all__ = [
    "derandomized_e_values",
    "e_bh_q_values",
    "joint_threshold",
    "knockoff_threshold",
    "select_by_e_values",
    "signed_maximum",
]

ROUNDING = 1e-12


def signed_maximum(importance: np.ndarray, of_knockoff: np.ndarray) -> np.ndarray:
    """Return the larger of two importances, with a minus sign where it is the knockoff's.

    Parameters
    ----------
    importance, of_knockoff : ndarray of shape (p,)
    """
    W: np.ndarray = np.maximum(importance, of_knockoff) * np.sign(importance - of_knockoff)
    return W


def knockoff_threshold(W: np.ndarray, fdr: float) -> float:
    """Return the smallest threshold of the knockoff+ filter, infinity where there is none.

    It is the smallest ``t`` among the sizes of the statistics with
    ``(1 + #{W <= -t}) / max(1, #{W >= t}) <= fdr``.

    Parameters
    ----------
    W : ndarray of shape (p,)
    """
    sizes, won, lost = _count_wins(W)
    return _first(sizes, _passes(won, lost, fdr))


def joint_threshold(W: np.ndarray, fdr: float) -> float:
    """Return the stricter threshold of draws that are joined; infinity where there is none.

    It is the threshold of knockoff+ at half the rate, which leaves a feature's e-value room for the
    draws that miss it. Where fewer than ``2 / fdr`` features are left before that, half the rate
    can no longer be reached, and it is the next threshold at the rate itself.

    The threshold is chosen while ``t`` rises, by the sizes up to ``t`` and by the number of signs
    of each kind beyond: a stopping time, as the proof of the e-values demands.

    Parameters
    ----------
    W : ndarray of shape (p,)
    """
    sizes, won, lost = _count_wins(W)
    few = won * fdr < 2.0 * (1.0 - ROUNDING)
    return _first(sizes, _passes(won, lost, fdr / 2) | (few & _passes(won, lost, fdr)))


def _count_wins(W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sizes of the statistics, rising, with the wins and losses from each size on."""
    sizes = np.unique(np.abs(W[W != 0]))
    won = len(W) - np.searchsorted(np.sort(W), sizes, side="left")
    lost = len(W) - np.searchsorted(np.sort(-W), sizes, side="left")
    return sizes, won, lost


def _passes(won: np.ndarray, lost: np.ndarray, fdr: float) -> np.ndarray:
    """Return at which sizes the knockoff+ filter passes."""
    passes: np.ndarray = 1 + lost <= fdr * np.maximum(won, 1) * (1.0 + ROUNDING)
    return passes


def _first(sizes: np.ndarray, passes: np.ndarray) -> float:
    """Return the smallest size that passes."""
    return float(sizes[np.argmax(passes)]) if passes.any() else np.inf


def derandomized_e_values(statistics: np.ndarray, fdr: float) -> np.ndarray:
    """Return the mean over draws of ``p 1{W_j >= T} / (1 + #{W <= -T})``.

    For a single draw, ``T`` is the threshold of knockoff+, and e-BH selects what knockoff+ does.

    Parameters
    ----------
    statistics : ndarray of shape (n_draws, p)
        One row of statistics for every draw of knockoffs.

    Returns
    -------
    ndarray of shape (p,)
    """
    n_draws, p = statistics.shape
    choose = knockoff_threshold if n_draws == 1 else joint_threshold
    values: np.ndarray = np.zeros(p)
    for row in statistics:
        threshold = choose(row, fdr)
        if np.isfinite(threshold):
            won, lost = row >= threshold, row <= -threshold
            values += p * won / (1.0 + lost.sum())
    values /= n_draws
    return values


def e_bh_q_values(e_values: np.ndarray) -> np.ndarray:
    """Return the smallest rate at which the e-BH procedure selects each feature.

    Parameters
    ----------
    e_values : ndarray of shape (p,)
    """
    p = len(e_values)
    order = np.argsort(-e_values, kind="stable")
    ordered = e_values[order]
    # Features with the same e-value are selected together.
    selected = np.searchsorted(-ordered, -ordered, side="right")
    rates = np.full(p, np.inf)
    np.divide(p, selected * ordered, out=rates, where=ordered > 0)
    q_values = np.empty(p)
    q_values[order] = np.minimum(np.minimum.accumulate(rates[::-1])[::-1], 1.0)
    return q_values


def select_by_e_values(e_values: np.ndarray, fdr: float) -> np.ndarray:
    """Return which features the e-BH procedure selects: the ``k`` largest, each ``>= p / (fdr k)``.

    Parameters
    ----------
    e_values : ndarray of shape (p,)
    """
    selected: np.ndarray = e_bh_q_values(e_values) <= fdr * (1.0 + ROUNDING)
    return selected
