"""Cross-validation: honest folds, the same answer everywhere, clear behavior at the edges."""

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import (
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    cross_validation,
    knife_path,
)
from kernelknife._engine import follow
from kernelknife._engine.objective import ExactProblem
from kernelknife._tuning import halving, refit
from kernelknife._tuning.folds import FOLD_TOL
from kernelknife._utils.versions import HAS_CALLBACKS
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange

SMALL = {"kernel": "rbf", "sparsities": 10, "alphas": [0.1, 1.0], "cv": 3}


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(80, 5, random_state=0)


@pytest.fixture(scope="module")
def fitted(sinusoid):
    return KnifeRegressorCV(**SMALL).fit(*sinusoid)


def test_it_chooses_both_penalties_and_predicts(fitted):
    assert fitted.alpha_ in (0.1, 1.0)
    assert_allclose(fitted.sparsity_, fitted.best_estimator_.sparsity)
    assert set(range(4)) <= set(fitted.get_support(indices=True))
    X, y = make_sinusoidal(500, 5, random_state=1)
    assert fitted.score(X, y) > 0.8
    assert_allclose(fitted.predict(X), fitted.best_estimator_.predict(X))
    assert_array_equal(fitted.weights_, fitted.best_estimator_.weights_)
    assert isinstance(fitted.best_estimator_, KnifeRegressor)
    assert len(fitted.path_) <= 10


def test_results_are_a_tidy_table(fitted):
    frame = pd.DataFrame(fitted.cv_results_)
    # Per alpha ten penalties at most, with shrunk and with refitted weights, and all columns alike.
    for _, mine in frame.groupby("alpha"):
        counts = mine["weighting"].value_counts()
        assert counts["penalized"] == counts["relaxed"] <= 10
        assert counts["equal"] == 1
    best = frame.iloc[fitted.best_index_]
    assert best["mean_test_score"] == fitted.best_score_ == frame["mean_test_score"].max()
    assert best["weighting"] == fitted.weighting_
    splits = frame[[f"split{i}_test_score" for i in range(3)]]
    assert_allclose(splits.mean(axis=1), frame["mean_test_score"])


def test_a_fold_score_is_that_of_an_independent_fit(sinusoid):
    """What a fold reports is what a user would get on its training rows alone."""
    X, y = sinusoid
    model = KnifeRegressorCV("rbf", alphas=0.3, sparsities=[2.0, 4.0], cv=KFold(3)).fit(X, y)
    for i, (train, test) in enumerate(KFold(3).split(X)):
        alone = KnifeRegressor(alpha=0.3, sparsity=4.0).fit(X[train], y[train])
        error = np.mean((alone.predict(X[test]) - y[test]) ** 2)
        assert_allclose(-model.cv_results_[f"split{i}_test_score"][1], error, rtol=0.02)


def test_linear_folds_take_the_penalty_in_proportion_to_their_rows():
    X, y = make_linear(90, 5, random_state=0)
    model = KnifeRegressorCV(kernel="linear", alphas=1.0, sparsities=[30.0], cv=KFold(3))
    model.fit(X, y)
    train, test = next(KFold(3).split(X))
    alone = KnifeRegressor(kernel="linear", sparsity=20.0, tol=1e-8).fit(X[train], y[train])
    error = np.mean((alone.predict(X[test]) - y[test]) ** 2)
    assert_allclose(-model.cv_results_["split0_test_score"][0], error, rtol=1e-3)


def test_held_out_rows_are_never_seen(sinusoid):
    """Spoil the held-out rows of one fold: its model, and so its prediction, must not move."""
    X, y = sinusoid
    seen = {}

    def record(name):
        def score(model, X, y):
            seen.setdefault(name, []).append(model.predict(np.zeros((1, 10)))[0])
            return -np.mean((model.predict(X) - y) ** 2)

        return score

    train, test = next(KFold(4).split(X))
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[test] *= 50.0
    spoiled_y[test] -= 1000.0
    rest = (np.setdiff1d(train, train[:5]), train[:5])
    for name, data in (("clean", (X, y)), ("spoiled", (spoiled_X, spoiled_y))):
        options = {
            "sparsities": [1.0, 5.0],
            "alphas": 1.0,
            "cv": [(train, test), rest],
            "kernel": "rbf",
        }
        KnifeRegressorCV(scoring=record(name), relax=False, **options).fit(*data)
    assert_array_equal(seen["clean"][:2], seen["spoiled"][:2])


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_any_backend_gives_the_same_bits(backend, fitted, sinusoid):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        other = KnifeRegressorCV(**SMALL).fit(*sinusoid)
    explicit = KnifeRegressorCV(**SMALL, n_jobs=2).fit(*sinusoid)
    for model in (other, explicit):
        assert_array_equal(model.weights_, fitted.weights_)
        for key, values in fitted.cv_results_.items():
            assert_array_equal(model.cv_results_[key], values)


