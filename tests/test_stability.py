"""Stability selection: planted features, bounds, and what half-samples must respect."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeRegressorCV, KnifeStability
from kernelknife._error_rates.bounds import error_bound
from kernelknife.datasets import make_skin_of_orange


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 12))
    return X, np.sin(2 * X[:, 2]) + X[:, 5] * X[:, 9] + 0.2 * rng.normal(size=120)


@pytest.fixture(scope="module")
def fitted(table):
    return KnifeStability(n_pairs=10, random_state=0).fit(*table)


@pytest.fixture
def half_samples(monkeypatch):
    """Rank columns by their position instead of following paths; return all half-samples."""
    seen = []

    def rank(spec, X, y, half_samples, **_):
        seen.extend(half_samples)
        return np.tile(np.arange(1, X.shape[1] + 1), (len(half_samples), 1))

    monkeypatch.setattr("kernelknife.stability.rank_half_samples", rank)
    return seen


def test_planted_features_are_selected_and_the_bound_is_the_formula(fitted):
    assert_array_equal(fitted.get_support(indices=True), [2, 5, 9])
    assert fitted.task_ == "regression"
    expected = error_bound(fitted.n_votes_, 12, fitted.threshold_, 10, "unimodal")
    assert_allclose(fitted.error_bound_, expected)
    assert fitted.error_bound_ <= 1.0 < error_bound(fitted.n_votes_ + 1, 12, 0.9, 10, "unimodal")
    assert set(fitted.error_bounds_) == {"none", "unimodal", "r-concave"}


def test_probabilities_are_the_shares_of_votes(fitted):
    votes = fitted.ranks_ <= fitted.n_votes_
    assert (votes.sum(axis=1) == fitted.n_votes_).all()
    assert_allclose(fitted.selection_probabilities_, votes.mean(axis=0))
    assert_array_equal(fitted.support_, fitted.selection_probabilities_ >= fitted.threshold_ - 1e-9)
    assert fitted.q_values_[fitted.support_].max() < fitted.q_values_[~fitted.support_].min()


def test_an_orange_among_noise():
    X, y = make_skin_of_orange(150, 40, random_state=0)
    model = KnifeStability(n_pairs=10).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [0, 1, 2, 3])
    assert model.task_ == "classification"


def test_nothing_is_found_in_noise():
    rng = np.random.default_rng(0)
    n_false = [
        KnifeStability(n_pairs=5, random_state=i)
        .fit(rng.normal(size=(50, 12)), rng.normal(size=50))
        .support_.sum()
        for i in range(3)
    ]
    assert np.mean(n_false) <= 1.0


def test_the_answer_does_not_depend_on_the_number_of_workers(table, fitted):
    with parallel_config(backend="threading"):
        other = KnifeStability(n_pairs=10, random_state=0, n_jobs=2).fit(*table)
    assert_array_equal(other.ranks_, fitted.ranks_)


def test_groups_of_columns_have_one_vote(table):
    X, y = table
    model = KnifeRegressor(feature_groups={"pair": [5, 9], "dull": [0, 1]}, tol=1e-3)
    stability = KnifeStability(model, n_pairs=6).fit(X, y)
    assert stability.n_units_ == 10
    assert stability.units_[5] == stability.units_[9]
    assert stability.support_[[2, 5, 9]].all()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    named = KnifeRegressor(feature_groups={"pair": ["c5", "c9"], "dull": ["c0", "c1"]}, tol=1e-3)
    assert_array_equal(KnifeStability(named, n_pairs=6).fit(frame, y).ranks_, stability.ranks_)


def test_near_copies_share_their_votes_if_asked():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 10))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=100)
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=100)
    apart = KnifeStability(n_pairs=8).fit(X, y)
    together = KnifeStability(n_pairs=8, cluster_correlation=0.95).fit(X, y)
    assert together.n_units_ == 9
    assert together.units_[0] == together.units_[1]
    assert together.support_[[0, 1]].all()
    assert (together.ranks_[:, together.units_[0]] == 1).all()
    # On their own, one or the other copy comes first.
    assert (apart.ranks_[:, :2] == 1).any(axis=1).all()
    assert not (apart.ranks_[:, 0] == 1).all()


def test_correlated_columns_that_the_estimator_groups_have_one_vote():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 6))
    X[:, 4] = X[:, 1] + 0.05 * rng.normal(size=100)
    y = np.sin(2 * X[:, 1]) + 0.2 * rng.normal(size=100)
    model = KnifeStability(KnifeRegressor(feature_groups="correlated"), n_pairs=4).fit(X, y)
    assert model.n_units_ == 5
    assert model.units_[1] == model.units_[4]
    assert (model.ranks_[:, model.units_[1]] == 1).all()


def test_rows_of_a_group_stay_in_one_half_sample(table, half_samples):
    X, y = table
    groups = np.repeat(np.arange(24), 5)
    KnifeStability(n_pairs=3).fit(X, y, groups=groups)
    assert len(half_samples) == 6
    for first, second in zip(half_samples[::2], half_samples[1::2], strict=True):
        assert not set(groups[first]) & set(groups[second])
        assert len(first) + len(second) == 120


@pytest.mark.usefixtures("half_samples")
def test_given_votes_raise_the_threshold(table):
    X, y = table
    model = KnifeStability(n_votes=6, n_pairs=50).fit(X, y)
    assert model.n_votes_ == 6
    assert model.threshold_ > 0.9
    assert model.error_bound_ <= 1.0
    strict = KnifeStability(max_false=0.1, n_pairs=50).fit(X, y)
    assert strict.n_votes_ == 1
    assert strict.error_bound_ <= 0.1


@pytest.mark.usefixtures("half_samples")
def test_few_columns_get_more_votes_and_a_stricter_threshold(table):
    X, y = table
    wide = np.random.default_rng(0).normal(size=(len(X), 110))
    models = [KnifeStability().fit(data, y) for data in (X, wide)]
    assert [(model.n_votes_, model.threshold_) for model in models] == [(5, 0.9), (10, 0.75)]
    assert KnifeStability(threshold=0.75).fit(X, y).n_votes_ == 3


def test_constant_columns_are_never_selected_and_not_counted(table):
    X, y = table
    X = np.column_stack([X, np.ones(len(X))])
    with pytest.warns(UserWarning, match="Column x12 is constant"):
        model = KnifeStability(n_pairs=4).fit(X, y)
    assert model.n_units_ == 12
    assert not model.support_[-1]
    assert model.q_values_[-1] == 1.0


def test_it_selects_in_a_pipeline_and_reports_progress(table, callbacks):
    X, y = table
    model = KnifeStability(n_pairs=3)
    assert make_pipeline(StandardScaler(), model).fit(X, y).transform(X).shape[1] >= 1
    watched = KnifeStability(n_pairs=3).set_callbacks(callbacks.ProgressBar()).fit(X, y)
    assert_array_equal(watched.ranks_, model.fit(X, y).ranks_)


def test_copies_are_pointed_out(table):
    X, y = table
    X = pd.DataFrame(X[:, :6]).set_axis(list("abcdef"), axis=1).assign(g=X[:, 2])
    with pytest.warns(UserWarning, match="Columns 'c' and 'g' are copies.*cluster_correlation"):
        KnifeStability(n_pairs=2).fit(X, y)
    KnifeStability(n_pairs=2, cluster_correlation=0.99).fit(X, y)


@pytest.mark.usefixtures("half_samples")
def test_memory_that_a_half_sample_lacks_is_warned_of(table):
    X, y = table
    KnifeStability(KnifeRegressor(memory_budget=8 * 60**2)).fit(X, y)
    with pytest.warns(UserWarning, match="for one kernel matrix of 60 rows"):
        KnifeStability(KnifeRegressor(memory_budget=8 * 59**2)).fit(X, y)


def test_the_estimator_and_its_random_state_stay_as_they_are(table):
    state = np.random.RandomState(0)
    model = KnifeRegressor(random_state=state, tol=1e-3)
    KnifeStability(model, n_pairs=2).fit(*table)
    assert not [name for name in vars(model) if name.endswith("_")]
    assert state.randint(2**31) == np.random.RandomState(0).randint(2**31)


CASES = {
    "two half-samples": ({}, slice(6), None),
    "has one row": ({}, slice(None), "lonely class"),
    "4 groups": ({}, slice(None), "two groups"),
    "no threshold promises": ({"max_false": 1e-4}, slice(None), None),
    "more than the 12 features": ({"n_votes": 13}, slice(None), None),
    "assumption must be one of": ({"assumption": "normal"}, slice(None), None),
    r"threshold must be": ({"threshold": 1.2}, slice(None), None),
    "best_estimator_": ({"estimator": KnifeRegressorCV()}, slice(None), None),
    "not both": (
        {"estimator": KnifeRegressor(feature_groups=[0] * 12), "cluster_correlation": 0.9},
        slice(None),
        None,
    ),
}


@pytest.mark.parametrize("message", CASES)
def test_bad_input_gets_a_sentence(table, message):
    options, rows, special = CASES[message]
    X, y = (part[rows] for part in table)
    groups = None
    if special == "lonely class":
        y = np.where(np.arange(len(y)) == 3, "rare", np.where(y > 0, "high", "low"))
    if special == "two groups":
        groups = np.arange(len(y)) % 2
    with pytest.raises((ValueError, TypeError), match=message):
        KnifeStability(**options).fit(X, y, groups=groups)


def test_a_class_in_one_group_is_missing_in_a_half_sample():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(40, 4)), np.repeat(np.arange(8), 5)
    y = np.where(groups == 0, "rare", np.where(groups % 2, "odd", "even"))
    with pytest.raises(ValueError, match="too few groups of rows"):
        KnifeStability(KnifeClassifier()).fit(X, y, groups=groups)
