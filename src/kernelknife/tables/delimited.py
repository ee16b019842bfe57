"""Delimited text, such as CSV: decoding it, checking its shape, and parsing its cells.

pandas parses the cells. The shape is checked here before, because pandas accepts rows of unequal
length and repeated names and changes them without a word.
"""

import csv
import io

from kernelknife.tables.columns import check_names
from kernelknife.tables.errors import TableError

__all__ = ["check_header", "decode", "parse"]

SEPARATORS = ",;\t"


def decode(data: bytes, name: str, encoding: str) -> str:
    """Return bytes as text without a byte order mark.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    encoding : str
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and "16" not in encoding:
        raise TableError(f"{name} is UTF-16 text: name its encoding, --encoding utf-16.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TableError(
            f"{name} is not {encoding} text: byte 0x{data[error.start]:02x} in line {line}. Save "
            "it as UTF-8, or name its encoding, for example --encoding latin-1."
        ) from None
    except LookupError:
        raise TableError(f"Unknown encoding {encoding!r}; for example utf-8 or latin-1.") from None
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def parse(pandas, text: str, name: str, separator: str | None, missing, decimal: str, thousands):
    """Return a data frame of delimited text.

    Parameters
    ----------
    pandas : module
    text : str
    name : str
        What messages call the file.
    separator : str or None
        None takes the one that occurs most often in the first line.
    missing, decimal, thousands
        See :func:`kernelknife.tables.read_table`.
    """
    if not text.strip():
        raise TableError(f"{name} is empty.")
    if "\0" in text:
        raise TableError(f"{name} is not a text table: it holds zero bytes.")
    if separator is None:
        first_line = text.lstrip().splitlines()[0]
        separator = max(SEPARATORS, key=first_line.count)
    header = _check_shape(text, name, separator)
    try:
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=separator,
            na_values=list(missing),
            decimal=decimal,
            thousands=thousands,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
        )
    except (pandas.errors.ParserError, ValueError, OverflowError) as error:
        raise TableError(f"{name} cannot be read as a table: {error}") from error
    # pandas renames repeated and empty names; here these have been refused already.
    frame.columns = header
    return frame


def _check_shape(text, name, separator):
    """Return the names in the header; every other line must have as many cells as the header."""
    # A space after the separator is no part of the cell: it may stand before a quote.
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    header: list[str] = []
    uneven, n_rows = None, 0
    try:
        for cells in lines:
            if cells and not header:
                header = [cell.strip() for cell in cells]
            elif cells:
                n_rows += 1
                if len(cells) != len(header) and uneven is None:
                    uneven = (lines.line_num, len(cells))
    except csv.Error as error:
        raise TableError(
            f"{name}, line {lines.line_num}: {error}. A quoted cell may lack its closing quote."
        ) from None
    check_header(header, name)
    if uneven is not None:
        raise TableError(
            f"{name}, line {uneven[0]}: {uneven[1]} cells where the header has {len(header)}. Put "
            "cells that hold the separator into quotes, or repair the line."
        )
    if not n_rows:
        raise TableError(f"{name} has a header and no rows.")
    return header


def check_header(names: list[str], where: str) -> None:
    """Raise where a column has no name, or where two columns have the same name."""
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"{where}: column {i + 1} has no name. Give it one in the first line.")
    check_names(names, where)
