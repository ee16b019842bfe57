"""Tables from files and to files: reading one, and a data frame as the bytes of a file."""

import difflib
import gzip
import io
import re
import sys
import zlib
from dataclasses import replace
from pathlib import Path

from kernelknife._utils.messages import import_optional
from kernelknife.app.options import ReadOptions
from kernelknife.app.tables.columns import TableError, add_reading_note, is_text
from kernelknife.app.tables.delimited import AsTexts, check_header, decode, parse, transposed
from kernelknife.app.tables.workbook import ENDINGS as WORKBOOKS
from kernelknife.app.tables.workbook import sheet_as_text, to_workbook

__all__ = [
    "check_format",
    "is_formula",
    "read_table",
    "table_bytes",
]

BINARY = (".parquet", ".feather")
# Formats of tables that are not read, and their names.
UNREAD = {
    ".json": "JSON", ".jsonl": "JSON", ".ndjson": "JSON", ".ods": "an OpenDocument table",
    ".sav": "an SPSS file", ".dta": "a Stata file", ".sas7bdat": "a SAS file",
    ".rds": "a file of R", ".rdata": "a file of R", ".pkl": "a pickle", ".pickle": "a pickle",
    ".h5": "an HDF5 file", ".h5ad": "an HDF5 file", ".db": "a database", ".sqlite": "a database",
    ".npy": "an array of NumPy", ".npz": "an archive of NumPy", ".html": "a page", ".pdf": "a PDF",
}  # fmt: skip
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet's formulas begin
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # of a file elsewhere
# How pandas and Dask name the column in which they save an index without a name.
SAVED_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")
NEEDED = {".parquet": ("pyarrow", "pyarrow"), ".xlsx": ("openpyxl", "kernelknife[excel]")}


def read_table(
    source,
    encoding="utf-8",
    missing=(),
    decimal=".",
    thousands=None,
    sheet=None,
    transpose=False,
    *,
    texts=(),
    keys=(),
    codes=(),
):
    """Read a table from a file, or from standard input.

    Parameters
    ----------
    source : path or "-"
        A CSV, TSV, Excel (.xlsx), Parquet or Feather file, recognized by its ending; text files
        may be compressed with gzip. A folder is read as a set of Parquet files. ``"-"`` reads
        CSV from standard input.
    encoding : str, default="utf-8"
        Encoding of a text file.
    missing : sequence of str, default=()
        Texts that stand for a missing value, in addition to the usual ones such as ``NA``.
    decimal : str, default="."
        Decimal mark of a text file.
    thousands : str, default=None
        Mark between thousands in a text file, such as the comma of ``"1,234,000"``.
    sheet : str, default=None
        Sheet of an Excel workbook. None is the first that is not empty.
    transpose : bool, default=False
        Whether the file holds a variable in every row and a sample in every column, as tables of
        genes often do. The first cell of a row is the name of its variable.
    texts : sequence of str, default=()
        Columns that are read as texts whatever their cells look like, so that ``01`` is not 1:
        those that a model knows as texts, groups of rows, or keys that join two tables. Names that
        the file does not have are ignored.
    keys : sequence of str, default=()
        Identifiers, read as texts character for character; ``NA`` is one as well.
    codes : sequence of str, default=()
        Columns that are read as texts if they hold at most ten different whole numbers and one of
        them begins with a zero, as the classes ``01`` and ``02``.

    Returns
    -------
    DataFrame
        One row per record, with the columns of the file and a plain index.

    Examples
    --------
    >>> import os, tempfile
    >>> from kernelknife.app.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("age;weight\\n31;70,5\\n45;81,0\\n")
    ...     frame = read_table(path, decimal=",")
    >>> frame["weight"].tolist()
    [70.5, 81.0]
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading a table")
    options = ReadOptions(
        encoding=encoding, missing=missing, decimal=decimal, thousands=thousands, sheet=sheet,
        transpose=transpose,
    )  # fmt: skip
    ending = Path(str(source)).suffix.lower()
    _check_marks(options)
    _check_source(str(source), ending)
    if sheet is not None and ending not in WORKBOOKS:
        raise TableError(
            f"{source} has no sheets: a sheet can be chosen of an Excel workbook only."
        )
    if str(source) == "-":
        data, name, endings = sys.stdin.buffer.read(), "standard input", [".csv"]
    else:
        path, name = Path(source), str(source)
        endings = [ending.lower() for ending in path.suffixes]
        if transpose and (path.is_dir() or ending in BINARY):
            raise TableError("Only text files and Excel workbooks can be transposed.")
        if path.is_dir():
            return _read_folder(pandas, path, (*texts, *keys))
        if ending in BINARY:
            return _read_binary(pandas, path, ending, (*texts, *keys))
        data = _read_bytes(path)
    separator: str | None
    note = None
    if ending in WORKBOOKS:
        # Cells that hold numbers have neither decimal marks nor marks between thousands.
        options = replace(options, decimal=".", thousands=None)
        text, note = sheet_as_text(data, name, sheet)
        separator = ","
    else:
        text = decode(_decompressed(data, name), name, encoding)
        separator = "\t" if {".tsv", ".tab"} & set(endings) else None
    if transpose:
        text, separator = transposed(text, name, separator), ","
    as_texts = AsTexts(tuple(texts), tuple(keys), tuple(codes))
    frame = parse(pandas, text, name, separator, options, as_texts)
    if note is not None:
        add_reading_note(frame, note)
    return frame


def _check_source(source, ending):
    """Raise where the source is an address, or a file of a format that is not read."""
    if ADDRESS.match(source):
        raise TableError(f"{source} is an address: download the file first, and name the copy.")
    if ending in UNREAD:
        raise TableError(
            f"{source} is {UNREAD[ending]}, by its ending: save the table as CSV, Excel (.xlsx) or "
            "Parquet, and name that file."
        )


def _check_marks(options):
    """Raise where the marks in numbers cannot be meant."""
    marks = {"decimal mark": options.decimal, "mark of thousands": options.thousands}
    for what, mark in marks.items():
        if mark is not None and len(mark) != 1:
            raise TableError(f"The {what} must be one character, got {mark!r}.")
    if options.thousands == options.decimal:
        raise TableError(
            "The decimal mark and the mark of thousands must be different, got "
            f"{options.decimal!r} twice."
        )


def _read_bytes(path):
    """Return the content of a file; a file that is not there or not readable is refused."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.{_similar_file(path)}") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from error


