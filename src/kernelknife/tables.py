"""From a file to columns of numbers: reading, guessing, encoding, and refusing with a sentence.

A text column becomes one column of zeros and ones per value, and all of them share one weight,
so what is selected is the column that the user knows.
"""

import csv
import difflib
import gzip
import io
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelknife._support.optional import import_optional

__all__ = ["Table", "TableEncoder", "TableError", "make_table", "read_table", "unseen_levels"]

FEW_CLASSES = 10  # an integer target with more distinct values is taken for a number
MOST_LEVELS = 30  # a text column with more values is taken for an identifier
MOSTLY = 0.5  # share of numbers from which a text column looks like numbers with slips
SHOWN = 5
GAP_ADVICE = "Use --impute median to fill them in, or --drop-missing to leave the rows out."
FILL_ADVICE = "Fill them in, or make the model anew with --impute median."


class TableError(ValueError):
    """A table cannot be used as it is; the message says why and what to do."""


def _listing(names):
    """Return some names in words, the first few of many."""
    names = [str(name) for name in names]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


# -- reading --------------------------------------------------------------------------------------


def read_table(source, encoding="utf-8", missing=(), decimal="."):
    """Read a table from a file, or from standard input.

    Parameters
    ----------
    source : path or "-"
        CSV, TSV, Parquet or Feather, told by the ending; text files also with gzip; or a folder
        of Parquet files. Standard input holds CSV.
    encoding : str, default="utf-8"
    missing : sequence of str, default=()
        Texts that stand for a missing value, beside the usual ones.
    decimal : str, default="."
        Decimal mark of a text file.

    Returns
    -------
    DataFrame
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading a table")
    path = Path(source)
    if str(source) == "-":
        data, name = sys.stdin.buffer.read(), "standard input"
        endings = [".csv"]
    else:
        name = str(source)
        endings = [ending.lower() for ending in path.suffixes]
        if path.is_dir():
            return _read_folder(pandas, path)
        if endings[-1:] in ([".parquet"], [".feather"]):
            return _read_binary(pandas, path, endings[-1])
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise TableError(f"There is no file {name}.{_nearby(path)}") from None
        except OSError as error:
            raise TableError(f"{name} cannot be read: {error.strerror}.") from error
    if data[:4] == b"PAR1":
        raise TableError(f"{name} is a Parquet file: give it the ending .parquet.")
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(
                f"{name} is not whole: its gzip data end early or are wrong."
            ) from error
    separator = "\t" if {".tsv", ".tab"} & set(endings) else None
    return _parse(pandas, _decode(data, name, encoding), name, separator, missing, decimal)


def _nearby(path):
    """Suggest a file of a similar name in the same folder."""
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(path.name, names, 1)
    return f" Did you mean {folder / close[0]}?" if close else ""


def _read_folder(pandas, folder):
    """Read the Parquet files of a folder; they must have the same columns of the same types."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise TableError(f"{folder} is a folder without Parquet files; name a file.")
    frames = [_read_binary(pandas, file, ".parquet") for file in files]
    for file, frame in zip(files, frames, strict=True):
        missing = [name for name in frames[0].columns if name not in frame.columns]
        if missing:
            raise TableError(f"{file} lacks the column {missing[0]!r} that other files have.")
        for name in frames[0].columns:
            if _is_text(frame[name]) != _is_text(frames[0][name]):
                raise TableError(
                    f"Column {name!r} holds texts in some files and numbers in others."
                )
    return pandas.concat([frame[frames[0].columns] for frame in frames], ignore_index=True)


def _read_binary(pandas, path, ending):
    import_optional("pyarrow", "pyarrow", f"Reading {ending[1:].capitalize()}")
    read = pandas.read_parquet if ending == ".parquet" else pandas.read_feather
    try:
        frame = read(path)
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.{_nearby(path)}") from None
    # pyarrow has a family of errors for broken files, and lets OSError through as well.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{path} is not a readable {ending[1:]} file: {reason}") from error
    frame.columns = [str(column) for column in frame.columns]
    _check_header(list(frame.columns), str(path))
    if not len(frame):
        raise TableError(f"{path} has no rows.")
    return frame.reset_index(drop=True)


def _decode(data, name, encoding):
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


