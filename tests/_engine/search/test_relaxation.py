"""Models refitted on a selection, and models of all features with equal weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.search import equal_weights, refit_without_penalty


@pytest.fixture
def data(rng):
    X = rng.normal(size=(70, 6))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=70)


@pytest.mark.parametrize("kernel", ["linear", "additive", "anova", "rbf", "laplace"])
def test_refitted_weights_are_a_minimum_without_penalty(data, kernel, setup_of):
    # Weights that enter linearly leave at larger penalties.
    sparsity = 100.0 if kernel in ("linear", "additive") else 5.0
    model = KnifeRegressor(kernel, alpha=0.1, sparsity=sparsity).fit(*data)
    relaxed = KnifeRegressor(kernel, alpha=0.1, sparsity=sparsity, relax=True).fit(*data)
    kept = model.weights_ > 0
    assert 0 < kept.sum() < 6
    assert not relaxed.weights_[~kept].any()
    assert relaxed.sparsity_ == model.sparsity_
    without = relaxed.objective_ - sparsity * relaxed.weights_.sum()
    assert without <= model.objective_ - sparsity * model.weights_.sum() + 1e-9
    # No weight of the support, moved a little, makes it better.
    problem = setup_of(relaxed, *data).problem
    for j in np.flatnonzero(kept):
        for step in (-0.02, 0.02):
            moved = relaxed.weights_.copy()
            moved[j] = np.clip(moved[j] + step, 0.0, 1.0)
            assert problem.solve(moved).smooth >= without * (1.0 - 2e-3)


def test_nothing_selected_stays_nothing(data, setup_of):
    setup = setup_of(KnifeRegressor("rbf"), *data)
    solution = refit_without_penalty(setup.problem, setup.spec.solver, np.zeros(6))
    assert not solution.w.any()
    assert_allclose(solution.objective, 70.0, rtol=1e-6)


def test_equal_weights_are_scikit_learns_model(data, setup_of):
    X, y = data
    model = KnifeRegressor("rbf", alpha=0.5, learn_weights=False, fit_intercept=False).fit(X, y)
    assert_allclose(model.weights_, model.weights_[0])
    Z, t = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    # Two typical rows have a weighted squared distance of 1.
    ridge = KernelRidge(kernel="rbf", gamma=0.5 / 6, alpha=0.5).fit(Z, t)
    assert_allclose(model.predict(X), ridge.predict(Z) * y.std() + y.mean(), rtol=1e-6)
    problem = setup_of(model, X, y).problem
    assert_array_equal(equal_weights(problem).w, model.weights_)


def test_given_weights_stay_where_they_are(data):
    X, y = data
    given = np.linspace(0.1, 0.6, 6)
    model = KnifeClassifier("rbf", start=given, learn_weights=False).fit(X, y > 0)
    assert_array_equal(model.weights_, given)
    assert model.converged_
