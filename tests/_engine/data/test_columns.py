"""The columns of X: moments without loss of digits, one threshold for constants, located gaps."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._engine.data import RowsError
from kernelknife._engine.data.arrays import ArrayRows, DeviceRows
from kernelknife._engine.data.columns import (
    Columns,
    check_finite,
    even_sample,
    measure_columns,
    measure_moments,
)


def measure(X, s=None, **options):
    rows = ArrayRows(X, None, s, block_rows=7)
    return measure_columns(rows, **{"standardize": True, "center": True, **options})


@pytest.mark.parametrize("block_rows", [1, 7, 1000])
def test_moments_are_numpys(block_rows, rng):
    X, s = rng.normal(3.0, 2.0, size=(50, 4)), rng.uniform(0.0, 2.0, size=50)
    moments = measure_moments(ArrayRows(X, None, s, block_rows=block_rows))
    mean = np.average(X, axis=0, weights=s)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    assert_allclose(moments.total_weight, s.sum())
    assert_allclose(moments.largest, np.abs(X).max(axis=0))
    assert_allclose(moments.mean * moments.unit, mean, rtol=1e-12)
    assert_allclose(moments.deviation * moments.unit, deviation, rtol=1e-12)


def test_a_device_measures_the_same(rng):
    X, s = rng.normal(size=(50, 4)), rng.integers(0, 3, size=50).astype(float)
    X[s == 0] = 1e9
    here = measure_moments(ArrayRows(X, None, s))
    there = measure_moments(DeviceRows(array_api_strict.asarray(X), None, s, block_rows=7))
    for name in ("total_weight", "largest", "mean", "deviation"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "lost"),
    [(lambda X: X * 1e-200, 0), (lambda X: X * 1e200, 0), (lambda X: X + 1e12, 1e-4)],
    ids=["1e-200", "1e200", "shifted by 1e12"],
)
def test_scale_and_origin_cost_no_digits(change, lost, rng):
    X = rng.normal(size=(200, 3))
    columns, _ = measure(change(X))
    plain, _ = measure(X)
    assert_allclose(columns.take(change(X)), plain.take(X), rtol=1e-9, atol=2 * lost + 1e-12)


def test_standardized_columns_have_mean_zero_and_deviation_one(rng):
    X, s = rng.normal(5.0, 3.0, size=(60, 3)), rng.integers(0, 3, size=60).astype(float)
    columns, _ = measure(X, s)
    Z = columns.take(X)
    assert_allclose(np.average(Z, axis=0, weights=s), 0.0, atol=1e-12)
    assert_allclose(np.average(Z**2, axis=0, weights=s), 1.0, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e12, 1e-300, 1 / 3])
def test_constants_are_left_out(value, rng):
    X = np.column_stack([rng.normal(size=100), np.full(100, value), rng.normal(size=100)])
    columns, _ = measure(X)
    assert_array_equal(columns.index, [0, 2])


def test_a_column_that_hardly_varies_is_kept(rng):
    X = np.column_stack([rng.normal(size=100), 1.0 + 1e-12 * rng.normal(size=100)])
    assert_array_equal(measure(X)[0].index, [0, 1])


def test_without_standardization_units_stay(rng):
    X = rng.normal(7.0, 3.0, size=(40, 2))
    centered, _ = measure(X, standardize=False)
    assert_allclose(centered.take(X), X - X.mean(axis=0), atol=1e-12)
    raw, _ = measure(X, standardize=False, center=False)
    assert_array_equal(raw.take(X), X)


def test_some_columns_are_taken_from_all_or_given_alone(rng):
    X = rng.normal(size=(10, 4))
    columns = Columns(np.array([1, 3]), np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    expected = (X[:, [1, 3]] - [1.0, 2.0]) / [2.0, 4.0]
    assert_allclose(columns.take(X), expected)
    assert_allclose(columns.transform(X[:, [1, 3]]), expected)
    block = next(ArrayRows(X).blocks())
    assert_allclose(columns.of_block(block), expected)
    last = columns.restricted(np.array([1]))
    assert last.n_seen == 1
    assert_allclose(last.take(X), expected[:, 1:])


def test_gaps_are_counted_and_named(rng):
    X = rng.normal(size=(30, 8))
    X[[3, 20], 1] = np.nan
    X[25, 4] = np.inf
    with pytest.raises(RowsError, match=r"NaN and infinity in columns 1, 4 \(3 values\)"):
        measure(X, missing="error")
    with pytest.raises(RowsError, match=r"contains infinity in column 4 \(1 value\)"):
        measure(X)
    # A row of no weight has to be a row of numbers all the same, as in scikit-learn.
    s = np.ones(30)
    s[[3, 20, 25]] = 0.0
    with pytest.raises(RowsError, match="NaN and infinity"):
        measure(X, s, missing="error")
    names = np.array([f"gene {j}" for j in range(8)])
    X[0] = np.nan
    with pytest.raises(ValueError, match=r"'gene 0', .*'gene 4' and 3 more \(11 values\)"):
        check_finite(X, names)


def test_finite_values_of_any_size_pass():
    check_finite(np.full((3, 2), 1e308), None)


def test_an_even_sample_spans_the_rows():
    assert_array_equal(even_sample(5, 10), range(5))
    sample = even_sample(1000, 11)
    assert len(sample) == 11
    assert sample[0] == 0
    assert sample[-1] == 999
    assert np.ptp(np.diff(sample)) <= 1
