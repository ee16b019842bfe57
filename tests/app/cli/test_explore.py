"""The command that explores a table without a target."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def heaps(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 5)), columns=list("abcde"))
    heap = rng.integers(0, 2, 100)
    frame[["b", "d"]] += 4.0 * heap[:, None]
    frame["<heap>"] = np.where(heap > 0, "one & two", "<b>")
    path = tmp_path / "heaps.csv"
    frame.to_csv(path, index=False)
    return path


def test_explore(call, heaps, tmp_path):
    report, scores = tmp_path / "report.html", tmp_path / "scores.csv"
    files = ["--report", report, "--scores", scores]
    code, out, _ = call("explore", heaps, "--color", "<heap>", *files)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "2 of 5 columns carry the components"
    assert {line.split("\t")[0] for line in lines[3:5]} == {"b", "d"}
    assert pd.read_csv(scores).shape == (100, 2)
    page = report.read_text()
    assert "2 columns carry the components" in page
    assert "&lt;heap&gt;" in page
    assert "<b></text>" not in page
    assert page.count("<use ") >= 100
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_explore_as_json_with_a_number_of_columns(call, heaps):
    code, out, _ = call("explore", heaps, "--drop", "<heap>", "-k", 2, "--components", 1, "--json")
    assert code == 0
    answer = json.loads(out)
    assert set(answer["selected"]) == {"b", "d"}
    assert np.shape(answer["scores"]) == (100, 1)


def test_a_name_that_is_not_there(call, heaps):
    code, _, err = call("explore", heaps, "--color", "heap")
    assert code == 2
    assert "did you mean '<heap>'" in err


def test_one_column_shares_no_component(call, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a\n" + "\n".join(map(str, range(1, 41))) + "\n")
    code, out, err = call("explore", path)
    assert (code, out) == (2, "")
    assert "Only one column is left to explore (a)" in err
