"""Solvers: monotone, in the box, and right where an independent solver knows the answer."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear, minimize
from sklearn.linear_model import Lasso, Ridge

from kernelknife._problem import ExactProblem, Features
from kernelknife._search.starts import StartSettings, make_starts, scaled_weights, solve_from
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import KERNELS, RBF, Linear, Polynomial
from kernelknife.losses import LOSSES, LogisticLoss, SquaredHinge, SquaredLoss
from kernelknife.solvers import Alternate, Eliminate, Outcome
from kernelknife.solvers.boxqp import minimize_box_quadratic

SMOOTH = sorted(name for name, cls in LOSSES.items() if cls().surrogate is None)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


# -- the box-constrained quadratic ---------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [(30, 8), (8, 30), (12, 12)])
def test_box_quadratic_against_scipy(rows, columns, rng):
    for _ in range(20):
        V, g = rng.normal(size=(rows, columns)), rng.normal(size=columns)
        ridge = 0.1
        lower, upper = -rng.uniform(0, 1, columns), rng.uniform(0, 1, columns)
        d, decrease = minimize_box_quadratic(V, ridge, g, lower, upper)
        # min |A d + c|^2 with A'A = V'V + ridge and A'c = g is the same problem.
        A = np.vstack([V, np.sqrt(ridge) * np.eye(columns)])
        c = np.linalg.lstsq(A.T, g, rcond=None)[0]
        oracle = lsq_linear(A, -c, bounds=(lower, upper), tol=1e-14).x
        Q = V.T @ V + ridge * np.eye(columns)
        assert np.all((lower <= d) & (d <= upper))
        assert_allclose(d, oracle, atol=1e-5)
        assert_allclose(decrease, -(0.5 * d @ Q @ d + g @ d), rtol=1e-9)


# -- properties over random problems -------------------------------------------------------


def random_problem(seed, kernel, loss):
    rng = np.random.default_rng(seed)
    n, p, k = rng.integers(5, 20), rng.integers(1, 7), rng.integers(1, 3)
    X = rng.normal(size=(n, p))
    Y = np.sin(2 * X[:, :1]) + rng.normal(size=(n, k))
    loss = LOSSES[loss]()
    if loss.task == "classification":
        Y = np.where(Y > 0, 1.0, -1.0)
    groups = rng.integers(0, 2, size=p) if p > 1 and rng.random() < 0.3 else None
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    problem = ExactProblem(
        X,
        Y,
        KERNELS[kernel](),
        loss,
        alpha=10.0 ** rng.uniform(-1, 1),
        sample_weight=rng.uniform(0.2, 3.0, size=n),
        features=Features.of_columns(
            p, groups, rng.uniform(0.5, 2.0, size=p), squared=not KERNELS[kernel].linear_in_weights
        ),
        fit_intercept=bool(rng.integers(2)),
    )
    return problem, rng.uniform(0.01, 1.0, size=problem.n_weights), 10.0 ** rng.uniform(-2, 2)


@pytest.mark.parametrize("solver", [Eliminate(), Alternate(max_iter=15)], ids=["new", "paper"])
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**31),
    kernel=st.sampled_from(sorted(set(KERNELS) - {"sigmoid"})),
    loss=st.sampled_from(SMOOTH),
)
def test_objective_never_rises(solver, seed, kernel, loss):
    problem, start, sparsity = random_problem(seed, kernel, loss)
    found = solver.solve(problem, start, sparsity)
    history = np.array(found.history)
    assert np.all(np.diff(history) <= 1e-12 * np.abs(history[0]))
    assert np.all((found.w >= 0) & (found.w <= 1))
    again = problem.value(found.w, found.C, found.b, sparsity)
    assert_allclose(found.objective, again, rtol=1e-9, atol=1e-12)
    assert found.objective <= history[0]
    assert list(found.solves) == sorted(found.solves)


# -- linear kernels: the convex case -------------------------------------------------------


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


# -- non-linear kernels --------------------------------------------------------------------


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


def test_both_solvers_minimise_the_same_objective():
    X, y = make_sinusoidal(80, 3, random_state=0)
    X, y = standardized(X), (y - y.mean()) / y.std()
    problem = ExactProblem(X, y[:, None], RBF(), SquaredLoss())
    start = scaled_weights(problem)
    a = Alternate(tol=1e-8).solve(problem, start, 2.0)
    b = Eliminate(tol=1e-8).solve(problem, start, 2.0)
    assert_allclose(a.objective, b.objective, rtol=1e-3)
    assert_allclose(a.w, b.w, atol=0.02)
    assert b.n_solves < a.n_solves


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
    held = solver.solve(problem, replace(here, damping=1e6), 20.0)
    assert held.objective <= 1.01 * lowest


def test_a_drop_that_failed_waits_until_it_may_pay():
    """Where the path is told what failed before, it ends as low and tries less."""
    X, y = make_sinusoidal(100, 25, random_state=1)
    problem = ExactProblem(standardized(X), standardized(y[:, None]), RBF(), SquaredLoss())
    here = Eliminate().solve(problem, scaled_weights(problem), 0.5)
    told = untold = here
    counts = np.zeros(2, dtype=int)
    for sparsity in 5.0 * 1.12 ** np.arange(35):
        told = Eliminate().solve(problem, told, sparsity)
        untold = Eliminate().solve(problem, replace(untold, drop_thresholds={}), sparsity)
        counts += told.n_solves, untold.n_solves
        assert told.objective <= 1.001 * untold.objective
    assert counts[0] < counts[1]


def test_pruning_only_ever_lowers_the_objective():
    X, y = make_skin_of_orange(100, 46, random_state=3)
    problem = ExactProblem(standardized(X), 2.0 * y[:, None] - 1.0, RBF(), SquaredHinge())
    start = make_starts(problem, StartSettings("scaled"))[0]
    with_it = solve_from(problem, Eliminate(prune=True), start, 2.0)
    without = solve_from(problem, Eliminate(prune=False), start, 2.0)
    assert with_it.objective <= without.objective * (1 + 1e-12)
    assert np.count_nonzero(with_it.w) <= np.count_nonzero(without.w)


@pytest.mark.parametrize("solver", [Eliminate(), Alternate()], ids=["new", "paper"])
def test_a_callback_stops_the_solver(solver):
    X, y = make_sinusoidal(40, 3, random_state=0)
    problem = ExactProblem(standardized(X), y[:, None] / y.std(), RBF(), SquaredLoss())
    found = solver.solve(problem, np.full(8, 0.2), 1.0, callback=lambda i, f: i > 2)
    assert found.n_iter == 2
    assert not found.converged
    assert found.outcome is Outcome.STOPPED


@pytest.mark.parametrize("solver", [Eliminate(max_iter=2), Alternate(max_iter=2)])
def test_running_out_of_iterations_is_said(solver):
    X, y = make_sinusoidal(40, 3, random_state=0)
    problem = ExactProblem(standardized(X), y[:, None] / y.std(), RBF(), SquaredLoss())
    found = solver.solve(problem, np.full(8, 0.2), 1.0)
    assert not found.converged
    assert found.outcome is Outcome.ITERATIONS
