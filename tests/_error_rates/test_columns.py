"""Copies and clusters of columns."""

import numpy as np
import pytest

from kernelknife._error_rates.half_samples import cluster_columns, find_copies


def test_the_first_two_equal_columns_are_found(rng):
    X = rng.normal(size=(10, 6))
    X[:, 4] = X[:, 1]
    assert find_copies(X, np.arange(6)) == (1, 4)
    assert find_copies(X, np.array([0, 2, 3, 4, 5])) is None


def test_all_columns_of_a_cluster_have_the_correlation(rng):
    a, b = rng.normal(size=(2, 400))
    chain = [a, 0.9 * a + 0.44 * b, 0.62 * a + 0.78 * b]  # correlated with neighbors alone
    X = np.column_stack([*chain, -a, rng.normal(size=400)])
    clusters = cluster_columns(X, 0.85)
    assert clusters[0] == clusters[3]  # the sign does not matter
    sizes = np.abs(np.corrcoef(X, rowvar=False))
    for cluster in np.unique(clusters):
        members = np.flatnonzero(clusters == cluster)
        assert sizes[np.ix_(members, members)].min() >= 0.85
    assert clusters[0] != clusters[2]
    assert len(cluster_columns(X[:, :1], 0.9)) == 1


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="5001 columns are more than the limit of 5000"):
        cluster_columns(np.zeros((2, 5001)), 0.9)
