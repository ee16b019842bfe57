"""What follows from the attributes of every problem: residuals, similarity, scales."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.objective import Features, Linearization, null_objective
from kernelknife._engine.objective.base import single_precision
from kernelknife.kernels import RBF
from kernelknife.losses import LOSSES, LogisticLoss, SquaredLoss


def test_the_residual_is_zero_where_no_weight_wants_to_move(make_problem):
    problem = make_problem(RBF(), SquaredLoss())
    w = np.array([0.0, 1.0, 0.5, 0.0, 1.0])
    settled = problem.null_value * np.array([2.0, -3.0, 0.0, 0.0, 0.0])
    everything = np.arange(5)
    assert problem.optimality(w, everything, settled) == 0.0
    pulled = problem.null_value * np.array([-0.2, 0.3, 0.1, 5.0, -1.0])
    assert_allclose(problem.optimality(w, everything, pulled), 0.3)
    # A step ends at the edge of the box.
    assert_allclose(problem.optimality(w, np.array([2]), np.array([1e9])), 0.5)
    assert problem.optimality(w, np.arange(0), np.zeros(0)) == 0.0


def test_similarity_is_squared_correlation(make_problem):
    problem = make_problem(RBF(), SquaredLoss())
    problem.centers[:, 1] = 3.0 - 2.0 * problem.centers[:, 0]
    active = np.array([0, 1, 3])
    expected = np.corrcoef(problem.centers[:, active].T) ** 2
    assert_allclose(problem.similarity(active), expected, atol=1e-12)
    assert_allclose(problem.similarity(active)[0, 1], 1.0)


def test_similarity_of_groups_is_the_alignment_of_their_gram_matrices(make_problem):
    groups = np.array([0, 1, 0, 2, 1])
    problem = make_problem(RBF(), SquaredLoss(), groups=groups)
    Z = problem.centers - problem.centers.mean(axis=0)
    grams = [Z[:, groups == g] @ Z[:, groups == g].T for g in range(3)]
    expected = [
        [np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for b in grams] for a in grams
    ]
    assert_allclose(problem.similarity(np.arange(3)), expected)


@pytest.mark.parametrize("loss", [name for name, cls in LOSSES.items() if cls().surrogate is None])
def test_the_null_objective_is_the_best_constant(loss, rng):
    loss = LOSSES[loss]()
    Y, s = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, size=40)
    if loss.inverse_link(0.0) == 1.0:
        Y = np.ceil(np.exp(Y))  # counts
    if loss.task == "classification":
        Y = np.where(Y > 0.5, 1.0, -1.0)
    risk, ones = loss.bind(Y, s, 2), np.ones((40, 1))
    best = null_objective(risk, 2, ones, loss.constant_curvature)
    grid = np.linspace(-5, 5, 4001)
    values = [min(s @ loss.value(y, np.full(40, b)) for b in grid) for y in Y.T]
    assert_allclose(best, sum(values), rtol=1e-4)
    zero = null_objective(risk, 2, ones[:, :0], loss.constant_curvature)
    assert_allclose(zero, (s @ loss.value(Y, np.zeros_like(Y))).sum())
    assert best <= zero


def test_the_curvature_offered_to_solvers_is_positive_definite(rng):
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    H = (Q * [5.0, 2.0, -1.0, 0.0]) @ Q.T
    model = Linearization(np.arange(4), np.zeros(4), rng.normal(size=(6, 4)), H)
    assert not model.positive
    turned = (Q * [5.0, 2.0, 1.0, 5e-3]) @ Q.T  # turned around, and none close to zero
    assert_allclose(model.gram, turned, atol=1e-12)
    definite = H + 3.0 * np.eye(4)
    assert Linearization(np.arange(4), np.zeros(4), model.V, definite).positive
    tall = Linearization(np.arange(4), np.zeros(4), model.V)
    assert_allclose(tall.gram, model.V.T @ model.V)
    assert_allclose(tall.largest_curvature, (model.V**2).sum(axis=0).max())
    assert Linearization(np.arange(4), np.zeros(4), model.V[:2]).gram is None


def test_single_precision_centers_and_keeps_what_would_overflow(rng):
    X = rng.normal(size=(20, 3)) + 1e9
    single = single_precision(X)
    assert single.dtype == np.float32
    assert_allclose(single, X - X.mean(axis=0), atol=1e-6)
    assert single_precision(1e20 * rng.normal(size=(20, 3))).dtype == float


def test_variants_of_a_problem(make_problem, rng):
    problem = make_problem(RBF(), LogisticLoss(), k=2)
    w = rng.uniform(0.2, 0.8, size=5)
    w[[1, 3]] = 0.0
    kept = np.flatnonzero(w)
    value = problem.solve(w, tol=1e-12).smooth
    small = problem.restricted(kept)
    assert_allclose(small.solve(w[kept], tol=1e-12).smooth, value)
    softer = problem.with_alpha(0.1)
    assert softer.alpha == 0.1
    assert softer.solve(w, tol=1e-12).smooth < value
    sample = problem.subsample(10, 0)
    assert sample.n_rows == 10
    assert problem.subsample(100).n_rows == problem.n_rows
    with pytest.raises(ValueError, match="no centers to choose"):
        problem.with_centers(problem.centers)
    assert problem.run_on_sample(len) is None
    assert isinstance(problem.features, Features)
