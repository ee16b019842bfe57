"""Choosing the target, the features and the groups of rows among the columns of a data frame."""

import difflib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelknife._utils.optional import import_optional
from kernelknife.app.tables.checks import (
    check_number_marks,
    check_texts,
    describe_kinds,
    find_doubts,
    find_split_columns,
)
from kernelknife.app.tables.columns import as_texts, check_missing, check_names, is_text
from kernelknife.app.tables.dates import expand_dates, plan_dates
from kernelknife.app.tables.errors import TableError, listing
from kernelknife.app.tables.notes import reading_notes

__all__ = ["Table", "check_column", "make_features", "make_table"]

# A target of whole numbers with more different values is taken for a number. Scales with more
# classes than this are rare, and --task overrides the guess.
MOST_CLASSES = 10
MANY_COLUMNS = 12  # more names than this do not fit into a message
MOST_SUGGESTED = 3  # suggestions for a name that is not there
LEAST_SIMILARITY = 0.6  # the default of difflib: a slip or two in a word
LARGEST_EXACT = 2.0**53  # floats represent every smaller whole number exactly
GAP_ADVICE = "Use --impute median to fill them in, or --drop-missing to leave the rows out."


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
        Those of the notes that may make the errors look better than they are.
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


def make_table(
    frame,
    target,
    *,
    drop=(),
    ids=(),
    group=None,
    task=None,
    drop_missing=False,
    impute=None,
    dates=(),
    hold_out=None,
):
    """Choose the target, the features and the groups, and note what was guessed.

    Parameters
    ----------
    frame : DataFrame
    target : str
        Name of the column to predict.
    drop, ids : sequence of str, default=()
        Columns to leave out.
    group : str, default=None
        Column whose equal values mark rows that belong together.
    task : {"regression", "classification"}, default=None
        None guesses from the target.
    drop_missing : bool, default=False
        Whether to leave out rows with missing values.
    impute : {None, "median"}, default=None
        Whether missing values are accepted, to be replaced by :class:`TableEncoder`.
    dates : sequence of {"days", "year", "month"}, default=()
        What columns of dates become: days since the first date, years, months. Empty refuses them.
    hold_out : str, default=None
        Rows to keep for judging, such as ``"split=test"``: a column and the value that marks them.

    Returns
    -------
    Table
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "A table")
    if not isinstance(frame, pandas.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}.")
    check_names(frame.columns, "The table")
    notes = reading_notes(frame)
    frame = frame.rename(columns=str)
    target, drop, ids = str(target), _as_names(drop), _as_names(ids)
    group = None if group is None else str(group)
    _check_request(frame, target, drop, ids, group, drop_missing, impute)
    row_names = _row_names(frame, ids)
    frame, held_out = _pop_held_out(frame, target, group, hold_out)
    frame = frame.drop(columns=list({*drop, *ids} - {group}), errors="ignore")
    # The rows that are left know their names and whether they are held out by their number.
    frame.index = range(len(frame))
    frame = _with_target(frame, target, notes)
    plan: dict = {}
    if dates:
        features = frame.drop(columns=[target, *([] if group is None else [group])])
        plan = plan_dates(features, _as_names(dates))
        frame = expand_dates(frame, plan)
    frame = _without_empty_columns(frame, group, notes)
    if drop_missing:
        frame = _without_incomplete_rows(frame, notes)
    values = frame.pop(target)
    groups = None if group is None else _pop_groups(frame, group)
    if not frame.shape[1]:
        raise TableError(f"There is no column left beside the target {target}.")
    doubts: list[str] = []
    frame = _without_split_columns(frame, doubts)
    _check_all(frame, impute)
    n_missing = int(frame.isna().to_numpy().sum())
    if n_missing:
        notes.append(
            f"filled in {n_missing} missing values: numbers by the median of their column over all "
            "training rows of all folds together, texts by a level of their own"
        )
    frame = _without_constant_columns(frame, notes)
    if is_text(values):
        check_number_marks(target, values.astype(str))
    if task is None:
        task = _guess_task(values, target, notes)
    target_values = _target_values(values, target, task)
    doubts += find_doubts(frame)
    notes += describe_kinds(frame) + doubts
    kept = frame.index.to_numpy()
    return Table(
        frame.reset_index(drop=True),
        target_values,
        groups,
        task,
        target,
        tuple(notes),
        tuple(doubts),
        row_names[kept],
        None if held_out is None else _check_held_out(held_out[kept], hold_out),
        plan,
    )


def _check_all(frame, impute):
    """Raise where values are missing or texts cannot be used, with all problems in one message."""
    problems = []
    for check in (lambda: check_missing(frame, impute, GAP_ADVICE), lambda: check_texts(frame)):
        try:
            check()
        except TableError as problem:
            problems.append(str(problem))
    if problems:
        raise TableError(" ".join(problems))


def _pop_held_out(frame, target, group, hold_out):
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
    if name in (target, group):
        role = "target" if name == target else "group"
        raise TableError(f"{name!r} is the {role}; it cannot say which rows to hold out as well.")
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
            f"left out column {name}, which seems to split the rows into training and test: to "
            f"judge on the latter alone, use --hold-out {name}={value}"
        )
    if len(splits) == frame.shape[1]:
        raise TableError("There is no column left beside the target and the split of the rows.")
    return frame.drop(columns=list(splits))


def make_features(frame, *, drop=(), ids=(), drop_missing=False, impute=None, dates=()):
    """Choose the features of a table without a target, and note what was left out.

    Parameters
    ----------
    frame : DataFrame
    drop, ids, drop_missing, impute, dates : see :func:`make_table`

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
    table = make_table(
        numbered, number, drop=drop, ids=ids, task="regression", drop_missing=drop_missing,
        impute=impute, dates=dates,
    )  # fmt: skip
    return table.features, table.target.astype(int), table.notes


