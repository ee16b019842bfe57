"""Pictures of feature paths."""

import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose

from kernelknife import (
    knife_path,
)
from kernelknife.datasets import make_skin_of_orange
from kernelknife.inspection.displays import (
    WeightPathDisplay,
)


def labels(ax):
    return [text.get_text() for text in ax.texts]


def overlaps(display):
    display.figure_.canvas.draw()
    # An annotation would count its leader line in; the text alone must not overlap.
    boxes = [
        Text.get_window_extent(text) for text in display.ax_.texts if text.get_text()[0] == "x"
    ]
    return sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


@pytest.mark.parametrize("noise", [6, 56, 1996])
def test_paths_of_any_width_are_labeled_without_overlap(noise):
    X, y = make_skin_of_orange(60, noise, random_state=0)
    path = knife_path(X, y, sparsities=12, start="laplace")
    display = path.plot()
    assert len(display.lines_) <= 15
    first = np.argmin(path.ranking)
    assert_allclose(display.lines_[0].get_ydata(), path.weights[:, first])
    assert f"x{first}" in labels(display.ax_)
    assert overlaps(display) == 0


def test_the_chosen_penalty_is_marked_and_its_features_colored(chosen):
    display = WeightPathDisplay.from_estimator(chosen)
    assert "chosen" in labels(display.ax_)
    assert len(display.lines_) == chosen.get_support().sum()
