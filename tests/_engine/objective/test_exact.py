"""The eliminated objective and its derivatives, for every kernel and loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from kernelknife._engine.objective import ExactProblem
from kernelknife.kernels import KERNELS, RBF, Linear, Matern, Polynomial
from kernelknife.losses import (
    LOSSES,
    HuberLoss,
    LogisticLoss,
    SquaredHinge,
    SquaredLoss,
)

SMOOTH = [cls() for cls in LOSSES.values() if cls().surrogate is None]


EVERY_KERNEL = [*(cls() for cls in KERNELS.values()), Matern(nu=1.5), Polynomial(degree=3)]


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("grouped", [False, True], ids=["single", "grouped"])
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_gradient_matches_finite_differences(
    kernel, loss, grouped, k, rng, central_difference, make_problem
):
    groups = np.array([0, 1, 0, 2, 1]) if grouped else None
    problem = make_problem(kernel, loss, k=k, groups=groups)
    w = rng.uniform(0.2, 0.8, size=problem.n_weights)
    state = problem.solve(w, tol=1e-13)
    numeric = central_difference(lambda u: problem.solve(u, tol=1e-13).smooth, w)
    scale = np.abs(numeric).max()
    assert_allclose(problem.gradient(state), numeric, atol=2e-6 * scale)
    assert_allclose(problem.linearize(state).gradient, problem.gradient(state), atol=1e-10 * scale)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("k", [1, 3])
def test_gauss_newton_is_the_hessian_for_linear_kernels(
    loss, k, rng, central_difference, make_problem
):
    problem = make_problem(Linear(), loss, k=k)
    w = rng.uniform(0.2, 0.8, size=5)
    V = problem.linearize(problem.solve(w, tol=1e-13)).V
    numeric = central_difference(lambda u: problem.gradient(problem.solve(u, tol=1e-13)), w)
    assert_allclose(V.T @ V, numeric, atol=1e-5 * np.abs(numeric).max())


def test_predicted_scores_are_right_to_first_order(rng, make_problem):
    problem = make_problem(RBF(), LogisticLoss(), k=2)
    w, d = np.full(5, 0.4), rng.normal(size=5)
    state = problem.solve(w, tol=1e-13)
    model = problem.linearize(state)
    errors = []
    for t in (1e-2, 1e-3):
        guess = problem.predict_warm(state, model, t * d)
        errors.append(np.abs(guess - problem.solve(w + t * d, tol=1e-13).inner.F).max())
    assert errors[1] < 0.03 * errors[0]  # a tenth of the step, a hundredth of the error


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(), SquaredHinge()], ids=repr)
def test_integer_weights_are_repeated_rows(loss, rng, make_problem):
    repeats = rng.integers(1, 4, size=25)
    one = make_problem(RBF(), loss, sample_weight=repeats.astype(float))
    many = ExactProblem(
        np.repeat(one.centers, repeats, axis=0),
        np.repeat(one.Y, repeats, axis=0),
        one.kernel,
        loss,
        alpha=one.alpha,
    )
    w = rng.uniform(0.2, 0.8, size=5)
    a, b = one.solve(w), many.solve(w)
    assert_allclose(a.smooth, b.smooth, rtol=1e-9)
    assert_allclose(one.gradient(a), many.gradient(b), rtol=1e-6, atol=1e-9)
    Va, Vb = one.linearize(a).V, many.linearize(b).V
    assert_allclose(Va.T @ Va, Vb.T @ Vb, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_zero_weight_is_a_dropped_column(kernel, rng, make_problem):
    problem = make_problem(kernel, SquaredLoss(), plain=True)
    w = np.array([0.3, 0.0, 0.5, 0.2, 0.0])
    kept = np.flatnonzero(w)
    small = ExactProblem(
        problem.centers[:, kept], problem.Y, kernel, SquaredLoss(), alpha=problem.alpha
    )
    a, b = problem.solve(w), small.solve(w[kept])
    assert_allclose(a.smooth, b.smooth, rtol=1e-10)
    assert_allclose(problem.gradient(a)[kept], small.gradient(b), rtol=1e-8, atol=1e-10)
    if not kernel.linear_in_weights:
        assert_allclose(problem.gradient(a)[[1, 4]], 0.0)  # zero is absorbing


def test_linear_kernels_have_a_gradient_at_zero(rng, central_difference, make_problem):
    problem = make_problem(Linear(), SquaredLoss())
    w = np.array([0.3, 0.0, 0.5, 0.2, 0.0])
    forward = (problem.solve(w + 1e-7 * np.eye(5)[1]).smooth - problem.solve(w).smooth) / 1e-7
    assert_allclose(problem.gradient(problem.solve(w))[1], forward, rtol=1e-4)


def test_grouped_columns_share_weight_and_cost(rng, make_problem):
    groups = np.array([0, 1, 0, 2, 1])
    grouped = make_problem(RBF(), SquaredLoss(), groups=groups, costs=np.arange(1.0, 6.0))
    assert grouped.n_weights == 3
    assert_allclose(grouped.costs, [1 + 3, 2 + 5, 4])
    alone = ExactProblem(
        grouped.centers,
        grouped.Y,
        RBF(),
        SquaredLoss(),
        alpha=grouped.alpha,
        sample_weight=grouped.sample_weight,
    )
    w = np.array([0.4, 0.0, 0.7])
    assert_allclose(grouped.solve(w).smooth, alone.solve(w[groups]).smooth, rtol=1e-10)
    summed = np.bincount(groups, alone.gradient(alone.solve(w[groups])))
    assert_allclose(grouped.gradient(grouped.solve(w)), summed, atol=1e-9)


def test_gaussian_kernel_is_scikit_learns_on_scaled_columns(rng, make_problem):
    problem = make_problem(RBF(gamma=0.6), SquaredLoss())
    w = rng.uniform(size=5)
    K = problem.kernel_matrix(w)
    assert_allclose(K, rbf_kernel(problem.centers * w, gamma=0.6), rtol=1e-9)


def test_null_value_is_the_best_constant(rng, make_problem):
    problem = make_problem(RBF(), SquaredLoss(), k=2, plain=True)
    assert_allclose(problem.null_value, problem.Y.var(axis=0).sum() * 25, rtol=1e-5)
    nothing = problem.solve(np.zeros(5))
    assert_allclose(nothing.smooth, problem.null_value, rtol=1e-5)


def test_no_array_of_three_dimensions_is_formed(rng):
    """Memory of a derivative stays near n x n + n x p: far below n x n x p."""
    import tracemalloc

    n, p = 300, 200
    X = rng.normal(size=(n, p))
    problem = ExactProblem(X, X[:, :1] ** 2, RBF(), SquaredLoss())
    state = problem.solve(np.full(p, 0.05))
    tracemalloc.start()
    problem.linearize(state)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 8 * (n * n + n * p)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_exact_hessian_matches_finite_differences(
    kernel, loss, rng, central_difference, make_problem
):
    problem = make_problem(kernel, loss, n=40, k=2)
    w = rng.uniform(0.2, 0.8, size=5)
    model = problem.linearize(problem.solve(w, tol=1e-13))
    if not kernel.twice_differentiable:
        assert model.H is None
        return
    numeric = central_difference(lambda u: problem.gradient(problem.solve(u, tol=1e-13)), w)
    assert_allclose(model.H, numeric, atol=1e-5 * np.abs(numeric).max())
