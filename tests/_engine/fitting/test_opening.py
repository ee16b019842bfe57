"""Rows to fit: weights of classes, sparse matrices, and tables that are refused with a reason."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelknife import KnifeClassifier, KnifeRegressor


def test_class_weights_are_sample_weights(orange):
    X, y = orange
    keep = np.flatnonzero((y == 1) | (np.arange(len(y)) % 4 == 0))
    X, y = X[keep], y[keep]
    options = {"sparsity": 3.0}
    s = np.where(y == 1, len(y) / (2 * (y == 1).sum()), len(y) / (2 * (y == 0).sum()))
    expected = KnifeClassifier(**options).fit(X, y, s)
    model = KnifeClassifier(class_weight="balanced", **options).fit(X, y)
    assert_allclose(model.decision_function(X), expected.decision_function(X))
    given = KnifeClassifier(class_weight={0: 3.0}, **options).fit(X, y, np.full(len(y), 2.0))
    expected = KnifeClassifier(**options).fit(X, y, np.where(y == 0, 6.0, 2.0))
    assert_allclose(given.decision_function(X), expected.decision_function(X))
    with pytest.raises(ValueError, match="class_weight is for classifiers"):
        KnifeRegressor(class_weight="balanced").fit(X, y * 1.5)


def test_texts_and_dates_are_named(sinusoid):
    X, y = sinusoid
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(kind="red")
    with pytest.raises(ValueError, match="Column 'kind' holds texts such as 'red'"):
        KnifeRegressor().fit(frame, y)
    days = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=len(y))})
    with pytest.raises(ValueError, match="Column 'when' holds dates"):
        KnifeRegressor().fit(days, y)
    model = KnifeRegressor(sparsity=3.0).fit(frame[["a", "b"]].assign(kind=1.0), y)
    with pytest.raises(ValueError, match="Column 'kind' holds texts"):
        model.predict(frame)


def test_a_sparse_matrix_is_taken_as_an_array(orange):
    X, y = orange
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = KnifeClassifier(sparsity=3.0).fit(sparse.csr_array(X), y)
    dense = KnifeClassifier(sparsity=3.0).fit(X, y)
    assert_array_equal(model.weights_, dense.weights_)
    assert_array_equal(model.predict(sparse.csc_matrix(X)), dense.predict(X))
    with pytest.raises(ValueError, match="raise memory_budget"):
        KnifeClassifier(memory_budget=1000).fit(sparse.csr_array(X), y)
