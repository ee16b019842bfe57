"""Excel workbooks: the cells of a sheet as text, and a data frame as a sheet.

The cells of a sheet become delimited text, so that a workbook is read by the same rules as a text
file: names of columns, gaps, unnamed columns and messages are the same.
"""

import csv
import datetime
import io
import zipfile

from kernelknife._utils.messages import import_optional
from kernelknife.app.messages import Hint, Message
from kernelknife.app.tables.columns import TableError, listing

__all__ = ["ENDINGS", "sheet_as_text", "to_workbook"]

ENDINGS = (".xlsx", ".xlsm")
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14  # of a sheet, by the format
MIDNIGHT = datetime.time()
# What Excel shows for a formula that has no value; other cells may begin with # as well.
ERRORS = frozenset(
    (
        *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!"),
        *("#CALC!", "#GETTING_DATA", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!"),
    )
)


def sheet_as_text(data: bytes, name: str, sheet: str | None) -> tuple[str, Message | None]:
    """Return the cells of one sheet as CSV, and a note on which sheet was read.

    Parameters
    ----------
    data : bytes
        The workbook.
    name : str
        What messages call the file.
    sheet : str or None
        None is the first sheet with a cell in it.

    Returns
    -------
    text : str
    note : Message or None
        None where there is only one sheet.
    """
    openpyxl = import_optional("openpyxl", "kernelknife[excel]", "Reading an Excel workbook")
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = {page.title: _rows(page) for page in book.worksheets}
    # openpyxl raises errors of many types for damaged files.
    except Exception as error:
        reason = "it is protected or no workbook" if not _is_archive(data) else str(error)
        raise TableError(f"{name} is not a readable Excel workbook: {reason}.") from error
    if sheet is not None and sheet not in sheets:
        raise TableError(f"{name} has no sheet {sheet!r}: there are {listing(sheets)}.")
    filled = [title for title, rows in sheets.items() if rows]
    if not filled:
        raise TableError(f"{name} is empty.")
    chosen = sheet if sheet is not None else filled[0]
    if not sheets[chosen]:
        raise TableError(f"{name}: the sheet {chosen!r} is empty.")
    note = None
    if sheet is None and len(filled) > 1:
        note = Message(
            f"read the sheet {chosen!r} of {listing(filled)}",
            Hint("name another one, such as {}", {"sheet": filled[1]}),
        )
    return _as_csv(sheets[chosen]), note


def _is_archive(data):
    """Return whether bytes are a zip archive, as every workbook without a password is."""
    return zipfile.is_zipfile(io.BytesIO(data))


def _rows(page):
    """Return the cells of a sheet as texts, without empty rows and columns at the ends."""
    rows = [[_cell(value) for value in row] for row in page.iter_rows(values_only=True)]
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((i + 1 for row in rows for i, cell in enumerate(row) if cell), default=0)
    return [(row + [""] * width)[:width] for row in rows]


def _cell(value):
    """Return the text of a cell, empty for a gap or for an error such as #N/A."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        day = value.date().isoformat()
        return day if value.time() == MIDNIGHT else value.isoformat(sep=" ")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    text = str(value).strip()
    return "" if text in ERRORS else text


def _as_csv(rows):
    """Return rows of cells as CSV; a row without any value becomes a blank line."""
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        if any(row):
            table.writerow(row)
        else:
            buffer.write("\n")
    return buffer.getvalue()


def to_workbook(frame) -> bytes:
    """Return a data frame as an Excel workbook of one sheet.

    Texts stay texts: one that begins with an equals sign is not run as a formula.

    Parameters
    ----------
    frame : DataFrame
    """
    openpyxl = import_optional("openpyxl", "kernelknife[excel]", "Writing an Excel workbook")
    if len(frame) >= MOST_ROWS or frame.shape[1] > MOST_COLUMNS:
        raise TableError(
            f"A sheet of Excel holds {MOST_ROWS - 1} rows and {MOST_COLUMNS} columns, got "
            f"{len(frame)} and {frame.shape[1]}: write CSV or Parquet instead."
        )
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("table")
    gaps = frame.isna().to_numpy()
    rows: list[list] = [list(map(str, frame.columns))]
    for values, missing in zip(frame.itertuples(index=False, name=None), gaps, strict=True):
        rows.append([None if gap else v for v, gap in zip(values, missing, strict=True)])
    for row in rows:
        page.append([_written(page, value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _written(page, value):
    """Return what openpyxl writes for a value: a number as it is, a text never as a formula."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, str):
        return value
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell = WriteOnlyCell(page, value=ILLEGAL_CHARACTERS_RE.sub(" ", value))
    cell.data_type = "s"
    return cell
