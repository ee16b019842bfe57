"""The answer in words: what is called a finding, and what a reader is warned of."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import (
    AgainstNoise,
    ClassQuality,
    ColumnInformation,
    Feature,
    HeldOut,
    Score,
    find_warnings,
    headline,
    select_features,
)
from kernelknife.app.selection.rates import ColumnRate, ErrorRate
from kernelknife.app.selection.verdict import tier_of
from kernelknife.kernels import RBF, Additive


def features(*facts):
    """Return columns from (name, weight, share of the folds)."""
    return tuple(Feature(name, w, share, i + 1) for i, (name, w, share) in enumerate(facts))


MIXED = features(("a", 0.5, 1.0), ("b", 0.4, 0.0), ("c", 0.3, 0.6), ("d", 0.0, 0.47), ("e", 0, 0.2))


@pytest.fixture(scope="module")
def sure(selection):
    """A selection that is clearly better than the baseline; all columns together are not."""
    return replace(
        selection,
        advantage=Score(0.9, 0.01),
        full_advantage=Score(0.0, 0.01),
        against_noise=None,
        information={},
    )


def beside_noise(selection, *stronger, p_value=1 / 21):
    """Return the selection with columns that permutations find stronger than noise."""
    p_values = {one.name: p_value if one.name in stronger else 1.0 for one in selection.features}
    found = AgainstNoise(p_value, p_values, stronger, 20, 2, 0.05)
    return replace(selection, against_noise=found)


def informed(selection, *listed):
    """Return the selection with columns that carry information on their own."""
    known = {
        one.name: ColumnInformation(
            *((1e-6, 1e-4) if one.name in listed else (0.5, 0.9)), 0.2, "", {}
        )
        for one in selection.features
    }
    return replace(selection, information=known)


def with_rate(selection, *kept):
    """Return the selection with an error rate that keeps some of its columns."""
    columns = {
        feature.name: ColumnRate(0.9, 0.02, feature.name in kept) for feature in selection.features
    }
    return replace(selection, rates=ErrorRate("stability", columns, 100, 0.8, "No column is kept."))


def equal_weights(selection):
    """Return the selection as if the folds had preferred all columns with equal weights."""
    model = copy(selection.model).set_params(learn_weights=False)
    every = features(*((feature.name, 0.5, 1.0) for feature in selection.features))
    return replace(selection, model=model, features=every)


def test_a_column_in_hardly_any_fold_is_no_finding(sure):
    """The gene table of the first hour: weight 0.40 in no fold, and weight 0 in half of them."""
    tiers = [tier_of(feature.selected, feature.frequency) for feature in MIXED]
    assert tiers == ["stable", "unstable", *["uncertain"] * 2, ""]
    mixed = replace(sure, features=MIXED)
    assert headline(mixed).startswith(
        "1 of 5 columns is enough to predict height: a. 2 more are uncertain: c, d. 1 is in the "
        "model but in few folds, and no finding: b. The mean squared error is "
    )
    answer = mixed.to_json()
    assert (answer["stable"], answer["unstable"]) == (["a"], ["b"])
    assert answer["selected"] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="tier must be one of stable, uncertain, unstable"):
        mixed.in_tier("sure")


def test_without_a_stable_column_nothing_is_said_to_matter(sure):
    unsure = replace(sure, features=MIXED[1:])
    assert "enough" not in headline(unsure)
    assert "none of the 4 columns is selected in most folds" in headline(unsure)
    noise = replace(unsure, advantage=Score(0.01, 0.02))
    assert headline(noise) == (
        "No sure finding: nothing here clearly predicts height. The best guess is c, d of 4 "
        "columns."
    )
    worse = replace(unsure, advantage=Score(-0.03, 0.02))
    assert headline(worse) == (
        "Nothing here predicts height: no column helps more than chance would."
    )
    nothing = replace(sure, features=MIXED[3:])
    assert headline(nothing).startswith("Nothing here predicts height")
    # Whose penalty that was is another matter.
    given = replace(nothing, settings=replace(nothing.settings, sparsity=1e6))
    assert headline(given) == "No column is left at the penalty that was given for height."
    lost = replace(given, full_error=Score(0.01, 0.0), full_advantage=Score(0.9, 0.01))
    assert "All columns together predict better than none" in " ".join(find_warnings(lost))


def test_a_guess_names_what_was_asked_for(sure):
    """Folds that ask for two columns may select four different ones."""
    asked = replace(
        sure,
        features=MIXED,
        advantage=Score(0.01, 0.02),
        settings=replace(sure.settings, n_features=3),
    )
    assert "The best guess is a, c of 5 columns." in headline(asked)


def test_a_name_with_a_comma_is_one_name(sure):
    odd = replace(sure, features=features(("income, net", 0.5, 1.0), ("b", 0.4, 1.0)))
    assert 'are enough to predict height: "income, net", b. ' in headline(odd)


def test_names_are_marked_where_a_page_asks_for_it(sure):
    mixed = replace(sure, features=MIXED)
    assert "HEIGHT: <a>." in headline(mixed, lambda name: f"<{name}>", str.upper)


def test_warnings(sure):
    def said(**changes):
        return " ".join(find_warnings(replace(sure, **changes)))

    assert said() == ""
    worse = said(advantage=Score(-0.07, 0.02))
    assert "are worse than the baseline: their error is larger by 7 % +- 2 %." in worse
    assert "as well as the baseline, and no better" in said(advantage=Score(0.0, 0.0))
    close = said(advantage=Score(0.01, 0.02))
    assert "save 1 % +- 2 % of the error of the baseline, which is not clearly more" in close
    assert "but not on the rows held out" in said(held_out=HeldOut(2.0, 1.0, 9))
    losing = said(
        error=Score(0.217, 0.02), full_error=Score(0.084, 0.01), full_advantage=Score(0.9, 0.01)
    )
    assert "All columns together predict better" in losing
    assert "0.084 against 0.217" in losing
    # Where all columns are no better than the baseline either, none of them is missed.
    errors = {"error": 1.06, "full_error": 0.914, "baseline_error": 0.91}
    noise = said(**{name: Score(error, 0.05) for name, error in errors.items()})
    assert "All columns" not in noise
    table = replace(sure.table, doubts=("column n looks like a row number",))
    assert said(table=table) == "Column n looks like a row number."


def test_a_rare_class_that_is_mostly_missed_is_said(sure):
    def said(confusion, class_weight=None):
        confusion = np.array(confusion, dtype=float)
        right = np.diag(confusion) / confusion.sum(axis=1)
        names = ("ill", "well", "worn")[: len(right)]
        quality = ClassQuality(names, confusion, 1.0 - right, float(1.0 - right.mean()), 0.7, ())
        settings = replace(sure.settings, class_weight=class_weight)
        return find_warnings(replace(sure, quality=quality, settings=settings))

    (warning,) = said([[3, 7], [1, 89]])
    assert warning.startswith("The class 'ill' is rare, and most of its rows are taken for another")
    assert 'class_weight="balanced"' in warning
    (warning,) = said([[3, 7, 0], [1, 89, 0], [0, 8, 2]])
    assert warning.startswith("The classes 'ill', 'worn' are rare, and most of their rows")
    assert said([[3, 7], [1, 89]], class_weight="balanced") == []
    assert said([[7, 3], [1, 89]]) == []  # most rows are right
    assert said([[15, 25], [20, 40]]) == []  # not rare


def test_a_model_of_all_columns_is_no_selection(sure):
    """Where all columns with equal weights do best, none of them is a finding."""
    kept = equal_weights(sure)
    assert kept.keeps_all
    assert headline(kept).startswith("No selection: all 6 columns with equal weights predict")
    assert not kept.verdict.tiers, "equal weights say nothing about a single column"
    assert "enough" in headline(replace(kept, model=sure.model))


def test_no_column_has_a_tier_where_nothing_predicts(sure):
    """Seven of nineteen reports on noise listed stable columns, one of them 200."""
    noise = replace(sure, features=MIXED, advantage=Score(0.01, 0.02))
    answer = noise.to_json()
    assert not noise.verdict.tiers
    assert answer["stable"] == answer["uncertain"] == answer["unstable"] == []
    assert {feature["tier"] for feature in answer["features"]} == {""}
    assert answer["verdict"] == {
        "finding": False,
        "decided_by": "prediction",
        "p_value": None,
        "stronger_than_noise": [],
        "carry_information": [],
        "sentence": headline(noise),
    }
    page = build_report(noise)
    assert 'class="tier' not in page.replace("tier.", "")
    assert "The model that was fitted all the same" in page
    assert "everything that was found to matter" not in page


def test_all_columns_predict_better_only_where_they_beat_the_baseline(sure):
    """Said of pure noise where 1.38 +- 0.11 met a constant's 1.41 +- 0.10."""
    noise = replace(equal_weights(sure), advantage=Score(0.02, 0.05))
    assert headline(noise) == "No sure finding: nothing here clearly predicts height."
    worse = replace(noise, advantage=Score(-0.02, 0.05))
    assert headline(worse).startswith("Nothing here predicts height")
    for answer in (noise, worse):
        assert "lower error than every" not in answer.model_in_words
        assert "shorter list" not in build_report(answer)
    # A short list that fails beside all columns that do not is said as it is.
    many = replace(sure, advantage=Score(0.01, 0.05), full_advantage=Score(0.4, 0.05))
    assert headline(many).startswith("No selection: all 6 columns with equal weights predict")
    assert not many.verdict.finding
    assert not many.verdict.tiers


