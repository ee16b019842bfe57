"""Times until an event: from what users give to the columns that Cox's partial likelihood takes.

These are time, event (0 or 1), stratum (a code) and the time from which a row is observed. A row
that is observed from the beginning has entered at -1, before every time.
"""

from typing import Any

import numpy as np

from kernelknife._engine.data.rows import RowsError

__all__ = ["FROM_THE_BEGINNING", "check_survival", "looks_like_survival", "survival_columns"]

FROM_THE_BEGINNING = -1.0
FORMS = (
    "a structured array of a truth value and a number (scikit-survival's), or two columns, the "
    "time and the event"
)


def looks_like_survival(y: Any) -> bool:
    """Whether a target can be nothing else: a structured array of a truth value and a number."""
    dtype: Any = getattr(y, "dtype", None)
    names = getattr(dtype, "names", None)
    if not names or len(names) != 2:
        return False
    return sorted(dtype[name].kind == "b" for name in names) == [False, True]


def survival_columns(y: Any) -> np.ndarray:
    """Return time, event, stratum and entry of every row, of any kind of survival target."""
    if looks_like_survival(y):
        event, time = sorted(y.dtype.names, key=lambda name: y.dtype[name].kind != "b")
        return _with_defaults(np.column_stack([_numbers(y[time], "time"), y[event]]))
    if getattr(getattr(y, "dtype", None), "names", None):
        raise RowsError(
            f"A structured target needs two fields, a truth value for the event and a number for "
            f"the time, got {y.dtype}."
        )
    if y is None:
        raise ValueError("A survival model requires y to be passed, but the target y is None.")
    truths = _columns_of_truth_values(y)
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] not in (2, 3, 4):
        shape = "one column" if values.ndim == 1 else f"shape {values.shape}"
        raise RowsError(f"A survival target is {FORMS}; got {shape}.")
    if truths == [0] and values.shape[1] == 2:
        values = values[:, ::-1]
    return _with_defaults(_numbers(values, "target"))


def check_survival(columns: np.ndarray, s: np.ndarray, *, for_fit: bool = True) -> None:
    """Raise where times and events are none, or too few to be the target of a fit.

    Parameters
    ----------
    columns : ndarray of shape (n, 4)
        As :func:`survival_columns` returns them.
    s : ndarray of shape (n,)
        Sample weights.
    for_fit : bool, default=True
        Whether there have to be events enough for a fit.
    """
    time, event, _, entry = columns.T
    _refuse(~np.isfinite(time), time, "The time", "is missing or infinite: drop those rows")
    _refuse(time < 0, time, "The time", "is negative: times are counted from a beginning, 0")
    odd = ~np.isin(event, (0.0, 1.0))
    if odd.any() and np.isin(time, (0.0, 1.0)).all():
        raise RowsError(
            "The first column, the time, has only the values 0 and 1, and the second, the event, "
            "has others: exchange them."
        )
    _refuse(odd, event, "The event", "is neither 0 (censored) nor 1 (observed)")
    late = np.isnan(entry) | (entry >= time)
    _refuse(late & (entry != FROM_THE_BEGINNING), entry, "The entry", "is not before its time")
    if not for_fit:
        return
    if len(event) < 2:
        raise ValueError(f"A survival model needs at least two rows, got n_samples = {len(event)}.")
    n_events = int(((event > 0) & (s > 0)).sum())
    if n_events == 0:
        raise ValueError(
            f"All {len(event)} rows are censored: without an observed event nothing shows which "
            "rows are at higher risk. Check that 1 stands for an observed event."
        )
    if n_events == 1:
        raise ValueError(
            f"Of {len(event)} rows one has an observed event: a survival model needs at least two, "
            "and many more to tell which columns matter."
        )


def _refuse(wrong: np.ndarray, values: np.ndarray, name: str, why: str) -> None:
    if wrong.any():
        first, n = int(np.argmax(wrong)), int(wrong.sum())
        others = "" if n == 1 else f", and so in {n - 1} other rows"
        raise RowsError(f"{name} of row {first} ({values[first]:g}) {why}{others}.")


def _with_defaults(given: np.ndarray) -> np.ndarray:
    """Return the four columns, given the first two, three or four of them."""
    columns = np.zeros((len(given), 4))
    columns[:, 3] = FROM_THE_BEGINNING
    columns[:, : given.shape[1]] = given
    return columns


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise RowsError(
            f"The {name} holds {np.asarray(values).dtype}, not numbers: a survival target is "
            f"{FORMS}."
        ) from None


def _columns_of_truth_values(y: Any) -> list[int]:
    """Return which columns of a frame hold truth values: a column says what it is by its type."""
    if not hasattr(y, "columns"):
        return []
    return [j for j, dtype in enumerate(y.dtypes) if str(dtype).lower().startswith("bool")]
