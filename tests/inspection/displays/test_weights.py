"""A picture of weights."""

import numpy as np

from kernelknife.inspection.displays import (
    WeightsDisplay,
)


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_weights_as_bars():
    weights = np.zeros(200)
    weights[10:60] = np.linspace(0.1, 1.0, 50)
    display = WeightsDisplay(weights, [f"gene {j}" for j in range(200)]).plot()
    assert len(display.bars_) == 30
    assert "50 of 200" in display.ax_.get_title(loc="left")
    assert display.ax_.get_yticklabels()[0].get_text() == "gene 59"
    nothing = WeightsDisplay(np.zeros(5), list("abcde")).plot()
    assert "none of 5" in nothing.ax_.get_title(loc="left")
