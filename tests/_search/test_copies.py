"""Columns that are copies of each other."""

import numpy as np
import pytest

from kernelknife import KnifeRegressor


def signal_of_three():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=60)


@pytest.mark.parametrize("copy", [lambda X: X, lambda X: 1.0 - X], ids=["x", "1 - x"])
@pytest.mark.parametrize("options", [{}, {"n_centers": 60}], ids=["exact", "centres"])
def test_exact_copies_do_not_share(copy, options):
    """For v = w**2 one of two copies is cheaper than both, and the kernel is the same."""
    X, y = signal_of_three()
    alone = KnifeRegressor(sparsity=4.0, **options).fit(X, y)
    both = KnifeRegressor(sparsity=4.0, **options).fit(np.c_[X, copy(X)], y)
    first, second = both.weights_[:5] > 0, both.weights_[5:] > 0
    assert not (first & second).any()
    assert np.array_equal(first | second, alone.weights_ > 0)
    assert both.objective_ <= alone.objective_ * (1 + 1e-3)
