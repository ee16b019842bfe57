"""The command that predicts."""

import json
import os
import subprocess

import numpy as np
import pandas as pd

QUICK = ("--alpha", "0.3", "--folds", "3", "--jobs", "1")


def test_select_saves_and_predict_reads(call, table, tmp_path):
    model, page = tmp_path / "model.skops", tmp_path / "page.html"
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
    model, new = tmp_path / "m.skops", tmp_path / "new.csv"
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
