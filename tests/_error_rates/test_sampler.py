"""Gaussian knockoffs: their correlations, and the optimality of the entries of S."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import toeplitz
from scipy.optimize import minimize

from kernelknife._error_rates.sampler import (
    ConditionalKnockoffs,
    CopulaColumn,
    GaussianKnockoffs,
    KnockoffSampler,
    distribution_given_sample,
    equicorrelated,
    least_reconstructable,
    normal_scores,
    shrunk_correlation,
)


@pytest.fixture
def correlation(rng):
    A = rng.normal(size=(12, 8))
    S = A.T @ A / 12 + 0.3 * np.eye(8)
    d = np.sqrt(np.diag(S))
    return S / np.outer(d, d)


def loss(s, correlation):
    return (1 / s).sum() + np.trace(np.linalg.inv(2 * correlation - np.diag(s)))


def test_least_reconstructable_is_the_minimum(correlation):
    s = least_reconstructable(correlation)
    assert np.linalg.eigvalsh(2 * correlation - np.diag(s))[0] > 0
    # The same minimum by a general method, in logarithms from a feasible start.
    start = np.log(np.full(8, 0.5 * np.linalg.eigvalsh(correlation)[0]))

    def value(z):
        feasible = np.linalg.eigvalsh(2 * correlation - np.diag(np.exp(z)))[0] > 0
        return loss(np.exp(z), correlation) if feasible else 1e6

    other = minimize(value, start, method="Nelder-Mead", options={"maxiter": 20000, "xatol": 1e-6})
    assert loss(s, correlation) <= other.fun * (1 + 1e-6)


def test_independent_columns_have_independent_knockoffs():
    assert_allclose(least_reconstructable(np.eye(5)), np.ones(5), rtol=1e-4)
    assert_allclose(equicorrelated(np.eye(5)), np.ones(5), rtol=1e-5)


def test_equicorrelated_is_the_largest_equal_entry(correlation):
    s = equicorrelated(correlation)
    smallest = np.linalg.eigvalsh(correlation)[0]
    assert_allclose(s, min(1.0, 2 * smallest), rtol=1e-5)


@pytest.mark.parametrize("choose", [least_reconstructable, equicorrelated])
def test_knockoffs_have_the_promised_correlations(rng, choose):
    correlation = toeplitz(0.6 ** np.arange(5))
    X = rng.multivariate_normal(np.zeros(5), correlation, size=60_000)
    s = choose(correlation)
    Y = GaussianKnockoffs.from_correlation(correlation, s).draw(X, rng)
    joint = np.cov(np.hstack([X, Y]), rowvar=False)
    assert_allclose(joint[5:, 5:], correlation, atol=0.025)
    assert_allclose(joint[:5, 5:], correlation - np.diag(s), atol=0.025)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("choose", [least_reconstructable, equicorrelated])
def test_conditional_knockoffs_have_exactly_the_moments_of_the_sample(rng, choose):
    Z = standardized(rng.multivariate_normal(np.zeros(6), toeplitz(0.6 ** np.arange(6)), size=13))
    distribution = distribution_given_sample(Z, choose)
    assert isinstance(distribution, ConditionalKnockoffs)
    sample = Z.T @ Z / 13
    first, second = (distribution.draw(Z, rng) for _ in range(2))
    for K in (first, second):
        assert_allclose(K.mean(axis=0), 0, atol=1e-12)
        assert_allclose(K.T @ K / 13, sample, atol=1e-10)
        assert_allclose(Z.T @ K / 13, sample - np.diag(distribution.s), atol=1e-10)
    assert np.abs(first - second).max() > 0.1


def test_conditional_knockoffs_are_exchangeable_with_their_columns():
    # A statistic of the fourth order, which the moments of the sample do not fix, has the same
    # distribution when one column changes places with its knockoff: 41 rows for 20 columns.
    correlation = toeplitz(0.7 ** np.arange(20))
    differences = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        Z = standardized(rng.multivariate_normal(np.zeros(20), correlation, size=41))
        K = distribution_given_sample(Z, least_reconstructable).draw(Z, rng)
        differences.append(((Z[:, 4] ** 2 - K[:, 4] ** 2) * Z[:, 5] ** 2).mean())
    error = np.std(differences) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 3 * error


def test_a_covariance_is_estimated_where_rows_are_few_or_columns_depend(rng):
    X = rng.normal(size=(41, 20))
    dependent = X.copy()
    dependent[:, 0] = X[:, 1] + X[:, 2]
    for table, kind in (
        (X, ConditionalKnockoffs),
        (X[:40], GaussianKnockoffs),
        (dependent, GaussianKnockoffs),
    ):
        assert isinstance(distribution_given_sample(standardized(table), equicorrelated), kind)


def test_shrinkage_keeps_ones_on_the_diagonal_and_is_definite(rng):
    S = shrunk_correlation(rng.normal(size=(20, 50)) * rng.uniform(0.1, 10, 50))
    assert_allclose(np.diag(S), 1.0)
    assert np.linalg.eigvalsh(S)[0] > 0


def test_normal_scores_keep_the_order_and_break_ties_at_random(rng):
    x = rng.normal(size=50)
    scores = normal_scores(np.column_stack([x, np.exp(x), np.repeat([0, 1], 25)]), rng)
    assert_allclose(scores[:, 0], scores[:, 1])
    assert (np.argsort(scores[:, 0]) == np.argsort(x)).all()
    assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    assert_allclose(scores.std(axis=0), 1)
    assert scores[:25, 2].max() < scores[25:, 2].min()
    assert len(np.unique(scores[:, 2])) == 50


def test_a_copula_gives_back_the_levels_with_their_shares(rng):
    x = rng.choice([0.0, 1.0, 5.0], p=[0.5, 0.3, 0.2], size=500)
    column = CopulaColumn.of(x)
    assert column.has_levels
    back = column.values(rng.standard_normal(20_000))
    assert set(back) <= {0.0, 1.0, 5.0}
    for level in (0.0, 1.0, 5.0):
        assert_allclose((back == level).mean(), (x == level).mean(), atol=0.02)
    smooth = CopulaColumn.of(rng.exponential(size=500))
    drawn = smooth.values(rng.standard_normal(20_000))
    assert not smooth.has_levels
    assert_allclose(np.median(drawn), np.median(smooth.ordered), rtol=0.05)
    assert drawn.min() >= smooth.ordered[0]


@pytest.mark.parametrize("copula", [True, False])
def test_a_draw_depends_on_its_number_alone(rng, copula):
    X = rng.normal(size=(40, 5))
    sampler = KnockoffSampler.of_table(X, method="mvr", copula=copula, seed=3)
    later = sampler.draw(X, 1)
    assert not sampler.estimated
    assert_allclose(sampler.draw(X, 0).shape, X.shape)
    assert_array_equal(sampler.draw(X, 1), later)
    assert np.abs(sampler.draw(X, 0) - later).max() > 0.1


def test_a_sampler_of_tied_values_learns_every_draw_anew(rng):
    X = rng.normal(size=(40, 5))
    X[:, 2] = rng.integers(3, size=40)
    sampler = KnockoffSampler.of_table(X, method="equicorrelated", copula=True)
    assert sampler.distribution is None
    assert set(sampler.draw(X, 0)[:, 2]) <= {0.0, 1.0, 2.0}


def test_a_known_covariance_is_in_the_units_of_the_columns(rng):
    X, scale = rng.normal(size=(60_000, 3)), np.array([0.1, 1.0, 50.0])
    sampler = KnockoffSampler.of_table(
        X * scale, method="mvr", copula=False, covariance=np.diag(scale**2)
    )
    drawn = sampler.draw(X * scale, 0) / scale
    assert not sampler.estimated
    assert_allclose(np.cov(drawn, rowvar=False), np.eye(3), atol=0.025)
