"""Arrays of any library: the same algebra as NumPy's."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._utils import arrays
from kernelknife._utils.arrays import (
    LinAlgError,
    exponential,
    factorize_lower,
    gram,
    is_foreign,
    like,
    mirrored,
    namespace,
    nonnegative,
    solve_factored,
    spread,
    to_host,
)

LIBRARIES = pytest.mark.parametrize("library", [np, array_api_strict], ids=["numpy", "array API"])


def test_what_is_foreign(rng):
    import pandas as pd

    X = rng.normal(size=(3, 2))
    assert is_foreign(array_api_strict.asarray(X))
    for own in (X, X[0, 0], X.tolist(), pd.DataFrame(X), None, "folder"):
        assert not is_foreign(own)
    assert namespace(X) is namespace(1.5) is np
    assert namespace(array_api_strict.asarray(X)) is array_api_strict


@LIBRARIES
def test_there_and_back(library, rng):
    X = rng.normal(size=(3, 2))
    there = like(X, library.asarray(X))
    assert isinstance(there, type(library.asarray(X)))
    assert_array_equal(to_host(there), X)
    assert like(there, there) is there


@LIBRARIES
def test_elementwise(library, rng):
    X = rng.normal(size=(3, 2))
    assert_allclose(to_host(exponential(library.asarray(X.copy()))), np.exp(X))
    assert_allclose(to_host(nonnegative(library.asarray(X.copy()))), np.maximum(X, 0.0))


@LIBRARIES
@pytest.mark.parametrize("width", [1, 5, 9])
def test_a_gram_matrix_has_its_lower_triangle(library, width, rng, monkeypatch):
    monkeypatch.setattr(arrays, "GRAM_LEAF", 2)  # so that halves are cut more than once
    A = rng.normal(size=(12, width))
    lower = gram(library.asarray(A))
    assert_allclose(np.tril(to_host(lower)), np.tril(A.T @ A), atol=1e-12)
    assert_allclose(to_host(mirrored(lower)), A.T @ A, atol=1e-12)


@LIBRARIES
def test_a_factorization_reads_the_lower_triangle(library, rng):
    A = rng.normal(size=(20, 6))
    lower = np.tril(A.T @ A) + np.triu(np.full((6, 6), np.pi), 1)
    B = rng.normal(size=(6, 2))
    factor = factorize_lower(library.asarray(lower), 0.5)
    found = to_host(solve_factored(factor, library.asarray(B)))
    assert_allclose((A.T @ A + 0.5 * np.eye(6)) @ found, B, atol=1e-12)


def test_an_indefinite_matrix_is_an_error():
    with pytest.raises(LinAlgError):
        factorize_lower(-np.eye(3), 0.0)


@pytest.mark.parametrize("unit", [1.0, 2.0**600, 2.0**-600])
def test_a_spread_has_the_unit_of_its_values(unit, rng):
    values = rng.normal(size=(7, 3))
    assert_array_equal(spread(unit * values), unit * values.std(axis=0, ddof=1))
    assert_array_equal(spread(np.zeros((4, 2))), np.zeros(2))
    assert np.isnan(spread(np.array([1.0, np.nan])))
