"""What is asked of the columns of a table: their names, and which roles go together."""

import difflib
from collections.abc import Container, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from kernelknife.app.messages import Hint
from kernelknife.app.options import TableOptions
from kernelknife.app.tables.columns import TableError, as_texts, listing

__all__ = ["check_column", "check_request", "with_names", "without_commas"]

MANY_COLUMNS = 12  # more names than this do not fit into a message
MOST_SUGGESTED = 3  # suggestions for a name that is not there
LEAST_SIMILARITY = 0.6  # the default of difflib: a slip or two in a word
# Options that take any number of columns.
MANY = ("drop", "ids", "levels", "log", "always_keep", "adjust_for")
# Options that take one column, and what it is then called.
ONE = {
    "target": "the target",
    "event": "the event",
    "exposure": "the exposure",
    "group": "the group",
    "order": "the order of the rows",
}


def without_commas(
    names: Iterable[str], columns: Iterable[str], taken: Container[str] = ()
) -> list[str]:
    """Return names with ``sex,batch`` taken apart and ``x*`` replaced by what it stands for.

    A column that is called so is that column. What stands for no column is left as it is.

    Parameters
    ----------
    names, columns : iterable of str
    taken : container of str
        Columns with another role, for which no pattern stands.
    """
    columns = list(columns)
    known, found = set(columns), []
    for name in names:
        for part in [name] if name in known else [part.strip() for part in name.split(",")]:
            pattern = part not in known and set("*?") & set(part)
            meant = [c for c in columns if pattern and fnmatchcase(c, part) and c not in taken]
            found += meant or [part]
    return list(dict.fromkeys(filter(None, found)))


def with_names(frame: Any, options: TableOptions) -> TableOptions:
    """Return options of a table with the names of columns that it has.

    Parameters
    ----------
    frame : DataFrame
    options : TableOptions
    """
    taken = {getattr(options, name) for name in ONE}
    found: dict[str, Any] = {}
    for name in MANY:
        found[name] = without_commas(getattr(options, name), frame.columns, taken)
        if name in ("drop", "ids"):
            taken.update(found[name])
    return replace(options, **found)


def check_request(frame: Any, options: TableOptions) -> None:
    """Raise where a name is not a column, or where two requests contradict each other.

    Parameters
    ----------
    frame : DataFrame
    options : TableOptions
    """
    target = options.target
    first = frame.iloc[:, 0] if frame.shape[1] else []
    if target not in frame.columns and target in as_texts(first):
        raise TableError(
            f"There is no column {target!r}, but the first column holds it: the table seems to "
            "have its variables in rows.",
            Hint("exchange rows and columns with {}", {"transpose": True}, "read_table"),
        )
    _check_one_target(target, list(frame.columns))
    single = [getattr(options, name) for name in ONE]
    several = [name for many in MANY for name in getattr(options, many)]
    for name in [*filter(None, single), *several]:
        check_column(name, frame.columns)
    _check_roles(options)
    _check_pairs(options)


def _check_one_target(target: str, columns: list[str]) -> None:
    """Raise where several targets are asked for at once."""
    parts = [part.strip() for part in target.split(",")]
    if target not in columns and len(parts) > 1 and all(part in columns for part in parts):
        raise TableError(
            f"A selection has one target, got {listing(parts)}: select for each on its own.",
            Hint("leave the others out with {}", {"drop": parts[1:]}),
        )


def _check_pairs(options: TableOptions) -> None:
    """Raise where two options, of whatever columns, contradict each other."""
    if options.impute is not None and options.drop_missing:
        raise TableError(
            "Missing values can be filled in or their rows left out, not both.",
            Hint("use {} alone", {"impute": options.impute}),
            Hint("use {} alone", {"drop_missing": True}),
        )
    if options.event is not None and options.task is not None:
        raise TableError(
            "A target with an event is a time until it, and no other task.",
            Hint("leave out the task"),
        )
    if options.event is not None and options.exposure is not None:
        raise TableError(
            "An exposure belongs to counts, and a target with an event is a time.",
            Hint("leave out the exposure"),
            Hint("leave out the event"),
        )
    if options.order is not None and options.group is not None:
        raise TableError(
            "Rows belong together by their group or by the time, not by both.",
            Hint("use {} alone", {"group": options.group}),
            Hint("use {} alone", {"order": options.order}),
        )
    if options.forward and options.order is None:
        raise TableError(
            "Folds that go forward need the time of the rows.",
            Hint("name its column, such as with {}", {"order": "date"}),
        )


def _check_roles(options: TableOptions) -> None:
    """Raise where a column has two roles that exclude each other."""
    roles: dict[str, str] = {}
    for one, words in ONE.items():
        name = getattr(options, one)
        if name is None:
            continue
        if name in roles:
            raise TableError(
                f"{name!r} is {roles[name]}; it cannot be {words} as well.",
                Hint(f"name another column as {words}"),
            )
        roles[name] = words
    left_out = dict.fromkeys((*options.drop, *options.ids), "left out")
    for name in left_out:
        # An identifier may be the group: it is left out of the columns in any case.
        if name in roles and roles[name] not in ("the group", "the order of the rows"):
            raise TableError(f"{name!r} is {roles[name]}; it cannot be left out as well.")
    _refuse_second(options.levels, left_out | roles, "have levels")
    _refuse_second(options.log, left_out | roles, "be replaced by its logarithm")
    _refuse_second(options.log, dict.fromkeys(options.levels, "a column of levels"), "have a log")
    _refuse_second(options.always_keep, left_out | roles, "be kept")
    kept = dict.fromkeys(options.always_keep, "kept")
    _refuse_second(options.adjust_for, left_out | roles | kept, "be adjusted for")


def _refuse_second(names: Iterable[str], roles: dict[str, str], what: str) -> None:
    """Raise where one of some columns has a role that excludes another."""
    both = [name for name in names if name in roles]
    if both:
        raise TableError(
            f"{both[0]!r} is {roles[both[0]]}; it cannot {what} as well: ask for one of the two."
        )


def check_column(name: str, columns: Iterable[str]) -> None:
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