@pytest.mark.parametrize("gain", [0.9, 0.01, 0.0, -0.2])
@pytest.mark.parametrize("kept", [("a", "c"), ()])
def test_an_error_rate_that_was_asked_for_decides(sure, gain, kept):
    mixed = replace(sure, features=MIXED, advantage=Score(gain, 0.02))
    rated = with_rate(mixed, *kept)
    verdict, answer = rated.verdict, headline(rated)
    assert (verdict.decided_by, verdict.finding) == ("stability", bool(kept))
    assert dict(verdict.tiers) == dict.fromkeys(kept, "kept")
    first = "Stability selection keeps 2 of 5 columns for height: a, c." if kept else "No column is"
    assert answer.startswith(first)
    # Everything else is evidence beside it: no second verdict, and no tier of the folds.
    said = " ".join([answer, *find_warnings(rated)])
    assert "Beside it, in cross-validation the columns that it selects" in said
    for words in ("finding", "matter", "hint"):
        assert words not in said
    page = build_report(rated)
    # On the first screen and in the table of all columns.
    assert page.count('<span class="tier kept"') == 2 * len(kept)
    assert page.count('<span class="tier ') == 2 * len(kept)
    assert page.count('class="lead"') == 1
    assert rated.to_json()["verdict"]["finding"] == bool(kept)


