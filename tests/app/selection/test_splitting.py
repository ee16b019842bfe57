"""Rows that are held out."""

from dataclasses import replace

import numpy as np
import pandas as pd

from kernelknife.app.selection import select_features
from kernelknife.app.selection.planning import split_held_out
from kernelknife.datasets import make_skin_of_orange


def test_rows_held_out_take_no_part(frame):
    whole = select_features(frame, "height", alpha=0.3, folds=3, hold_out=0.25)
    assert sum(len(test) for _, test in whole.search.splits_) == 75
    assert whole.held_out.error < 0.5 * whole.held_out.baseline
    assert whole.held_out.rows == 25


def test_medians_come_from_the_rows_that_are_not_held_out(frame):
    gaps = frame.assign(a=frame["a"].where(frame["a"].index % 7 != 0))
    whole = select_features(gaps, "height", impute="median", alpha=0.3, folds=2, hold_out=0.3)
    train, held = split_held_out(whole.table, 0.3, 0)
    assert len(held) == whole.held_out.rows == 30
    assert whole.encoder.medians_["a"] == gaps["a"].iloc[train].median()
    assert whole.encoder.medians_["a"] != gaps["a"].median()


def test_groups_are_held_out_whole():
    X, y = make_skin_of_orange(80, 2, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, who=np.arange(80) // 4)
    selection = select_features(frame, "y", group="who", alpha=1.0, folds=3, hold_out=0.25)
    table, who = selection.table, selection.table.groups
    train, held = split_held_out(table, 0.25, 0)
    assert selection.held_out.rows == len(held) == 20
    assert not set(who[train]) & set(who[held])
    for rows, tested in selection.search.splits_:
        assert len(rows) + len(tested) == 60
        assert not set(who[train][rows]) & set(who[train][tested])
    # Without groups the same rows are drawn one by one, and groups are torn apart.
    train, held = split_held_out(replace(table, groups=None), 0.25, 0)
    assert set(who[train]) & set(who[held])
