"""Pictures of separate effects."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from kernelknife import (
    KnifeClassifier,
    KnifeRegressor,
    KnifeRegressorCV,
)
from kernelknife.datasets import make_separate_effects, make_sinusoidal
from kernelknife.inspection.displays import EffectsDisplay
from kernelknife.inspection.displays.style import DIVERGING


@pytest.fixture(scope="module")
def separate():
    """A model of a product of two columns, a curve of a third and a level of a fourth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    X[:, 3] = rng.integers(0, 3, 150)
    y = X[:, 0] * X[:, 1] + 2 * np.sin(2 * X[:, 2]) + X[:, 3] + 0.1 * rng.normal(size=150)
    frame = pd.DataFrame(X, columns=["left", "right", "wave", "level"])
    return KnifeRegressor(kernel="anova", alpha=0.1, sparsity=1.0).fit(frame, y)


def test_effects_are_those_of_the_model(separate):
    display = EffectsDisplay.from_estimator(separate, most=5)
    shares = {effect.names: effect.share for effect in separate.effects()}
    names = [ax.get_xlabel() for ax in display.axes_]
    assert "wave" in names[: len(display.lines_)]
    line = display.lines_[names.index("wave")]
    effect = separate.effect("wave")
    assert_allclose(line.get_xdata(), effect.grids[0])
    assert_allclose(line.get_ydata(), effect.values)
    share = shares["wave",]
    assert f"{100 * share:.0f} %" in display.axes_[names.index("wave")].get_title(loc="left")
    ax = display.axes_[len(display.lines_)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("left", "right")
    together = separate.effect("left", "right")
    values = np.asarray(together.values)
    assert display.largest_ == np.abs(values).max()
    # A cell has the color that its value has.
    i, j = np.unravel_index(np.argmax(np.abs(values)), values.shape)
    inside = [together.grids[0][i], together.grids[1][j]]
    (patch,) = (p for p in ax.patches if p.get_path().contains_point(inside))
    end = DIVERGING[-1 if values[i, j] > 0 else 0]
    assert to_hex(patch.get_facecolor()) == end


def test_effects_have_common_scales(separate):
    display = EffectsDisplay.from_estimator(separate, most=6)
    assert len({ax.get_ylim() for ax in display.axes_[: len(display.lines_)]}) == 1
    level = [ax.get_xlabel() for ax in display.axes_].index("level")
    assert display.lines_[level].get_marker() == "o"


def test_effects_of_one_class_of_many_and_of_a_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    model = KnifeClassifier(kernel="additive", sparsity=2.0).fit(X, y)
    values = [
        EffectsDisplay.from_estimator(model, most=1, output=i).lines_[0].get_ydata()
        for i in range(3)
    ]
    assert_allclose(np.transpose(values), model.effect("x1").values)
    with pytest.raises(ValueError, match="output must be between 0 and 2, got 3"):
        EffectsDisplay.from_estimator(model, output=3)
    search = KnifeRegressorCV(kernel="additive", alphas=[0.3], sparsities=8, cv=3)
    search.fit(X, np.sin(2 * X[:, 1]))
    assert EffectsDisplay.from_estimator(search).axes_[0].get_xlabel() == "x1"


def test_effects_of_two_classes_name_the_second():
    table = make_separate_effects(200, 2, effects=("sum",), random_state=0)
    labels = np.where(table.target, "yes", "no")
    model = KnifeClassifier(kernel="additive", sparsity=1.0).fit(table.data, labels)
    display = EffectsDisplay.from_estimator(model)
    assert display.axes_[0].get_ylabel() == "adds to the score of yes"


def test_a_far_value_does_not_squeeze_an_effect(rng):
    x = rng.standard_cauchy(200)
    model = KnifeRegressor(kernel="additive", alpha=0.1, sparsity=0.1)
    model.fit(x[:, None], np.clip(x, -2, 2))
    low, high = EffectsDisplay.from_estimator(model).axes_[0].get_xlim()
    assert high - low < 0.1 * np.ptp(x)


def test_what_has_no_effects_is_refused(chosen):
    with pytest.raises(ValueError, match="has no separate effects"):
        EffectsDisplay.from_estimator(chosen)
    X, y = make_sinusoidal(40, 1, random_state=0)
    nothing = KnifeRegressor(kernel="additive", sparsity=1e6).fit(X, y)
    with pytest.raises(ValueError, match="No column is selected"):
        EffectsDisplay.from_estimator(nothing)
    with pytest.raises(ValueError, match="most must be"):
        EffectsDisplay.from_estimator(nothing, most=0)


def test_effects_into_given_axes(separate):
    figure, axes = plt.subplots(1, 4)
    display = EffectsDisplay.from_estimator(separate, most=2, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes[:2])
    with pytest.raises(ValueError, match="3 axes are needed, got 2"):
        EffectsDisplay.from_estimator(separate, most=3, ax=axes[:2])
    display = EffectsDisplay.from_estimator(separate, style={"color": "red"})
    assert display.lines_[0].get_color() == "red"
