"""What the pictures share: labels, axes, and what they refuse."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from kernelknife import (
    KnifeRegressorCV,
    knife_path,
)
from kernelknife.datasets import make_sinusoidal
from kernelknife.inspection.curves import log_positions, spread_labels
from kernelknife.inspection.displays import (
    ConvergenceDisplay,
    CVDisplay,
    KernelDisplay,
    WeightPathDisplay,
    WeightsDisplay,
)
from kernelknife.inspection.displays.style import label_zero


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_labels_are_spread_in_order():
    places = spread_labels([0.5, 0.5, 0.51, 0.1, 1.0, 1.0], 0.06)
    assert np.all(np.diff(np.sort(places)) >= 0.06 - 1e-12)
    assert places[3] == min(places)
    assert max(places) <= 1.0 + 1e-12


def test_a_penalty_of_zero_is_called_zero_and_nothing_else():
    sparsities = np.array([0.0, 0.1, 1.0, 10.0])  # zero gets the place of 0.01
    x = log_positions(sparsities)
    _, ax = plt.subplots()
    ax.plot(x, x)
    ax.set_xscale("log")
    ax.set_xlim(x[0], x[-1])
    label_zero(ax, sparsities, x)
    assert labels(ax) == ["0"]
    np.testing.assert_allclose(ax.get_xticks(), [0.1, 1.0, 10.0])
    label_zero(ax, sparsities[1:], x[1:])
    assert labels(ax) == ["0"]


def test_given_axes_are_used(chosen):
    figure, axes = plt.subplots(1, 4)
    assert WeightPathDisplay.from_estimator(chosen, ax=axes[0]).figure_ is figure
    assert CVDisplay.from_estimator(chosen, ax=axes[1]).ax_ is axes[1]
    display = WeightsDisplay.from_estimator(chosen, ax=axes[2], style={"color": "red"})
    assert display.ax_ is axes[2]
    style = {"linewidth": 5.0}
    line = WeightPathDisplay.from_estimator(chosen, ax=axes[3], style=style).lines_[0]
    assert line.get_linewidth() == 5.0


def test_edges_are_drawn_too(chosen):
    X, y = make_sinusoidal(80, 5, random_state=0)
    assert ConvergenceDisplay.from_estimator(chosen).lines_
    assert len(KernelDisplay.from_estimator(chosen, X, y).images_) == 2
    assert knife_path(X, y, sparsities=1).plot().lines_
    single = KnifeRegressorCV(alphas=1.0, sparsities=[0.0], cv=3).fit(X, y)
    assert CVDisplay.from_estimator(single).lines_


def test_an_unfitted_estimator_is_refused():
    for display in (WeightPathDisplay, CVDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(KnifeRegressorCV())
