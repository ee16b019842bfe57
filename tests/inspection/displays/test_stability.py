"""The picture of votes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeStability
from kernelknife.inspection.displays.paths import StabilityDisplay


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_lines_are_the_shares_of_votes(rng):
    X = rng.normal(size=(60, 7))
    model = KnifeStability(n_pairs=4).fit(X, np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=60))
    display = StabilityDisplay.from_estimator(model, style={"linewidth": 3})
    assert [line.get_label() for line in display.lines_] == ["x2"]
    assert display.lines_[0].get_linewidth() == 3
    where = list(display.n_votes).index(model.n_votes_)
    assert_allclose(display.shares[where], model.selection_probabilities_)
    assert_allclose(display.shares[-1], 1.0)
    assert "share of half-samples" in display.ax_.get_ylabel()
    display.figure_.canvas.draw()


def test_it_draws_into_given_axes_and_without_a_selection(rng):
    _, ax = plt.subplots()
    model = KnifeStability(n_pairs=2).fit(rng.normal(size=(40, 3)), rng.normal(size=40))
    model.support_ = np.zeros(3, dtype=bool)
    display = StabilityDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.lines_ == []
