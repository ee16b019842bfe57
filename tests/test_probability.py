"""Probabilities that are learned from the scores of rows that the models have not seen."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_validate
from sklearn.svm import SVC

from kernelknife import KnifeClassifier, KnifeClassifierCV, KnifeRegressor
from kernelknife._tuning.probabilities import learn_probabilities


@pytest.fixture
def noisy(rng):
    X = rng.normal(size=(240, 4))
    chance = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
    return X, np.where(rng.uniform(size=240) < chance, "yes", "no"), chance


def test_a_sigmoid_is_platts(rng):
    """Without smoothing it is a logistic regression on the scores."""
    f = rng.normal(size=2000)
    codes = (rng.uniform(size=2000) < 1.0 / (1.0 + np.exp(1.0 - 3.0 * f))).astype(int)
    found = learn_probabilities(f, codes, np.ones(2000), "sigmoid")
    peer = LogisticRegression(C=1e8, tol=1e-8).fit(f[:, None], codes)
    assert_allclose(found(f[:, None]), peer.predict_proba(f[:, None]), atol=5e-3)
    weighted = learn_probabilities(f, codes, np.full(2000, 3.0), "sigmoid")
    thrice = learn_probabilities(np.tile(f, 3), np.tile(codes, 3), np.ones(6000), "sigmoid")
    assert_allclose(weighted(f[:, None]), thrice(f[:, None]), atol=1e-6)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_near_the_true_ones(method, noisy):
    X, y, chance = noisy
    model = KnifeClassifier(sparsity=5.0, probability=method).fit(X, y)
    search = KnifeClassifierCV("rbf", alphas=[1.0], cv=4, probability=method).fit(X, y)
    peer = CalibratedClassifierCV(SVC(), method=method).fit(X, y)
    bound = np.abs(peer.predict_proba(X)[:, 1] - chance).mean() + 0.05
    for one in (model, search):
        found = one.predict_proba(X)
        assert_allclose(found.sum(axis=1), 1.0)
        assert np.abs(found[:, 1] - chance).mean() < bound
        assert (np.diff(found[np.argsort(one.decision_function(X)), 1]) >= -1e-12).all()
    plain = KnifeClassifier(sparsity=5.0).fit(X, y)
    assert_allclose(plain.decision_function(X), model.decision_function(X))


def test_log_loss_scores_work(noisy):
    X, y, _ = noisy
    y = np.where(X[:, 1] > 1.0, "third", y)
    weights = np.linspace(0.5, 2.0, len(y))
    search = KnifeClassifierCV(
        "linear", alphas=[1.0], cv=3, n_features_to_select=2, probability="sigmoid"
    ).fit(X, y, sample_weight=weights)
    assert search.predict_proba(X).shape == (240, 3)
    assert log_loss(y, search.predict_proba(X)) < np.log(3)
    model = KnifeClassifier(sparsity=5.0, probability="isotonic", adjust_for=[3])
    scores = cross_validate(model, X, y, scoring="neg_log_loss", cv=3)["test_score"]
    assert np.isfinite(scores).all()


def test_a_loss_with_probabilities_keeps_them(noisy):
    X, y, _ = noisy
    own = KnifeClassifier(loss="logistic", probability="sigmoid").fit(X, y)
    assert not hasattr(own, "probability_map_")
    plain = KnifeClassifier(loss="logistic").fit(X, y)
    assert_allclose(own.predict_proba(X), plain.predict_proba(X))


def test_words_and_tasks_are_checked(noisy):
    X, y, chance = noisy
    with pytest.raises(ValueError, match=r"Unknown probability 'platt'. Known names: sigmoid"):
        KnifeClassifier(probability="platt").fit(X, y)
    with pytest.raises(ValueError, match="a regression has no classes"):
        KnifeRegressor(probability="sigmoid").fit(X, chance)
    assert not hasattr(clone(KnifeClassifier()), "predict_proba")
    lazy = da.from_array(X), da.from_array((y == "yes").astype(int))
    with pytest.raises(TypeError, match="splits rows and needs an array"):
        KnifeClassifier(probability="sigmoid", n_centers=20).fit(*lazy)
