"""Pictures of the path of a canonical pair."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import knife_cca_path
from kernelknife.inspection.displays import CCAPathDisplay


@pytest.fixture
def path(rng):
    X = rng.normal(size=(50, 3))
    Y = np.column_stack([X[:, 1] ** 2 + 0.1 * rng.normal(size=50), rng.normal(size=50)])
    return knife_cca_path(X, Y, sparsities=[0.0, 0.5, 1.5, 5.0, 1e4])


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_weights_of_both_tables_and_the_correlation_are_drawn(path):
    display = path.plot()
    assert isinstance(display, CCAPathDisplay)
    assert len(display.axes_) == 3
    first = np.argmin(path.x_ranking)
    assert_allclose(display.x_display_.lines_[0].get_ydata(), path.x_weights[:, first])
    assert_allclose(display.line_.get_ydata(), path.correlations)
    assert "x1" in texts(display.axes_[0])
    assert "y0" in texts(display.axes_[1])
    # A penalty is at the same place in all three.
    assert len({ax.get_xlim() for ax in display.axes_}) == 1
    assert all("0" in texts(ax) for ax in display.axes_), "the grid begins with no penalty"
    assert [ax.get_xlabel() for ax in display.axes_] == ["", "", "sparsity"]


def test_a_chosen_sparsity_is_marked_in_all_three(path):
    display = path.plot(sparsity=1.5, style={"linewidth": 3.0})
    assert "chosen" in texts(display.axes_[0])
    assert len(display.x_display_.lines_) == path.n_x_selected[2]
    for ax in display.axes_:
        assert any(np.allclose(line.get_xdata(), 1.5) for line in ax.lines)
    assert display.line_.get_linewidth() == 3.0


def test_given_axes_are_drawn_on(path):
    figure, axes = plt.subplots(1, 3)
    assert path.plot(ax=axes).figure_ is figure
    with pytest.raises(ValueError, match="3 axes are needed, got 2"):
        path.plot(ax=axes[:2])
    one = figure.gca()
    with pytest.raises(ValueError, match="3 axes are needed, got 1"):
        path.plot(ax=one)
