"""Choosing the target, the features and the groups of rows among the columns of a data frame."""

import difflib
from collections.abc import Container
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from kernelknife._engine.policy import infer_task
from kernelknife._utils.messages import import_optional
from kernelknife.app.messages import Hint, Message, offering
from kernelknife.app.options import ColumnOptions, TableOptions
from kernelknife.app.tables.checks import (
    check_number_marks,
    check_texts,
    describe_kinds,
    find_doubts,
    find_split_columns,
)
from kernelknife.app.tables.columns import (
    TableError,
    as_texts,
    check_missing,
    check_names,
    is_text,
    leave_out,
    listing,
    reading_notes,
)
from kernelknife.app.tables.dates import expand_dates, plan_dates

__all__ = ["Table", "check_column", "group_labels", "make_features", "make_table"]

MANY_COLUMNS = 12  # more names than this do not fit into a message
MOST_SUGGESTED = 3  # suggestions for a name that is not there
LEAST_SIMILARITY = 0.6  # the default of difflib: a slip or two in a word
OFFERED = frozenset(one.name for one in fields(TableOptions))
LARGEST_EXACT = 2.0**53  # floats represent every smaller whole number exactly
FILL_OR_DROP = (
    Hint("fill them in with {}", {"impute": "median"}),
    Hint("leave the rows out with {}", {"drop_missing": True}),
)


@dataclass(frozen=True)
class Table:
    """A table that is ready for a fit.

    Attributes
    ----------
    features : DataFrame
        The columns to choose from.
    target : ndarray
    groups : ndarray or None
        For every row the name of its group; rows of one group belong together.
    task : {"regression", "classification"}
    target_name : str
    notes : tuple of str
        What was guessed and what was left out, for the user to read.
    doubts : tuple of str
        Those of the notes on what may make the errors too small.
    row_names : ndarray of str
        For every row its identifiers, or without these its number in the data frame, from 1.
    held_out : ndarray of bool or None
        Which rows to keep for judging, where a column says so.
    dates : dict
        What has become of columns of dates, for rows to predict.
    """

    features: Any  # a pandas data frame; pandas is not a core dependency
    target: np.ndarray
    groups: np.ndarray | None
    task: str
    target_name: str
    notes: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    row_names: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=object))
    held_out: np.ndarray | None = None
    dates: dict = field(default_factory=dict)


def make_table(frame, options: TableOptions, offered: Container[str] = OFFERED) -> Table:
    """Choose the target, the features and the groups, and note what was guessed.

    Parameters
    ----------
    frame : DataFrame
    options : TableOptions
        A share of the rows to hold out is drawn later; here only a column can mark them.
    offered : container of str
        Names of the options that the caller's function has; no message names others.
    """
    try:
        table = _make_table(frame, options)
    except TableError as error:
        raise error.offering(offered) from None
    notes = tuple(offering(note, offered) for note in table.notes)
    return replace(table, notes=notes, doubts=tuple(offering(n, offered) for n in table.doubts))


def _make_table(frame, options):
    notes = _check_frame(frame)
    frame = frame.rename(columns=str)
    _check_request(frame, options)
    row_names = _row_names(frame, options.ids)
    marked = options.hold_out if isinstance(options.hold_out, str) else None
    frame, held_out = _pop_held_out(frame, options, marked)
    unused = {*options.drop, *options.ids} - {options.group}
    frame = frame.drop(columns=list(unused), errors="ignore")
    # The rows that are left keep their number, by which they find their names and their split.
    frame.index = range(len(frame))
    frame = _with_target(frame, options.target, notes)
    frame, plan = _expand_dates(frame, options)
    frame = _without_empty_columns(frame, options.group, notes)
    if options.drop_missing:
        frame = _without_incomplete_rows(frame, notes)
    values = frame.pop(options.target)
    groups = None if options.group is None else group_labels(frame, options.group)
    doubts: list[str] = []
    frame = frame.drop(columns=[options.group] if options.group is not None else [])
    frame = _usable_columns(frame, options.impute, notes, doubts)
    if is_text(values):
        check_number_marks(options.target, values.astype(str))
    task = options.task or _guess_task(values, options.target, notes)
    target = _target_values(values, options.target, task)
    doubts += find_doubts(frame)
    notes += describe_kinds(frame) + doubts
    kept = frame.index.to_numpy()
    return Table(
        frame.reset_index(drop=True),
        target,
        groups,
        task,
        options.target,
        tuple(notes),
        tuple(doubts),
        row_names[kept],
        None if held_out is None else _check_held_out(held_out[kept], marked),
        plan,
    )