def _parse(pandas, text, name, separator, missing, decimal):
    """Parse delimited text; every row must have as many cells as the header."""
    if not text.strip():
        raise TableError(f"{name} is empty.")
    if "\0" in text:
        raise TableError(f"{name} is not a text table: it holds zero bytes.")
    if separator is None:
        head = text.lstrip().splitlines()[0]
        separator = max(",;\t", key=head.count)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        header: list[str] = []
        ragged, count = None, 0
        for line in lines:
            if line and not header:
                header = line
            elif line:
                count += 1
                if len(line) != len(header) and ragged is None:
                    ragged = (lines.line_num, len(line))
    except csv.Error as error:
        raise TableError(
            f"{name}, line {lines.line_num}: {error}. A quoted cell may lack its closing quote."
        ) from None
    _check_header([cell.strip() for cell in header], name)
    if ragged is not None:
        raise TableError(
            f"{name}, line {ragged[0]}: {ragged[1]} cells where the header has {len(header)}. Put "
            "cells that hold the separator into quotes, or repair the line."
        )
    if not count:
        raise TableError(f"{name} has a header and no rows.")
    try:
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=separator,
            na_values=list(missing),
            decimal=decimal,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
        )
    except (pandas.errors.ParserError, ValueError, OverflowError) as error:
        raise TableError(f"{name} cannot be read as a table: {error}") from error
    frame.columns = [cell.strip() for cell in header]
    return frame


def _check_header(names, where):
    """Raise where column names are missing or occur twice."""
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"{where}: column {i + 1} has no name. Give it one in the first line.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise TableError(f"{where} has columns of the same name: {_listing(twice)}. Rename them.")


# -- encoding -------------------------------------------------------------------------------------


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns of numbers from the columns of a data frame.

    Parameters
    ----------
    impute : {None, "median"}, default=None
        What to put where a number is missing; a missing text is a value of its own. None
        refuses both.

    Attributes
    ----------
    columns_ : list of str
        The columns that it knows, in order.
    levels_ : dict of list of str
        Values of every text column.
    medians_ : dict of float
        Of every column of numbers.
    feature_groups_ : ndarray of str
        For every column that comes out, the one that it came from.
    """

    def __init__(self, impute=None):
        self.impute = impute

    def fit(self, X, y=None):
        """Learn the values of text columns and the medians of the others.

        Parameters
        ----------
        X : DataFrame
        y : ignored

        Returns
        -------
        self : object
        """
        self.columns_, self.levels_, self.medians_, groups = [], {}, {}, []
        for name in X.columns:
            column = X[name]
            self.columns_.append(str(name))
            if _is_text(column):
                values = [str(value) for value in column[column.notna()].unique()]
                self.levels_[str(name)] = sorted(values)
                if self.impute is not None and column.isna().any():
                    self.levels_[str(name)].append("")
                groups += [str(name)] * len(self.levels_[str(name)])
            else:
                numbers = column.to_numpy(dtype=float, na_value=np.nan)
                known = numbers[np.isfinite(numbers)]
                self.medians_[str(name)] = float(np.median(known)) if len(known) else 0.0
                groups.append(str(name))
        self.feature_groups_ = np.array(groups, dtype=str)
        self.n_features_in_ = len(self.columns_)
        return self

    @property
    def first_columns(self):
        """Index of the first column that comes out of each of the table's columns."""
        return [int(np.argmax(self.feature_groups_ == name)) for name in self.columns_]

    def transform(self, X, needed=None):
        """Return the columns of numbers, one row per row of the table.

        Parameters
        ----------
        X : DataFrame
            With the columns of the fit, in any order; others are left out.
        needed : list of str, default=None
            Columns that will be used; the others may be missing and come out as constants.
            None needs all.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        needed = self.columns_ if needed is None else list(needed)
        absent = [name for name in needed if name not in X.columns]
        if absent:
            raise TableError(f"The table lacks columns that the model needs: {_listing(absent)}.")
        check_missing(X[needed], self.impute, FILL_ADVICE)
        parts = []
        for name in self.columns_:
            if name not in needed:
                width = len(self.levels_.get(name, [name]))
                parts += [np.full(len(X), self.medians_.get(name, 0.0))] * width
                continue
            column = X[name]
            if name in self.levels_:
                texts = column.map(str, na_action="ignore").fillna("").to_numpy(dtype=object)
                parts += [(texts == level).astype(float) for level in self.levels_[name]]
                continue
            if _is_text(column):
                raise TableError(
                    f"Column {name} holds texts ({_first_text(column)}), the model expects numbers."
                )
            numbers = column.to_numpy(dtype=float, na_value=np.nan)
            parts.append(np.where(np.isnan(numbers), self.medians_[name], numbers))
        return np.column_stack(parts) if parts else np.empty((len(X), 0))


def _first_text(column):
    """Return the first value that is no number, and its row."""
    for row, value in enumerate(column):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} in row {row + 1}"
    return "numbers written as texts"


def unseen_levels(encoder, X, needed):
    """Return a sentence per text column with values that the fit has not seen."""
    notes = []
    for name in needed:
        if name in encoder.levels_ and name in X.columns:
            texts = X[name].dropna().map(str)
            new = texts[~texts.isin(encoder.levels_[name])]
            if len(new):
                notes.append(
                    f"column {name}: {len(new)} rows hold values that the model has never seen "
                    f"({_listing(new.unique())}); they count as none of the known ones"
                )
    return notes


def _is_text(column):
    """Whether a column holds texts; booleans and numbers do not."""
    return column.dtype.kind not in "biuf" and not _nullable_number(column)


def _nullable_number(column):
    """Whether a column has one of pandas' types for numbers with gaps."""
    kind = getattr(column.dtype, "kind", "O")
    return kind in "biuf" and column.dtype.name[0].isupper()


