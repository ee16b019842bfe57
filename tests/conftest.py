"""Seeds come from one fixture; helpers shared by the tests stand here."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelknife._engine import FitSpec, prepare_arrays, set_up

ROOT = Path(__file__).parents[1]

# What a run with -m "not slow" leaves out, by the beginning of a test's name. It then takes about
# two minutes on two workers, about half of the whole.
SLOW = (
    "tests/paper/",  # every item of the reproduction, run quickly
    "tests/app/cli/test_app.py::test_malformed_files_never_give_a_traceback",
    "tests/app/selection/test_comparison.py::test_noise_is_rarely_a_finding",
    "tests/test_audit.py",
    "tests/test_audit_items.py::test_scikit_learns_checks",
    "tests/test_documents.py::test_snippets",
    "tests/test_site.py",
    # scikit-learn's checks of estimators that fit many models.
    *(
        f"tests/test_estimator_checks.py::test_scikit_learn_checks[{name}("
        for name in (
            *("KnifeRegressorCV", "KnifeClassifierCV", "KnifeStability", "KnifeKnockoffs"),
            *("KnifeCCA", "KnifeDiscriminant", "KnifePCA"),
        )
    ),
)
SLOW_FIXTURES = {"browser", "cluster"}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(SLOW) or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


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
def setup_of():
    """Return a function that sets up the fit of an estimator to arrays, without solving it."""

    def make(estimator, X, y=None, sample_weight=None):
        spec = FitSpec.from_estimator(estimator)
        return set_up(spec, prepare_arrays(spec, X, y, sample_weight))

    return make


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
