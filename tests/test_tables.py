"""From files to columns: what is read, what is guessed, and what is refused in which words."""

import gzip

import numpy as np
import pandas as pd
import pytest

from kernelknife.tables import TableEncoder, TableError, make_table, read_table, reading_notes

TEXT = "a,b,kind,y\n1,2.5,red,0.1\n2,3.5,blue,0.2\n3,4.5,red,0.3\n"


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "name", ["data.csv", "data.tsv", "data.csv.gz", "data.parquet", "d.feather"]
)
def test_every_format_gives_the_same_frame(name, tmp_path):
    expected = pd.read_csv(write(tmp_path, TEXT, "plain.csv"))
    path = tmp_path / name
    if name.endswith("parquet"):
        expected.to_parquet(path)
    elif name.endswith("feather"):
        expected.to_feather(path)
    elif name.endswith("tsv"):
        path.write_text(TEXT.replace(",", "\t"))
    elif name.endswith("gz"):
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path.write_text(TEXT)
    pd.testing.assert_frame_equal(read_table(path), expected, check_dtype=False)


def test_semicolons_and_a_byte_order_mark(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + TEXT.replace(",", ";").encode())
    assert list(read_table(path).columns) == ["a", "b", "kind", "y"]


def test_spaces_after_the_separator_and_quotes(tmp_path):
    text = '"a", "b, in cm", "kind"\n1, 2.5, "red, dark"\n2, 3.5, "blue"\n'
    table = read_table(write(tmp_path, text))
    assert list(table.columns) == ["a", "b, in cm", "kind"]
    assert list(table["kind"]) == ["red, dark", "blue"]
    assert list(table["b, in cm"]) == [2.5, 3.5]


def test_thousands_are_read_where_they_are_announced(tmp_path):
    text = "price;y\n1.234.000,5;1\n999;2\n"
    table = read_table(write(tmp_path, text), decimal=",", thousands=".")
    assert list(table["price"]) == [1234000.5, 999.0]
    with pytest.raises(TableError, match="must be different"):
        read_table(write(tmp_path, text), decimal=",", thousands=",")


EXPORTS = {
    "R write.csv": '"","a","kind"\n"1",1.5,"red"\n"2",2.5,NA\n"3",3.5,"blue"\n',
    "R write.table": '"a" "kind"\n"1" 1.5 "red"\n"2" 2.5 NA\n"3" 3.5 "blue"\n',
    "R write.table with tabs": '"a"\t"kind"\n"x"\t1.5\t"red"\n"y"\t2.5\tNA\n"z"\t3.5\t"blue"\n',
    "pandas to_csv": ",a,kind\n0,1.5,red\n1,2.5,\n2,3.5,blue\n",
    "Excel": "sep=;\r\na;kind\r\n1.5;red\r\n2.5;\r\n3.5;blue\r\n",
    "quoted separators": '"a";"kind"\n1.5;red\n2.5;\n3.5;blue\n',
    "ends of lines": "a,kind,\n1.5,red,\n2.5,,\n3.5,blue,\n",
    "ends of lines but the first": "a,kind\n1.5,red,\n2.5,,\n3.5,blue,\n",
    "blank lines": "\n  \na,kind\n1.5,red\n2.5,\n3.5,blue\n\n \n",
    "aligned": "a    kind\n1.5  red\n2.5  NA\n3.5  blue\n",
}


@pytest.mark.parametrize("program", EXPORTS)
def test_exports_of_other_programs(program, tmp_path):
    table = read_table(write(tmp_path, EXPORTS[program]))
    expected = pd.DataFrame({"a": [1.5, 2.5, 3.5], "kind": ["red", None, "blue"]})
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    named = program.startswith(("R", "pandas"))
    assert ["left out the first column" in note for note in reading_notes(table)] == [True] * named


def test_row_names_are_mentioned_among_the_guesses(tmp_path):
    path = tmp_path / "r.csv"
    frame().to_csv(path)
    notes = make_table(read_table(path), "y").notes
    assert "(0, 1, 2, 3, 4 and 7 more): give it a name to use it" in notes[0]