def _decompressed(data, name):
    """Return the bytes of a text file, decompressed where they are gzip data."""
    if data[:4] == b"PAR1":
        raise TableError(f"{name} is a Parquet file: give it the ending .parquet.")
    if data[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):  # a zip archive; Excel before 2007
        raise TableError(
            f"{name} is an Excel workbook or an archive: give a workbook the ending .xlsx, save an "
            "old one (.xls) as .xlsx, and unpack an archive."
        )
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(
            f"{name} is not whole: its gzip data end early or are damaged. Copy the file again."
        ) from error


def _similar_file(path):
    """Suggest a file of a similar name in the same folder."""
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    similar = difflib.get_close_matches(path.name, names, 1)
    return f" Did you mean {folder / similar[0]}?" if similar else ""


def _read_folder(pandas, folder, exact=()):
    """Read the Parquet files of a folder, which must agree in their columns and types."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise TableError(f"{folder} is a folder without Parquet files; name a file.")
    frames = [_read_binary(pandas, file, ".parquet", exact) for file in files]
    for file, frame in zip(files, frames, strict=True):
        absent = [name for name in frames[0].columns if name not in frame.columns]
        if absent:
            raise TableError(f"{file} lacks the column {absent[0]!r} that other files have.")
        for name in frames[0].columns:
            if is_text(frame[name]) != is_text(frames[0][name]):
                raise TableError(
                    f"Column {name!r} holds texts in some files and numbers in others."
                )
    return pandas.concat([frame[frames[0].columns] for frame in frames], ignore_index=True)


def _read_binary(pandas, path, ending, exact=()):
    """Read a Parquet or Feather file; large numbers beside gaps stay exact in some columns."""
    import_optional("pyarrow", "pyarrow", f"Reading {ending[1:].capitalize()}")
    read = pandas.read_parquet if ending == ".parquet" else pandas.read_feather
    try:
        frame = read(path)
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.{_similar_file(path)}") from None
    # pyarrow raises errors of many types for damaged files, some of them not its own.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{path} is not a readable {ending[1:]} file: {reason}") from error
    frame.columns = [str(column) for column in frame.columns]
    rounded = [name for name in frame.columns if name in exact and frame[name].dtype.kind == "f"]
    if rounded:
        frame[rounded] = read(path, columns=rounded, dtype_backend="numpy_nullable")
    # A file of pandas marks the column of a saved index, and the index is dropped below. Where
    # another tool has rewritten the file the mark is lost, but not the name of the column.
    frame = frame.drop(columns=[name for name in frame.columns if SAVED_INDEX.fullmatch(name)])
    check_header(list(frame.columns), str(path))
    if not len(frame):
        raise TableError(f"{path} has no rows.")
    return frame.reset_index(drop=True)


def check_format(path) -> None:
    """Raise where a table could not be written to a file of this name, before any work is done."""
    ending = Path(path).suffix.lower()
    if ending == ".xls":
        raise TableError(f"{path}: Excel's old format is not written. Use the ending .xlsx.")
    if ending in NEEDED:
        import_optional(*NEEDED[ending], f"Writing {ending}")


def table_bytes(frame, path, exact=()) -> bytes:
    """Return a data frame as CSV, as Parquet (.parquet) or as an Excel workbook (.xlsx).

    A text that a spreadsheet would run as a formula is harmless: a workbook holds it as a text, and
    in CSV an apostrophe stands before it, as a spreadsheet itself would show it.

    Parameters
    ----------
    frame : DataFrame
    path : path
        The file that is going to be written; its ending names the format, and all others are CSV.
    exact : sequence of str, default=()
        Columns whose texts come back character for character, such as identifiers, in CSV as well.
    """
    ending = Path(path).suffix.lower()
    if ending == ".xlsx":
        return to_workbook(frame)
    if ending == ".parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    texts = [name for name in frame.columns if name not in exact and is_text(frame[name])]
    harmless = frame.assign(**{name: frame[name].map(_harmless) for name in texts})
    names = [name if name in exact else _harmless(name) for name in frame.columns]
    separator = "\t" if ending in (".tsv", ".tab") else ","
    return harmless.to_csv(index=False, header=names, sep=separator).encode()


def _harmless(value):
    """Return a text with an apostrophe before what a spreadsheet would run, others as they are."""
    return f"'{value}" if is_formula(value) else value


def is_formula(value) -> bool:
    """Return whether a spreadsheet would run a value as a formula when it opens a text file.

    Parameters
    ----------
    value : object
        Numbers, and texts that are numbers, are none.
    """
    if not isinstance(value, str) or not value.startswith(FORMULA_MARKS):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
