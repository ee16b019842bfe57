"""Turning texts into columns of numbers."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.tables import TableEncoder, TableError, unseen_levels


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_the_encoder_gives_texts_one_group_and_ignores_new_ones():
    encoder = TableEncoder().fit(frame()[["x", "kind"]])
    assert list(encoder.feature_groups_) == ["x", "kind", "kind", "kind"]
    np.testing.assert_allclose(encoder.feature_costs, [1, 1 / 3, 1 / 3, 1 / 3])
    X = encoder.transform(pd.DataFrame({"kind": ["red", "violet"], "x": [1.0, 2.0], "more": 0}))
    np.testing.assert_array_equal(X, [[1, 0, 0, 1], [2, 0, 0, 0]])
    with pytest.raises(TableError, match="lacks columns that the model needs: kind"):
        encoder.transform(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(TableError, match=r"Column x holds texts \('hello' in row 1\)"):
        encoder.transform(pd.DataFrame({"x": ["hello"], "kind": ["red"]}))


def test_rare_levels_join_others_by_a_rule_learned_in_training():
    counts = {f"t{i:02d}": 8 if i < 30 else 2 for i in range(40)}
    towns = [town for town, n in counts.items() for _ in range(n)]
    encoder = TableEncoder().fit(pd.DataFrame({"town": towns}))
    assert encoder.levels_["town"] == [*sorted(counts)[:30], "(other)"]
    new = pd.DataFrame({"town": ["t03", "t35", "never seen", None]})
    X = encoder.transform(new)
    np.testing.assert_array_equal(X.sum(axis=1), [1, 1, 1, 0])
    np.testing.assert_array_equal(X[:3].argmax(axis=1), [3, 30, 30])
    (note,) = unseen_levels(encoder, new, ["town"])
    assert "2 rows hold values that the model has seldom or never seen" in note
    np.testing.assert_allclose(encoder.feature_costs.sum(), 1.0)


def test_no_more_levels_are_kept_than_can_be_learned():
    towns = np.repeat([f"t{i:03d}" for i in range(400)], 6)
    encoder = TableEncoder().fit(pd.DataFrame({"town": towns}))
    assert len(encoder.levels_["town"]) == 201


def test_ordered_categories_keep_their_order():
    grades = pd.Categorical(["low", "high", None, "mid"], ["low", "mid", "high"], ordered=True)
    encoder = TableEncoder().fit(pd.DataFrame({"grade": grades}))
    expected = [[0.0], [2.0], [np.nan], [1.0]]
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"grade": grades})), expected)
    texts = pd.DataFrame({"grade": ["low", "high", None, "mid"]})
    np.testing.assert_array_equal(encoder.transform(texts), expected)


def test_numbers_that_are_names_keep_their_names_beside_gaps():
    whole, with_gap = pd.DataFrame({"site": [1, 2, 7]}), pd.DataFrame({"site": [1, None, 7]})
    encoder = TableEncoder().fit(whole.astype(str))
    assert encoder.levels_["site"] == ["1", "2", "7"]
    X = encoder.transform(with_gap)
    np.testing.assert_array_equal(X, [[1, 0, 0], [0, 0, 0], [0, 0, 1]])
