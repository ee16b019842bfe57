"""Checks of the columns of a table: what is refused, and what the user is told to doubt."""

import numpy as np

from kernelknife._utils.optional import import_optional
from kernelknife.app.tables.columns import text_columns
from kernelknife.app.tables.dates import looks_like_dates
from kernelknife.app.tables.errors import TableError, listing

__all__ = [
    "check_number_marks",
    "check_texts",
    "describe_kinds",
    "find_doubts",
    "find_split_columns",
]

# A text column with more levels is taken for an identifier: names of thirty kinds of a thing are
# common, names of a hundred are hardly ever a variable that so few rows can tell apart.
MOST_LEVELS = 30
# If at least this share of the texts in a column are numbers, the others are probably slips.
SHARE_OF_NUMBERS = 0.5
PLAIN_NUMBER = r"[-+]?\d+(\.\d+)?"
SIGNS = "[%\u20ac$\u00a3\u00a5]"  # of a percentage, euros, dollars, pounds, yen
# Ways to write numbers with marks; the first that fits counts. Each has a pattern that some number
# of the column must match, one that all marked numbers match, and what tells the reader.
NUMBER_MARKS = (
    (
        # A number such as 0,126 has no thousands.
        r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?",
        r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?",
        "use --thousands , if the commas separate thousands, or --decimal , if they are decimal "
        "commas",
    ),
    (
        r"[-+]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})",
        r"[-+]?\d+(\.\d{3})*(,\d+)?",
        "use --thousands . --decimal , if the dots separate thousands",
    ),
    (
        r"[-+]?\d{1,3}( \d{3})+([.,]\d+)?",
        r"[-+]?\d{1,3}( \d{3})+([.,]\d+)?",
        "use --thousands ' ' if the spaces separate thousands",
    ),
    (
        r"[-+]?\d+,\d+",
        r"[-+]?\d+,\d+",
        "use --decimal , if the commas are decimal commas, else take them out",
    ),
    (
        rf"[-+]?({SIGNS} ?\d[\d.,]*|\d[\d.,]* ?{SIGNS})",
        rf"[-+]?({SIGNS} ?\d[\d.,]*|\d[\d.,]* ?{SIGNS})",
        "take the sign out, so that numbers are left",
    ),
)
MOST_PROBLEMS = 5  # problems of columns that one message describes
# Where a table has so many times more rows than columns and names every row, its variables may
# stand in rows, as genes often do.
ROWS_PER_COLUMN = 5
# Words that mark rows for training and rows for judging in a column of a table.
TRAINING = {"train", "training", "tr", "learn"}
JUDGING = {"test", "testing", "valid", "validation", "val", "dev", "holdout", "hold-out", "eval"}
# Fewer consecutive integers than this are probably a scale, such as a grade, and no row number.
FEWEST_ROW_NUMBERS = 10


def check_texts(frame) -> None:
    """Raise where text columns hold dates, numbers with slips, or identifiers, all at once."""
    problems = []
    for name in text_columns(frame):
        try:
            _check_text(name, frame)
        except TableError as problem:
            problems.append(str(problem))
    if problems:
        others = len(problems) - MOST_PROBLEMS
        more = [f"{others} more columns cannot be used either."] if others > 0 else []
        raise TableError(" ".join(problems[:MOST_PROBLEMS] + more))


def _looks_transposed(frame, name):
    """Return whether a column may name the variables of a table that has them in rows."""
    others = frame.drop(columns=[name])
    return (
        len(frame) >= ROWS_PER_COLUMN * frame.shape[1]
        and bool(frame[name].is_unique)
        and not text_columns(others)
    )


