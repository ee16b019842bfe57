"""Seeds come from one fixture; helpers shared by the tests stand here."""

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture
def central_difference():
    """Return a function that differentiates numerically, one column per weight."""

    def differentiate(function, w, step=1e-5):
        columns = []
        for j in range(len(w)):
            e = np.zeros_like(w)
            e[j] = step
            columns.append((np.asarray(function(w + e)) - np.asarray(function(w - e))) / (2 * step))
        return np.stack(columns, axis=-1)

    return differentiate


@pytest.fixture(scope="session")
def paper_data():
    """The folder with the paper's data files, which are not ours to ship."""
    folder = Path(os.environ.get("KERNELKNIFE_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "parkinsons.csv").is_file():
        pytest.skip("the paper's data files are not here: set KERNELKNIFE_DATA")
    return folder