def test_one_standard_error_is_sparser():
    X, y = make_skin_of_orange(90, 6, random_state=1)
    best = KnifeClassifierCV(**SMALL).fit(X, y)
    simple = KnifeClassifierCV(**SMALL, rule="1se").fit(X, y)
    frame = pd.DataFrame(best.cv_results_)
    top = frame.iloc[best.best_index_]
    bar = top["mean_test_score"] - frame["standard_error"].max()
    assert bar <= simple.best_score_ <= best.best_score_
    count = pd.Series(best.cv_results_["n_distinct_features"])
    assert count[simple.best_index_] <= count[best.best_index_]


def test_any_scoring(sinusoid):
    X, y = make_skin_of_orange(80, 4, random_state=0)
    model = KnifeClassifierCV(**SMALL, scoring="roc_auc").fit(X, y)
    assert 0.8 < model.best_score_ <= 1.0
    proba = KnifeClassifierCV(**SMALL, loss="logistic", scoring="neg_log_loss").fit(X, y)
    assert proba.predict_proba(X).shape == (80, 2)
    assert not hasattr(model, "predict_proba")
    own = KnifeRegressorCV(**SMALL, scoring=lambda model, X, y: model.score(X, y)).fit(*sinusoid)
    assert 0.5 < own.best_score_ < 1


