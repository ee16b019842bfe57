"""Whether products of columns were searched, in words and in JSON."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.selection.products import (
    find_searched_products,
    products_as_json,
    products_in_words,
)
from kernelknife.kernels import RBF, Additive, Linear


@pytest.mark.parametrize(
    ("searched", "sentence"),
    [
        ({}, ""),
        ({2: 90, 3: 90}, ""),
        (
            {2: 90, 3: 0},
            "Products of two columns were searched among all columns on all rows, those of three "
            "were not: too many columns.",
        ),
        (
            {2: 90, 3: 40},
            "Products of two columns were searched among all columns on all rows, those of three "
            "on 40 of 90 rows.",
        ),
        (
            {2: 40, 3: 40},
            "Products of two and of three columns were searched among all columns on 40 of 90 "
            "rows.",
        ),
        (
            {2: 0, 3: 0},
            "Products of columns were not searched, because there are too many columns: columns "
            "that act only together may have been missed.",
        ),
    ],
)
def test_a_sentence_stands_only_where_something_was_not_searched(searched, sentence):
    assert products_in_words(searched, 90) == sentence


def test_products_that_the_selected_kernel_does_not_need_were_searched_for_another():
    assert find_searched_products({}, [Linear(), Additive()], 90, 7, 1) == {}
    assert find_searched_products({}, [Linear(), RBF()], 90, 7, 1) == {2: 90, 3: 90}
    assert find_searched_products({2: 5, 3: 0}, [RBF()], 90, 7, 1) == {2: 5, 3: 0}
    assert products_as_json({2: 5, 3: 0}) == {"pairs": 5, "triples": 0}
    assert products_as_json({}) is None


def test_a_table_of_many_columns_says_that_triples_were_not_searched():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 450))).rename(columns="x{}".format)
    frame["y"] = frame["x0"] + 0.1 * rng.normal(size=60)
    wide = select_features(frame, "y", kernel="rbf", alpha=1.0, folds=2)
    assert wide.to_json()["searched_products"] == {"pairs": 60, "triples": 0}
    assert "those of three were not: too many columns." in build_report(wide)
    small = select_features(
        frame[["x0", "x1", "x2", "y"]], "y", kernel=["linear", "rbf"], alpha=1.0, folds=2
    )
    assert small.search.kernel_name_ == "linear"
    assert small.to_json()["searched_products"] == {"pairs": 60, "triples": 60}
    assert "Products of" not in build_report(small)
