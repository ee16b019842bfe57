"""Columns of a data frame: what they hold, and the error and the notes that name them."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from kernelknife.app.messages import Hint, InputError

__all__ = [
    "MISSING_LEVEL",
    "TableError",
    "add_reading_note",
    "as_numbers",
    "as_texts",
    "check_infinite",
    "check_names",
    "check_positive",
    "first_text",
    "is_ordered",
    "is_text",
    "leave_out",
    "listing",
    "plain_numbers",
    "reading_notes",
    "text_columns",
]

MISSING_LEVEL = ""  # the text that stands for a missing one
NUMBER_KINDS = "biuf"  # NumPy's codes for booleans, integers, unsigned integers and floats
# A message must stay readable on a terminal, whatever the number of columns that it is about.
MOST_LISTED = 5
KEY = "kernelknife reading notes"  # in ``DataFrame.attrs``, which pandas gives to its users


def check_names(names: Iterable[object], where: str) -> None:
    """Raise where two columns have the same name.

    Parameters
    ----------
    names : iterable
    where : str
        What the message calls the table.
    """
    repeated = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if repeated:
        raise TableError(f"{where} has columns of the same name: {listing(repeated)}. Rename them.")


def is_ordered(kind) -> bool:
    """Return whether a type of pandas is one of categories that have an order."""
    return bool(getattr(kind, "ordered", False))


def is_text(column) -> bool:
    """Return whether a column is treated as text: all but numbers, booleans and ordered categories.

    pandas' nullable types (``Int64``, ``boolean``) have the kind of the numbers that they hold.
    """
    return column.dtype.kind not in NUMBER_KINDS and not is_ordered(column.dtype)


def text_columns(frame) -> list:
    """Return the names of the columns that are treated as text."""
    # Asking for the types at once is far faster than for thousands of columns.
    kinds = frame.dtypes.items()
    return [name for name, kind in kinds if kind.kind not in NUMBER_KINDS and not is_ordered(kind)]


def as_numbers(column) -> np.ndarray:
    """Return a column of numbers as floats, with NaN where a value is missing.

    Ordered categories become their numbers, from 0 on.
    """
    if is_ordered(column.dtype):
        codes = column.cat.codes.to_numpy().astype(float)
        return np.where(codes < 0, np.nan, codes)
    return column.to_numpy(dtype=float, na_value=np.nan)


def plain_numbers(frame) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns hold nothing but numbers, and those as one array of floats.

    Asking thousands of columns one by one takes longer than whatever is asked.
    """
    plain = np.array([isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in frame.dtypes])
    plain = plain.astype(bool)
    return plain, np.asarray(frame.loc[:, plain].to_numpy(dtype=float))


def as_texts(column) -> np.ndarray:
    """Return a column as an array of texts, with an empty one where a value is missing.

    A column of pandas' categories does not accept a text that is not one of them, so the array is
    made of the values and not by replacing missing ones in the column. Beside gaps pandas reads
    whole numbers as floats, and they keep their names, 1 and not 1.0.
    """
    missing = column.isna().to_numpy()
    if column.dtype.kind == "f" and (column[~missing] % 1 == 0).all():
        column = column.fillna(0).astype("int64")
    texts = [
        MISSING_LEVEL if gap else str(value) for value, gap in zip(column, missing, strict=True)
    ]
    return np.array(texts, dtype=object)


def first_text(column) -> str:
    """Describe the first value of a column that is not a number, for a message."""
    for row, value in enumerate(column):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} in row {row + 1}"
    return "numbers written as texts"


def check_infinite(frame) -> None:
    """Raise where values are infinite.

    Parameters
    ----------
    frame : DataFrame
    """
    plain, numbers = plain_numbers(frame)
    counts = np.isinf(numbers).sum(axis=0)
    infinite = {
        name: int(count) for name, count in zip(frame.columns[plain], counts, strict=True) if count
    }
    for name, column in frame.loc[:, ~plain].items():
        if not is_text(column):
            count = int(np.isinf(as_numbers(column)).sum())
            if count:
                infinite[name] = count
    if infinite:
        # In the order of the columns.
        found = [f"{name} ({infinite[name]})" for name in frame.columns if name in infinite]
        raise TableError(
            f"Infinite values in {listing(found)}.", Hint("replace them"), leave_out(*infinite)
        )


def check_positive(frame, names: Iterable[str], *, fitted: bool = False) -> None:
    """Raise where columns whose logarithm is to be taken hold texts, or numbers without one.

    Parameters
    ----------
    frame : DataFrame
    names : iterable of str
        Those that the frame does not have are ignored.
    fitted : bool, default=False
        Whether a model takes these logarithms, so that the column cannot be left out.
    """
    for name in names:
        if name not in frame.columns:
            continue
        if is_text(frame[name]) or is_ordered(frame[name].dtype):
            raise TableError(
                f"Column {name} holds texts, and a logarithm is that of a positive number.",
                Hint("name columns of numbers only"),
            )
        values = as_numbers(frame[name])
        bad = values[values <= 0]
        if len(bad):
            count = f"{len(bad)} {'value' if len(bad) == 1 else 'values'}"
            raise TableError(
                f"Column {name} has no logarithm in {count} of zero or less, the least "
                f"{bad.min():g}.",
                Hint("correct these values"),
                Hint("leave these rows out of the table"),
                *([] if fitted else [leave_out(name), Hint("take the column as it is")]),
            )


class TableError(InputError):
    """A table cannot be used as it is; the message says why and what to do."""


def leave_out(*names: str) -> Hint:
    """Return the hint to leave columns out."""
    columns = "columns" if len(names) > 1 else "column"
    return Hint(f"leave the {columns} out with {{}}", {"drop": list(names)})


def listing(names: Iterable[object]) -> str:
    """Return names separated by commas; of many names, the first few and the number of others."""
    texts = [str(name) for name in names]
    others = len(texts) - MOST_LISTED
    more = f" and {others} more" if others > 0 else ""
    return ", ".join(texts[:MOST_LISTED]) + more


def add_reading_note(frame, note: str) -> None:
    """Keep a note on how a data frame was read with the data frame."""
    frame.attrs[KEY] = [*frame.attrs.get(KEY, []), note]


def reading_notes(frame) -> list[str]:
    """Return what :func:`kernelknife.app.tables.read_table` has left out or guessed.

    Parameters
    ----------
    frame : DataFrame
        As ``read_table`` returned it. Other data frames have no notes.
    """
    return list(frame.attrs.get(KEY, []))
