"""What folds say of settings, gathered from lines of unequal length, and the rule that chooses."""

import numpy as np
from numpy.testing import assert_array_equal

from kernelknife import KnifeRegressor
from kernelknife._tuning import FoldScores, Judgments, Line


def fold(scores, *selected):
    return FoldScores(np.array(scores), np.packbits(np.array(selected, dtype=bool), axis=1), 10)


def two_lines():
    """One line of two penalties and equal weights on three folds; another that saw one fold."""
    penalties = np.array([1.0, 2.0])
    lines = [
        Line("a", KnifeRegressor(), penalties, ("penalized", "equal")),
        Line("b", KnifeRegressor(), penalties, ("penalized",)),
    ]
    mine = [fold([3.0, 2.0, 1.0], [1, 1, 0], [1, 0, 0], [1, 1, 1])] * 2
    mine += [fold([3.0, 2.0, 4.0], [0, 1, 1], [1, 0, 0], [1, 1, 1])]
    return lines, [mine, [fold([9.0, 9.0], [1, 0, 0], [1, 0, 0])]]


def test_settings_of_all_lines_stand_side_by_side():
    judgments = Judgments.gathered(*two_lines(), 3, followed=[0])
    assert judgments.scores.shape == (3, 5)
    assert np.isnan(judgments.scores[1:, 3:]).all()
    assert_array_equal(judgments.n_seen, [3, 3, 3, 1, 1])
    assert_array_equal(judgments.followed, [True] * 3 + [False] * 2)
    assert_array_equal(judgments.sparsity, [1.0, 2.0, 0.0, 1.0, 2.0])
    assert_array_equal(judgments.equal, [False, False, True, False, False])
    assert_array_equal(judgments.path, [0, 0, 1, 2, 2])


def test_features_are_counted_by_fold_and_over_all_folds():
    judgments = Judgments.gathered(*two_lines(), 3, followed=[0]).of(range(3), np.arange(3))
    assert_array_equal(judgments.n_features, [[2, 1, 3]] * 3)
    assert_array_equal(judgments.mean_n_features, [2, 1, 3])
    assert_array_equal(judgments.n_distinct_features, [3, 1, 3])
    assert_array_equal(judgments.of([0, 1], np.arange(3)).n_distinct_features, [2, 1, 3])


def test_the_choice_is_made_by_the_given_folds_alone():
    judgments = Judgments.gathered(*two_lines(), 3, followed=[0])
    assert judgments.of([2], np.array([0, 1])).choose(0.25) == 0
    # A single fold has no standard error, so that all features may win by any lead.
    assert judgments.of([2], np.arange(3)).choose(0.25) == 2
    assert judgments.of([0, 1], np.arange(3)).choose(0.25) == 0


def test_equals_lie_on_one_path():
    lines, _ = two_lines()
    same = [fold([1.0, 1.0, 1.0], [1, 1, 0], [1, 1, 0], [1, 1, 0])] * 2
    judgments = Judgments.gathered(lines[:1], [same], 2, followed=[0])
    assert_array_equal(judgments.equals(0), [0, 1])
    assert_array_equal(judgments.equals(2), [2])
