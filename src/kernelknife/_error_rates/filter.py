"""From the statistics of features and their knockoffs to a selection.

A statistic ``W_j`` is positive where a feature beats its knockoff and negative where it loses. The
signs of useless features are independent fair coins, so the negative ones tell how many of the
positive ones are false (Barber and Candes 2015). Several draws of knockoffs are joined by e-values
(Ren and Barber 2024): a number whose expectation is at most 1 for a useless feature.
"""

import numpy as np

__all__ = [
    "derandomized_e_values",
    "e_bh_q_values",
    "knockoff_threshold",
    "patient_threshold",
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
    larger = np.maximum(importance, of_knockoff)
    return larger * np.sign(importance - of_knockoff)


def knockoff_threshold(W: np.ndarray, fdr: float) -> float:
    """Return the smallest threshold of the knockoff+ filter, infinity where there is none.

    It is the smallest ``t`` among the sizes of the statistics with
    ``(1 + #{W <= -t}) / max(1, #{W >= t}) <= fdr``.

    Parameters
    ----------
    W : ndarray of shape (p,)
    fdr : float
    """
    sizes, won, lost = _races(W)
    return _first(sizes, _passes(won, lost, fdr))


def patient_threshold(W: np.ndarray, fdr: float) -> float:
    """Return a stricter threshold, for draws that are joined; infinity where there is none.

    It is the smallest one that knockoff+ has at half the rate. Where fewer than ``2 / fdr``
    features are left before that, so that half the rate cannot be reached any more, it is the next
    one at the rate itself. A feature's e-value then has room for the draws that miss it.

    The threshold is chosen while ``t`` rises, by what has been seen up to ``t`` and by how many
    signs of each kind are left: a stopping time, as the proof of the e-values asks for.

    Parameters
    ----------
    W : ndarray of shape (p,)
    fdr : float
    """
    sizes, won, lost = _races(W)
    few = won * fdr < 2.0 * (1.0 - ROUNDING)
    return _first(sizes, _passes(won, lost, fdr / 2) | (few & _passes(won, lost, fdr)))


def _races(W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sizes of the statistics, rising, with the races won and lost from each size on."""
    sizes = np.unique(np.abs(W[W != 0]))
    won = len(W) - np.searchsorted(np.sort(W), sizes, side="left")
    lost = len(W) - np.searchsorted(np.sort(-W), sizes, side="left")
    return sizes, won, lost


def _passes(won: np.ndarray, lost: np.ndarray, fdr: float) -> np.ndarray:
    return 1 + lost <= fdr * np.maximum(won, 1) * (1.0 + ROUNDING)


def _first(sizes: np.ndarray, passes: np.ndarray) -> float:
    return float(sizes[np.argmax(passes)]) if passes.any() else np.inf


def derandomized_e_values(statistics: np.ndarray, fdr: float) -> np.ndarray:
    """Return the mean over draws of ``p 1{W_j >= T} / (1 + #{W <= -T})``.

    Of a single draw, ``T`` is the threshold of knockoff+, and e-BH selects what knockoff+ does.

    Parameters
    ----------
    statistics : ndarray of shape (n_draws, p)
        One row of statistics for every draw of knockoffs.
    fdr : float

    Returns
    -------
    ndarray of shape (p,)
    """
    n_draws, p = statistics.shape
    choose = knockoff_threshold if n_draws == 1 else patient_threshold
    values = np.zeros(p)
    for row in statistics:
        threshold = choose(row, fdr)
        if np.isfinite(threshold):
            won, lost = row >= threshold, row <= -threshold
            values += p * won / (1.0 + lost.sum())
    return values / n_draws


def e_bh_q_values(e_values: np.ndarray) -> np.ndarray:
    """Return the smallest rate at which the e-BH procedure selects each feature.

    Parameters
    ----------
    e_values : ndarray of shape (p,)
    """
    p = len(e_values)
    order = np.argsort(-e_values, kind="stable")
    ordered = e_values[order]
    # Features with the same e-value come together.
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
    fdr : float
    """
    return e_bh_q_values(e_values) <= fdr * (1.0 + ROUNDING)
