"""What each rule selects from a table of scores, and what an unbiased estimate makes of it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressor, KnifeRegressorCV
from kernelknife._engine import FitSpec
from kernelknife._tuning.candidates import Candidate, CandidatePath
from kernelknife._tuning.choose import (
    SLACK,
    ScoreTable,
    Selected,
    folds_that_judge,
    nested_scores,
    select_candidates,
    settle_penalty,
)
from kernelknife._tuning.folds import FoldScores
from kernelknife.datasets import make_sinusoidal

THREE_FOLDS = [(np.delete(np.arange(9), np.r_[i : i + 3]), np.r_[i : i + 3]) for i in (0, 3, 6)]


def path_of(kernel, penalties, weightings=("penalized",), alpha=1.0):
    spec = FitSpec.from_estimator(KnifeRegressor(alpha=alpha))
    return CandidatePath(kernel, spec, np.array(penalties, dtype=float), weightings)


def fold(scores, *selected):
    """Return the scores of one fold, and the selected features of every candidate."""
    return FoldScores(np.array(scores), np.packbits(np.array(selected, dtype=bool), axis=1), 10)


def table_of(scores, counts, n_folds=None, paths=None):
    """Return a table; ``scores`` by path, fold and candidate, ``counts`` by candidate.

    Every fold selects the first features, as many as are counted.
    """
    selected = np.arange(8) < np.array(counts)[:, None]
    folds = [[fold(row, *selected) for row in path] for path in scores]
    n_folds = n_folds or len(scores[0])
    paths = paths or [path_of(f"k{i}", range(len(counts))) for i in range(len(scores))]
    finalists = [i for i, path in enumerate(scores) if len(path) == n_folds]
    return ScoreTable.gathered(paths, folds, n_folds, finalists)


def two_paths():
    """One path of two penalties and equal weights on three folds; another that saw one fold."""
    paths = [path_of("a", [1, 2], ("penalized", "equal")), path_of("b", [1, 2])]
    mine = [fold([3.0, 2.0, 1.0], [1, 1, 0], [1, 0, 0], [1, 1, 1])] * 2
    mine += [fold([3.0, 2.0, 4.0], [0, 1, 1], [1, 0, 0], [1, 1, 1])]
    other = [fold([9.0, 9.0], [1, 0, 0], [1, 0, 0])]
    return ScoreTable.gathered(paths, [mine, other], 3, finalists=[0])


# -- the table ------------------------------------------------------------------------------------


def test_candidates_of_all_paths_stand_side_by_side():
    table = two_paths()
    assert table.candidates == (
        Candidate("a", 1.0, "penalized", 1.0),
        Candidate("a", 1.0, "penalized", 2.0),
        Candidate("a", 1.0, "equal", 0.0),
        Candidate("b", 1.0, "penalized", 1.0),
        Candidate("b", 1.0, "penalized", 2.0),
    )
    assert [table.row(candidate) for candidate in table.candidates] == list(range(5))
    assert_array_equal(table.scores[:, :3], [[3, 2, 1], [3, 2, 1], [3, 2, 4]])
    assert_array_equal(table.scores[0, 3:], 9.0)
    assert np.isnan(table.scores[1:, 3:]).all()
    results = table.as_results()
    assert_array_equal(results["n_folds"], [3, 3, 3, 1, 1])
    assert_array_equal(results["followed"], [True] * 3 + [False] * 2)
    assert_array_equal(results["sparsity"], [1.0, 2.0, 0.0, 1.0, 2.0])
    assert_array_equal(results["weighting"][:3], ["penalized", "penalized", "equal"])
    assert_array_equal(results["mean_test_score"], [3.0, 2.0, 2.0, 9.0, 9.0])
    assert_array_equal(results["standard_error"][:3], [0.0, 0.0, 1.0])


def test_features_are_counted_by_fold_and_over_all_folds():
    results = two_paths().as_results()
    assert_array_equal(results["mean_n_features"], [2, 1, 3, 1, 1])
    assert_array_equal(results["n_distinct_features"], [3, 1, 3, 1, 1])
    two_folds = two_paths().restricted([0, 1], np.arange(3))
    assert_array_equal(two_folds.n_features, [[2, 1, 3]] * 2)
    assert_array_equal(two_folds.n_distinct_features, [2, 1, 3])


# -- the rule -------------------------------------------------------------------------------------


def test_the_best_mean_wins_and_ties_go_to_fewer_features():
    table = table_of([[[3.0, 5.0, 5.0], [3.0, 5.0, 5.0]]], [6, 4, 2])
    assert select_candidates(table)["min"].candidate.sparsity == 2.0
    assert_array_equal(table.as_results()["mean_n_features"], [6, 4, 2])


def test_ties_of_features_go_to_the_better_score_and_then_to_the_larger_penalty():
    better = table_of([[[5.0, 4.999], [6.0, 5.999]]], [2, 2])
    assert select_candidates(better)["min"].candidate.sparsity == 0.0
    same = table_of([[[5.0, 5.0], [6.0, 6.0]]], [2, 2])
    assert select_candidates(same)["min"].candidate.sparsity == 1.0


def test_full_ties_go_to_the_first_path():
    table = table_of([[[5.0], [6.0]], [[5.0], [6.0]]], [2])
    assert select_candidates(table)["min"].candidate.kernel == "k0"


def test_ties_go_to_lists_that_are_the_same_in_every_fold():
    """One candidate selects two features in each fold, but others in each; one always three."""
    folds = [
        fold([5.0, 5.0], [1, 1, 0, 0], [1, 1, 1, 0]),
        fold([5.0, 5.0], [0, 0, 1, 1], [1, 1, 1, 0]),
    ]
    table = ScoreTable.gathered([path_of("a", [0, 1])], [folds], 2, [0])
    results = table.as_results()
    assert_array_equal(results["mean_n_features"], [2, 3])
    assert_array_equal(results["n_distinct_features"], [4, 3])
    selected = select_candidates(table)["min"]
    assert selected.candidate.sparsity == 1.0
    assert selected.ties == (selected.candidate,), "the other does as well with other features"
    assert selected.n_features == 3.0


def test_rules_take_fewer_features_within_their_slack():
    """The best mean is 6 with a standard error of 0.58: a quarter of that, or all of it."""
    counts = [6, 3, 2, 1]
    scores = [[5.0, 4.9, 4.6, 1.0], [7.0, 6.9, 6.6, 1.0], [6.0, 5.9, 5.6, 1.0]]
    table = table_of([scores], counts)
    selected = select_candidates(table)
    assert selected["min"].candidate.sparsity == 1.0
    assert selected["1se"].candidate.sparsity == 2.0
    scores = [[5.0, 4.8, 4.6, 1.0], [7.0, 6.8, 6.6, 1.0], [6.0, 5.8, 5.6, 1.0]]
    table = table_of([scores], counts)
    assert select_candidates(table)["min"].candidate.sparsity == 0.0


def test_a_path_that_was_ruled_out_cannot_be_selected():
    table = table_of([[[1.0], [1.0], [1.0]], [[9.0]]], [2], n_folds=3)
    results = table.as_results()
    assert_array_equal(results["n_folds"], [3, 1])
    assert np.isnan(results["split2_test_score"][1])
    assert select_candidates(table)["min"].candidate.kernel == "k0"


def test_all_features_are_taken_only_where_they_are_clearly_better():
    paths = [path_of("rbf", [1.0], ("penalized", "equal"))]
    slightly = [[[1.0, 1.3], [1.0, 0.9], [1.0, 1.0]]]
    clearly = [[[1.0, 1.3], [1.0, 1.2], [1.0, 1.25]]]
    for scores, selected in ((slightly, "penalized"), (clearly, "equal")):
        table = table_of(scores, [2, 8], paths=paths)
        assert select_candidates(table)["min"].candidate.weighting == selected
    assert_allclose(nested_scores(table, THREE_FOLDS, "min"), [1.3, 1.2, 1.25])


def test_with_few_rows_all_features_are_compared_with_what_other_folds_select():
    """Each of five candidates is perfect in a fold of its own: their best mean is chance."""
    paths = [path_of("rbf", range(5), ("penalized", "equal"))]
    everything = np.array([0.55, 0.5, 0.6, 0.5, 0.55])
    chance = np.where(np.eye(5) > 0, 1.0, 0.4) + np.array([0.07, 0.0, 0.0, 0.0, 0.0])
    scores = [np.column_stack([chance, everything]).tolist()]
    table = table_of(scores, [1, 2, 3, 4, 5, 8], paths=paths)
    splits = [(np.delete(np.arange(10), [i, i + 5]), np.array([i, i + 5])) for i in range(5)]
    assert select_candidates(table)["min"].candidate.weighting == "penalized"
    judges = folds_that_judge(splits)
    assert_array_equal(judges, ~np.eye(5, dtype=bool))
    few = replace(table, judges=judges)
    assert select_candidates(few)["min"].candidate.weighting == "equal"
    # A selection that is better in every fold stays.
    steady = [np.column_stack([chance[:, :4], everything + 0.1, everything]).tolist()]
    few = replace(table_of(steady, [1, 2, 3, 4, 5, 8], paths=paths), judges=judges)
    assert select_candidates(few)["min"].candidate.weighting == "penalized"


def test_the_rule_looks_at_the_given_folds_alone():
    table = two_paths()
    assert table.restricted([2], np.array([0, 1])).choose(0.25).candidate.sparsity == 1.0
    # A single fold has no standard error, so that all features may win by any lead.
    assert table.restricted([2], np.arange(3)).choose(0.25).candidate.weighting == "equal"
    assert table.restricted([0, 1], np.arange(3)).choose(0.25).candidate.sparsity == 1.0


def test_ties_differ_in_their_penalty_alone():
    path = path_of("a", [1, 2], ("penalized", "equal"))
    same = [fold([1.0, 1.0, 1.0], [1, 1, 0], [1, 1, 0], [1, 1, 0])] * 2
    table = ScoreTable.gathered([path], [same], 2, [0])
    ties = table.restricted([0, 1], np.arange(2)).choose(0.25).ties
    assert {tie.sparsity for tie in ties} == {1.0, 2.0}
    assert len(table.restricted([0, 1], np.array([2])).choose(0.25).ties) == 1


def test_candidates_with_a_nan_score_are_not_selected():
    table = table_of([[[9.0, 1.0], [np.nan, 1.0]]], [2, 1])
    with pytest.warns(UserWarning, match="1 of 4 scores are NaN"):
        selected = select_candidates(table)
    assert {one.candidate.sparsity for one in selected.values()} == {1.0}
    with (
        pytest.warns(UserWarning, match="2 of 2 scores are NaN"),
        pytest.raises(ValueError, match="none can be selected"),
    ):
        select_candidates(table_of([[[np.nan], [np.nan]]], [1]))


# -- penalties that folds cannot tell apart -------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "counts", "expected", "settled"),
    [
        ([3], [5, 2, 2, 0], 2.0, 2),  # the last feature has just gone: one step back
        ([3], [5, 2, 2, 0], 0.2, 3),  # folds without features mean it
        ([3], [0, 0, 0, 0], 2.0, 3),  # nowhere to go back to
        ([0, 1, 2], [5, 2, 2, 0], 2.0, 2),  # as many features as the folds, the largest penalty
        ([0, 1, 2], [5, 4, 3, 0], 4.2, 1),
    ],
)
def test_ties_of_penalties_are_settled_by_the_path(ties, counts, expected, settled):
    made = [Candidate("a", 1.0, "relaxed", float(s)) for s in range(4)]
    selected = Selected(made[ties[-1]], tuple(made[i] for i in ties), expected)
    by_penalty = {float(s): count for s, count in enumerate(counts)}
    assert settle_penalty(selected, by_penalty) == made[settled]


# -- nested scores --------------------------------------------------------------------------------


def test_a_fold_scores_what_the_others_select():
    # Each fold favors another candidate by chance; none of them is any good elsewhere.
    table = table_of([[[10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]]], [1, 2, 3])
    assert table.scores.mean(axis=0).max() > 3
    assert_allclose(nested_scores(table, THREE_FOLDS, "min"), 0.0)


def test_repeats_do_not_select_for_each_other():
    # The second repeat would select candidate 1, the first repeat alone selects candidate 0.
    table = table_of([[[1.0, 0.0], [1.0, 0.0], [0.0, 9.0], [0.0, 9.0]]], [1, 1])
    halves = [(np.r_[4:8], np.r_[0:4]), (np.r_[0:4], np.r_[4:8])]
    mixed = [(np.r_[0, 2, 4, 6], np.r_[1, 3, 5, 7]), (np.r_[1, 3, 5, 7], np.r_[0, 2, 4, 6])]
    assert_allclose(nested_scores(table, halves + mixed, "min"), [1.0, 1.0, 9.0, 9.0])


def test_folds_that_all_overlap_select_for_each_other():
    """Splits at random have test rows in common; the fold itself has no say even so."""
    table = table_of([[[9.0, 0.0], [1.0, 2.0], [1.0, 2.0]]], [1, 1])
    splits = [(np.arange(5), np.array([5, 6 + i])) for i in range(3)]
    assert_allclose(nested_scores(table, splits, "min"), [0.0, 1.0, 1.0])


def test_the_penalty_that_others_select_is_settled_on_the_path_of_the_fold_that_scores():
    """The others cannot tell two penalties apart; in the last fold the larger one is too large."""
    both, lost = ([1, 1, 0], [1, 1, 0]), ([1, 1, 0], [0, 0, 0])
    folds = [fold([1.0, 1.0], *both), fold([1.0, 1.0], *both), fold([1.0, 0.5], *lost)]
    table = ScoreTable.gathered([path_of("rbf", [1, 2])], [folds], 3, [0])
    assert_allclose(nested_scores(table, THREE_FOLDS, "min"), 1.0)


def test_a_fold_without_any_score_in_common_with_the_others_has_none():
    table = table_of([[[np.nan, 1.0], [1.0, np.nan], [1.0, np.nan]]], [1, 1])
    assert np.isnan(nested_scores(table, THREE_FOLDS, "min")).all()


def random_table(rng, n_folds):
    """Return a table with ties, NaN and a path that only two folds have seen."""
    paths = [
        path_of(kernel, [0, 1, 2, 4], ("penalized", "relaxed", "equal"), alpha)
        for kernel, alpha in (("a", 0.1), ("a", 1.0), ("b", 1.0))
    ]
    scores = []
    for number, path in enumerate(paths):
        folds = []
        general = rng.normal(size=len(path.candidates))
        for _ in range(n_folds if number < 2 else 2):
            values = general + 0.5 * rng.normal(size=len(general))
            counts = np.r_[np.tile(np.sort(rng.integers(0, 7, 4))[::-1], 2), 7]
            selected = np.argsort(rng.random((len(values), 7)), axis=1) < counts[:, None]
            # Refitted models of the same features are the same.
            values[6], selected[6] = values[5], selected[5]
            if rng.random() < 0.7:
                values[7], selected[7] = values[6], selected[6]
            if rng.random() < 0.1:
                values[rng.integers(len(values))] = np.nan
            folds.append(fold(values, *selected))
        scores.append(folds)
    return paths, scores, ScoreTable.gathered(paths, scores, n_folds, [0, 1])


def recomputed_nested_score(paths, scores, splits, i, slack):
    """Return the nested score of one fold, from the definition and without a table."""
    mine = set(splits[i][1])
    others = [j for j, (_, test) in enumerate(splits) if j != i and not mine & set(test)]
    found = {}
    for path, folds in zip(paths, scores, strict=True):
        for column, candidate in enumerate(path.candidates):
            features = [set(np.flatnonzero(np.unpackbits(f.selected[column]))) for f in folds]
            found[candidate] = [f.scores[column] for f in folds], features
    seen = {}
    for candidate, (values, features) in found.items():
        if all(j < len(values) and np.isfinite(values[j]) for j in [i, *others]):
            seen[candidate] = [values[j] for j in others], [features[j] for j in others]
    if not seen:
        return np.nan
    mean = {candidate: np.mean(values) for candidate, (values, _) in seen.items()}
    error = {c: np.std(values, ddof=1) / len(others) ** 0.5 for c, (values, _) in seen.items()}
    count = {c: np.mean([len(one) for one in features]) for c, (_, features) in seen.items()}
    union = {c: len(set.union(*features)) for c, (_, features) in seen.items()}
    every = max((count[c] for c in seen if c.weighting == "equal"), default=np.inf)
    fewer = [c for c in seen if count[c] < every]
    allowed = set(fewer)
    best_of_fewer = max(fewer, key=mean.get)
    for candidate in set(seen) - allowed:
        gains = np.subtract(seen[candidate][0], seen[best_of_fewer][0])
        if gains.mean() > np.std(gains, ddof=1) / len(others) ** 0.5:
            allowed.add(candidate)
    best = max(mean[c] for c in allowed)
    bar = best - slack * min(error[c] for c in allowed if mean[c] == best)
    good = [c for c in seen if c in allowed and mean[c] >= bar - 1e-9 * abs(bar)]
    selected = min(good, key=lambda c: (union[c], -mean[c], -c.sparsity))
    ties = [
        c
        for c in seen
        if c.curve == selected.curve
        and (count[c], union[c]) == (count[selected], union[selected])
        and np.isclose(mean[c], mean[selected], rtol=1e-9)
    ]
    left = {c: len(features[i]) for c, (_, features) in found.items() if c.curve == selected.curve}
    settled = min(ties, key=lambda c: (abs(left[c] - count[selected]), -c.sparsity))
    if not left[settled] and count[selected] >= 0.5:
        smaller = [c for c in left if c.sparsity < settled.sparsity and left[c]]
        settled = max(smaller, key=lambda c: c.sparsity, default=settled)
    return found[settled][0][i]


@pytest.mark.parametrize("rule", ["min", "1se"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_nested_scores_are_those_of_their_definition(rule, repeats):
    rng = np.random.default_rng(repeats)
    order = [np.arange(8), np.random.default_rng(7).permutation(8)][:repeats]
    tests = [rows[2 * k : 2 * k + 2] for rows in order for k in range(4)]
    splits = [(np.setdiff1d(np.arange(8), test), test) for test in tests]
    n_ties = 0
    for _ in range(60):
        paths, scores, table = random_table(rng, len(splits))
        expected = [
            recomputed_nested_score(paths, scores, splits, i, SLACK[rule])
            for i in range(len(splits))
        ]
        assert_array_equal(nested_scores(table, splits, rule), expected)
        known = np.flatnonzero(np.isfinite(table.scores).all(axis=0))
        n_ties += len(table.restricted(range(4), known).choose(SLACK[rule]).ties) > 1
    assert n_ties > 2, "otherwise no penalty was settled"


def test_nested_scores_are_those_of_searches_on_the_other_folds():
    """What the others select is what a search selects that never sees the fold."""
    X, y = make_sinusoidal(90, 3, random_state=2)
    rows = np.arange(90)
    splits = [(np.delete(rows, rows[k::3]), rows[k::3]) for k in range(3)]
    options = {"alphas": [0.1, 1.0], "sparsities": [0.5, 2.0, 8.0, 20.0], "relax": False}
    search = KnifeRegressorCV("rbf", cv=splits, **options).fit(X, y)
    for i in range(3):
        others = [split for j, split in enumerate(splits) if j != i]
        # What the other rule selects is not settled on all rows.
        inner = KnifeRegressorCV("rbf", cv=others, rule="1se", **options).fit(X, y)
        score = search.cv_results_[f"split{i}_test_score"][inner.choices_["min"]]
        assert search.nested_scores_[i] == score
