"""A quick search: less is compared, the same columns are found, and it says what it is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from kernelknife.app.options import SearchOptions
from kernelknife.app.selection import find_warnings, select_features
from kernelknife.app.selection.planning import arguments_of_search, draw_quick_rows


@pytest.fixture(scope="module")
def long_frame(planted):
    """The planted rows, sorted by their target as tables often are, many times over."""
    X, y = planted
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(y=y)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(1600, 9))
    twice = pd.concat([frame, frame], ignore_index=True) + noise
    return twice.sort_values("y", ignore_index=True)


@pytest.fixture(scope="module")
def quick(long_frame):
    return select_features(long_frame, "y", quick=True)


def test_the_planted_columns_are_found_on_some_rows(quick):
    assert sorted(quick.in_tier("stable")) == ["x1", "x4", "x6"]
    assert quick.better
    assert quick.rows_searched == 1000
    assert set(quick.search.cv_results_["kernel"]) == {"linear", "rbf"}
    # The rows are sorted, and a fold of neighbors would be unlike the others.
    assert quick.baseline_error.spread < 0.2 * quick.baseline_error.mean


def test_fewer_paths_are_followed_than_in_a_full_search(frame):
    full = select_features(frame, "height")
    quick = select_features(frame, "height", quick=True)
    assert quick.search.n_paths_ < full.search.n_paths_ / 4
    assert set(quick.in_tier("stable")) == set(full.in_tier("stable")) == {"b", "kind"}


def test_a_quick_search_is_called_one(quick, selection):
    sentence = (
        "A quick search: 1000 of 1600 rows, kernels linear and rbf, 3 folds. For the full "
        "comparison, select without quick=True."
    )
    assert find_warnings(quick)[0] == sentence
    assert not any("quick" in warning for warning in find_warnings(selection))
    answer = quick.to_json()
    assert answer["settings"]["quick"] is True
    assert (answer["rows_searched"], answer["rows"]) == (1000, 1600)


def test_all_rows_of_a_short_table_are_called_all(frame):
    selection = select_features(frame, "height", quick=True, kernel="rbf")
    assert "A quick search: all 100 rows, kernel rbf, 3 folds." in find_warnings(selection)[0]


def test_options_that_were_given_win_over_the_preset():
    asked = {"kernel": ["additive"], "alpha": 2.0, "folds": 4, "n_centers": 30}
    arguments = arguments_of_search(SearchOptions(quick=True, **asked))
    assert arguments["kernel"] == ["additive"]
    assert arguments["alphas"] == [2.0]
    assert arguments["cv"] == 4
    assert arguments["n_centers"] == 30
    assert arguments_of_search(SearchOptions()) == {}
    preset = arguments_of_search(SearchOptions(quick=True))
    assert preset["sparsities"] == arguments["sparsities"]


def test_options_reach_the_search(frame):
    selection = select_features(
        frame, "height", quick=True, kernel="additive", alpha=2.0, folds=4, n_centers=30
    )
    search = selection.search
    assert (search.kernel_name_, search.alpha_, len(search.splits_)) == ("additive", 2.0, 4)
    assert selection.model.n_centers == 30


def test_a_loss_without_centers_is_fitted_exactly(planted):
    X, y = planted
    frame = pd.DataFrame(X[:, [1, 2, 4]], columns=list("abc")).assign(y=np.where(y > 0, "p", "n"))
    selection = select_features(frame, "y", quick=True, kernel="linear", loss="hinge")
    assert selection.rows_searched > 400
    assert selection.model.n_centers is None


def test_a_splitter_gets_all_rows_in_their_order(frame):
    selection = select_features(frame, "height", quick=True, kernel="linear", folds=KFold(3))
    for (_, test), (_, expected) in zip(
        selection.search.splits_, KFold(3).split(frame), strict=True
    ):
        np.testing.assert_array_equal(test, expected)
    rows = draw_quick_rows(np.arange(5000.0), 3, "regression", KFold(3), 0)
    np.testing.assert_array_equal(rows, np.arange(5000))


def test_fewer_rows_are_drawn_the_more_columns_and_classes_there_are(rng):
    y = rng.normal(size=20_000)
    drawn = [len(draw_quick_rows(y, p, "regression", None, 0)) for p in (10, 200, 50_000)]
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] > drawn[1] > drawn[2]
    few, many = (
        len(draw_quick_rows(rng.integers(k, size=20_000), 50, "classification", None, 0))
        for k in (2, 4)
    )
    assert few > many


def test_a_rare_class_keeps_rows_for_every_fold(rng):
    y = np.array(["often"] * 20_000 + ["rare"] * 12)
    rows = draw_quick_rows(y, 5, "classification", None, 0)
    assert len(np.unique(rows)) == len(rows)
    assert (y[rows] == "rare").sum() >= 10


def test_classes_and_rows_held_out(rng):
    X = rng.normal(size=(900, 5))
    kind = np.where(X[:, 1] ** 2 + X[:, 3] + 0.2 * rng.normal(size=900) > 1, "in", "out")
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=kind)
    selection = select_features(frame, "kind", quick=True, hold_out=0.25)
    assert set(selection.selected) >= {"b", "d"}
    assert selection.held_out.rows == pytest.approx(225, abs=1)
    assert selection.held_out.error < selection.held_out.baseline
    assert selection.quality.confusion.sum() == pytest.approx(selection.rows_searched)
    assert selection.better


def test_groups_need_as_many_as_there_are_folds(frame):
    patients = frame.assign(patient=np.arange(100) // 26)
    # A fold that tears a group apart would be refused; five folds would need five patients.
    selection = select_features(patients, "height", quick=True, group="patient", kernel="linear")
    assert len(selection.search.splits_) == 3
    with pytest.raises(ValueError, match="5 folds need as many groups, got 4"):
        select_features(patients, "height", quick=True, group="patient", folds=5)
