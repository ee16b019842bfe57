"""What each rule takes from a table of scores, and what an honest estimate makes of it."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressor
from kernelknife._tuning import (
    FoldScores,
    Judgments,
    Line,
    judged_by_others,
    pick_setting,
    tabulate,
)
from kernelknife._tuning.pick import settle_point


def judged(scores, counts, n_folds=None, lines=None):
    """Return lines and judgments; ``scores`` by line, fold, setting, ``counts`` by setting."""
    lines = lines or [
        Line(
            f"k{i}", KnifeRegressor(alpha=1.0), np.arange(len(counts), dtype=float), ("penalized",)
        )
        for i in range(len(scores))
    ]
    bits = np.packbits(np.arange(8) < np.array(counts)[:, None], axis=1)
    folds = [[FoldScores(np.array(row), bits, 10) for row in line] for line in scores]
    n_folds = n_folds or len(scores[0])
    followed = [i for i, line in enumerate(scores) if len(line) == n_folds]
    return lines, Judgments.gathered(lines, folds, n_folds, followed)


def test_the_best_mean_wins_and_ties_go_to_fewer_features():
    lines, judgments = judged([[[3.0, 5.0, 5.0], [3.0, 5.0, 5.0]]], [6, 4, 2])
    picks = pick_setting(lines, judgments)
    assert (picks["min"].index, picks["min"].point) == (2, 2)
    assert_array_equal(tabulate(lines, judgments)["mean_n_features"], [6, 4, 2])


def test_ties_go_to_lists_that_are_the_same_in_every_fold():
    """One setting selects two features in each fold, but others in each; the other always three."""
    lines, _ = judged([[[1.0, 1.0], [1.0, 1.0]]], [1, 1])
    folds = [
        FoldScores(np.array([5.0, 5.0]), np.packbits(np.array(selected, dtype=bool), axis=1), 10)
        for selected in ([[1, 1, 0, 0], [1, 1, 1, 0]], [[0, 0, 1, 1], [1, 1, 1, 0]])
    ]
    judgments = Judgments.gathered(lines, [folds], 2, [0])
    table = tabulate(lines, judgments)
    assert_array_equal(table["mean_n_features"], [2, 3])
    assert_array_equal(table["n_distinct_features"], [4, 3])
    pick = pick_setting(lines, judgments)["min"]
    assert pick.index == 1
    assert pick.equals == (1,), "the other one does as well, but is no equal"


def test_rules_take_fewer_features_within_their_slack():
    """The best mean is 6 with a standard error of 0.58: a quarter of that, or all of it."""
    scores = [[[5.0, 4.9, 4.6, 1.0], [7.0, 6.9, 6.6, 1.0], [6.0, 5.9, 5.6, 1.0]]]
    lines, judgments = judged(scores, [6, 3, 2, 1])
    picks = pick_setting(lines, judgments)
    assert picks["min"].index == 1
    assert picks["1se"].index == 2
    scores = [[[5.0, 4.8, 4.6, 1.0], [7.0, 6.8, 6.6, 1.0], [6.0, 5.8, 5.6, 1.0]]]
    lines, judgments = judged(scores, [6, 3, 2, 1])
    assert pick_setting(lines, judgments)["min"].index == 0


def test_a_line_that_was_dropped_cannot_be_chosen():
    scores = [[[1.0], [1.0], [1.0]], [[9.0]]]
    lines, judgments = judged(scores, [2], n_folds=3)
    table = tabulate(lines, judgments)
    assert_array_equal(table["n_folds"], [3, 1])
    assert np.isnan(table["split2_test_score"][1])
    assert pick_setting(lines, judgments)["min"].line is lines[0]


def test_a_fold_is_judged_by_what_the_others_choose():
    # Each fold likes another setting by luck; none of them is any good elsewhere.
    scores = [[[10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]]]
    _, judgments = judged(scores, [1, 2, 3])
    splits = [(np.delete(np.arange(9), np.r_[i : i + 3]), np.r_[i : i + 3]) for i in (0, 3, 6)]
    assert judgments.scores.mean(axis=0).max() > 3
    assert_allclose(judged_by_others(judgments, splits, "min"), 0.0)


def test_repeats_do_not_choose_for_each_other():
    # The second repeat would choose setting 1, the first repeat alone chooses setting 0.
    rows = [[1.0, 0.0], [1.0, 0.0], [0.0, 9.0], [0.0, 9.0]]
    _, judgments = judged([rows], [1, 1])
    halves = [(np.r_[4:8], np.r_[0:4]), (np.r_[0:4], np.r_[4:8])]
    mixed = [(np.r_[0, 2, 4, 6], np.r_[1, 3, 5, 7]), (np.r_[1, 3, 5, 7], np.r_[0, 2, 4, 6])]
    assert_allclose(judged_by_others(judgments, halves + mixed, "min"), [1.0, 1.0, 9.0, 9.0])


def test_all_features_are_taken_only_where_they_are_clearly_better():
    penalties, kinds = np.array([1.0]), ("penalized", "equal")
    lines = [Line("rbf", KnifeRegressor(), penalties, kinds)]
    slightly = [[[1.0, 1.3], [1.0, 0.9], [1.0, 1.0]]]
    clearly = [[[1.0, 1.3], [1.0, 1.2], [1.0, 1.25]]]
    splits = [(np.delete(np.arange(3), i), np.array([i])) for i in range(3)]
    for scores, chosen in ((slightly, "penalized"), (clearly, "equal")):
        _, judgments = judged(scores, [2, 8], lines=lines)
        assert pick_setting(lines, judgments)["min"].weighting == chosen
    assert_allclose(judged_by_others(judgments, splits, "min"), [1.3, 1.2, 1.25])


def test_the_point_that_others_choose_is_settled_on_the_path_of_the_fold_that_judges():
    """The others cannot tell two penalties apart; in the last fold the larger one is too large.

    The same happens on all rows, where :func:`settle` takes the penalty that keeps as many features
    as the folds have.
    """
    lines = [Line("rbf", KnifeRegressor(), np.array([1.0, 2.0]), ("penalized",))]
    both, lost = [[1, 1, 0], [1, 1, 0]], [[1, 1, 0], [0, 0, 0]]
    folds = [
        FoldScores(np.array(scores), np.packbits(np.array(selected, dtype=bool), axis=1), 10)
        for scores, selected in [([1.0, 1.0], both), ([1.0, 1.0], both), ([1.0, 0.5], lost)]
    ]
    splits = [(np.delete(np.arange(3), i), np.array([i])) for i in range(3)]
    judgments = Judgments.gathered(lines, [folds], 3, [0])
    assert_allclose(judged_by_others(judgments, splits, "min"), 1.0)


def test_a_path_that_has_just_lost_its_last_feature_goes_one_step_back():
    assert settle_point(equals=[3], counts=[5, 2, 2, 0], expected=2.0) == 2
    assert settle_point(equals=[3], counts=[5, 2, 2, 0], expected=0.2) == 3
    assert settle_point(equals=[3], counts=[0, 0, 0, 0], expected=2.0) == 3
    assert settle_point(equals=[0, 1, 2], counts=[5, 2, 2, 0], expected=2.0) == 2
