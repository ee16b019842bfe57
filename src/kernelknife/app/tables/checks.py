"""Checks of the columns of a table: what is refused, and what the user should doubt."""

from collections.abc import Container

import numpy as np

from kernelknife._utils.messages import import_optional
from kernelknife.app.messages import Hint, Message
from kernelknife.app.tables.columns import (
    TableError,
    leave_out,
    listing,
    plain_numbers,
    text_columns,
)
from kernelknife.app.tables.dates import looks_like_dates

__all__ = [
    "check_number_marks",
    "check_texts",
    "describe_kinds",
    "find_doubts",
    "find_split_columns",
]

# A text column with more levels is taken for an identifier where each of them has fewer rows than
# this on average: then there is nothing to learn of them.
MOST_LEVELS, ROWS_PER_LEVEL = 30, 3.0
# Texts of so many words on average, most of them different, are sentences.
WORDS_OF_A_SENTENCE = 4.0
SHOWN_TEXT = 40  # letters of a text in a message
# If at least this share of the texts in a column are numbers, the others are probably slips.
SHARE_OF_NUMBERS = 0.5
# If at least this share of those others have digits themselves, they are probably codes.
SHARE_OF_CODES = 0.5
PLAIN_NUMBER = r"[-+]?\d+(\.\d+)?"
SIGNS = "[%\u20ac$\u00a3\u00a5]"  # of a percentage, euros, dollars, pounds, yen


def _read_with(text, **options):
    """Return the hint to read the file with other options."""
    return Hint(text, options, "read_table")


# Ways to write numbers with marks; the first that fits counts. Each has a pattern that some number
# of the column must match, one that all marked numbers match, and what would help.
NUMBER_MARKS = (
    (
        # A number such as 0,126 has no thousands.
        r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?",
        r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?",
        (
            _read_with("use {} if the commas separate thousands", thousands=","),
            _read_with("use {} if they are decimal commas", decimal=","),
        ),
    ),
    (
        r"[-+]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})",
        r"[-+]?\d+(\.\d{3})*(,\d+)?",
        (_read_with("use {} if the dots separate thousands", thousands=".", decimal=","),),
    ),
    (
        r"[-+]?\d{1,3}( \d{3})+([.,]\d+)?",
        r"[-+]?\d{1,3}( \d{3})+([.,]\d+)?",
        (_read_with("use {} if the spaces separate thousands", thousands=" "),),
    ),
    (
        r"[-+]?\d+,\d+",
        r"[-+]?\d+,\d+",
        (
            _read_with("use {} if the commas are decimal commas", decimal=","),
            Hint("take them out if not"),
        ),
    ),
    (
        rf"[-+]?({SIGNS} ?\d[\d.,]*|\d[\d.,]* ?{SIGNS})",
        rf"[-+]?({SIGNS} ?\d[\d.,]*|\d[\d.,]* ?{SIGNS})",
        (Hint("take the sign out, so that numbers are left"),),
    ),
)
MOST_PROBLEMS = 5  # problems of columns that one message describes
# Where the rows are this many times the columns and every row has a name, the variables may stand
# in rows, as genes often do.
ROWS_PER_COLUMN = 5
# Words that mark rows for training and rows for judging in a column of a table.
TRAINING = {"train", "training", "tr", "learn"}
JUDGING = {"test", "testing", "valid", "validation", "val", "dev", "holdout", "hold-out", "eval"}
# Fewer consecutive integers than this are probably a scale, such as a grade, and no row number.
FEWEST_ROW_NUMBERS = 10


