"""Survival estimators: oracles, laws, and everything that estimators have."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelknife import (
    KnifeKnockoffs,
    KnifeStability,
    KnifeSurvival,
    KnifeSurvivalCV,
    knife_path,
)
from kernelknife.losses.survival import CoxRisk
from kernelknife.survival_metrics import concordance, kaplan_meier


def draw(n=150, p=6, seed=0, *, ties=False):
    """Columns 0 and 3 matter; about a third of the rows are censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    time = rng.exponential(np.exp(-2 * np.cos(2 * X[:, 0]) - X[:, 3]))
    censored = rng.exponential(2.0, size=n)
    event = time <= censored
    time = np.minimum(time, censored)
    return X, np.column_stack([np.ceil(5 * time) / 5 if ties else time, event])


def fixed_linear(X, y, alpha, ties="efron", **fit):
    """Return the coefficients of a linear model with all weights one, and the model."""
    model = KnifeSurvival(
        "linear",
        ties=ties,
        alpha=alpha,
        learn_weights=False,
        start=1.0,
        standardize=False,
        tol=1e-9,
    ).fit(X, y, **fit)
    scores = model.predict(X) - model.intercept_
    return np.linalg.lstsq(X, scores, rcond=None)[0], model


def penalized_likelihood(X, Y, s, alpha, ties):
    """Minimize the penalized partial likelihood with a general solver."""

    def objective(beta):
        risk, F = CoxRisk(Y, s, ties), (X @ beta)[:, None]
        return risk.value(F) + alpha * beta @ beta, X.T @ risk.gradient(F)[:, 0] + 2 * alpha * beta

    options = {"gtol": 1e-11, "maxiter": 1000}
    return minimize(objective, np.zeros(X.shape[1]), jac=True, method="BFGS", options=options).x


class TestOracles:
    @pytest.mark.parametrize("alpha", [0.1, 5.0])
    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    @pytest.mark.parametrize("what", ["plain", "weights", "strata", "entry", "all"])
    def test_linear_kernel_is_the_penalized_partial_likelihood(self, alpha, ties, what):
        X, y = draw(ties=True)
        rng = np.random.default_rng(1)
        every = what == "all"
        Y, s, fit = np.column_stack([y, np.zeros((len(y), 2))]), np.ones(len(y)), {}
        Y[:, 3] = -1.0
        if what == "weights" or every:
            fit["sample_weight"] = s = rng.integers(1, 4, size=len(y)).astype(float)
        if what == "strata" or every:
            fit["strata"] = Y[:, 2] = rng.integers(3, size=len(y))
        if what == "entry" or every:
            fit["entry"] = Y[:, 3] = y[:, 0] * rng.random(len(y)) * 0.5
        coefficients, _ = fixed_linear(X, y, alpha, ties, **fit)
        expected = penalized_likelihood(X, Y, s, alpha, ties)
        np.testing.assert_allclose(coefficients, expected, atol=1e-6)

    def test_linear_kernel_is_that_of_lifelines(self):
        # CoxPHFitter(penalizer=2 * alpha / n, l1_ratio=0) of lifelines 0.30.3 on these rows, whose
        # columns have mean 0 and deviation 1 (n - 1) already; it penalizes standardized columns.
        X, y = draw(60, 4, seed=3, ties=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        coefficients, model = fixed_linear(X, y, 0.5)
        np.testing.assert_allclose(coefficients, LIFELINES_COEFFICIENTS, atol=1e-6)
        curves = model.predict_survival_function(X[:2], [0.2, 1.0])
        np.testing.assert_allclose(curves, LIFELINES_SURVIVAL, atol=1e-6)

    def test_a_model_of_nothing_predicts_the_share_of_all_rows(self):
        X, y = draw()
        model = KnifeSurvival(sparsity=1e6).fit(X, y)
        assert not model.weights_.any()
        times, _ = kaplan_meier(y[:, 0], y[:, 1])
        hazard = np.cumsum(
            [((y[:, 0] == t) & (y[:, 1] > 0)).sum() / (y[:, 0] >= t).sum() for t in times]
        )
        np.testing.assert_allclose(model.predict_cumulative_hazard(X[:1], times)[0], hazard)


# Computed once with lifelines, see above.
LIFELINES_COEFFICIENTS = [-0.11418664, -0.009747265, -0.08903383, 0.584414063]
LIFELINES_SURVIVAL = [[0.860365521, 0.653053015], [0.74194909, 0.429292191]]


class TestLaws:
    def test_a_monotone_change_of_time_changes_nothing_but_the_times(self):
        X, y = draw()
        stretched = np.column_stack([np.exp(y[:, 0]), y[:, 1]])
        a, b = KnifeSurvival().fit(X, y), KnifeSurvival().fit(X, stretched)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
        np.testing.assert_allclose(np.exp(a.event_times_), b.event_times_)

    def test_the_order_of_rows_and_columns_does_not_matter(self):
        X, y = draw()
        rows, columns = np.random.default_rng(0).permutation(len(X)), [3, 5, 0, 1, 4, 2]
        a = KnifeSurvival(sparsity=4.0, tol=1e-7).fit(X, y)
        b = KnifeSurvival(sparsity=4.0, tol=1e-7).fit(X[rows][:, columns], y[rows])
        np.testing.assert_allclose(a.weights_[columns], b.weights_, atol=1e-4)
        np.testing.assert_allclose(a.predict(X), b.predict(X[:, columns]), atol=1e-3)

    def test_a_row_of_weight_two_is_two_rows(self):
        X, y = draw(60)
        twice = np.repeat(np.arange(60), 2)
        options = {"ties": "breslow", "sparsity": 4.0, "tol": 1e-7}
        a = KnifeSurvival(**options).fit(X, y, sample_weight=np.full(60, 2.0))
        b = KnifeSurvival(**options).fit(X[twice], y[twice])
        np.testing.assert_allclose(a.weights_, b.weights_, atol=1e-4)
        np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-3)

    def test_all_rows_as_centers_are_the_exact_model(self):
        X, y = draw(80)
        exact = KnifeSurvival(sparsity=2.0, tol=1e-7).fit(X, y)
        centered = KnifeSurvival(sparsity=2.0, tol=1e-7, n_centers=80).fit(X, y)
        np.testing.assert_allclose(exact.objective_, centered.objective_, rtol=1e-5)
        np.testing.assert_allclose(exact.weights_, centered.weights_, atol=1e-2)

    def test_the_mean_risk_is_zero(self):
        X, y = draw()
        assert abs(KnifeSurvival().fit(X, y).predict(X).mean()) < 1e-10


