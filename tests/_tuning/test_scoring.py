"""The scorer of a search: what it refuses, what it is called, whether it takes sample weights."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer

from kernelknife import KnifeRegressorCV
from kernelknife._tuning.scoring import Unweighted, make_scorer, score_name, takes_weights

Y = np.array([0.5, 1.5, -2.0, 3.0, 1.0, 0.0])
ONES, WEIGHTS = np.ones(6), np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])


def r2_of(model, X, y):
    return model.score(X, y)


@pytest.fixture
def line():
    X = np.arange(6.0)[:, None]
    return LinearRegression().fit(X, Y), X


def test_a_scorer_by_name_is_that_of_scikit_learn(line):
    model, X = line
    scorer = make_scorer("neg_mean_squared_error", model, Y, WEIGHTS)
    error = np.average((model.predict(X) - Y) ** 2, weights=WEIGHTS)
    assert scorer(model, X, Y, sample_weight=WEIGHTS) == pytest.approx(-error)


def test_a_scorer_without_weights_is_called_without_them(line):
    model, X = line
    with pytest.warns(UserWarning, match="'r2_of' takes no sample weights"):
        scorer = make_scorer(r2_of, model, Y, WEIGHTS)
    for scored in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert scored(model, X, Y, sample_weight=WEIGHTS) == r2_of(model, X, Y)
    # Where all weights are 1 there is nothing to leave out.
    assert not isinstance(make_scorer(r2_of, model, Y, ONES), Unweighted)


def test_a_search_scores_its_folds_without_weights_that_its_score_cannot_take(rng):
    X = rng.normal(size=(40, 2))
    search = KnifeRegressorCV("linear", alphas=1.0, sparsities=3, cv=2, scoring=r2_of)
    with pytest.warns(UserWarning, match="takes no sample weights"):
        search.fit(X, X[:, 0], sample_weight=rng.uniform(0.5, 1.5, 40))
    assert search.score_name_ == "r2_of"
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    ("scorer", "y", "expected"),
    [
        (get_scorer("neg_mean_squared_error"), Y, True),
        (get_scorer("accuracy"), Y > 0, True),
        (get_scorer("neg_median_absolute_error"), Y, True),
        (r2_of, Y, False),
        # It refuses negative targets, which is not about weights.
        (get_scorer("neg_mean_squared_log_error"), Y, True),
    ],
)
def test_whether_a_scorer_takes_weights(scorer, y, expected):
    assert takes_weights(scorer, y) == expected


@pytest.mark.parametrize("scoring", [["r2"], {"a": "r2"}, 3])
def test_several_scores_cannot_choose(scoring):
    with pytest.raises(ValueError, match="one name or one callable"):
        make_scorer(scoring, LinearRegression(), Y, ONES)


def test_names_for_pictures():
    assert score_name("roc_auc") == "roc_auc"
    assert score_name(r2_of) == "r2_of"
    assert score_name(get_scorer("r2")) == "score"
