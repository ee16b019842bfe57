"""Columns compared with columns that were permuted independently."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife._components.dependence import (
    dependence_scores,
    dependence_weights,
    expand_columns,
    permuted,
    structure_gap,
)
from kernelknife._components.eigenproblems import seen_columns, set_up_table
from kernelknife._engine import FitSpec
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.solvers import Eliminate
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def setup_of(X):
    return set_up_table(FitSpec(RBF(), SquaredLoss(), Eliminate()), ArrayRows(X))


def test_dependence_is_one_for_copies_and_small_for_independent_columns(rng):
    X = rng.normal(size=(300, 4))
    X[:, 2] = -2.0 * X[:, 0] + 1.0
    features = expand_columns(setup_of(X))
    scores = dependence_scores(features, features)
    assert_allclose(scores, scores.T, atol=1e-12)
    assert_allclose(scores.diagonal(), 1.0)
    assert scores[0, 2] > 0.99
    assert scores[0, 1] < 0.05


def test_dependence_starts_favor_what_depends_and_leave_nothing_out(rng):
    X = rng.normal(size=(150, 30))
    X[:, 11] = X[:, 3] ** 2 + 0.1 * rng.normal(size=150)
    w, seen = dependence_weights(setup_of(X))
    assert seen
    assert set(np.argsort(-w)[:2]) == {3, 11}
    assert (w > 0).all()
    equal, seen = dependence_weights(setup_of(X[:, 4:11]))
    assert not seen
    assert np.ptp(equal) == 0.0


def test_columns_of_one_weight_are_permuted_together():
    A = np.arange(12.0).reshape(6, 2).repeat(2, axis=1)
    result = permuted(A, np.array([0, 0, 1, 1]), 0, 0)
    assert_allclose(np.sort(result, axis=0), A)
    assert_allclose(result[:, 0], result[:, 1])
    assert not np.array_equal(result[:, 0] + 1.0, result[:, 2])
    assert_allclose(permuted(A[:, 2:], np.array([1, 1]), 0, 0), result[:, 2:])


def test_a_column_alone_has_no_gap_and_copies_have_one(rng):
    X = rng.normal(size=(80, 3))
    X[:, 0] = np.sign(X[:, 0])
    X[:, 2] = X[:, 1]
    setup = setup_of(X)
    seen = seen_columns(setup)
    alone, spread = structure_gap(setup, seen, np.array([0.7, 0.0, 0.0]), 2, 5)
    assert abs(alone) < 1e-12 > spread
    both, spread = structure_gap(setup, seen, np.array([0.0, 0.7, 0.7]), 2, 5)
    assert both > 10 * spread
