"""Options in groups, in a file, and completed by the shell."""

import os
import subprocess
import sys

import pytest
from typer.main import get_command

from kernelknife.app.cli import _select
from kernelknife.app.cli.app import app
from kernelknife.app.cli.parameters import OUTPUT, PANELS
from kernelknife.app.options import ReadOptions, SelectOptions

PARAMETERS = {one.name for one in get_command(app).commands["select"].params}


def test_every_option_of_a_heading_exists_and_none_has_two():
    names = [name for panel in PANELS.values() for name in panel]
    assert len(names) == len(set(names))
    of_all = {one.name for command in get_command(app).commands.values() for one in command.params}
    assert set(names) <= of_all


def test_the_help_lists_options_under_headings(call):
    _, out, _ = call("select", "--help")
    headings = [line for line in out.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == ["Arguments:", *(f"{panel}:" for panel in PANELS), f"{OUTPUT}:"]
    data, _, output = out.partition("Output:\n")
    assert "--table" in output
    assert "--drop" in data


@pytest.fixture
def asked(monkeypatch):
    """What the command was asked for, in place of its answer."""
    calls = []

    def select(data, options, reading, **outputs):
        calls.append((data, options, reading, outputs))
        return 0

    monkeypatch.setattr(_select, "select", select)
    return calls


def test_a_saved_config_asks_the_same_question(call, asked, tmp_path):
    config = tmp_path / "select.toml"
    flags = [
        *("-t", "dépense = \"x\"", "--drop", "a,b", "--drop", "c\\d", "--keep", "x*"),
        *("--log", "g*", "--quantile", "0.1,0.9", "--alpha", "0.3", "--folds", "4", "--quick"),
        *("--hold-out", "split=test", "--kernel", "rbf", "--decimal", ",", "--missing", "?"),
        *("--groups", "sets.gmt", "--centers", "0", "--seed", "7", "--jobs", "2", "--json"),
        *("--report", "r.html", "--table", "t.xlsx", "--dates", "days", "--dates", "year"),
    ]  # fmt: skip
    assert call("select", "data.csv", *flags, "--save-config", config)[0] == 0
    assert call("select", "--config", config)[0] == 0
    assert asked[0] == asked[1]
    options = asked[1][1]
    assert (options.quantile, options.folds, options.n_jobs) == ((0.1, 0.9), 4, 2)


def test_the_command_line_comes_before_the_file(call, asked, tmp_path):
    config = tmp_path / "select.toml"
    config.write_text('data = "a.csv"\ntarget = "y"\nkeep = "x"\nhold-out = 0.25\nfeatures = 3\n')
    call("select", "b.csv", "--config", config, "--features", "2")
    data, options, reading, _ = asked[0]
    assert (data, reading) == ("b.csv", ReadOptions())
    assert options == SelectOptions(
        target="y", always_keep="x", hold_out=0.25, n_features=2, n_jobs=-1
    )


def test_a_config_without_a_target_says_that_it_is_missing(call, asked, tmp_path):
    config = tmp_path / "select.toml"
    config.write_text('data = "a.csv"\n')
    code, _, err = call("select", "--config", config)
    assert code == 2
    assert "Missing option '--target'" in err
    assert not asked


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("kernelknife sel", "select"),
        ("kernelknife select --expo", "--exposure"),
        ("kernelknife select --kernel an", "anova"),
        ("kernelknife explore --sc", "--scores"),
    ],
)
def test_a_shell_completes_commands_options_and_choices(words, found):
    environment = {
        **os.environ,
        "_KERNELKNIFE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from kernelknife.app.cli import main; import sys; sys.argv = ['kernelknife']; main()"
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert found in run.stdout.split()