def _check_frame(frame):
    """Raise where something is no data frame, or has a name twice; return the notes on reading."""
    pandas = import_optional("pandas", "kernelknife[cli]", "A table")
    if not isinstance(frame, pandas.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}.")
    check_names(frame.columns, "The table")
    return reading_notes(frame)


def _expand_dates(frame, options):
    """Return the frame with numbers in place of dates, and the plan of what became of them."""
    if not options.dates:
        return frame, {}
    others = [options.target, *([] if options.group is None else [options.group])]
    plan = plan_dates(frame.drop(columns=others), options.dates)
    return expand_dates(frame, plan), plan


def _usable_columns(frame, impute, notes, doubts):
    """Return the features: checked, and without those that split the rows or are constant."""
    if not frame.shape[1]:
        raise TableError("There is no column left to choose from.")
    frame = _without_split_columns(frame, doubts)
    _check_all(frame, impute)
    n_missing = int(frame.isna().to_numpy().sum())
    if n_missing:
        notes.append(
            f"filled in {n_missing} missing values: numbers by the median of their column over all "
            "training rows of all folds together, texts by a level of their own"
        )
    return _without_constant_columns(frame, notes)


def _check_all(frame, impute):
    """Raise where values are missing or texts cannot be used, with all problems in one message."""
    problems = []
    gaps = partial(check_missing, frame, impute, *FILL_OR_DROP)
    for check in (gaps, partial(check_texts, frame)):
        try:
            check()
        except TableError as problem:
            problems.append(problem)
    if problems:
        raise TableError.of_all(problems)


def _pop_held_out(frame, options, hold_out):
    """Return the frame without the column that marks rows to hold out, and which these are."""
    if hold_out is None:
        return frame, None
    # Names of columns may hold an equals sign as well: the longest name counts.
    cuts = [i for i, letter in enumerate(hold_out) if letter == "="]
    if not cuts:
        raise TableError(
            f"The rows to hold out are a share such as 0.25, or a column and its value such as "
            f"split=test; got {hold_out!r}."
        )
    places = [i for i in cuts if hold_out[:i] in frame.columns]
    cut = places[-1] if places else cuts[-1]
    name, value = hold_out[:cut], hold_out[cut + 1 :]
    check_column(name, frame.columns)
    if name in (options.target, options.group):
        role = "target" if name == options.target else "group"
        raise TableError(f"{name!r} is the {role}; it cannot mark rows to hold out as well.")
    values = as_texts(frame[name])
    held = values == value
    if not held.any():
        raise TableError(f"No row has {name}={value}: there are {listing(np.unique(values))}.")
    return frame.drop(columns=[name]), held


def _check_held_out(held, hold_out):
    """Return which rows are held out; at least one of them must be left to judge on."""
    if not held.any():
        raise TableError(
            f"No row with {hold_out} is left: their target or other values are missing, so that "
            "nothing can be judged on them."
        )
    return held


def _row_names(frame, ids):
    """Return the identifiers of every row, or without any the number of the row from 1."""
    if not ids:
        return np.array([f"row {i + 1}" for i in range(len(frame))], dtype=object)
    texts = [as_texts(frame[name]) for name in ids]
    return np.array([", ".join(parts) for parts in zip(*texts, strict=True)], dtype=object)


