"""The command that selects."""

import html
import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.cli._select import print_selection
from kernelknife.app.report import build_report
from kernelknife.app.selection import Score, select_features
from kernelknife.datasets import make_sinusoidal

QUICK = ("--kernel", "rbf", "--alpha", "0.3", "--folds", "5", "--jobs", "1")


def test_select_prints_the_columns(call, table):
    code, out, err = call("select", table, "--target", "y", *QUICK)
    assert code == 0
    lines = [line.split("\t")[0] for line in out.splitlines()]
    assert {"x0", "x1", "x2", "kind"} <= set(lines)
    assert "columns are enough to predict y" in out
    assert "x0\tstable" in out
    assert "took the target y for a number" in err
    # Without a terminal, lines say what is going on; the guesses come first.
    assert err.index("took the target") < err.index("selecting among 9 columns with 90 rows")
    assert re.search(r"\d+ of about \d+ paths are followed", err)
    assert re.search(r"comparing .* on \d+ folds of \d+ rows, about \d+ paths: a", err)
    assert "Traceback" not in err


def test_the_best_substitute_is_printed_beside_each_column(call, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(90, 5)), columns=list("abcde"))
    frame["copy"] = frame["a"] + 0.1 * rng.normal(size=90)
    frame["y"] = np.sin(1.5 * frame["a"]) + frame["b"]
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = call(
        *("select", tmp_path / "data.csv", "-t", "y", "--alpha", "0.3", "--kernel", "rbf"),
        *("--jobs", "1", "-k", 2),
    )
    assert code == 0
    columns = out.partition("carries information\t")[0]
    head, *cells = [line.split("\t") for line in columns.splitlines() if line.count("\t") > 3]
    where = head.index("could be replaced by")
    beside = {cell[0]: cell[where] for cell in cells if len(cell) == len(head)}
    kept, other = ("a", "copy") if beside.get("a") else ("copy", "a")
    assert beside[kept].startswith(f"{other} (")
    assert beside["b"] == "nothing"


def test_select_as_json(call, table):
    code, out, _ = call("select", table, "-t", "y", *QUICK, "--json", "--drop", "x7", "-k", 3)
    answer = json.loads(out)
    assert code == 0
    assert len(answer["selected"]) == 3
    assert "kind" in answer["selected"]
    assert answer["error"]["mean"] < answer["error"]["baseline"]
    assert "x7" not in [feature["name"] for feature in answer["features"]]
    assert answer["settings"]["n_features"] == 3


