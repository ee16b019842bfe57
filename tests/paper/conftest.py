"""The reproduction of the paper stands in a folder of scripts, which the tests import plainly."""

import sys
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[2] / "benchmarks" / "paper"
sys.path.insert(0, str(PAPER))


@pytest.fixture(scope="session")
def command():
    """The script that runs the reproduction."""
    return PAPER / "run.py"