REFUSED = {
    "empty": ("", "is empty"),
    "blank": ("\n\n  \n", "is empty"),
    "no names": (",,\n1,2,3\n4,5,6\n", "no names of columns"),
    "blank rows": ("a\n\t\n", "a header and no rows"),
    "header": ("a,b\n", "a header and no rows"),
    "ragged": ("a,b\n1,2\n1,2,3\n", r"line 3: 3 cells where the header has 2"),
    "short": ("a,b\n1\n", r"line 2: 1 cells where the header has 2"),
    "twice": ("a,b,a\n1,2,3\n", "columns of the same name: a"),
    "nameless": ("a,,b\n1,2,3\n", "column 2 has no name"),
    "latin": ("größe,y\n1,2\n".encode("latin-1"), r"byte 0xf6 in line 1.*--encoding latin-1"),
    "utf16": ("a,b\n1,2\n".encode("utf-16"), "--encoding utf-16"),
    "nameless copies": (",b\n1,2\n1,3\n", "column 1 has no name"),
    "after sep": ("sep=;\na;b\n1;2\n1;2;3\n", "line 4: 3 cells where the header has 2"),
    "excel": (b"PK\x03\x04 and so on", "save the sheet with the table as CSV"),
    "parquet": (b"PAR1 and so on", "give it the ending .parquet"),
    "zeros": (b"a,b\n\x00,1\n", "zero bytes"),
    "quote": ('a,b\n"1,2\n', "closing quote"),
    "gzip": (gzip.compress(TEXT.encode())[:-12], "not whole"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_files(case, tmp_path):
    content, message = REFUSED[case]
    with pytest.raises(TableError, match=message):
        read_table(write(tmp_path, content))


def test_missing_files_suggest_a_neighbour(tmp_path):
    write(tmp_path, TEXT, "patients.csv")
    with pytest.raises(TableError, match=r"no file .*patiens\.csv\. Did you mean .*patients\.csv"):
        read_table(tmp_path / "patiens.csv")
    with pytest.raises(TableError, match="folder without Parquet files"):
        read_table(tmp_path)


def test_a_folder_of_parquet_files(tmp_path):
    whole = frame()
    whole.iloc[:5].to_parquet(tmp_path / "a.parquet")
    whole.iloc[5:].to_parquet(tmp_path / "b.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path), whole, check_dtype=False)
    whole.iloc[5:].assign(x="text").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match="Column 'x' holds texts in some files"):
        read_table(tmp_path)
    whole.iloc[5:].drop(columns="kind").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"b\.parquet lacks the column 'kind'"):
        read_table(tmp_path)


def test_a_saved_index_is_no_column(tmp_path):
    import pyarrow.parquet

    data = frame()
    data.index = np.sort(np.random.default_rng(0).integers(0, 99, len(data)))
    data.to_parquet(tmp_path / "plain.parquet")
    data.rename_axis("patient").to_parquet(tmp_path / "named.parquet")
    data.set_index([data.index, data.index + 1]).to_parquet(tmp_path / "double.parquet")
    # Other tools keep the columns of a file and lose pandas' note of which of them is the index.
    stored = pyarrow.parquet.read_table(tmp_path / "plain.parquet").replace_schema_metadata()
    assert "__index_level_0__" in stored.column_names
    pyarrow.parquet.write_table(stored, tmp_path / "rewritten.parquet")
    renamed = stored.rename_columns(["x", "kind", "y", "__null_dask_index__"])
    pyarrow.parquet.write_table(renamed, tmp_path / "dask.parquet")
    for path in sorted(tmp_path.glob("*.parquet")):
        assert list(read_table(path).columns) == ["x", "kind", "y"], path.name
    whole = read_table(tmp_path)
    assert list(whole.columns) == ["x", "kind", "y"]
    assert len(whole) == 5 * len(data)


def test_broken_parquet(tmp_path):
    with pytest.raises(TableError, match="not a readable parquet file"):
        read_table(write(tmp_path, "not parquet", "data.parquet"))


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_guesses_are_said():
    table = make_table(frame(flat=[7] * 12), "y")
    assert table.task == "classification"
    assert list(table.features.columns) == ["x", "kind"]
    notes = " / ".join(table.notes)
    assert "took the target y for 2 classes" in notes
    assert "left out constant columns: flat" in notes
    assert "1 of text, one weight each: kind" in notes
    assert make_table(frame(y=np.linspace(0, 1, 12)), "y").task == "regression"
    assert make_table(frame(y=np.arange(12)), "y").task == "regression"
    assert make_table(frame(y=np.arange(12) % 3), "y", task="regression").task == "regression"


def test_groups_ids_and_dropped_columns_are_no_features():
    data = frame(who=list("abcdefghijkl"), site=[1, 2] * 6, note=list("uvwxyzuvwxyz"))
    table = make_table(data, "y", ids=["who"], group="site", drop=["note"])
    assert list(table.features.columns) == ["x", "kind"]
    assert list(table.groups[:2]) == ["1", "2"]


def test_columns_may_be_numbered_and_one_name_is_enough():
    data = frame().rename(columns={"x": 0, "kind": 1, "y": 2})
    table = make_table(data, 2, drop=[1])
    assert (table.target_name, list(table.features.columns)) == ("2", ["0"])
    assert list(make_table(frame(), "y", drop="kind").features.columns) == ["x"]


def test_doubts_are_said():
    table = make_table(frame(id=np.arange(100, 112), x=[1.0, 2.0] * 6), "y")
    notes = " / ".join(table.notes)
    assert "column id looks like a row number" in notes
    doubled = pd.concat([frame(x=np.arange(12) / 3)] * 2, ignore_index=True)
    assert "12 rows are copies" in " / ".join(make_table(doubled, "y").notes)


BAD = {
    "unknown": (frame(), {"target": "Y"}, r"no column 'Y': did you mean 'y'"),
    "near": (frame(), {"target": "y", "drop": ["kin"]}, r"no column 'kin': did you mean 'kind'"),
    "one value": (frame(y=[1] * 12), {"target": "y"}, "one value only"),
    "no target": (frame(y=[None] * 12), {"target": "y"}, "has no value in any row"),
    "group gaps": (frame(g=[None, *range(11)]), {"target": "y", "group": "g"}, "Fill it in"),
    "all gaps": (
        frame(x=[None, 1] * 6, kind=["a", None] * 6), {"target": "y", "drop_missing": True},
        r"Every row.*x \(6\), kind \(6\).*--drop, .*--impute median"
    ),
    "gaps": (frame(x=[np.nan, np.nan, *range(10)]), {"target": "y"}, r"2 of 12 rows: x \(2\)"),
    "infinite": (frame(x=[np.inf, *range(11)]), {"target": "y"}, r"Infinite values in x \(1\)"),
    "constant": (frame(x=0, kind="a"), {"target": "y"}, "All columns are constant"),
    "slips": (frame(x=["?", *map(str, range(11))]), {"target": "y"}, r"--missing '\?'"),
    "alone": (frame()[["y"]], {"target": "y"}, "no column left"),
    "classes": (frame(y=list("abcdefghijkl")), {"target": "y"}, "too many classes"),
    "text number": (frame(y=["a", "b"] * 6), {"target": "y", "task": "regression"}, "holds texts"),
    "dates": (frame(x=["2024-01-02"] * 6 + ["2024-05-06"] * 6), {"target": "y"}, "holds dates"),
    "thousands": (frame(x=["1,234,000", "1,000"] * 6), {"target": "y"}, "000'.*--thousands ,"),
    "some thousands": (frame(x=["999"] * 9 + ["1,234"] * 3), {"target": "y"}, "--thousands ,"),
    "dots": (frame(x=["1.234,5", "999,5"] * 6), {"target": "y"}, r"--thousands \. --decimal ,"),
    "spaces": (frame(x=["1 234.5", "999.5"] * 6), {"target": "y"}, "--thousands ' '"),
    "target": (frame(y=["1,234,000", "999"] * 6), {"target": "y"}, "--thousands ,"),
    "commas": (frame(x=["1,5", "2,5"] * 6), {"target": "y"}, "--decimal ,"),
    "both": (frame(), {"target": "y", "impute": "median", "drop_missing": True}, "not both"),
}  # fmt: skip


def test_a_column_that_is_not_there_among_thousands():
    columns = [f"gene{i}" for i in range(7000)] + ["Outcome ", "date of birth"]
    data = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    with pytest.raises(TableError, match=r"no column 'outcome': did you mean 'Outcome '\?"):
        make_table(data, "outcome")
    with pytest.raises(TableError, match=r"no column 'birth': did you mean 'date of birth'\?"):
        make_table(data, "birth")
    with pytest.raises(TableError, match=r"7002 columns, from gene0, .* to .*, date of birth\."):
        make_table(data, "survived")
    with pytest.raises(TableError, match=r"there are x, kind, y\."):
        make_table(frame(), "survived")


def test_all_problems_are_named_at_once():
    data = frame(when=["2024-01-02", "2024-05-06"] * 6, dose=["?", *map(str, range(11))])
    with pytest.raises(TableError, match=r"Column when holds dates.*Column dose holds numbers"):
        make_table(data, "y")


def test_repeated_names_are_refused():
    twice = pd.concat([frame(), frame()[["x"]]], axis=1)
    with pytest.raises(TableError, match=r"same name: x\. Rename them"):
        make_table(twice, "y")
    with pytest.raises(TableError, match="same name: x"):
        TableEncoder().fit(twice)
    # The names 1 and "1" are different for pandas and the same for a file or an option.
    with pytest.raises(TableError, match="same name: 1"):
        make_table(frame(**{"1": range(12)}).assign(**{"2": 0}).rename(columns={"x": 1}), "y")


def test_only_data_frames_are_tables():
    with pytest.raises(TypeError, match=r"frame must be a pandas DataFrame, got ndarray"):
        make_table(np.zeros((20, 3)), "y")


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(case):
    data, arguments, message = BAD[case]
    with pytest.raises(TableError, match=message):
        make_table(data, **arguments)


def test_identifiers_are_recognised():
    data = pd.DataFrame({"name": [f"p{i}" for i in range(60)], "y": [0, 1] * 30, "x": range(60)})
    with pytest.raises(TableError, match=r"60 different texts .*--drop 'name'.*--group 'name'"):
        make_table(data, "y")


def test_ways_on_with_missing_values():
    data = frame(x=[np.nan, *range(11)])
    dropped = make_table(data, "y", drop_missing=True)
    assert len(dropped.target) == 11
    assert "left out 1 of 12 rows" in dropped.notes[0]
    table = make_table(data, "y", impute="median")
    assert "filled in 1 missing values" in table.notes[0]
    assert "median of their column over all training rows of all folds" in table.notes[0]
    X = TableEncoder(impute="median").fit_transform(table.features)
    assert X[0, 0] == np.median(np.arange(11))


@pytest.mark.parametrize("kind", ["object", "category", "string"])
@pytest.mark.parametrize("number", ["float64", "Float64", "Int64"])
def test_gaps_are_filled_in_whatever_the_types(kind, number):
    data = frame(kind=[None, "red", "blue", "green"] * 3, x=[np.nan, *range(11)])
    typed = data.astype({"kind": kind, "x": number})
    table = make_table(typed, "y", impute="median")
    X = TableEncoder(impute="median").fit_transform(table.features)
    np.testing.assert_array_equal(X[:, 0], [5, *range(11)])
    np.testing.assert_array_equal(X[:5, 1:], np.eye(4)[[3, 2, 0, 1, 3]])


def test_an_empty_text_and_a_missing_one_are_one_level():
    data = pd.DataFrame({"kind": ["", None, "a", "b"]})
    X = TableEncoder(impute="median").fit_transform(data)
    np.testing.assert_array_equal(X, np.eye(3)[[0, 0, 1, 2]])


def test_columns_of_other_things_are_refused():
    for values in ([[1], [2]] * 6, [1j, 2j] * 6):
        with pytest.raises(TableError, match=r"Column x holds .*--drop 'x'"):
            make_table(frame(x=values), "y")


@pytest.mark.parametrize("way", [{"impute": "median"}, {"drop_missing": True}])
def test_rows_without_a_target_are_left_out(way):
    data = frame(x=[np.nan, *range(11)], y=[0, np.nan, 1, 0, 1, 0, None, 0, 1, 0, 1, 0])
    table = make_table(data, "y", **way)
    assert "left out 2 of 12 rows without a value of the target y" in table.notes
    assert len(table.features) == len(table.target) == 10 - way.get("drop_missing", 0)
    # The classes are the 0 and 1 of the file, not the 0.0 and 1.0 that pandas makes beside gaps.
    assert table.target.dtype.kind == "i"
    complete = data.dropna().reset_index(drop=True)
    assert make_table(complete, "y").task == table.task == "classification"


def test_columns_without_a_value_are_left_out():
    table = make_table(frame(empty=np.nan, void=None), "y")
    assert list(table.features.columns) == ["x", "kind"]
    assert "left out columns without any value: empty, void" in table.notes
    assert len(make_table(frame(empty=np.nan), "y", drop_missing=True).target) == 12


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
