"""What is no array of numbers: sparse matrices are taken, texts and dates are named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from kernelknife._utils.checks import describe_non_numbers, explained_texts, make_dense


def test_sparse_matrices_become_arrays_within_the_budget():
    matrix = sparse.random_array((30, 4), density=0.5, random_state=0)
    np.testing.assert_array_equal(make_dense(matrix, 2**20), matrix.toarray())
    with pytest.raises(ValueError, match=r"30 rows and 4 columns, which takes .* memory_budget"):
        make_dense(matrix, 100)
    X = np.eye(3)
    assert make_dense(X, 0) is X


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_are_named_with_what_they_hold(library):
    frame = library(
        {
            "x": [1.0, 2.0],
            "kind": ["red", "blue"],
            "digits": ["1", "2.5"],
            "when": np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[ns]"),
        }
    )
    words = describe_non_numbers(frame)
    assert words.startswith("Column 'kind' holds texts such as 'red', Column 'when' holds dates. ")
    assert "select_features" in words


def test_arrays_have_numbered_columns():
    X = np.array([[1, "a", None], [2, 3, 4.0]], dtype=object)
    assert describe_non_numbers(X).startswith("Column 1 holds texts such as 'a'. ")
    assert describe_non_numbers(np.full((2, 7), "a")).count("holds texts") == 5
    assert describe_non_numbers(np.ones((2, 2))) == ""
    assert describe_non_numbers([[1, 2], [3]]) == ""
    assert describe_non_numbers(np.array([[{"a": 1}]], dtype=object)) == ""


def test_errors_about_texts_and_dates_name_the_column_and_others_stay_as_they_are():
    frame = pd.DataFrame({"kind": ["red", "blue"]})
    with pytest.raises(ValueError, match="Column 'kind' holds texts"), explained_texts(frame):
        raise ValueError("could not convert string to float: 'red'")
    with pytest.raises(ValueError, match="too few rows"), explained_texts(np.ones((1, 2))):
        raise ValueError("too few rows")
    # Dates are numbers to NumPy, so that nothing inside would complain.
    days = np.array([["2024-01-01"]], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="Column 0 holds dates"), explained_texts(days):
        pass