def check_missing(frame, impute, advice):
    """Raise where values are missing or infinite and nothing is put in their place."""
    infinite = {
        name: int(np.isinf(frame[name].to_numpy(dtype=float, na_value=np.nan)).sum())
        for name in frame.columns
        if not _is_text(frame[name])
    }
    infinite = {name: count for name, count in infinite.items() if count}
    if infinite:
        shown = _listing(f"{name} ({count})" for name, count in infinite.items())
        raise TableError(f"Infinite values in {shown}. Replace them, or leave the columns out.")
    if impute is not None:
        return
    gaps = frame.isna().sum()
    gaps = gaps[gaps > 0]
    if len(gaps):
        rows = int(frame.isna().any(axis=1).sum())
        shown = _listing(f"{name} ({count})" for name, count in gaps.items())
        raise TableError(f"Values are missing in {rows} of {len(frame)} rows: {shown}. {advice}")


# -- what to learn from what ----------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table ready for a fit.

    Attributes
    ----------
    features : DataFrame
        The columns to choose from.
    target : ndarray
    groups : ndarray or None
        Labels of rows that belong together.
    task : {"regression", "classification"}
    target_name : str
    notes : tuple of str
        What was guessed and what was left out.
    """

    features: Any  # a pandas data frame
    target: np.ndarray
    groups: np.ndarray | None
    task: str
    target_name: str
    notes: tuple[str, ...]


def make_table(
    frame, target, *, drop=(), ids=(), group=None, task=None, drop_missing=False, impute=None
):
    """Choose target, features and groups of a data frame, and say what was guessed.

    Parameters
    ----------
    frame : DataFrame
    target : str
    drop, ids : sequence of str, default=()
        Columns to leave out.
    group : str, default=None
        Column whose equal values mark rows that belong together.
    task : {"regression", "classification"}, default=None
        None guesses from the target.
    drop_missing : bool, default=False
        Whether to leave out rows with missing values.
    impute : {None, "median"}, default=None
        See :class:`TableEncoder`; here it only decides whether gaps are accepted.

    Returns
    -------
    Table
    """
    frame = frame.rename(columns=str)
    for name in [target, *drop, *ids, *([] if group is None else [group])]:
        _check_column(name, frame.columns)
    if impute is not None and drop_missing:
        raise TableError("Give --impute or --drop-missing, not both.")
    if target in (*drop, *ids, group):
        raise TableError(
            f"{target!r} is the target; it cannot be left out or be the group as well."
        )
    notes = []
    left_out = {*drop, *ids} - {target, group}
    frame = frame.drop(columns=list(left_out))
    if drop_missing:
        whole = frame.notna().all(axis=1)
        if not whole.all():
            notes.append(f"left out {int((~whole).sum())} of {len(frame)} rows with missing values")
            frame = frame[whole].reset_index(drop=True)
        if not len(frame):
            raise TableError("Every row has a missing value: use --impute median instead.")
    values, groups = frame.pop(target), None
    gaps = int(values.isna().sum())
    if gaps:
        raise TableError(
            f"The target {target} is missing in {gaps} of {len(values)} rows: use --drop-missing "
            "to leave them out, or fill them in."
        )
    if group is not None:
        labels = frame.pop(group)
        if labels.isna().any():
            raise TableError(f"The group {group} is missing in {int(labels.isna().sum())} rows.")
        groups = labels.astype(str).to_numpy(dtype=object)
    if not frame.shape[1]:
        raise TableError(f"There is no column left beside the target {target}.")
    check_missing(frame, impute, GAP_ADVICE)
    filled = int(frame.isna().to_numpy().sum())
    if filled:
        notes.append(f"filled in {filled} missing values")
    frame = _without_constant(_check_texts(frame), notes)
    if _is_text(values):
        _check_commas(target, values.astype(str))
    values, task = _guess_task(values, target, task, notes)
    _say_kinds(frame, notes)
    _say_doubts(frame, notes)
    return Table(frame.reset_index(drop=True), values, groups, task, target, tuple(notes))


def _check_column(name, columns):
    if name in columns:
        return
    close = difflib.get_close_matches(name, list(columns), 1, 0.5)
    folded = [column for column in columns if column.lower() == name.lower()]
    hint = (folded or close)[:1]
    suggestion = f"did you mean {hint[0]!r}?" if hint else f"there are {_listing(columns)}."
    raise TableError(f"There is no column {name!r}: {suggestion}")


def _guess_task(values, name, task, notes):
    """Return the target's values and the task, guessed unless it is given."""
    distinct = values.nunique()
    if distinct < 2:
        raise TableError(f"The target {name} has one value only ({values.iloc[0]}).")
    text = _is_text(values)
    if task is None:
        whole = text or values.dtype.kind == "b" or bool((values.astype(float) % 1 == 0).all())
        task = "classification" if text or (whole and distinct <= FEW_CLASSES) else "regression"
        kind = f"{distinct} classes" if task == "classification" else "a number"
        notes.append(f"took the target {name} for {kind} (--task says otherwise)")
    if task == "regression" and text:
        raise TableError(f"The target {name} holds texts, which is no number to predict.")
    if task == "classification" and distinct > len(values) / 2:
        raise TableError(
            f"The target {name} has {distinct} different values in {len(values)} rows, too many "
            "classes. Is it a number (--task regression) or an identifier?"
        )
    if task == "regression":
        numbers = values.to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            raise TableError(f"The target {name} has infinite values.")
        return numbers, task
    if text:
        return values.astype(str).to_numpy(dtype=str), task
    return values.to_numpy(), task


