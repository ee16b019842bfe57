"""Scores that stand for classes; the discriminants of a fit are in test_discriminant.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._components.scoring import class_scores, score_classes
from kernelknife._engine.data.arrays import ArrayRows


def test_class_scores_are_standardized_over_the_rows(rng):
    priors = rng.dirichlet(np.ones(5))
    theta = class_scores(priors)
    assert theta.shape == (5, 4)
    assert_allclose(priors @ theta, 0.0, atol=1e-12)
    assert_allclose(theta.T @ (priors[:, None] * theta), np.eye(4), atol=1e-12)


def test_rows_without_weight_are_left_out_and_weights_make_the_shares(rng):
    X, y = rng.normal(size=(5, 2)), np.array(["b", "a", "b", "a", "a"])
    rows, scores = score_classes(ArrayRows(X, y, np.array([1.0, 2.0, 1.0, 0.0, 4.0])))
    assert_allclose(rows.X, X[[0, 1, 2, 4]])
    assert scores.classes.tolist() == ["a", "b"]
    assert_allclose(scores.priors, [0.75, 0.25])
    assert_allclose(scores.targets, scores.theta[[1, 0, 1, 0]])
    assert_allclose(scores.sample_weight @ scores.targets, 0.0, atol=1e-12)


def test_a_class_without_weight_is_refused(rng):
    rows = ArrayRows(rng.normal(size=(3, 2)), np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="1 of 2 classes remain"):
        score_classes(rows)
