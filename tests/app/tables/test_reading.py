"""Reading a table from a file."""

import gzip

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.tables import TableError, read_table

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


REFUSED = {
    "empty": ("", "is empty"),
    "blank": ("\n\n  \n", "is empty"),
    "no names": (",,\n1,2,3\n4,5,6\n", "no names of columns"),
    "blank rows": ("a\n\t\n", "a header and no rows"),
    "header": ("a,b\n", "a header and no rows"),
    "ragged": ("a,b\n1,2\n1,2,3\n", r"line 3: 3 cells where the header has 2"),
    "short": ("a,b\n1\n", r"line 2: 1 cell where the header has 2"),
    "twice": ("a,b,a\n1,2,3\n", "columns of the same name: a"),
    "nameless": ("a,,b\n1,2,3\n", "column 2 has no name"),
    "latin": ("größe,y\n1,2\n".encode("latin-1"), r"byte 0xf6 in line 1.*encoding=\"latin-1\""),
    "utf16": ("a,b\n1,2\n".encode("utf-16"), 'encoding="utf-16"'),
    "nameless copies": (",b\n1,2\n1,3\n", "column 1 has no name"),
    "after sep": ("sep=;\na;b\n1;2\n1;2;3\n", "line 4: 3 cells where the header has 2"),
    "excel": (b"PK\x03\x04 and so on", "give a workbook the ending .xlsx"),
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


def test_missing_files_suggest_a_neighbor(tmp_path):
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


GENES = "gene,s1,s2,s3\nkind,up,down,up\ng1,1.5,2.5,3.5\ng2,4,,6\n"


@pytest.mark.parametrize("text", [GENES, GENES.replace("gene,", ""), GENES.replace(",", "\t")])
def test_variables_in_rows(tmp_path, text):
    path = tmp_path / "genes.csv"
    path.write_text(text)
    frame = read_table(path, transpose=True)
    assert list(frame.columns) == ["kind", "g1", "g2"]
    assert frame["g1"].tolist() == [1.5, 2.5, 3.5]
    assert frame["g2"].isna().tolist() == [False, True, False]
    assert frame["kind"].tolist() == ["up", "down", "up"]


def test_what_cannot_be_transposed(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene,s1\ng1,1,2\ng2,1\n")
    with pytest.raises(TableError, match=r"row 3: 2 cells where the first row has 3"):
        read_table(path, transpose=True)
    with pytest.raises(TableError, match="Only text files and Excel workbooks"):
        read_table(tmp_path / "genes.parquet", transpose=True)