def _check_texts(frame):
    """Raise where a text column looks like numbers with slips or like an identifier."""
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading a table")
    for name in frame.columns:
        column = frame[name]
        if not _is_text(column):
            continue
        if column.dtype.kind in "Mm" or _looks_like_dates(column):
            raise TableError(
                f"Column {name} holds dates. Turn them into numbers, such as days since the first, "
                f"or leave the column out with --drop {name!r}."
            )
        texts = column.dropna().astype(str)
        _check_commas(name, texts)
        numbers = pandas.to_numeric(texts, errors="coerce").notna()
        if len(texts) and MOSTLY <= numbers.mean() < 1:
            slips = texts[~numbers]
            raise TableError(
                f"Column {name} holds numbers and {len(slips)} other texts "
                f"({_listing(slips.unique())}). If they stand for missing values, say so: "
                f"--missing {slips.iloc[0]!r}."
            )
        levels = texts.nunique()
        if levels > MOST_LEVELS:
            raise TableError(
                f"Column {name} has {levels} different texts in {len(frame)} rows. An identifier? "
                f"Leave it out with --drop {name!r}; if it marks rows that belong together, use "
                f"--group {name!r}."
            )
    return frame


def _looks_like_dates(column):
    texts = column.dropna().astype(str).head(50)
    return len(texts) > 0 and bool(texts.str.match(r"^\d{4}-\d{2}-\d{2}([ T].*)?$").all())


def _check_commas(name, texts):
    """Raise where numbers are written with a decimal comma."""
    if len(texts) and texts.str.match(r"^-?\d+,\d+$").mean() > MOSTLY:
        raise TableError(
            f"Column {name} holds numbers with commas ({texts.iloc[0]}): use --decimal , if they "
            "are decimal commas, else take the commas out."
        )


def _say_doubts(frame, notes):
    """Say what may make an answer too good: row numbers, copies of rows."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "iu" and len(column) > FEW_CLASSES:
            ordered = np.sort(column.to_numpy())
            if (np.diff(ordered) == 1).all():
                notes.append(
                    f"column {name} looks like a row number: --drop {name!r} leaves it out"
                )
    copies = int(frame.duplicated().sum())
    if copies:
        notes.append(
            f"{copies} rows are copies of others: on both sides of a fold they make errors look "
            "too small"
        )


def _without_constant(frame, notes):
    constant = [name for name in frame.columns if frame[name].nunique(dropna=False) < 2]
    if len(constant) == frame.shape[1]:
        raise TableError("All columns are constant: there is nothing to choose from.")
    if constant:
        notes.append(f"left out constant columns: {_listing(constant)}")
    return frame.drop(columns=constant)


def _say_kinds(frame, notes):
    texts = [name for name in frame.columns if _is_text(frame[name])]
    notes.append(f"{frame.shape[1] - len(texts)} columns of numbers")
    if texts:
        notes.append(f"{len(texts)} of text, one weight each: {_listing(texts)}")
