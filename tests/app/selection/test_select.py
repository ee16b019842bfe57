"""The whole way from a data frame to an answer."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from kernelknife import KnifeClassifierCV
from kernelknife.app.selection import select_features
from kernelknife.app.tables import TableError
from kernelknife.kernels import Linear


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


def test_exact_numbers_and_given_penalties(frame):
    three = select_features(frame, "height", kernel="rbf", alpha=0.3, folds=3, n_features=3)
    assert len(three.selected) == 3
    given = select_features(frame, "height", kernel="rbf", alpha=0.3, folds=3, sparsity=4.0)
    assert given.model.sparsity_ == 4.0
    assert set(given.selected) == {"b", "kind"}


def test_long_tables_use_centers_and_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.sin(2 * X[:, 1]))
    selection = select_features(frame, "y", alpha=0.3, folds=2, rule="1se")
    assert selection.selected == ["b"]
    assert selection.search.path_.model(0).n_centers == 300
    # The chosen model is one that the folds have judged.
    assert selection.model.n_centers == 300


def test_rare_classes_are_named(frame):
    kind = ["EWS", "RMS"] * 50
    kind[3], kind[6], kind[8] = "EWS ", "BL", "BL"
    data = frame.assign(height=kind)
    message = (
        r"Every class of height needs 2 rows or more, and some have fewer: 'EWS ' \(1\)\. "
        "'EWS ' differs from 'EWS' only in blanks or capitals"
    )
    with pytest.raises(TableError, match=message):
        select_features(data, "height")
    with pytest.raises(TableError, match=r"'BL' \(2\), 'EWS ' \(1\)"):
        select_features(data, "height", folds=3)
    said = []
    found = select_features(
        data.drop(index=3), "height", folds=3, quick=True, kernel="linear", announce=said.append
    )
    assert any("too few rows of height to judge BL" in note for note in said)
    assert np.isnan(found.quality.class_errors[0])


@pytest.mark.parametrize(("rows", "quick"), [(3, False), (2, True)])
def test_a_rare_class_makes_fewer_folds_as_in_the_estimators(frame, rows, quick):
    kind = np.array(["EWS", "RMS" if quick else "EWS"] * 50)
    kind[:rows] = "BL"
    said = []
    data = frame.drop(columns="kind").assign(height=kind)
    selection = select_features(
        data, "height", kernel="linear", alpha=1.0, quick=quick, announce=said.append
    )
    assert f"{rows} folds, because the rarest class of height has {rows} rows" in said
    assert any(f"on {rows} folds of 100 rows" in line for line in said)
    splits = selection.search.splits_
    assert len(splits) == rows
    if not quick:  # which takes the rows in another order
        X, y = selection.encoder.transform(data), selection.table.target
        own = KnifeClassifierCV("linear", alphas=1.0, random_state=0).fit(X, y).splits_
        for mine, theirs in zip(splits, own, strict=True):
            np.testing.assert_array_equal(mine[1], theirs[1])


def test_few_rows_are_refused(frame):
    with pytest.raises(TableError, match="has 8 rows"):
        select_features(frame.head(8), "height")


def test_the_answer_is_json_whatever_the_question(frame):
    """Kernels, splitters and indices of pandas are no JSON, and are written as their text."""
    selection = select_features(
        frame, "height", kernel=Linear(), alpha=1.0, folds=KFold(2), drop=pd.Index(["c"])
    )
    settings = json.loads(json.dumps(selection.to_json()))["settings"]
    assert (settings["kernel"], settings["drop"]) == ("Linear()", ["c"])
    assert settings["folds"].startswith("KFold(n_splits=2")
    folds = [(np.arange(2), [np.int64(2)])]
    given = replace(selection.settings, folds=folds, alpha=np.float64(1))
    settings = replace(selection, settings=given).to_json()["settings"]
    assert (settings["folds"], settings["alpha"]) == ([[[0, 1], [2]]], 1.0)
    # All columns are compared by the kernel of the same kind, however it was named.
    assert selection.full_model == "kernel ridge regression with a linear kernel"


def test_more_folds_than_rows_are_refused_before_anything_is_announced(frame):
    said = []
    with pytest.raises(TableError, match="999 folds need as many rows, got"):
        select_features(frame, "height", folds=999, announce=said.append)
    assert said == []
