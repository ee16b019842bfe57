"""Pictures: they draw what they were given, and say so."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError

from kernelknife import (
    KnifeCCA,
    KnifeClassifier,
    KnifePCA,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife.datasets import make_separate_effects, make_sinusoidal, make_skin_of_orange
from kernelknife.display import (
    ConvergenceDisplay,
    CountDisplay,
    CVDisplay,
    EffectsDisplay,
    KernelDisplay,
    ScoresDisplay,
    StandInsDisplay,
    WeightPathDisplay,
    WeightsDisplay,
    best_by_count,
    fewest_within_error,
    spread_labels,
)
from kernelknife.stand_ins import StandIns, percent


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def chosen():
    X, y = make_sinusoidal(80, 5, random_state=0)
    return KnifeRegressorCV("rbf", alphas=[0.1, 1.0], sparsities=15, cv=3).fit(X, y)


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
def test_paths_of_any_width_are_labelled_without_overlap(noise):
    X, y = make_skin_of_orange(60, noise, random_state=0)
    path = knife_path(X, y, sparsities=12, start="laplace")
    display = path.plot()
    assert len(display.lines_) <= 15
    first = np.argmin(path.ranking)
    assert_allclose(display.lines_[0].get_ydata(), path.weights[:, first])
    assert f"x{first}" in labels(display.ax_)
    assert overlaps(display) == 0


def test_labels_are_spread_in_order():
    places = spread_labels([0.5, 0.5, 0.51, 0.1, 1.0, 1.0], 0.06)
    assert np.all(np.diff(np.sort(places)) >= 0.06 - 1e-12)
    assert places[3] == min(places)
    assert max(places) <= 1.0 + 1e-12


def test_the_chosen_penalty_is_marked_and_its_features_coloured(chosen):
    display = WeightPathDisplay.from_estimator(chosen)
    assert "chosen" in labels(display.ax_)
    assert len(display.lines_) == chosen.get_support().sum()


def test_cross_validation_shows_one_line_per_alpha(chosen):
    display = CVDisplay.from_estimator(chosen)
    assert len(display.lines_) == 2
    assert "min" in " ".join(labels(display.ax_))
    assert "mean squared error" in display.ax_.get_ylabel()
    results = chosen.cv_results_
    kind = chosen.weighting_ if chosen.alpha_ == 0.1 else "penalised"
    rows = (results["alpha"] == 0.1) & (results["weighting"] == kind)
    assert_allclose(display.lines_[0].get_ydata(), -results["mean_test_score"][rows])
    assert "features" in display.count_ax_.get_ylabel()


def test_convergence_shows_every_start():
    X, y = make_sinusoidal(60, 3, random_state=0)
    model = KnifeRegressor(n_starts=3, random_state=0, sparsity=2.0).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model)
    assert len(display.lines_) == 5
    text = [entry.get_text() for entry in display.ax_.get_legend().get_texts()]
    assert sum("(kept)" in entry for entry in text) == 1


def test_weights_as_bars():
    weights = np.zeros(200)
    weights[10:60] = np.linspace(0.1, 1.0, 50)
    display = WeightsDisplay(weights, [f"gene {j}" for j in range(200)]).plot()
    assert len(display.bars_) == 30
    assert "50 of 200" in display.ax_.get_title(loc="left")
    assert display.ax_.get_yticklabels()[0].get_text() == "gene 59"
    nothing = WeightsDisplay(np.zeros(5), list("abcde")).plot()
    assert "none of 5" in nothing.ax_.get_title(loc="left")


def test_kernel_before_and_after():
    X, y = make_skin_of_orange(60, 6, random_state=0)
    model = KnifeClassifier(sparsity=3.0).fit(X, y)
    display = KernelDisplay.from_estimator(model, X, y)
    order = np.argsort(y, kind="stable")
    _, after = model.kernel_matrices(X)
    assert_allclose(display.images_[1].get_array(), after[np.ix_(order, order)])
    assert [name for name, _ in display.groups] == ["0", "1"]


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
    surface = display.surfaces_[0]
    ax = display.axes_[len(display.lines_)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("left", "right")
    together = separate.effect("left", "right")
    assert_allclose(surface.get_array().T, together.values)


def test_effects_have_common_scales(separate):
    display = EffectsDisplay.from_estimator(separate, most=6)
    assert len({ax.get_ylim() for ax in display.axes_[: len(display.lines_)]}) == 1
    assert len({surface.get_clim() for surface in display.surfaces_}) == 1
    low, high = display.surfaces_[0].get_clim()
    assert low == -high
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
    display = EffectsDisplay.from_estimator(separate, most=2, axes=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes[:2])
    with pytest.raises(ValueError, match="3 effects need 3 axes, got 2"):
        EffectsDisplay.from_estimator(separate, most=3, axes=axes[:2])
    style = {"color": "red"}, {"cmap": "PuOr"}
    display = EffectsDisplay.from_estimator(separate, line_kwargs=style[0], surface_kwargs=style[1])
    assert display.lines_[0].get_color() == "red"
    assert display.surfaces_[0].get_cmap().name == "PuOr"


def test_given_axes_are_used(chosen):
    figure, axes = plt.subplots(1, 4)
    assert WeightPathDisplay.from_estimator(chosen, ax=axes[0]).figure_ is figure
    assert CVDisplay.from_estimator(chosen, ax=axes[1]).ax_ is axes[1]
    display = WeightsDisplay.from_estimator(chosen, ax=axes[2], bar_kwargs={"color": "red"})
    assert display.ax_ is axes[2]
    style = {"linewidth": 5.0}
    line = WeightPathDisplay.from_estimator(chosen, ax=axes[3], line_kwargs=style).lines_[0]
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
    wide = CountDisplay([900, 30, 3, 0], [0.1, 0.2, 0.3, 0.9], np.full(4, 0.02)).plot()
    assert wide.ax_.get_xscale() == "symlog"


def test_stand_ins_are_bars_and_sentences(rng):
    """One bar per stand-in, as long as the share that it makes up for."""
    x, z = rng.normal(size=(2, 100))
    X = np.column_stack([x, z, x + 0.1 * rng.normal(size=100), rng.normal(size=(100, 3))])
    path = knife_path(X, np.sin(x) + z, alpha=0.3)
    i = int(np.flatnonzero(path.n_selected == 2)[0])
    display = StandInsDisplay.from_path(path, i)
    named = [one for place in display.stand_ins for one in place.stand_ins]
    assert len(named) == len(display.bars_) == 1
    assert_allclose(display.bars_[0].patches[0].get_width(), named[0].makes_up)
    texts = [text.get_text() for text in display.ax_.texts]
    assert "nothing replaces it" in texts
    assert percent(named[0].cost) in texts
    assert display.stand_ins.plot().ax_ is not display.ax_


def test_a_picture_of_no_stand_ins_is_empty():
    display = StandInsDisplay(StandIns(())).plot()
    assert display.bars_ == []


# -- scores ---------------------------------------------------------------------------------------


def test_scores_are_drawn_where_they_are(rng):
    X = rng.normal(size=(40, 3))
    model = KnifePCA(weights=0.5).fit(X)
    display = ScoresDisplay.from_estimator(model, X)
    assert_allclose(display.dots_[0].get_offsets(), model.transform(X))
    assert display.ax_.get_xlabel() == "score 1"


def test_labels_give_colours_or_a_scale(rng):
    X = rng.normal(size=(40, 3))
    model = KnifePCA(1, weights=0.5).fit(X)
    kinds = np.where(X[:, 0] > 0, "up", "down")
    display = ScoresDisplay.from_estimator(model, X, labels=kinds)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["down", "up"]
    assert sum(len(dots.get_offsets()) for dots in display.dots_) == 40
    assert display.ax_.get_xlabel() == "row"
    scale = ScoresDisplay.from_estimator(model, X, labels=X[:, 1])
    assert_allclose(scale.dots_[0].get_array(), X[:, 1])
    assert len(scale.figure_.axes) == 2


def test_canonical_scores_are_drawn_against_each_other(rng):
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    model = KnifeCCA(weights=(0.5, 0.5)).fit(X, Y)
    display = ScoresDisplay.from_estimator(model, X, Y)
    f, g = model.transform(X, Y)
    assert_allclose(display.dots_[0].get_offsets(), np.hstack([f, g]))
    assert display.ax_.get_ylabel() == "score by y"
