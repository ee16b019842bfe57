"""The scores of a fold are those of independent fits on its training rows."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeRegressorCV
from kernelknife._base import scored_at
from kernelknife._engine import FitSpec
from kernelknife._tuning import candidates, folds
from kernelknife._tuning.candidates import CandidatePath
from kernelknife._tuning.folds import (
    Scoring,
    Unweighted,
    model_at,
    refit_candidate,
    score_paths,
    solutions_on_path,
)
from kernelknife.datasets import make_linear, make_sinusoidal

KINDS = ("penalized", "relaxed", "equal")
TRAIN, TEST = np.arange(60), np.arange(60, 90)


@pytest.fixture(scope="module")
def data(search_data):
    return search_data(*make_sinusoidal(90, 4, random_state=3))


def path_of(template, penalties=(2.0, 8.0), weightings=KINDS):
    """Return the path of penalties of an estimator's kernel and alpha."""
    spec = FitSpec.from_estimator(template)
    return CandidatePath(template.kernel, spec, np.array(penalties), weightings)


def fold(data, *paths, **options):
    return score_paths(paths, data, TRAIN, TEST, **options)


def error_of(model, data, test=TEST):
    squares = (model.predict(data.X[test]) - data.y[test]) ** 2
    return np.average(squares, weights=data.sample_weight[test])


# -- scores and selections ------------------------------------------------------------------------


def test_every_candidate_is_scored_as_a_fit_of_its_own(data):
    (scores,), _ = fold(data, path_of(KnifeRegressor("rbf", alpha=0.3)))
    options = [{"sparsity": s, "relax": relax} for relax in (False, True) for s in (2.0, 8.0)]
    options.append({"learn_weights": False})
    assert len(scores.scores) == len(options)
    for i, option in enumerate(options):
        alone = KnifeRegressor("rbf", alpha=0.3, **option).fit(data.X[TRAIN], data.y[TRAIN])
        assert_allclose(-scores.scores[i], error_of(alone, data), rtol=0.05)
        selected = np.unpackbits(scores.selected[i], count=9).astype(bool)
        assert_array_equal(selected, alone.get_support())
    assert scores.n_training_rows == 60


@pytest.mark.parametrize("scorer", [None, get_scorer("neg_mean_squared_error")])
def test_models_that_live_only_to_be_scored_do_not_take_the_scores_of_others(
    data, scorer, monkeypatch
):
    """Scores are kept by the identity of a solution, which a freed one leaves to the next.

    The model of equal weights is a linear system, so that its score is that of a fit to the last
    digits.
    """
    as_estimator = partial(scored_at, KnifeRegressor("rbf"))
    data = replace(data, scoring=Scoring("", scorer, as_estimator))
    penalties = np.geomspace(0.1, 50.0, 9)
    paths = [path_of(KnifeRegressor("rbf", alpha=alpha), penalties) for alpha in (0.1, 1.0)]
    results, _ = fold(data, *paths)

    def short_lived(*arguments):
        for solution in solutions_on_path(*arguments):
            yield replace(solution)

    monkeypatch.setattr(folds, "solutions_on_path", short_lived)
    again, _ = fold(data, *paths)
    for path, scores, copied in zip(paths, results, again, strict=True):
        assert_array_equal(scores.scores, copied.scores)
        assert_array_equal(scores.selected, copied.selected)
        alone = KnifeRegressor("rbf", alpha=path.alpha, learn_weights=False)
        alone.fit(data.X[TRAIN], data.y[TRAIN])
        assert_allclose(-scores.scores[-1], error_of(alone, data), rtol=1e-9)


@pytest.mark.parametrize("name", ["accuracy", "neg_mean_squared_error"])
def test_the_plain_scores_are_those_of_scikit_learn(data, search_data, name):
    template = KnifeRegressor("rbf") if name.startswith("neg") else KnifeClassifier("rbf")
    y = data.y if name.startswith("neg") else np.where(data.y > 0, "up", "down")
    weights = np.linspace(0.5, 2.0, 90)
    plain = search_data(data.X, y, weights)
    scored = search_data(data.X, y, weights, get_scorer(name), partial(scored_at, template))
    (ours,), _ = fold(plain, path_of(template))
    (theirs,), _ = fold(scored, path_of(template))
    assert_allclose(ours.scores, theirs.scores)


def test_a_path_that_begins_where_another_did_ends_where_it_would(data):
    """Paths of neighboring alphas share their start; the scores are those of separate paths."""
    low, high = (
        path_of(KnifeRegressor("rbf", alpha=alpha), weightings=("penalized",))
        for alpha in (0.1, 1.0)
    )
    (_, shared), _ = fold(data, high, low)
    (alone,), _ = fold(data, low)
    assert_allclose(shared.scores, alone.scores, rtol=0.1)


def test_a_start_from_rows_with_other_columns_is_not_taken(data):
    """In the few rows that it was found on, a column may be constant that varies in the fold."""
    _, (begin,) = fold(data, path_of(KnifeRegressor("rbf")))
    fewer = replace(begin, weights=begin.weights[1:])
    (scores,), _ = fold(data, path_of(KnifeRegressor("rbf")), begins=[fewer])
    (alone,), _ = fold(data, path_of(KnifeRegressor("rbf")))
    assert_array_equal(scores.scores, alone.scores)


def test_past_the_end_of_a_path_nothing_changes(data):
    path = path_of(KnifeRegressor("rbf"), (1.0, 1e4, 2e4), ("penalized",))
    (scores,), _ = fold(data, path)
    assert scores.scores[1] == scores.scores[2]
    assert not np.unpackbits(scores.selected[1:]).any()


