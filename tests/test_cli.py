"""The command, as its user sees it: what is printed where, exit statuses, one-line errors."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from sklearn.datasets import load_diabetes

from kernelknife import __version__, kernels, losses
from kernelknife.cli import app as app_module
from kernelknife.cli import main
from kernelknife.cli._select import show
from kernelknife.cli.console import PLAIN, show_table
from kernelknife.datasets import make_sinusoidal
from kernelknife.report import build_report
from kernelknife.selection import HeldOut, Score, select_features

QUICK = ("--alpha", "0.3", "--folds", "3", "--jobs", "1")


@pytest.fixture
def call(monkeypatch, capsys):
    """Return a function that runs the command and returns status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["kernelknife", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def table(tmp_path):
    """A CSV file with five true columns, a text that matters, and three of noise."""
    X, y = make_sinusoidal(90, 3, random_state=1)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    kind = np.random.default_rng(0).choice(["red", "green", "blue"], 90)
    frame["kind"], frame["y"] = kind, y + 8.0 * (kind == "red")
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


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


# Names that rich takes for an emoji, for markup, or for something to highlight or to wrap.
AWKWARD = ["gene:a:1", "[bold]dose[/bold]", "a\\[b", "'x' 1.5 https://x.org", "long " * 60 + "name"]


@pytest.fixture
def awkward(tmp_path):
    """A CSV file whose columns have awkward names and all matter for the last one."""
    X = np.random.default_rng(0).normal(size=(60, len(AWKWARD)))
    frame = pd.DataFrame(X, columns=AWKWARD).assign(**{"y:a:": X.sum(axis=1)})
    path = tmp_path / "awkward.csv"
    frame.to_csv(path, index=False)
    return path


def test_names_are_printed_as_they_are(call, awkward):
    arguments = (awkward, "-t", "y:a:", "--kernel", "linear", "--alpha", "0.3")
    code, out, err = call("select", *arguments, "--folds", 3, "--jobs", 1, "--json")
    assert code == 0
    answer = json.loads(out)
    assert sorted(feature["name"] for feature in answer["features"]) == sorted(AWKWARD)
    assert answer["target"] == "y:a:"
    _, out, err = call("select", *arguments, "--folds", 3, "--jobs", 1)
    assert "columns selected for y:a:\n" in out
    assert "took the target y:a: for a number" in err
    assert set(AWKWARD) <= {line.split("\t")[0] for line in out.splitlines()}
    _, out, _ = call("path", *arguments, "--points", 4, "--json")
    assert sorted(json.loads(out)["ranking"]) == sorted(AWKWARD)
    _, _, err = call("select", awkward, "-t", "gene:a:2")
    assert "There is no column 'gene:a:2': did you mean 'gene:a:1'?" in err


def test_a_terminal_shows_names_as_they_are(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None, **PLAIN)
    monkeypatch.setattr("kernelknife.cli.console.out", screen)
    show_table(("column", "weight"), [(name, "0.5") for name in AWKWARD], numeric=(1,))
    shown = screen.file.getvalue()
    assert "gene:a:1" in shown
    assert "[bold]dose[/bold]" in shown
    letters = "".join(shown.replace("0.5", "").split())
    assert "".join(AWKWARD[-1].split()) in letters, "a long name is folded, not cut"
    assert max(map(len, shown.splitlines())) <= 40


def test_control_characters_do_not_reach_the_terminal(capsys):
    show_table(("column",), [("height\n(cm)\t\x1b[31m",)])
    assert capsys.readouterr().out == "column\nheight (cm)  [31m\n"


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


def test_report_and_demo(call, table, tmp_path, monkeypatch):
    code, out, err = call("report", table, "-t", "y", *QUICK, "-o", tmp_path / "r.html")
    assert code == 0
    assert f"Report: {tmp_path / 'r.html'}" in err
    assert "columns selected for y" in out
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("demo")
    assert code == 0
    assert "4 of 20 columns selected" in out
    page = (tmp_path / "kernelknife-demo.html").read_text(encoding="utf-8")
    assert all(f"<b>x{j}</b>" in page for j in range(4))


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


def test_nothing_of_the_users_is_overwritten(call, table, tmp_path):
    before = table.read_bytes()
    model, link = tmp_path / "m.kk", tmp_path / "link.kk"
    model.write_bytes(b"a model")
    link.symlink_to(model)
    for arguments in (
        ["report", table, "-t", "y", "-o", table],
        ["path", table, "-t", "y", "--csv", table],
        ["select", table, "-t", "y", "--save", tmp_path / "a", "--report", tmp_path / "a"],
        ["demo", "-o", table.with_suffix(".html")],
        ["predict", model, table, "-o", model],
        ["predict", model, table, "-o", link],
    ):
        code, _, err = call(*arguments)
        assert code == 2
        assert "name another" in err
    assert table.read_bytes() == before
    assert model.read_bytes() == b"a model"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "link.kk", "m.kk"]


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


def test_rows_held_out_are_judged_beside_a_constant(call, table):
    _, out, _ = call("select", table, "-t", "y", *QUICK, "--hold-out", 0.25, "--json")
    there = json.loads(out)["error"]["held_out"]
    assert there["rows"] == round(0.25 * 90)
    assert there["error"] < there["constant"]


