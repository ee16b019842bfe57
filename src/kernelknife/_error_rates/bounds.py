"""Bounds on the expected number of false selections of stability selection.

A procedure selects at most ``q`` of ``p`` features on each half-sample of ``B`` complementary
pairs. The features that are selected on a share of at least ``threshold`` of the ``2 B``
half-samples are kept. How many of them are false in expectation is bounded by one of three
formulas, from the weakest assumption to the strongest:

* "none": Meinshausen and Buhlmann (2010), theorem 1.
* "unimodal": Shah and Samworth (2013), theorem 2. The share of pairs that select a useless feature
  on both half-samples has a unimodal distribution.
* "r-concave": Shah and Samworth (2013), section 3.4. That distribution is r-concave with r = -1/2,
  and that of the share of half-samples with r = -1/4.

"False" means a feature that the procedure selects on a half-sample no more often than a blind draw
of ``q`` of ``p`` would. Meinshausen and Buhlmann's theorem asks in addition that useless features
are exchangeable.

:func:`integrated_q_values` reads the same votes without a threshold: Melikechi and Miller (2024)
integrate a feature's selection probabilities over the whole path, instead of reading them at one
point of it. The path here is the number ``k`` of features that a half-sample may keep, so that
exactly ``k`` features are selected on each of them and the bound needs no estimate. With
``h(x) = (2 x - 1)**3`` for ``x > 1/2``, else 0, and a probability measure ``mu`` on counts, a
feature's score is ``integral h(pi_j(k)) mu(dk)``. A useless feature is selected on both
half-samples of a pair with a probability of at most ``(k / p)**2``. By Markov's inequality the
expected number of useless features with a score of at least ``t`` is at most ``I / t``, where ``I``
is the integral of

    (k^2 / p + 3 (B - 1) k^4 / p^3 + (B - 1) (B - 2) k^6 / p^5) / B^2.
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

__all__ = [
    "ASSUMPTIONS",
    "choose_votes",
    "error_bound",
    "integrated_q_values",
    "largest_count",
    "smallest_threshold",
]

ASSUMPTIONS = ("none", "unimodal", "r-concave")
# The threshold by default, and the one for tables whose half-samples would have few votes.
USUAL_THRESHOLD, STRICT_THRESHOLD, MANY_VOTES = 0.75, 0.9, 10
# The theorem for unimodal distributions holds up to this share of features per half-sample.
LARGEST_SHARE = 1.0 / np.sqrt(3.0)
SMALLEST_SHIFT, LARGEST_SHIFT = 1e-5, 1e5  # between which the shift of an r-concave tail is sought
ROUNDING = 1e-9
# The integral of the bound, which is the expected number of false features beside one with a score
# of 1. The authors' default.
CUTOFF = 0.05
# The bound asks for useless features that a half-sample keeps no more often than a blind draw.
# Neighbors of true features are kept more often: on eleven kinds of problems the share of false
# features was up to 0.46 at a nominal 0.2, and at most 0.06 (standard error 0.04) with twice the
# bound. And many true features must not lend their evidence to a weak one: beyond so many, further
# ones do not lower its share. Both numbers were selected, with ten other rules, on the same 80
# draws that these shares come from, and cost power; benchmarks/q_values.py judges them on others.
CAUTION, MOST_LENT = 2.0, 2
# A q-value is at least this share of the half-samples that do not vote for the feature.
REJECTED = 0.5
MOST_COUNTS = 60  # numbers of features kept, evenly spread over their logarithm


def error_bound(q: int, p: int, threshold: float, n_pairs: int, assumption: str) -> float:
    """Return the bound on the expected number of false selections; infinity where none is known.

    Parameters
    ----------
    q : int
        Features that are selected on each half-sample at most.
    p : int
        Features to choose from.
    threshold : float
        Share of the half-samples from which on a feature is kept.
    n_pairs : int
        Number of complementary pairs.

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
    # The bounds rise with q: the largest allowed one is found by bisection.
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
    """Return the smallest share of half-samples above 1/2 whose bound is at most ``max_false``.

    Shares are multiples of ``1 / (2 n_pairs)``; None if no share has such a bound.
    """
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        threshold = count / (2 * n_pairs)
        if error_bound(q, p, threshold, n_pairs, assumption) <= max_false:
            return threshold
    return None


def choose_votes(
    p: int,
    n_pairs: int,
    max_false: float,
    assumption: str,
    threshold: float | None = None,
    n_votes: int | None = None,
) -> tuple[int, float]:
    """Return how many of ``p`` features a half-sample votes for, and the share that selects.

    What is None is chosen; a given threshold is raised where a vote per half-sample needs it. See
    :class:`kernelknife.KnifeStability` for the parameters.
    """
    allowed = n_pairs, max_false, assumption
    if threshold is None:
        many = largest_count(p, USUAL_THRESHOLD, *allowed) >= MANY_VOTES
        threshold = USUAL_THRESHOLD if many else STRICT_THRESHOLD
    # Shares are whole numbers of half-samples.
    threshold = float(np.ceil(2 * n_pairs * threshold - ROUNDING)) / (2 * n_pairs)
    if n_votes is None:
        n_votes = max(largest_count(p, threshold, *allowed), 1)
    elif n_votes > p:
        raise ValueError(f"n_votes={n_votes} is more than the {p} features to vote on.")
    needed: float | None = threshold
    if error_bound(n_votes, p, threshold, n_pairs, assumption) > max_false:
        needed = smallest_threshold(n_votes, p, *allowed)
    if needed is None:
        raise ValueError(
            f"With {p} feature(s), {n_pairs} complementary pairs and {n_votes} vote(s) per "
            f"half-sample, no threshold promises at most {max_false:g} false selections: raise "
            "max_false or n_pairs, or lower n_votes."
        )
    return int(n_votes), float(needed)


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
def _r_concave_bound(q: int, p: int, n_selecting: float, n_pairs: int) -> float:
    """Return the bound for features that at least ``n_selecting`` half-samples select."""
    least, share = int(np.ceil(n_selecting - ROUNDING)), q / p
    pairs = _largest_tail(share**2, least - n_pairs, n_pairs, -0.5)
    single = _largest_tail(share, least, 2 * n_pairs, -0.25)
    return p * min(1.0, pairs, single)


