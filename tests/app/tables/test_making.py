"""Making a table of a data frame: guesses, doubts, refusals."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.tables import TableEncoder, TableError, make_table


def make(frame, target, **options):
    return make_table(frame, TableOptions(target=target, **options))


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_guesses_are_said():
    table = make(frame(flat=[7] * 12), "y")
    assert table.task == "classification"
    assert list(table.features.columns) == ["x", "kind"]
    notes = " / ".join(table.notes)
    assert "took the target y for 2 classes" in notes
    assert "left out constant columns: flat" in notes
    assert "1 of text, one weight each: kind" in notes
    assert make(frame(y=np.linspace(0, 1, 12)), "y").task == "regression"
    assert make(frame(y=np.arange(12)), "y").task == "regression"
    assert make(frame(y=np.arange(12) % 3), "y", task="regression").task == "regression"


def test_groups_ids_and_dropped_columns_are_no_features():
    data = frame(who=list("abcdefghijkl"), site=[1, 2] * 6, note=list("uvwxyzuvwxyz"))
    table = make(data, "y", ids=["who"], group="site", drop=["note"])
    assert list(table.features.columns) == ["x", "kind"]
    assert list(table.groups[:2]) == ["1", "2"]


def test_doubts_are_said():
    table = make(frame(id=np.arange(100, 112), x=[1.0, 2.0] * 6), "y")
    notes = " / ".join(table.notes)
    assert "column id looks like a row number" in notes
    doubled = pd.concat([frame(x=np.arange(12) / 3)] * 2, ignore_index=True)
    assert "12 rows are copies" in " / ".join(make(doubled, "y").notes)


def test_repeated_names_are_refused():
    twice = pd.concat([frame(), frame()[["x"]]], axis=1)
    with pytest.raises(TableError, match=r"same name: x\. Rename them"):
        make(twice, "y")
    with pytest.raises(TableError, match="same name: x"):
        TableEncoder().fit(twice)
    # The names 1 and "1" are different for pandas and the same for a file or an option.
    with pytest.raises(TableError, match="same name: 1"):
        make(frame(**{"1": range(12)}).assign(**{"2": 0}).rename(columns={"x": 1}), "y")


def test_only_data_frames_are_tables():
    with pytest.raises(TypeError, match=r"data frame of pandas or polars.*got ndarray"):
        make(np.zeros((20, 3)), "y")


def test_ways_on_with_missing_values():
    data = frame(x=[np.nan, *range(11)])
    dropped = make(data, "y", drop_missing=True)
    assert len(dropped.target) == 11
    assert "left out 1 of 12 rows" in dropped.notes[0]
    table = make(data, "y", impute="median")
    assert "filled in 1 missing values" in table.notes[0]
    assert "median of their column over all training rows of all folds" in table.notes[0]
    X = TableEncoder(impute="median").fit_transform(table.features)
    assert X[0, 0] == np.median(np.arange(11))


@pytest.mark.parametrize("kind", ["object", "category", "string"])
@pytest.mark.parametrize("number", ["float64", "Float64", "Int64"])
def test_gaps_are_filled_in_whatever_the_types(kind, number):
    data = frame(kind=[None, "red", "blue", "green"] * 3, x=[np.nan, *range(11)])
    typed = data.astype({"kind": kind, "x": number})
    table = make(typed, "y", impute="median")
    X = TableEncoder(impute="median").fit_transform(table.features)
    np.testing.assert_array_equal(X[:, 0], [5, *range(11)])
    np.testing.assert_array_equal(X[:5, 1:], np.eye(4)[[3, 2, 0, 1, 3]])


def test_an_empty_text_and_a_missing_one_are_one_level():
    data = pd.DataFrame({"kind": ["", None, "a", "b"]})
    X = TableEncoder(impute="median").fit_transform(data)
    np.testing.assert_array_equal(X, np.eye(3)[[0, 0, 1, 2]])


def test_columns_of_other_things_are_refused():
    for values in ([[1], [2]] * 6, [1j, 2j] * 6):
        with pytest.raises(TableError, match=r'Column x holds .*drop=\["x"\]'):
            make(frame(x=values), "y")


@pytest.mark.parametrize("way", [{"impute": "median"}, {"drop_missing": True}])
def test_rows_without_a_target_are_left_out(way):
    data = frame(x=[np.nan, *range(11)], y=[0, np.nan, 1, 0, 1, 0, None, 0, 1, 0, 1, 0])
    table = make(data, "y", **way)
    assert "left out 2 of 12 rows without a value of the target y" in table.notes
    assert len(table.features) == len(table.target) == 10 - way.get("drop_missing", 0)
    # The classes are the 0 and 1 of the file, not the 0.0 and 1.0 that pandas makes beside gaps.
    assert table.target.dtype.kind == "i"
    complete = data.dropna().reset_index(drop=True)
    assert make(complete, "y").task == table.task == "classification"


def test_columns_without_a_value_are_left_out():
    table = make(frame(empty=np.nan, void=None), "y")
    assert list(table.features.columns) == ["x", "kind"]
    assert "left out columns without any value: empty, void" in table.notes
    assert len(make(frame(empty=np.nan), "y", drop_missing=True).target) == 12


def test_a_table_with_variables_in_rows_is_recognized():
    genes = pd.DataFrame({"gene": ["kind", "g1", "g2"], "s1": ["a", 1, 2], "s2": ["b", 3, 4]})
    with pytest.raises(TableError, match=r"no column 'kind', but the first.*transpose=True"):
        make(genes, "kind")
    rng = np.random.default_rng(0)
    many = pd.DataFrame(rng.normal(size=(200, 6)), columns=[f"s{i}" for i in range(6)])
    many.insert(0, "gene", [f"g{i}" for i in range(200)])
    with pytest.raises(TableError, match=r"transpose=True\) if every row is a variable"):
        make(many, "s5")


def test_infinite_values_and_texts_are_named_at_once():
    data = pd.DataFrame(
        {"x": [1.0, np.inf, 3.0, 4.0], "when": ["2024-01-01"] * 4, "y": [1.0, 2.5, 3.0, 4.0]}
    )
    with pytest.raises(TableError, match=r"Infinite values in x \(1\).*Column when holds dates"):
        make(data, "y")


def test_gaps_are_kept_counted_and_levels_of_texts():
    data = pd.DataFrame(
        {
            "x": [1.0, None, 3.0, 4.0],
            "flag": pd.array([True, None, False, True], dtype="boolean"),
            "kind": ["a", "b", None, "a"],
            "y": [1.0, 2.5, 3.0, 4.0],
        }
    )
    table = make(data, "y")
    assert any("missing in x (1), flag (1), kind (1)" in note for note in table.notes)
    encoder = TableEncoder().fit(table.features)
    assert encoder.gaps_ == {"x": 1, "flag": 1, "kind": 1}
    X = encoder.transform(table.features)
    np.testing.assert_array_equal(np.isnan(X), [[0] * 5, [1, 1, 0, 0, 0], [0] * 5, [0] * 5])
    np.testing.assert_array_equal(X[:, 2:], np.eye(3)[[0, 1, 2, 0]])


def test_rows_keep_their_names_and_their_split():
    data = pd.DataFrame(
        {
            "who": ["ann", "bob", "cy", "di"],
            "x": [1.0, 2.0, None, 4.0],
            "part": ["train", "Test", "train", "Test"],
            "y": [None, 2.5, 3.0, 4.0],
        }
    )
    table = make(data, "y", ids="who", drop_missing=True, hold_out="part=Test")
    assert table.row_names.tolist() == ["bob", "di"]
    assert table.held_out.tolist() == [True, True]
    assert list(table.features.columns) == ["x"]
    numbered = make(data.drop(columns=["who", "part"]), "y", drop_missing=True)
    assert numbered.row_names.tolist() == ["row 2", "row 4"]
    with pytest.raises(TableError, match="No row with part=train is left"):
        make(data, "y", ids="who", drop_missing=True, hold_out="part=train")
    with pytest.raises(TableError, match=r"a share such as 0\.25, or a column"):
        make(data, "y", hold_out="part")
    with pytest.raises(TableError, match="'y' is the target"):
        make(data, "y", hold_out="y=4.0")
    with pytest.raises(TableError, match="'part' is the group"):
        make(data, "y", group="part", hold_out="part=Test")
    both = make(data, "y", ids=("who", "part"), drop_missing=True, hold_out="part=Test")
    assert both.row_names.tolist() == ["bob, Test", "di, Test"]
    noted = make(data.drop(columns="who"), "y", impute="median")
    assert any('hold_out="part=Test"' in doubt for doubt in noted.doubts)