def _without_split_columns(frame, doubts):
    """Return the columns without those that split rows into training and test, with a hint."""
    splits = find_split_columns(frame)
    for name, value in splits.items():
        doubts.append(
            Message(
                f"left out column {name}, which seems to split the rows into training and test",
                Hint("to judge on the latter alone, use {}", {"hold_out": f"{name}={value}"}),
            )
        )
    if len(splits) == frame.shape[1]:
        raise TableError("There is no column left but those that split the rows.")
    return frame.drop(columns=list(splits))


def make_features(frame, options: ColumnOptions):
    """Choose the features of a table without a target, and note what was left out.

    Parameters
    ----------
    frame : DataFrame
    options : ColumnOptions

    Returns
    -------
    features : DataFrame
    rows : ndarray of int
        Numbers of the rows that are left.
    notes : tuple of str
    """
    number = "row number"
    while number in frame.columns:
        number += " "
    # A copy has its columns in one piece, where pandas would warn of many.
    numbered = frame.copy().assign(**{number: np.arange(len(frame))})
    own = {one.name: getattr(options, one.name) for one in fields(ColumnOptions)}
    table = make_table(numbered, TableOptions(target=number, task="regression", **own), own)
    return table.features, table.target.astype(int), table.notes


def _check_request(frame, options):
    """Raise where a name is not a column, or where two requests contradict each other."""
    target, left_out = options.target, (*options.drop, *options.ids)
    first = frame.iloc[:, 0] if frame.shape[1] else []
    if target not in frame.columns and target in as_texts(first):
        raise TableError(
            f"There is no column {target!r}, but the first column holds it: the table seems to "
            "have its variables in rows.",
            Hint("exchange rows and columns with {}", {"transpose": True}, "read_table"),
        )
    for name in [target, *left_out, *([] if options.group is None else [options.group])]:
        check_column(name, frame.columns)
    if options.impute is not None and options.drop_missing:
        raise TableError(
            "Missing values can be filled in or their rows left out, not both.",
            Hint("use {} alone", {"impute": options.impute}),
            Hint("use {} alone", {"drop_missing": True}),
        )
    if target in (*left_out, options.group):
        raise TableError(
            f"{target!r} is the target; it cannot be left out or be the group as well."
        )


def check_column(name, columns) -> None:
    """Raise where there is no column of a name, and suggest one that was probably meant.

    Parameters
    ----------
    name : str
    columns : iterable of str
    """
    columns = list(columns)
    if name in columns:
        return
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part in columns for part in parts):
        raise TableError(
            f"There is no column {name!r}, but there are {listing(parts)}: name each on its own."
        )
    word = name.casefold().strip()
    same = [column for column in columns if column.casefold().strip() == word]
    similar = difflib.get_close_matches(name, columns, MOST_SUGGESTED, LEAST_SIMILARITY)
    containing = [column for column in columns if word and word in column.casefold()]
    suggested = (same or similar or containing)[:MOST_SUGGESTED]
    if suggested:
        hint = f"did you mean {' or '.join(map(repr, suggested))}?"
    elif len(columns) <= MANY_COLUMNS:
        hint = f"there are {', '.join(columns)}."
    else:
        first, last = ", ".join(columns[:MOST_SUGGESTED]), ", ".join(columns[-MOST_SUGGESTED:])
        hint = f"there are {len(columns)} columns, from {first} to {last}."
    raise TableError(f"There is no column {name!r}: {hint}")


