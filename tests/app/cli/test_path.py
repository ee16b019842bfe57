"""The command that follows a path."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd


def test_path(call, table, tmp_path):
    csv, picture = tmp_path / "path.csv", tmp_path / "path.svg"
    code, out, _ = call("path", table, "-t", "y", "--points", 12, "--csv", csv, "--plot", picture)
    assert code == 0
    assert out.splitlines()[1].startswith("x0\t1")
    weights = pd.read_csv(csv)
    assert list(weights.columns[:2]) == ["sparsity", "x0"]
    assert b"<svg" in picture.read_bytes()
    code, out, _ = call("path", table, "-t", "y", "--points", 5, "--json")
    answer = json.loads(out)
    assert answer["ranking"][0] == answer["relevance"][0] == "x0"
    assert answer["searched_products"] == {"pairs": 90, "triples": 90}
    assert "Products of" not in out


def test_relevance_stands_beside_the_elimination_order_and_is_explained(call, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(80, 5)), columns=list("abcde"))
    frame["copy"] = frame["a"] + 0.05 * rng.normal(size=80)
    frame["y"] = np.sin(2 * frame["a"])
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = call("path", tmp_path / "data.csv", "-t", "y", "--points", 20)
    assert code == 0
    head, *lines = out.splitlines()
    assert head.split("\t")[:3] == ["column", "elimination order", "relevance"]
    order = {line.split("\t")[0]: line.split("\t")[2] for line in lines if "\t" in line}
    assert {order["a"], order["copy"]} == {"1", "2"}
    assert "fewest that suffice" in out
    assert "everything that matters" in out


def test_standard_input(table):
    run = subprocess.run(
        [sys.executable, "-m", "kernelknife", "path", "-", "-t", "y", "--points", "4", "--json"],
        input=table.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)["ranking"][0] == "x0"