def test_groups_are_kept_together(rng):
    groups = np.repeat(np.arange(12), 5)
    X = rng.normal(size=(60, 4)) + rng.normal(size=(12, 4))[groups]
    y = np.sin(X[:, 0])
    seen = []

    class Watching(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    options = {**SMALL, "cv": Watching(3)}
    KnifeRegressorCV(**options).fit(X, y, groups=groups)
    assert seen == [set()] * 3
    with pytest.raises(ValueError, match="groups"):
        KnifeRegressorCV(**options).fit(X, y)
    # A number of folds keeps groups together too, and a splitter that does not is refused.
    for estimator, target in ((KnifeRegressorCV, y), (KnifeClassifierCV, y > 0)):
        fitted = estimator(**SMALL).fit(X, target, groups=groups)
        assert all(not set(groups[train]) & set(groups[test]) for train, test in fitted.splits_)
        torn = {**SMALL, "cv": list(KFold(3, shuffle=True, random_state=0).split(X))}
        with pytest.raises(ValueError, match="on both sides"):
            estimator(**torn).fit(X, target, groups=groups)


def test_feature_groups_by_name(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    model = KnifeRegressorCV(**SMALL, feature_groups={"pair": ["a", "c"]})
    model.fit(frame, np.sin(frame["a"]) + 0.1 * frame["c"])
    assert model.weights_[0] == model.weights_[2] > 0
    assert model.feature_groups_["pair"] == ["a", "c"]
    counted = model.set_params(n_features_to_select=1).fit(frame, frame["a"])
    assert counted.feature_groups_["pair"] == ["a", "c"]
    assert counted.best_estimator_.feature_groups_ == counted.feature_groups_
    assert counted.path_.model(0).feature_groups == {"pair": ["a", "c"]}
    model.set_params(feature_groups=None).fit(frame, frame["a"])
    assert not hasattr(model, "feature_groups_")


def test_what_either_rule_would_choose(fitted):
    frame = pd.DataFrame(fitted.cv_results_)
    assert fitted.best_index_ == fitted.choices_["min"]
    simple = frame.iloc[fitted.choices_["1se"]]
    chosen = frame.iloc[fitted.choices_["min"]]
    assert simple["n_distinct_features"] <= chosen["n_distinct_features"]
    assert (frame["n_distinct_features"] >= frame["mean_n_features"]).all()
    assert fitted.sparsity_ == fitted.best_estimator_.sparsity_


def test_non_convergence_is_never_silent(sinusoid):
    with pytest.warns(ConvergenceWarning, match="points of the path did not converge") as seen:
        KnifeRegressorCV(**SMALL, max_iter=1).fit(*sinusoid)
    if HAS_CALLBACKS:  # without, one frame less lies between
        assert seen[0].filename == __file__


def test_nan_scores_are_passed_over_with_a_warning(sinusoid):
    def sometimes(model, X, y):
        error = np.mean((model.predict(X) - y) ** 2)
        return np.nan if np.count_nonzero(model.weights_) > 5 else -error

    with pytest.warns(UserWarning, match="scores are NaN") as seen:
        model = KnifeRegressorCV(**SMALL, scoring=sometimes).fit(*sinusoid)
    assert np.isfinite(model.best_score_)
    if HAS_CALLBACKS:
        assert seen[0].filename == __file__
    with (
        pytest.warns(UserWarning, match="scores are NaN"),
        pytest.raises(ValueError, match="none can be selected"),
    ):
        KnifeRegressorCV(**SMALL, scoring=lambda model, X, y: np.nan).fit(*sinusoid)


def test_a_fold_without_a_class_is_named():
    X, y = make_skin_of_orange(60, 2, random_state=0)
    order = np.argsort(y)
    with pytest.raises(ValueError, match="training rows of fold 0 lack 1 of the 2 classes"):
        KnifeClassifierCV(**{**SMALL, "cv": KFold(2)}).fit(X[order], y[order])
    KnifeClassifierCV(**{**SMALL, "cv": StratifiedKFold(2)}).fit(X[order], y[order])


def test_a_path_of_one_point(sinusoid):
    options = {"kernel": "rbf", "alphas": 1.0, "cv": 3, "include_all": False}
    model = KnifeRegressorCV(sparsities=[3.0], **options).fit(*sinusoid)
    assert model.sparsity_ == 3.0
    assert len(model.path_) == 1
    assert KnifeRegressorCV(sparsities=1, **options).fit(*sinusoid).weights_.any()


def test_several_classes_and_outputs(rng):
    X = rng.normal(size=(90, 5))
    y = np.digitize(np.hypot(X[:, 0], X[:, 1]), [0.8, 1.5])
    model = KnifeClassifierCV(**SMALL).fit(X, y)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert model.decision_function(X).shape == (90, 3)
    assert {0, 1} <= set(model.get_support(indices=True))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    assert KnifeRegressorCV(**SMALL).fit(X, Y).predict(X).shape == (90, 2)


def test_pipeline_and_pickle(fitted, sinusoid):
    X, y = sinusoid
    pipe = make_pipeline(StandardScaler(), KnifeRegressorCV(**SMALL))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.5
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))


def test_progress_shows_the_tree(sinusoid, capfd, callbacks):
    KnifeRegressorCV(**SMALL).fit(*sinusoid)
    assert capfd.readouterr() == ("", "")
    for jobs in (1, 2):
        model = KnifeRegressorCV(**SMALL, n_jobs=jobs).set_callbacks(callbacks.ProgressBar())
        model.fit(*sinusoid)
        shown = capfd.readouterr().out
        for word in ("cv", "comparing", "refit"):
            assert word in shown


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"rule": "best"}, ValueError, "'min', '1se' or 'calibrated'"),
        ({"alphas": []}, ValueError, "alphas"),
        ({"alphas": [0.0, 1.0]}, ValueError, "alphas must be a number > 0"),
        ({"sparsities": [2.0, 1.0]}, ValueError, "increasing"),
        ({"cv": [(np.arange(40), np.arange(40, 80))]}, ValueError, "at least 2"),
        ({"kernel": "gauss"}, ValueError, "Unknown kernel"),
        ({"scoring": "acuracy"}, ValueError, "scoring"),
    ],
)
def test_mistakes_are_explained(params, error, words, sinusoid):
    with pytest.raises(error, match=words):
        KnifeRegressorCV(**{**SMALL, **params}).fit(*sinusoid)