def _check_text(name, frame):
    """Raise where one text column cannot be used."""
    column = frame[name]
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading a table")
    if looks_like_dates(column):
        raise TableError(
            f"Column {name} holds dates. Turn them into numbers with --dates days (since the "
            f"first), --dates year or --dates month, or leave the column out with --drop {name!r}."
        )
    _check_hashable(name, column)
    texts = column.dropna().astype(str)
    check_number_marks(name, texts)
    numbers = pandas.to_numeric(texts, errors="coerce").notna()
    if len(texts) and SHARE_OF_NUMBERS <= numbers.mean() < 1:
        slips = texts[~numbers]
        raise TableError(
            f"Column {name} holds numbers and {len(slips)} other texts "
            f"({listing(slips.unique())}). If they stand for missing values, say so: "
            f"--missing {slips.iloc[0]!r}."
        )
    levels = texts.nunique()
    if levels > MOST_LEVELS:
        transposed = " If every row is a variable and every column a sample, use --transpose."
        hint = transposed if _looks_transposed(frame, name) else ""
        raise TableError(
            f"Column {name} has {levels} different texts in {len(column)} rows. An identifier? "
            f"Leave it out with --drop {name!r}; if it marks rows that belong together, use "
            f"--group {name!r}.{hint}"
        )


def _check_hashable(name, column):
    """Raise where a column holds something that is neither a number nor a text, such as lists."""
    try:
        if column.dtype.kind != "c":  # NumPy's code for complex numbers
            column.nunique()
            return
    except TypeError:
        pass  # pandas cannot compare lists, sets and the like, and neither can we
    raise TableError(
        f"Column {name} holds values such as {column.dropna().iloc[0]!r}, which are neither "
        f"numbers nor texts. Make numbers of them, or leave the column out with --drop {name!r}."
    )


def check_number_marks(name, texts) -> None:
    """Raise where numbers are written with marks that the reader was not told about.

    A comma may be a decimal mark or may separate thousands. The difference is a factor of a
    thousand, so the user must say which it is.

    Parameters
    ----------
    name : str
    texts : Series of str
    """
    plain = texts.str.fullmatch(PLAIN_NUMBER)
    for telling, general, advice in NUMBER_MARKS:
        marked = texts[texts.str.fullmatch(telling)]
        # Small numbers have no marks, so a column may hold plain numbers as well.
        number_like = plain | texts.str.fullmatch(general)
        if len(marked) and number_like.mean() > SHARE_OF_NUMBERS:
            raise TableError(
                f"Column {name} holds numbers written as {marked.iloc[0]!r}: {advice}."
            )


def describe_kinds(frame) -> list[str]:
    """Say how many columns hold numbers, and which hold texts."""
    texts = text_columns(frame)
    notes = [f"{frame.shape[1] - len(texts)} columns of numbers"]
    if texts:
        notes.append(f"{len(texts)} of text, one weight each: {listing(texts)}")
    return notes


def find_doubts(frame) -> list[str]:
    """Say what may make the errors look better than they are: row numbers and copies of rows."""
    notes = []
    for name, column in frame.items():
        if column.dtype.kind in "iu" and len(column) > FEWEST_ROW_NUMBERS:
            ordered = np.sort(column.to_numpy())
            if (np.diff(ordered) == 1).all():
                notes.append(
                    f"column {name} looks like a row number: --drop {name!r} leaves it out"
                )
    copies = int(frame.duplicated().sum())
    if copies:
        notes.append(
            f"{copies} rows are copies of others: where one copy trains and the other tests, the "
            "errors look too small"
        )
    return notes


def find_split_columns(frame) -> dict[str, str]:
    """Return the columns that say which rows are for training, with a value of the others.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    dict
        From the name of a column to a value that marks rows for judging.
    """
    splits = {}
    for name in text_columns(frame):
        words = {str(value): str(value).strip().casefold() for value in frame[name].dropna()}
        plain = set(words.values())
        if plain & TRAINING and plain & JUDGING and plain <= TRAINING | JUDGING:
            # Where rows are for validation and others for testing, the latter are suggested.
            judging = [value for value, word in words.items() if word in JUDGING]
            splits[name] = max(judging, key=lambda value: words[value] == "test")
    return splits
