"""The one preparation: from a user's rows to columns, groups, costs and encoded targets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._engine.data import prepare
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife.kernels import RBF, Additive, Joint, Polynomial
from kernelknife.losses import Hinge, HuberizedHinge, SquaredHinge, SquaredLoss


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 6))
    X[:, 2] = 4.0
    return ArrayRows(X, X[:, 0] + 5.0)


def test_constant_columns_leave_groups_and_costs_too(rows):
    """What is left is numbered without gaps; values come back to the user's columns."""
    ready = prepare(
        rows,
        RBF(),
        SquaredLoss(),
        feature_groups=["a", "b", "c", "b", "d", "a"],
        feature_costs=[1, 2, 3, 4, 5, 6],
    )
    assert_array_equal(ready.columns.index, [0, 1, 3, 4, 5])
    assert_array_equal(ready.groups, [0, 1, 1, 2, 0])
    assert_array_equal(ready.costs, [1, 2, 4, 5, 6])
    w = np.array([0.1, 0.2, 0.3])
    assert_array_equal(ready.column_values(w), [0.1, 0.2, 0.2, 0.3, 0.1])
    assert_array_equal(ready.user_values(w), [0.1, 0.2, 0.0, 0.2, 0.3, 0.1])
    assert_array_equal(ready.user_values(np.array([1, 2, 3]), constant=9), [1, 2, 9, 2, 3, 1])
    assert ready.n_features == 6


def test_targets_are_encoded_in_the_rows(rows):
    ready = prepare(rows, RBF(), SquaredLoss())
    y = ready.rows.sample(np.arange(30)).y
    assert y.shape == (30, 1)
    assert_allclose([y.mean(), y.std()], [0.0, 1.0], atol=1e-12)
    assert_array_equal(rows.y, rows.X[:, 0] + 5.0)  # the user's rows stay as they are
    assert ready.total_weight == 30.0


def test_columns_are_centered_where_the_kernel_does_not_notice(rows):
    for kernel, centered in ((RBF(), True), (Polynomial(), False)):
        ready = prepare(rows, kernel, SquaredLoss(), standardize=False)
        Z = ready.columns.take(rows.X)
        expected = rows.X[:, ready.columns.index]
        assert_allclose(Z, expected - expected.mean(axis=0) * centered, atol=1e-12)


def test_a_loss_that_is_not_smooth_has_one_in_its_place(rows):
    labeled = ArrayRows(rows.X, rows.y > 5.0)
    assert isinstance(prepare(labeled, RBF(), Hinge()).smooth_loss, HuberizedHinge)
    loss = SquaredHinge()
    assert prepare(labeled, RBF(), loss).smooth_loss is loss


def test_one_row_is_refused(rows):
    with pytest.raises(ValueError, match=r"1 sample\(s\) while at least 2"):
        prepare(ArrayRows(rows.X[:1], rows.y[:1]), RBF(), SquaredLoss())


@pytest.mark.parametrize("kernel", [Additive(), Joint()], ids=["additive", "joint"])
def test_functions_of_columns_are_learned_on_rows_that_count(rng, kernel):
    """They are learned on some of many rows, and of few that count they need every one."""
    X, s = rng.normal(size=(5000, 2)), np.zeros(5000)
    s[rng.choice(5000, 40, replace=False)] = 1.0
    ready = prepare(ArrayRows(X, X[:, 0], s), kernel, SquaredLoss())
    alone = prepare(ArrayRows(X[s > 0], X[s > 0, 0]), kernel, SquaredLoss())
    assert_allclose(ready.columns.take(X[:50]), alone.columns.take(X[:50]), atol=1e-9)


@pytest.mark.parametrize("options", [{"kernel": Additive()}, {"feature_groups": "correlated"}])
def test_rows_that_were_looked_at_in_vain_are_said(rng, options):
    s = np.zeros(5000)
    s[[1, 3, 4]] = 1.0  # of the first rows 0, 2 and 5 are looked at
    rows = ArrayRows(rng.normal(size=(5000, 2)), np.arange(5000.0), s)
    rows.counted = None  # as for rows whose weights are known by reading alone
    with pytest.raises(ValueError, match="sampled rows has a positive sample weight"):
        prepare(rows, **{"kernel": RBF(), "loss": SquaredLoss(), **options})
