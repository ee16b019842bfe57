"""Excel workbooks: read like text files, written so that texts stay texts."""

import datetime
import io

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.tables import TableError, read_table, reading_notes
from kernelknife.app.tables.workbook import to_workbook

openpyxl = pytest.importorskip("openpyxl")


def save(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
    book.save(path)
    return path


def test_a_workbook_is_read_like_a_text_file(tmp_path):
    day = datetime.datetime(2024, 12, 31)
    rows = [
        [None, "dose", "kind", "when", "ok", "n"],
        ["s1", 1.5, "red", day, True, 3],
        [],
        ["s2", "#N/A", "a, b", day, False, 4.0],
        ["s3", 2.25, None, day.replace(hour=6), True, 5],
        [None] * 6,
    ]
    frame = read_table(save(tmp_path / "data.xlsx", Data=rows, Empty=[]))
    assert list(frame.columns) == ["dose", "kind", "when", "ok", "n"]
    np.testing.assert_array_equal(frame["dose"], [1.5, np.nan, 2.25])
    assert frame["kind"].tolist()[:2] == ["red", "a, b"]
    assert frame["when"].tolist() == ["2024-12-31", "2024-12-31", "2024-12-31 06:00:00"]
    assert frame["ok"].dtype.kind == "b"
    assert frame["n"].dtype.kind == "i"
    assert "left out the first column" in reading_notes(frame)[0]


def test_sheets_are_chosen_by_name(tmp_path):
    path = save(tmp_path / "two.xlsx", Read=[["a"], [1]], Other=[["b"], [2]])
    frame = read_table(path)
    assert list(frame.columns) == ["a"]
    assert (
        "read the sheet 'Read' of Read, Other (name another one, such as sheet="
        in reading_notes(frame)[0]
    )
    other = read_table(path, sheet="Other")
    assert (list(other.columns), reading_notes(other)) == (["b"], [])
    with pytest.raises(TableError, match="has no sheet 'Third': there are Read, Other"):
        read_table(path, sheet="Third")
    with pytest.raises(TableError, match="has no sheets"):
        read_table(tmp_path / "data.csv", sheet="Read")


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "data.xlsx"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="is not a readable Excel workbook"):
        read_table(path)
    with pytest.raises(TableError, match="is empty"):
        read_table(save(path, Data=[]))
    with pytest.raises(TableError, match="column 2 has no name"):
        read_table(save(path, Data=[["title", None], ["a", "b"], [1, 2]]))


def test_texts_stay_texts(tmp_path):
    frame = pd.DataFrame({"=1+1": ["=2+2", None, "bell\x07"], "n": [1.5, np.nan, 3.0]})
    rows = openpyxl.load_workbook(io.BytesIO(to_workbook(frame))).active
    cells = [[cell.value for cell in row] for row in rows.iter_rows()]
    assert cells == [["=1+1", "n"], ["=2+2", 1.5], [None, None], ["bell ", 3]]
    assert rows["A2"].data_type == "s"


def test_a_sheet_has_a_last_row():
    with pytest.raises(TableError, match="A sheet of Excel holds 1048575 rows"):
        to_workbook(pd.DataFrame({"a": np.zeros(2**20)}))
