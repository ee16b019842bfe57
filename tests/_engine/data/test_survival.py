"""Survival targets: every form that users have, and a sentence for each that is none."""

import numpy as np
import pandas as pd
import pytest

from kernelknife._engine.data.survival import (
    FROM_THE_BEGINNING,
    check_survival,
    looks_like_survival,
    survival_columns,
)

TIME, EVENT = [2.0, 3.5, 1.0, 4.0], [1, 0, 1, 1]
STRUCTURED = np.array(
    list(zip(map(bool, EVENT), TIME, strict=True)), dtype=[("e", "?"), ("t", float)]
)


@pytest.mark.parametrize(
    "y",
    [
        STRUCTURED,
        STRUCTURED[["t", "e"]],
        np.column_stack([TIME, EVENT]),
        pd.DataFrame({"t": TIME, "e": EVENT}),
        pd.DataFrame({"e": np.array(EVENT, dtype=bool), "t": TIME}),
        list(zip(TIME, EVENT, strict=True)),
    ],
    ids=["structured", "time first", "array", "frame", "truth value first", "list"],
)
def test_every_form_gives_the_same_columns(y):
    columns = survival_columns(y)
    np.testing.assert_array_equal(columns[:, :2], np.column_stack([TIME, EVENT]))
    np.testing.assert_array_equal(columns[:, 2], 0.0)
    np.testing.assert_array_equal(columns[:, 3], FROM_THE_BEGINNING)
    check_survival(columns, np.ones(4))


def test_only_a_structured_array_speaks_for_itself():
    assert looks_like_survival(STRUCTURED)
    assert not looks_like_survival(np.column_stack([TIME, EVENT]))
    assert not looks_like_survival(np.zeros(3, dtype=[("a", float), ("b", float)]))


@pytest.mark.parametrize(
    ("time", "event", "message"),
    [
        ([1, -2, 3], [1, 1, 0], r"time of row 1 \(-2\) is negative"),
        ([1, np.nan, np.nan], [1, 1, 0], "row 1 .* is missing or infinite.*in 1 other rows"),
        ([1, 2, 3], [0, 0, 0], "All 3 rows are censored"),
        ([1, 2, 3], [0, 1, 0], "one has an observed event"),
        ([1, 2, 3], [1, 2, 1], r"event of row 1 \(2\) is neither 0"),
        ([1, 0, 1], [3, 4, 5], "exchange them"),
    ],
)
def test_bad_times_and_events_get_their_sentence(time, event, message):
    columns = survival_columns(np.column_stack([time, event]).astype(float))
    with pytest.raises(ValueError, match=message):
        check_survival(columns, np.ones(3))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(4.0), "got one column"),
        (None, "requires y to be passed"),
        (np.zeros((3, 5)), "got shape"),
        (np.array([["a", 1], ["b", 0]]), "not numbers"),
        (np.zeros(3, dtype=[("a", float), ("b", float)]), "two fields, a truth value"),
    ],
)
def test_what_is_no_survival_target_gets_a_sentence(y, message):
    with pytest.raises(ValueError, match=message):
        survival_columns(y)


def test_a_late_entry_must_be_before_the_time():
    columns = np.array([[2.0, 1, 0, 2.0], [3.0, 1, 0, 1.0]])
    with pytest.raises(ValueError, match=r"entry of row 0 \(2\) is not before its time"):
        check_survival(columns, np.ones(2))