def test_selection_frequency_counts_the_folds(rng):
    X = rng.normal(size=(90, 12))
    y = np.sin(2 * X[:, 3]) + 0.1 * rng.normal(size=90)
    folds = list(KFold(3).split(X))
    options = {"alphas": 0.3, "sparsities": [0.5, 5.0], "relax": False, "include_all": False}
    model = KnifeRegressorCV("rbf", cv=folds, **options).fit(X, y)
    counted = np.zeros(12)
    for train, _ in folds:
        path = knife_path(X[train], y[train], alpha=0.3, sparsities=[0.5, 5.0])
        counted += path.at(sparsity=model.sparsity_).get_support()
    np.testing.assert_allclose(model.selection_frequency_, counted / 3)
    assert model.selection_frequency_[3] == 1.0
    point = list(model.cv_results_["sparsity"]).index(model.sparsity_)
    assert np.isclose(model.cv_results_["mean_n_features"][point], counted.sum() / 3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_search_on_some_rows_is_that_of_these_rows_alone(rng, kernel):
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=400)
    options = {"kernel": kernel, "alphas": 1.0, "sparsities": 8, "relax": False}
    some = KnifeRegressorCV(**options, search_rows=150).fit(X, y)
    rows = np.unique(np.concatenate(some.splits_[0]))
    assert len(rows) == 150
    folds = [(np.searchsorted(rows, a), np.searchsorted(rows, b)) for a, b in some.splits_]
    alone = KnifeRegressorCV(**options, cv=folds).fit(X[rows], y[rows])
    assert_allclose(some.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    # The chosen model is fitted to all rows; a linear penalty grows with them.
    share = 400 / 150 if kernel == "linear" else 1.0
    assert_allclose(some.sparsity_, alone.sparsity_)
    sparsity = some.best_estimator_.sparsity_
    assert_allclose(sparsity, share * alone.sparsity_)
    every = KnifeRegressor(kernel, alpha=1.0, sparsity=sparsity).fit(X, y)
    assert_allclose(some.weights_, every.weights_, atol=0.02)


def test_what_cannot_be_fitted_to_all_rows_is_said_before_the_search(rng):
    X = rng.normal(size=(300, 3))
    model = KnifeClassifierCV("rbf", "hinge", search_rows=100, memory_budget=1e5)
    with (
        pytest.warns(UserWarning, match="over the budget"),
        pytest.raises(ValueError, match="no model on centers"),
    ):
        model.fit(X, X[:, 0] > 0)
    assert not hasattr(model, "cv_results_")


def test_a_number_of_folds_leaves_the_search_on_some_rows():
    X, y = make_sinusoidal(200, 2, random_state=0)
    options = {"kernel": "rbf", "alphas": 1.0, "sparsities": 3, "search_rows": 90}
    for cv, n_rows in ((3, 90), (KFold(3), 200)):
        search = KnifeRegressorCV(**options, cv=cv, random_state=0).fit(X, y)
        assert len(np.unique(np.concatenate(search.splits_[0]))) == n_rows


def test_a_row_of_weight_zero_does_not_make_the_path_rough(monkeypatch):
    """Whether the path leads to another model is a matter of rows, not of their weights."""
    tolerances = []

    def watched(setup, *rest, **options):
        tolerances.append(setup.spec.solver.tol)
        return follow(setup, *rest, **options)

    monkeypatch.setattr(refit, "follow", watched)
    X, y = make_sinusoidal(80, 2, random_state=0)
    s = np.ones(80)
    s[3] = 0.0
    model = KnifeRegressorCV("rbf", alphas=1.0, sparsities=4, cv=2)
    model.fit(X, y, sample_weight=s)
    model.set_params(search_rows=60).fit(X, y)
    assert tolerances == [1e-4, FOLD_TOL]


def test_only_paths_that_were_followed_to_the_end_are_selected(rng):
    """The screening may see all folds, but few penalties and no refits."""
    X = np.random.default_rng(3).normal(size=(220, 5))
    y = 0.25 * X[:, 0] + np.random.default_rng(4).normal(size=220)
    options = {"kernel": ["linear", "additive", "rbf"], "sparsities": 12}
    for rows in range(200, 221, 5):
        search = KnifeRegressorCV(**options).fit(X[:rows], y[:rows])
        results = search.cv_results_
        assert (results["n_folds"] == 5)[~results["followed"]].any()
        assert not results["followed"].all()
        assert all(results["followed"][index] for index in search.choices_.values())


def test_a_path_ends_where_its_scores_have_turned_and_the_one_of_all_rows_goes_on():
    X, y = make_sinusoidal(150, 5, random_state=0)
    search = KnifeRegressorCV("rbf", alphas=0.1, sparsities=20, random_state=0).fit(X, y)
    grid = KnifeRegressorCV("rbf", alphas=0.1, sparsities=search.path_.sparsities).fit(X, y)
    last = search.cv_results_["sparsity"].max()
    assert last < search.path_.sparsities[-1]
    # Where every penalty is given all are followed, and nothing beyond is any better.
    scores, sparsities = (grid.cv_results_[name] for name in ("mean_test_score", "sparsity"))
    assert sparsities.max() == search.path_.sparsities[-1]
    assert scores[sparsities > last].max() < scores.max() - grid.cv_results_["standard_error"].min()
    assert grid.sparsity_ == pytest.approx(search.sparsity_)


def test_a_screening_of_refitted_models_alone_compares_those():
    """Otherwise only all columns with equal weights would decide between kernels and alphas."""
    X, y = make_sinusoidal(80, 3, random_state=0)
    search = KnifeRegressorCV(["linear", "additive", "rbf"], relax=True, sparsities=9).fit(X, y)
    dropped = ~search.cv_results_["followed"]
    assert {"relaxed", "equal"} == set(search.cv_results_["weighting"][dropped])


def test_folds_may_be_lists_of_many_rows(rng):
    X = rng.normal(size=(640, 3))
    folds = [(list(range(620)), list(range(620, 640))), (list(range(20, 640)), list(range(20)))]
    search = KnifeRegressorCV(["linear", "additive", "rbf"], sparsities=4, cv=folds)
    assert search.fit(X, X[:, 0] + rng.normal(size=640)).weights_[0] > 0


def test_a_scoring_may_be_missing_for_a_whole_alpha(sinusoid):
    def sometimes(model, X, y):
        return model.score(X, y) if model.alpha >= 1.0 else np.nan

    with pytest.warns(UserWarning, match="scores are NaN"):
        search = KnifeRegressorCV("rbf", sparsities=4, cv=3, scoring=sometimes).fit(*sinusoid)
    assert search.alpha_ >= 1.0


def test_a_screening_of_rare_values_does_not_miss_columns(rng, monkeypatch):
    """In the few rows of a screening some columns are constant that vary in every fold."""
    monkeypatch.setattr(halving, "HALVING", replace(halving.HALVING, screening_rows=40))
    X = np.hstack([rng.normal(size=(250, 3)), np.zeros((250, 4))])
    for j in range(3, 7):
        X[[j, 240 + j], j] = 1.0
    y = X.sum(axis=1) + 0.1 * rng.normal(size=250)
    search = KnifeRegressorCV("linear", n_features_to_select=7, alphas=[1.0, 10.0, 100.0], cv=5)
    assert search.fit(X, y).get_support().all()


def test_a_scorer_sees_the_parameters_of_the_candidate(sinusoid):
    """One may prefer a kernel or an alpha."""
    seen = set()

    def score(model, X, y):
        seen.add((repr(model.kernel), model.alpha, model.n_centers))
        return model.score(X, y)

    options = {"alphas": 0.5, "sparsities": 3, "cv": 2, "n_centers": 20}
    KnifeRegressorCV(["linear", "rbf"], scoring=score, **options).fit(*sinusoid)
    assert seen == {("Linear()", 0.5, 20), ("RBF()", 0.5, 20)}


def test_a_search_on_some_rows_draws_from_those_that_count(rng):
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] > 1.0).astype(int)
    s = np.zeros(500)
    counted = np.concatenate([np.flatnonzero(y == 0)[:60], np.flatnonzero(y == 1)[:12]])
    s[counted] = 1.0
    search = KnifeClassifierCV("linear", alphas=1.0, sparsities=4, search_rows=60, random_state=0)
    search.fit(X, y, sample_weight=s)
    assert np.isin(np.concatenate(search.splits_[0]), counted).all()