def _as_names(names):
    """Return names of columns as texts, which data frames of numbered columns need not have."""
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _check_request(frame, target, drop, ids, group, drop_missing, impute):
    """Raise where a name is not a column, or where two requests contradict each other."""
    first = frame.iloc[:, 0] if frame.shape[1] else []
    if target not in frame.columns and target in as_texts(first):
        raise TableError(
            f"There is no column {target!r}, but the first column holds it: the table seems to "
            "have its variables in rows. Use --transpose to exchange rows and columns."
        )
    for name in [target, *drop, *ids, *([] if group is None else [group])]:
        check_column(name, frame.columns)
    if impute is not None and drop_missing:
        raise TableError(
            "Give --impute or --drop-missing, not both: one fills missing values in, the other "
            "leaves their rows out."
        )
    if target in (*drop, *ids, group):
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
        counts = listing(f"{name} ({count})" for name, count in gaps[gaps > 0].items())
        raise TableError(
            f"Every row has a missing value, most of them in {counts}. Leave these columns out "
            "with --drop, or use --impute median instead of --drop-missing."
        )
    if not complete.all():
        notes.append(f"left out {int((~complete).sum())} of {len(frame)} rows with missing values")
    return frame[complete]


def _pop_groups(frame, group):
    """Take the groups out of the frame and return them as texts."""
    labels = frame.pop(group)
    n_missing = int(labels.isna().sum())
    if n_missing:
        raise TableError(
            f"The group {group} is missing in {n_missing} rows. Fill it in, with a name of its own "
            "for a row that belongs to no group, or use --drop-missing to leave these rows out."
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
    """Return the task that the target suggests: texts and few whole numbers are classes."""
    n_distinct = values.nunique()
    if is_text(values):
        classes = True
    else:
        whole = values.dtype.kind == "b" or bool((values.astype(float) % 1 == 0).all())
        classes = whole and n_distinct <= MOST_CLASSES
    kind = f"{n_distinct} classes" if classes else "a number"
    notes.append(f"took the target {name} for {kind} (--task says otherwise)")
    return "classification" if classes else "regression"


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
        raise TableError(
            f"The target {name} has {n_distinct} different values in {len(values)} rows, too many "
            "classes. Is it a number (--task regression) or an identifier?"
        )
    return values.astype(str).to_numpy(dtype=str) if is_text(values) else values.to_numpy()
