"""A survival selection: from a table to errors, curves, a report, a saved model and JSON."""

import json

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.selection.quality import partial_error
from kernelknife.app.storage import load_model, save_model
from kernelknife.app.tables import TableError
from kernelknife.losses import CoxLoss
from kernelknife.survival_metrics import concordance


def make_frame(n=160, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    frame["site"] = rng.choice(["x", "y"], n)
    days = rng.exponential(np.exp(-1.5 * frame["a"] - frame["c"]))
    censored = rng.exponential(2.0, n)
    return frame.assign(days=np.minimum(days, censored), died=(days <= censored).astype(int))


@pytest.fixture(scope="module")
def selection():
    return select_features(make_frame(), "days", event="died", kernel="linear", alpha=1.0, folds=3)


def test_finds_the_columns_that_matter(selection):
    assert set(selection.selected) >= {"a", "c"}
    assert set(selection.selected[:2]) == {"a", "c"}
    assert selection.better
    assert selection.table.task == "survival"
    assert any("took days for the time until died" in note for note in selection.table.notes)


def test_the_baseline_is_a_model_without_columns(selection):
    splits, y = selection.search.splits_, selection.table.target
    errors = [partial_error(CoxLoss(), y, np.zeros(len(y)), *split) for split in splits]
    assert selection.baseline_error.mean == pytest.approx(np.mean(errors))


def test_concordance_and_risk_groups_are_of_test_rows(selection):
    quality = selection.survival
    assert 0.65 < quality.concordance.mean < 1.0
    assert sum(group.n_rows for group in quality.groups) == 160
    low, middle, high = (group.n_events / group.n_rows for group in quality.groups)
    assert low < middle < high
    assert all((np.diff(group.survival) <= 0).all() for group in quality.groups)


def test_json_report_and_saved_model_hold_the_answer(selection, tmp_path):
    content = json.loads(json.dumps(selection.to_json()))
    assert content["task"] == "survival"
    assert content["survival"]["concordance"]["mean"] == selection.survival.concordance.mean
    page = build_report(selection, "table.csv")
    assert "Low, middle and high risk" in page
    assert "high risk: " in page
    save_model(tmp_path / "model.kk", selection)
    encoder, model, facts = load_model(tmp_path / "model.kk")
    frame = make_frame()
    risk = model.predict(encoder.transform(frame))
    np.testing.assert_array_equal(risk, selection.predict(frame))
    assert facts["task"] == "survival"
    assert concordance(frame["days"], frame["died"], risk) > 0.7
    assert model.predict_survival_function(encoder.transform(frame), [0.5]).shape == (160, 1)


def test_held_out_rows_and_a_given_number_of_columns():
    options = {"kernel": "linear", "alpha": 1.0, "folds": 3}
    chosen = select_features(
        make_frame(), "days", event="died", hold_out=0.2, n_features=2, **options
    )
    assert set(chosen.selected) == {"a", "c"}
    assert chosen.held_out.rows == 32
    assert chosen.held_out.error < chosen.held_out.baseline


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"died": 0}, {}, "All 160 rows are censored"),
        ({"died": np.nan}, {}, "The event died has no value in any row"),
        ({"died": 2}, {}, "neither 0 .censored. nor 1"),
        ({"days": -1.0}, {}, "is negative"),
        ({"days": "long"}, {}, "The column days holds texts"),
        ({}, {"event": "dead"}, "did you mean 'died'"),
        ({}, {"task": "regression"}, "a time until it, and no other task"),
        ({}, {"event": "days"}, "it cannot be the event as well"),
        ({}, {"loss": "huber"}, "has a loss of its own"),
        ({}, {"class_weight": "balanced"}, "is a time"),
    ],
)
def test_bad_tables_get_their_sentence(change, options, message):
    frame = make_frame().assign(**change)
    with pytest.raises((TableError, ValueError), match=message):
        select_features(frame, "days", **{"event": "died", **options})
