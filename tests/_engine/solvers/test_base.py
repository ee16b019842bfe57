"""What every solver promises: it descends, stays in the box, and names its reason to stop."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.solvers import Alternate, Eliminate, Outcome
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import KERNELS, RBF
from kernelknife.losses import LOSSES, SquaredLoss

SMOOTH = sorted(name for name, cls in LOSSES.items() if cls().surrogate is None)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def random_problem(seed, kernel, loss):
    rng = np.random.default_rng(seed)
    n, p, k = rng.integers(5, 20), rng.integers(1, 7), rng.integers(1, 3)
    X = rng.normal(size=(n, p))
    Y = np.sin(2 * X[:, :1]) + rng.normal(size=(n, k))
    loss = LOSSES[loss]()
    if loss.inverse_link(0.0) == 1.0:
        Y = np.ceil(np.exp(Y))  # counts
    if loss.task == "classification":
        Y = np.where(Y > 0, 1.0, -1.0)
        # With one class alone the best intercept is infinite; the estimators refuse it.
        Y[:2] = [[1.0], [-1.0]]
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
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
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
    assert list(found.factorizations) == sorted(found.factorizations)


@pytest.mark.parametrize("solver", [Eliminate(), Alternate()], ids=["new", "paper"])
def test_a_callback_stops_the_solver(solver):
    X, y = make_sinusoidal(40, 3, random_state=0)
    problem = ExactProblem(standardized(X), y[:, None] / y.std(), RBF(), SquaredLoss())
    found = solver.solve(problem, np.full(8, 0.2), 1.0, callback=lambda i, f: i > 2)
    assert found.n_iter == 2
    assert not found.converged
    assert found.outcome == Outcome.STOPPED


@pytest.mark.parametrize("solver", [Eliminate(max_iter=2), Alternate(max_iter=2)])
def test_running_out_of_iterations_is_said(solver):
    X, y = make_sinusoidal(40, 3, random_state=0)
    problem = ExactProblem(standardized(X), y[:, None] / y.std(), RBF(), SquaredLoss())
    found = solver.solve(problem, np.full(8, 0.2), 1.0)
    assert not found.converged
    assert found.outcome == Outcome.ITERATIONS
