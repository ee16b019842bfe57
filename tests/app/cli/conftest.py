"""Running the command, and a table to run it on."""

import sys

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.cli import main
from kernelknife.datasets import make_sinusoidal


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
