"""The command, as its user sees it: what is printed where, exit statuses, one-line errors."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from kernelknife import __version__, kernels, losses
from kernelknife.app.options import KERNELS, LOSSES

QUICK = ("--alpha", "0.3", "--folds", "3", "--jobs", "1")


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
    assert "columns are enough to predict y:a:: " in out
    assert "took the target y:a: for a number" in err
    assert set(AWKWARD) <= {line.split("\t")[0] for line in out.splitlines()}
    _, out, _ = call("path", *arguments, "--points", 4, "--json")
    assert sorted(json.loads(out)["ranking"]) == sorted(AWKWARD)
    _, _, err = call("select", awkward, "-t", "gene:a:2")
    assert "There is no column 'gene:a:2': did you mean 'gene:a:1'?" in err


def test_report_and_demo(call, table, tmp_path, monkeypatch):
    code, out, err = call("report", table, "-t", "y", *QUICK, "-o", tmp_path / "r.html")
    assert code == 0
    assert f"Report: {tmp_path / 'r.html'}" in err
    assert "columns are enough to predict y" in out
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("demo")
    assert code == 0
    assert "4 of 20 columns are enough to predict fruit" in out
    assert "use the folds that selected the model and are slightly optimistic" in " ".join(
        out.split()
    )
    page = (tmp_path / "kernelknife-demo.html").read_text(encoding="utf-8")
    assert all(f"<b>x{j}</b>" in page for j in range(4))


def test_decimal_commas(call, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("aby"))
    path = tmp_path / "comma.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    code, _, err = call("path", path, "-t", "y")
    assert code == 2
    assert "--decimal ," in err
    code, _, _ = call("path", path, "-t", "y", "--decimal", ",", "--points", 3)
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select", "nowhere.csv", "-t", "y"], "There is no file nowhere.csv"),
        (["select", "DATA", "-t", "z"], "There is no column 'z'"),
        (["select", "DATA", "-t", "y", "--report", "no/folder/r.html"], "there is no folder"),
        (["select", "DATA", "-t", "y", "--save", "."], "it is a folder"),
        (["select", "DATA", "-t", "y", "-k", "99"], "99 features asked for, the table has 9"),
        (["select", "DATA", "-t", "y", "--sparsity", "1", "-k", "2"], "not both"),
        (["select", "DATA", "-t", "y", "--alpha", "-1"], "alpha must be"),
        (["select", "DATA", "-t", "y", "--jobs", "0"], "Use --jobs -1 for all cores"),
        (["select", "DATA", "-t", "y", "--hold-out", "1.5"], "between 0 and 1"),
        (["select", "DATA", "-t", "y", "--loss", "hinge"], "hinge"),
        (["predict", "DATA", "DATA"], "is no model of kernelknife"),
        (["predict", "nowhere.kk", "DATA"], "There is no file nowhere.kk"),
        (["select", "DATA", "-t", "y", "--group", "y"], "is the target"),
        (["select", "DATA", "-t", "y", "--drop", "y"], "is the target"),
        (["select", "DATA", "-t", "y", "--features", "0"], "at least 1, got 0"),
        (["select", "DATA", "-t", "y", "--group", "kind"], "5 folds need as many groups, got 3"),
        (["select", "DATA", "-t", "y", "--hold-out", "0.99"], "leaves too few"),
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


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['kernelknife', '--help']\n"
        "from kernelknife.app.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'sklearn', 'pandas', 'matplotlib', 'scipy'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    for command in ("select", "path", "predict", "report", "demo"):
        assert command in run.stdout


def test_version(call):
    line = call("--version")[1].strip()
    assert line.startswith(f"kernelknife {__version__} (python ")
    assert f"numpy {np.__version__}" in line


def test_shells_complete_commands_and_options():
    """The script of --install-completion asks the command in this way."""
    code = "import sys; sys.argv = ['kernelknife']; from kernelknife.app.cli import main; main()"
    for words, expected in (("kernelknife sel", "select"), ("kernelknife select --ta", "--target")):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "_KERNELKNIFE_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(len(words.split()) - 1),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert expected in run.stdout.split()


def test_options_name_every_kernel_and_loss():
    assert set(KERNELS) == set(kernels.KERNELS)
    assert set(LOSSES) == set(losses.LOSSES)


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
        assert err.splitlines()[-1].startswith("kernelknife: ")
