"""Bounds of stability selection, against the R package stabs and simulated distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._error_rates.bounds import (
    choose_votes,
    error_bound,
    largest_count,
    smallest_threshold,
)

# Printed by stabs 0.6-4 (tests/regtest-inference.Rout.save): cutoff 0.6, p = 100, B = 50, for
# q = 1 ... 10.
STABS_MB = [0.05, 0.2, 0.45, 0.8, 1.25, 1.8, 2.45, 3.2, 4.05, 5.0]
STABS_UNIMODAL = [
    *(0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947),
    *(0.9473684, 1.289474, 1.684211, 2.131579, 2.631579),
]
STABS_R_CONCAVE = [
    *(0.006971364, 0.03342845, 0.08691176, 0.1637231, 0.2605329),
    *(0.3820466, 0.5295188, 0.7042719, 0.9077127, 1.141338),
]


@pytest.mark.parametrize("q", range(1, 11))
def test_bounds_are_those_that_stabs_prints(q):
    assert_allclose(error_bound(q, 100, 0.6, 50, "none"), STABS_MB[q - 1])
    assert_allclose(error_bound(q, 100, 0.6, 50, "unimodal"), STABS_UNIMODAL[q - 1], rtol=1e-6)
    # stabs leaves out the ends of the intervals in which it looks for the worst distribution, and
    # stops its search early: its maximum may be a little too small.
    ours = error_bound(q, 100, 0.6, 50, "r-concave")
    assert_allclose(ours, STABS_R_CONCAVE[q - 1], rtol=5e-3)
    assert ours >= STABS_R_CONCAVE[q - 1] * (1 - 1e-5)


def test_counts_and_thresholds_are_those_that_stabs_prints():
    assert largest_count(200, 0.6, 50, 0.2, "r-concave") == 6
    assert largest_count(200, 0.6, 50, 0.2, "unimodal") == 3
    assert smallest_threshold(7, 200, 50, 0.2, "r-concave") == 0.62
    assert smallest_threshold(7, 200, 50, 0.2, "unimodal") == 0.81
    # The body fat example: 10 columns, q = 3, at most 0.2.
    assert smallest_threshold(3, 10, 50, 0.2, "unimodal") == 0.96
    assert_allclose(error_bound(3, 10, 0.96, 50, "unimodal"), 0.176, atol=5e-4)


@pytest.mark.parametrize("p", [50, 200, 1000])
@pytest.mark.parametrize("threshold", [0.55, 0.6, 0.75, 0.76, 0.9, 1.0])
@pytest.mark.parametrize("n_pairs", [25, 50, 100])
def test_formulas_on_a_grid(p, threshold, n_pairs):
    for q in (1, 5, 10, 20):
        plain = error_bound(q, p, threshold, n_pairs, "none")
        assert_allclose(plain, q * q / (p * (2 * threshold - 1)))
        if threshold <= 0.75:
            factor = 0.5 / (2 * threshold - 1 - 1 / (2 * n_pairs))
        else:
            factor = 4 * (1 - threshold + 1 / (2 * n_pairs)) / (1 + 1 / n_pairs)
        lowest = 0.5 + min((q / p) ** 2, 1 / (2 * n_pairs) + 0.75 * (q / p) ** 2)
        unimodal = error_bound(q, p, threshold, n_pairs, "unimodal")
        if threshold > lowest and q / p <= 1 / np.sqrt(3):
            assert_allclose(unimodal, factor * q * q / p)
        else:
            assert unimodal == np.inf


@pytest.mark.parametrize("q", [2, 8])
def test_stronger_assumptions_give_smaller_bounds(q):
    for threshold in (0.6, 0.8):
        bounds = [
            error_bound(q, 80, threshold, 20, assumption)
            for assumption in ("r-concave", "unimodal", "none")
        ]
        assert bounds == sorted(bounds)


def test_no_unimodal_distribution_has_a_larger_tail(rng):
    """With mean m of the share of pairs, P(share >= 2 t - 1) <= m factor."""
    n_pairs, share, threshold = 20, 0.1, 0.7
    values = np.arange(n_pairs + 1) / n_pairs
    factor = error_bound(10, 100, threshold, n_pairs, "unimodal") / 100 / share**2
    for _ in range(500):
        # Mixtures of uniform distributions on 0 ... k are unimodal with mode 0.
        weights = rng.dirichlet(np.full(n_pairs + 1, 0.1))
        mass = sum(
            weight * (np.arange(n_pairs + 1) <= k) / (k + 1) for k, weight in enumerate(weights)
        )
        mass = mass * share**2 / (mass @ values)  # the rest lies at zero
        if mass[1:].sum() <= 1 and 1 - mass[1:].sum() >= mass[1]:
            tail = mass[values >= 2 * threshold - 1 - 1e-9].sum()
            assert tail <= factor * share**2 + 1e-12


def test_there_is_no_bound_where_there_cannot_be_one():
    assert error_bound(5, 100, 0.5, 50, "none") == np.inf
    assert error_bound(80, 100, 0.9, 50, "unimodal") == np.inf
    assert largest_count(5, 0.75, 50, 0.01, "unimodal") == 0
    assert smallest_threshold(5, 10, 50, 0.001, "unimodal") is None


def test_votes_and_threshold_are_chosen_together():
    allowed = {"n_pairs": 50, "max_false": 1.0, "assumption": "unimodal"}
    assert choose_votes(12, **allowed) == (5, 0.9)
    assert choose_votes(110, **allowed) == (10, 0.75)
    assert choose_votes(12, threshold=0.75, **allowed) == (3, 0.75)
    votes, threshold = choose_votes(12, n_votes=6, **allowed)
    assert votes == 6
    assert threshold == smallest_threshold(6, 12, 50, 1.0, "unimodal") > 0.9
    # A threshold between two shares of half-samples is rounded up.
    assert choose_votes(12, threshold=0.751, **allowed)[1] == 0.76
