"""Checks of what users pass: parameters, names of kernels and losses, random states, and ``X``."""

import math
import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

__all__ = [
    "FLOATS",
    "as_frame",
    "check_number",
    "describe_non_numbers",
    "draw_seed",
    "explained_texts",
    "make_dense",
    "resolve",
]

FLOATS = (np.float64, np.float32)  # single precision stays as it is until a block is read
NUMBER_KINDS = "biuf"  # NumPy's codes for booleans, integers, unsigned integers and floats
DATE_KINDS = "Mm"  # for dates and durations
MOST_NAMED = 5  # columns in a message
ADVICE = (
    "An estimator takes numbers only. kernelknife.app.selection.select_features takes such a data "
    "frame as it is, and kernelknife.app.tables.TableEncoder turns texts into columns of numbers."
)


class _Checked(Protocol):
    """Whatever can check its own parameters."""

    def validate(self) -> None: ...


Kind = TypeVar("Kind", bound=_Checked)


def resolve(spec: Any, registry: Mapping[str, type[Kind]], base: type[Kind], what: str) -> Kind:
    """Return an instance of ``base`` for a registered name or an instance.

    ``what`` is the word for error messages: "kernel" or "loss".
    """
    if isinstance(spec, base):
        spec.validate()
        return spec
    if isinstance(spec, str):
        if spec in registry:
            return registry[spec]()
        raise ValueError(
            f"Unknown {what} {spec!r}. Known names: {', '.join(sorted(registry))}; or "
            f"pass an instance of a kernelknife {base.__name__}."
        )
    if isinstance(spec, type) and issubclass(spec, base):
        raise TypeError(f"{what} must be an instance: pass {spec.__name__}() instead of the class.")
    raise TypeError(
        f"{what} must be a name ({', '.join(sorted(registry))}) or an instance of a "
        f"kernelknife {base.__name__}, got {type(spec).__name__}."
    )


def check_number(
    value: Any, name: str, *, low: float = 0.0, strict: bool = False, integer: bool = False
) -> None:
    """Raise unless ``value`` is a finite number (an integer if asked) above ``low``."""
    wanted = numbers.Integral if integer else numbers.Real
    kind = "an integer" if integer else "a number"
    sign = ">" if strict else ">="
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise TypeError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")
    if not math.isfinite(value) or value < low or (strict and value == low):
        raise ValueError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")


def as_frame(X: Any) -> Any:
    """Return a table of pyarrow, DuckDB or polars that is not in memory as one that is.

    Anything else is returned as it is; one column alone is refused.
    """
    kind = type(X)
    library = kind.__module__.split(".")[0]
    if library == "pyarrow" and hasattr(X, "to_pandas") and hasattr(X, "column_names"):
        return X.to_pandas()
    if library in ("duckdb", "_duckdb") and hasattr(X, "df"):
        return X.df()
    if library == "polars" and hasattr(X, "collect"):
        return X.collect()
    if hasattr(X, "to_frame") and len(getattr(X, "shape", ())) == 1:
        raise TypeError(
            f"X is one column, a {kind.__name__}: pass X.to_frame(), a table of one column."
        )
    return X


def make_dense(X: Any, memory_budget: float) -> Any:
    """Return a sparse matrix as an array, a table out of memory in memory, all else as it is.

    Kernels of all pairs of rows need whole rows, and standardized columns have no zeros, so that a
    sparse matrix saves no time here.

    Parameters
    ----------
    memory_budget : float
        Most bytes that the array may take.
    """
    if not issparse(X):
        return as_frame(X)
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
    columns = _named_columns(X)
    found = [f"{name} holds {what}" for name, values in columns if (what := _what(values))]
    if not found:
        return ""
    others = len(found) - MOST_NAMED
    more = f", and {others} more columns hold no numbers" if others > 0 else ""
    return f"{', '.join(found[:MOST_NAMED])}{more}. {ADVICE}"


@contextmanager
def explained_texts(X: Any) -> Iterator[None]:
    """Name columns of texts and dates where scikit-learn has NumPy's error about a single value."""
    kinds = X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    if any(getattr(kind, "kind", "?") in DATE_KINDS for kind in kinds):
        # NumPy would count nanoseconds and not complain.
        raise ValueError(describe_non_numbers(X))
    try:
        yield
    except (TypeError, ValueError) as error:
        words = describe_non_numbers(X)
        if not words:
            raise
        raise ValueError(words) from error


def _named_columns(X: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the names and values of the columns of a data frame of any library, or of an array."""
    if hasattr(X, "columns"):
        for name in X.columns:
            yield f"Column {str(name)!r}", np.asarray(X[name])
        return
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


def draw_seed(random_state: Any) -> int | None:
    """Return a seed, None for None: a fit without a random state is the same every time."""
    if random_state is None:
        return None
    return int(check_random_state(random_state).randint(2**31 - 1))