def check_texts(frame, levels: Container[str] = ()) -> None:
    """Raise where text columns hold dates, numbers with slips, or identifiers, all at once.

    Parameters
    ----------
    frame : DataFrame
    levels : container of str
        Columns whose texts the user says to be levels.
    """
    problems = []
    for name in text_columns(frame):
        try:
            if name not in levels:
                _check_text(name, frame)
        except TableError as problem:
            problems.append(problem)
    if problems:
        others = len(problems) - MOST_PROBLEMS
        if others > 0:
            more = TableError(f"{others} more columns cannot be used either.")
            problems = [*problems[:MOST_PROBLEMS], more]
        raise TableError.of_all(problems)


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
            f"Column {name} holds dates.",
            Hint(
                "turn them into numbers with {} (days since the first; year and month are "
                "possible, too)",
                {"dates": ["days"]},
            ),
            leave_out(name),
        )
    _check_hashable(name, column)
    texts = column.dropna().astype(str)
    check_number_marks(name, texts)
    numbers = pandas.to_numeric(texts, errors="coerce").notna()
    if len(texts) and SHARE_OF_NUMBERS <= numbers.mean() < 1:
        slips = texts[~numbers]
        raise TableError(
            f"Column {name} holds numbers and {len(slips)} other "
            f"{'text' if len(slips) == 1 else 'texts'} ({listing(slips.unique())}).",
            *_hints_at_slips(name, slips),
        )
    levels = texts.nunique()
    if levels > MOST_LEVELS and levels * ROWS_PER_LEVEL > len(texts):
        if texts.str.split().str.len().mean() >= WORDS_OF_A_SENTENCE:
            raise TableError(
                f"Column {name} holds free text ({texts.iloc[0][:SHOWN_TEXT]!r}).",
                leave_out(name),
                Hint(
                    "make numbers of it with an encoder of the package skrub, such as "
                    "MinHashEncoder, and give its columns one weight by feature_groups"
                ),
            )
        hints = [
            Hint("use {} if its texts are levels all the same", {"levels": [name]}),
            Hint("leave it out with {} if it is an identifier", {"drop": [name]}),
            Hint("use {} if it marks rows that belong together", {"group": name}),
        ]
        if _looks_transposed(frame, name):
            text = "use {} if every row is a variable and every column a sample"
            hints.append(_read_with(text, transpose=True))
        raise TableError(
            f"Column {name} has {levels} different texts in {len(column)} rows.", *hints
        )


def _hints_at_slips(name, slips):
    """Return what to do with texts among numbers: gaps, or codes of which some look like numbers.

    Texts with a digit, such as the V27 of a diagnosis beside 250, are no words for a missing value.
    """
    if slips.str.contains(r"\d").mean() < SHARE_OF_CODES:
        return (_read_with("if they stand for missing values, use {}", missing=[slips.iloc[0]]),)
    return (
        Hint("use {} if all of them are codes", {"levels": [name]}),
        Hint("begin every code with a letter, so that none looks like a number"),
        Hint("correct the texts if the column is a measurement"),
        leave_out(name),
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
        "numbers nor texts.",
        Hint("make numbers of them"),
        leave_out(name),
    )


def check_number_marks(name, texts) -> None:
    """Raise where numbers are written with marks that were not given as options.

    A comma may be a decimal mark or may separate thousands. The difference is a factor of a
    thousand, so the user must choose.

    Parameters
    ----------
    name : str
    texts : Series of str
    """
    plain = texts.str.fullmatch(PLAIN_NUMBER)
    for distinctive, general, hints in NUMBER_MARKS:
        marked = texts[texts.str.fullmatch(distinctive)]
        # Small numbers have no marks, so a column may hold plain numbers as well.
        number_like = plain | texts.str.fullmatch(general)
        if len(marked) and number_like.mean() > SHARE_OF_NUMBERS:
            raise TableError(f"Column {name} holds numbers written as {marked.iloc[0]!r}.", *hints)


def describe_kinds(frame) -> list[str]:
    """Return notes on how many columns hold numbers, and which hold texts."""
    texts = text_columns(frame)
    n_numbers = frame.shape[1] - len(texts)
    notes = [f"{n_numbers} {'column' if n_numbers == 1 else 'columns'} of numbers"]
    if texts:
        notes.append(f"{len(texts)} of text, one weight each: {listing(texts)}")
    return notes


def find_doubts(frame) -> list[str]:
    """Return notes on what may make the errors too small: row numbers and copies of rows."""
    notes: list[str] = []
    whole = [name for name, kind in frame.dtypes.items() if kind.kind in "iu"]
    for name in whole:
        if len(frame) > FEWEST_ROW_NUMBERS:
            ordered = np.sort(frame[name].to_numpy())
            if (np.diff(ordered) == 1).all():
                notes.append(
                    Message(
                        f"column {name} looks like a row number",
                        Hint("leave it out with {}", {"drop": [name]}),
                    )
                )
    copies = _count_copies(frame)
    if copies:
        notes.append(
            f"{copies} rows are copies of others: where one copy trains and the other tests, the "
            "errors are too small"
        )
    return notes


def _count_copies(frame) -> int:
    """Return how many rows are copies of earlier ones."""
    _, numbers = plain_numbers(frame)
    # Rows whose weighted sums differ are different; the few others are compared in every column.
    weights = np.random.default_rng(0).normal(size=numbers.shape[1])
    sums = (np.nan_to_num(np.ascontiguousarray(numbers), nan=np.pi) * weights).sum(axis=1)
    _, which, counts = np.unique(sums, return_inverse=True, return_counts=True)
    return int(frame[counts[which] > 1].duplicated().sum())


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
