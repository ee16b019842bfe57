"""The fitted machine: its refit with the hinge loss, and predictions for every kind of rows."""

import array_api_strict
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from kernelknife import KnifeClassifier
from kernelknife._problem.hinge import refit_hinge
from kernelknife._rows.arrays import ArrayRows, DeviceRows
from kernelknife._rows.dask import dask_rows
from kernelknife._rows.parquet import ParquetRows
from kernelknife.kernels import RBF
from kernelknife.losses import LogisticLoss
from kernelknife.machine import _class_probabilities


def test_hinge_refit_is_svc(rng):
    X, alpha = rng.normal(size=(60, 5)), 0.7
    y = np.where(np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 1.0, 1.0, -1.0)
    w, s = rng.uniform(0.1, 0.9, size=5), rng.uniform(0.5, 2.0, size=60)
    K = RBF()(X, X, w**2)
    C, b = refit_hinge(K, y[:, None], s, alpha)
    oracle = SVC(C=1 / (2 * alpha), kernel="rbf", gamma=1.0, tol=1e-10)
    oracle.fit(X * w, y, sample_weight=s)
    assert_allclose((K @ C + b)[:, 0], oracle.decision_function(X * w), atol=1e-6)


@pytest.fixture(scope="module")
def fitted():
    """A classifier of three classes with probabilities, and rows that it has not seen."""
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(90, 4)), rng.normal(size=(50, 4))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 1] + 0.3 * X[:, 2] ** 2, [-0.5, 0.7])]
    model = KnifeClassifier(loss="logistic", sparsity=1.0, alpha=0.1).fit(X, y)
    return model, new


def kinds_of(X, tmp_path):
    """Return the same rows to predict, of every kind."""
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "rows.parquet", row_group_size=17)
    return {
        "array": ArrayRows(X, block_rows=13),
        "device": DeviceRows(array_api_strict.asarray(X), block_rows=13),
        "parquet": ParquetRows(tmp_path / "rows.parquet"),
        "dask": dask_rows(da.from_array(X, chunks=(13, -1))),
    }


@pytest.mark.parametrize("kind", ["array", "device", "parquet", "dask"])
def test_predictions_do_not_depend_on_the_kind_of_rows(kind, fitted, tmp_path):
    model, X = fitted
    machine, rows = model._machine, kinds_of(X, tmp_path)[kind]
    assert_allclose(np.asarray(machine.scores(rows)), model.decision_function(X), atol=1e-12)
    assert_allclose(np.asarray(machine.decisions(rows)), model.decision_function(X), atol=1e-12)
    assert_array_equal(np.asarray(machine.predict(rows)), model.predict(X))
    shares = np.asarray(machine.probabilities(rows, LogisticLoss()))
    assert_allclose(shares, model.predict_proba(X), atol=1e-12)


def test_scores_are_the_kernel_machine_written_out(fitted):
    model, X = fitted
    machine = model._machine
    Z = (X[:, machine.columns.index] - machine.columns.center) / machine.columns.scale
    K = RBF()(Z, machine.vectors, machine.v)
    assert_allclose(model.decision_function(X), K @ machine.coef + machine.intercept, atol=1e-12)
    assert_allclose(machine.kernel_matrix(X), RBF()(Z, Z, machine.v), atol=1e-12)


def test_nothing_but_selected_columns_and_used_rows_is_kept(fitted):
    model, _ = fitted
    machine = model._machine
    assert_array_equal(machine.columns.index, model.get_support(indices=True))
    assert machine.vectors.shape == (len(machine.support), machine.columns.n_seen)
    assert machine.coef.any(axis=1).all()


def test_probabilities_where_every_class_is_impossible():
    """Scores so low that each chance underflows leave no class before another."""
    scores = np.array([[-1e4, -1e4, -1e4], [3.0, -1e4, -1e4]])
    shares = _class_probabilities(LogisticLoss(), scores)
    assert_allclose(shares, [[1 / 3] * 3, [1.0, 0.0, 0.0]])
