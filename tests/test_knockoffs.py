"""Knockoffs: planted effects, the false discovery rate, and tables that have no knockoffs."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeKnockoffs, KnifeRegressor
from kernelknife._error_rates import draw_statistics, knockoff_threshold


@pytest.fixture(scope="module")
def effects():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 30))
    X[:, 1:] = 0.6 * X[:, :-1] + 0.8 * X[:, 1:]
    return X, np.cos(2 * X[:, ::2][:, :12]).sum(axis=1) + 0.5 * rng.normal(size=300)


@pytest.fixture(scope="module")
def fitted(effects):
    return KnifeKnockoffs(n_draws=3, random_state=0).fit(*effects)


def test_planted_effects_are_found(fitted):
    chosen = set(fitted.get_support(indices=True).tolist())
    true = set(range(0, 24, 2))
    assert len(chosen & true) >= 10
    assert len(chosen - true) <= 2
    assert f"{len(chosen)} of 30 columns" in fitted.explanation_
    assert (fitted.q_values_[fitted.support_] <= 0.1).all()
    assert (fitted.q_values_[~fitted.support_] > 0.1).all()


@pytest.mark.parametrize("method", ["mvr", "equicorrelated"])
def test_ties_may_make_two_columns_equal_in_some_draws(rng, method):
    X = rng.normal(size=(60, 5))
    X[:, 1] = 2.0 * X[:, 0] + 1.0
    low, high = np.argsort(X[:, 1])[20:22]
    X[low, 1] = X[high, 1]  # by lot, the scores of both columns have the same order or not
    kinds = set()
    for seed in range(6):
        model = KnifeKnockoffs(n_draws=4, method=method, random_state=seed).fit(X, X[:, 2])
        assert np.isfinite(model.statistics_).all()
        kinds.add(model.covariance_estimated_)
    assert kinds == {True, False}


def test_an_approximate_rate_is_explained(effects):
    X, y = effects
    exact = KnifeKnockoffs(n_draws=1).fit(X, y)
    assert not exact.covariance_estimated_
    assert "approximate" not in exact.explanation_
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    other = KnifeKnockoffs(n_draws=1, marginals="gaussian").fit(X, y)
    assert other.covariance_estimated_
    assert other.support_.any()
    assert "This is approximate" in other.explanation_


def test_one_draw_is_the_knockoff_filter(effects, fitted):
    single = KnifeKnockoffs(n_draws=1, random_state=0).fit(*effects)
    W = single.statistics_[0]
    assert_array_equal(W, fitted.statistics_[0])
    assert_array_equal(single.support_, knockoff_threshold(W, 0.1) <= W)


def test_the_answer_does_not_depend_on_the_number_of_workers(effects, fitted):
    with parallel_config(backend="threading"):
        other = KnifeKnockoffs(n_draws=3, random_state=0, n_jobs=2).fit(*effects)
    # Threads of one process share BLAS buffers, which may change the last digit.
    assert_allclose(other.statistics_, fitted.statistics_, rtol=1e-9, atol=1e-12)
    assert_array_equal(other.support_, fitted.support_)


def test_four_true_features_are_too_few_and_the_explanation_says_why(rng):
    X = rng.normal(size=(100, 8))
    y = np.cos(2 * X[:, :4]).sum(axis=1)
    model = KnifeKnockoffs(n_draws=2).fit(X, y)
    assert not model.support_.any()
    assert "cannot select fewer than 1 / 0.1 = 10 columns: use stab" in model.explanation_


def test_signs_of_useless_features_are_fair(rng):
    """Under the global null each statistic is as often positive as negative."""
    signs = []
    for seed in range(4):
        X = rng.normal(size=(60, 20))
        model = KnifeKnockoffs(
            KnifeRegressor("linear", tol=1e-2),
            covariance=np.eye(20),
            n_draws=4,
            products=False,
            random_state=seed,
        ).fit(X, rng.normal(size=60))
        assert not model.support_.any()
        signs += np.sign(model.statistics_).ravel().tolist()
    positive, decided = signs.count(1.0), len(signs) - signs.count(0.0)
    assert abs(positive - decided / 2) < 4 * np.sqrt(decided) / 2


def test_levels_stay_levels_and_constant_columns_stay_out(rng, monkeypatch):
    X = rng.normal(size=(200, 14))
    X[:, 0] = rng.integers(3, size=200)
    X[:, 13] = 7.0
    y = np.cos(2 * X[:, :12]).sum(axis=1) + 0.3 * rng.normal(size=200)
    seen = []

    def spy(spec, X, y, sampler, *arguments, **options):
        seen.append((X, sampler.draw(X, 0)))
        return draw_statistics(spec, X, y, sampler, *arguments, **options)

    monkeypatch.setattr("kernelknife.knockoffs.draw_statistics", spy)
    with pytest.warns(UserWarning, match="x13 is constant"):
        model = KnifeKnockoffs(n_draws=2).fit(X, y)
    original, knockoffs = seen[0]
    assert original.shape == (200, 13)
    assert set(np.unique(knockoffs[:, 0])) == {0.0, 1.0, 2.0}
    assert knockoffs[:, 1].min() >= original[:, 1].min()
    assert (model.statistics_[:, 13] == 0).all()
    assert not model.support_[13]
    assert model.q_values_[13] == 1.0


@pytest.mark.parametrize("method", ["mvr", "equicorrelated"])
def test_a_known_covariance_in_any_units(effects, method):
    X, y = effects
    scale = np.geomspace(0.01, 100, X.shape[1])
    covariance = np.cov(X, rowvar=False)
    options = {"n_draws": 1, "method": method, "random_state": 0}
    one = KnifeKnockoffs(covariance=covariance, **options).fit(X, y)
    other = KnifeKnockoffs(covariance=covariance * np.outer(scale, scale), **options)
    assert_array_equal(other.fit(X * scale, y).support_, one.support_)
    assert one.support_[:24:2].sum() >= 8


BAD = {
    "at least 10 rows": ({}, lambda X: X[:8]),
    "copies of each other": ({}, lambda X: np.column_stack([X, X[:, 0]])),
    "votes on groups": ({"estimator": KnifeRegressor(feature_groups=[0] * 30)}, None),
    "the limit of 2000": ({}, lambda X: np.random.default_rng(0).normal(size=(len(X), 2001))),
    "share between 0 and 1": ({"fdr": 1.0}, None),
    "method must be one of": ({"method": "sdp"}, None),
    "expected shape": ({"covariance": np.eye(3)}, None),
    "positive definite": ({"covariance": -np.eye(30)}, None),
    "of the columns themselves": ({"covariance": np.eye(30), "marginals": "copula"}, None),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_gets_a_sentence(effects, message):
    X, y = effects
    options, change = BAD[message]
    X = X if change is None else change(X)
    with pytest.raises(ValueError, match=message):
        KnifeKnockoffs(**options).fit(X, y[: len(X)])


def test_more_columns_than_rows_are_warned_of(rng):
    X = rng.normal(size=(20, 25))
    with pytest.warns(UserWarning, match="approximate at best"):
        KnifeKnockoffs(KnifeRegressor("linear", tol=1e-2), n_draws=1).fit(X, X[:, 0])