class Search:
    """The results of a search over penalties."""

    kernel_name_, kernel_ = "rbf", RBF()

    def __init__(self, scores, n_folds=(4, 4, 4)):
        seen = np.repeat(n_folds, 2)
        self.alphas_ = np.array([0.1, 0.3, 1.0])
        self.alphas = self.alphas_
        self.cv_results_ = {
            "kernel": np.repeat("rbf", 6),
            "n_folds": seen,
            "n_training_rows": np.full(6, 100),
            "alpha": np.repeat(self.alphas_, 2),
            "weighting": np.array(["penalized"] * 6, dtype=object),
            "mean_test_score": np.array(scores),
            "standard_error": np.full(6, 0.02),
            **{f"split{i}_test_score": np.where(i < seen, scores, np.nan) for i in range(4)},
        }


def test_a_fit_that_has_not_converged_has_advice_that_can_be_followed(sure):
    model = copy(sure.model)
    model.converged_ = False
    unfinished = replace(sure, model=model)
    (warning,) = find_warnings(unfinished)
    assert "such as alpha=3, or leave columns out." in warning
    page = build_report(unfinished)
    assert "no: see the warning at the top" in page
    assert "max_iter" not in page


class Model:
    converged_, relax = True, False

    def __init__(self, alpha, learn_weights=True):
        self.alpha, self.learn_weights = alpha, learn_weights


@pytest.mark.parametrize(
    ("scores", "alpha", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1.0, "alpha 1 is the largest of those tried"),
        ([0.6, 0.5, 0.4, 0.3, 0.2, 0.1], 0.1, "such as alpha=0.0333"),
        ([0.1, 0.2, 0.8, 0.9, 0.5, 0.6], 0.3, ""),
        # Where the errors hardly differ, an end of the grid means nothing.
        ([0.600, 0.5, 0.595, 0.5, 0.5, 0.5], 0.1, ""),
    ],
)
def test_an_alpha_at_the_end_of_its_grid_is_said(sure, scores, alpha, expected):
    search = Search(scores)
    search.splits_ = sure.search.splits_
    at_end = replace(sure, search=search, model=Model(alpha))
    warnings = " ".join(find_warnings(at_end))
    assert expected in warnings
    assert bool(expected) == bool(warnings)
    # A search that finds its alphas by itself has asked whether to go on.
    search.alphas = None
    assert find_warnings(at_end) == []


