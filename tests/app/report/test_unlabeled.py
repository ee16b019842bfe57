"""The reports on tables without a target."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.report import build_exploration, build_relation, draw_figures


@pytest.fixture
def heaps(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=["a", "b", "c & d", "<e>"])
    frame[["b", "<e>"]] += 4.0 * rng.integers(0, 2, size=(80, 1))
    frame["size"] = rng.normal(size=80)
    return frame


def test_every_name_is_escaped_and_the_code_is_complete(heaps):
    found = explore_table(heaps, color="size", n_components=1)
    page = build_exploration(found, "heaps.csv")
    assert "<e>" not in page
    assert "&lt;e&gt;" in page
    assert "explore_table(frame, color=&#34;size&#34;, n_components=1)" in page
    assert "Feature paths" in page


def test_a_given_penalty_has_neither_gap_nor_path(heaps):
    page = build_exploration(explore_table(heaps, sparsity=1.0))
    assert "How many columns" not in page
    assert "Feature paths" not in page


def test_missing_values_of_the_color_are_named(heaps):
    heaps.loc[4, "size"] = np.nan
    assert ">missing<" in build_exploration(explore_table(heaps, color="size"))


def test_pairs_are_shown_one_after_the_other(rng):
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    Y = pd.DataFrame({"u": X["a"] ** 2, "v": X["c"], "w": rng.normal(size=100)})
    found = relate_tables(X, Y, n_components=2, hold_out=0.0)
    page = build_relation(found)
    assert "<h2>Pair 2 " in page
    assert "No sure finding" in page
    assert page.count("<svg") == 2


def test_the_data_of_both_are_json_and_have_what_the_pages_show(heaps):
    heaps.loc[4, "size"] = np.nan
    found = explore_table(heaps, color="size")
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert record["schema"] == "kernelknife.exploration/1"
    assert len(record["color"]["values"]) == len(record["scores"]) == 80
    figures = draw_figures(record)
    assert list(figures) == ["path", "scores", "gap"]
    drawn = np.concatenate([line.get_xydata() for line in figures["scores"].axes[0].lines])
    assert_allclose(np.sort(drawn[:, 0]), np.sort(found.scores[:, 0]))
