"""Statistics of features and knockoffs: exact symmetry, costs, products of columns."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine import FitSpec
from kernelknife._error_rates import path_statistics

SPECS = {
    "additive": FitSpec.from_estimator(KnifeRegressor("additive", tol=1e-2)),
    "linear": FitSpec.from_estimator(KnifeRegressor("linear", tol=1e-2)),
    "rbf": FitSpec.from_estimator(KnifeRegressor(tol=1e-2)),
    "classes": FitSpec.from_estimator(KnifeClassifier("additive", tol=1e-2)),
}


@pytest.fixture
def table(rng):
    X, knockoffs = rng.normal(size=(2, 80, 9))
    y = np.cos(2 * X[:, 0]) + X[:, 3] + 2 * X[:, 5] * X[:, 7] + 0.3 * rng.normal(size=80)
    return X, knockoffs, y


@pytest.mark.parametrize("name", SPECS)
def test_exchanging_a_feature_and_its_knockoff_changes_a_sign_and_nothing_else(table, rng, name):
    X, knockoffs, y = table
    if name == "classes":
        y = (y > 0).astype(int)
    spec = SPECS[name]
    W = path_statistics(spec, X, knockoffs, y)
    assert np.abs(W).max() > 0
    for _ in range(3):
        swapped = rng.random(9) < 0.5
        left, right = np.where(swapped, knockoffs, X), np.where(swapped, X, knockoffs)
        assert_array_equal(path_statistics(spec, left, right, y), np.where(swapped, -W, W))
    order = rng.permutation(9)
    assert_array_equal(path_statistics(spec, X[:, order], knockoffs[:, order], y), W[order])


def test_costs_follow_their_columns(table, rng):
    X, knockoffs, y = table
    costs, order = rng.uniform(0.5, 2.0, size=9), rng.permutation(9)
    spec = replace(SPECS["additive"], feature_costs=costs)
    W = path_statistics(spec, X, knockoffs, y)
    spec = replace(spec, feature_costs=costs[order])
    assert_array_equal(path_statistics(spec, X[:, order], knockoffs[:, order], y), W[order])
    assert (path_statistics(SPECS["additive"], X, knockoffs, y) != W).any()


def test_a_column_that_is_its_own_knockoff_has_no_statistic(table):
    X, knockoffs, y = table
    knockoffs[:, 3] = X[:, 3]
    assert path_statistics(SPECS["additive"], X, knockoffs, y)[3] == 0.0


def test_products_show_columns_that_act_in_pairs(rng):
    X, knockoffs = rng.normal(size=(2, 300, 10))
    y = X[:, 2] * X[:, 6] + 0.3 * rng.normal(size=300)
    alone = path_statistics(SPECS["additive"], X, knockoffs, y, products=False)
    both = path_statistics(SPECS["additive"], X, knockoffs, y)
    assert sorted(np.argsort(-both)[:2]) == [2, 6]
    assert both[[2, 6]].min() > 2 * np.abs(np.delete(both, [2, 6])).max()
    assert sorted(np.argsort(-alone)[:2]) != [2, 6]
