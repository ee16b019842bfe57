"""Columns of dates: recognized, refused with a way on, turned into numbers, and ambiguous ones."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.tables import TableError, expand_dates, make_table
from kernelknife.app.tables.dates import looks_like_dates, plan_dates


def make(frame, target, **options):
    return make_table(frame, TableOptions(target=target, **options))


DAYS = pd.date_range("2023-12-30", periods=6)


@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        DAYS.tz_localize("Europe/Paris"),
        DAYS.strftime("%Y-%m-%d"),
        DAYS.strftime("%d.%m.%Y"),
        DAYS.strftime("%d/%m/%Y"),
        DAYS.strftime("%m/%d/%Y"),
        DAYS.strftime("%Y-%m-%d %H:%M"),
        DAYS.strftime("%d %b %Y"),
        DAYS.strftime("%d-%B-%Y"),
        [*DAYS.strftime("%Y-%m-%d")[:3], None, *DAYS.strftime("%Y-%m-%d")[4:]],
    ],
)
def test_every_way_to_write_a_date(column):
    frame = pd.DataFrame({"x": range(6), "when": column})
    assert looks_like_dates(frame["when"])
    plan = plan_dates(frame, ("days", "year", "month"))
    numbers = expand_dates(frame, plan)
    assert list(numbers.columns) == ["x", "when (days)", "when (year)", "when (month)"]
    known = frame["when"].notna().to_numpy()
    np.testing.assert_allclose(numbers["when (days)"][known], np.arange(6)[known])
    np.testing.assert_allclose(numbers["when (month)"][known], np.array([12, 12, *[1] * 4])[known])
    assert numbers["when (year)"].iloc[-1] == 2024
    assert numbers["when (days)"].isna().sum() == (~known).sum()


def test_new_rows_count_from_the_same_day():
    plan = plan_dates(pd.DataFrame({"when": DAYS.strftime("%Y-%m-%d")}), ("days",))
    later = expand_dates(pd.DataFrame({"when": ["2024-01-09"]}), plan)
    assert later["when (days)"].tolist() == [10.0]


def test_durations_become_days():
    frame = pd.DataFrame({"wait": pd.to_timedelta([12, 36], unit="h")})
    assert expand_dates(frame, plan_dates(frame, ("days",)))["wait (days)"].tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["01/02/2024", "03/04/2024"], "whether the day or the month comes first"),
        (["2024-01-01"] * 60 + ["soon"], "texts that are no dates .'soon'."),
    ],
)
def test_dates_that_cannot_be_read(column, message):
    with pytest.raises(TableError, match=message):
        plan_dates(pd.DataFrame({"when": column}), ("days",))


def test_a_table_offers_and_takes_dates():
    frame = pd.DataFrame({"x": np.arange(6.0), "when": DAYS, "born": DAYS, "y": np.arange(6.0)})
    with pytest.raises(
        TableError, match=r'Column when .*dates=\["days"\].*Column born holds dates'
    ):
        make(frame, "y", task="regression")
    table = make(frame, "y", task="regression", dates=("days",))
    assert list(table.features.columns) == ["x", "when (days)", "born (days)"]
    with pytest.raises(TableError, match="no column holds dates: x"):
        make(frame[["x", "y"]], "y", dates=("days",))
    with pytest.raises(TableError, match="Dates can become days, year, month, got 'hour'"):
        make(frame, "y", dates=("hour",))


def test_dates_that_are_not_wanted_may_be_anything():
    frame = pd.DataFrame({"visit": ["2020-01-01", "2020-02-01"], "x": [1.0, 2.0]})
    plan = plan_dates(frame, ["days"])
    broken = frame.assign(visit=["soon", "later"])
    assert list(expand_dates(broken, plan, ["x"]).columns) == ["visit", "x"]
    with pytest.raises(TableError, match="no dates"):
        expand_dates(broken, plan, ["visit (days)"])
