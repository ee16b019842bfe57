"""Rows of a search and its folds: shuffled, repeated for few rows, refused where impossible."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from kernelknife._engine.policy import rows_to_search
from kernelknife._tuning.splits import (
    check_folds,
    check_splits,
    draw_rows,
    make_splitter,
    rows_of_splits,
)


def test_few_rows_are_split_twice_and_rows_are_shuffled():
    few = list(make_splitter(None, np.arange(50.0), False, None, None).split(np.zeros((50, 1))))
    many = list(make_splitter(None, np.arange(250.0), False, None, None).split(np.zeros((250, 1))))
    assert (len(few), len(many)) == (10, 5)
    # A fold of neighbors would be unlike the others in a sorted table.
    assert any(np.diff(test).max() > 1 for _, test in many)
    again = list(make_splitter(None, np.arange(250.0), False, None, None).split(np.zeros((250, 1))))
    assert_array_equal(many[0][1], again[0][1])


def test_a_rare_class_makes_fewer_folds():
    target = np.repeat([0, 1], [40, 3])
    splits = list(make_splitter(None, target, True, None, None).split(np.zeros((43, 1)), target))
    assert len(splits) == 3
    check_splits(splits, target, np.ones(43), None)


def test_rows_of_several_rare_classes_are_dealt_to_the_folds():
    target = np.repeat(["a", "b", "c", "d"], [2, 9, 3, 20])
    codes = np.unique(target, return_inverse=True)[1]
    rows = np.zeros((34, 1))
    splits = list(make_splitter(None, codes, True, None, 3).split(rows, codes))
    assert len(splits) == 10
    check_splits(splits, codes, np.ones(34), None)
    for repeat in (splits[:5], splits[5:]):
        assert_array_equal(np.sort(np.concatenate([test for _, test in repeat])), np.arange(34))
        assert {len(test) for _, test in repeat} == {6, 7}
        for label in range(4):
            counts = [np.count_nonzero(codes[test] == label) for _, test in repeat]
            assert max(counts) - min(counts) <= 1
    assert any((a != b).any() for (_, a), (_, b) in zip(splits[:4], splits[5:], strict=False))
    # Some scorings, such as those of probabilities, need every class in every fold.
    whole = make_splitter(None, codes, True, None, 3, needs_all_classes=True).split(rows, codes)
    assert all(set(codes[test]) == set(range(4)) for _, test in whole)


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
    assert_allclose(counts[:2], [300, 200], atol=1)
    assert counts[2] == 5
    assert (np.diff(rows) > 0).all()
    assert_array_equal(draw_rows(target, True, 10_000, 0), np.arange(10_000))
    assert len(np.unique(draw_rows(np.arange(900.0), False, 40, 3))) == 40


def test_a_target_that_is_constant_in_a_fold_is_named_with_it():
    y = np.repeat([0.0, 1.0, 2.0], [8, 1, 1])
    splits = [(np.arange(8), np.arange(8, 10)), (np.arange(2, 10), np.arange(2))]
    with pytest.raises(ValueError, match="constant on the training rows of fold 0"):
        check_splits(splits, None, np.ones(10), None, y)
    check_splits(splits[1:] * 2, None, np.ones(10), None, y)


def test_a_fold_whose_rows_do_not_count_is_named():
    splits = [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))]
    with pytest.raises(ValueError, match="Fold 0 has no training or no test rows"):
        check_splits(splits, None, np.repeat([1.0, 0.0], 5), None)


def test_folds_of_a_time_series_need_not_have_all_rows():
    splits = [(np.array([5, 2]), np.array([7])), (np.array([2, 5, 7]), np.array([9]))]
    assert_array_equal(rows_of_splits(splits), [2, 5, 7, 9])


@pytest.mark.parametrize(
    ("most", "cv", "expected"),
    [
        (3000, None, 3000),
        (3000, 10, 3000),
        (9000, None, 5000),
        (None, None, 5000),
        # Both may name rows, which a draw would take away.
        (3000, KFold(5), 5000),
        (3000, [(np.arange(4000), np.arange(4000, 5000))], 5000),
    ],
)
def test_folds_that_are_counted_leave_the_search_on_some_rows(most, cv, expected):
    assert rows_to_search(5000, most, cv) == expected


@pytest.mark.parametrize("cv", [None, 4])
def test_rows_of_classes_that_cannot_be_judged_train_every_fold(cv):
    target = np.repeat([0, 1, 2], [20, 20, 1 if cv is None else 3])
    splits = list(make_splitter(cv, target, True, None, 0).split(target, target, None))
    rare = np.flatnonzero(target == 2)
    for train, test in splits:
        assert set(rare) <= set(train)
        assert not set(rare) & set(test)
        assert not set(train) & set(test)
        assert set(target[test]) == {0, 1}
    judged = np.concatenate([test for _, test in splits])
    assert set(judged) == set(range(40))
    check_splits(splits, target, np.ones(len(target)), None)
