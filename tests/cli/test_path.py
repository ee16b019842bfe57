"""The command that follows a path."""

import json
import subprocess
import sys

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
    assert json.loads(out)["ranking"][0] == "x0"


def test_standard_input(table):
    run = subprocess.run(
        [sys.executable, "-m", "kernelknife", "path", "-", "-t", "y", "--points", "4", "--json"],
        input=table.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)["ranking"][0] == "x0"
