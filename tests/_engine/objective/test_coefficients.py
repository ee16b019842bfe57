"""The kernel model at fixed weights, against scikit-learn's solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from kernelknife._engine.objective import IndefiniteKernelError
from kernelknife.kernels import RBF, Linear, Sigmoid
from kernelknife.losses import (
    LOSSES,
    HuberizedHinge,
    LogisticLoss,
    SquaredHinge,
    SquaredLoss,
)

SMOOTH = [cls() for cls in LOSSES.values() if cls().surrogate is None]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_are_stationary(loss, fit_intercept, rng, make_problem):
    problem = make_problem(RBF(), loss, k=2, fit_intercept=fit_intercept)
    state = problem.solve(np.full(5, 0.4), tol=1e-12)
    inner = state.inner
    residual = problem.sample_weight[:, None] * loss.gradient(problem.Y, inner.F)
    residual += 2 * problem.alpha * inner.C
    assert_allclose(residual, 0.0, atol=1e-8)
    if fit_intercept:
        assert_allclose(inner.C.sum(axis=0), 0.0, atol=1e-8)
    else:
        assert_allclose(inner.b, 0.0)
    value = problem.value(state.w, inner.C, inner.b, 0.0)
    assert_allclose(state.smooth, value, rtol=1e-12)


def test_squared_loss_is_kernel_ridge(rng, make_problem):
    problem = make_problem(RBF(gamma=0.8), SquaredLoss(), k=2, fit_intercept=False)
    w = rng.uniform(0.1, 0.9, size=5)
    oracle = KernelRidge(alpha=0.7, kernel="rbf", gamma=0.8)
    oracle.fit(problem.centers * w, problem.Y, sample_weight=problem.sample_weight)
    assert_allclose(problem.solve(w).inner.C, oracle.dual_coef_, rtol=1e-6, atol=1e-9)


def test_a_narrow_huberized_hinge_approaches_svc(rng, make_problem):
    problem = make_problem(RBF(), HuberizedHinge(width=1e-4), n=60)
    w = np.full(5, 0.5)
    y = problem.Y[:, 0]
    oracle = SVC(C=1 / (2 * problem.alpha), kernel="rbf", gamma=1.0, tol=1e-10)
    oracle.fit(problem.centers * w, y, sample_weight=problem.sample_weight)
    scores = problem.solve(w, tol=1e-10).inner.F[:, 0]
    assert_allclose(scores, oracle.decision_function(problem.centers * w), atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_loss_is_logistic_regression(rng, fit_intercept, make_problem):
    problem = make_problem(Linear(), LogisticLoss(), n=60, fit_intercept=fit_intercept)
    w = rng.uniform(0.1, 0.9, size=5)
    oracle = LogisticRegression(
        C=1 / (2 * problem.alpha), fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000
    )
    X = problem.centers * np.sqrt(w)
    oracle.fit(X, problem.Y[:, 0], sample_weight=problem.sample_weight)
    scores = problem.solve(w, tol=1e-12).inner.F[:, 0]
    assert_allclose(scores, oracle.decision_function(X), atol=1e-6)


def test_squared_hinge_touches_only_support_vectors(rng, make_problem):
    problem = make_problem(RBF(), SquaredHinge(), n=80)
    state = problem.solve(np.full(5, 0.5))
    beyond = (problem.Y * state.inner.F)[:, 0] >= 1
    assert beyond.any()
    assert_allclose(state.inner.C[beyond], 0.0, atol=0)
    assert len(state.inner.factors[0].rows) == np.count_nonzero(~beyond)


def test_an_indefinite_kernel_is_reported(rng, make_problem):
    problem = make_problem(Sigmoid(gamma=5.0, coef0=-2.0), SquaredLoss(), n=60)
    problem.alpha = 1e-6
    with pytest.raises(IndefiniteKernelError, match="raise alpha"):
        problem.solve(np.ones(5))
