"""Columns that are copies of each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeRegressor
from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.search.copies import find_copies, merge_copies
from kernelknife.kernels import KERNELS, RBF, Polynomial
from kernelknife.losses import SquaredLoss


def signal_of_three():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=60)


@pytest.mark.parametrize("copy", [lambda X: X, lambda X: 1.0 - X], ids=["x", "1 - x"])
@pytest.mark.parametrize("options", [{}, {"n_centers": 60}], ids=["exact", "centers"])
def test_exact_copies_do_not_share(copy, options):
    """For v = w**2 one of two copies is cheaper than both, and the kernel is the same."""
    X, y = signal_of_three()
    alone = KnifeRegressor(sparsity=4.0, **options).fit(X, y)
    both = KnifeRegressor(sparsity=4.0, **options).fit(np.c_[X, copy(X)], y)
    first, second = both.weights_[:5] > 0, both.weights_[5:] > 0
    assert not (first & second).any()
    assert np.array_equal(first | second, alone.weights_ > 0)
    assert both.objective_ <= alone.objective_ * (1 + 1e-3)


def problem_of(X, groups=None, costs=None, kernel=None):
    kernel = kernel or RBF()
    features = Features.of_columns(X.shape[1], groups, costs, squared=not kernel.linear_in_weights)
    return ExactProblem(X, X[:, :1] ** 2, kernel, SquaredLoss(), features=features)


def test_copies_mirror_images_and_shifts_are_found(rng):
    x, z, u = rng.normal(size=(3, 50))
    X = np.column_stack([x, z, x, -z, u, x + 3.0, 1.0 - z, u + 1e-3 * x])
    assert find_copies(problem_of(X)).tolist() == [0, 1, 0, 1, 4, 0, 1, 7]


def test_a_shift_makes_another_column_where_the_kernel_sees_it(rng):
    x, z = rng.normal(size=(2, 50))
    X = np.column_stack([x, z, x + 3.0, -x])
    assert find_copies(problem_of(X, kernel=Polynomial())).tolist() == [0, 1, 2, 0]


def test_groups_are_copies_where_all_their_columns_are(rng):
    x, z, u = rng.normal(size=(3, 50))
    X = np.column_stack([x, z, z, -x, x, u])
    groups = np.array([0, 0, 1, 1, 2, 2])
    assert find_copies(problem_of(X, groups)).tolist() == [0, 0, 2]


def test_the_cheapest_copy_takes_the_weight_of_all(rng):
    x, z = rng.normal(size=(2, 50))
    X = np.column_stack([x, x, z, x])
    problem = problem_of(X, costs=np.array([1.0, 0.5, 1.0, 2.0]))
    w = np.array([0.3, 0.4, 0.2, 0.1])
    merged = merge_copies(problem, w)
    np.testing.assert_allclose(merged, [0.0, np.sqrt(0.26), 0.2, 0.0])
    # The kernel sees the squares: the model is the same, and the penalty is lower.
    np.testing.assert_allclose(problem.solve(merged).smooth, problem.solve(w).smooth)
    assert problem.costs @ merged < problem.costs @ w
    # Without copies nothing changes.
    np.testing.assert_array_equal(merge_copies(problem_of(X[:, 1:3]), w[:2]), w[:2])


def _near(correlation):
    def copy(x, rng):
        return correlation * x + np.sqrt(1.0 - correlation**2) * rng.normal(size=len(x))

    return copy


COPIES = {
    "exact": lambda x, rng: x,
    "1 - x": lambda x, rng: 1.0 - x,
    **{str(correlation): _near(correlation) for correlation in (0.99, 0.999, 0.9999)},
}


@pytest.mark.parametrize("case", [*COPIES, "two levels"])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_the_end_is_a_minimum_in_any_order_of_columns(kernel, case, setup_of):
    """Giving one of two copies the weight of both, and solving again, lowers nothing."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 60))
    if case == "two levels":
        x = (x > 0).astype(float)  # one-hot columns of a text with two levels
    copy = 1.0 - x if case == "two levels" else COPIES[case](x, rng)
    X = np.column_stack([x, z, copy, rng.normal(size=(60, 3))])
    y = np.sin(1.5 * x) + z + 0.1 * rng.normal(size=60)
    objectives = []
    for order in (np.arange(6), np.arange(6)[::-1]):
        model = KnifeRegressor(kernel=kernel, sparsity=2.0, alpha=0.5).fit(X[:, order], y)
        objectives.append(model.objective_)
        pair = [int(np.flatnonzero(order == column)[0]) for column in (0, 2)]
        w = model.weights_
        assert w[pair].any()
        if not w[pair].all():
            continue
        setup = setup_of(model, X[:, order], y)
        for kept in pair:
            start = w.copy()
            start[pair] = 0.0
            start[kept] = min(np.linalg.norm(w[pair], 2 if setup.problem.absorbing else 1), 1.0)
            merged = setup.spec.solver.solve(setup.problem, start, 2.0)
            assert merged.objective >= model.objective_ * (1.0 - 1e-4)
    # Of near copies, which are not the same column, the better one stays.
    assert_allclose(*objectives, rtol=1e-4)
