"""Choosing the target, the features and the groups of rows among the columns of a data frame."""

from collections.abc import Container
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from kernelknife._utils.checks import as_frame
from kernelknife._utils.messages import import_optional, number
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
    check_infinite,
    check_names,
    check_positive,
    is_ordered,
    is_text,
    leave_out,
    listing,
    plain_numbers,
    reading_notes,
)
from kernelknife.app.tables.dates import expand_dates, plan_dates, row_order
from kernelknife.app.tables.groups import find_column_groups
from kernelknife.app.tables.requests import check_column, check_request, with_names
from kernelknife.app.tables.target import (
    exposure_values,
    guess_task,
    target_values,
    times_and_events,
)

__all__ = ["Table", "as_pandas", "group_labels", "make_features", "make_table"]

MOST_SUGGESTED = 3  # columns to leave out
LARGEST_EXACT = 2.0**53  # floats represent every smaller whole number exactly


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
    task : {"regression", "classification", "survival"}
        The target of survival times is what :class:`kernelknife.KnifeSurvival` takes.
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
    kept, adjusted : tuple of str
        Features that are never dropped, and those that are adjusted for.
    logs : tuple of str
        Features whose logarithm is used.
    column_groups : dict of list of str
        Features that share a weight, by the name of their group.
    exposure : ndarray or None
        What the counts of the target are proportional to, and ``exposure_name`` its column.
    order : str or None
        The column by which the rows are sorted, from the earliest on.
    """

    features: Any  # a pandas data frame; pandas is not a core dependency
    target: np.ndarray
    groups: np.ndarray | None
    task: str
    target_name: str
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    row_names: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=object))
    held_out: np.ndarray | None = None
    dates: dict = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    adjusted: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    column_groups: dict = field(default_factory=dict)
    exposure: np.ndarray | None = None
    exposure_name: str | None = None
    order: str | None = None

    @property
    def n_candidates(self) -> int:
        """Number of columns to choose from; those of a group are one."""
        shared = sum(len(members) - 1 for members in self.column_groups.values())
        return self.features.shape[1] - len(self.adjusted) - shared

    def in_words(self, count: int) -> str:
        """Return a number of columns to choose from, or of groups and columns, in words.

        Parameters
        ----------
        count : int
        """
        if self.column_groups:
            return f"{count} groups and columns" if count > 1 else "1 group"
        return f"{count} {'column' if count == 1 else 'columns'}"


def make_table(frame, options: TableOptions, offered: Container[str] | None = None) -> Table:
    """Choose the target, the features and the groups, and note what was guessed.

    Parameters
    ----------
    frame : DataFrame
    options : TableOptions
        A share of the rows to hold out is drawn later; here only a column can mark them.
    offered : container of str, default=None
        Names of the options that the caller's function has, those of ``options`` where None is
        given; no message names others.
    """
    offered = {one.name for one in fields(options)} if offered is None else offered
    try:
        table = _make_table(frame, options)
    except TableError as error:
        raise error.offering(offered) from None
    notes = tuple(offering(note, offered) for note in table.notes)
    return replace(table, notes=notes, doubts=tuple(offering(n, offered) for n in table.doubts))


def _make_table(frame, options):
    frame, collected = as_pandas(frame)
    notes = collected + _check_frame(frame)
    frame = frame.rename(columns=str)
    options = with_names(frame, options)
    check_request(frame, options)
    row_names = _row_names(frame, options.ids)
    marked = options.hold_out if isinstance(options.hold_out, str) else None
    frame, held_out = _pop_held_out(frame, options, marked)
    unused = {*options.drop, *options.ids} - {options.group, options.order}
    frame = frame.drop(columns=list(unused), errors="ignore")
    # The rows that are left keep their number, by which they find their names and their split.
    frame.index = range(len(frame))
    frame = _with_target(frame, options.target, notes)
    if options.order is not None:
        frame = frame.iloc[row_order(frame.pop(options.order), options.order)]
    frame, plan = _expand_dates(frame, options)
    roles = [one for one in (options.group, options.exposure) if one is not None]
    frame = _without_empty_columns(frame, roles, notes)
    if options.drop_missing:
        frame = _without_incomplete_rows(frame, notes)
    groups = None if options.group is None else group_labels(frame, options.group)
    exposure = None
    if options.exposure is not None:
        exposure = exposure_values(frame.pop(options.exposure), options.exposure)
    frame, target, task, about_target, doubts = _split_target(frame, options, notes)
    doubts += find_doubts(frame)
    notes += about_target + describe_kinds(frame) + _roles_in_words(frame, options) + doubts
    rows = frame.index.to_numpy()
    return Table(
        frame.reset_index(drop=True),
        target,
        groups,
        task,
        options.target,
        **_roles(frame, options, notes),
        notes=tuple(notes),
        doubts=tuple(doubts),
        row_names=row_names[rows],
        held_out=None if held_out is None else _check_held_out(held_out[rows], marked),
        dates=plan,
        exposure=exposure,
        exposure_name=options.exposure,
        order=options.order,
    )


def _split_target(frame, options, notes):
    """Return the features, the target, its task, notes on it, and doubts about the features."""
    values = frame.pop(options.target)
    if options.event is not None and options.event not in frame:
        raise TableError(f"The event {options.event} has no value in any row: name another column.")
    events = None if options.event is None else frame.pop(options.event)
    doubts: list[str] = []
    frame = frame.drop(columns=[options.group] if options.group is not None else [])
    frame = _usable_columns(frame, options, notes, doubts)
    if is_ordered(values.dtype):
        values = values.astype(object)
    if is_text(values):
        check_number_marks(options.target, values.astype(str))
    said: list[str] = []
    if events is None:
        task = options.task or guess_task(values, options, said)
        return frame, target_values(values, options.target, task), task, said, doubts
    # Rows may have been left out for other columns' gaps.
    target = times_and_events(values, events, options, said)
    return frame, target, "survival", said, doubts


def _roles(frame, options, notes):
    """Return which features are kept, adjusted for, logarithms, or in a group."""
    kept, adjusted, logs = (
        tuple(name for name in names if name in frame.columns)
        for names in (options.always_keep, options.adjust_for, options.log)
    )
    free = [name for name in frame.columns if name not in adjusted]
    given = getattr(options, "feature_groups", None)
    groups = find_column_groups(given, free, (*kept, *adjusted), notes)
    return {"kept": kept, "adjusted": adjusted, "logs": logs, "column_groups": groups}


def as_pandas(frame):
    """Return a table of any library as a data frame of pandas, and a note where it was collected.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, LazyFrame, pyarrow table or DuckDB relation
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "A table")
    if isinstance(frame, pandas.DataFrame):
        return frame, []
    kind, read = type(frame).__name__, as_frame(frame)
    # polars has categories and dates of its own, and pyarrow knows what pandas calls them.
    read = read.to_pandas() if hasattr(read, "to_pandas") else read
    if not isinstance(read, pandas.DataFrame):
        raise TypeError(
            "frame must be a data frame of pandas or polars, a pyarrow table or a DuckDB relation, "
            f"got {kind}. For a file use kernelknife.app.tables.read_table(path), and for an array "
            "pandas.DataFrame(array, columns=names)."
        )
    size = number(int(read.memory_usage(deep=False).sum()) / 2**20)
    shape = f"{len(read)} rows and {read.shape[1]} columns"
    return read, [f"took {shape} of a {kind}, {size} MiB"]