def test_a_selected_model_that_has_not_converged_is_named(rng):
    """The path on some rows has the tolerance of a fold; the model of all rows has the user's."""
    X = rng.normal(size=(250, 8))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=250)
    search = KnifeRegressorCV(
        "laplace", alphas=1.0, sparsities=[2.0, 5.0, 8.0], search_rows=200, tol=1e-9, max_iter=6,
        relax=False, include_all=False,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="The selected model did not converge") as seen:
        search.fit(X, y)
    assert search.path_.converged.all()
    if HAS_CALLBACKS:
        assert seen[0].filename == __file__


def test_every_kernel_that_must_be_exact_is_checked_before_the_search(rng):
    X = rng.normal(size=(300, 3))
    model = KnifeRegressorCV(["rbf", "sigmoid"], search_rows=100, memory_budget=8 * 200**2)
    with (
        pytest.warns(UserWarning, match="over the budget"),
        pytest.raises(ValueError, match="not positive semi-definite"),
    ):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_substitutes_are_those_of_the_model_with_that_number_of_features(rng, kernel):
    X = rng.normal(size=(120, 6))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=120)
    search = KnifeRegressorCV(kernel, n_features_to_select=3, alphas=1.0, cv=3).fit(X, y)
    assert {place.name for place in search.substitutes()} == {"x0", "x1", "x2"}


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("rbf", {"relax": False, "include_all": False}),
        ("anova", {"relax": True, "include_all": False}),
        ("linear", {"relax": "auto", "search_rows": 70}),
        ("rbf", {"n_centers": 20}),
    ],
)
def test_models_of_folds_are_those_that_the_folds_have_scored(kernel, options):
    """Found again they have the scores of the search, fold by fold, and its selections."""
    X, y = make_skin_of_orange(90, 4, random_state=1)
    search = KnifeClassifierCV(kernel, sparsities=6, cv=3, random_state=0, **options).fit(X, y)
    models = cross_validation.models_of_folds(search, X, y)
    for i, (model, (_, test)) in enumerate(zip(models, search.splits_, strict=True)):
        scored = search.cv_results_[f"split{i}_test_score"][search.best_index_]
        assert model.score(X[test], y[test]) == scored
        assert (repr(model.kernel), model.alpha) == (repr(search.kernel_), search.alpha_)
    selected = np.mean([model.get_support() for model in models], axis=0)
    assert_array_equal(selected, search.selection_frequency_)


