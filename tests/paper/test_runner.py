"""Running the reproduction: a quick run of every item, resuming after a kill."""

import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from items import ITEMS
from reproduction import reproduce
from runner import read_tables

from kernelknife.datasets import DataFileError

NEED_DATA = {"colon", "vowel", "parkinsons"}


@pytest.fixture
def data(request, monkeypatch):
    """The data folder for items that need one."""
    if request.getfixturevalue("name") in NEED_DATA:
        monkeypatch.setenv("KERNELKNIFE_DATA", str(request.getfixturevalue("paper_data")))


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.usefixtures("data")
def test_a_quick_run_of_every_item(name, tmp_path):
    calls = []
    summary = reproduce([name], tmp_path, quick=True, report=lambda *call: calls.append(call))
    item = ITEMS[name]
    assert calls[0][1:] == (0, item.quick_repetitions)
    assert calls[-1][1:] == (item.quick_repetitions, item.quick_repetitions)
    tables = read_tables(item, tmp_path)
    for table in tables.values():
        assert {"repetition", "seconds", "kernelknife", "numpy"} <= set(table.columns)
    for figure in item.captions:
        for ending in ("png", "svg"):
            assert (tmp_path / f"{figure}.{ending}").stat().st_size > 1000
    page = summary.read_text(encoding="utf-8")
    assert item.title in page
    assert all(claim.text in page for claim in item.claims(tables))
    assert "Quick run" in page
    html = (tmp_path / "summary.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")


def test_a_finished_repetition_is_not_run_again(tmp_path, monkeypatch):
    reproduce(["linear"], tmp_path, quick=True)
    before = (tmp_path / "linear.csv").read_bytes()
    (tmp_path / "parts" / "quick" / "linear" / "0001.json").unlink()
    ran = []
    repeat = type(ITEMS["linear"]).repeat

    def counted(self, seed, quick):
        ran.append(seed)
        return repeat(self, seed, quick)

    monkeypatch.setattr(type(ITEMS["linear"]), "repeat", counted)
    reproduce(["linear"], tmp_path, quick=True)
    assert ran == [1]
    after = pd.read_csv(tmp_path / "linear.csv").drop(columns="seconds")
    (tmp_path / "before.csv").write_bytes(before)
    pd.testing.assert_frame_equal(
        after, pd.read_csv(tmp_path / "before.csv").drop(columns="seconds")
    )


def test_parts_of_other_versions_are_not_mixed_in(tmp_path):
    reproduce(["linear"], tmp_path, quick=True)
    part = tmp_path / "parts" / "quick" / "linear" / "0000.json"
    content = json.loads(part.read_text())
    content["versions"]["numpy"] = "1.0"
    part.write_text(json.dumps(content))
    counts = []
    reproduce(["linear"], tmp_path, quick=True, report=lambda _, done, __: counts.append(done))
    assert counts == [1, 2]


# Says when it is in the middle of the second repetition, and waits there to be killed.
WAITING = """
import sys
import time

sys.path.insert(0, {folder!r})
from items import ITEMS
from run import main

item = type(ITEMS["convergence"])
repeat = item.repeat

def wait(self, seed, quick):
    if seed == 1:
        print("in the second repetition", flush=True)
        time.sleep(600)
    return repeat(self, seed, quick)

item.repeat = wait
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_and_resumed_it_ends_with_the_same_tables(tmp_path, command):
    words = ["convergence", "--quick", "--jobs", "1", "--output"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    whole, torn = tmp_path / "whole", tmp_path / "torn"

    def reproduce_into(folder):
        line = [sys.executable, str(command), *words, str(folder)]
        subprocess.run(line, check=True, capture_output=True, env=environment)

    reproduce_into(whole)
    waiting = [sys.executable, "-c", WAITING.format(folder=str(command.parent)), *words, str(torn)]
    with subprocess.Popen(
        waiting, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        assert process.stdout.readline() == "in the second repetition\n"
        process.send_signal(signal.SIGKILL)
    parts = torn / "parts" / "quick" / "convergence"
    assert [path.name for path in parts.iterdir()] == ["0000.json"]
    finished = (parts / "0000.json").stat()
    assert not (torn / "convergence.csv").exists()
    reproduce_into(torn)
    # A repetition that ran again would be another file, even where all its numbers are the same.
    again = (parts / "0000.json").stat()
    assert (again.st_ino, again.st_mtime_ns) == (finished.st_ino, finished.st_mtime_ns)
    for table in ("convergence", "hinges"):
        one, two = (pd.read_csv(run / f"{table}.csv") for run in (whole, torn))
        pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_missing_data_are_said_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELKNIFE_DATA", str(tmp_path))
    monkeypatch.setattr("kernelknife.datasets._measured.fetch_openml", lambda **_: 1 / 0)
    with pytest.raises(DataFileError, match=r"Put parkinsons\.csv into"):
        reproduce(["linear", "parkinsons"], tmp_path / "out", quick=True)
    assert not (tmp_path / "out" / "parts").exists()


def test_unknown_items_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"Unknown item 'apple'. Known items: noise, conv"):
        reproduce(["apple"], tmp_path)


def call(command, *words):
    return subprocess.run(
        [sys.executable, str(command), *map(str, words)], capture_output=True, text=True
    )


def test_the_command_writes_where_it_says(command, tmp_path):
    page = tmp_path / "page.md"
    done = call(
        command, "penalties", "--quick", "--jobs", 1, "--output", tmp_path / "out", "--page", page
    )
    assert done.returncode == 0
    html = tmp_path / "out" / "summary.html"
    assert done.stdout.splitlines() == [f"Summary: {page}", f"As a page: {html}"]
    assert "(out/penalties.png)" in page.read_text(encoding="utf-8")
    assert html.is_file()


def test_the_command_names_its_items(command):
    listed = call(command, "--list").stdout.splitlines()
    assert [line.split("\t")[0] for line in listed] == list(ITEMS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["apple"], "Unknown item 'apple'"),
        (["linear", "--jobs", "0"], "--jobs must be"),
        (["linear", "--quick", "--output", "FILE"], "cannot be written"),
    ],
)
def test_mistakes_get_one_line(words, message, command, tmp_path):
    (tmp_path / "file").touch()
    done = call(command, *(tmp_path / "file" if word == "FILE" else word for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
