"""The scores of a fold are those of independent fits on its training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import get_scorer

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._tuning import Data, Line, score_lines
from kernelknife.datasets import make_sinusoidal

KINDS = ("penalized", "relaxed", "equal")


@pytest.fixture(scope="module")
def data():
    X, y = make_sinusoidal(90, 4, random_state=3)
    return Data(X, y, np.ones(90), None)


def fold(data, template, penalties=(2.0, 8.0), weightings=KINDS, begin=None):
    line = Line("rbf", template, np.array(penalties), weightings)
    return score_lines([line], data, np.arange(60), np.arange(60, 90), begin)


def test_every_kind_of_weights_is_that_of_a_fit(data):
    (scores,), _ = fold(data, KnifeRegressor("rbf", alpha=0.3))
    options = [{"sparsity": s, "relax": relax} for relax in (False, True) for s in (2.0, 8.0)]
    options.append({"learn_weights": False})
    for i, option in enumerate(options):
        alone = KnifeRegressor("rbf", alpha=0.3, **option).fit(data.X[:60], data.y[:60])
        error = np.mean((alone.predict(data.X[60:]) - data.y[60:]) ** 2)
        assert_allclose(-scores.scores[i], error, rtol=0.05)
        selected = np.unpackbits(scores.selected[i], count=9).astype(bool)
        assert_array_equal(selected, alone.get_support())


@pytest.mark.parametrize("name", ["accuracy", "neg_mean_squared_error"])
def test_the_plain_scores_are_those_of_scikit_learn(data, name):
    template = KnifeRegressor("rbf") if name.startswith("neg") else KnifeClassifier("rbf")
    y = data.y if name.startswith("neg") else np.where(data.y > 0, "up", "down")
    weights = np.linspace(0.5, 2.0, 90)
    plain = Data(data.X, y, weights, None)
    scored = Data(data.X, y, weights, get_scorer(name))
    (ours,), _ = fold(plain, template)
    (theirs,), _ = fold(scored, template)
    assert_allclose(ours.scores, theirs.scores)


def test_a_line_that_begins_where_another_did_ends_where_it_would(data):
    """Paths of neighboring alphas share their start; the scores are those of separate paths."""
    template = KnifeRegressor("rbf", alpha=0.1)
    kinds = ("penalized",)
    _, begin = fold(data, KnifeRegressor("rbf", alpha=1.0), weightings=kinds)
    (shared,), _ = fold(data, template, weightings=kinds, begin=begin)
    (alone,), _ = fold(data, template, weightings=kinds)
    assert_allclose(shared.scores, alone.scores, rtol=0.1)


def test_past_the_end_of_a_path_nothing_changes(data):
    (scores,), _ = fold(data, KnifeRegressor("rbf"), (1.0, 1e4, 2e4), ("penalized",))
    assert scores.scores[1] == scores.scores[2]
    assert not np.unpackbits(scores.selected[1:]).any()


def test_large_selections_are_refitted_only_where_that_was_asked_for(data, monkeypatch):
    template = KnifeRegressor("rbf", alpha=0.3)
    (small,), _ = fold(data, template, weightings=("relaxed",))
    monkeypatch.setattr("kernelknife._tuning.settings.MOST_RELAXED", 0)
    (asked,), _ = fold(data, template, weightings=("relaxed",))
    assert_array_equal(asked.scores, small.scores)
    (compared,), _ = fold(data, template, weightings=("penalized", "relaxed"))
    penalized, relaxed = compared.scores.reshape(2, 2)
    assert_array_equal(relaxed, penalized)
    assert (relaxed != small.scores).all()