def test_decimal_commas(call, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("aby"))
    path = tmp_path / "comma.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    code, _, err = call("path", path, "-t", "y")
    assert code == 2
    assert "--decimal ," in err
    code, _, _ = call("path", path, "-t", "y", "--decimal", ",", "--points", 3)
    assert code == 0


def test_standard_input(table):
    run = subprocess.run(
        [sys.executable, "-m", "kernelknife", "path", "-", "-t", "y", "--points", "4", "--json"],
        input=table.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)["ranking"][0] == "x0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select", "nowhere.csv", "-t", "y"], "There is no file nowhere.csv"),
        (["select", "DATA", "-t", "z"], "There is no column 'z'"),
        (["select", "DATA", "-t", "y", "--report", "no/folder/r.html"], "there is no folder"),
        (["select", "DATA", "-t", "y", "--save", "."], "it is a folder"),
        (["select", "DATA", "-t", "y", "-k", "99"], "99 features asked for, the table has 9"),
        (["select", "DATA", "-t", "y", "--sparsity", "1", "-k", "2"], "not both"),
        (["select", "DATA", "-t", "y", "--alpha", "-1"], "alphas must be"),
        (["select", "DATA", "-t", "y", "--jobs", "0"], "--jobs must be"),
        (["select", "DATA", "-t", "y", "--hold-out", "1.5"], "between 0 and 1"),
        (["select", "DATA", "-t", "y", "--loss", "hinge"], "hinge"),
        (["predict", "DATA", "DATA"], "is no model of kernelknife"),
        (["predict", "nowhere.skops", "DATA"], "There is no file nowhere.skops"),
        (["select", "DATA", "-t", "y", "--group", "y"], "is the target"),
        (["select", "DATA", "-t", "y", "--drop", "y"], "is the target"),
        (["select", "DATA", "-t", "y", "--features", "0"], "at least 1, got 0"),
        (["select", "DATA", "-t", "y", "--group", "kind"], "5 folds need as many groups, got 3"),
        (["select", "DATA", "-t", "y", "--hold-out", "0.99"], "leaves too few"),
        (["reproduce", "apple"], "Unknown item 'apple'"),
    ],
)
def test_mistakes_get_one_line(call, table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*[table if word == "DATA" else word for word in arguments])
    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.strip().splitlines()) <= 2
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_report_that_cannot_be_written(call, table, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    code, _, err = call("select", table, "-t", "y", "--report", locked / "r.html")
    assert code == 2
    assert "cannot be written" in err


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['kernelknife', '--help']\n"
        "from kernelknife.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'sklearn', 'pandas', 'matplotlib', 'scipy'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    for command in ("select", "path", "predict", "report", "reproduce", "demo"):
        assert command in run.stdout


def test_version(call):
    assert call("--version")[1].strip() == f"kernelknife {__version__}"


def test_options_know_every_kernel_and_loss():
    assert {str(kernel) for kernel in app_module.Kernel} == set(kernels.KERNELS)
    assert {str(loss) for loss in app_module.Loss} == set(losses.LOSSES)


def test_without_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "pip install 'kernelknife[cli]'" in capsys.readouterr().err


# Says when everything is written to the temporary file, and waits there to be killed.
WAITING = """
import pathlib, sys, time

def wait(*paths):
    print("about to replace", flush=True)
    time.sleep(600)

pathlib.Path.replace = wait
from kernelknife.cli import main
main()
"""


def test_a_run_that_is_killed_while_it_writes_leaves_the_old_file(table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("the old report")
    arguments = ["select", str(table), "-t", "y", *QUICK, "--report", str(page)]
    command = [sys.executable, "-c", WAITING, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "about to replace\n"
        process.kill()
    assert page.read_text() == "the old report"


# -- malformed files ------------------------------------------------------------------------------

ROWS = load_diabetes(as_frame=True).frame.iloc[:24, [0, 2, 8, 10]].round(3)
GOOD = ROWS.to_csv(index=False).encode()
PIECES = st.sampled_from(
    [b",", b"\n", b'"', b"\x00", b"\xff", b";", b"\t", b"nan", b"inf", b"-", b"1e999", b"", b"\r",
     b"text", b"\xef\xbb\xbf", b",,", b"\n\n", b"=1+1", b"<script>", b"1.5", b"target", b"age"]
)  # fmt: skip


@st.composite
def malformed(draw):
    """A good table with pieces put in, cut out and shuffled, or bytes of no kind."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    data = bytearray(GOOD)
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        data[start:end] = draw(PIECES)
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=malformed())
@example(data=b"")
@example(data=GOOD)
@example(data=GOOD.replace(b"target", b"bmi"))
def test_malformed_files_never_give_a_traceback(call, tmp_path, data):
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    code, out, err = call(
        "select", path, "-t", "target", "--alpha", 1, "--sparsity", 5, "--folds", 2, "--jobs", 1
    )
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    if code == 2:
        assert out == ""
        assert err.startswith("kernelknife: ")
