"""Losses: derivatives, bounds, convexity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import nbinom
from sklearn.metrics import mean_pinball_loss, mean_tweedie_deviance

from kernelknife.losses import (
    LOSSES,
    ExpectileLoss,
    GammaLoss,
    Hinge,
    HuberizedHinge,
    HuberLoss,
    LogisticLoss,
    NegativeBinomialLoss,
    PoissonLoss,
    QuantileLoss,
    SmoothQuantileLoss,
    SquaredHinge,
    SquaredLoss,
    TweedieLoss,
    check_loss,
)

ALL = [
    *(cls() for cls in LOSSES.values()),
    HuberizedHinge(width=0.3),
    HuberLoss(delta=0.5),
    NegativeBinomialLoss(dispersion=0.2),
    *(TweedieLoss(power) for power in (1.0, 1.2, 2.0)),
    *(SmoothQuantileLoss(level, width=0.4) for level in (0.1, 0.5)),
    ExpectileLoss(0.8),
]
LOG_LINK = [loss for loss in ALL if loss.inverse_link(0.0) == 1.0]


def targets_and_scores(loss):
    f = np.linspace(-3.017, 3.0, 101)  # no point at a corner
    y = np.where(np.arange(101) % 3 == 0, 1.0, -1.0)
    if loss in LOG_LINK:
        zeros = getattr(loss, "power", 1.0) < 2.0
        return np.arange(101) % 7 + (0.0 if zeros else 0.5), f
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


@pytest.mark.parametrize("loss", LOG_LINK, ids=repr)
def test_losses_of_means_are_zero_at_the_target_and_finite_far_from_it(loss):
    y = np.array([1.0, 2.0, 50.0])
    assert_allclose(loss.value(y, np.log(y)), 0.0, atol=1e-13)
    assert_allclose(loss.gradient(y, np.log(y)), 0.0, atol=1e-13)
    for values in (loss.value, loss.gradient, loss.curvature):
        assert np.isfinite(values(y, np.array([-1e5, 1e5, 400.0]))).all()


@pytest.mark.parametrize(
    "loss", [PoissonLoss(), GammaLoss(), *map(TweedieLoss, (1.0, 1.5, 2.0))], ids=repr
)
def test_scores_of_means_are_the_deviance_of_scikit_learn(loss, rng):
    y, mean, s = rng.integers(1, 9, size=30), rng.uniform(0.1, 9, size=30), rng.uniform(size=30)
    expected = mean_tweedie_deviance(y, mean, power=loss.power, sample_weight=s)
    assert_allclose(loss.score(y, mean, s), -expected)


def test_negative_binomial_loss_is_a_difference_of_log_likelihoods():
    loss, y, mean = NegativeBinomialLoss(dispersion=0.4), np.arange(8.0), np.linspace(0.3, 9, 8)

    def log_likelihood(mean):
        size = 1 / 0.4
        return nbinom.logpmf(y, size, size / (size + np.maximum(mean, 1e-300)))

    assert_allclose(loss.value(y, np.log(mean)), log_likelihood(y) - log_likelihood(mean))
    # Without dispersion it is the Poisson loss.
    poisson = PoissonLoss().value(y, np.log(mean))
    assert_allclose(NegativeBinomialLoss(1e-7).value(y, np.log(mean)), poisson, atol=1e-5)


def test_pinball_loss_is_that_of_scikit_learn(rng):
    y, q, s = rng.normal(size=40), rng.normal(size=(40, 2)), rng.uniform(size=40)
    mine = -QuantileLoss(0.9).score(y, q[:, 0], s)
    assert_allclose(mine, mean_pinball_loss(y, q[:, 0], alpha=0.9, sample_weight=s))
    both = [
        mean_pinball_loss(y, q[:, j], alpha=level, sample_weight=s)
        for j, level in enumerate((0.2, 0.9))
    ]
    assert_allclose(-QuantileLoss([0.2, 0.9]).score(y, q, s), np.mean(both))


def test_surrogates_approach_the_quantile():
    y, f = np.zeros(81), np.linspace(-2, 2, 81)
    gap = np.abs(SmoothQuantileLoss(0.8, width=1e-3).value(y, f) - QuantileLoss(0.8).value(y, f))
    assert gap.max() <= 1e-3
    assert QuantileLoss(0.8, width=0.2).surrogate.width == 0.2


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        (PoissonLoss(), [1.0, -2.0], "1 negative values.*is for counts"),
        (PoissonLoss(), [1.0, 0.5], r"not whole \(such as 0.5\).*exposure="),
        (NegativeBinomialLoss(), [1.5, 2.0], "negative binomial loss is for counts"),
        (GammaLoss(), [1.0, 0.0], "zero in 1 rows.*tweedie"),
        (GammaLoss(), [1.0, -1.0], "positive amounts"),
        (TweedieLoss(), [0.0, -1.0], "zero or more"),
        (TweedieLoss(2.0), [0.0, 1.0], "positive amounts"),
    ],
)
def test_targets_that_do_not_suit_a_loss_are_explained(loss, y, words):
    with pytest.raises(ValueError, match=words):
        loss.check_target(np.array(y))


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
        ("absolute", "regression", ValueError, "huber, .*squared"),
        ("logistic", "regression", ValueError, "is for classification"),
        ("squared", "classification", ValueError, "logistic"),
        (SquaredHinge(), "regression", ValueError, "not for regression"),
        (SquaredHinge, "classification", TypeError, r"SquaredHinge\(\)"),
        (HuberLoss(delta=0.0), "regression", ValueError, "delta must be a number > 0"),
        (HuberizedHinge(width=-1), "classification", ValueError, "width"),
        (TweedieLoss(0.5), "regression", ValueError, "power must be a number >= 1"),
        (TweedieLoss(3.0), "regression", ValueError, "from 1 to 2"),
        (NegativeBinomialLoss(0.0), "regression", ValueError, "dispersion"),
        (QuantileLoss(1.0), "regression", ValueError, "quantile must lie between 0 and 1"),
        (QuantileLoss([0.9, 0.1]), "regression", ValueError, "must increase"),
        (QuantileLoss([]), "regression", ValueError, "got none"),
        (QuantileLoss(width=0.0), "regression", ValueError, "width"),
        (ExpectileLoss(-0.5), "regression", ValueError, "expectile"),
    ],
)
def test_wrong_losses_are_explained(spec, task, error, words):
    with pytest.raises(error, match=words):
        check_loss(spec, task)
