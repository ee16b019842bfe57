"""The problem with centers: derivatives, blocks, and planted features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.data import Columns
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective import ExactProblem, Features, NystromProblem
from kernelknife._engine.objective.nystrom_coefficients import CoefficientDescent
from kernelknife._engine.solvers import SOLVERS
from kernelknife.kernels import KERNELS, RBF, Anova
from kernelknife.losses import LOSSES, SquaredHinge, SquaredLoss

DEFINITE = [name for name, kernel in KERNELS.items() if not kernel.indefinite]


SMOOTH = {name: loss for name, loss in LOSSES.items() if loss().surrogate is None}


def instance(rng, loss, n=40, p=4, k=1):
    X = rng.normal(size=(n, p))
    y = np.sin(2 * X[:, :k]) + 0.1 * rng.normal(size=(n, k))
    if loss.inverse_link(0.0) == 1.0:
        y = np.ceil(np.exp(y))  # counts
    if loss.task == "classification":
        y = np.where(y > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n)


def with_centers(X, y, s, Z, kernel, loss, **options):
    p = X.shape[1]
    rows = ArrayRows(X, y, s, block_rows=options.pop("block_rows", 16))
    columns = Columns(np.arange(p), np.zeros(p), np.ones(p))
    options.setdefault("total_weight", float(s.sum()))
    return NystromProblem(rows, columns, Z, kernel, loss, n_outputs=y.shape[1], **options)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "huber"])
def test_coefficients_are_better_than_the_step_needs(loss, rng):
    """Else the gain of a small step drowns in what the coefficients lack, and steps are refused."""
    loss = SMOOTH[loss]()
    X, y, s = instance(rng, loss, n=300)
    problem = with_centers(X, y, s, X[:40], RBF(), loss, alpha=0.1)
    w = np.full(4, 0.5)
    best = problem.solve(w, tol=1e-12).smooth
    for tol in (1e-2, 1e-3, 1e-4):
        lacking = problem.solve(w, tol=tol).smooth / best - 1.0
        assert -1e-12 <= lacking <= 20.0 * tol**2


@pytest.mark.parametrize("kernel", DEFINITE)
@pytest.mark.parametrize("loss", SMOOTH)
def test_all_rows_as_centers_is_the_exact_problem(kernel, loss, rng):
    kernel, loss = KERNELS[kernel](), SMOOTH[loss]()
    X, y, s = instance(rng, loss)
    w = rng.uniform(0.2, 0.7, X.shape[1])
    exact = ExactProblem(X, y, kernel, loss, alpha=0.5, sample_weight=s)
    ours = with_centers(X, y, s, X, kernel, loss, alpha=0.5)
    one, two = exact.solve(w, tol=1e-12), ours.solve(w, tol=1e-14)
    assert_allclose(two.smooth, one.smooth, rtol=1e-6)
    assert_allclose(ours.gradient(two), exact.gradient(one), rtol=1e-5, atol=1e-6 * one.smooth)
    assert_allclose(
        ours.value(w, two.inner.C, two.inner.b, 0.3),
        exact.value(w, one.inner.C, one.inner.b, 0.3),
        rtol=1e-6,
    )


@pytest.mark.parametrize("kernel", DEFINITE)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_gradient_against_finite_differences(kernel, loss, rng, central_difference):
    kernel, loss = KERNELS[kernel](), LOSSES[loss]()
    X, y, s = instance(rng, loss)
    w = rng.uniform(0.2, 0.7, X.shape[1])
    problem = with_centers(X, y, s, X[:12], kernel, loss)
    numeric = central_difference(lambda v: problem.solve(v, tol=1e-15).smooth, w, 1e-4)
    assert_allclose(problem.gradient(problem.solve(w, tol=1e-15)), numeric, rtol=1e-4, atol=1e-5)


def test_indefinite_kernels_are_refused(rng):
    X, y, s = instance(rng, SquaredLoss())
    with pytest.raises(ValueError, match="not positive semi-definite"):
        with_centers(X, y, s, X[:5], KERNELS["sigmoid"](), SquaredLoss())


def test_groups_sum_over_their_columns(rng):
    loss = SquaredLoss()
    X, y, s = instance(rng, loss, p=5)
    groups = np.array([0, 1, 0, 2, 1])
    w = np.array([0.4, 0.3, 0.6])
    exact = ExactProblem(X, y, RBF(), loss, sample_weight=s, features=Features(5, groups))
    ours = with_centers(X, y, s, X, RBF(), loss, features=Features(5, groups))
    assert_allclose(ours.gradient(ours.solve(w)), exact.gradient(exact.solve(w)), rtol=1e-5)


def test_gauss_newton_is_that_of_the_exact_problem(rng):
    X, y, s = instance(rng, SquaredLoss())
    w = rng.uniform(0.2, 0.7, X.shape[1])
    exact = ExactProblem(X, y, RBF(), SquaredLoss(), sample_weight=s)
    ours = with_centers(X, y, s, X, RBF(), SquaredLoss())
    V, W = exact.linearize(exact.solve(w)).V, ours.linearize(ours.solve(w)).V
    assert_allclose(W.T @ W, V.T @ V, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "matern", "rational_quadratic"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_hessian_against_finite_differences(kernel, loss, rng, central_difference):
    kernel, loss = KERNELS[kernel](), LOSSES[loss]()
    X, y, s = instance(rng, loss, n=60)
    w = rng.uniform(0.3, 0.7, X.shape[1])
    problem = with_centers(X, y, s, X[:15] + 0.1, kernel, loss)
    numeric = central_difference(lambda v: problem.gradient(problem.solve(v, tol=1e-15)), w, 1e-4)
    H = problem.linearize(problem.solve(w, tol=1e-15)).H
    assert_allclose(H, numeric, rtol=1e-3, atol=1e-3 * np.abs(numeric).max())


def test_the_blocks_do_not_matter(rng):
    X, y, s = instance(rng, SquaredHinge(), n=101)
    w = np.full(4, 0.5)
    values, gradients = [], []
    for block_rows in (7, 50, 1000):
        problem = with_centers(X, y, s, X[:20], RBF(), SquaredHinge(), block_rows=block_rows)
        state = problem.solve(w, tol=1e-13)
        values.append(state.smooth)
        gradients.append(problem.gradient(state))
    assert_allclose(values, values[0], rtol=1e-10)
    assert_allclose(gradients, [gradients[0]] * 3, rtol=1e-7)


@pytest.mark.parametrize("loss", [SquaredLoss(), SquaredHinge()])
def test_a_fit_descends_and_finds_the_planted_features(loss, rng):
    X = rng.normal(size=(600, 12))
    y = (X[:, 2] * X[:, 5] + 0.1 * rng.normal(size=600))[:, None]
    if loss.task == "classification":
        y = np.where(y > 0, 1.0, -1.0)
    problem = with_centers(X, y, np.ones(600), X[:120], RBF(), loss, block_rows=128)
    solution = SOLVERS["eliminate"]().solve(problem, np.full(12, 0.2), 80.0)
    assert solution.converged
    assert set(np.flatnonzero(solution.w)) == {2, 5}
    assert (np.diff(solution.history) <= 0).all()


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_step_that_overshoots_takes_its_best_length(seed, monkeypatch):
    """Nearly separable classes and a tiny alpha: whole Newton steps of a hinge overshoot."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=300) > 0, 1.0, -1.0)[:, None]

    def solve():
        problem = with_centers(X, y, np.ones(300), X[:100], RBF(), SquaredHinge(), alpha=1e-4)
        return problem, problem.solve(np.full(6, 0.6), tol=1e-8)

    problem, state = solve()
    value, C, b = state.smooth, state.inner.C, state.inner.b
    assert problem.value(state.w, C, b, 0.0) == pytest.approx(value, rel=1e-9)
    # It is the minimum: nothing nearby is lower, in any direction that was tried.
    for size in (1e-3, 1e-1):
        dC, db = size * rng.normal(size=C.shape), size * rng.normal(size=b.shape)
        assert problem.value(state.w, C + dC, b + db, 0.0) >= value * (1.0 - 1e-9)
    # Half of a step, where a whole one overshoots, takes more of them.
    monkeypatch.setattr(CoefficientDescent, "_best_length", lambda *_: 0.5)
    assert state.inner.factorizations < solve()[1].inner.factorizations


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kernel", [RBF(), Anova()], ids=repr)
def test_centers_that_span_the_others_are_enough(kernel, loss, rng, monkeypatch):
    loss = SMOOTH[loss]()
    X, y, s = instance(rng, loss, n=400)
    w = np.array([0.2, 0.1, 0.0, 0.01])
    problem = with_centers(X, y, s, X[:150], kernel, loss)
    few = problem.solve(w, tol=1e-10)
    assert few.few is not None
    assert np.count_nonzero(few.inner.C) == len(few.few.problem.centers) < 100
    monkeypatch.setattr(NystromProblem, "_enough", 0.0)
    everything = with_centers(X, y, s, X[:150], kernel, loss)
    all_ = everything.solve(w, tol=1e-10)
    assert all_.few is None
    assert_allclose(few.smooth, all_.smooth, rtol=1e-6)
    assert_allclose(problem.value(w, few.inner.C, few.inner.b, 0.0), few.smooth, rtol=1e-9)
    one, two = problem.linearize(few), everything.linearize(all_)
    # Curvature only proposes steps.
    for a, b, atol in (
        (one.gradient, two.gradient, 1e-5),
        (problem.gradient(few), everything.gradient(all_), 1e-5),
        (one.H, two.H, 1e-2),
        (one.V.T @ one.V, two.V.T @ two.V, 1e-2),
    ):
        assert_allclose(a, b, atol=atol * np.abs(b).max())
    # From the model at these weights a solve at others nearby takes as few steps.
    step = np.array([0.01, 0.01, 0.001])
    there = w + np.array([0.01, 0.01, 0.0, 0.001])
    steps = [
        p.solve(there, p.predict_warm(state, model, step), tol=1e-3).inner.factorizations
        for p, state, model in ((problem, few, one), (everything, all_, two))
    ]
    assert steps[0] <= steps[1]
    moved = problem.solve(w[::-1].copy(), few.warm, tol=1e-10)
    assert_allclose(moved.smooth, everything.solve(w[::-1].copy(), tol=1e-10).smooth, rtol=1e-6)
