"""Canonical pairs at given weights, and turns between two tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifePCA
from kernelknife._components.alternation import (
    Side,
    Turns,
    canonical_pairs,
    correlate,
    find_turns,
    next_pair,
)
from kernelknife._components.eigenproblems import (
    expand_columns,
    make_regressor,
    seen_columns,
    table_job,
)


@pytest.fixture
def sides(rng):
    """Two tables of 60 rows: the first columns of both go together."""
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    Y[:, 0] = X[:, 0] ** 2 + 0.1 * rng.normal(size=60)
    return make_side("X", X), make_side("y", Y)


def make_side(name, table, sparsity=2.0):
    regressor = make_regressor(KnifePCA(), len(table), 0)
    job = table_job(regressor, table)
    return Side(name, job, seen_columns(job), expand_columns(job), regressor, None, sparsity)


def test_the_singular_values_are_those_of_the_eigenproblem(rng):
    A, B = rng.normal(size=(40, 6)), rng.normal(size=(40, 5))
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    F, G, values = canonical_pairs(A, B, (0.7, 0.2), 3)
    left = A @ np.linalg.solve(A.T @ A + 0.7 * np.eye(6), A.T)
    right = B @ np.linalg.solve(B.T @ B + 0.2 * np.eye(5), B.T)
    assert_allclose(left @ right @ F, F * values**2, atol=1e-10)
    assert_allclose(right @ left @ G, G * values**2, atol=1e-10)
    assert_allclose((F**2).sum(axis=0), 40.0)


def test_correlate_is_the_correlation(rng):
    f, g = rng.normal(size=(2, 30))
    assert_allclose(correlate(f, g), np.corrcoef(f, g)[0, 1])
    assert correlate(f, np.ones(30)) == 0.0


# -- turns ----------------------------------------------------------------------------------------


def test_turns_end_where_one_more_changes_no_column(sides):
    turns = Turns(sides, [np.full(3, 0.5), np.full(2, 0.5)])
    turns.go_on(8)
    assert turns.settled
    assert [np.flatnonzero(w).tolist() for w in turns.weights] == [[0], [0]]
    more = Turns(sides, list(turns.weights))
    more.go_on(1)
    assert more.settled
    assert_allclose(more.objective, turns.objective, rtol=1e-2)


def test_the_features_are_those_of_the_weights(sides):
    turns = Turns(sides, [np.full(3, 0.5), np.full(2, 0.5)])
    turns.go_on(2)
    for i in (0, 1):
        assert_allclose(turns.features(i), sides[i].features(turns.weights[i]))


def test_a_second_pair_leaves_out_what_the_first_one_explains(sides):
    first = next_pair(sides, [], 0)
    second = next_pair(sides, [first], 0)
    assert first.correlation > 0.9
    assert abs(correlate(first.scores[0], second.scores[0])) < 0.5


def test_turns_stop_where_a_table_is_left_without_columns(sides):
    turns = find_turns((sides[0], make_side("y", sides[1].seen, sparsity=1e6)), seed=0)
    assert turns.empty
    assert turns.settled
    assert turns.objective == 1.0
    assert turns.weights[0].any()
    assert not turns.weights[1].any()


def test_turns_at_other_penalties_begin_where_the_first_have_ended(sides):
    turns = find_turns(sides, seed=0)
    before = [w.copy() for w in turns.weights]
    higher = turns.at_penalties((10.0, 10.0))
    higher.go_on(8, warm=True)
    assert higher.sparsities == [10.0, 10.0]
    for i in (0, 1):
        assert_allclose(turns.weights[i], before[i])
        assert set(np.flatnonzero(higher.weights[i])) <= set(np.flatnonzero(before[i]))
        assert higher.weights[i].sum() < before[i].sum()
    assert higher.objective > turns.objective


def test_a_warm_regression_is_the_regression_where_it_begins_at_its_weights(sides, rng):
    target = rng.normal(size=60) + 2.0 * sides[0].seen[:, 0]
    cold = sides[0].solve(target, 2.0)
    warm = sides[0].solve(target, 2.0, cold.w)
    assert_allclose(warm.w, cold.w, atol=1e-3)
    assert_allclose(warm.objective, cold.objective, rtol=1e-4)
    assert not sides[0].solve(target, 2.0, np.array([0.5, 0.5, 0.0])).w[2]