def _with_target(frame, target, notes):
    """Return the rows with a value of the target; the others have nothing to learn from."""
    known = frame[target].notna()
    if known.all():
        return frame
    if not known.any():
        raise TableError(f"The target {target} has no value in any row: name another column.")
    n_unknown = int((~known).sum())
    notes.append(
        f"left out {n_unknown} of {len(frame)} rows without a value of the target {target}"
    )
    frame = frame[known].copy()
    values = frame[target]
    # Beside gaps pandas reads whole numbers as floats. Classes keep the names that they have in the
    # file, 1 and not 1.0.
    if values.dtype.kind == "f" and ((values % 1 == 0) & (values.abs() < LARGEST_EXACT)).all():
        frame[target] = values.astype("int64")
    return frame


def _without_empty_columns(frame, group, notes):
    """Return the columns with at least one value; the others can neither be filled nor used."""
    empty = [name for name, gone in frame.isna().all().items() if gone and name != group]
    if empty:
        notes.append(f"left out columns without any value: {listing(empty)}")
    return frame.drop(columns=empty)


def _without_incomplete_rows(frame, notes):
    """Return the rows without missing values."""
    complete = frame.notna().all(axis=1)
    if not complete.any():
        gaps = frame.isna().sum().sort_values(ascending=False, kind="stable")
        gaps = gaps[gaps > 0]
        counts = listing(f"{name} ({count})" for name, count in gaps.items())
        raise TableError(
            f"Every row has a missing value, most of them in {counts}.",
            leave_out(*gaps.index[:MOST_SUGGESTED]),
            Hint("fill the values in with {} instead", {"impute": "median"}),
        )
    if not complete.all():
        notes.append(f"left out {int((~complete).sum())} of {len(frame)} rows with missing values")
    return frame[complete]


def group_labels(frame, group):
    """Return the groups of the rows as texts; a row without one is refused.

    Parameters
    ----------
    frame : DataFrame
    group : str
        Name of the column.
    """
    labels = frame[group]
    n_missing = int(labels.isna().sum())
    if n_missing:
        raise TableError(
            f"The group {group} is missing in {n_missing} rows.",
            Hint("fill it in, with a name of its own for a row that belongs to no group"),
            Hint("leave these rows out with {}", {"drop_missing": True}),
        )
    return labels.astype(str).to_numpy(dtype=object)


def _without_constant_columns(frame, notes):
    """Return the columns that hold more than one value."""
    constant = [name for name, column in frame.items() if column.nunique(dropna=False) < 2]
    if len(constant) == frame.shape[1]:
        raise TableError("All columns are constant: there is nothing to choose from.")
    if constant:
        notes.append(f"left out constant columns: {listing(constant)}")
    return frame.drop(columns=constant)


def _guess_task(values, name, notes):
    """Return the task that the target suggests, with a note."""
    if is_text(values):
        notes.append(f"took the target {name} for {values.nunique()} classes")
        return "classification"
    task = infer_task(values.to_numpy(dtype=float))
    if task == "classification":
        kind, text, other = f"{values.nunique()} classes", "if it is a number", "regression"
    else:
        kind, text, other = "a number", "if its values are classes", "classification"
    hint = Hint(f"{text}, use {{}}", {"task": other})
    notes.append(Message(f"took the target {name} for {kind}", hint))
    return task


def _target_values(values, name, task):
    """Return the target as an array; a target that the task cannot use is refused."""
    n_distinct = values.nunique()
    if n_distinct < 2:
        raise TableError(f"The target {name} has one value only ({values.iloc[0]}).")
    if task == "regression":
        if is_text(values):
            raise TableError(f"The target {name} holds texts, which is no number to predict.")
        numbers = values.to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            raise TableError(f"The target {name} has infinite values.")
        return numbers
    if n_distinct > len(values) / 2:
        hints = [Hint("name another column if it is an identifier")]
        if not is_text(values):
            hints.insert(0, Hint("use {} if it is a number", {"task": "regression"}))
        raise TableError(
            f"The target {name} has {n_distinct} different values in {len(values)} rows, too many "
            "classes.",
            *hints,
        )
    return values.astype(str).to_numpy(dtype=str) if is_text(values) else values.to_numpy()
