"""Rows, reference points, weights and coefficients that every kernel is tried on."""

import pytest


@pytest.fixture
def instance(rng):
    X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    return X, Z, rng.uniform(0.1, 1.0, size=4), rng.normal(size=5)
