"""Canonical pairs at given weights, and turns between two tables."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife._turns import canonical_pairs, correlate


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
