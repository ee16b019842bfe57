"""Nested scores by whole searches inside the training rows of every fold."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, LeaveOneGroupOut, PredefinedSplit, TimeSeriesSplit

from kernelknife import KnifeClassifierCV, KnifeRegressorCV
from kernelknife._tuning import refit
from kernelknife._tuning.candidates import SearchSpec
from kernelknife._tuning.halving import Halving, plan_search
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange

SMALL = {"kernel": "rbf", "alphas": 1.0, "sparsities": 4, "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(80, 3, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    """Two classes of 45 rows; ``rare(n)`` makes a third one of some of them."""
    X, y = make_skin_of_orange(90, 5, random_state=0)

    def rare(n):
        labels = np.where(y == y[0], "a", "b").astype("<U4")
        labels[np.linspace(0, 89, n).astype(int)] = "rare"
        return X, labels

    return rare


def scores_by_hand(search, X, y, *, sample_weight=None, groups=None, **inner):
    """Return the nested scores of a fitted search from searches that are written out by hand."""
    scores = []
    scorer = check_scoring(search, search.score_name_)
    for train, test in search.splits_:
        parts = {"sample_weight": sample_weight, "groups": groups}
        parts = {name: part[train] for name, part in parts.items() if part is not None}
        alone = type(search)(**{**search.get_params(), "nested": "others", **inner})
        alone.fit(X[train], y[train], **parts)
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight[test]}
        scores.append(scorer(alone, X[test], y[test], **weighted))
    return scores


# -- what they are --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": ["linear", "additive", "rbf"], "alphas": None},
        {"n_features_to_select": 3},
        {"rule": "1se", "scoring": "r2"},
        {"search_rows": 50, "kernel": "linear"},
        {"cv": KFold(3, shuffle=True, random_state=1)},
        {"cv": TimeSeriesSplit(3)},
        {"cv": None, "sparsities": [1.0, 5.0]},
    ],
    ids=str,
)
def test_they_are_those_of_a_loop_over_the_folds(options, sinusoid):
    X, y = sinusoid
    search = KnifeRegressorCV(**{**SMALL, **options}, nested="full").fit(X, y)
    assert_allclose(search.nested_scores_, scores_by_hand(search, X, y), rtol=1e-10)


def test_nothing_else_of_a_search_depends_on_them(sinusoid):
    plain, full = (KnifeRegressorCV(**SMALL, nested=n).fit(*sinusoid) for n in ("others", "full"))
    assert_array_equal(full.weights_, plain.weights_)
    assert_array_equal(full.predict(sinusoid[0]), plain.predict(sinusoid[0]))
    for name, column in plain.cv_results_.items():
        assert_array_equal(full.cv_results_[name], column)
    assert (full.nested_scores_ != plain.nested_scores_).any()


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss"])
def test_weights_of_rows_and_of_classes_hold_inside(three_classes, scoring, rng):
    X, y = three_classes(12)
    options = {"class_weight": "balanced", "loss": "logistic", "scoring": scoring}
    search = KnifeClassifierCV(**{**SMALL, **options}, nested="full")
    s = rng.uniform(0.2, 2.0, 90)
    search.fit(X, y, sample_weight=s)
    by_hand = scores_by_hand(search, X, y, sample_weight=s)
    assert_allclose(search.nested_scores_, by_hand, rtol=1e-10)


@pytest.mark.parametrize(("cv", "inner"), [(4, 3), (LeaveOneGroupOut(), LeaveOneGroupOut())])
def test_rows_of_a_group_stay_together_inside(cv, inner, sinusoid):
    X, y = sinusoid
    groups = np.repeat(list("abcd"), 20)
    search = KnifeRegressorCV(**{**SMALL, "cv": cv}, nested="full").fit(X, y, groups=groups)
    by_hand = scores_by_hand(search, X, y, groups=groups, cv=inner)
    assert_allclose(search.nested_scores_, by_hand, rtol=1e-10)


@pytest.mark.parametrize(("n_rare", "cv", "inner", "n_folds"), [(3, None, None, 10), (5, 5, 4, 5)])
def test_a_rare_class_has_fewer_rows_inside(n_rare, cv, inner, n_folds, three_classes):
    X, y = three_classes(n_rare)
    search = KnifeClassifierCV(**{**SMALL, "cv": cv}, nested="full").fit(X, y)
    assert len(search.splits_) == n_folds
    assert_allclose(search.nested_scores_, scores_by_hand(search, X, y, cv=inner), rtol=1e-10)


@pytest.mark.parametrize("made", [list, iter, lambda splits: PredefinedSplit(np.arange(80) % 4)])
def test_folds_that_name_their_rows_are_the_other_folds(made, sinusoid):
    """Of the other folds the rows are left out that this fold tests."""
    X, y = sinusoid
    number = np.arange(80) % 4
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(4)]
    search = KnifeRegressorCV(**{**SMALL, "cv": made(splits)}, nested="full").fit(X, y)
    for k, (train, test) in enumerate(splits):
        alone = KnifeRegressorCV(**{**SMALL, "cv": PredefinedSplit(number[train])})
        alone.fit(X[train], y[train])
        error = np.mean((alone.predict(X[test]) - y[test]) ** 2)
        assert_allclose(-search.nested_scores_[k], error, rtol=1e-10)


@pytest.mark.parametrize("estimator", [KnifeRegressorCV, KnifeClassifierCV])
def test_the_test_rows_of_a_fold_are_never_seen(estimator, monkeypatch, sinusoid, three_classes):
    """Permuting their targets and spoiling their values leaves the model of the fold as it is."""
    X, y = three_classes(15) if is_classifier(estimator()) else sinusoid
    seen = []

    def recorded(setup, solution, test):
        seen.append(solution)
        return score(setup, solution, test)

    score = refit.score_solution
    monkeypatch.setattr(refit, "score_solution", recorded)
    search = estimator(**SMALL, nested="full")
    test = search.fit(X, y).splits_[1][1]
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[test] *= 3.0
    spoiled_y[test] = y[test][::-1]
    # Folds are stratified by their targets: these are the same.
    spoiled = estimator(**{**SMALL, "cv": search.splits_}, nested="full")
    again = estimator(**{**SMALL, "cv": search.splits_}, nested="full").fit(X, y)
    spoiled.fit(spoiled_X, spoiled_y)
    assert len(seen) == 9
    assert_array_equal(seen[4].w, seen[7].w)
    assert_array_equal(seen[4].C, seen[7].C)
    assert (seen[5].C != seen[8].C).any()
    assert again.nested_scores_[1] != spoiled.nested_scores_[1]


# -- how they are computed ------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_any_backend_gives_the_same_bits(backend, sinusoid):
    plain = KnifeRegressorCV(**SMALL, nested="full").fit(*sinusoid)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        other = KnifeRegressorCV(**SMALL, nested="full").fit(*sinusoid)
        workers = KnifeRegressorCV(**SMALL, nested="full", n_jobs=2).fit(*sinusoid)
    for model in (other, workers):
        assert_array_equal(model.nested_scores_, plain.nested_scores_)
        assert model.n_paths_ == plain.n_paths_


@pytest.mark.parametrize(
    ("kernels", "options"),
    [
        ("rbf", {}),
        (["linear", "rbf"], {"alphas": [0.1, 1.0]}),
        ("linear", {"search_rows": 60}),
        ("rbf", {"cv": None}),
    ],
)
def test_their_paths_are_planned_and_counted(kernels, options, sinusoid):
    search = KnifeRegressorCV(**{**SMALL, "kernel": kernels, **options}, nested="full")
    planned = plan_search(SearchSpec.from_estimator(search), 80)
    search.fit(*sinusoid)
    # What is surely behind after two folds goes no further.
    assert 0.8 * planned.n_paths < search.n_paths_ <= planned.n_paths
    search.set_params(nested="others")
    fewer = plan_search(SearchSpec.from_estimator(search), 80)
    assert planned.n_paths > 3 * fewer.n_paths
    assert planned.n_folds == fewer.n_folds == len(search.splits_)


def test_progress_has_every_path(callbacks, sinusoid):
    finished = []

    class Recorder:
        def setup(self, estimator, context):
            pass

        teardown = on_fit_task_begin = setup

        def on_fit_task_end(self, estimator, context):
            finished.append(context.task_name)

    search = KnifeRegressorCV(**SMALL, nested="full").set_callbacks(Recorder())
    search.fit(*sinusoid)
    assert finished.count("path") == search.n_paths_
    assert finished.count("search") == 3


# -- where they are impossible --------------------------------------------------------------------


def two_groups(X):
    return {"groups": np.arange(len(X)) % 2}


@pytest.mark.parametrize(
    ("options", "arguments", "words"),
    [
        ({"cv": 2}, two_groups, "2 folds need as many groups, got 1"),
        ({"cv": list(KFold(2).split(np.zeros(80)))}, None, "0 have training and test rows"),
        ({"cv": TimeSeriesSplit(30)}, None, "Cannot have number of folds=31"),
        ({"cv": KFold(3), "n_features_to_select": 8}, None, "more than the 7 features"),
    ],
)
def test_what_cannot_be_split_again_is_said_before_anything_starts(
    options, arguments, words, sinusoid, monkeypatch
):
    X, y = sinusoid
    X = X.copy()
    X[:, 7] = 0.0
    X[[0, 45], 7] = 1.0  # in the training rows of every fold, but not inside all of them

    def unexpected(*arguments):
        raise AssertionError("the search has begun")

    monkeypatch.setattr(Halving, "run", unexpected)
    search = KnifeRegressorCV(**{**SMALL, **options}, nested="full")
    with pytest.raises(ValueError, match="nested='full'.*" + words + ".*Or use nested='others'"):
        search.fit(X, y, **(arguments(X) if arguments else {}))
    with pytest.raises(AssertionError, match="has begun"):
        search.set_params(nested="others").fit(X, y, **(arguments(X) if arguments else {}))


def test_a_class_of_two_rows_is_not_judged_inside_a_fold(three_classes):
    search = KnifeClassifierCV(**{**SMALL, "cv": None}, nested="full")
    assert np.isfinite(search.fit(*three_classes(2)).nested_scores_).all()


# -- what they are for ----------------------------------------------------------------------------


@pytest.mark.slow
def test_on_noise_they_estimate_the_error_on_fresh_rows():
    """The best score and, less so, nested scores of the other folds are too good."""
    options = {"kernel": ["linear", "rbf"], "sparsities": 8, "cv": 5, "random_state": 0}
    biases = []
    for seed in range(24):
        rng = np.random.default_rng([seed, 35])
        X, y, fresh = rng.normal(size=(60, 8)), rng.normal(size=60), rng.normal(size=(2000, 8))
        search = KnifeRegressorCV(**options, nested="full").fit(X, y)
        train = search.splits_[0][0]
        fold = KnifeRegressorCV(**options).fit(X[train], y[train])
        truth = np.mean(y**2) + np.mean(fold.predict(fresh) ** 2)
        biases.append([-search.best_score_ - truth, -search.nested_scores_.mean() - truth])
    best, full = np.mean(biases, axis=0)
    best_error, full_error = np.std(biases, axis=0, ddof=1) / np.sqrt(len(biases))
    assert abs(full) < 2 * full_error
    assert best < -2 * best_error
