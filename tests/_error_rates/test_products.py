"""Products of two columns beside the columns themselves."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife._error_rates.statistics import bounded_columns, product_columns, strong_pairs


def test_planted_products_are_found_and_noise_is_not(rng):
    X = rng.normal(size=(500, 30))
    y = X[:, 2] * X[:, 7] - X[:, 4] * X[:, 20] + rng.normal(size=500)
    first, second = strong_pairs(bounded_columns(X), y[:, None], most=10)
    assert {(2, 7), (4, 20)} <= set(zip(first.tolist(), second.tolist(), strict=True))
    assert len(first) <= 5
    counts = [
        len(strong_pairs(bounded_columns(X), rng.normal(size=(500, 1)), most=10)[0])
        for _ in range(20)
    ]
    assert np.mean(counts) < 1.0


def test_a_product_is_free_of_what_its_columns_do_alone(rng):
    U = bounded_columns(rng.normal(size=(200, 3)))
    U[:, 1] = U[:, 0] + 0.1 * U[:, 1]  # nearly the same: their product is nearly a square
    product = product_columns(U, np.array([0]), np.array([1]))[:, 0]
    for power in (1, 2):
        assert_allclose(product @ U[:, 0] ** power, 0.0, atol=1e-8)


def test_far_values_do_not_count(rng):
    X = rng.normal(size=(100, 2))
    X[0] = 1e6
    assert np.abs(bounded_columns(X)).max() < 15
    assert strong_pairs(bounded_columns(X[:, :1]), X[:, :1], most=3)[0].size == 0