class TestForms:
    def test_named_columns_are_times_and_events_and_no_features(self):
        X, y = draw()
        frame = pd.DataFrame(X, columns=list("abcdef")).assign(days=y[:, 0], died=y[:, 1] > 0)
        named = KnifeSurvival().fit(frame, time="days", event="died")
        plain = KnifeSurvival().fit(frame[list("abcdef")], y)
        assert list(named.feature_names_in_) == list("abcdef")
        np.testing.assert_array_equal(named.predict(frame), plain.predict(frame[list("abcdef")]))
        assert named.score(frame, time="days", event="died") == plain.score(
            frame[list("abcdef")], y
        )

    def test_strata_have_baselines_of_their_own(self):
        X, y = draw()
        frame = pd.DataFrame(X, columns=list("abcdef")).assign(
            clinic=np.where(X[:, 5] > 0, "x", "y")
        )
        model = KnifeSurvival().fit(frame, y, strata="clinic")
        assert list(model.strata_) == ["x", "y"]
        with pytest.raises(ValueError, match="2 strata"):
            model.predict_survival_function(frame)
        curves = model.predict_survival_function(frame, [0.5], strata="clinic")
        alike = np.exp(-np.exp(model.predict(frame)) * model.baseline_.at(0.5, 1.0))
        np.testing.assert_allclose(curves[frame.clinic == "y", 0], alike[frame.clinic == "y"])
        with pytest.raises(ValueError, match="without the stratum 'z'"):
            model.predict_survival_function(frame, [0.5], strata=["z"] * len(X))

    @pytest.mark.parametrize(
        ("fit", "message"),
        [
            ({}, "requires y to be passed"),
            ({"time": "t"}, "time= needs event= beside it"),
            ({"time": "t", "event": "e"}, "X has no names"),
            ({"time": [1.0], "event": [1.0]}, "one value per row"),
        ],
    )
    def test_a_missing_target_gets_a_sentence(self, fit, message):
        with pytest.raises(ValueError, match=message):
            KnifeSurvival().fit(np.zeros((3, 2)), **fit)

    def test_rows_that_are_not_in_memory_are_refused(self):
        with pytest.raises(TypeError, match="needs them in memory"):
            KnifeSurvival().fit("folder", "y")

    def test_curves_fall_from_one(self):
        X, y = draw()
        model = KnifeSurvival().fit(X, y)
        curves = model.predict_survival_function(X[:5])
        assert curves.shape == (5, len(model.event_times_))
        assert (np.diff(curves, axis=1) <= 0).all()
        np.testing.assert_array_equal(model.predict_survival_function(X[:5], [-1.0]), 1.0)
        higher = np.argmax(model.predict(X[:5]))
        assert (curves[higher] <= curves).all()


