"""Bounds on the expected number of false selections of stability selection.

A procedure selects at most ``q`` of ``p`` features on each half of ``B`` pairs of complementary
half-samples. The features that are selected in a share of at least ``threshold`` of the ``2 B``
halves are kept. How many of them are false in expectation is bounded by one of three formulas, from
the weakest assumption to the strongest:

* "none": Meinshausen and Buhlmann (2010), theorem 1.
* "unimodal": Shah and Samworth (2013), theorem 2. The share of pairs that select a useless feature
  in both halves has a unimodal distribution.
* "r-concave": Shah and Samworth (2013), section 3.4. That distribution is r-concave with r = -1/2,
  and that of the share of halves with r = -1/4.

"False" means a feature that the procedure selects on a half no more often than a blind draw of
``q`` of ``p`` would. Meinshausen and Buhlmann's theorem asks in addition that useless features are
exchangeable.
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

__all__ = ["ASSUMPTIONS", "error_bound", "largest_count", "smallest_threshold"]

ASSUMPTIONS = ("none", "unimodal", "r-concave")
# The theorem for unimodal distributions holds up to this share of features per half.
LARGEST_SHARE = 1.0 / np.sqrt(3.0)
SMALLEST_SHIFT, LARGEST_SHIFT = 1e-5, 1e5  # between which the shift of an r-concave tail is sought
ROUNDING = 1e-9


def error_bound(q: int, p: int, threshold: float, n_pairs: int, assumption: str) -> float:
    """Return the bound on the expected number of false selections; infinity where none is known.

    Parameters
    ----------
    q : int
        Features that are selected on each half at most.
    p : int
        Features to choose from.
    threshold : float
        Share of the halves from which on a feature is kept.
    n_pairs : int
        Number of complementary pairs of halves.
    assumption : {"none", "unimodal", "r-concave"}

    Returns
    -------
    float
    """
    if assumption == "none":
        return q**2 / p / (2.0 * threshold - 1.0) if threshold > 0.5 else np.inf
    if assumption == "unimodal":
        return _unimodal_bound(q, p, threshold, n_pairs)
    return _r_concave_bound(q, p, round(threshold * 2 * n_pairs, 6), n_pairs)


def largest_count(p: int, threshold: float, n_pairs: int, max_false: float, assumption: str) -> int:
    """Return the largest ``q`` whose bound is at most ``max_false``, 0 if there is none."""
    # The bounds rise with q: the largest allowed one is found by halving an interval.
    low, high = 0, p
    while low < high:
        middle = (low + high + 1) // 2
        if error_bound(middle, p, threshold, n_pairs, assumption) <= max_false:
            low = middle
        else:
            high = middle - 1
    return low


def smallest_threshold(
    q: int, p: int, n_pairs: int, max_false: float, assumption: str
) -> float | None:
    """Return the smallest share of halves above 1/2 whose bound is at most ``max_false``.

    Shares are multiples of ``1 / (2 n_pairs)``. None says that there is none.
    """
    for halves in range(n_pairs + 1, 2 * n_pairs + 1):
        threshold = halves / (2 * n_pairs)
        if error_bound(q, p, threshold, n_pairs, assumption) <= max_false:
            return threshold
    return None


def _unimodal_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    share = q / p
    lowest = 0.5 + min(share**2, 0.5 / n_pairs + 0.75 * share**2)
    if share > LARGEST_SHARE or not lowest < threshold <= 1.0:
        return np.inf
    if threshold <= 0.75:
        factor = 1.0 / (2.0 * (2.0 * threshold - 1.0 - 0.5 / n_pairs))
    else:
        factor = 4.0 * (1.0 - threshold + 0.5 / n_pairs) / (1.0 + 1.0 / n_pairs)
    return factor * q**2 / p if factor > 0 else np.inf


@lru_cache(maxsize=4096)
def _r_concave_bound(q: int, p: int, halves: float, n_pairs: int) -> float:
    """Return the bound for features that are selected in at least so many halves."""
    halves_up, share = int(np.ceil(halves - ROUNDING)), q / p
    pairs = _largest_tail(share**2, halves_up - n_pairs, n_pairs, -0.5)
    single = _largest_tail(share, halves_up, 2 * n_pairs, -0.25)
    return p * min(1.0, pairs, single)


def _largest_tail(mean: float, t: int, n: int, r: float) -> float:
    """Return the largest ``P(N >= t)`` of r-concave numbers ``N`` in 0 ... n of mean ``n mean``.

    The worst distributions have probabilities proportional to ``(a + j)**(1 / r)`` for ``j`` up to
    some ``k``, and the rest of the mass on ``k + 1``. For every ``k`` the shift ``a`` lies between
    the one that needs no mass on ``k + 1`` and the one that continues the same law to ``k + 1``.
    """
    center, s = n * mean, 1.0 / r
    first = int(np.ceil(2.0 * center - ROUNDING)) + 1
    if t < first or first >= n:
        return 1.0
    shifts = {k: _shift_of_mean(center, k, s) for k in range(first, n + 1)}
    worst = 0.0
    # A law that ends below t has nothing there.
    for k in range(max(first, t - 1), n):
        j = np.arange(k + 1)

        def tail(a, k=k, j=j):
            law = (a + j) ** s
            scale = (k + 1 - center) / ((k + 1 - j) @ law)
            return 1.0 - scale * law[:t].sum()

        low, high = shifts[k + 1], shifts[k]
        worst = max(worst, tail(low), tail(high))
        if high > low:
            inside = minimize_scalar(
                lambda a, tail=tail: -tail(a), bounds=(low, high), method="bounded"
            )
            worst = max(worst, -inside.fun)
    return worst


def _shift_of_mean(center: float, k: int, s: float) -> float:
    """Return the shift for which ``(a + j)**s`` on 0 ... k has this mean."""
    j = np.arange(k + 1)

    def excess(a):
        law = (a + j) ** s
        return j @ law / law.sum() - center

    # A large shift is a uniform distribution, whose mean is k / 2; a small one sits on zero.
    if excess(LARGEST_SHIFT) < 0:
        return LARGEST_SHIFT
    if excess(SMALLEST_SHIFT) > 0:
        return SMALLEST_SHIFT
    return float(brentq(excess, SMALLEST_SHIFT, LARGEST_SHIFT, xtol=1e-14, rtol=1e-12))
