"""Options are stated once: the functions, the flags and what is printed agree."""

import inspect
import shlex
import subprocess
import sys
from dataclasses import MISSING, fields

import pytest
from typer.main import get_command

from kernelknife import knife_path
from kernelknife.app.cli.app import app
from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.options import (
    ExploreOptions,
    PathOptions,
    ReadOptions,
    RelateOptions,
    SelectOptions,
    as_arguments,
    changed,
    command_line,
    flags_of,
)
from kernelknife.app.selection import select_features
from kernelknife.app.tables import read_table

FUNCTIONS = {
    read_table: (ReadOptions, {"source", "texts", "keys", "codes"}),
    select_features: (SelectOptions, {"frame", "callbacks", "announce"}),
    explore_table: (ExploreOptions, {"frame", "callbacks"}),
    relate_tables: (RelateOptions, {"left", "right", "callbacks"}),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_has_the_arguments_and_defaults_of_its_options(function):
    options, others = FUNCTIONS[function]
    parameters = inspect.signature(function).parameters
    assert {one.name for one in fields(options)} == set(parameters) - others
    for one in fields(options):
        default = parameters[one.name].default
        assert default == (inspect.Parameter.empty if one.default is MISSING else one.default)


def test_a_path_has_the_defaults_of_its_function():
    parameters = inspect.signature(knife_path).parameters
    for one in fields(PathOptions):
        if one.name in parameters:
            assert parameters[one.name].default == one.default


COMMANDS = {
    "select": (SelectOptions, ReadOptions),
    "path": (PathOptions, ReadOptions),
    "explore": (ExploreOptions, ReadOptions),
    "relate": (RelateOptions, ReadOptions),
    "predict": (ReadOptions,),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_flag_and_a_help_for_every_option(name):
    parameters = {one.name: one for one in get_command(app).commands[name].params}
    for options in COMMANDS[name]:
        for one in fields(options):
            assert tuple(parameters[one.name].opts) == flags_of(one)
            assert parameters[one.name].help == one.metadata["help"]
            assert parameters[one.name].required == (one.default is MISSING)


def test_options_are_imported_without_anything_heavy():
    code = "import sys, kernelknife.app.options; print({'numpy', 'sklearn'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_what_was_asked_is_printed_for_python_and_for_the_command():
    options = SelectOptions(
        target="y", drop=["a b", "c"], kernel="rbf", alpha=0.3, folds=5, quick=True, n_jobs=2,
        hold_out=0.25, rule="min",
    )  # fmt: skip
    assert as_arguments(options) == [
        'drop=["a b", "c"]', "hold_out=0.25", 'kernel="rbf"', "alpha=0.3", "folds=5", "quick=True",
    ]  # fmt: skip
    words = shlex.split(command_line("my data.csv", options, ReadOptions(thousands=" ")))
    assert words == [
        *("kernelknife", "select", "my data.csv", "--target", "y", "--drop", "a b", "--drop", "c"),
        *("--hold-out", "0.25", "--kernel", "rbf", "--alpha", "0.3", "--folds", "5", "--quick"),
        *("--thousands", " "),
    ]


def test_defaults_are_not_printed_and_names_are_texts():
    options = SelectOptions(target=3, drop="x", ids=[1, 2], hold_out=0)
    assert (options.target, options.drop, options.ids) == ("3", ("x",), ("1", "2"))
    assert changed(options) == {"drop": ("x",), "ids": ("1", "2")}
    assert ReadOptions(missing="NA").missing == ("NA",)
