"""Canonical pairs at given weights, and the alternation between two tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._components.alternation import (
    Alternation,
    Side,
    canonical_pairs,
    correlate,
    find_alternation,
    find_pairs,
    permutation_tests,
)
from kernelknife._engine import FitSpec
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.solvers import Eliminate
from kernelknife._utils.progress import SILENT
from kernelknife.kernels import RBF, Linear
from kernelknife.losses import SquaredLoss


def make_side(name, table, sparsity=2.0, kernel=None, **options):
    spec = FitSpec(kernel or RBF(), SquaredLoss(), Eliminate(), sparsity=sparsity, **options)
    return Side.of(name, spec, ArrayRows(table))


@pytest.fixture
def sides(rng):
    """Two tables of 60 rows: the first columns of both go together."""
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    Y[:, 0] = X[:, 0] ** 2 + 0.1 * rng.normal(size=60)
    return make_side("X", X), make_side("y", Y)


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


# -- the alternation ------------------------------------------------------------------------------


def test_it_ends_where_one_more_round_changes_no_column(sides):
    search = Alternation(sides, [np.full(3, 0.5), np.full(2, 0.5)])
    search.run(8)
    assert search.settled
    assert [np.flatnonzero(w).tolist() for w in search.weights] == [[0], [0]]
    more = Alternation(sides, list(search.weights))
    more.run(1)
    assert more.settled
    assert_allclose(more.objective, search.objective, rtol=1e-2)


def test_the_features_are_those_of_the_weights(sides):
    search = Alternation(sides, [np.full(3, 0.5), np.full(2, 0.5)])
    search.run(2)
    for i in (0, 1):
        assert_allclose(search.features(i), sides[i].features(search.weights[i]))


def test_nothing_is_left_of_columns_that_an_earlier_pair_explains_without_a_penalty(rng):
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    X[:, 1] += X[:, 0]
    Y[:, 0] += 3.0 * X[:, 0]
    Y[:, 1] += X[:, 1]
    sides = tuple(
        make_side(name, table, kernel=Linear(), alpha=1e-9) for name, table in (("X", X), ("y", Y))
    )
    first = Alternation(sides, [np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0])]).leading_pair()
    everything = [np.ones(3), np.ones(2)]
    anew = Alternation(sides, everything).leading_scores(1)
    left = Alternation(sides, everything, tuple([f] for f in first.features)).leading_scores(1)
    for i in (0, 1):
        assert abs(correlate(first.scores[i], anew[i][:, 0])) > 0.5
        assert abs(correlate(first.scores[i], left[i][:, 0])) < 1e-6


def test_a_second_pair_has_columns_and_scores_of_its_own(rng):
    X, Y = rng.normal(size=(200, 4)), rng.normal(size=(200, 3))
    Y[:, 0] = X[:, 0] ** 2 + 0.1 * rng.normal(size=200)
    Y[:, 1] = np.sin(2.0 * X[:, 1]) + 0.1 * rng.normal(size=200)
    sides = make_side("X", X, 6.0), make_side("y", Y, 6.0)
    pairs = find_pairs(sides, 2, SILENT)
    selected = [[np.flatnonzero(w).tolist() for w in pair.weights] for pair in pairs]
    assert sorted(selected) == [[[0], [0]], [[1], [1]]]
    assert min(pair.correlation for pair in pairs) > 0.9
    # The columns of both pairs are independent: twice the standard deviation of such a correlation.
    for first, second in zip(pairs[0].scores, pairs[1].scores, strict=True):
        assert abs(correlate(first, second)) < 2.0 / np.sqrt(200)


def test_it_stops_where_a_table_is_left_without_columns(sides):
    search = find_alternation((sides[0], make_side("y", sides[1].seen, sparsity=1e6)))
    assert search.empty
    assert search.settled
    assert search.objective == 1.0
    assert search.weights[0].any()
    assert not search.weights[1].any()


def test_at_other_penalties_it_begins_where_the_first_one_has_ended(sides):
    search = find_alternation(sides)
    before = [w.copy() for w in search.weights]
    higher = search.at_penalties((10.0, 10.0))
    higher.run(8, warm=True)
    assert higher.sparsities == [10.0, 10.0]
    for i in (0, 1):
        assert_allclose(search.weights[i], before[i])
        assert set(np.flatnonzero(higher.weights[i])) <= set(np.flatnonzero(before[i]))
        assert higher.weights[i].sum() < before[i].sum()
    assert higher.objective > search.objective


def test_a_warm_regression_is_the_regression_where_it_begins_at_its_weights(sides, rng):
    target = rng.normal(size=60) + 2.0 * sides[0].seen[:, 0]
    cold = sides[0].solve(target, 2.0)
    warm = sides[0].solve(target, 2.0, cold.w)
    assert_allclose(warm.w, cold.w, atol=1e-3)
    assert_allclose(warm.objective, cold.objective, rtol=1e-4)
    assert not sides[0].solve(target, 2.0, np.array([0.5, 0.5, 0.0])).w[2]


# -- rows that were held out ----------------------------------------------------------------------


def test_a_correlation_that_no_permutation_reaches_has_the_smallest_p_value(sides, rng):
    (pair,) = find_pairs(sides, 1, SILENT)
    X, noise = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    together = np.column_stack([X[:, 0] ** 2, noise[:, 1]])
    tables = ArrayRows(X), ArrayRows(together)
    correlations, p_values = permutation_tests([pair], tables, 99, np.random.default_rng(0))
    f, g = (model.scores(rows)[:, 0] for model, rows in zip(pair.models, tables, strict=True))
    assert_allclose(correlations, [np.corrcoef(f, g)[0, 1]])
    assert p_values.tolist() == [0.01]
    apart = ArrayRows(X), ArrayRows(noise)
    assert permutation_tests([pair], apart, 99, np.random.default_rng(0))[1][0] > 0.05