def test_columns_that_act_together_are_printed(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    path = tmp_path / "together.csv"
    frame.assign(y=frame["a"] * frame["c"] + frame["b"]).to_csv(path, index=False)
    code, out, _ = call("select", path, "-t", "y", *QUICK, "--kernel", "anova", "--folds", 3)
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
    assert "Nothing here predicts y" in out or "No sure finding" in out
    assert not {"stable", "uncertain", "unstable"} & set(out.split())


def test_an_interrupted_command_says_so(call, table, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelknife.app.cli._select.select_features", interrupt)
    assert call("select", table, "-t", "y") == (130, "", "kernelknife: stopped.\n")


def test_a_worse_model_is_called_worse(capsys):
    X, y = make_sinusoidal(40, 1, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    good = select_features(frame, "y", alpha=0.3, folds=2)
    worse = replace(good, advantage=Score(-0.07, 0.02), full_error=Score(0.0, 0.0))
    worse = replace(worse, full_advantage=Score(1.0, 0.0))
    print_selection(worse)
    out = capsys.readouterr().out
    # What to doubt stands on top, in the terminal and on the page.
    assert out.startswith(
        "Note: The selected columns are worse than the baseline: their error is larger by 7 % +- "
    )
    assert out.index("All columns together predict better") < out.index("No selection: all 6")
    assert "The model with all columns is scikit-learn's kernel ridge regression" in out
    page = build_report(worse)
    assert page.index("is larger by 7 % \u00b1 2 %") < page.index('class="lead"')
    assert "All columns together predict better than the selected ones" in page
    assert "-7 %" not in page


def test_the_bar_is_for_terminals(monkeypatch):
    from kernelknife.app.cli import _select

    assert _select.frequency(0.8) == "80 %"

    class Terminal:
        is_terminal = True

    monkeypatch.setattr(_select, "out", Terminal)
    assert _select.frequency(0.8) == "########..  80 %"


def test_a_column_says_which_rows_to_hold_out(call, table, tmp_path):
    frame = pd.read_csv(table).assign(split=["train", "train", "test"] * 30)
    path = tmp_path / "split.csv"
    frame.to_csv(path, index=False)
    _, out, err = call("select", path, "-t", "y", *QUICK, "--json")
    assert "split" not in [feature["name"] for feature in json.loads(out)["features"]]
    assert "--hold-out split=test" in err
    _, out, err = call("select", path, "-t", "y", *QUICK, "--json", "--hold-out", "split=test")
    assert json.loads(out)["error"]["held_out"]["rows"] == 30
    assert "--hold-out" not in err
    code, _, err = call("select", path, "-t", "y", *QUICK, "--hold-out", "split=exam")
    assert (code, err) == (2, "kernelknife: No row has split=exam: there are test, train.\n")


def test_the_report_repeats_the_command(call, table, tmp_path):
    page = tmp_path / "r.html"
    arguments = ("select", table, "-t", "y", *QUICK, "-k", 3, "--drop", "x7", "--id", "x6")
    call(*arguments, "--report", page)
    text = page.read_text(encoding="utf-8")
    code = re.search(r"<pre[^>]*><code>(kernelknife .*?)</code>", text).group(1)
    words = shlex.split(html.unescape(code))
    assert words[:2] == ["kernelknife", "select"]
    _, again, _ = call(*words[1:], "--json")
    _, first, _ = call(*arguments, "--json")
    assert json.loads(again)["features"] == json.loads(first)["features"]


def test_rows_held_out_are_judged_beside_the_baseline(call, table):
    _, out, _ = call("select", table, "-t", "y", *QUICK, "--hold-out", 0.25, "--json")
    there = json.loads(out)["error"]["held_out"]
    assert there["rows"] == round(0.25 * 90)
    assert there["error"] < there["baseline"]


def test_columns_of_half_samples_are_printed_with_their_error_rate(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    path, report = tmp_path / "votes.csv", tmp_path / "votes.html"
    frame.assign(y=np.sin(2 * frame["b"]) + 0.1 * frame["d"]).to_csv(path, index=False)
    options = ("--stability", "--max-false", 0.5, "--report", report, *QUICK)
    code, out, _ = call("select", path, "-t", "y", *options)
    assert code == 0
    assert "Stability selection keeps" in out
    assert "are expected to be false" in out
    assert "in half-samples\tq-value" in out
    assert "in half-samples (of 100)" in report.read_text(encoding="utf-8")
    code, _, err = call("select", path, "-t", "y", "--stability", "--fdr", 0.1, *QUICK)
    assert code == 2
    assert "not both" in err


def test_a_quick_search_is_called_one(call, table, tmp_path):
    page = tmp_path / "quick.html"
    code, out, err = call("select", table, "-t", "y", "--quick", "--report", page)
    sentence = (
        "A quick search: all 90 rows, kernels linear and rbf, 3 folds. For the full comparison, "
        "select without --quick."
    )
    assert code == 0
    assert out.startswith(f"Note: {sentence}")
    assert "comparing linear and rbf on 3 folds of 90 rows, about 6 paths" in err
    text = page.read_text(encoding="utf-8")
    assert sentence in text
    command = re.search(r"<pre[^>]*><code>(kernelknife .*?)</code>", text).group(1)
    assert command.endswith("--target y --quick")
    assert "quick=True" in html.unescape(text)


def test_a_quick_search_with_options_as_json(call, table):
    options = ("--folds", 4, "--kernel", "linear", "--hold-out", 0.2, "--json")
    _, out, err = call("select", table, "-t", "y", "--quick", *options)
    answer = json.loads(out)
    assert answer["settings"]["quick"] is True
    assert answer["kernel"] == "linear"
    assert answer["error"]["held_out"]["rows"] == 18
    assert answer["rows_searched"] == 72
    assert "comparing linear on 4 folds of 72 rows" in err


def test_a_quick_search_at_noise_ends_with_status_one(call, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 4)), columns=list("abcy"))
    path = tmp_path / "noise.csv"
    frame.to_csv(path, index=False)
    code, _, _ = call("select", path, "-t", "y", "--quick")
    assert code == 1


@pytest.mark.parametrize(
    ("target", "options", "advice"),
    [
        ("kind", ("--loss", "hinge"), "Fit all rows with --centers 0, or use --loss squared_hinge"),
        ("y", ("--kernel", "sigmoid"), "Fit all rows with --centers 0, or choose another kernel"),
    ],
)
def test_centers_that_a_loss_or_a_kernel_cannot_have(call, table, target, options, advice):
    code, out, err = call("select", table, "-t", target, "--centers", 10, *options)
    assert (code, out) == (2, "")
    assert advice in err
    assert "n_centers" not in err