def test_an_alpha_that_a_screening_round_has_ruled_out_was_tried(sure):
    search = Search([0.1, 0.2, 0.8, 0.9, 0.5, 0.6], n_folds=(4, 4, 2))
    search.splits_ = sure.search.splits_
    assert find_warnings(replace(sure, search=search, model=Model(0.3))) == []
    rising = Search([0.1, 0.2, 0.5, 0.6, 0.8, 0.9], n_folds=(2, 2, 4))
    rising.splits_ = sure.search.splits_
    (warning,) = find_warnings(replace(sure, search=rising, model=Model(1.0)))
    assert "alpha 1 is the largest of those tried" in warning
    # One that was fitted to more rows is better for that.
    rising.cv_results_["n_training_rows"][-2:] = 400
    assert find_warnings(replace(sure, search=rising, model=Model(1.0))) == []
    # Models that only the chosen alpha was tried with say nothing about the others.
    refitted = Search([0.1, 0.2, 0.5, 0.6, 0.6, 0.9], n_folds=(2, 2, 4))
    refitted.splits_ = sure.search.splits_
    refitted.cv_results_["weighting"][-1] = "relaxed"
    assert find_warnings(replace(sure, search=refitted, model=Model(1.0))) == []


def test_a_weight_at_its_bound_is_said(frame):
    """A quick wave needs a narrower kernel than gamma = 1 can give."""
    wave = frame[["a", "b", "c"]].assign(y=np.sin(3 * frame["a"]))
    options = {"alpha": 0.1, "folds": 2, "sparsity": 0.1}
    bounded = select_features(wave, "y", kernel="rbf", **options)
    assert bounded.features[0].weight == pytest.approx(1.0, abs=1e-4)
    (warning,) = [text for text in find_warnings(bounded) if "bound 1" in text]
    assert "The weight of a is at the bound 1: the kernel cannot follow finer changes" in warning
    assert "larger gamma" in warning
    narrow = select_features(wave, "y", kernel=RBF(gamma=25.0), **options)
    assert "bound 1" not in " ".join(find_warnings(narrow))
    # Equal weights have not been learned, and those of a sum of separate effects have no scale.
    equal = copy(bounded.model).set_params(learn_weights=False)
    assert "bound 1" not in " ".join(find_warnings(replace(bounded, model=equal)))
    additive = copy(bounded.search)
    additive.kernel_ = Additive()
    assert "bound 1" not in " ".join(find_warnings(replace(bounded, search=additive)))


# -- evidence beside the folds --------------------------------------------------------------------


def test_what_is_enough_and_what_carries_information_are_told_apart(sure):
    """Three genes with p-values below 1e-6 stood outside "1 of 7132 columns matters"."""
    one = replace(sure, features=features(("a", 0.5, 1.0), *((x, 0.0, 0.0) for x in "bcde")))
    answer = headline(informed(beside_noise(one, "a"), "c", "a", "d"))
    assert answer.startswith("1 of 5 columns is enough to predict height: a. ")
    assert "It is stronger than the strongest column of noise (p = 0.0476, 20 perm" in answer
    assert answer.endswith("2 more columns carry information on their own: c, d.")
    listed = informed(one, "c", "a", "d")
    assert listed.to_json()["verdict"]["carry_information"] == ["a", "c", "d"]
    assert all(f">{name}</th>" in build_report(listed) for name in "acd")


def test_only_some_of_the_columns_may_be_stronger_than_noise(sure):
    both = replace(sure, features=features(("a", 0.5, 1.0), ("b", 0.4, 1.0), ("c", 0, 0.0)))
    assert (
        "Of these only b is stronger than the strongest column of noise (p = 0.0476, 20 "
        "permutations of height): the other one helps to predict, but noise can be as strong."
    ) in headline(beside_noise(both, "b"))
    other = headline(beside_noise(both, "c"))
    assert "Surely stronger than the strongest column of noise (p = 0.0476, 20 perm" in other
    assert "All of them are stronger" in headline(beside_noise(both, "a", "b"))
    weak = headline(beside_noise(both, p_value=0.3))
    assert "No single column is known to be stronger than the strongest of noise (p = 0.3" in weak


def test_a_table_that_predicts_nothing_may_still_carry_information(sure):
    """No sentence contradicts another: nothing predicts, says one, and the next names genes."""
    noise = replace(sure, features=MIXED, advantage=Score(-0.1, 0.02))
    assert "Nothing here predicts" in headline(beside_noise(noise, p_value=0.4))
    answer = headline(informed(noise, "d"))
    assert "Nothing here" not in answer
    assert answer == (
        "No list of columns is known to predict height better than the baseline. 1 column carries "
        "information on its own: d."
    )
    unsure = headline(informed(replace(noise, advantage=Score(0.01, 0.02)), "d"))
    assert unsure.startswith("No sure finding: no list of columns clearly predicts height.")
    found = headline(beside_noise(noise, "d"))
    assert found.endswith(
        "But stronger than the strongest column of noise (p = 0.0476, 20 "
        "permutations of height): d."
    )
    assert not beside_noise(noise, "d").verdict.finding
