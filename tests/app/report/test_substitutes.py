"""Columns with the same information, in the report and on the terminal."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.selection.record import best_substitute
from kernelknife.inspection.substitutes import Place, Substitute, Substitutes


def one(name, cost=0.01, *, selected=False):
    return Substitute(name, 0.9, cost, 0.8, 0.1, selected)


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


def section_of(page):
    return page.split("<h2>Columns with the same information")[1].split("</section>")[0]


def test_the_page_names_what_replaces_and_what_nothing_replaces(selection):
    places = (
        Place("<b>", (), 2.0, 0.1, True, (one("<i>"), one("c", selected=True)), ()),
        Place("lonely", (), 0.5, 0.1, True, (), ()),
        Place("idle", (), 0.0, 0.1, False, (), ()),
    )
    text = section_of(build_report(replace(selection, substitutes=Substitutes(places))))
    assert "&lt;b&gt;</th><td>+200 %</td><td>&lt;i&gt; +1.0 %, c +1.0 % (selected too)" in text
    assert "nothing replaces it" in text
    assert "it is hardly needed" in text
    words = [
        best_substitute(Substitutes(places), name) for name in ("<b>", "lonely", "idle", "other")
    ]
    assert words == ["<i> (+1.0 %)", "nothing", "hardly needed", ""]


def test_long_lists_are_counted(selection):
    named = tuple(one(f"g{i}") for i in range(30))
    places = tuple(Place(f"p{i}", (), 1.0, 0.1, True, named, ()) for i in range(50))
    text = section_of(build_report(replace(selection, substitutes=Substitutes(places))))
    assert "and 25 more" in text
    assert "10 more columns are not shown" in text


def test_nothing_selected_nothing_shown(selection):
    page = build_report(replace(selection, substitutes=Substitutes(())))
    assert "<h2>Columns with the same information" not in page


def test_a_selection_knows_its_substitutes(selection):
    named = set(selection.substitutes.names)
    assert {"age", "dose", "pills"} <= named
    assert {place.name for place in selection.substitutes} == set(selection.selected)
    assert "Columns with the same information" in build_report(selection)
    content = json.loads(json.dumps(selection.to_json(), allow_nan=False))
    places = content["substitutes"]
    assert set(places) == set(selection.selected)
    assert places["age"]["needed"]
