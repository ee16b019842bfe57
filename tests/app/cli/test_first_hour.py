"""The mistakes of the first hour with the command: each ends in one clear sentence.

A mistake is a table, the words after ``kernelknife``, and what is said. Status 2 means that
something in the request was wrong: the last line of the errors says what, and nothing is written.
"""

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

ROWS = 40
QUICK = ("--alpha", "0.3", "--sparsity", "2", "--folds", "2", "--jobs", "1")


def plain():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["age", "dose", "bmi"]).round(3)
    return frame.assign(outcome=(frame["age"] ** 2 + frame["dose"]).round(3))


def csv(**changes):
    return plain().assign(**changes).to_csv(index=False)


def gaps():
    frame = plain()
    frame.loc[3, "dose"] = np.nan
    return frame.to_csv(index=False)


def with_classes(*odd):
    kinds = ["EWS", "RMS"] * (ROWS // 2)
    kinds[: len(odd)] = odd
    return csv(outcome=kinds)


def one_value(value, column="dose"):
    values = plain()[column].astype(object)
    values[5] = value
    return csv(**{column: values})


DAYS = pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d")
NAMES = [f"patient {i}" for i in range(ROWS)]
GENES = plain().T.rename_axis("gene").to_csv()
WIDE = pd.DataFrame(np.eye(12, 7000)).rename(columns="gene{}".format).assign(outcome_2=1.0)


@dataclass(frozen=True)
class Mistake:
    """A file, the words of the command (DATA is the file), and the sentence that must come."""

    content: str | bytes
    words: str
    sentence: str
    name: str = "data.csv"


TARGET = "select DATA --target outcome"
MISTAKES = {
    "a file that is not there": Mistake(
        csv(), "select dat.csv --target outcome", "There is no file dat.csv. Did you mean data.csv?"
    ),
    "a target that is not there": Mistake(
        csv(), "select DATA --target outcom", "There is no column 'outcom': did you mean 'outcome'?"
    ),
    "a target among 7,000 columns": Mistake(
        WIDE.to_csv(index=False), TARGET, "There is no column 'outcome': did you mean 'outcome_2'?"
    ),
    "an identifier as the target": Mistake(
        csv(outcome=NAMES), TARGET, "too many classes. Name another column if it is an id"
    ),
    "a text to be predicted as a number": Mistake(
        with_classes(), f"{TARGET} --task regression", "holds texts, which is no number to predict"
    ),
    "a target of one value": Mistake(csv(outcome=1.0), TARGET, "The target outcome has one value"),
    "two ways to treat gaps": Mistake(
        gaps(),
        f"{TARGET} --impute median --drop-missing",
        "not both. Use --impute median alone, or use --drop-missing alone.",
    ),
    "infinite values": Mistake(one_value("inf"), TARGET, "Infinite values in dose (1). Replace"),
    "dates, and a slip in another column": Mistake(
        csv(born=DAYS, dose=[*["1.5"] * 39, "low"]),
        TARGET,
        "Column dose holds numbers and 1 other text (low). If they stand for missing values, use "
        "--missing low. Column born holds dates. Turn them into numbers with --dates days",
    ),
    "dates where none are": Mistake(
        csv(), f"{TARGET} --dates days", "Dates are to become days, but no column holds dates"
    ),
    "days and months that cannot be told apart": Mistake(
        csv(born="01/02/2024"), f"{TARGET} --dates days", "Write them as 2024-12-31."
    ),
    "names of patients": Mistake(
        csv(who=NAMES),
        TARGET,
        "Column who has 40 different texts in 40 rows. Use --levels who if its texts are levels "
        "all the same, leave it out with --drop who if",
    ),
    "genes in rows": Mistake(
        GENES, TARGET, "have its variables in rows. Exchange rows and columns with --transpose."
    ),
    "decimal commas": Mistake(
        plain().to_csv(index=False, sep=";", decimal=","), TARGET, "Use --decimal , if"
    ),
    "commas between thousands": Mistake(
        csv(dose="1,234,000"), TARGET, "Use --thousands , if the commas separate thousands"
    ),
    "another encoding": Mistake(
        csv(dose="caf\u00e9").encode("latin-1"), TARGET, "for example with --encoding latin-1"
    ),
    "a torn line": Mistake(csv() + "1,2\n", TARGET, "line 42: 2 cells where the header has 4"),
    "an empty file": Mistake("", TARGET, "data.csv is empty."),
    "a workbook with the ending of text": Mistake(
        b"PK\x03\x04rest", TARGET, "give a workbook the ending .xlsx"
    ),
    "text with the ending of a workbook": Mistake(
        csv(), TARGET, "is not a readable Excel workbook", name="data.xlsx"
    ),
    "a class of a single row": Mistake(
        with_classes("EWS "), TARGET, "'EWS ' differs from 'EWS' only in blanks or capitals."
    ),
    "more columns than there are": Mistake(
        csv(), f"{TARGET} --features 9", "9 features asked for, the table has 3 to choose from."
    ),
    "a number and a penalty": Mistake(
        csv(), f"{TARGET} --features 2 --sparsity 1", "Give a sparsity or a number of features"
    ),
    "a loss for another task": Mistake(csv(), f"{TARGET} --loss hinge", "hinge"),
    "class weights of a number": Mistake(
        csv(), f"{TARGET} --class-weight balanced", "the target outcome is a number."
    ),
    "fewer groups than folds": Mistake(
        csv(ward=["a", "b"] * 20), f"{TARGET} --group ward", "5 folds need as many groups, got 2"
    ),
    "rows to hold out that are not there": Mistake(
        csv(split=["train", "test"] * 20),
        f"{TARGET} --hold-out split=exam",
        "No row has split=exam: there are test, train.",
    ),
    "holding out without a value": Mistake(
        csv(), f"{TARGET} --hold-out some", "a share such as 0.25, or a column and its value"
    ),
    "a report over the data": Mistake(
        csv(), f"{TARGET} --report data.csv", "is read by this command and would be overwritten"
    ),
    "a report where no folder is": Mistake(
        csv(), f"{TARGET} --report no/r.html", "there is no folder"
    ),
    "a model that is none": Mistake(csv(), "predict DATA DATA", "is no model of kernelknife"),
    "predictions in an old format": Mistake(
        csv(), "predict m.kk DATA -o p.xls", "Use the ending .xlsx."
    ),
}


def test_there_are_twenty_at_least():
    assert len(MISTAKES) >= 20


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_ends_in_one_sentence(name, call, tmp_path, monkeypatch):
    mistake = MISTAKES[name]
    if mistake.name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    content = mistake.content
    (tmp_path / mistake.name).write_bytes(content.encode() if isinstance(content, str) else content)
    words = mistake.words.replace("DATA", mistake.name).split()
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    *before, last = err.splitlines()
    assert last.startswith("kernelknife: ")
    assert mistake.sentence in last
    # Guesses may stand before it, and nothing else.
    assert not any(line.startswith("kernelknife: ") for line in before)
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [mistake.name], "something was written"


# What used to be a mistake and is none: the command goes on and says what it has done.
FORGIVEN = {
    "an index without a name": (plain().to_csv(), "left out the first column, which has no name"),
    "a header one cell short": (
        "\n".join([csv().splitlines()[0], *plain().to_csv(header=False).splitlines()]),
        "left out the first column",
    ),
    "Excel's line of the separator": ("sep=;\n" + csv().replace(",", ";"), "3 columns of numbers"),
    "an empty column": (csv(nothing=""), "left out columns without any value: nothing"),
    "rows without a target": (
        one_value("", "outcome"),
        "left out 1 of 40 rows without a value of the target outcome",
    ),
    "a constant column": (csv(site="north"), "left out constant columns: site"),
    "a column that splits the rows": (csv(split=["train", "test"] * 20), "--hold-out split=test"),
    "a row number": (
        csv(row=range(ROWS)),
        "column row looks like a row number (leave it out with --drop row)",
    ),
}


@pytest.mark.parametrize("name", FORGIVEN)
def test_what_can_be_put_right_is_put_right_and_said(name, call, tmp_path):
    content, note = FORGIVEN[name]
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    code, out, err = call("select", path, "--target", "outcome", *QUICK)
    assert code in (0, 1)
    assert "age" in out
    assert note in err


def test_a_rare_class_of_three_leaves_the_folds_as_they_are(call, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(with_classes("BL", "BL"), encoding="utf-8")
    code, _, err = call("select", path, "--target", "outcome", "--kernel", "linear", *QUICK[:4])
    assert code in (0, 1)
    assert "comparing linear on 10 folds of 40 rows" in err


def test_without_openpyxl_the_extra_is_named(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / "data.xlsx"
    path.write_bytes(b"PK\x03\x04")
    code, _, err = call("select", path, "--target", "outcome")
    assert code == 2
    assert "needs openpyxl: pip install 'kernelknife[excel]'" in err


def test_a_table_without_the_models_columns(call, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "m.kk"
    path.write_text(csv())
    call("select", path, "--target", "outcome", *QUICK, "--save", model)
    plain().drop(columns="age").to_csv(path, index=False)
    code, out, err = call("predict", model, path, "-o", tmp_path / "p.csv")
    assert (code, out) == (2, "")
    assert err == "kernelknife: The table lacks columns that the model needs: age.\n"
    assert not (tmp_path / "p.csv").exists()
