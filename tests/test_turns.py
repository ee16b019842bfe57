"""Canonical pairs at given weights, and turns between two tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifePCA
from kernelknife._spectral import expand_columns, make_regressor, seen_columns, table_job
from kernelknife._turns import Side, Turns, canonical_pairs, correlate, next_pair


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
