"""Tables without a target as numbers: one on its own, or two with the rows that both have."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife.app.messages import Hint
from kernelknife.app.options import ColumnOptions, ExploreOptions, RelateOptions
from kernelknife.app.tables.columns import TableError, is_text, listing
from kernelknife.app.tables.dates import has_dates
from kernelknife.app.tables.encoding import TableEncoder
from kernelknife.app.tables.making import as_pandas, group_labels, make_features
from kernelknife.app.tables.requests import check_column, without_commas

__all__ = ["Features", "PairedFeatures", "read_features", "read_pair"]

FEWEST_ROWS = 10  # fewer rows show nothing but themselves


@dataclass(frozen=True)
class Features:
    """The features of one table.

    Attributes
    ----------
    encoder : TableEncoder
    X : ndarray
        What it makes of the features.
    groups : ndarray or None
        Rows of one group belong together.
    color : ndarray or None
        Values of the column that colors a picture.
    identifiers : DataFrame
        The columns that name the rows.
    notes : tuple of str
        What was guessed or left out.
    """

    encoder: TableEncoder
    X: np.ndarray
    groups: np.ndarray | None
    color: np.ndarray | None
    identifiers: Any
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PairedFeatures:
    """The features of two tables, of the rows that both have.

    Attributes
    ----------
    encoders : pair of TableEncoder
    tables : pair of ndarray
        What they make of the features.
    groups : ndarray or None
        Rows of one group belong together.
    notes : tuple of str
        What was guessed or left out.
    """

    encoders: tuple[TableEncoder, TableEncoder]
    tables: tuple[np.ndarray, np.ndarray]
    groups: np.ndarray | None
    notes: tuple[str, ...]


def read_features(frame: Any, options: ExploreOptions) -> Features:
    """Return the features of a table, without the columns of its groups and of its colors."""
    frame, _ = as_pandas(frame)
    named = frame.rename(columns=str)
    left_out: ColumnOptions = options
    roles = [name for name in (options.color, options.group) if name is not None]
    for name in roles:
        check_column(name, list(named.columns))
    if roles:
        left_out = replace(options, drop=(*options.drop, *roles))
    features, rows, notes = make_features(frame, left_out)
    _check_rows(len(rows))
    if features.shape[1] < 2:
        raise TableError(
            f"Only one column is left to explore ({features.columns[0]}), which has no other to "
            "share a component with."
        )
    encoder = _encoder(features, options)
    X = encoder.fit_transform(features)
    groups = None if options.group is None else group_labels(named, options.group)[rows]
    color = None if options.color is None else named[options.color].to_numpy()[rows]
    names = named[without_commas(options.ids, named.columns, roles)].iloc[rows]
    return Features(encoder, X, groups, color, names.reset_index(drop=True), notes)


def read_pair(left: Any, right: Any, options: RelateOptions) -> PairedFeatures:
    """Return the features of two tables, of the rows that are complete in both."""
    (left, _), (right, _) = as_pandas(left), as_pandas(right)
    left, right, notes = _aligned(left.rename(columns=str), right.rename(columns=str), options.on)
    groups, group = None, options.group
    if group is not None:
        check_column(group, left.columns)
        groups = group_labels(left, group)
        left, right = left.drop(columns=group), right.drop(columns=group, errors="ignore")
    (first, first_rows, about_first), (second, second_rows, about_second) = _read_both(
        (left, right), options
    )
    # Rows that are incomplete in one table are left out of both.
    kept = np.intersect1d(first_rows, second_rows)
    _check_rows(len(kept))
    shared = _shared_columns(first, second)
    encoders = _encoder(first, options), _encoder(second, options)
    return PairedFeatures(
        encoders,
        (
            encoders[0].fit_transform(first)[np.isin(first_rows, kept)],
            encoders[1].fit_transform(second)[np.isin(second_rows, kept)],
        ),
        None if groups is None else groups[kept],
        tuple(dict.fromkeys([*notes, *shared, *about_first, *about_second])),
    )


def _encoder(features: Any, options: ColumnOptions) -> TableEncoder:
    """Return an encoder that takes the logarithms which were asked for."""
    logs = without_commas(options.log, features.columns)
    return TableEncoder(options.impute, tuple(name for name in logs if name in features.columns))


def _aligned(left: Any, right: Any, on: str | None) -> tuple[Any, Any, tuple[str, ...]]:
    """Return both frames with the same rows in the same order, and what was left out."""
    if on is None:
        if len(left) != len(right):
            shared = [name for name in left.columns if name in right.columns]
            raise TableError(
                f"The first table has {len(left)} rows and the second {len(right)}: they must "
                "describe the same rows in the same order.",
                *(Hint("join them by a column, such as {}", {"on": name}) for name in shared[:1]),
            )
        return left.reset_index(drop=True), right.reset_index(drop=True), ()
    for frame in (left, right):
        check_column(on, frame.columns)
    if is_text(left[on]) != is_text(right[on]):
        # A text file and a table of numbers hold the same key as "7" and as 7.
        keys = (frame[on].map(str, na_action="ignore") for frame in (left, right))
        left, right = left.assign(**{on: next(keys)}), right.assign(**{on: next(keys)})
    unnamed = int(left[on].isna().sum() + right[on].isna().sum())
    left, right = (frame[frame[on].notna()] for frame in (left, right))
    for place, frame in (("first", left), ("second", right)):
        repeated = frame[on][frame[on].duplicated()]
        if len(repeated):
            raise TableError(
                f"{on} does not name the rows of the {place} table: "
                f"{str(repeated.iloc[0])!r} stands there more than once."
            )
    shared = left[on][left[on].isin(right[on])]
    if not len(shared):
        raise TableError(
            f"The tables share no value of {on}: the first holds {listing(left[on])}, the second "
            f"{listing(right[on])}."
        )
    lost = len(left) + len(right) - 2 * len(shared)
    notes = (f"left out {lost} rows that only one of both tables has",) if lost else ()
    if unnamed:
        notes = (*notes, f"left out {unnamed} rows without a value of {on}")
    left, right = (
        frame.set_index(on).loc[shared].reset_index(drop=True) for frame in (left, right)
    )
    return left, right, notes


def _read_both(frames: tuple[Any, Any], options: RelateOptions) -> list[tuple[Any, Any, Any]]:
    """Return the features of both tables, their rows, and the notes on them."""
    both = [*frames[0].columns, *frames[1].columns]
    wanted = without_commas((*options.drop, *options.ids), both)
    levels, logs = (without_commas(names, both, wanted) for names in (options.levels, options.log))
    for name in (*wanted, *levels, *logs):
        check_column(name, both)
    left_out = [tuple(name for name in wanted if name in frame.columns) for frame in frames]
    dated = [
        has_dates(frame.drop(columns=list(mine)))
        for frame, mine in zip(frames, left_out, strict=True)
    ]
    parts = []
    for frame, mine, has in zip(frames, left_out, dated, strict=True):
        # One table alone may have dates; where neither has, that is refused.
        dates = options.dates if has or not any(dated) else ()
        levels_here, logs_here = (
            tuple(name for name in names if name in frame.columns) for names in (levels, logs)
        )
        own = replace(options, drop=mine, ids=(), dates=dates, levels=levels_here, log=logs_here)
        parts.append(make_features(frame, own))
    return parts


def _shared_columns(left: Any, right: Any) -> list[str]:
    """Return a note on columns with the same values in both tables; the same tables are refused."""
    copies = [name for name in left if name in right and left[name].equals(right[name])]
    if not copies:
        return []
    if len(copies) == left.shape[1] == right.shape[1]:
        raise TableError(
            "Both tables hold the same columns with the same values, so that each goes together "
            "with itself. Give two different tables, or explore one of them on its own."
        )
    return [
        f"{listing(copies)}: the same values in both tables, so that going together says nothing "
        "there; leave them out of one of the tables"
    ]


def _check_rows(n: int) -> None:
    if n < FEWEST_ROWS:
        raise TableError(f"There are {n} rows, fewer than {FEWEST_ROWS}.")
