"""The whole way from a data frame to an answer."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score

from kernelknife.datasets import make_skin_of_orange
from kernelknife.selection import select_features
from kernelknife.selection.splitting import split_held_out
from kernelknife.tables import TableError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 5))
    kind = rng.choice(["oak", "ash", "elm"], 100)
    height = np.sin(2 * X[:, 1]) + 1.5 * (kind == "oak") + 0.1 * rng.normal(size=100)
    return pd.DataFrame(X, columns=list("abcde")).assign(kind=kind, height=height)


@pytest.fixture(scope="module")
def selection(frame):
    return select_features(frame, "height", alpha=0.3, folds=4, rule="1se")


def test_a_text_column_has_one_weight(selection):
    assert set(selection.selected) == {"b", "kind"}
    assert [f.name for f in selection.features][:2] == selection.selected
    assert all(f.frequency == 1.0 for f in selection.features[:2])
    assert selection.better


def test_a_text_column_costs_what_a_number_costs(frame):
    """The slope of the least objective in the penalty is the sum of costs times weights.

    It must be the sum of the weights of the table's columns, so every column has cost 1.
    """
    slope, step = 0.0, 0.1
    for sign in (-1, 1):
        near = select_features(frame, "height", alpha=0.3, folds=2, sparsity=2.0 + sign * step)
        slope += sign * near.model.objective_ / (2 * step)
    middle = select_features(frame, "height", alpha=0.3, folds=2, sparsity=2.0)
    weights = {feature.name: feature.weight for feature in middle.features}
    assert weights["kind"] > 0.1, "otherwise its cost does not show"
    # The central difference is exact up to the square of the step.
    assert slope == pytest.approx(sum(weights.values()), rel=0.02)


def test_the_number_of_levels_does_not_change_the_penalty():
    """A text that tells two kinds apart stays about as long with 2 levels as with 24."""
    rng = np.random.default_rng(0)
    big, number = rng.integers(0, 2, 240), rng.normal(size=240)
    frame = pd.DataFrame({"x": number, "y": 2.0 * big + np.sin(2 * number)})
    frame["few"] = np.where(big == 1, "big", "small")
    frame["many"] = [f"{kind}{i % 12}" for i, kind in enumerate(frame["few"])]
    stays = {}
    for kind in ("few", "many"):
        selection = select_features(frame[["x", "y", kind]], "y", alpha=0.3, folds=2)
        path = selection.search.path_
        j = selection.encoder.columns_.index(kind)
        column = selection.encoder.first_columns[j]
        stays[kind] = path.sparsities[np.flatnonzero(path.weights[:, column])[-1]]
    assert stays["many"] > 0.2 * stays["few"], stays


def test_the_constant_is_judged_on_the_same_folds(selection, frame):
    scores = cross_val_score(
        DummyRegressor(), frame[["a"]], frame["height"], cv=selection.search.splits_,
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    assert selection.constant_error.mean == pytest.approx(-scores.mean())


def test_effects_follow_the_truth(selection):
    effects = {effect.name: effect for effect in selection.effects}
    curve = effects["b"].curves["prediction"]
    expected = np.sin(2 * np.array(effects["b"].values))
    assert np.corrcoef(curve, expected)[0, 1] > 0.95
    oak = dict(zip(effects["kind"].values, effects["kind"].curves["prediction"], strict=True))
    assert oak["oak"] - oak["ash"] == pytest.approx(1.5, abs=0.3)


def test_exact_numbers_and_given_penalties(frame):
    three = select_features(frame, "height", alpha=0.3, folds=3, n_features=3)
    assert len(three.selected) == 3
    given = select_features(frame, "height", alpha=0.3, folds=3, sparsity=4.0)
    assert given.model.sparsity_ == 4.0
    assert set(given.selected) == {"b", "kind"}


def test_rows_held_out_take_no_part(frame):
    whole = select_features(frame, "height", alpha=0.3, folds=3, hold_out=0.25)
    assert sum(len(test) for _, test in whole.search.splits_) == 75
    assert whole.held_out.error < 0.5 * whole.held_out.constant
    assert whole.held_out.rows == 25


def test_medians_come_from_the_rows_that_are_not_held_out(frame):
    gaps = frame.assign(a=frame["a"].where(frame["a"].index % 7 != 0))
    whole = select_features(gaps, "height", impute="median", alpha=0.3, folds=2, hold_out=0.3)
    train, held = split_held_out(whole.table, 0.3, 0)
    assert len(held) == whole.held_out.rows == 30
    assert whole.encoder.medians_["a"] == gaps["a"].iloc[train].median()
    assert whole.encoder.medians_["a"] != gaps["a"].median()


def test_groups_are_held_out_whole():
    X, y = make_skin_of_orange(80, 2, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, who=np.arange(80) // 4)
    selection = select_features(frame, "y", group="who", alpha=1.0, folds=3, hold_out=0.25)
    table, who = selection.table, selection.table.groups
    train, held = split_held_out(table, 0.25, 0)
    assert selection.held_out.rows == len(held) == 20
    assert not set(who[train]) & set(who[held])
    for rows, tested in selection.search.splits_:
        assert len(rows) + len(tested) == 60
        assert not set(who[train][rows]) & set(who[train][tested])
    # Without groups the same rows are drawn one by one, and groups are torn apart.
    train, held = split_held_out(replace(table, groups=None), 0.25, 0)
    assert set(who[train]) & set(who[held])


def test_several_classes_get_one_curve_each(frame):
    data = frame.assign(height=pd.qcut(frame["b"], 3, labels=["low", "mid", "high"]).astype(str))
    selection = select_features(data, "height", alpha=0.3, folds=3, rule="1se")
    assert selection.selected == ["b"]
    assert set(selection.effects[0].curves) == {"score of low", "score of mid", "score of high"}


def test_noise_is_rarely_a_finding():
    """Choosing penalties on the folds that judge them must not turn luck into a verdict."""
    findings = 0
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        frame = pd.DataFrame(rng.normal(size=(80, 10)), columns=list("abcdefghij"))
        frame["y"] = rng.permutation(np.repeat(["a", "b"], 40))
        findings += select_features(frame, "y", folds=5, alpha=1.0).better
    assert findings <= 1


def test_long_tables_use_centers_and_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.sin(2 * X[:, 1]))
    selection = select_features(frame, "y", alpha=0.3, folds=2, rule="1se")
    assert selection.selected == ["b"]
    assert "machines on 300 centres" in " ".join(selection.table.notes)


def test_rare_classes_are_named(frame):
    kind = ["EWS", "RMS"] * 50
    kind[3], kind[6], kind[8] = "EWS ", "BL", "BL"
    data = frame.assign(height=kind)
    message = (
        r"5 folds need 5 rows of every class of height.*: 'BL' \(2\), 'EWS ' \(1\)\. 'EWS ' "
        "differs from 'EWS' only in blanks or capitals"
    )
    with pytest.raises(TableError, match=message):
        select_features(data, "height")
    with pytest.raises(TableError, match=r"'BL' \(2\).*or use --folds 2"):
        select_features(data.drop(index=3), "height", folds=3)


def test_few_rows_are_refused(frame):
    with pytest.raises(TableError, match="has 8 rows"):
        select_features(frame.head(8), "height")
