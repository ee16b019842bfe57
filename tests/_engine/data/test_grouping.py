"""Groups and costs of columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelknife._engine.data import check_costs, check_groups

NAMES = np.array(["age", "dose", "site", "red", "blue"])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([7, 7, 3, 7, 3], [0, 0, 1, 0, 1]),
        (["a", "b", "a", "c", "b"], [0, 1, 0, 2, 1]),
        ([0, "0", 0, 1, 1], [0, 1, 0, 2, 2]),
        ({"color": [3, 4]}, [0, 1, 2, 3, 3]),
        ({"color": ["red", "blue"], "who": ["age"]}, [0, 1, 2, 3, 3]),
        ({}, [0, 1, 2, 3, 4]),
    ],
)
def test_groups_are_numbered_as_they_appear(groups, expected):
    assert_array_equal(check_groups(groups, 5, NAMES), expected)


def test_a_label_and_a_column_of_that_name_are_different_groups():
    """A group called 0 does not take in column 0, which nobody put there."""
    labels = check_groups({0: [1, 2]}, 4, None)
    assert_array_equal(labels, [0, 1, 1, 2])


@pytest.mark.parametrize(
    ("groups", "error", "words"),
    [
        ([0, 1], ValueError, "expected 5, got 2"),
        ([[0, 1], [2, 3, 4]], ValueError, "list of lists"),
        ({"a": "red"}, TypeError, r"write \{'a': \['red'\]\}"),
        ({"a": ["green"]}, ValueError, "'green'.*no such column"),
        ({"a": [5]}, ValueError, "no such column"),
        ({"a": [-1]}, ValueError, "no such column"),
        ({"a": [0], "b": [0]}, ValueError, "both 'a' and 'b'"),
        ({"a": [3], "b": ["red"]}, ValueError, "both 'a' and 'b'"),
        ({j: [0] for j in range(6)}, ValueError, "6 groups for 5 columns"),
    ],
)
def test_groups_that_make_no_sense(groups, error, words):
    with pytest.raises(error, match=words):
        check_groups(groups, 5, NAMES)


def test_costs_are_one_number_per_column():
    assert_array_equal(check_costs([1, 0, 2.5], 3), [1.0, 0.0, 2.5])
    for bad in ([1.0], [[1.0, 1.0, 1.0]], 1.0):
        with pytest.raises(ValueError, match="one number per column"):
            check_costs(bad, 3)
    for bad in ([1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [1.0, np.inf, 1.0]):
        with pytest.raises(ValueError, match="finite and >= 0"):
            check_costs(bad, 3)
