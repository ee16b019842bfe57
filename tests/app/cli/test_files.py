"""Files that the command reads and writes."""

import os
import subprocess
import sys

import pytest

QUICK = ("--alpha", "0.3", "--folds", "3", "--jobs", "1")


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_report_that_cannot_be_written(call, table, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    code, _, err = call("select", table, "-t", "y", "--report", locked / "r.html")
    assert code == 2
    assert "cannot be written" in err


# Says when everything is written to the temporary file, and waits there to be killed.
WAITING = """
import pathlib, sys, time

def wait(*paths):
    print("about to replace", flush=True)
    time.sleep(600)

pathlib.Path.replace = wait
from kernelknife.app.cli import main
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


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (("--report", "r.pdf"), "a report is one HTML file, such as report.html"),
        (("--save", "m.pkl"), "name it model.kk, say"),
    ],
)
def test_endings_of_formats_that_are_not_written_are_refused_before_the_work(
    call, table, tmp_path, monkeypatch, options, advice
):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("select", table, "-t", "y", *QUICK, *options)
    assert (code, out) == (2, "")
    assert advice in err
    assert not (tmp_path / options[1]).exists()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("data.json", "data.json is JSON, by its ending: save the table as CSV"),
        ("http://example.org/a.csv", "is an address: download the file first"),
    ],
)
def test_sources_that_are_not_read_are_named(call, tmp_path, monkeypatch, source, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text('[{"a": 1, "y": 2}]')
    code, _, err = call("select", source, "-t", "y")
    assert code == 2
    assert words in err
    assert source in err


def test_names_joined_by_a_comma_are_told_apart(call, table):
    code, _, err = call("select", table, "-t", "y", "--drop", "x0,x1,x22")
    assert code == 2
    assert "There is no column 'x22'" in err
