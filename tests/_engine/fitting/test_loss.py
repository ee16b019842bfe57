"""Which loss an estimator has, and which methods come with it."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV
from kernelknife._engine.fitting import resolved_loss
from kernelknife.losses import HuberLoss, SquaredHinge, SquaredLoss


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (KnifeRegressor(), SquaredLoss),
        (KnifeRegressorCV(), SquaredLoss),
        (KnifeClassifier(), SquaredHinge),
        (KnifeClassifierCV(), SquaredHinge),
        (KnifeRegressor(loss="huber"), HuberLoss),
    ],
)
def test_no_loss_is_the_loss_of_the_task(estimator, expected):
    assert type(resolved_loss(estimator)) is expected


def test_a_loss_of_the_other_task_is_refused():
    with pytest.raises(ValueError, match="'hinge' is for classification"):
        resolved_loss(KnifeRegressor(loss="hinge"))
    with pytest.raises(ValueError, match="'squared' is for regression"):
        resolved_loss(KnifeClassifierCV(loss="squared"))


def test_only_the_logistic_loss_has_probabilities(orange):
    X, y = orange
    model = KnifeClassifier(loss="logistic", sparsity=1.0, alpha=0.1).fit(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(proba[:, 1] > 0.5, model.decision_function(X) > 0)
    assert not hasattr(KnifeClassifier().fit(X, y), "predict_proba")


def test_probabilities_name_the_loss_that_has_them(orange):
    X, y = orange
    model = KnifeClassifier(sparsity=3.0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"predict_proba needs loss='logistic': SquaredHinge"):
        model.predict_proba(X)
