"""Seeds come from one fixture; helpers shared by the tests stand here."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
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


@pytest.fixture(scope="session")
def planted():
    """Rows whose target depends on the columns 1, 4 and 6 of 8."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 8))
    y = np.sin(2 * X[:, 1]) + X[:, 4] * X[:, 6] + 0.2 * rng.normal(size=800)
    return X, y


@pytest.fixture
def write_folder(tmp_path):
    """Return a function that writes a Parquet folder of columns ``x0, x1, ...``, ``y`` and others.

    Row groups have 70 rows, so that files have several.
    """

    def write(X, y, *, parts=4, **others):
        folder = tmp_path / "data"
        folder.mkdir()
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y, **others)
        for i, rows in enumerate(np.array_split(np.arange(len(X)), parts)):
            frame.iloc[rows].to_parquet(folder / f"part{i}.parquet", row_group_size=70)
        return folder

    return write


@pytest.fixture
def callbacks():
    """The module ``sklearn.callback``, which scikit-learn has since version 1.9."""
    return pytest.importorskip("sklearn.callback")
