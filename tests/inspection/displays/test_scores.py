"""Pictures of scores."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife import (
    KnifeCCA,
    KnifePCA,
)
from kernelknife.inspection.displays import (
    ScoresDisplay,
)


def test_scores_are_drawn_where_they_are(rng):
    X = rng.normal(size=(40, 3))
    model = KnifePCA(weights=0.5).fit(X)
    display = ScoresDisplay.from_estimator(model, X)
    assert_allclose(display.dots_[0].get_xydata(), model.transform(X))
    assert display.ax_.get_xlabel() == "score 1"


def test_labels_give_colors_or_a_scale(rng):
    X = rng.normal(size=(40, 3))
    model = KnifePCA(1, weights=0.5).fit(X)
    kinds = np.where(X[:, 0] > 0, "up", "down")
    display = ScoresDisplay.from_estimator(model, X, labels=kinds)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["down", "up"]
    assert sum(len(dots.get_xydata()) for dots in display.dots_) == 40
    assert display.ax_.get_xlabel() == "row"
    scale = ScoresDisplay.from_estimator(model, X, labels=X[:, 1])
    assert_allclose(scale.dots_[0].get_array(), X[:, 1])
    assert len(scale.figure_.axes) == 2


def test_canonical_scores_are_drawn_against_each_other(rng):
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    model = KnifeCCA(weights=(0.5, 0.5)).fit(X, Y)
    display = ScoresDisplay.from_estimator(model, X, Y)
    f, g = model.transform(X, Y)
    assert_allclose(display.dots_[0].get_xydata(), np.hstack([f, g]))
    assert display.ax_.get_ylabel() == "score by y"
