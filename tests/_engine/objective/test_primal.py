"""The problem of sums is the exact problem, and its path is the exact path."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.data import Columns
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.objective.primal import PrimalProblem, has_primal, measure_sums
from kernelknife._engine.search import StartSettings, follow_path, refit_without_penalty
from kernelknife._engine.solvers import Eliminate
from kernelknife.kernels import RBF, Additive, Linear
from kernelknife.losses import HuberLoss, SquaredLoss

N, P = 120, 8
GROUPS = np.array([0, 1, 0, 2, 1, 3, 4, 4])
COSTS = np.array([1.0, 0.5, 2.0, 1.5, 0.5, 1.0, 0.0, 0.0])
CASES = {
    "plain": (),
    "weights": ("weights",),
    "groups": ("groups",),
    "costs": ("costs",),
    "outputs": ("outputs",),
    "no intercept": ("no intercept",),
    "offset": ("offset",),
    "adjusted": ("adjusted",),
    "adjusted, no intercept": ("adjusted", "no intercept"),
    "everything": ("weights", "groups", "costs", "outputs", "offset", "adjusted"),
}


def both(rng, parts, alpha=0.5):
    """Return the exact problem and that of sums, of the same data."""
    X = rng.normal(size=(N, P)) + 0.3
    Y = np.column_stack([X[:, 0] + X[:, 1] - X[:, 6], X[:, 2] * X[:, 3], X[:, 5]])
    Y = (Y + 0.5 * rng.normal(size=Y.shape))[:, : 3 if "outputs" in parts else 1]
    s = rng.uniform(0.5, 2.0, size=N) if "weights" in parts else np.ones(N)
    features = Features.of_columns(
        P,
        GROUPS if "groups" in parts else None,
        COSTS if "costs" in parts else None,
        squared=False,
    )
    options = {"alpha": alpha, "features": features, "fit_intercept": "no intercept" not in parts}
    n_outputs, adjusted = Y.shape[1], None
    own = {"sample_weight": s, "n_outputs": n_outputs, **options}
    columns = Columns.as_seen(P)
    if "offset" in parts:
        Y = np.hstack([Y, rng.normal(size=Y.shape)])
    if "adjusted" in parts:
        U = rng.normal(size=(N, 2)) + X[:, :2]
        own["adjusted"], adjusted = U, replace(Columns.as_seen(2), index=np.array([P, P + 1]))
        X = np.hstack([X, U])
    exact = ExactProblem(X[:, :P], Y, Linear(), SquaredLoss(), **own)
    rows = ArrayRows(X, Y, s, block_rows=16)
    sums = measure_sums(rows, columns, adjusted, n_outputs, options["fit_intercept"])
    return exact, PrimalProblem(sums, Linear(), SquaredLoss(), **options)


@pytest.mark.parametrize("case", CASES)
def test_values_and_derivatives_are_those_of_the_exact_problem(case, rng):
    exact, sums = both(rng, CASES[case])
    some = rng.uniform(0.1, 0.9, exact.n_weights)
    some[1] = 0.0
    for w in (some, np.zeros_like(some), np.ones_like(some)):
        one, two = exact.solve(w), sums.solve(w)
        assert_allclose(two.smooth, one.smooth, rtol=1e-11)
        assert_allclose(two.inner.b, one.inner.b, rtol=1e-9, atol=1e-11)
        assert_allclose(sums.gradient(two), exact.gradient(one), rtol=1e-9)
        assert_allclose(sums.potential(two), exact.potential(one), rtol=1e-9)
        assert_allclose(sums.null_value, exact.null_value, rtol=1e-12)
        for penalty in (None, 5.0 * exact.costs):
            models = exact.linearize(one, penalty), sums.linearize(two, penalty)
            assert_allclose(models[1].active, models[0].active)
            assert_allclose(models[1].gradient, models[0].gradient, rtol=1e-9)
            curvature = [model.V.T @ model.V for model in models]
            size = np.abs(curvature[0]).max(initial=1e-300)
            assert_allclose(curvature[1], curvature[0], atol=1e-10 * size)
        values = [
            problem.value(w, state.inner.C, state.inner.b, 2.0)
            for problem, state in ((exact, one), (sums, two))
        ]
        assert_allclose(values[1], values[0], rtol=1e-11)
        assert_allclose(values[0], one.smooth + 2.0 * exact.costs @ w, rtol=1e-11)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_a_path_is_the_exact_path(case, alpha, rng):
    exact, sums = both(rng, CASES[case])
    exact, sums = exact.with_alpha(alpha), sums.with_alpha(alpha)
    one, two = (
        follow_path(problem, Eliminate(tol=1e-8), StartSettings(), 15) for problem in (exact, sums)
    )
    assert len(one.points) == len(two.points)
    for a, b in zip(one.points, two.points, strict=True):
        assert_allclose(b.sparsity, a.sparsity, rtol=1e-8)
        assert_allclose(b.objective, a.objective, rtol=1e-9)
        assert_allclose(b.w, a.w, atol=1e-6)
    point = one.points[7]
    refits = [refit_without_penalty(problem, Eliminate(), point.w) for problem in (exact, sums)]
    assert_allclose(refits[1].objective, refits[0].objective, rtol=1e-9)


def test_a_restricted_problem_is_that_of_the_columns_alone(rng):
    exact, sums = both(rng, ("weights", "groups"))
    kept = np.array([0, 2, 3])
    w = rng.uniform(0.1, 0.9, 3)
    one, two = exact.restricted(kept).solve(w), sums.restricted(kept).solve(w)
    assert_allclose(two.smooth, one.smooth, rtol=1e-11)
    active = np.array([1, 2])
    assert_allclose(sums.similarity(kept).diagonal(), 1.0)
    assert_allclose(sums.similarity_to_all(active)[:, active], sums.similarity(active))


def test_sums_without_a_fold_are_those_of_the_other_rows(rng):
    X, Y = rng.normal(size=(N, P)), rng.normal(size=(N, 1))
    s = rng.uniform(0.5, 2.0, N)
    fold = np.arange(N) % 3 == 0
    whole, test, train = (
        measure_sums(ArrayRows(X[rows], Y[rows], s[rows]), Columns.as_seen(P), None, 1, True)
        for rows in (slice(None), fold, ~fold)
    )
    assert_allclose((whole - test).products, train.products, rtol=1e-10, atol=1e-12)
    assert_allclose((train + test).products, whole.products, rtol=1e-10, atol=1e-12)
    assert (whole - test).n_rows == train.n_rows == N - fold.sum()
    assert_allclose((whole - test).total_weight, train.total_weight)


def test_only_squared_losses_of_convex_products_are_sums():
    assert has_primal(Linear(), SquaredLoss())
    assert has_primal(Additive(), SquaredLoss())
    assert not has_primal(Linear(), HuberLoss())
    assert not has_primal(RBF(), SquaredLoss())

    class Heavier(SquaredLoss):
        def value(self, y, f):
            return 2.0 * (y - f) ** 2

    assert not has_primal(Linear(), Heavier())
    with pytest.raises(ValueError, match="not determined by sums"):
        PrimalProblem(None, RBF(), SquaredLoss())
