"""Messages name arguments to who calls Python, and flags that exist to who uses the command."""

import copy
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from kernelknife.app.cli import main
from kernelknife.app.cli.app import app
from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.messages import Hint, InputError, Message, spelled
from kernelknife.app.options import FLAGS, as_flags, in_command
from kernelknife.app.selection import find_warnings, select_features
from kernelknife.app.tables import read_table

ROWS = 40


def plain():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["age", "dose", "bmi"]).round(3)
    return frame.assign(y=(frame["age"] ** 2 + frame["dose"]).round(3))


def with_gap(row=3):
    frame = plain()
    frame.loc[row, "dose"] = np.nan
    return frame


def put(**columns):
    return plain().assign(**columns)


def with_classes(*odd):
    kinds = ["EWS", "RMS"] * (ROWS // 2)
    kinds[: len(odd)] = odd
    return put(y=kinds)


DAYS = pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d")
NAMES = [f"patient {i}" for i in range(ROWS)]
GROUPED = {"group": "ward"}
# A data frame, options, and which of the options the message names.
REFUSED = {
    "gaps everywhere": (
        put(dose=[np.nan, 1.0] * 20, bmi=[1.0, np.nan] * 20), {"drop_missing": True},
        {"drop", "drop_missing"},
    ),
    "both ways": (
        with_gap(), {"impute": "median", "drop_missing": True}, {"impute", "drop_missing"}
    ),
    "infinite": (put(dose=[np.inf, *range(39)]), {}, {"drop"}),
    "dates": (put(born=DAYS), {}, {"dates", "drop"}),
    "dates in two columns": (put(born=DAYS, died=DAYS), {}, {"dates", "drop"}),
    "ambiguous dates": (put(born="01/02/2024"), {"dates": ("days",)}, set()),
    "no dates": (plain(), {"dates": ("days",)}, set()),
    "slips": (put(dose=["?", *map(str, range(39))]), {}, {"missing"}),
    "names": (put(who=NAMES), {}, {"drop", "group", "levels", "transpose"}),
    "thousands": (put(dose="1,234,000"), {}, {"thousands", "decimal"}),
    "dots": (put(dose="1.234,5"), {}, {"thousands", "decimal"}),
    "spaces": (put(dose="1 234"), {}, {"thousands"}),
    "commas": (put(dose="1,5"), {}, {"decimal"}),
    "percent": (put(dose="15 %"), {}, set()),
    "in rows": (plain().T.rename_axis("gene").reset_index().rename(columns=str), {}, {"transpose"}),
    "many classes": (
        put(y=np.arange(ROWS)), {"task": "classification"}, {"task"}
    ),
    "names as target": (put(y=NAMES), {}, set()),
    "text as a number": (with_classes(), {"task": "regression"}, {"task"}),
    "no column": (plain(), {"drop": ("doze",)}, set()),
    "the target left out": (plain(), {"drop": ("y",)}, set()),
    "gaps in the group": (put(ward=["a", None] * 20), GROUPED, {"drop_missing"}),
    "few groups": (put(ward=["a", "b"] * 20), GROUPED, {"folds"}),
    "a rare class": (with_classes("EWS "), {}, set()),
    "classes rarer than folds": (with_classes(*["RMS"] * 36), {"folds": 3}, {"folds"}),
    "many folds": (plain(), {"folds": 99}, {"folds"}),
    "sparsity and number": (
        plain(),
        {"sparsity": 1.0, "n_features": 2},
        {"sparsity", "n_features"},
    ),
    "many features": (plain(), {"n_features": 9}, {"n_features"}),
    "negative alpha": (plain(), {"alpha": -1.0}, set()),
    "no processes": (plain(), {"n_jobs": 0}, {"n_jobs"}),
    "weights of a number": (plain(), {"class_weight": "balanced"}, set()),
    "another loss": (plain(), {"loss": "hinge"}, {"task"}),
    "no share": (plain(), {"hold_out": 1.5}, {"hold_out"}),
    "no such rows": (put(split=["train", "test"] * 20), {"hold_out": "split=exam"}, set()),
    "no column and value": (plain(), {"hold_out": "some"}, set()),
    "both rates": (plain(), {"stability": True, "fdr": 0.1}, set()),
    "no rate": (plain(), {"fdr": 1.5}, set()),
    "a number without stability": (plain(), {"max_false": 2.0}, {"stability"}),
    "knockoffs of texts": (put(kind=["a", "b"] * 20), {"fdr": 0.1}, {"stability", "drop"}),
    "knockoffs of groups": (
        put(ward=np.arange(ROWS) // 4), {**GROUPED, "fdr": 0.1}, {"stability"}
    ),
    "knockoffs of copies": (
        plain().assign(same=lambda frame: frame["age"]), {"fdr": 0.1, "alpha": 1.0}, {"drop"}
    ),
}  # fmt: skip
FILES = {
    "another encoding": ("a,y\ncaf\u00e9,1\n".encode("latin-1"), {}, {"encoding"}),
    "utf-16": ("a,y\n1,2\n".encode("utf-16"), {}, {"encoding"}),
    "torn": (b"a,y\n1,2\n1\n", {}, set()),
    "empty": (b"", {}, set()),
    "marks": (b"a,y\n1,2\n", {"decimal": ",", "thousands": ","}, set()),
    "long mark": (b"a,y\n1,2\n", {"decimal": ",,"}, set()),
    "no sheets": (b"a,y\n1,2\n", {"sheet": "x"}, set()),
    "no encoding": (b"a,y\n1,2\n", {"encoding": "martian"}, set()),
}
SELECT = get_command(app).commands["select"]
KNOWN = {flag for parameter in SELECT.params for flag in parameter.opts}


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["kernelknife", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    return capsys.readouterr().err.splitlines()[-1].removeprefix("kernelknife: ")


def check_both(in_python, in_the_command, named):
    """A message of Python has no flags, that of the command has those of the same arguments."""
    assert "--" not in in_python
    assert all(f"{name}=" in in_python for name in named), in_python
    flags = set(re.findall(r"--[a-z-]+", in_the_command))
    assert flags == {FLAGS[name] for name in named}, in_the_command
    assert flags <= KNOWN
    assert not re.search(r"\b(read_table|save_model)\b|\w=[\"\[]", in_the_command)


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_spelled_for_python_and_for_the_command(case, tmp_path, monkeypatch, capsys):
    frame, options, named = REFUSED[case]
    with pytest.raises(ValueError, match=r"[.?]$") as refusal:
        select_features(frame, "y", **options)
    frame.to_csv(tmp_path / "data.csv", index=False)
    flags = as_flags({"n_jobs": 1, **options})
    shown = run(monkeypatch, capsys, "select", tmp_path / "data.csv", "-t", "y", *flags)
    check_both(str(refusal.value), shown, named)


@pytest.mark.parametrize("case", FILES)
def test_so_is_the_refusal_of_a_file(case, tmp_path, monkeypatch, capsys):
    content, options, named = FILES[case]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        read_table(path, **options)
    shown = run(monkeypatch, capsys, "select", path, "-t", "y", *as_flags(options))
    check_both(str(refusal.value), shown, named)


def test_notes_and_warnings_name_arguments():
    frame = put(row=range(ROWS), split=["train", "test"] * 20, y=[0, 1] * 20, kind=["a", None] * 20)
    frame.loc[0, "y"] = 2
    frame.loc[1:3, "y"] = 2
    said = []
    selection = select_features(
        frame, "y", quick=True, alpha=0.3, impute="median", announce=said.append
    )
    notes = [*said, *find_warnings(selection)]
    assert not any("--" in note for note in notes)
    classes = 'if it is a number, use task="regression", or if it counts something, use loss="poi'
    assert any(classes in note for note in notes)
    assert any('use hold_out="split=test")' in note for note in notes)
    assert any("select without quick=True." in note for note in notes)
    assert 'Column row looks like a row number. Leave it out with drop=["row"].' in notes
    flags = {flag for note in notes for flag in re.findall(r"--[a-z-]+", spelled(note, in_command))}
    assert {"--task", "--loss", "--hold-out", "--quick", "--drop"} <= flags <= KNOWN


def test_tables_without_a_target_name_arguments():
    with pytest.raises(ValueError, match=r'with dates=\["days"\]') as refusal:
        explore_table(put(born=DAYS))
    assert "--dates days" in spelled(refusal.value, in_command)
    with pytest.raises(ValueError, match=r'such as on="age"\.$') as refusal:
        relate_tables(plain(), plain()[:20])
    assert spelled(refusal.value, in_command).endswith("such as --on age.")


def test_no_command_names_a_flag_that_it_lacks(tmp_path, monkeypatch, capsys):
    """A path has no groups and holds no rows out, and a table without a target even less."""
    path = tmp_path / "data.csv"
    for frame, named in (
        (put(who=NAMES), {"--drop", "--levels", "--transpose"}),
        (put(split=["train", "test"] * 20, dose="1,5"), {"--decimal"}),
    ):
        frame.to_csv(path, index=False)
        for words in (["path", path, "-t", "y"], ["explore", path], ["relate", path, path]):
            shown = run(monkeypatch, capsys, *words)
            assert set(re.findall(r"--[a-z-]+", shown)) == named
    notes = explore_table(put(split=["train", "test"] * 20), n_features=2).notes
    assert any(note.endswith("split the rows into training and test") for note in notes)


def test_hints_follow_a_sentence_and_stand_in_parentheses_after_a_note():
    hints = Hint("leave it out with {}", {"drop": ["a b"]}), Hint("give up")
    assert Message("It is bad.", *hints) == (
        'It is bad. Leave it out with drop=["a b"], or give up.'
    )
    note = Message("it is bad", *hints)
    assert note == 'it is bad (leave it out with drop=["a b"], or give up)'
    assert note.spelled(in_command) == "it is bad (leave it out with --drop 'a b', or give up)"
    assert Message("It is bad.") == "It is bad."


def test_names_of_columns_are_copied_as_they_are():
    for name in ("{}", "{0}", "it's", 'a "quoted" one', "--drop"):
        error = InputError(f"Column {name} is bad.", Hint("use {}", {"drop": [name]}))
        assert f"Column {name} is bad." in str(error)
        (value,) = re.findall(r"drop=(\[.*\])", str(error))
        assert eval(value) == [name]


def test_messages_keep_their_hints_when_they_are_copied():
    message = Message("it is bad", Hint("use {}", {"quick": True}))
    for twin in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert (twin, twin.hints) == (message, message.hints)
    both = InputError.of_all([InputError("One."), InputError("Two.", Hint("use {}", {"fdr": 0.1}))])
    again = pickle.loads(pickle.dumps(both))
    assert str(again) == "One. Two. Use fdr=0.1."
    assert spelled(again, in_command) == "One. Two. Use --fdr 0.1."