class TestSelection:
    def test_path_finds_the_columns_that_matter(self):
        X, y = draw(200)
        path = knife_path(X, y, task="survival")
        assert path.task == "survival"
        assert set(path.ranking.argsort()[:2]) == {0, 3}
        assert path.at(n_features=2).score(X, y) > 0.7
        structured = np.array(list(zip(y[:, 1] > 0, y[:, 0], strict=True)), "?,f8")
        again = knife_path(X, structured, sparsities=path.sparsities[[0, -1]])
        assert again.task == "survival"

    def test_weak_effects_are_found_whatever_alpha_is(self):
        """The surrogate start follows the events: by the null likelihood alpha 10 kept one column.

        A column with a tenth of the variance of the log hazard is one of 50, with 240 events.
        """
        rng = np.random.default_rng(1)
        X = rng.uniform(size=(400, 50))
        f = 2 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 4 * (X[:, 2] - 0.5) ** 2
        time, wait = rng.exponential(np.exp(-f - 2 * X[:, 3] - X[:, 4])), rng.exponential(size=400)
        wait *= np.quantile(time / wait, 0.6)
        y = np.column_stack([np.minimum(time, wait), time <= wait])
        for alpha in (1.0, 3.0, 10.0):
            path = knife_path(X, y, task="survival", kernel="anova", alpha=alpha)
            assert np.sort(path.ranking[:5]).tolist()[:4] == [1, 2, 3, 4]
            assert path.ranking[:5].max() <= 6

    def test_a_path_costs_about_as_many_factorizations_as_a_logistic_one(self):
        X, y = draw(200)
        cox = knife_path(X, y, loss="cox").n_factorizations
        assert cox <= 3 * knife_path(X, y[:, 1], loss="logistic").n_factorizations

    def test_groups_and_costs(self):
        X, y = draw()
        grouped = KnifeSurvival(feature_groups=[0, 0, 1, 1, 2, 2]).fit(X, y)
        assert grouped.weights_[0] == grouped.weights_[1]
        dear = KnifeSurvival(sparsity=2.0, feature_costs=[1e4, 1, 1, 1, 1, 1]).fit(X, y)
        assert dear.weights_[0] == 0.0

    def test_substitutes_know_a_copy(self):
        X, y = draw(200)
        X = np.column_stack([X, X[:, 0] + 0.01 * X[:, 1]])
        places = KnifeSurvival(sparsity=10.0).fit(X, y).substitutes(X, y)
        alike = {"x0", "x6"}
        place = next(place for place in places if place.name in alike)
        assert place.needed
        assert place.substitutes[0].name in alike - {place.name}

    def test_stability_and_knockoffs_take_survival_targets(self):
        X, y = draw(200)
        structured = np.array(list(zip(y[:, 1] > 0, y[:, 0], strict=True)), "?,f8")
        stability = KnifeStability(n_pairs=5, n_votes=2).fit(X, structured)
        assert stability.task_ == "survival"
        assert set(np.argsort(-stability.selection_probabilities_)[:2]) == {0, 3}
        knockoffs = KnifeKnockoffs(KnifeSurvival("additive"), n_draws=1).fit(X, y)
        assert set(np.argsort(-knockoffs.statistics_[0])[:2]) == {0, 3}

    def test_effects_are_on_the_log_hazard(self):
        X, y = draw(200)
        model = KnifeSurvival("additive", sparsity=20.0).fit(X, y)
        constant, effects = model.effect_values(X[:7])
        total = constant + sum(values[:, 0] for values in effects.values())
        np.testing.assert_allclose(total, model.predict(X[:7]))


