"""Columns that say the same, in the report and beside the columns that the command prints."""

import json

import numpy as np
import pandas as pd
import pytest

from kernelknife.report import build_report
from kernelknife.report.stand_ins import best_stand_in, stand_ins_piece
from kernelknife.selection import select_features
from kernelknife.stand_ins import Place, StandIn, StandIns


def one(name, cost=0.01, *, selected=False):
    return StandIn(name, 0.9, cost, 0.8, 0.1, selected)


def test_the_piece_names_what_replaces_and_what_nothing_replaces():
    places = (
        Place("<b>", (), 2.0, 0.1, True, (one("<i>"), one("c", selected=True)), ()),
        Place("lonely", (), 0.5, 0.1, True, (), ()),
        Place("idle", (), 0.0, 0.1, False, (), ()),
    )
    text = stand_ins_piece(StandIns(places))
    assert "&lt;b&gt;</th><td>+200 %</td><td>&lt;i&gt; +1.0 %, c +1.0 % (selected too)" in text
    assert "nothing replaces it" in text
    assert "it is hardly needed" in text
    assert "everything that was found to matter is these and &lt;i&gt; and c." in text
    words = [best_stand_in(StandIns(places), name) for name in ("<b>", "lonely", "idle", "other")]
    assert words == ["<i> (+1.0 %)", "nothing", "hardly needed", ""]


def test_long_lists_are_counted():
    named = tuple(one(f"g{i}") for i in range(30))
    places = tuple(Place(f"p{i}", (), 1.0, 0.1, True, named, ()) for i in range(50))
    text = stand_ins_piece(StandIns(places))
    assert "and 25 more" in text
    assert "10 more columns are not shown" in text


def test_nothing_selected_nothing_shown():
    assert stand_ins_piece(StandIns(())) == ""


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(4)
    dose, age = rng.normal(size=(2, 90))
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("wxyz"))
    frame["age"], frame["dose"] = age, dose
    frame["pills"] = dose + 0.1 * rng.normal(size=90)
    frame["site"] = rng.choice(["north", "south", "west"], size=90)
    frame["effect"] = np.sin(1.5 * dose) + age
    return select_features(frame, "effect", kernel="rbf", alpha=0.3, folds=3, rule="1se")


def test_a_selection_knows_its_stand_ins(selection):
    named = set(selection.stand_ins.names)
    assert {"age", "dose", "pills"} <= named
    assert {place.name for place in selection.stand_ins} == set(selection.selected)
    text = build_report(selection)
    assert "Columns that say the same" in text
    content = json.loads(json.dumps(selection.to_json(), allow_nan=False))
    places = content["stand_ins"]
    assert set(places) == set(selection.selected)
    assert places["age"]["needed"]
