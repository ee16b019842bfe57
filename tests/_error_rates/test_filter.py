"""The knockoff filter and e-values, against brute force and in expectation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._error_rates.filter import (
    derandomized_e_values,
    e_bh_q_values,
    joint_threshold,
    knockoff_threshold,
    select_by_e_values,
    signed_maximum,
)


def brute_threshold(W, fdr):
    for t in sorted(set(np.abs(W[W != 0]))):
        if (1 + np.sum(-t >= W)) / max(1, np.sum(t <= W)) <= fdr + 1e-12:
            return t
    return np.inf


def test_threshold_is_the_first_that_passes(rng):
    for _ in range(200):
        W = np.round(rng.normal(size=40) + (np.arange(40) < 20) * 2, 1)
        assert knockoff_threshold(W, 0.2) == brute_threshold(W, 0.2)


def test_fewer_than_one_over_the_rate_is_nothing():
    W = np.concatenate([np.full(9, 5.0), np.zeros(31)])
    assert knockoff_threshold(W, 0.1) == np.inf
    assert knockoff_threshold(np.append(W, 5.0), 0.1) == 5.0


def test_signed_maximum():
    assert_array_equal(signed_maximum(np.array([3.0, 1, 2]), np.array([1.0, 4, 2])), [3, -4, 0])


def test_one_draw_selects_what_knockoff_plus_does(rng):
    for _ in range(100):
        W = rng.normal(size=60) + 2.0 * (np.arange(60) < 25)
        kept = knockoff_threshold(W, 0.2) <= W
        e_values = derandomized_e_values(W[None], 0.2)
        assert_array_equal(select_by_e_values(e_values, 0.2), kept)


def test_e_bh_against_its_definition(rng):
    for _ in range(100):
        e = np.round(rng.exponential(5.0, size=30), 1)
        ordered = np.sort(e)[::-1]
        passing = [k for k in range(1, 31) if ordered[k - 1] >= 30 / (0.3 * k)]
        expected = e >= ordered[max(passing) - 1] if passing else np.zeros(30, dtype=bool)
        assert_array_equal(select_by_e_values(e, 0.3), expected)
        assert_array_equal(e_bh_q_values(e) <= 0.3, expected)


@pytest.mark.parametrize("choose", [knockoff_threshold, joint_threshold])
@pytest.mark.parametrize("n_true", [0, 12, 30])
def test_e_values_of_useless_features_are_at_most_one_on_average(rng, choose, n_true):
    """For both thresholds the sum of E over useless features is at most p, in expectation."""
    p, draws = 60, 4000
    totals = np.empty(draws)
    for i in range(draws):
        W = rng.exponential(size=p) * rng.choice([-1, 1], size=p)
        W[:n_true] = rng.normal(2.0, 1.0, size=n_true)
        t = choose(W, 0.2)
        totals[i] = p * (W[n_true:] >= t).sum() / (1 + (-t >= W).sum()) if np.isfinite(t) else 0.0
    assert totals.mean() <= p + 3 * totals.std() / np.sqrt(draws)


def test_the_joint_threshold_is_stricter_unless_few_features_are_left():
    many = np.concatenate([np.linspace(5, 6, 40), [-4.0, -4.1], np.full(6, 4.5), [-5.01]])
    assert joint_threshold(many, 0.1) >= knockoff_threshold(many, 0.1)
    few = np.concatenate([np.full(12, 5.0), [-1.0, 1.0]])
    assert joint_threshold(few, 0.1) == 5.0


def test_draws_that_miss_a_feature_lower_its_e_value():
    W = np.concatenate([np.full(15, 5.0), np.zeros(15)])
    other = W.copy()
    other[0] = 0.0
    values = derandomized_e_values(np.array([W, other]), 0.1)
    assert_allclose(values[:2], [15.0, 30.0])
