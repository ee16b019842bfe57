"""Folds: shuffled, repeated where there are few rows, and refused where they cannot be."""

import numpy as np
import pytest

from kernelknife._tuning import check_folds, check_splits, draw_rows, make_splitter


def test_few_rows_are_split_twice_and_rows_are_shuffled():
    few = list(make_splitter(None, np.arange(50.0), False, None, None).split(np.zeros((50, 1))))
    many = list(make_splitter(None, np.arange(250.0), False, None, None).split(np.zeros((250, 1))))
    assert (len(few), len(many)) == (10, 5)
    # A fold of neighbors would be unlike the others in a sorted table.
    assert any(np.diff(test).max() > 1 for _, test in many)
    again = list(make_splitter(None, np.arange(250.0), False, None, None).split(np.zeros((250, 1))))
    np.testing.assert_array_equal(many[0][1], again[0][1])


def test_a_rare_class_makes_fewer_folds():
    target = np.repeat([0, 1], [40, 3])
    splits = list(make_splitter(None, target, True, None, None).split(np.zeros((43, 1)), target))
    assert len(splits) == 3
    check_splits(splits, target, np.ones(43), None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5, np.zeros(3), False, None), "5 folds need as many rows, got 3"),
        ((5, np.repeat([0, 1], [9, 3]), True, None), "the rarest has 3"),
        ((4, np.zeros(9), False, [0] * 9), "4 folds need as many groups, got 1"),
    ],
)
def test_folds_that_cannot_be_made_are_explained(arguments, words):
    with pytest.raises(ValueError, match=words):
        check_folds(*arguments)


def test_rows_are_drawn_by_class_and_a_rare_class_keeps_some():
    target = np.repeat([0, 1, 2], [6000, 3995, 5])
    rows = draw_rows(target, True, 500, 0)
    counts = np.bincount(target[rows])
    np.testing.assert_allclose(counts[:2], [300, 200], atol=1)
    assert counts[2] == 5
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(draw_rows(target, True, 10_000, 0), np.arange(10_000))
    assert len(np.unique(draw_rows(np.arange(900.0), False, 40, 3))) == 40


def test_a_target_that_is_constant_in_a_fold_is_named_with_it():
    y = np.repeat([0.0, 1.0, 2.0], [8, 1, 1])
    splits = [(np.arange(8), np.arange(8, 10)), (np.arange(2, 10), np.arange(2))]
    with pytest.raises(ValueError, match="constant on the training rows of fold 0"):
        check_splits(splits, None, np.ones(10), None, y)
    check_splits(splits[1:] * 2, None, np.ones(10), None, y)