def test_a_convex_penalty_goes_with_the_weight_of_the_training_rows(search_data):
    X, y = make_linear(90, 5, random_state=0)
    data = search_data(X, y, np.repeat([1.0, 3.0], [60, 30]))
    template = KnifeRegressor("linear", tol=1e-8)
    (scores,), _ = fold(data, path_of(template, (30.0,), ("penalized",)))
    alone = KnifeRegressor("linear", sparsity=30.0 * 60 / 150, tol=1e-8).fit(X[TRAIN], y[TRAIN])
    assert_allclose(-scores.scores[0], error_of(alone, data), rtol=1e-3)


def test_large_selections_are_refitted_only_where_that_was_asked_for(data, monkeypatch):
    template = KnifeRegressor("rbf", alpha=0.3)
    (small,), _ = fold(data, path_of(template, weightings=("relaxed",)))
    monkeypatch.setattr(candidates, "GRID", replace(candidates.GRID, most_relaxed=0))
    (asked,), _ = fold(data, path_of(template, weightings=("relaxed",)))
    assert_array_equal(asked.scores, small.scores)
    (compared,), _ = fold(data, path_of(template, weightings=("penalized", "relaxed")))
    penalized, relaxed = compared.scores.reshape(2, 2)
    assert_array_equal(relaxed, penalized)
    assert (relaxed != small.scores).all()


def test_a_number_of_features_is_that_of_a_fit(data):
    template = KnifeRegressor("rbf", n_features_to_select=3)
    path = path_of(template, (np.nan,), ("penalized",))
    (scores,), _ = fold(data, path)
    alone = KnifeRegressor("rbf", n_features_to_select=3).fit(data.X[TRAIN], data.y[TRAIN])
    assert_allclose(-scores.scores, error_of(alone, data), rtol=0.05)
    assert np.unpackbits(scores.selected).sum() == 3
    many = replace(path, spec=replace(path.spec, n_features_to_select=12))
    with pytest.raises(ValueError, match="not constant on the training rows of every fold"):
        fold(data, many)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_candidate_is_found_again_as_it_was_scored(data, kernel):
    """From another start a path may end in another minimum."""
    path = path_of(KnifeRegressor(kernel, alpha=0.3), (0.5, 2.0, 8.0, 1e4))
    (usual,), (begin,) = fold(data, path)
    begin = replace(begin, weights=np.random.default_rng(1).uniform(0.01, 1.0, 9))
    (scores,), (begin,) = fold(data, path, begins=[begin])
    assert (scores.scores != usual.scores).any() or kernel == "linear"
    for i, candidate in enumerate(path.candidates):
        setup, solution = refit_candidate(path, candidate, data, TRAIN, begin)
        model = scored_at(KnifeRegressor(), setup, solution, model_at(setup, solution))
        assert_allclose(error_of(model, data), -scores.scores[i], rtol=1e-12)
        assert_array_equal(np.packbits(model.get_support()), scores.selected[i])


# -- the scoring ----------------------------------------------------------------------------------

Y = np.array([0.5, 1.5, -2.0, 3.0, 1.0, 0.0])
ONES, WEIGHTS = np.ones(6), np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])


def r2_of(model, X, y):
    return model.score(X, y)


def scoring_of(scoring, y=Y, s=WEIGHTS):
    return Scoring.checked(scoring, "accuracy", LinearRegression(), None, y, s)


@pytest.fixture
def line():
    X = np.arange(6.0)[:, None]
    return LinearRegression().fit(X, Y), X


def test_a_scoring_by_name_is_that_of_scikit_learn(line):
    model, X = line
    scorer = scoring_of("neg_mean_squared_error").scorer
    error = np.average((model.predict(X) - Y) ** 2, weights=WEIGHTS)
    assert scorer(model, X, Y, sample_weight=WEIGHTS) == pytest.approx(-error)


def test_a_scorer_without_weights_is_called_without_them(line):
    model, X = line
    with pytest.warns(UserWarning, match="'r2_of' takes no sample weights"):
        scorer = scoring_of(r2_of).scorer
    for scored in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert scored(model, X, Y, sample_weight=WEIGHTS) == r2_of(model, X, Y)
    # Where all weights are 1 there is nothing to leave out.
    assert not isinstance(scoring_of(r2_of, s=ONES).scorer, Unweighted)


def test_a_search_scores_its_folds_without_weights_that_its_score_cannot_take(rng):
    X = rng.normal(size=(40, 2))
    search = KnifeRegressorCV("linear", alphas=1.0, sparsities=3, cv=2, scoring=r2_of)
    with pytest.warns(UserWarning, match="takes no sample weights"):
        search.fit(X, X[:, 0], sample_weight=rng.uniform(0.5, 1.5, 40))
    assert search.score_name_ == "r2_of"
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    ("scorer", "y"),
    [
        (get_scorer("neg_mean_squared_error"), Y),
        (get_scorer("accuracy"), Y > 0),
        (get_scorer("neg_median_absolute_error"), Y),
        # It refuses negative targets, which is not about weights.
        (get_scorer("neg_mean_squared_log_error"), Y),
    ],
)
def test_a_scorer_that_takes_weights_gets_them(scorer, y):
    """Warnings are errors here."""
    assert scoring_of(scorer, y).scorer is scorer


@pytest.mark.parametrize("scoring", [["r2"], {"a": "r2"}, 3])
def test_several_scores_cannot_choose(scoring):
    with pytest.raises(ValueError, match="one name or one callable"):
        scoring_of(scoring)


def test_names_for_pictures():
    names = [scoring_of(scoring, s=ONES).name for scoring in ("r2", r2_of, get_scorer("r2"), None)]
    assert names == ["r2", "r2_of", "score", "accuracy"]
