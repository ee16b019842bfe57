"""What users pass as ``X``: arrays of floats, and what is none: sparse matrices, texts, dates."""

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

__all__ = ["FLOATS", "describe_non_numbers", "explained_texts", "make_dense"]

FLOATS = (np.float64, np.float32)  # single precision stays as it is until a block is read
NUMBER_KINDS = "biuf"  # NumPy's codes for booleans, integers, unsigned integers and floats
DATE_KINDS = "Mm"  # for dates and durations
MOST_NAMED = 5  # columns in a message
ADVICE = (
    "An estimator takes numbers only. kernelknife.app.selection.select_features takes such a data "
    "frame as it is, and kernelknife.app.tables.TableEncoder turns texts into columns of numbers."
)


def make_dense(X: Any, memory_budget: float) -> Any:
    """Return a sparse matrix as an array, and everything else as it is.

    Kernels of all pairs of rows need whole rows, and standardized columns have no zeros, so that a
    sparse matrix saves no time here.

    Parameters
    ----------
    X : sparse matrix or any other data
    memory_budget : float
        Most bytes that the array may take.
    """
    if not issparse(X):
        return X
    n, p = X.shape
    size = 8 * n * p
    if size > memory_budget:
        raise ValueError(
            f"X is a sparse matrix of {n} rows and {p} columns, which takes {size / 2**30:.1f} GiB "
            f"as an array, more than memory_budget ({memory_budget / 2**30:.1f} GiB): raise "
            "memory_budget, or leave out columns that are nearly always zero."
        )
    return X.toarray()


def describe_non_numbers(X: Any) -> str:
    """Return a sentence on the columns that hold texts or dates, empty where there are none.

    Parameters
    ----------
    X : data frame or array-like
    """
    columns = _frame_columns(X) if hasattr(X, "columns") else _array_columns(X)
    found = [f"{name} holds {what}" for name, values in columns if (what := _what(values))]
    if not found:
        return ""
    others = len(found) - MOST_NAMED
    more = f", and {others} more columns hold no numbers" if others > 0 else ""
    return f"{', '.join(found[:MOST_NAMED])}{more}. {ADVICE}"


@contextmanager
def explained_texts(X: Any) -> Iterator[None]:
    """Name columns of texts and dates where scikit-learn has NumPy's error about a single value."""
    if _has_dates(X):
        # NumPy would count nanoseconds and not complain.
        raise ValueError(describe_non_numbers(X))
    try:
        yield
    except (TypeError, ValueError) as error:
        words = describe_non_numbers(X)
        if not words:
            raise
        raise ValueError(words) from error


def _has_dates(X: Any) -> bool:
    """Return whether some column has a type for dates or durations."""
    kinds = X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    return any(getattr(kind, "kind", "?") in DATE_KINDS for kind in kinds)


def _frame_columns(X: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the names and values of the columns of a data frame of any library."""
    for name in X.columns:
        yield f"Column {str(name)!r}", np.asarray(X[name])


def _array_columns(X: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the numbers and values of the columns of an array."""
    try:
        X = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn describes
        return
    if X.ndim == 2 and X.dtype.kind not in NUMBER_KINDS:
        for j in range(X.shape[1]):
            yield f"Column {j}", X[:, j]


def _what(values: np.ndarray) -> str:
    """Return what a column holds that is no number, empty where all are numbers or gaps."""
    if values.dtype.kind in NUMBER_KINDS:
        return ""
    if values.dtype.kind in DATE_KINDS:
        return "dates"
    for value in values:
        if isinstance(value, str):
            if not _is_number(value):
                return f"texts such as {str(value)!r}"
        elif hasattr(value, "isoformat"):
            return "dates"
        elif value is not None and not isinstance(value, numbers.Number):
            return ""  # scikit-learn has messages of its own for other things
    return ""


def _is_number(text: str) -> bool:
    """Return whether NumPy makes a number of a text."""
    try:
        float(text)
    except ValueError:
        return False
    return True
