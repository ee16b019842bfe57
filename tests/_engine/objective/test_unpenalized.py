"""Unpenalized columns, offsets and losses that couple rows, by independent solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.columns import Columns
from kernelknife._engine.objective import ExactProblem, NystromProblem
from kernelknife.kernels import RBF, Linear
from kernelknife.losses import CoupledLoss, HuberLoss, LogisticLoss, Loss, Risk, SquaredLoss

N = 60


class Counts(Loss):
    """Poisson loss, whose curvature has no bound."""

    scale_target = False
    curvature_bound = np.inf

    def value(self, y, f):
        return np.exp(np.minimum(f, 200.0)) - y * f

    def gradient(self, y, f):
        return np.exp(np.minimum(f, 200.0)) - y

    def curvature(self, y, f):
        return np.exp(np.minimum(f, 200.0))


class Differences(CoupledLoss):
    """Squared errors about their mean: every row counts in the mean of all."""

    has_intercept = False

    def bind(self, Y, s, n_outputs):
        return DifferencesRisk(Y[:, 0], s)


class DifferencesRisk(Risk):
    bound, coupled = np.inf, True

    def __init__(self, y, s):
        self.y, self.s = y, s

    def _errors(self, F):
        error = F.reshape(-1) - self.y
        return error - self.s @ error / self.s.sum()

    def values(self, F):
        return (self._errors(F) ** 2).reshape(F.shape)

    def value(self, F):
        return float(self.s @ self._errors(F) ** 2)

    def slope(self, F):
        return (2.0 * self._errors(F)).reshape(F.shape)

    def curvature(self, F):
        return (2.0 * self.s).reshape(F.shape)

    def hessian_product(self, F, V):
        mean = self.s @ V / self.s.sum()
        return (2.0 * self.s * (V - mean).T).T

    def column(self, q):
        return self


def draw(rng, loss):
    X, A = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    score = np.sin(X[:, 0]) + A @ [1.0, -0.7]
    if isinstance(loss, Counts):
        y = rng.poisson(np.exp(0.5 * score)).astype(float)
    elif loss.task == "classification":
        y = np.where(score + rng.logistic(size=N) > 0, 1.0, -1.0)
    else:
        y = score + 0.3 * rng.normal(size=N)
    return X, A, y[:, None], rng.uniform(0.5, 2.0, size=N)


def lowest(problem, w, offset=0.0):
    """The minimum over all coefficients by a general minimizer, in the features of the kernel."""
    K = problem.kernel_matrix(w)
    values, vectors = np.linalg.eigh(K)
    root = vectors[:, values > 1e-9] * np.sqrt(values[values > 1e-9])
    U = problem.U if problem.fit_intercept else problem.U[:, :-1]
    features = np.hstack([root, U])
    risk = problem.risk

    def value(c):
        F = features @ c
        norm = c[: root.shape[1]]
        gradient = features.T @ risk.gradient(F[:, None])[:, 0]
        gradient[: root.shape[1]] += 2.0 * problem.alpha * norm
        return risk.value(F[:, None]) + problem.alpha * norm @ norm, gradient

    found = minimize(
        value, np.zeros(features.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}
    )
    return found.fun


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "loss", [SquaredLoss(), HuberLoss(), LogisticLoss(), Counts(), Differences()], ids=repr
)
def test_a_solve_reaches_the_minimum(loss, fit_intercept, rng):
    X, A, Y, s = draw(rng, loss)
    problem = ExactProblem(
        X,
        Y,
        RBF(),
        loss,
        alpha=0.3,
        sample_weight=s,
        fit_intercept=fit_intercept and loss.has_intercept,
        adjusted=A,
    )
    w = np.array([0.8, 0.3, 0.0])
    state = problem.solve(w, tol=1e-10)
    assert state.inner.residual <= 1e-8
    assert_allclose(state.smooth, lowest(problem, w), rtol=1e-8)
    assert_allclose(problem.value(w, state.inner.C, state.inner.b, 0.0), state.smooth, rtol=1e-12)
    # The gradient is that of the minimum.
    numeric = [
        (problem.solve(w + e, tol=1e-10).smooth - problem.solve(w - e, tol=1e-10).smooth) / 2e-4
        for e in 1e-4 * np.eye(3)[:2]
    ]
    assert_allclose(problem.gradient(state)[:2], numeric, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), Counts(), Differences()], ids=repr)
def test_all_rows_as_centers_are_the_exact_problem(loss, rng):
    X, A, Y, s = draw(rng, loss)
    options = {"alpha": 0.3, "fit_intercept": loss.has_intercept}
    exact = ExactProblem(X, Y, RBF(), loss, sample_weight=s, adjusted=A, **options)
    both, all_columns = np.hstack([X, A]), Columns(np.arange(5), np.zeros(5), np.ones(5))
    rows = ArrayRows(both, Y, s, block_rows=N if loss.couples_rows else 17)
    nystrom = NystromProblem(
        rows,
        all_columns.restricted(np.arange(3)),
        X,
        RBF(),
        loss,
        adjusted=all_columns.restricted(np.arange(3, 5)),
        total_weight=s.sum(),
        **options,
    )
    w = np.array([0.8, 0.3, 0.5])
    one, two = exact.solve(w, tol=1e-10), nystrom.solve(w, tol=1e-8)
    assert_allclose(two.smooth, one.smooth, rtol=1e-7)
    assert_allclose(two.inner.b, one.inner.b, atol=1e-4)
    assert_allclose(nystrom.gradient(two), exact.gradient(one), rtol=1e-4, atol=1e-5)
    assert_allclose(nystrom.null_value, exact.null_value, rtol=1e-8)


def test_adjusting_for_columns_is_partialling_them_out(rng):
    X, A, Y, _ = draw(rng, SquaredLoss())
    problem = ExactProblem(X, Y, Linear(), SquaredLoss(), alpha=0.3, adjusted=A)
    w = np.array([0.8, 0.3, 0.1])
    U = np.hstack([A, np.ones((N, 1))])
    residual = np.eye(N) - U @ np.linalg.pinv(U)
    free = ExactProblem(
        residual @ X, residual @ Y, Linear(), SquaredLoss(), alpha=0.3, fit_intercept=False
    )
    one, two = problem.solve(w), free.solve(w)
    assert_allclose(one.smooth, two.smooth, rtol=1e-10)
    ours, theirs = ((X * w).T @ one.inner.C, (residual @ X * w).T @ two.inner.C)
    assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(), Counts()], ids=repr)
def test_an_offset_is_a_known_part_of_the_scores(loss, rng):
    X, _, Y, s = draw(rng, loss)
    offset = rng.normal(size=(N, 1))
    if isinstance(loss, Counts):
        exposure = np.exp(offset)
        # exp(f + o) - y f is, up to a constant, the loss of the rate y / exposure times exposure.
        plain = ExactProblem(X, Y / exposure, RBF(), loss, sample_weight=s * exposure[:, 0])
    else:
        plain = ExactProblem(X, Y - offset, RBF(), loss, sample_weight=s)
    known = ExactProblem(X, np.hstack([Y, offset]), RBF(), loss, sample_weight=s, n_outputs=1)
    w = np.array([0.8, 0.3, 0.5])
    one, two = known.solve(w, tol=1e-10), plain.solve(w, tol=1e-10)
    assert_allclose(one.inner.C, two.inner.C, atol=1e-7)
    assert_allclose(one.inner.b, two.inner.b, atol=1e-7)
    assert_allclose(known.gradient(one), plain.gradient(two), atol=1e-6)
