"""What each selected column does to the prediction."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.selection import select_features


def test_effects_follow_the_truth(selection):
    effects = {effect.name: effect for effect in selection.effects}
    curve = effects["b"].curves["prediction"]
    expected = np.sin(2 * np.array(effects["b"].values))
    assert np.corrcoef(curve, expected)[0, 1] > 0.95
    oak = dict(zip(effects["kind"].values, effects["kind"].curves["prediction"], strict=True))
    assert oak["oak"] - oak["ash"] == pytest.approx(1.5, abs=0.3)


def test_several_classes_get_one_curve_each(frame):
    data = frame.assign(height=pd.qcut(frame["b"], 3, labels=["low", "mid", "high"]).astype(str))
    selection = select_features(data, "height", kernel="rbf", alpha=0.3, folds=3, rule="1se")
    assert selection.selected == ["b"]
    assert set(selection.effects[0].curves) == {"score of low", "score of mid", "score of high"}


@pytest.fixture(scope="module")
def together():
    """A product of two numbers, a slope that one text has, a curve and a column of levels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 3] = rng.integers(0, 3, 200)
    kind = rng.choice(["oak", "ash", "elm"], 200)
    y = 2 * X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 2 * (X[:, 3] == 1) * X[:, 2]
    y += 3 * (kind == "oak") * X[:, 4] + (kind == "ash")
    frame = pd.DataFrame(X, columns=["left", "right", "wave", "level", "slope"])
    return select_features(
        frame.assign(kind=kind, y=y), "y", kernel="anova", alpha=0.1, folds=2, sparsity=2.0
    )


def test_a_sum_of_effects_is_shown_as_it_is(together):
    effects = {effect.name: effect for effect in together.effects}
    assert all(effect.separate for effect in together.effects)
    column = together.encoder.columns_.index("wave")
    truth = together.model.effect(column)
    wave = effects["wave"]
    at_values = np.interp(wave.values, truth.grids[0], truth.values)
    np.testing.assert_allclose(wave.curves["adds to the prediction"], at_values)
    assert len(wave.values) > 25
    level = effects["level"]
    np.testing.assert_allclose(level.values, [0.0, 1.0, 2.0], atol=1e-12)


def test_a_text_is_shown_by_averages_around_zero(together):
    (kind,) = (effect for effect in together.effects if effect.name == "kind")
    curve = dict(zip(kind.values, kind.curves["adds to the prediction"], strict=True))
    assert curve["ash"] - curve["elm"] == pytest.approx(1.0, abs=0.3)
    counts = together.table.features["kind"].value_counts()
    mean = sum(curve[level] * counts[level] for level in counts.index) / counts.sum()
    assert abs(mean) < 0.2


def test_what_acts_together_has_the_names_of_the_table(together):
    found = {frozenset(pair.names): pair for pair in together.interactions}
    assert {"left", "right"} == set(together.interactions[0].names)
    assert {frozenset(("slope", "kind")), frozenset(("wave", "level"))} <= found.keys()
    shares = [pair.share for pair in together.interactions]
    assert len(shares) <= 8
    assert shares == sorted(shares, reverse=True)
    assert min(shares) > 0.005
    # All pairs of a number and a column of the text are one pair for the reader.
    owner = together.encoder.feature_groups_
    parts = [
        effect.share
        for effect in together.model.effects()
        if {owner[j] for j in effect.columns} == {"slope", "kind"}
    ]
    assert len(parts) == 3
    assert found[frozenset(("slope", "kind"))].share == pytest.approx(sum(parts))


def test_surfaces_are_those_of_the_model(together):
    found = {pair.names: pair.surface for pair in together.interactions}
    assert found["slope", "kind"] is None, "a text has no axis of numbers"
    assert sum(surface is not None for surface in found.values()) <= 4
    surface = found["left", "right"]
    x, y = ((edges[1:] + edges[:-1]) / 2 for edges in surface.edges)
    assert np.shape(surface.values) == (len(x), len(y))
    X = np.zeros((1, together.encoder.feature_groups_.size))
    X[0, :2] = x[5], y[17]
    _, exact = together.model.effect_values(X)
    shown = np.asarray(surface.values)[5, 17]
    np.testing.assert_allclose(shown, exact["x0", "x1"][0, 0], atol=0.02)
    assert [len(edges) for edges in found["wave", "level"].edges] == [25, 4], "a cell for a level"
    assert surface.output == "adds to the prediction"


def test_order_one_has_no_interactions_and_other_kernels_have_averages(frame, selection):
    assert selection.interactions == ()
    assert not any(effect.separate for effect in selection.effects)
    added = select_features(frame, "height", kernel="additive", alpha=0.3, folds=2, rule="1se")
    assert added.interactions == ()
    assert all(effect.separate for effect in added.effects)
    assert added.to_json()["interactions"] == []


def test_surfaces_of_several_classes_name_one_of_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    kind = np.where(X[:, 0] * X[:, 1] > 0.3, "far", np.where(X[:, 2] > 0, "up", "down"))
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=kind)
    found = select_features(frame, "kind", kernel="anova", alpha=0.3, folds=2, sparsity=2.0)
    pair = found.interactions[0]
    assert pair.names == ("a", "b")
    assert pair.surface.output == "adds to the score of far"
    assert set(found.effects[0].curves) == {
        f"adds to the score of {label}" for label in ("far", "up", "down")
    }
    first = found.to_json()["interactions"][0]
    assert (first["names"], first["share"]) == (["a", "b"], pair.share)
