"""The targets: how they are encoded, and the way back."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.targets import measure_targets
from kernelknife.losses import Hinge, HuberLoss, SquaredLoss


def encoder_of(y, s=None, *, task="regression", standardize=True, robust=False):
    y = np.asarray(y)
    rows = ArrayRows(np.zeros((len(y), 1)), y, s, block_rows=7)
    losses = {"regression": HuberLoss() if robust else SquaredLoss(), "classification": Hinge()}
    return measure_targets(rows, losses[task], standardize=standardize)


def test_numbers_are_standardized_and_come_back(rng):
    Y, s = rng.normal(5.0, 3.0, size=(40, 2)), rng.integers(0, 3, size=40).astype(float)
    encoder = encoder_of(Y, s)
    encoded = encoder(Y)
    assert_allclose(np.average(encoded, axis=0, weights=s), 0.0, atol=1e-12)
    assert_allclose(np.average(encoded**2, axis=0, weights=s), 1.0)
    assert_allclose(encoder.decode(encoded), Y)
    flat = encoder_of(Y[:, 0])
    assert flat(Y[:, 0]).shape == (40, 1)
    assert_allclose(flat.decode(flat(Y[:, 0])), Y[:, 0])
    assert_array_equal(encoder_of(Y, standardize=False)(Y), Y)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_any_scale_of_numbers(scale, rng):
    y = scale * rng.normal(size=30)
    encoder = encoder_of(y)
    assert_allclose(encoder(y).std(), 1.0)
    assert_allclose(encoder.decode(encoder(y)), y)


def test_a_robust_scale_does_not_see_outliers(rng):
    y = rng.normal(size=2001)
    clean = encoder_of(y, robust=True)
    assert_allclose(clean.center, np.median(y))
    assert_allclose(clean.scale, y.std(), rtol=0.1)  # what it estimates, for a normal target
    y[:100] = 1e6
    assert_allclose(encoder_of(y, robust=True).scale, clean.scale, rtol=0.2)
    half = np.r_[np.zeros(60), rng.normal(size=40)]
    assert encoder_of(half, robust=True).scale > 0  # the median deviation is zero there


def test_robust_measures_count_whole_weights_as_rows(rng):
    y, times = rng.normal(size=30), rng.integers(0, 4, size=30)
    weighted = encoder_of(y, times.astype(float), robust=True)
    repeated = encoder_of(np.repeat(y, times), robust=True)
    assert_allclose(weighted.center, repeated.center)
    assert_allclose(weighted.scale, repeated.scale)


def test_two_classes_are_one_column_and_more_are_one_each():
    two = encoder_of(["no", "yes", "no"], task="classification")
    assert_array_equal(two(["yes", "no"]), [[1.0], [-1.0]])
    assert_array_equal(two.decode(np.array([[0.3], [-2.0]])), ["yes", "no"])
    three = encoder_of([5, 7, 9, 5], task="classification")
    assert_array_equal(three([9, 5]), [[-1, -1, 1], [1, -1, -1]])
    assert_array_equal(three.decode(np.array([[0, 3, 1.0], [2, 0, 1]])), [7, 5])
    assert three.n_outputs == 3


@pytest.mark.parametrize("classes", [[5, 7], [5, 7, 9], ["a", "b"], ["a", "b", "c"]])
def test_classes_of_scores_on_a_device(classes, rng):
    """Numbers stay on the device, texts come to the host."""
    encoder = encoder_of(classes, task="classification")
    scores = rng.normal(size=(20, encoder.n_outputs))
    there = encoder.decode(array_api_strict.asarray(scores))
    assert isinstance(there, np.ndarray) == isinstance(classes[0], str)
    assert_array_equal(np.asarray(there), encoder.decode(scores))


@pytest.mark.parametrize(
    ("y", "task", "words"),
    [
        (["a", None, "b"], "classification", "has 1 missing values"),
        ([0.0, np.nan, 1.0], "classification", "has 1 missing values"),
        ([1, 1, 1], "classification", "one class"),
        ([0.1, 0.2, 0.7], "classification", "[Uu]nknown label type"),
        ([0.1, np.inf, np.nan], "regression", "has 2 missing or infinite values"),
        (["a", "b", "c"], "regression", "not numbers"),
        ([2.0, 2.0, 2.0], "regression", "constant .*all values are 2"),
        ([[1.0, 3.0], [2.0, 3.0]], "regression", "constant in output column 1"),
    ],
)
def test_what_is_no_target(y, task, words):
    kind = object if any(value is None for value in np.ravel(np.array(y, dtype=object))) else None
    with pytest.raises(ValueError, match=words):
        encoder_of(np.array(y, dtype=kind), task=task)
