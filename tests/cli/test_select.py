"""The command that selects."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd

from kernelknife.cli._select import show
from kernelknife.datasets import make_sinusoidal
from kernelknife.report import build_report
from kernelknife.selection import HeldOut, Score, select_features

QUICK = ("--alpha", "0.3", "--folds", "3", "--jobs", "1")


def test_select_prints_the_columns(call, table):
    code, out, err = call("select", table, "--target", "y", *QUICK)
    assert code == 0
    lines = [line.split("\t")[0] for line in out.splitlines()]
    assert {"x0", "x1", "x2", "kind"} <= set(lines)
    assert "columns selected for y" in out
    assert "took the target y for a number" in err
    assert "Traceback" not in err


def test_select_as_json(call, table):
    code, out, _ = call("select", table, "-t", "y", *QUICK, "--json", "--drop", "x7", "-k", 3)
    answer = json.loads(out)
    assert code == 0
    assert len(answer["selected"]) == 3
    assert "kind" in answer["selected"]
    assert answer["error"]["mean"] < answer["error"]["constant"]
    assert "x7" not in [feature["name"] for feature in answer["features"]]
    assert answer["settings"]["n_features"] == 3


def test_columns_that_act_together_are_printed(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    path = tmp_path / "together.csv"
    frame.assign(y=frame["a"] * frame["c"] + frame["b"]).to_csv(path, index=False)
    code, out, _ = call("select", path, "-t", "y", "--kernel", "anova", *QUICK)
    assert code == 0
    assert "acting together" in out
    assert "a and c" in out


def test_noise_ends_with_status_one(call, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcy"))
    path = tmp_path / "noise.csv"
    frame.to_csv(path, index=False)
    code, out, _ = call("select", path, "-t", "y", "--rule", "1se", *QUICK)
    assert code == 1
    assert "No column is left" in out or "No sure finding" in out


def test_an_interrupted_command_says_so(call, table, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelknife.cli._select.select_features", interrupt)
    assert call("select", table, "-t", "y") == (130, "", "kernelknife: stopped.\n")


def test_a_worse_machine_is_called_worse(capsys):
    X, y = make_sinusoidal(40, 1, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    good = select_features(frame, "y", alpha=0.3, folds=2)
    worse = replace(good, advantage=Score(-0.07, 0.02), full_error=Score(0.0, 0.0))
    for selection, words in (
        (worse, "No sure finding: worse than a constant by 0.07 +- 0.02."),
        (
            replace(good, advantage=Score(0.01, 0.02)),
            "better than a constant by 0.01 +- 0.02, less",
        ),
        (replace(good, held_out=HeldOut(2.0, 1.0, 9)), "but not on the rows held out"),
        (worse, "All columns together predict better"),
    ):
        show(selection)
        assert words in capsys.readouterr().out
    page = build_report(worse)
    assert "its error is larger by 0.07 &plusmn; 0.02" in page
    assert "A machine with all columns predicts better" in page
    assert "-0.07" not in page


def test_rows_held_out_are_judged_beside_a_constant(call, table):
    _, out, _ = call("select", table, "-t", "y", *QUICK, "--hold-out", 0.25, "--json")
    there = json.loads(out)["error"]["held_out"]
    assert there["rows"] == round(0.25 * 90)
    assert there["error"] < there["constant"]


def test_votes_of_halves_are_printed_with_their_promise(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    path, report = tmp_path / "votes.csv", tmp_path / "votes.html"
    frame.assign(y=np.sin(2 * frame["b"]) + 0.1 * frame["d"]).to_csv(path, index=False)
    options = ("--stability", "--max-false", 0.5, "--report", report, *QUICK)
    code, out, _ = call("select", path, "-t", "y", *options)
    assert code == 0
    assert "Stability selection keeps" in out
    assert "are expected to be false" in out
    assert "in halves\tq-value" in out
    assert "selected in halves (of 100)" in report.read_text(encoding="utf-8")
    code, _, err = call("select", path, "-t", "y", "--stability", "--fdr", 0.1, *QUICK)
    assert code == 2
    assert "not both" in err
