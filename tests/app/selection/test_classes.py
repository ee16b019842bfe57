"""Classes one by one: figures that can be counted by hand, and rare classes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.selection.comparison import judge_classes


class Fixed:
    """A model whose scores are a column of the data."""

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return np.where(X[:, 0] > 0, "yes", "no")


def test_figures_are_those_of_a_count_by_hand():
    score = np.array([-2.0, -1.0, 0.5, 1.0, 2.0, 3.0, -0.5, 0.1])
    y = np.array(["no", "no", "no", "yes", "yes", "yes", "yes", "no"])
    rows = np.arange(8)
    splits = [(rows[4:], rows[:4]), (rows[:4], rows[4:])]
    names = np.array([f"row {i}" for i in range(8)])
    quality = judge_classes([Fixed(), Fixed()], splits, score[:, None], y, names)
    assert quality.classes == ("no", "yes")
    np.testing.assert_array_equal(quality.confusion, [[2, 2], [1, 3]])
    np.testing.assert_allclose(quality.class_errors, [0.5, 0.25])
    assert quality.balanced_error == pytest.approx(0.375)
    halves = [roc_auc_score(y[test] == "yes", score[test]) for _, test in splits]
    assert quality.area == pytest.approx(np.mean(halves))
    wrong = [(row.name, row.actual, row.predicted) for row in quality.wrong_rows]
    assert wrong == [("row 2", "no", "yes"), ("row 6", "yes", "no"), ("row 7", "no", "yes")]
    # A row that is tested twice counts as one.
    twice = judge_classes([Fixed()] * 4, splits * 2, score[:, None], y, names)
    np.testing.assert_array_equal(twice.confusion, quality.confusion)


@pytest.fixture(scope="module")
def rare():
    """A table in which one class of ten is rare and told apart by one column."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    frame["person"] = [f"p{i}" for i in range(120)]
    frame["kind"] = np.where(frame["a"] + 0.5 * rng.normal(size=120) > 1.3, "ill", "well")
    return frame


def test_the_selection_names_rows_by_their_identifier(rare):
    selection = select_features(rare, "kind", ids=["person"], alpha=0.3, folds=3)
    quality = selection.quality
    assert quality.confusion.sum() == pytest.approx(120)
    counts = rare["kind"].value_counts()
    np.testing.assert_allclose(quality.confusion.sum(axis=1), [counts["ill"], counts["well"]])
    assert quality.area > 0.7
    assert quality.wrong_rows
    for row in quality.wrong_rows:
        assert rare.set_index("person").loc[row.name, "kind"] == row.actual != row.predicted
    assert "slightly optimistic" in selection.quality_in_words
    assert selection.quality_in_words in build_report(selection)
    answer = selection.to_json()["classes"]
    assert answer["balanced_error"] == quality.balanced_error


def test_asked_for_columns_are_judged_by_their_own_folds(rare):
    data = rare.drop(columns="person")
    selection = select_features(data, "kind", alpha=0.3, folds=3, n_features=1)
    wrong = 1.0 - np.trace(selection.quality.confusion) / 120
    assert wrong == pytest.approx(selection.error.mean)
    assert selection.quality_in_words == "", "both errors are the same"


def test_a_number_has_no_classes(selection):
    assert selection.quality is None
    assert selection.quality_in_words == ""
