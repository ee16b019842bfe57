"""q-values by integrated path stability selection.

Melikechi and Miller (2024) integrate a feature's selection probabilities over the whole path,
instead of reading them at one point of it. The path here is the number ``k`` of features that a
half-sample may keep, so that exactly ``k`` features are selected on each of them and the bound
needs no estimate.

With ``h(x) = (2 x - 1)**3`` for ``x > 1/2``, else 0, and a probability measure ``mu`` on counts,
a feature's score is ``integral h(pi_j(k)) mu(dk)``. A useless feature is selected on both
half-samples of a pair with a probability of at most ``(k / p)**2``. By Markov's inequality the
expected number of useless features with a score of at least ``t`` is at most ``I / t``, where ``I``
is the integral of

    (k^2 / p + 3 (B - 1) k^4 / p^3 + (B - 1) (B - 2) k^6 / p^5) / B^2.
"""

import numpy as np

__all__ = ["integrated_q_values"]

# The integral of the bound, which is the expected number of false features beside one with a score
# of 1. The authors' default.
CUTOFF = 0.05
MOST_COUNTS = 60  # numbers of features kept, evenly spread over their logarithm


def integrated_q_values(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number and the expected share of false features at every feature's score.

    Parameters
    ----------
    ranks : ndarray of int of shape (2 * n_pairs, p)
        Rank of every feature on every half-sample, 1 for the last to leave the path.

    Returns
    -------
    expected_false : ndarray of shape (p,)
        Bound on the expected number of false features among those with at least this score.
    q_values : ndarray of shape (p,)
        Smallest share of false features, by that bound, among selections with the feature.
    """
    n_pairs, p = len(ranks) // 2, ranks.shape[1]
    counts, measure, integral = integration_grid(p, n_pairs)
    scores = np.zeros(p)
    for count, weight in zip(counts, measure, strict=True):
        share = (ranks <= count).mean(axis=0)
        scores += weight * np.maximum(2.0 * share - 1.0, 0.0) ** 3
    expected_false = integral / np.maximum(scores, integral / p)
    order = np.argsort(expected_false, kind="stable")
    ordered = expected_false[order]
    # Features with the same score are selected together.
    selected = np.searchsorted(ordered, ordered, side="right")
    shares = np.minimum.accumulate((ordered / selected)[::-1])[::-1]
    q_values = np.empty(p)
    q_values[order] = np.minimum(shares, 1.0)
    return expected_false, q_values


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
