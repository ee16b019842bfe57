"""Error rates beside a selection of columns of a table."""

import json

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import SearchOptions
from kernelknife.app.selection import select_features
from kernelknife.app.selection.rates import ColumnRate, ErrorRate, check_rates
from kernelknife.app.tables import TableError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    levels = np.array(["red", "green", "blue"])[rng.integers(3, size=60)]
    y = np.sin(2 * X[:, 1]) + (levels == "red") + 0.2 * rng.normal(size=60)
    return pd.DataFrame(X, columns=list("abcdef")).assign(color=levels, y=y)


QUICK = {"alpha": 1.0, "folds": 2}


@pytest.fixture(scope="module")
def stable(frame):
    # Groups of rows, a text column and a constant one at the same time.
    frame = frame.assign(site=np.arange(60) // 3, dull=1.0)
    return select_features(frame, "y", group="site", stability=True, max_false=2.0, **QUICK)


def test_columns_of_a_table_are_selected_as_a_whole(stable):
    rates = stable.rates
    assert rates.method == "stability"
    assert {"b", "color"} <= set(rates.selected)
    assert rates.columns["b"].share > 0.9
    assert rates.columns["color"].q_value < 0.2
    assert rates.bound <= 2.0
    assert rates.n_samples == 100
    assert set(rates.columns) == {feature.name for feature in stable.features}
    assert "are expected to be false" in rates.sentence


def test_rates_are_written_as_json(stable):
    rates = json.loads(json.dumps(stable.to_json()))["error_rate"]
    assert rates["selected"] == stable.rates.selected
    assert rates["columns"]["b"]["selected"] is True


def test_knockoffs_of_few_columns_are_silent_and_say_why(frame):
    selection = select_features(frame.drop(columns="color"), "y", fdr=0.1, **QUICK)
    assert selection.rates.selected == []
    assert "cannot select fewer" in selection.rates.sentence


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {}, "has text columns. Use stability=True"),
        ({"color": 1.0, "site": [1, 2, 3] * 20}, {"group": "site"}, "rows of one site are not"),
    ],
)
def test_what_knockoffs_cannot_take_is_said_before_the_search(
    frame, changes, options, message, monkeypatch
):
    def search(*args, **kwargs):
        raise AssertionError("the search has begun")

    monkeypatch.setattr("kernelknife.KnifeRegressorCV.fit", search)
    with pytest.raises(TableError, match=message):
        select_features(frame.assign(**changes), "y", fdr=0.1, **options, **QUICK)


def test_a_number_of_false_columns_belongs_to_stability():
    check_rates(SearchOptions(stability=True, max_false=0.5))
    with pytest.raises(TableError, match=r"belongs to stability selection.*stability=True"):
        check_rates(SearchOptions(max_false=0.5))


def test_no_rate_was_asked_for(frame):
    selection = select_features(frame, "y", **QUICK)
    assert selection.rates is None
    assert selection.to_json()["error_rate"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stability": True, "fdr": 0.1}, "not both"),
        ({"stability": True, "max_false": 0.0}, "above 0"),
        ({"fdr": 1.5}, "between"),
    ],
)
def test_bad_questions_get_a_sentence(arguments, message):
    with pytest.raises(TableError, match=message):
        check_rates(SearchOptions(**arguments))


def test_sentences_count_and_name():
    columns = {
        "a": ColumnRate(0.8, 0.05, True),
        "b": ColumnRate(1.0, 0.01, True),
        "c": ColumnRate(0.1, 0.9, False),
    }
    rate = ErrorRate("knockoffs", columns, 20, 0.1, "")
    assert rate.sentence == (
        "Knockoffs keep 2 of 3 columns: b, a. At most 10 % of them are expected to be false."
    )
    rate = ErrorRate("stability", {"a": columns["a"]}, 100, 0.98, "")
    assert rate.sentence == (
        "Stability selection keeps 1 of 1 columns: a. At most 0.98 of them are expected to be "
        "false."
    )


def test_draws_are_reported_as_progress(frame, tmp_path):
    from kernelknife.app.cli.progress import FoldCounter

    path = tmp_path / "parts"
    path.touch()
    counter = FoldCounter(str(path))
    select_features(
        frame.drop(columns="color"), "y", fdr=0.1, kernel="linear", callbacks=(counter,), **QUICK
    )
    # Two folds at least, and 20 draws of knockoffs.
    assert counter.total >= 22
    assert path.stat().st_size == counter.total


def test_copies_are_named_before_the_search(frame):
    numbers = frame.select_dtypes("number")
    first = next(name for name in numbers if name != "y")
    numbers = numbers.assign(**{"a copy": numbers[first]})
    said = []
    with pytest.raises(TableError, match=f"Columns {first!r} and 'a copy' are copies"):
        select_features(numbers, "y", fdr=0.2, alpha=1.0, announce=said.append)
    assert said == []