class TestCrossValidation:
    def test_chooses_the_columns_that_matter(self):
        X, y = draw(200)
        model = KnifeSurvivalCV(["linear", "rbf"], alphas=1.0, sparsities=8).fit(X, y)
        assert model.kernel_name_ == "rbf"
        assert set(model.get_support(indices=True)) == {0, 3}
        assert model.score(X, y) > 0.7
        assert model.predict_survival_function(X[:2], [0.5]).shape == (2, 1)

    def test_scores_are_the_cross_validated_partial_likelihood(self):
        X, y = draw(100, ties=True)
        s = np.random.default_rng(0).integers(1, 3, size=100).astype(float)
        folds = KFold(4, shuffle=True, random_state=0)
        search = KnifeSurvivalCV("rbf", alphas=1.0, sparsities=[2.0], cv=folds)
        search.fit(X, y, sample_weight=s)
        row = list(search.cv_results_["weighting"]).index("equal")
        single = KnifeSurvival(alpha=1.0, learn_weights=False)
        for i, (train, test) in enumerate(folds.split(X)):
            scores = clone(single).fit(X[train], y[train], s[train]).predict(X)[:, None]
            every = CoxRisk(y, s).value(scores)
            before = CoxRisk(y[train], s[train]).value(scores[train])
            expected = (before - every) / s[test].sum()
            found = search.cv_results_[f"split{i}_test_score"][row]
            assert found == pytest.approx(expected, rel=1e-5)

    def test_every_fold_has_its_share_of_events(self):
        X, y = draw(60)
        y[:, 1] = np.arange(60) % 6 == 0
        search = KnifeSurvivalCV("linear", alphas=1.0, sparsities=3).fit(X, y)
        for train, test in search.splits_:
            assert y[test, 1].sum() == 2
            assert len(train) + len(test) == 60
        with pytest.raises(ValueError, match="11 folds need as many observed events, got 10"):
            KnifeSurvivalCV(cv=11).fit(X, y)

    def test_without_a_censored_row_folds_are_random(self):
        X, y = draw(60)
        y[:, 1] = 1
        assert KnifeSurvivalCV("linear", alphas=1.0, sparsities=3).fit(X, y).weights_.any()

    def test_concordance_and_own_scorers_choose_too(self):
        X, y = draw(120)
        options = {"kernel": "rbf", "alphas": 1.0, "sparsities": 4, "cv": 3}
        named = KnifeSurvivalCV(**options, scoring="concordance").fit(X, y)

        def own(model, X, y):
            return concordance(y[:, 0], y[:, 1], model.predict(X))

        mine = KnifeSurvivalCV(**options, scoring=own).fit(X, y)
        assert named.best_score_ == mine.best_score_ > 0.6

    def test_nested_searches_do_not_change_the_answer(self):
        X, y = draw(100)
        options = {"kernel": "linear", "alphas": 1.0, "sparsities": 3, "cv": 2}
        one = KnifeSurvivalCV(**options).fit(X, y)
        full = KnifeSurvivalCV(**options, nested="full").fit(X, y)
        np.testing.assert_array_equal(one.weights_, full.weights_)
        assert np.isfinite(full.nested_scores_).all()


def always_observed(y):
    """Return a target of scikit-learn's checks as times of events that are all observed."""
    if y is None or (np.asarray(y).ndim == 2 and np.asarray(y).shape[1] > 1):
        return y
    times = np.real(np.asarray(y)).astype(float).ravel()
    return np.column_stack([times - times.min(initial=0.0) + 1.0, np.ones(len(times))])


class Observed(KnifeSurvival):
    """Takes the targets of scikit-learn's checks, which have one column, for observed times."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, always_observed(y), sample_weight)

    def score(self, X, y=None, sample_weight=None):
        return super().score(X, always_observed(y), sample_weight)


# With Efron's ties a row of weight 2 is not two rows, in no implementation.
@parametrize_with_checks([Observed("linear", ties="breslow")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
