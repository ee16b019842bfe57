"""The Newton solver, against independent solvers where there are some."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, Ridge

from kernelknife._engine.objective import ExactProblem
from kernelknife._engine.search.starts import StartSettings, make_starts, scaled_weights, solve_from
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF, Linear, Polynomial
from kernelknife.losses import LogisticLoss, SquaredHinge, SquaredLoss


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def linear_solution(X, y, alpha, sparsity, **options):
    problem = ExactProblem(X, y[:, None], Linear(), SquaredLoss(), alpha=alpha, fit_intercept=False)
    start = options.pop("start", scaled_weights(problem))
    solver = Eliminate(tol=1e-13, max_iter=500)
    found = solver.solve(problem, start, sparsity)
    return problem, found, found.w * (X.T @ found.C[:, 0])


def test_linear_kernel_is_the_lasso():
    X, y = make_linear(60, 15, random_state=3)
    X, y = standardized(X), (y - y.mean()) / y.std()
    alpha, sparsity = 2.0, 9.0
    _, found, beta = linear_solution(X, y, alpha, sparsity)
    assert found.w.max() < 1
    assert 0 < np.count_nonzero(found.w) < X.shape[1]
    oracle = Lasso(np.sqrt(alpha * sparsity) / len(y), fit_intercept=False, tol=1e-14)
    assert_allclose(beta, oracle.fit(X, y).coef_, atol=1e-6)


def test_linear_kernel_with_more_features_than_rows_is_the_lasso(rng):
    X = standardized(rng.normal(size=(30, 120)))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=30)
    _, found, beta = linear_solution(X, y, 1.0, 20.0)
    assert found.w.max() < 1
    oracle = Lasso(np.sqrt(20.0) / 30, fit_intercept=False, tol=1e-14, max_iter=100_000)
    assert_allclose(beta, oracle.fit(X, y).coef_, atol=1e-6)


def test_linear_kernel_with_weights_at_one_is_the_reverse_huber():
    X, y = make_linear(60, 5, random_state=0)
    X, y = standardized(X), y - y.mean()
    alpha, sparsity = 1.0, 8.0

    def objective(split):
        beta = split[: X.shape[1]] - split[X.shape[1] :]
        size, r = split[: X.shape[1]] + split[X.shape[1] :], X @ beta - y
        corner = np.sqrt(sparsity / alpha)
        flat = size <= corner
        penalty = np.where(
            flat, 2 * np.sqrt(alpha * sparsity) * size, alpha * size**2 + sparsity
        ).sum()
        slope = np.where(flat, 2 * np.sqrt(alpha * sparsity), 2 * alpha * size)
        fit = 2 * X.T @ r
        return r @ r + penalty, np.concatenate([fit + slope, slope - fit])

    oracle = minimize(
        objective,
        np.full(2 * X.shape[1], 0.1),
        jac=True,
        bounds=[(0, None)] * (2 * X.shape[1]),
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    _, found, beta = linear_solution(X, y, alpha, sparsity)
    assert found.w.max() == 1
    assert found.w.min() < 1
    assert_allclose(found.objective, oracle.fun, rtol=1e-8)
    assert_allclose(beta, oracle.x[: X.shape[1]] - oracle.x[X.shape[1] :], atol=1e-4)


def test_linear_kernel_without_penalty_is_ridge():
    X, y = make_linear(50, 2, random_state=1)
    X = standardized(X)
    _, found, beta = linear_solution(X, y - y.mean(), 3.0, 0.0)
    assert_allclose(found.w, 1.0)
    assert_allclose(beta, Ridge(alpha=3.0, fit_intercept=False).fit(X, y - y.mean()).coef_)


def test_largest_useful_penalty_of_the_linear_kernel():
    X, y = make_linear(40, 5, random_state=2)
    X, y = standardized(X), (y - y.mean()) / y.std()
    largest = np.max((X.T @ y) ** 2) / 1.5
    assert not linear_solution(X, y, 1.5, 1.001 * largest)[1].w.any()
    assert linear_solution(X, y, 1.5, 0.98 * largest)[1].w.any()


@pytest.mark.parametrize("loss", [SquaredLoss(), SquaredHinge(), LogisticLoss()], ids=repr)
def test_linear_kernels_reach_one_minimum_from_anywhere(loss, rng):
    X, y = make_linear(60, 6, random_state=5)
    X, y = standardized(X), (y - y.mean()) / y.std()
    y = y if loss.task == "regression" else np.sign(y)
    problem = ExactProblem(X, y[:, None], Linear(), loss)
    solver = Eliminate(tol=1e-12, max_iter=500)
    starts = [rng.uniform(0.001, 1.0, size=11) for _ in range(5)] + [np.eye(11)[7]]
    found = [solver.solve(problem, start, 4.0) for start in starts]
    assert_allclose([s.objective for s in found], found[0].objective, rtol=1e-8)
    assert_allclose([s.w for s in found], np.tile(found[0].w, (6, 1)), atol=1e-4)
    assert max(s.kkt_residual for s in found) < 1e-5


@pytest.mark.parametrize("kernel", [RBF(), Polynomial()], ids=repr)
@pytest.mark.parametrize("loss", [SquaredLoss(), SquaredHinge(), LogisticLoss()], ids=repr)
def test_stationary_where_it_says_converged(kernel, loss):
    X, y = make_skin_of_orange(80, 4, random_state=0)
    problem = ExactProblem(standardized(X), 2.0 * y[:, None] - 1.0, kernel, loss)
    found = Eliminate(tol=1e-9).solve(problem, scaled_weights(problem), 3.0)
    assert found.converged
    assert found.kkt_residual < 1e-5
    for solution in (found, Eliminate(tol=1e-5).solve(problem, found, 3.0)):
        assert_allclose(solution.objective, found.objective, rtol=1e-4)


def test_no_early_stop_on_the_plateau_of_the_identity_kernel():
    """From too large weights the Gaussian kernel is the identity; the way back is flat."""
    X, y = make_skin_of_orange(100, 46, random_state=0)
    problem = ExactProblem(standardized(X), 2.0 * y[:, None] - 1.0, RBF(), LogisticLoss())
    found = solve_from(problem, Eliminate(), make_starts(problem, StartSettings("scaled"))[0], 0.0)
    assert found.objective < 0.85 * problem.null_value


def test_a_heavily_damped_step_is_no_certificate():
    """A step may promise little because it is held back, not because there is nothing to gain."""
    X, y = make_sinusoidal(60, 5, random_state=0)
    problem = ExactProblem(standardized(X), standardized(y[:, None]), RBF(), SquaredLoss())
    # At a solution the Hessian is known and positive; the penalty then rises.
    solver = Eliminate(prune=False)
    here = solver.solve(problem, scaled_weights(problem), 1.0)
    lowest = solver.solve(problem, here.without_memory(), 20.0).objective
    damped = replace(here, warm=replace(here.warm, damping=1e6))
    held = solver.solve(problem, damped, 20.0)
    assert held.objective <= 1.01 * lowest
