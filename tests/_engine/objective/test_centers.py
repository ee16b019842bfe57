"""Choosing the centers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import kmeans_plusplus

from kernelknife import KnifeRegressor
from kernelknife._engine.objective import CENTERS, choose_centers, factory
from kernelknife.kernels import RBF


@pytest.mark.parametrize("how", CENTERS)
def test_centers_find_the_planted_features(how, planted):
    X, y = planted
    model = KnifeRegressor(n_centers=120, centers=how, sparsity=10.0).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [1, 4, 6])
    assert model.score(X, y) > 0.9
    assert len(model.support_vectors_) <= 120


@pytest.mark.parametrize("how", CENTERS)
def test_centers_are_different_rows_of_the_sample(how, rng):
    X = np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    index = choose_centers(X, 30, how, RBF(), np.ones(3), 0)
    assert len(np.unique(index)) == 30
    assert_array_equal(choose_centers(X, 30, how, RBF(), np.ones(3), 0), index)
    assert_array_equal(choose_centers(X, 200, how, RBF(), np.ones(3), 0), np.arange(80))


def test_rows_are_spread_out_where_columns_are_many(rng, monkeypatch):
    """Of 20 rows far from the others and 400 near each other, most far ones become centers."""
    widths = []

    def watched(X, *arguments, **options):
        widths.append(X.shape[1])
        return kmeans_plusplus(X, *arguments, **options)

    monkeypatch.setattr(factory, "kmeans_plusplus", watched)
    X = rng.normal(size=(420, 600))
    X[:20] += 3.0 * rng.normal(size=(20, 600))
    index = choose_centers(X, 40, "kmeans++", RBF(), np.full(600, 0.5 / 600), 0)
    assert np.sum(index < 20) >= 15
    choose_centers(X[:, :200], 40, "kmeans++", RBF(), np.full(200, 0.5 / 200), 0)
    assert widths == [100, 200]
