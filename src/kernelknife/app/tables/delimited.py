"""Delimited text, such as CSV: decoding it, checking its shape, and parsing its cells.

pandas parses the cells. The shape is checked here before, because pandas accepts rows of unequal
length and repeated names and silently changes them.
"""

import csv
import io
import itertools
import re
from dataclasses import dataclass

from kernelknife._utils.versions import exact_numbers
from kernelknife.app.messages import Hint
from kernelknife.app.options import ReadOptions
from kernelknife.app.tables.columns import TableError, add_reading_note, check_names, listing

__all__ = ["AsTexts", "check_header", "decode", "parse", "transposed"]

SEPARATORS = ",;\t"
# Excel writes the separator into a first line of its own, such as ``sep=;``.
SEPARATOR_LINE = re.compile(r'\A"?sep=([^"\w\r\n])"?[ \t]*\r?\n', re.IGNORECASE)
# With one row, a header that is one cell short could as well be a slip.
FEWEST_ROWS_WITH_NAMES = 2
PADDED = r"[-+]?0\d+"  # a whole number as nobody writes a quantity
MOST_CODES = 10  # different values of a target whose padded numbers are names of classes


@dataclass(frozen=True)
class AsTexts:
    """Columns whose cells are texts, whatever they look like: ``01`` is not 1.

    Attributes
    ----------
    texts : tuple of str
        Columns of texts, where the usual words stand for a missing value.
    keys : tuple of str
        Identifiers: every cell is a text, an empty one and ``NA`` as well.
    codes : tuple of str
        Columns of texts if they hold few different whole numbers, and one that begins with a zero.
    """

    texts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


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
        raise TableError(
            f"{name} is UTF-16 text.", Hint("name its encoding with {}", {"encoding": "utf-16"})
        )
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TableError(
            f"{name} is not {encoding} text: byte 0x{data[error.start]:02x} in line {line}.",
            Hint("save it as UTF-8"),
            Hint("name its encoding, for example with {}", {"encoding": "latin-1"}),
        ) from None
    except LookupError:
        raise TableError(f"Unknown encoding {encoding!r}; for example utf-8 or latin-1.") from None
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def transposed(text: str, name: str, separator: str | None) -> str:
    """Return delimited text with its rows and columns exchanged, as CSV.

    The first cell, which would be the name of a column of sample names, is left empty, so that
    these names are left out like any unnamed column.

    Parameters
    ----------
    text : str
    name : str
        What messages call the file.
    separator : str or None
        None takes the one that splits the first line into most cells.
    """
    announced = SEPARATOR_LINE.match(text)
    if announced:
        separator, text = announced[1], text[announced.end() :]
    if separator is None:
        separator = _guess_separator(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        rows = [cells for cells in lines if any(cells)]
    except csv.Error as error:
        raise TableError(f"{name}, line {lines.line_num}: {error}.") from None
    if not rows:
        raise TableError(f"{name} is empty.")
    if len(rows) > 1 and len(rows[0]) == len(rows[1]) - 1:
        rows[0] = ["", *rows[0]]  # R leaves out the name of the column of names
    widths = [len(cells) for cells in rows]
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise TableError(
                f"{name}, row {i + 1}: {_cells(width)} where the first row has {widths[0]}."
            )
    rows[0][0] = ""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(zip(*rows, strict=True))
    return buffer.getvalue()


def _cells(count):
    return "1 cell" if count == 1 else f"{count} cells"


def parse(
    pandas,
    text: str,
    name: str,
    separator: str | None,
    options: ReadOptions,
    as_texts: AsTexts | None = None,
):
    """Return a data frame of delimited text.

    Parameters
    ----------
    pandas : module
    text : str
    name : str
        What messages call the file.
    separator : str or None
        None takes the one that splits the first line into most cells.
    options : ReadOptions
    as_texts : AsTexts, default=None
        Columns that pandas must not take for numbers.
    """
    as_texts = as_texts or AsTexts()
    announced = SEPARATOR_LINE.match(text)
    if announced:
        # The line is blanked, not removed, so that messages count lines as an editor does.
        separator, text = announced[1], "\n" + text[announced.end() :]
    if not text.strip():
        raise TableError(f"{name} is empty.")
    if "\0" in text:
        raise TableError(f"{name} is not a text table: it holds zero bytes.")
    if separator is None:
        separator = _guess_separator(text)
    header = _check_shape(text, name, separator)
    # pandas changes repeated and empty names, so it gets the places of the columns instead.
    places = range(len(header))
    layout = {
        "sep": separator,
        "header": 0,
        "names": list(places),
        "skipinitialspace": True,
        "index_col": False,
    }
    cells = {**layout, "na_values": list(options.missing), "low_memory": False}
    try:
        frame = pandas.read_csv(
            io.StringIO(text),
            decimal=options.decimal,
            thousands=options.thousands,
            dtype={place: str for place in places if header[place] in as_texts.texts},
            **exact_numbers(pandas),
            **cells,
        )
    except (pandas.errors.ParserError, ValueError, OverflowError) as error:
        raise TableError(f"{name} cannot be read as a table: {error}") from error
    if not len(frame):
        # pandas skips lines that hold nothing but blanks.
        raise TableError(f"{name} has a header and no rows.")
    if options.thousands is not None:
        _check_thousands(pandas, frame, text, header, options, layout)
    keys = [place for place in places if header[place] in as_texts.keys]
    if keys:
        frame[keys] = pandas.read_csv(
            io.StringIO(text), usecols=keys, dtype=str, keep_default_na=False, **layout
        )
    notes = _note_words(pandas, frame, text, header, options.missing, layout)
    frame = _with_texts(pandas, frame, text, header, as_texts, cells)
    frame = _named(frame, header, name)
    for note in notes:
        add_reading_note(frame, note)
    return frame


def _with_texts(pandas, frame, text, header, as_texts, cells):
    """Return the frame with the cells themselves where pandas has read something else of texts.

    Beside gaps it turns ``true`` into True, which no other file of the same texts need do.
    """
    wanted = [
        place
        for place in frame.columns
        if (frame[place].dtype == object and _holds_no_texts(pandas, frame[place]))
        or (header[place] in as_texts.codes and frame[place].dtype.kind == "i")
    ]
    if not wanted:
        return frame
    texts = pandas.read_csv(io.StringIO(text), usecols=wanted, dtype=str, **cells)
    for place in wanted:
        column = texts[place]
        if frame[place].dtype == object or (
            column.str.fullmatch(PADDED).any() and column.nunique() <= MOST_CODES
        ):
            frame[place] = column
    return frame


def _holds_no_texts(pandas, column):
    return pandas.api.types.infer_dtype(column, skipna=True) not in ("string", "empty")


def _check_thousands(pandas, frame, text, header, options, layout):
    """Raise where a mark of thousands stands where there are none, as in ``1.5``.

    pandas takes out every mark, and 1.5 would become 15.
    """
    places = [place for place in layout["names"] if frame[place].dtype.kind in "iuf"]
    if not places:
        return
    mark, decimal = re.escape(options.thousands), re.escape(options.decimal)
    whole = rf"\s*[-+]?\d{{1,3}}({mark}\d{{3}})+({decimal}\d*)?([eE][-+]?\d+)?\s*"
    cells = pandas.read_csv(
        io.StringIO(text), usecols=places, dtype=str, keep_default_na=False, **layout
    )
    for place in places:
        marked = cells[place][cells[place].str.contains(options.thousands, regex=False)]
        wrong = marked[~marked.str.fullmatch(whole) & ~marked.isin(options.missing)]
        if len(wrong):
            raise TableError(
                f"Column {header[place]} holds {wrong.iloc[0]!r}, where {options.thousands!r} does "
                "not separate groups of three digits as a mark of thousands does. Name the marks "
                "as the file has them, or correct the cell."
            )


def _note_words(pandas, frame, text, header, missing, layout):
    """Return notes on words in columns of texts that pandas has taken for missing values.

    "None" may be a class like others, such as no pain at all, and "NA" a country.
    """
    gaps = [
        place
        for place in layout["names"]
        if frame[place].isna().any()
        and pandas.api.types.infer_dtype(frame[place], skipna=True) == "string"
    ]
    if not gaps:
        return []
    words = pandas.read_csv(
        io.StringIO(text), usecols=gaps, dtype=str, keep_default_na=False, **layout
    )
    where: dict[str, dict[str, int]] = {}  # number of cells by word and column
    for place in gaps:
        lost = words[place][frame[place].isna()].str.strip()
        for word, count in lost[(lost != "") & ~lost.isin(missing)].value_counts().items():
            where.setdefault(word, {})[header[place]] = count
    return [
        f"took the text {word!r} ({sum(counts.values())} in {listing(counts)}) for a missing "
        "value: write another text if it is a value"
        for word, counts in sorted(where.items())
    ]


def _guess_separator(text):
    """Return the separator that splits the first line into most cells.

    Spaces, which R writes, count only where no other separator splits the first two lines.
    """

    def split(separator):
        lines = csv.reader(
            io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True
        )
        try:
            return [len(cells) for cells in itertools.islice(filter(any, lines), 2)] or [0]
        except csv.Error:
            return [0]

    best = max(SEPARATORS, key=lambda separator: split(separator)[0])
    return " " if max(split(best)) <= 1 and min(split(" ")) > 1 else best


def _check_shape(text, name, separator):
    """Return the names in the header; every other line must have as many cells as the header.

    Two exceptions get an empty name for the column that has none: R writes names of rows without a
    name for their column, and some programs end every line but the first with a separator.
    """
    # A space after the separator is no part of the cell: it may stand before a quote.
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    header: list[str] = []
    uneven, n_rows, one_more, ends_blank = None, 0, True, True
    try:
        for cells in lines:
            if not cells or cells == [""]:
                continue  # a blank line, which pandas skips as well
            if not header:
                header = [cell.strip() for cell in cells]
                continue
            n_rows += 1
            one_more = one_more and len(cells) == len(header) + 1
            ends_blank = ends_blank and not cells[-1].strip()
            if len(cells) != len(header) and uneven is None:
                uneven = (lines.line_num, len(cells))
    except csv.Error as error:
        raise TableError(
            f"{name}, line {lines.line_num}: {error}. A quoted cell may lack its closing quote."
        ) from None
    if not any(header):
        raise TableError(f"{name} has no names of columns in its first line.")
    check_names([cell for cell in header if cell], name)
    if not n_rows:
        raise TableError(f"{name} has a header and no rows.")
    if one_more and n_rows >= FEWEST_ROWS_WITH_NAMES:
        return [*header, ""] if ends_blank else ["", *header]
    if uneven is not None:
        raise TableError(
            f"{name}, line {uneven[0]}: {_cells(uneven[1])} where the header has {len(header)}. "
            "Put cells that hold the separator into quotes, or repair the line."
        )
    return header


def _named(frame, header, name):
    """Return a data frame with the names of a header; columns without a name are left out.

    Only a column without any value, or a first column that could be the names of rows, may have no
    name.
    """
    labels = None
    for place, column_name in enumerate(header):
        if column_name or frame[place].isna().all():
            continue
        if place > 0 or not frame[place].is_unique:
            raise TableError(
                f"{name}: column {place + 1} has no name. Give it one in the first line."
            )
        labels = frame[place]
    frame = frame[[place for place, column_name in enumerate(header) if column_name]]
    frame.columns = [column_name for column_name in header if column_name]
    if labels is not None:
        add_reading_note(
            frame,
            f"left out the first column, which has no name and a different value in every row "
            f"({listing(labels)}): give it a name to use it",
        )
    return frame


def check_header(names: list[str], where: str) -> None:
    """Raise where a column has no name, or where two columns have the same name."""
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"{where}: column {i + 1} has no name. Give it one.")
    check_names(names, where)
