"""Whose weight each column carries, and the chain rule from ``v`` to the weights."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._engine.objective.features import Features
from kernelknife.kernels import Linear

OWNER = np.array([2, 0, 1, 0, 2, 2])


def features_of(grouped, squared):
    return Features(6, OWNER if grouped else None, squared=squared)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_every_column_gets_its_features_weight(grouped, squared, rng):
    features = features_of(grouped, squared)
    w = rng.uniform(size=features.n_weights)
    everything = features.everything
    v = np.empty(6)
    v[everything.columns] = everything.form_weights(w)
    expected = w[OWNER] if grouped else w
    assert_allclose(v, expected**2 if squared else expected)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_the_chain_rule_against_finite_differences(grouped, squared, rng, central_difference):
    features = features_of(grouped, squared)
    active = np.array([0, 2])
    subset = features.select(active)
    w, slope = rng.uniform(0.2, 0.8, size=features.n_weights), rng.normal(size=6)

    def value(some):
        full = w.copy()
        full[active] = some
        return slope[subset.columns] @ subset.form_weights(full)

    numeric = central_difference(value, w[active])
    chain = subset.chain(w)
    in_v = slope[subset.columns]
    assert_allclose(chain(in_v.copy()), numeric, rtol=1e-8)
    device = chain(array_api_strict.asarray(in_v))
    assert_allclose(np.asarray(device), numeric, rtol=1e-8)
    assert_allclose(chain(np.tile(in_v, (3, 1))), np.tile(numeric, (3, 1)), rtol=1e-8)


def test_columns_of_a_weight_stand_together():
    subset = features_of(True, True).select(np.array([0, 2]))
    assert_array_equal(OWNER[subset.columns], [0, 0, 2, 2, 2])
    assert_array_equal(subset.first, [0, 2])
    assert features_of(False, True).select(np.array([1, 4])).first is None


@pytest.mark.parametrize("grouped", [True, False])
def test_restriction_keeps_columns_costs_and_weights(grouped, rng):
    costs = rng.uniform(size=3 if grouped else 6)
    features = Features(6, OWNER if grouped else None, costs, squared=False)
    kept = np.array([0, 2])
    small, columns = features.restricted(kept)
    assert_array_equal(columns, np.flatnonzero(np.isin(OWNER, kept)) if grouped else kept)
    assert_array_equal(small.costs, costs[kept])
    assert (small.n_weights, small.squared) == (2, False)
    w = rng.uniform(size=features.n_weights)
    v = np.empty(len(columns))
    v[small.everything.columns] = small.everything.form_weights(w[kept])
    assert_allclose(v, (w[OWNER] if grouped else w)[columns])


def test_a_group_costs_what_its_columns_cost():
    grouped = Features.of_columns(6, OWNER, np.arange(1.0, 7.0))
    assert_array_equal(grouped.costs, [2 + 4, 3, 1 + 5 + 6])
    assert_array_equal(Features.of_columns(6, OWNER).costs, [2, 1, 3])
    assert_array_equal(Features.of_columns(6).costs, np.ones(6))
    assert_array_equal(grouped.columns_of(np.array([0, 2])), [2, 3])
    assert not grouped.for_kernel(Linear()).squared
    assert_array_equal(grouped.for_kernel(Linear()).costs, grouped.costs)


def test_no_weight_at_all():
    subset = features_of(True, True).select(np.arange(0))
    assert subset.form_weights(np.ones(3)).shape == (0,)
    assert subset.chain(np.ones(3))(np.ones((4, 0))).shape == (4, 0)
