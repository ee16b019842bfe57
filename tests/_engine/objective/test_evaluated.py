"""The kernel of low rank, against the full one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import knife_path
from kernelknife._engine.objective import exact
from kernelknife._engine.objective.evaluated import LEAST_ROWS, FullKernel, LowRankKernel
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import RBF, Anova, Laplace, Matern, Polynomial
from kernelknife.losses import LogisticLoss, PoissonLoss, SquaredHinge, SquaredLoss

KERNELS = [RBF(), RBF(gamma=0.3), Anova(), Polynomial(degree=3)]
WEIGHTS = np.array([0.15, 0.12, 0.1, 0.0, 0.03])


@pytest.fixture
def in_full(monkeypatch):
    """Return a function that solves a problem by the full kernel matrix."""

    def solve(problem, w, **options):
        with monkeypatch.context() as patch:
            patch.setattr(LowRankKernel, "find", lambda *arguments: None)
            return problem.solve(w, **options)

    return solve


def assert_agree(problem, low, full, rtol):
    assert isinstance(low.kernel, LowRankKernel)
    assert isinstance(full.kernel, FullKernel)
    # The objective of a low rank lies above the exact one, and no further than it states.
    assert -1e-12 <= low.smooth / full.smooth - 1.0 <= exact.SURE
    assert low.inner.factorizations == full.inner.factorizations

    def close(one, other):
        assert_allclose(one, other, atol=rtol * np.abs(other).max())

    a, b = problem.linearize(low), problem.linearize(full)
    close(low.inner.F, full.inner.F)
    close(a.gradient, b.gradient)
    close(problem.gradient(low)[b.active], b.gradient)
    close(a.V.T @ a.V, b.V.T @ b.V)
    close(a.H, b.H)
    close(problem.potential(low), problem.potential(full))
    step = 0.01 * np.ones(len(a.active))
    close(problem.predict_warm(low, a, step), problem.predict_warm(full, b, step))


@pytest.mark.parametrize("grouped", [False, True], ids=["single", "grouped"])
@pytest.mark.parametrize("loss", [SquaredLoss(), SquaredHinge(), LogisticLoss()], ids=repr)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_low_rank_is_the_full_matrix(kernel, loss, grouped, make_problem, in_full):
    groups = np.array([0, 1, 0, 2, 1]) if grouped else None
    problem = make_problem(kernel, loss, n=600, k=2, groups=groups)
    w = 0.5 * WEIGHTS[:3] if grouped else WEIGHTS
    low, full = problem.solve(w, tol=1e-12), in_full(problem, w, tol=1e-12)
    assert_agree(problem, low, full, 2e-5)


def test_duplicates_of_a_few_rows_have_a_rank_of_few(rng, in_full):
    few = rng.normal(size=(30, 5))
    X = few[rng.integers(30, size=600)]
    y = X[:, :1] ** 2 - 1.0 + 0.3 * rng.normal(size=(600, 1))
    for alpha in (1.0, 1e-4):
        problem = exact.ExactProblem(X, y, RBF(), SquaredLoss(), alpha=alpha)
        w = np.full(5, 0.3)
        low, full = problem.solve(w), in_full(problem, w)
        assert len(low.kernel.pivots) <= 30
        assert_agree(problem, low, full, 1e-6)


def test_rows_of_no_low_rank_are_solved_in_full(rng, make_problem):
    problem = make_problem(RBF(), SquaredLoss(), n=600)
    everywhere = np.ones(5)  # the kernel is nearly the identity
    assert isinstance(problem.solve(everywhere).kernel, FullKernel)
    tiny = problem.with_alpha(1e-9)
    state = tiny.solve(WEIGHTS)
    assert isinstance(state.kernel, FullKernel)
    assert state.inner.residual <= 1e-9


def test_no_weight_at_all_is_a_kernel_of_one_function(make_problem, in_full):
    problem = make_problem(RBF(), SquaredHinge(), n=600)
    nothing = np.zeros(5)
    low = problem.solve(nothing)
    assert len(low.kernel.pivots) == 1
    full = in_full(problem, nothing)
    assert_allclose(low.smooth, full.smooth, rtol=1e-10)
    assert_allclose(problem.potential(low), problem.potential(full), rtol=1e-8)


def test_where_the_bound_does_not_hold_the_matrix_is_full(make_problem):
    weighted = [make_problem(Laplace(), SquaredLoss(), n=600)]  # a gradient at zero
    weighted.append(make_problem(RBF(), PoissonLoss(), n=600))  # no bound of the curvature
    weighted.append(make_problem(RBF(), SquaredLoss(), n=LEAST_ROWS - 1))
    for problem in weighted:
        assert isinstance(problem.solve(0.1 * WEIGHTS).kernel, FullKernel)


@pytest.mark.parametrize("kernel", [RBF(), Anova(), Matern(nu=2.5)], ids=repr)
def test_a_path_is_that_of_the_full_matrix(kernel, monkeypatch):
    X, y = make_sinusoidal(LEAST_ROWS, 6, random_state=0)
    low = knife_path(X, y, kernel=kernel, sparsities=12, n_centers=None)
    monkeypatch.setattr(LowRankKernel, "find", lambda *arguments: None)
    full = knife_path(X, y, kernel=kernel, sparsities=12, n_centers=None)
    assert_allclose(low.objective, full.objective, rtol=1e-5)
    assert ((low.weights > 0) == (full.weights > 0)).all()
    assert (low.ranking == full.ranking).all()
    assert low.n_factorizations == full.n_factorizations