@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"nested": "full", "cv": 3}])
def test_a_class_that_cannot_be_judged_is_fitted_and_said(options, rng):
    X, y = rng.normal(size=(62, 4)), np.repeat(["a", "b", "c"], [30, 30, 2])
    X[:30, 0] += 3.0
    X[60:, 1] += 8.0
    y, X = (y[:61], X[:61]) if not options else (y, X)
    search = KnifeClassifierCV("rbf", alphas=[1.0], **options)
    with pytest.warns(UserWarning, match=r"cannot be judged, 'c' \([12]\)"):
        search.fit(X, y)
    assert list(search.classes_) == ["a", "b", "c"]
    assert search.decision_function(X).shape == (len(X), 3)
    assert all((y[test] != "c").all() for _, test in search.splits_)
    assert search.nested_scores_.mean() > 0.8


@pytest.mark.parametrize("kernel", ["rbf", "anova"])
def test_a_search_counts_every_factorization(kernel, monkeypatch):
    """Those of the screening, of starts, trials and refits, and of the model of all rows."""
    count = 0
    for name in ("solve", "polish"):
        method = getattr(ExactProblem, name)

        def counted(self, *arguments, method=method, **options):
            nonlocal count
            state = method(self, *arguments, **options)
            count += state.inner.factorizations
            return state

        monkeypatch.setattr(ExactProblem, name, counted)
    X, y = make_skin_of_orange(80, 3, random_state=0)
    search = KnifeClassifierCV(kernel, cv=3, sparsities=6).fit(X, y)
    assert search.n_factorizations_ == count
