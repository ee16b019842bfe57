"""Tables without a target: from data frames to columns, and what cannot be used."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.report import build_exploration, build_relation
from kernelknife.app.tables import TableError


@pytest.fixture
def heaps(rng):
    """Two heaps that two columns of numbers and one of texts show, among noise."""
    heap = rng.integers(0, 2, 120)
    frame = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    frame["b"] += 4.0 * heap
    frame["d"] -= 4.0 * heap
    frame["kind"] = np.where(heap > 0, "tall", "short")
    frame["name"] = [f"r{i}" for i in range(120)]
    frame["heap"] = heap
    return frame


@pytest.fixture
def tables(rng):
    left = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    right = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("xyz"))
    right["y"] = left["b"] ** 2 + 0.1 * rng.normal(size=150)
    return left, right


def test_a_text_column_has_one_weight_and_the_color_no_part(heaps):
    found = explore_table(heaps, color="heap", ids=["name"], n_components=1)
    assert set(found.selected) == {"b", "d", "kind"}
    assert set(found.weights) == {*"abcdef", "kind"}
    assert list(found.weights.values()) == sorted(found.weights.values(), reverse=True)
    assert found.scores.shape == (120, 1)
    assert (found.color == heaps["heap"]).all()
    apart = abs(np.corrcoef(found.scores[:, 0], heaps["heap"])[0, 1])
    assert apart > 0.95


def test_incomplete_rows_are_kept_left_out_or_filled_in(heaps):
    heaps.loc[[3, 7], "a"] = np.nan
    assert len(explore_table(heaps, ids=["name", "heap"]).scores) == 120
    found = explore_table(heaps, ids=["name"], color="heap", drop_missing=True)
    assert len(found.scores) == len(found.color) == 118
    assert any("left out 2 of 120 rows" in note for note in found.notes)
    assert len(explore_table(heaps, ids=["name", "heap"], impute="median").scores) == 120


def test_bad_requests_get_a_sentence(heaps):
    with pytest.raises(TableError, match="There is no column 'hep': did you mean 'heap'"):
        explore_table(heaps, color="hep")
    with pytest.raises(TableError, match="fewer than 10"):
        explore_table(heaps[:6], ids=["name", "kind", "heap"])


def test_two_tables_by_order_and_by_name(tables):
    left, right = tables
    found = relate_tables(left, right)
    assert (found.selected(0), found.selected(1)) == (["b"], ["y"])
    assert found.sure
    keys = [f"k{i}" for i in range(150)]
    shuffled = right.assign(key=keys).sample(frac=1.0, random_state=0)[:140]
    joined = relate_tables(left.assign(key=keys), shuffled, on="key")
    assert (joined.selected(0), joined.selected(1)) == (["b"], ["y"])
    assert joined.n_rows == 140
    assert any("left out 10 rows" in note for note in joined.notes)
    json = found.to_json()["pairs"][0]
    assert json["selected"] == [["b"], ["y"]]
    assert json["p_value"] < 0.01


def test_rows_that_are_incomplete_in_one_table_leave_both(tables):
    left, right = tables
    left.loc[0, "a"], right.loc[[0, 5], "z"] = np.nan, np.nan
    assert relate_tables(left, right, drop_missing=True, hold_out=0.0).n_rows == 148


def test_a_repeated_name_of_a_row_is_shown_as_it_stands():
    frame = pd.DataFrame({"id": [1, 2, 2], "a": [1.0, 2.0, 3.0]})
    with pytest.raises(TableError, match="'2' stands there more than once"):
        relate_tables(frame, frame, on="id")


def test_tables_that_do_not_fit_get_a_sentence(tables):
    left, right = tables
    with pytest.raises(TableError, match="150 rows and the second 20"):
        relate_tables(left, right[:20])
    with pytest.raises(TableError, match="no column 'key'"):
        relate_tables(left, right, on="key")
    with pytest.raises(TableError, match="more than once"):
        relate_tables(left.assign(k=1), right.assign(k=1), on="k")
    with pytest.raises(TableError, match="no column 'q'"):
        relate_tables(left, right, drop=["q"])
    unsure = relate_tables(left[["a", "c"]], right[["x", "z"]], hold_out=0.0)
    assert not unsure.sure
    assert "p_value" not in unsure.to_json()["pairs"][0]


def test_dates_become_numbers_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(40) * 9, unit="D")
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(visit=days)
    with pytest.raises(TableError, match=r'dates=\["days"\]'):
        explore_table(frame)
    found = explore_table(frame, dates=["days"], n_features=2)
    assert "visit (days)" in found.encoder.columns_
    # Of two tables one alone may have dates.
    relation = relate_tables(frame, frame[["a", "b"]], dates=["days"])
    assert "visit (days)" in relation.weights[0][0]
    with pytest.raises(TableError, match="no column holds dates"):
        relate_tables(frame[["a", "b"]], frame[["c"]], dates=["days"])


def test_keys_that_are_not_shared_are_said():
    rng = np.random.default_rng(0)
    left = pd.DataFrame({"key": range(20), "a": rng.normal(size=20)})
    right = pd.DataFrame({"key": [f"p{i}" for i in range(20)], "b": rng.normal(size=20)})
    with pytest.raises(TableError, match="share no value of key: the first holds 0, 1"):
        relate_tables(left, right, on="key")


def test_keys_join_as_texts_and_rows_without_one_are_left_out():
    rng = np.random.default_rng(0)
    left = pd.DataFrame({"key": range(22), "a": rng.normal(size=22)})
    texts = [None, None, *map(str, range(2, 22))]
    right = pd.DataFrame({"key": texts, "b": left["a"] + rng.normal(size=22)})
    found = relate_tables(left, right, on="key")
    assert found.n_rows == 20
    assert any("2 rows without a value of key" in note for note in found.notes)


def test_columns_of_noise_are_not_said_to_go_together():
    """Of five genes named as going with a protein, four were noise."""
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(110, 30)), columns=[f"g{i}" for i in range(30)])
    proteins = pd.DataFrame(rng.normal(size=(110, 12)), columns=[f"p{i}" for i in range(12)])
    proteins["p7"] = genes["g9"] + 0.5 * rng.normal(size=110)
    found = relate_tables(genes, proteins)
    assert found.sure
    stable = [[name for name, tier in found.tiers(k).items() if tier == "stable"] for k in (0, 1)]
    assert stable == [["g9"], ["p7"]]
    assert "<b>g9</b> of the first table and <b>p7</b> of the second" in build_relation(found)
    noise = relate_tables(genes, proteins.drop(columns="p7"))
    assert not noise.sure
    assert noise.tiers(0) == noise.tiers(1) == {}
    assert 'class="tier' not in build_relation(noise)


def test_columns_of_an_exploration_have_tiers_beyond_chance_alone(heaps):
    noise = heaps[["a", "c", "e", "f"]]
    with pytest.warns(UserWarning, match="share no component"):
        found = explore_table(noise)
    assert not found.sure
    assert found.tiers == {}
    page = build_exploration(found)
    assert "Nothing beyond chance" in page
    assert 'class="tier' not in page
    heap = explore_table(heaps, ids=["name"], color="heap", n_components=1)
    assert {name for name, tier in heap.tiers.items() if tier == "stable"} == {"b", "d", "kind"}
    assert heap.to_json()["finding"]


def test_rows_of_groups_and_series_are_permuted_together():
    rng = np.random.default_rng(3)
    walks = np.cumsum(rng.normal(size=(100, 6)), axis=0)
    left = pd.DataFrame(walks[:, :3], columns=list("abc"))
    right = pd.DataFrame(walks[:, 3:], columns=list("xyz"))
    assert relate_tables(left, right).sure
    assert not relate_tables(left, right, blocks=5).sure
    groups = np.repeat(rng.normal(size=(20, 6)), 5, axis=0) + 0.3 * rng.normal(size=(100, 6))
    grouped = pd.DataFrame(groups, columns=list("abcxyz"))
    grouped["who"] = np.repeat([f"p{i}" for i in range(20)], 5)
    with pytest.warns(UserWarning, match="share no component"):
        explore_table(grouped, group="who")
    related = relate_tables(grouped[["a", "b", "c", "who"]], grouped[["x", "y", "z"]], group="who")
    assert not related.sure
