"""Counts in proportion to an exposure, quantiles, groups of columns, logarithms, rows in time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

from kernelknife.app.options import SelectOptions
from kernelknife.app.selection import select_features
from kernelknife.app.selection.planning import folds_in_time, split_held_out
from kernelknife.app.storage import load_model, save_model
from kernelknife.app.tables import TableError, make_table, rows_to_predict

SMALL = {"kernel": "rbf", "alpha": 0.3, "folds": 3, "n_permutations": 0}


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(0), 150
    g = rng.normal(size=(n, 6))
    frame = pd.DataFrame(np.exp(3 * g), columns=[f"g{i}" for i in range(6)])
    frame["years"] = rng.uniform(0.2, 6.0, n)
    frame["visits"] = rng.poisson(frame.years * np.exp(0.3 + np.sin(1.5 * g[:, 0])))
    frame["dose"] = np.sin(1.5 * g[:, 0]) + g[:, 2] + 0.6 * rng.normal(size=n) * np.exp(g[:, 4])
    frame["signal"] = np.sin(1.5 * g[:, 0]) + g[:, 2] + 0.1 * rng.normal(size=n)
    frame["day"] = pd.date_range("2020-01-01", periods=n)[rng.permutation(n)].strftime("%d.%m.%Y")
    return frame


@pytest.fixture(scope="module")
def counts(frame):
    columns = frame.drop(columns=["dose", "day", "signal"])
    return select_features(columns, "visits", loss="poisson", exposure="years", log="g*", **SMALL)


@pytest.fixture(scope="module")
def quantiles(frame):
    columns = frame.drop(columns=["visits", "day", "years", "signal"])
    return select_features(columns, "dose", quantile=[0.9, 0.1], log="g*", **SMALL)


@pytest.fixture(scope="module")
def grouped(frame):
    columns = frame.drop(columns=["visits", "day", "years", "dose"])
    groups = {"first": ["g0", "g1"], "second": ["g2"], "third": ["g3", "g5"]}
    return select_features(columns, "signal", feature_groups=groups, log=["g*"], **SMALL)


def test_counts_are_predicted_in_proportion_to_their_exposure(frame, counts):
    assert "g0" in counts.selected
    once, twice = frame.assign(years=1.0), frame.assign(years=2.0)
    np.testing.assert_allclose(counts.predict(twice), 2 * counts.predict(once), rtol=1e-12)
    with pytest.raises(TableError, match="lacks the exposure years"):
        counts.predict(frame.drop(columns=["years"]))


def test_the_baseline_of_counts_is_the_rate_of_the_training_rows(frame, counts):
    errors = []
    for train, test in counts.search.splits_:
        rate = frame.visits.iloc[train].sum() / frame.years.iloc[train].sum()
        mean, y = rate * frame.years.iloc[test], frame.visits.iloc[test]
        parts = np.where(y > 0, y * np.log(np.maximum(y, 1) / mean), 0.0) - (y - mean)
        errors.append(2 * parts.mean())
    assert counts.baseline_error.mean == pytest.approx(np.mean(errors), rel=1e-6)
    assert counts.error.mean < counts.baseline_error.mean


def test_a_rate_explains_a_count_and_not_the_time_of_observation(frame):
    columns = frame[["years", "visits", "g3"]].assign(more=lambda f: f.years + 0.1 * f.g3.rank())
    selection = select_features(columns, "visits", loss="poisson", exposure="years", **SMALL)
    assert not selection.information["more"].listed or selection.information["more"].share < 0.1


def test_logarithms_are_part_of_the_model(frame, counts):
    logs = frame.assign(**{f"g{i}": np.log(frame[f"g{i}"]) for i in range(6)})
    same = select_features(
        logs.drop(columns=["dose", "day", "signal"]),
        "visits",
        loss="poisson",
        exposure="years",
        **SMALL,
    )
    assert same.selected == counts.selected
    np.testing.assert_allclose(same.predict(logs), counts.predict(frame), rtol=1e-10)
    effect = counts.effects[0]
    assert min(effect.values) > 0
    np.testing.assert_allclose(np.log(effect.values), same.effects[0].values, atol=1e-12)
    with pytest.raises(TableError, match=f"Column {counts.selected[0]} has no logarithm in 1 val"):
        counts.predict(frame.assign(**{counts.selected[0]: [0.0, *frame["g0"][1:]]}))


def test_quantiles_find_what_changes_the_spread_and_never_cross(frame, quantiles):
    low, high = quantiles.predict(frame).T
    assert (low <= high).all()
    assert "g4" in quantiles.selected
    assert set(quantiles.effects[0].curves) == {"quantile 0.1", "quantile 0.9"}
    below = [np.quantile(frame.dose.iloc[t], [0.1, 0.9]) for t, _ in quantiles.search.splits_]
    errors = [
        np.mean([
            np.maximum(q * (y - level), (q - 1) * (y - level)).mean()
            for q, level in zip((0.1, 0.9), levels, strict=True)
        ])
        for levels, y in zip(
            below, (frame.dose.to_numpy()[t] for _, t in quantiles.search.splits_), strict=True
        )
    ]  # fmt: skip
    assert quantiles.baseline_error.mean == pytest.approx(np.mean(errors), rel=1e-2)


def test_groups_are_selected_as_a_whole(frame, grouped):
    names = {feature.name: feature.columns for feature in grouped.features}
    assert names["first"] == ("g0", "g1")
    assert names["g4"] == ("g4",)
    assert {"first", "second"} <= set(grouped.selected)
    weights = dict(zip(grouped.encoder.origins, grouped.model.weights_, strict=True))
    assert weights["g0"] == weights["g1"] > 0
    assert set(grouped.columns) == {c for name in grouped.selected for c in names[name]}
    assert {effect.name for effect in grouped.effects} <= set(grouped.columns)
    assert grouped.table.n_candidates == 4
    assert "4 groups and columns" in repr(grouped)


@pytest.mark.parametrize("which", ["counts", "quantiles", "grouped"])
def test_a_saved_model_predicts_the_same(which, frame, request, tmp_path):
    selection = request.getfixturevalue(which)
    save_model(tmp_path / "model.kk", selection)
    encoder, model, facts = load_model(tmp_path / "model.kk")
    needed = [*facts["selected"], *facts["adjusted"]]
    rows = rows_to_predict(encoder, frame, facts["dates"], needed, facts["exposure"])
    np.testing.assert_array_equal(model.predict(**rows), selection.predict(frame))


def test_groups_come_from_a_table_or_from_gene_sets(frame, tmp_path, grouped):
    pairs, sets = tmp_path / "groups.csv", tmp_path / "sets.gmt"
    pairs.write_text("column,group\ng0,first\ng1,first\ng2,second\ng3,third\ng5,third\n")
    sets.write_text("first\tx\tg0\tg1\nsecond\tx\tg2\tunknown\nthird\tx\tg3\tg5\n")
    columns = frame.drop(columns=["visits", "day", "years", "signal"])
    for path in (pairs, sets):
        options = SelectOptions(target="dose", feature_groups=path, log="g*")
        assert make_table(columns, options).column_groups == grouped.table.column_groups


def test_rows_are_sorted_by_their_time(frame):
    table = make_table(frame, SelectOptions(target="dose", order="day"))
    days = pd.to_datetime(frame.day, format="%d.%m.%Y")
    np.testing.assert_array_equal(table.target, frame.dose[days.argsort()])
    assert "day" not in table.features
    names = [int(name.removeprefix("row ")) - 1 for name in table.row_names]
    assert days[names].is_monotonic_increasing
    train, held = split_held_out(table, 0.2, 0)
    assert train.max() < held.min()


@pytest.mark.parametrize("forward", [False, True])
def test_folds_in_time_are_blocks_of_neighbors(frame, forward):
    columns = frame.drop(columns=["visits", "years", "signal"])
    selection = select_features(columns, "dose", order="day", forward=forward, log="g*", **SMALL)
    for train, test in selection.search.splits_:
        assert np.array_equal(test, np.arange(test.min(), test.max() + 1))
        assert not forward or train.max() < test.min()
    options = SelectOptions(target="dose", order="day", forward=forward)
    assert isinstance(folds_in_time(None, selection.table, options), TimeSeriesSplit) == forward


def test_counts_are_never_taken_for_something_else_without_a_word():
    rng = np.random.default_rng(0)
    columns = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    for y in (rng.poisson(1.0, 80), rng.poisson(40.0, 80), np.arange(80)):
        notes = make_table(columns.assign(y=y), SelectOptions(target="y")).notes
        assert 'loss="poisson"' in notes[0]
    for y in (rng.normal(size=80), rng.choice([-1, 0, 1], 80), rng.choice([0, 1], 80)):
        notes = make_table(columns.assign(y=y), SelectOptions(target="y")).notes
        assert "poisson" not in " ".join(notes)


def test_a_prediction_says_what_can_be_done_about_its_rows(frame, counts):
    name = counts.selected[0]
    cases = {
        "correct these values, or leave these rows out of the table": {name: 0.0},
        "is missing in 150 rows": {"years": np.nan},
        "is zero or negative in 150 rows": {"years": 0.0},
        "holds texts": {"years": "long"},
    }
    for words, change in cases.items():
        with pytest.raises(TableError, match=f"(?i){words}") as refusal:
            counts.predict(frame.assign(**change))
        assert "drop" not in str(refusal.value)
    gaps = counts.predict(frame.assign(**{name: np.nan}))
    assert np.isfinite(gaps).all()
