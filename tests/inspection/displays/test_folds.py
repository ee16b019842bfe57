"""Pictures of cross-validation."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife.inspection.curves import best_by_count, fewest_within_error
from kernelknife.inspection.displays import CountDisplay, CVDisplay
from kernelknife.inspection.displays.charts import draw_counts
from kernelknife.inspection.displays.style import new_axes


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_cross_validation_shows_one_line_per_alpha(chosen):
    display = CVDisplay.from_estimator(chosen)
    assert len(display.lines_) == 2
    assert "min" in " ".join(labels(display.ax_))
    assert "mean squared error" in display.ax_.get_ylabel()
    results = chosen.cv_results_
    kind = chosen.weighting_ if chosen.alpha_ == 0.1 else "penalized"
    rows = (results["alpha"] == 0.1) & (results["weighting"] == kind)
    assert_allclose(display.lines_[0].get_ydata(), -results["mean_test_score"][rows])


def test_the_fewest_features_within_one_standard_error():
    errors = np.array([0.50, 0.22, 0.21, 0.20, 0.25])
    spread = np.full(5, 0.015)
    assert fewest_within_error(errors, spread) == 2
    assert fewest_within_error(errors, 0 * spread) == 3
    assert best_by_count([4, 2, 2, 0], [0.3, 0.2, 0.1, np.nan]) == {2: 2, 4: 0}


def test_errors_by_the_number_of_features(chosen):
    display = CountDisplay.from_estimator(chosen)
    assert display.fewest_ <= display.least_
    drawn = dict(zip(display.counts_, display.errors_, strict=True))
    assert drawn[display.least_] == min(drawn.values())
    results = chosen.cv_results_
    here = results["alpha"] == chosen.alpha_
    assert min(drawn.values()) >= -results["mean_test_score"][here].max() - 1e-12
    texts = " ".join(text.get_text() for text in display.ax_.get_legend().get_texts())
    assert f"fewest within one standard error: {display.fewest_} feature" in texts
    ax = new_axes()
    draw_counts(ax, [0, 3, 30, 900], [0.9, 0.3, 0.2, 0.1], np.full(4, 0.02), "error")
    assert ax.get_xscale() == "symlog"
