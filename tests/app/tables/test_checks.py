"""What makes a table unfit."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.tables import TableError, make_table


def make(frame, target, **options):
    return make_table(frame, TableOptions(target=target, **options))


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


BAD = {
    "unknown": (frame(), {"target": "Y"}, r"no column 'Y': did you mean 'y'"),
    "near": (frame(), {"target": "y", "drop": ["kin"]}, r"no column 'kin': did you mean 'kind'"),
    "one value": (frame(y=[1] * 12), {"target": "y"}, "one value only"),
    "no target": (frame(y=[None] * 12), {"target": "y"}, "has no value in any row"),
    "group gaps": (frame(g=[None, *range(11)]), {"target": "y", "group": "g"}, "Fill it in"),
    "all gaps": (
        frame(x=[None, 1] * 6, kind=["a", None] * 6), {"target": "y", "drop_missing": True},
        r'Every row.*x \(6\), kind \(6\).*drop=\["x", "kind"\].*do not use drop_missing=True'
    ),
    "infinite": (frame(x=[np.inf, *range(11)]), {"target": "y"}, r"Infinite values in x \(1\)"),
    "constant": (frame(x=0, kind="a"), {"target": "y"}, "All columns are constant"),
    "slips": (frame(x=["?", *map(str, range(11))]), {"target": "y"}, r'missing=\["\?"\]'),
    "alone": (frame()[["y"]], {"target": "y"}, "no column left"),
    "classes": (frame(y=list("abcdefghijkl")), {"target": "y"}, "too many classes"),
    "text number": (frame(y=["a", "b"] * 6), {"target": "y", "task": "regression"}, "holds texts"),
    "dates": (frame(x=["2024-01-02"] * 6 + ["2024-05-06"] * 6), {"target": "y"}, "holds dates"),
    "thousands": (frame(x=["1,234,000", "1,000"] * 6), {"target": "y"}, "000'.*thousands=\",\""),
    "some thousands": (frame(x=["999"] * 9 + ["1,234"] * 3), {"target": "y"}, 'thousands=","'),
    "dots": (frame(x=["1.234,5", "999,5"] * 6), {"target": "y"}, 'thousands=".", decimal=","'),
    "spaces": (frame(x=["1 234.5", "999.5"] * 6), {"target": "y"}, 'thousands=" "'),
    "target": (frame(y=["1,234,000", "999"] * 6), {"target": "y"}, 'thousands=","'),
    "percent": (frame(x=["51.3%", "7 %"] * 6), {"target": "y"}, r"'51.3%'\. Take the sign out"),
    "euros": (frame(x=["\u20ac1.20", "$ 7"] * 6), {"target": "y"}, "Take the sign out"),
    "commas": (frame(x=["1,5", "2,5"] * 6), {"target": "y"}, 'decimal=","'),
    "both": (frame(), {"target": "y", "impute": "median", "drop_missing": True}, "not both"),
}  # fmt: skip


def test_all_problems_are_named_at_once():
    data = frame(when=["2024-01-02", "2024-05-06"] * 6, dose=["?", *map(str, range(11))])
    with pytest.raises(TableError, match=r"Column when holds dates.*Column dose holds numbers"):
        make(data, "y")


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(case):
    data, arguments, message = BAD[case]
    with pytest.raises(TableError, match=message):
        make(data, **arguments)


def test_many_levels_with_rows_of_their_own_are_no_identifier():
    towns = np.repeat([f"town {i}" for i in range(45)], 4)
    data = pd.DataFrame({"town": towns, "y": [0, 1] * 90, "x": range(180)})
    assert "town" in make(data, "y").features
    few = data.head(60).assign(town=[f"town {i}" for i in range(60)])
    assert "town" in make(few, "y", levels=["town"]).features


def test_free_text_is_refused_with_a_way_out():
    said = [f"patient number {i} came back with pain" for i in range(60)]
    data = pd.DataFrame({"said": said, "y": [0, 1] * 30, "x": range(60)})
    with pytest.raises(TableError, match=r"free text .'patient number 0.*skrub.*feature_groups"):
        make(data, "y")


@pytest.mark.parametrize("where", ["y", "x"])
def test_levels_are_of_columns_that_are_used(where):
    data = frame()
    with pytest.raises(TableError, match="cannot have levels"):
        make(data, "y", levels=[where], drop=["x"])


def test_identifiers_are_recognized():
    data = pd.DataFrame({"name": [f"p{i}" for i in range(60)], "y": [0, 1] * 30, "x": range(60)})
    with pytest.raises(TableError, match=r'60 different texts .*drop=\["name"\].*group="name"'):
        make(data, "y")


def test_codes_of_which_half_look_like_numbers_are_not_advised_to_be_missing():
    codes = ["250", "401.9", "V27", "E11", "428"] * 12
    with pytest.raises(TableError, match=r"holds numbers and 24 other texts \(V27, E11\)") as told:
        make(pd.DataFrame({"icd": codes, "y": np.arange(60) % 7 * 1.5}), "y")
    assert "missing" not in str(told.value)
    assert "egin every code with a letter" in str(told.value)
    lettered = pd.DataFrame({"icd": [f"c{code}" for code in codes], "y": np.arange(60) % 7 * 1.5})
    assert list(make(lettered, "y").features) == ["icd"]


def test_a_word_among_numbers_may_be_a_missing_value():
    with pytest.raises(TableError, match=r'missing=\["unknown"\]'):
        make(pd.DataFrame({"x": [*"12345", "unknown"], "y": range(6)}), "y")


def test_one_column_of_numbers_is_no_columns():
    assert "1 column of numbers" in make(frame(), "y").notes