def _check_frame(frame):
    """Raise where something has a name twice; return the notes on reading."""
    check_names(frame.columns, "The table")
    return reading_notes(frame)


def _roles_in_words(frame, options):
    """Return which columns are kept or adjusted for; one that has been left out is neither."""
    if not set(frame.columns) - set(options.adjust_for):
        raise TableError("All columns are adjusted for: there is nothing to choose from.")
    notes = []
    for words, names in (
        ("always kept", options.always_keep),
        ("adjusted for", options.adjust_for),
        ("by its logarithm", options.log),
    ):
        used = [name for name in names if name in frame.columns]
        if used:
            notes.append(f"{words}: {listing(used)}")
    return notes


def _expand_dates(frame, options):
    """Return the frame with numbers in place of dates, and the plan of what became of them."""
    if not options.dates:
        return frame, {}
    named = (options.target, options.group, options.event, options.exposure)
    others = [name for name in named if name is not None]
    plan = plan_dates(frame.drop(columns=others), options.dates)
    return expand_dates(frame, plan), plan


def _usable_columns(frame, options, notes, doubts):
    """Return the features: checked, and without those that split the rows or are constant."""
    if not frame.shape[1]:
        raise TableError(
            f"There is no column left to choose from beside the target {options.target}.",
            Hint("leave out fewer columns"),
            Hint("name another file"),
        )
    frame = _without_split_columns(frame, doubts)
    frame = _with_levels(frame, options.levels)
    _check_all(frame, options.levels)
    check_positive(frame, options.log)
    notes += _gaps_in_words(frame, options.impute)
    return _without_constant_columns(frame, notes)


def _gaps_in_words(frame, impute):
    """Return what becomes of missing values, nothing where there are none."""
    gaps = frame.isna().sum()
    gaps = gaps[gaps > 0].sort_values(ascending=False, kind="stable")
    if not len(gaps):
        return []
    if impute is not None:
        return [
            f"filled in {int(gaps.sum())} missing values: numbers by the median of their column "
            "over all training rows of all folds together, texts by a level of their own"
        ]
    counts = listing(f"{name} ({count})" for name, count in gaps.items())
    return [
        f"values are missing in {counts}: a gap in a column is used as it is, as something that "
        "the column can say"
    ]


def _with_levels(frame, levels):
    """Return the frame with texts in the columns whose values the user says to be levels."""
    chosen = [name for name in levels if name in frame.columns]  # others are left out for a reason
    texts = {}
    for name in chosen:
        gap = frame[name].isna()
        texts[name] = frame[name].astype(object).where(gap, as_texts(frame[name]))
    return frame.assign(**texts)


def _check_all(frame, levels):
    """Raise where values are infinite or texts cannot be used, with all problems in one message."""
    problems = []
    for check in (check_infinite, partial(check_texts, levels=levels)):
        try:
            check(frame)
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


def _without_empty_columns(frame, roles, notes):
    """Return the columns with at least one value; the others can neither be filled nor used."""
    empty = [name for name, gone in frame.isna().all().items() if gone and name not in roles]
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
            Hint("keep the rows with their gaps: do not use {}", {"drop_missing": True}),
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
    plain, numbers = plain_numbers(frame)
    same = (numbers == numbers[:1]) | (np.isnan(numbers) & np.isnan(numbers[:1]))
    alike = set(frame.columns[plain][same.all(axis=0)])
    others = frame.loc[:, ~plain].nunique(dropna=False)
    constant = [name for name in frame.columns if name in alike or others.get(name, 2) < 2]
    if len(constant) == frame.shape[1]:
        raise TableError("All columns are constant: there is nothing to choose from.")
    if constant:
        notes.append(f"left out constant columns: {listing(constant)}")
    return frame.drop(columns=constant)
