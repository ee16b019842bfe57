"""The command where only the core dependencies are installed."""

import sys

import numpy
import pytest

from kernelknife import __version__
from kernelknife.app.cli import main, version_line


@pytest.fixture
def bare(call, monkeypatch):
    """Run the command as if none of its packages were installed."""
    monkeypatch.setitem(sys.modules, "typer", None)
    return call


def test_the_demo_needs_the_core_alone(bare):
    code, out, err = bare("demo")
    assert code == 0
    assert err == ""
    assert "4 of 20 columns selected: x0, x1, x2, x3" in out
    assert "pip install 'kernelknife[cli]'" in out


def test_the_version_needs_the_core_alone(bare):
    code, out, _ = bare("--version")
    assert code == 0
    assert out.strip() == version_line()
    assert out.startswith(f"kernelknife {__version__} (python 3.")
    assert f"numpy {numpy.__version__}" in out


@pytest.mark.parametrize("arguments", [[], ["select", "data.csv"], ["demo", "-o", "x.html"]])
def test_anything_else_says_what_to_install(bare, arguments):
    code, out, err = bare(*arguments)
    assert code == 2
    assert out == ""
    assert "pip install 'kernelknife[cli]'" in err
    assert "kernelknife demo" in err


def test_the_module_is_the_command():
    import kernelknife.__main__ as module

    assert module.main is main
