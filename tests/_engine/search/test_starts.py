"""Where the weights start."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelknife import KnifeRegressor, knife_path
from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.search import products, starts
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_skin_of_orange
from kernelknife.kernels import RBF, Anova, Joint, Linear, Polynomial
from kernelknife.losses import SquaredLoss


def uniform(n, p, seed):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, p))


@pytest.mark.parametrize("kept", [[], [0], [0, 1], [0, 1, 5]])
def test_a_start_is_added_unless_the_features_are_on_top(kept):
    X = uniform(300, 20, 11)
    problem = ExactProblem(X, np.sign(X[:, :1] * X[:, 1:2]), RBF(), SquaredLoss())
    base = np.zeros(20)
    base[kept] = 0.3
    w = starts.product_weights(problem, base)
    if kept == [0, 1]:
        assert w is None
    else:
        assert w[0] == w[1] == np.sqrt(0.25)
        assert w[5] < 0.5
        assert not w[6:].any()


def test_a_start_of_wide_groups_is_no_plateau():
    X = uniform(400, 60, 12)
    groups = np.arange(60) // 20
    problem = ExactProblem(
        X, np.sign(X[:, :1] * X[:, 20:21]), RBF(), SquaredLoss(), features=Features(60, groups)
    )
    w = starts.product_weights(problem, np.zeros(3))
    assert w[2] == 0.0
    assert w[groups] @ w[groups] == pytest.approx(0.5)


def test_rows_are_few_where_columns_are_many(monkeypatch):
    seen = []

    def watched(X, Y, weight):
        seen.append(X.shape)
        return np.zeros(0, dtype=int)

    monkeypatch.setattr(starts, "interacting_features", watched)
    monkeypatch.setattr(products, "MOST_STEPS", {2: 2e9, 3: 2e9})
    for p in (30, 1500, 4600):
        X = np.random.default_rng(p).normal(size=(1000, p))
        problem = ExactProblem(X, X[:, :1], RBF(), SquaredLoss())
        assert starts.product_weights(problem, np.zeros(p)) is None
    assert seen == [(1000, 30), (888, 1500)]


def test_named_starts_stay_what_they_are():
    X = uniform(400, 51, 0)
    y = X[:, :3].prod(axis=1) > 0
    for start in ("scaled", "laplace"):
        assert knife_path(X, y, start=start).start == start


@pytest.mark.parametrize("kernel", [RBF(), Linear()], ids=repr)
def test_the_scaled_start_gives_rows_a_typical_distance_of_one(kernel):
    X = np.random.default_rng(0).normal(size=(2000, 30))
    problem = ExactProblem(X, X[:, :1], kernel, SquaredLoss())
    subset = problem.features.everything
    v = subset.form_weights(starts.scaled_weights(problem))
    distance = ((X[:1000] - X[1000:]) ** 2) @ v
    assert np.mean(distance) == pytest.approx(1.0, rel=0.05)


def test_the_laplace_start_finds_what_matters_and_keeps_its_scale():
    X = uniform(200, 25, 3)
    y = np.sin(3 * X[:, 4]) + X[:, 9] ** 2
    problem = ExactProblem(X, y[:, None], RBF(), SquaredLoss())
    weights, factorizations = starts.laplace_weights(problem)
    assert set(np.argsort(-weights)[:2]) == {4, 9}
    assert weights @ weights == pytest.approx(0.5)
    assert factorizations > 0


def test_noise_has_no_laplace_start():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    problem = ExactProblem(X, y, RBF(), SquaredLoss(), alpha=100.0)
    assert starts.laplace_weights(problem)[0] is None
    names = [s.name for s in starts.make_starts(problem, starts.StartSettings("laplace"))]
    assert names == ["scaled"]


def test_random_starts_depend_on_the_seed_alone():
    X = uniform(60, 5, 0)
    problem = ExactProblem(X, X[:, :1], RBF(), SquaredLoss())
    settings = starts.StartSettings("scaled", n_starts=3, seed=1)
    first, again = (starts.make_starts(problem, settings) for _ in range(2))
    assert [s.name for s in first] == ["scaled", "random 1", "random 2", "random 3"]
    for one, two in zip(first, again, strict=True):
        assert np.array_equal(one.weights, two.weights)
        assert ((one.weights > 0) & (one.weights <= 1)).all()
    other = starts.make_starts(problem, starts.StartSettings("scaled", n_starts=3, seed=2))
    assert not np.array_equal(other[1].weights, first[1].weights)


def test_a_convex_problem_has_one_start():
    X = uniform(60, 5, 0)
    problem = ExactProblem(X, X[:, :1], Linear(), SquaredLoss())
    made = starts.make_starts(problem, starts.StartSettings("auto", n_starts=5, seed=0))
    assert [s.name for s in made] == ["scaled"]


def test_the_best_start_wins():
    X, y = uniform(80, 6, 0), np.random.default_rng(0).normal(size=(80, 1))
    problem = ExactProblem(X, y, RBF(), SquaredLoss())
    made = starts.make_starts(problem, starts.StartSettings("auto", n_starts=2, seed=0))
    for sparsity in (0.1, 100.0):
        best, results = starts.best_of_starts(problem, Eliminate(), made, sparsity)
        assert best.objective == min(solution.objective for _, solution in results)
        assert [name for name, _ in results] == [start.name for start in made]
        assert all(solution.warm is None for _, solution in results)


def test_a_multimodal_kernel_is_reached_over_smaller_penalties():
    """The full penalty at once drives out true features; the paper's algorithm ends at 54.8."""
    X, y = make_skin_of_orange(100, 46, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (y - y.mean()) / y.std()
    problem = ExactProblem(X, Y[:, None], Polynomial(degree=2), SquaredLoss())
    solver = Eliminate(tol=1e-6)
    start = starts.Start("scaled", starts.scaled_weights(problem))
    at_once = solver.solve(problem, starts.relax(problem, solver, start).without_memory(), 10.0)
    solution = starts.solve_from(problem, solver, start, 10.0)
    assert solution.objective < 50.0 < 60.0 < at_once.objective
    assert set(range(4)) <= set(np.flatnonzero(solution.w))


@pytest.mark.parametrize(
    ("kernel", "first"),
    [(RBF(), ["scaled", "laplace"]), (Joint(), ["scaled", "laplace"]), (Anova(), ["surrogate"])],
)
def test_joint_functions_start_with_the_laplace_kernel_and_effects_with_a_surrogate(kernel, first):
    X = uniform(100, 6, 13)
    problem = ExactProblem(X, np.sin(3.0 * X[:, :1]), kernel, SquaredLoss())
    assert [start.name for start in starts.make_starts(problem)][: len(first)] == first


@pytest.mark.parametrize("kernel", ["rbf", "joint"])
def test_starts_see_every_column_of_a_group(kernel, setup_of):
    """Two groups act together by their second columns."""
    X = uniform(150, 12, 14)
    model = KnifeRegressor(kernel, feature_groups=np.arange(12) // 2)
    problem = setup_of(model, X, X[:, 1] * X[:, 3]).problem
    lifted = starts.product_weights(problem, np.zeros(6))
    assert_array_equal(np.flatnonzero(lifted), [0, 1])
    # Both starts have two typical rows as far apart.
    weights, _ = starts.laplace_weights(problem)
    scaled = starts.scaled_weights(problem)
    assert weights @ weights == pytest.approx(scaled @ scaled)


@pytest.mark.parametrize("seed", range(4))
def test_without_a_penalty_effects_are_also_sought_from_equal_weights(seed):
    """What the surrogate drops is lost: it ended up to twice as high, with columns at zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 4] + 0.1 * rng.normal(size=60)
    options = {"kernel": "anova", "alpha": 0.1, "sparsity": 0.0}
    model = KnifeRegressor(**options).fit(X, y)
    assert "scaled" in dict(model.starts_)
    from_ones = KnifeRegressor(**options, start=np.ones(5)).fit(X, y)
    assert model.objective_ <= 1.01 * from_ones.objective_
