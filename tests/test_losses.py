"""Losses: derivatives, bounds, convexity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife.losses import (
    LOSSES,
    Hinge,
    HuberizedHinge,
    HuberLoss,
    LogisticLoss,
    SquaredHinge,
    SquaredLoss,
    check_loss,
)

ALL = [*(cls() for cls in LOSSES.values()), HuberizedHinge(width=0.3), HuberLoss(delta=0.5)]


def targets_and_scores(loss):
    f = np.linspace(-3.017, 3.0, 101)  # no point at a corner
    y = np.where(np.arange(101) % 3 == 0, 1.0, -1.0)
    return y if loss.task == "classification" else 0.7 * y, f


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_gradient_matches_finite_differences(loss):
    y, f = targets_and_scores(loss)
    numeric = (loss.value(y, f + 1e-6) - loss.value(y, f - 1e-6)) / 2e-6
    assert_allclose(loss.gradient(y, f), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_curvature_matches_finite_differences_and_its_bound(loss):
    y, f = targets_and_scores(loss)
    numeric = (loss.gradient(y, f + 1e-6) - loss.gradient(y, f - 1e-6)) / 2e-6
    assert_allclose(loss.curvature(y, f), numeric, rtol=1e-5, atol=1e-7)
    assert np.all(loss.curvature(y, f) >= 0)
    assert np.all(loss.curvature(y, f) <= loss.curvature_bound + 1e-12)


def test_logistic_loss_is_finite_at_extreme_scores():
    loss = LogisticLoss()
    y, f = np.array([1.0, 1.0, -1.0]), np.array([1e4, -1e4, 1e4])
    for values in (loss.value(y, f), loss.gradient(y, f), loss.curvature(y, f)):
        assert np.isfinite(values).all()
    assert_allclose(loss.value(y, f), [0.0, 1e4, 1e4])


def test_surrogates_approach_the_hinge():
    f = np.linspace(-2, 2, 81)
    y = np.ones_like(f)
    gap = np.abs(HuberizedHinge(width=1e-3).value(y, f) - Hinge().value(y, f))
    assert gap.max() <= 1e-3
    assert isinstance(Hinge(width=0.2).surrogate, HuberizedHinge)


def test_huber_loss_with_a_wide_center_is_squared_error():
    y, f = np.zeros(5), np.linspace(-3, 3, 5)
    assert_allclose(HuberLoss(delta=10.0).value(y, f), SquaredLoss().value(y, f))


@pytest.mark.parametrize(
    ("spec", "task", "error", "words"),
    [
        ("absolute", "regression", ValueError, "huber, squared"),
        ("logistic", "regression", ValueError, "is for classification"),
        ("squared", "classification", ValueError, "logistic"),
        (SquaredHinge(), "regression", ValueError, "not for regression"),
        (SquaredHinge, "classification", TypeError, r"SquaredHinge\(\)"),
        (HuberLoss(delta=0.0), "regression", ValueError, "delta must be a number > 0"),
        (HuberizedHinge(width=-1), "classification", ValueError, "width"),
    ],
)
def test_wrong_losses_are_explained(spec, task, error, words):
    with pytest.raises(error, match=words):
        check_loss(spec, task)
