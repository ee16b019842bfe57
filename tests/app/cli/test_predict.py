"""The command that predicts."""

import json
import os
import subprocess
import zipfile

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.tables import read_table

QUICK = ("--kernel", "rbf", "--alpha", "0.3", "--folds", "5", "--jobs", "1")


def test_select_saves_and_predict_reads(call, table, tmp_path):
    model, page = tmp_path / "model.kk", tmp_path / "page.html"
    code, _, err = call("select", table, "-t", "y", *QUICK, "--save", model, "--report", page)
    assert code == 0
    assert f"Model: {model}" in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    code, out, _ = call("predict", model, table, "--id", "kind")
    assert code == 0
    rows = [line.split(",") for line in out.splitlines()]
    assert rows[0] == ["kind", "predicted y"]
    y = pd.read_csv(table)["y"]
    assert np.corrcoef([float(row[1]) for row in rows[1:]], y)[0, 1] > 0.9
    code, out, _ = call("predict", model, table, "-o", tmp_path / "p.csv")
    assert (code, out) == (0, "")
    assert (tmp_path / "p.csv").is_file()
    assert not list(tmp_path.glob(".*"))


def test_predictions_into_a_pipe(call, table, tmp_path):
    model, pipe = tmp_path / "m.kk", tmp_path / "pipe"
    call("select", table, "-t", "y", *QUICK, "--save", model)
    _, expected, _ = call("predict", model, table)
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        code, _, err = call("predict", model, table, "-o", pipe)
        assert reader.communicate(timeout=60)[0] == expected
    assert (code, err) == (0, f"Predictions: {pipe}\n")
    assert pipe.is_fifo()


def test_predict_needs_the_selected_columns_only(call, table, tmp_path):
    model, new = tmp_path / "m.kk", tmp_path / "new.csv"
    call("select", table, "-t", "y", *QUICK, "-k", 2, "--save", model)
    _, out, _ = call("select", table, "-t", "y", *QUICK, "-k", 2, "--json")
    chosen = json.loads(out)["selected"]
    frame = pd.read_csv(table)[chosen]
    if "kind" in chosen:
        frame.loc[0, "kind"] = "violet"
    frame.to_csv(new, index=False)
    code, out, err = call("predict", model, new)
    assert code == 0
    assert len(out.splitlines()) == 91
    assert ("never seen (violet)" in err) == ("kind" in chosen)


@pytest.fixture
def kinds(tmp_path):
    """A table with two classes that one column tells apart, and the date of every row."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame["when"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    path = tmp_path / "kinds.csv"
    frame.to_csv(path, index=False)
    return path


def test_classes_come_with_probabilities(call, kinds, tmp_path):
    model, answer = tmp_path / "m.kk", tmp_path / "p.csv"
    drop = ("--drop", "when")
    call("select", kinds, "-t", "kind", *QUICK, *drop, "--save", model)
    call("predict", model, kinds, "-o", answer)
    learned = pd.read_csv(answer)
    assert list(learned.columns) == ["predicted kind", "probability of down", "probability of up"]
    up = learned["predicted kind"] == "up"
    assert learned["probability of up"][up].min() >= learned["probability of up"][~up].max()
    call("select", kinds, "-t", "kind", *QUICK, *drop, "--save", model, "--loss", "logistic")
    call("predict", model, kinds, "-o", answer)
    shares = pd.read_csv(answer)
    names = ["probability of down", "probability of up"]
    assert list(shares.columns) == ["predicted kind", *names]
    np.testing.assert_allclose(shares[names].sum(axis=1), 1.0)


def test_values_outside_the_training_range_are_said(call, kinds, tmp_path):
    model, far = tmp_path / "m.kk", tmp_path / "far.csv"
    call("select", kinds, "-t", "kind", *QUICK, "--drop", "when", "-k", 1, "--save", model)
    _, _, err = call("predict", model, kinds, "-o", tmp_path / "p.csv")
    assert "outside the range" not in err
    frame = pd.read_csv(kinds)
    frame.loc[[3, 7], "a"] = [50.0, 99.0]
    frame.to_csv(far, index=False)
    code, _, err = call("predict", model, far)
    assert code == 0
    assert "column a: 2 of 60 rows lie outside the range of the training rows" in err
    assert "the farthest at 99" in err


@pytest.mark.parametrize("ending", [".parquet", ".xlsx", ".csv"])
def test_predictions_in_every_format(call, kinds, tmp_path, ending):
    if ending == ".xlsx":
        pytest.importorskip("openpyxl")
    model, answer = tmp_path / "m.kk", tmp_path / f"p{ending}"
    call("select", kinds, "-t", "kind", *QUICK, "--dates", "days", "--save", model)
    code, _, err = call("predict", model, kinds, "-o", answer, "--id", "when")
    assert code == 0, err
    frame = read_table(answer)
    assert list(frame.columns) == [
        "when",
        "predicted kind",
        "probability of down",
        "probability of up",
    ]
    assert len(frame) == 60


def test_models_of_an_earlier_format_are_refused_in_one_sentence(call, kinds, tmp_path):
    """Types have moved to other modules since: none of them is looked for."""
    model = tmp_path / "m.kk"
    call("select", kinds, "-t", "kind", *QUICK, "--drop", "when", "--save", model)
    with zipfile.ZipFile(model) as archive:
        facts, data = (archive.read(name) for name in ("kernelknife.json", "model.json"))
    facts = json.loads(facts)
    del facts["format_version"]
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("kernelknife.json", json.dumps(facts))
        archive.writestr("model.json", data)
    assert call("predict", model, kinds) == (
        2,
        "",
        f"kernelknife: {model} was saved by an earlier state of kernelknife, whose models this one "
        "does not read. Save the model again with `kernelknife select --save`.\n",
    )


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_an_identifier_of_the_name_of_a_prediction_is_refused(call, kinds, tmp_path, ending):
    model, new = tmp_path / "m.kk", tmp_path / "new.csv"
    call("select", kinds, "-t", "kind", *QUICK, "--drop", "when", "--save", model)
    pd.read_csv(kinds).assign(**{"predicted kind": "up"}).to_csv(new, index=False)
    answer = tmp_path / f"p{ending}"
    code, _, err = call("predict", model, new, "--id", "predicted kind", "-o", answer)
    assert code == 2
    assert "'predicted kind' is repeated by --id and is the name of a column of predictions" in err
    assert not answer.exists()


def test_texts_that_a_spreadsheet_would_run_are_noted_and_kept(call, kinds, tmp_path):
    model, new, answer = tmp_path / "m.kk", tmp_path / "new.csv", tmp_path / "p.csv"
    call("select", kinds, "-t", "kind", *QUICK, "--drop", "when", "--save", model)
    frame = pd.read_csv(kinds).assign(name=["=1+1", "-5", *["x"] * 58])
    frame.to_csv(new, index=False)
    code, _, err = call("predict", model, new, "--id", "name", "-o", answer)
    assert code == 0
    assert "a spreadsheet would run '=1+1' as a formula" in err
    assert pd.read_csv(answer)["name"].tolist() == frame["name"].tolist()
    _, _, err = call("predict", model, kinds, "--id", "when", "-o", answer)
    assert "formula" not in err
