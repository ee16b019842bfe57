"""Tables as files: the ending names the format."""

import io
import sys

import pandas as pd
import pytest

from kernelknife.app.tables import TableError, check_format, read_table, table_bytes

FRAME = pd.DataFrame({"name": ["a", "b,c"], "value": [1.5, 2.0]})


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx", ".out"])
def test_what_is_written_is_read_again(ending, tmp_path):
    if ending == ".xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"table{ending}"
    path.write_bytes(table_bytes(FRAME, path))
    pd.testing.assert_frame_equal(read_table(path), FRAME, check_dtype=False)


def test_parquet_has_no_index():
    frame = pd.read_parquet(io.BytesIO(table_bytes(FRAME.iloc[::-1], "p.parquet")))
    assert list(frame.columns) == ["name", "value"]


def test_formats_are_checked_before_the_work(monkeypatch):
    check_format("predictions.csv")
    with pytest.raises(TableError, match=r"Use the ending \.xlsx"):
        check_format("predictions.xls")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"needs openpyxl: pip install 'kernelknife\[excel\]'"):
        check_format("predictions.xlsx")
