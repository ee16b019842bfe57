"""Reading text files with separators."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.tables import TableError, make_table, read_table, reading_notes


def make(frame, target, **options):
    return make_table(frame, TableOptions(target=target, **options))


TEXT = "a,b,kind,y\n1,2.5,red,0.1\n2,3.5,blue,0.2\n3,4.5,red,0.3\n"


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


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
    notes = reading_notes(table)
    assert sum("left out the first column" in note for note in notes) == named
    assert sum("took the text 'NA'" in note for note in notes) == ("NA" in EXPORTS[program])


def test_row_names_are_mentioned_among_the_guesses(tmp_path):
    path = tmp_path / "r.csv"
    frame().to_csv(path)
    notes = make(read_table(path), "y").notes
    assert "(0, 1, 2, 3, 4 and 7 more): give it a name to use it" in notes[0]


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_words_that_are_taken_for_missing_are_named(tmp_path):
    """A class may be called None, and would be left out with all of its rows without a word."""
    path = tmp_path / "pain.csv"
    path.write_text("pain,dose,land,old\nNone,1,NA,True\nmild,None,DE,None\nsevere,3,,True\n")
    frame = read_table(path)
    assert frame.isna().sum().tolist() == [1, 1, 2, 1]
    of_land, of_pain = reading_notes(frame)
    assert of_pain.startswith("took the text 'None' (1 in pain) for a missing value: write another")
    assert of_land.startswith("took the text 'NA' (1 in land) for a missing value")
    # No note where the separator was given.
    assert reading_notes(read_table(path, missing=["None", "NA"])) == []
