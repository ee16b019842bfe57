"""The command that relates two tables."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def pair(tmp_path):
    rng = np.random.default_rng(0)
    left = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    right = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("xyz"))
    right["y"] = np.sin(2.0 * left["b"]) + 0.1 * rng.normal(size=120)
    paths = tmp_path / "left.csv", tmp_path / "right.csv"
    left.to_csv(paths[0], index=False)
    right.to_csv(paths[1], index=False)
    return paths


def test_relate(call, pair, tmp_path):
    report = tmp_path / "report.html"
    code, out, _ = call("relate", *pair, "--report", report)
    assert code == 0
    assert "\tb\t" in out.splitlines()[1]
    assert "\ty\t" in out.splitlines()[2]
    page = report.read_text()
    assert "correlation on held-out rows" in page
    assert page.count("<use ") >= 120


def test_relate_as_json(call, pair):
    code, out, _ = call("relate", *pair, "--json", "--hold-out", 0.4)
    assert code == 0
    found = json.loads(out)["pairs"][0]
    assert found["selected"] == [["b"], ["y"]]
    assert found["p_value"] < 0.05


def test_tables_without_a_relation_say_so(call, pair):
    code, out, _ = call("relate", *pair, "--drop", "y")
    assert code == 1
    assert "No sure finding" in out


def test_what_cannot_be_related(call, pair):
    code, _, err = call("relate", "-", "-")
    assert code == 2
    assert "Only one" in err
    pd.read_csv(pair[1])[:50].to_csv(pair[1], index=False)
    code, _, err = call("relate", *pair)
    assert code == 2
    assert "120 rows and the second 50" in err


def test_a_table_is_not_related_to_itself(call, table, tmp_path):
    code, out, err = call("relate", table, table)
    assert (code, out) == (2, "")
    assert "each goes together with itself" in err
    other = tmp_path / "other.csv"
    frame = pd.read_csv(table)
    rng = np.random.default_rng(0)
    pd.DataFrame({"x0": frame["x0"], "z": rng.normal(size=len(frame))}).to_csv(other, index=False)
    _, _, err = call("relate", table, other, "--drop", "kind")
    assert "x0: the same values in both tables" in err
