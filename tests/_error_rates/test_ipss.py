"""q-values of integrated path stability selection."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife._error_rates.bounds import CUTOFF, integrated_q_values, integration_grid


def random_ranks(rng, halves, p):
    return np.array([rng.permutation(p) + 1 for _ in range(halves)])


def test_the_bound_holds_for_blind_draws(rng):
    """With independent random ranks the mean of the scores is what the integral says, or less."""
    p, n_pairs = 30, 25
    counts, measure, integral = integration_grid(p, n_pairs)
    assert_allclose(measure.sum(), 1.0)
    assert integral <= CUTOFF
    totals = []
    for _ in range(300):
        ranks = random_ranks(rng, 2 * n_pairs, p)
        shares = np.array([(ranks <= k).mean(axis=0) for k in counts])
        totals.append((measure @ np.maximum(2 * shares - 1, 0) ** 3).sum())
    assert np.mean(totals) <= integral


def test_features_of_every_half_stand_out_and_noise_does_not(rng):
    p = 100
    ranks = np.empty((100, p), dtype=int)
    for i in range(100):
        ranks[i, :4] = rng.permutation(4) + 1
        ranks[i, 4:] = rng.permutation(p - 4) + 5
    expected_false, q_values = integrated_q_values(ranks, 10)
    assert (q_values[:4] < 0.05).all()
    assert (q_values[4:] > 0.5).all()
    assert (expected_false[:4] < 0.2).all()
    assert_allclose(q_values[:4], 2.0 * expected_false[:4].max() / 4, rtol=0.5)


def test_q_values_follow_from_the_expected_false_ones(rng):
    ranks = random_ranks(rng, 20, 12)
    ranks[:, 0] = 1
    expected_false, q_values = integrated_q_values(ranks, 3)
    for j in range(12):
        at_least = [t for t in expected_false if t >= expected_false[j]]
        share = min(2.0 * t / (expected_false <= t).sum() for t in at_least)
        rejected = np.mean(ranks[:, j] > 3)
        assert_allclose(q_values[j], min(max(share, expected_false[j] / 2.0, rejected / 2.0), 1.0))


def test_what_half_of_the_half_samples_reject_has_no_small_q_value(rng):
    """The first one is among the last 30 of 2,000 everywhere, which alone would say much."""
    ranks = random_ranks(rng, 100, 2000)
    ranks[:, 0], ranks[:, 1] = np.where(np.arange(100) < 50, 8, 30), 1
    expected_false, q_values = integrated_q_values(ranks, 10)
    assert expected_false[0] < 0.2
    assert q_values[0] >= 0.25
    assert q_values[1] < 0.1


def test_sure_features_do_not_lend_their_evidence_to_a_weak_one(rng):
    """Half of the half-samples reject it: beside four sure features it had a q-value of 0.03."""
    p, n = 100, 100
    ranks = np.empty((n, p), dtype=int)
    for i in range(n):
        ranks[i, :8] = rng.permutation(8) + 1
        ranks[i, 9:] = rng.permutation(p - 9) + 10
        ranks[i, 8] = 9
        if i % 20 >= 11:  # the weak feature changes places with one of no use
            other = int(rng.integers(9, p))
            ranks[i, [8, other]] = ranks[i, [other, 8]]
    q_values = integrated_q_values(ranks, 20)[1]
    assert (q_values[:8] < 0.05).all()
    assert q_values[8] > 0.1


def test_a_permutation_of_features_permutes_the_answer(rng):
    ranks, order = random_ranks(rng, 20, 15), rng.permutation(15)
    ranks[:10, 3] = 1
    q_values = integrated_q_values(ranks, 4)[1]
    assert_allclose(q_values[order], integrated_q_values(ranks[:, order], 4)[1])
