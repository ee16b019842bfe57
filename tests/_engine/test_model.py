"""The fitted model: its refit with the hinge loss, and predictions for every kind of rows."""

import array_api_strict
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from kernelknife import KnifeClassifier
from kernelknife._engine.data.arrays import ArrayRows, DeviceRows
from kernelknife._engine.data.dask import dask_rows
from kernelknife._engine.data.parquet import ParquetRows
from kernelknife._engine.model import _class_probabilities
from kernelknife._engine.objective.corner import refit_corner
from kernelknife.kernels import RBF
from kernelknife.losses import Hinge, LogisticLoss


def test_hinge_refit_is_svc(rng):
    X, alpha = rng.normal(size=(60, 5)), 0.7
    y = np.where(np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 1.0, 1.0, -1.0)
    w, s = rng.uniform(0.1, 0.9, size=5), rng.uniform(0.5, 2.0, size=60)
    K = RBF()(X, X, w**2)
    C, b = refit_corner(K, Hinge(), y[:, None], s, alpha, np.ones((60, 1)))
    oracle = SVC(C=1 / (2 * alpha), kernel="rbf", gamma=1.0, tol=1e-10)
    oracle.fit(X * w, y, sample_weight=s)
    assert_allclose((K @ C + b)[:, 0], oracle.decision_function(X * w), atol=1e-6)


@pytest.fixture(scope="module")
def fitted():
    """A classifier of three classes with probabilities, and rows that it has not seen."""
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(90, 4)), rng.normal(size=(50, 4))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 1] + 0.3 * X[:, 2] ** 2, [-0.5, 0.7])]
    estimator = KnifeClassifier(loss="logistic", sparsity=1.0, alpha=0.1).fit(X, y)
    return estimator, new


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
    estimator, X = fitted
    model, rows = estimator._model, kinds_of(X, tmp_path)[kind]
    assert_allclose(np.asarray(model.scores(rows)), estimator.decision_function(X), atol=1e-12)
    assert_allclose(np.asarray(model.decisions(rows)), estimator.decision_function(X), atol=1e-12)
    assert_array_equal(np.asarray(model.predict(rows)), estimator.predict(X))
    shares = np.asarray(model.probabilities(rows, LogisticLoss()))
    assert_allclose(shares, estimator.predict_proba(X), atol=1e-12)


def test_scores_are_the_kernel_model_written_out(fitted):
    estimator, X = fitted
    model = estimator._model
    Z = (X[:, model.columns.index] - model.columns.center) / model.columns.scale
    K = RBF()(Z, model.vectors, model.v)
    assert_allclose(estimator.decision_function(X), K @ model.coef + model.intercept, atol=1e-12)
    assert_allclose(model.kernel_matrix(X), RBF()(Z, Z, model.v), atol=1e-12)


def test_nothing_but_selected_columns_and_used_rows_is_kept(fitted):
    estimator, _ = fitted
    model = estimator._model
    assert_array_equal(model.columns.index, estimator.get_support(indices=True))
    assert model.vectors.shape == (len(model.support), model.columns.n_seen)
    assert model.coef.any(axis=1).all()


def test_probabilities_where_every_class_is_impossible():
    """Scores so low that each chance underflows leave no class before another."""
    scores = np.array([[-1e4, -1e4, -1e4], [3.0, -1e4, -1e4]])
    shares = _class_probabilities(LogisticLoss(), scores)
    assert_allclose(shares, [[1 / 3] * 3, [1.0, 0.0, 0.0]])