def _largest_tail(mean: float, t: int, n: int, r: float) -> float:
    """Return the largest ``P(N >= t)`` of r-concave numbers ``N`` in 0 ... n of mean ``n mean``.

    The worst distributions have probabilities proportional to ``(a + j)**(1 / r)`` for ``j`` up to
    some ``k``, and the rest of the mass on ``k + 1``. For every ``k`` the shift ``a`` lies between
    the one that needs no mass on ``k + 1`` and the one that continues the same formula to
    ``k + 1``.
    """
    center, s = n * mean, 1.0 / r
    first = int(np.ceil(2.0 * center - ROUNDING)) + 1
    if t < first or first >= n:
        return 1.0
    shifts = {k: _shift_of_mean(center, k, s) for k in range(first, n + 1)}
    worst = 0.0
    # A distribution that ends below t has no mass there.
    for k in range(max(first, t - 1), n):
        j = np.arange(k + 1)

        def tail(a: float, k: int = k, j: np.ndarray = j) -> float:
            mass = (a + j) ** s
            scale = (k + 1 - center) / ((k + 1 - j) @ mass)
            return float(1.0 - scale * mass[:t].sum())

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

    def excess(a: float) -> float:
        mass = (a + j) ** s
        return float(j @ mass / mass.sum() - center)

    # A large shift is a uniform distribution, whose mean is k / 2; a small one sits on zero.
    if excess(LARGEST_SHIFT) < 0:
        return LARGEST_SHIFT
    if excess(SMALLEST_SHIFT) > 0:
        return SMALLEST_SHIFT
    return float(brentq(excess, SMALLEST_SHIFT, LARGEST_SHIFT, xtol=1e-14, rtol=1e-12))


def integrated_q_values(ranks: np.ndarray, n_votes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number and the expected share of false features at every feature's score.

    Parameters
    ----------
    ranks : ndarray of int of shape (2 * n_pairs, p)
        Rank of every feature on every half-sample, 1 for the last to leave the path.
    n_votes : int
        Features that a half-sample votes for.

    Returns
    -------
    expected_false : ndarray of shape (p,)
        Bound on the expected number of false features among those with at least this score.
    q_values : ndarray of shape (p,)
        Smallest share of false features among selections with the feature, by twice that bound, but
        at least half the bound on their number, and half the share of the half-samples that do not
        vote for the feature.
    """
    n_pairs, p = len(ranks) // 2, ranks.shape[1]
    counts, measure, integral = integration_grid(p, n_pairs)
    scores = np.zeros(p)
    for count, weight in zip(counts, measure, strict=True):
        share = (ranks <= count).mean(axis=0)
        scores += weight * np.maximum(2.0 * share - 1.0, 0.0) ** 3
    expected_false = integral / np.maximum(scores, integral / p)
    order = np.argsort(expected_false, kind="stable")
    ordered = CAUTION * expected_false[order]
    # Features with the same score are selected together.
    selected = np.searchsorted(ordered, ordered, side="right")
    shares = np.minimum.accumulate((ordered / selected)[::-1])[::-1]
    q_values = np.empty(p)
    q_values[order] = np.maximum(shares, expected_false[order] / MOST_LENT)
    q_values = np.maximum(q_values, REJECTED * (ranks > n_votes).mean(axis=0))
    return expected_false, np.minimum(q_values, 1.0)


def integration_grid(p: int, n_pairs: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the counts, their measure, and the integral of the bound over them.

    They depend on the numbers of features and of pairs alone: counts rise until the integral
    reaches CUTOFF, and the measure is even in the logarithm of the count.
    """
    counts = np.unique(np.round(np.geomspace(1, p, MOST_COUNTS)).astype(int))
    edges = np.log(np.append(counts, p + 1))
    bounds = _bound(counts.astype(float), p, n_pairs)
    best = (counts[:1], np.ones(1), float(bounds[0]))
    for last in range(2, len(counts) + 1):
        measure = np.diff(edges[: last + 1])
        measure = measure / measure.sum()
        integral = float(measure @ bounds[:last])
        if integral > CUTOFF:
            break
        best = (counts[:last], measure, integral)
    return best


def _bound(k: np.ndarray, p: int, n_pairs: int) -> np.ndarray:
    """Return the bound on the sum of ``h`` over useless features if half-samples keep ``k``."""
    B = n_pairs
    first, second = k**2 / p, 3 * (B - 1) * k**4 / p**3
    bound: np.ndarray = (first + second + (B - 1) * (B - 2) * k**6 / p**5) / B**2
    return bound
