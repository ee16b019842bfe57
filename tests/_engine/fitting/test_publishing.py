"""The fitted attributes say what the model is and how well it was found."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._utils.versions import HAS_CALLBACKS
from kernelknife.kernels import RBF


def test_objective_is_that_of_the_returned_model(sinusoid):
    X, y = sinusoid
    model = KnifeRegressor(sparsity=3.0).fit(X, y)
    residual = (y - model.predict(X)) / y.std()
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, model.get_support()]
    K = RBF()(Z, Z, model.weights_[model.get_support()] ** 2)
    norm = model.dual_coef_[:, 0] @ K @ model.dual_coef_[:, 0]
    assert_allclose(model.objective_, residual @ residual + norm + 3.0 * model.weights_.sum())
    assert_allclose(model.history_[-1], model.objective_)
    assert np.all(np.diff(model.history_) <= 0)


def test_state_is_sparse_in_rows_and_columns(orange):
    X, y = orange
    model = KnifeClassifier(sparsity=4.0).fit(X, y)
    margin = (2 * y - 1) * model.decision_function(X)
    assert_array_equal(model.support_vectors_rows_, np.flatnonzero(margin < 1))
    assert model.support_vectors_.shape == (
        len(model.support_vectors_rows_),
        model.get_support().sum(),
    )
    # Nothing but the selected columns is looked at.
    Z = X.copy()
    Z[:, ~model.get_support()] = 1e9
    assert_allclose(model.decision_function(Z), model.decision_function(X))
    assert len(pickle.dumps(model)) < 40_000


def test_a_fit_that_did_not_converge_says_why_and_what_to_do(sinusoid):
    with pytest.warns(ConvergenceWarning, match="KnifeRegressor did not converge") as seen:
        model = KnifeRegressor(sparsity=3.0, max_iter=1, start="scaled").fit(*sinusoid)
    assert not model.converged_
    assert "max_iter reached" in str(seen[0].message)
    assert "raise max_iter or tol" in str(seen[0].message)
    if HAS_CALLBACKS:  # without, one frame less lies between
        assert seen[0].filename == __file__
