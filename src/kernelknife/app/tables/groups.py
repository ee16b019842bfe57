"""Groups of columns that share a weight, from a file or a dict: pathways, sensors, instruments."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kernelknife.app.messages import Hint
from kernelknife.app.tables.columns import TableError, as_texts, listing
from kernelknife.app.tables.reading import read_table

__all__ = ["find_column_groups"]

GENE_SETS = ".gmt"
HEAD = "column,group"


def find_column_groups(
    given: Any, columns: Iterable[str], alone: Iterable[str], notes: list[str]
) -> dict[str, list[str]]:
    """Return the columns of every group, none where no groups are given.

    Parameters
    ----------
    given : path, dict or None
        A CSV file (or another table) of columns and their groups, gene sets (.gmt), or a dict from
        groups to columns.
    columns : iterable of str
        Those of the table to choose from.
    alone : iterable of str
        Columns with a role that a group cannot have.
    notes : list of str
        Takes what the groups name and the table does not have.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        where, members = "The groups", {str(k): _names(k, v) for k, v in given.items()}
    elif isinstance(given, str | Path):
        where = str(given)
        members = _gene_sets(where) if where.lower().endswith(GENE_SETS) else _pairs(where, columns)
    else:
        raise TableError(
            f"Groups of columns are a dict from their names to columns, or a file, got {given!r}."
        )
    there, apart = set(columns), set(alone)
    named = {name for one in members.values() for name in one}
    groups = {k: [name for name in dict.fromkeys(v) if name in there] for k, v in members.items()}
    groups = {name: mine for name, mine in groups.items() if mine}
    if not groups:
        raise TableError(
            f"{where} names no column of the table (but {listing(sorted(named))}): the names of "
            "columns must be those of the table's first line."
        )
    unknown = sorted(named - there)
    if unknown:
        kind = "column that is" if len(unknown) == 1 else "columns that are"
        notes.append(
            f"the groups name {len(unknown)} {kind} not among those to choose from: "
            f"{listing(unknown)}"
        )
    _check(groups, there, apart)
    alone_left = len(there) - sum(map(len, groups.values()))
    notes.append(
        f"{len(groups)} {'group' if len(groups) == 1 else 'groups'} of columns with one weight "
        f"each, and {alone_left} {'column' if alone_left == 1 else 'columns'} alone"
    )
    return groups


def _names(group: Any, members: Any) -> list[str]:
    """Return the members of a group in a dict as texts."""
    return [members] if isinstance(members, str) else [str(name) for name in members]


def _check(groups: dict[str, list[str]], there: set[str], apart: set[str]) -> None:
    """Raise where groups overlap, or where a group cannot have its name or one of its columns."""
    owner: dict[str, str] = {}
    twice: dict[str, str] = {}
    for group, members in groups.items():
        twice |= {name: group for name in members if name in owner}
        owner |= dict.fromkeys(members, group)
        if group in there and group not in members:
            raise TableError(
                f"The group {group} has the name of a column that is not in it.",
                Hint("give the group another name"),
            )
    if twice:
        name, second = next(iter(twice.items()))
        first = next(group for group, members in groups.items() if name in members)
        others = f" {len(twice)} columns are in several groups." if len(twice) > 1 else ""
        raise TableError(
            f"Column {name} is in the groups {first} and {second}, and a column has one weight."
            f"{others}",
            Hint("keep every column in one group"),
            Hint("choose groups that do not overlap"),
        )
    both = [name for name in owner if name in apart]
    if both:
        raise TableError(
            f"Column {both[0]} is kept or adjusted for on its own, and is in the group "
            f"{owner[both[0]]}, which is selected as a whole.",
            Hint("take the column out of the group"),
        )


def _pairs(path: str, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the groups of a table whose first columns are a column and its group."""
    if path in set(columns):
        raise TableError(
            f"{path} is a column, and groups of columns come from a file of {HEAD}.",
            Hint("use {} if it marks rows that belong together", {"group": path}),
        )
    frame = read_table(path)
    names = {str(name).strip().casefold(): name for name in frame.columns}
    if not {"column", "group"} <= set(names):
        raise TableError(
            f"{path} must have the columns column and group, got {listing(frame.columns)}.",
            Hint(f"begin the file with the line {HEAD}"),
        )
    members: dict[str, list[str]] = {}
    pairs = zip(as_texts(frame[names["column"]]), as_texts(frame[names["group"]]), strict=True)
    for column, group in pairs:
        if column and group:
            members.setdefault(group, []).append(column)
    return members


def _gene_sets(path: str) -> dict[str, list[str]]:
    """Return the sets of a GMT file: a name, a description and the members, separated by tabs."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read as text: {error}.") from None
    members = {}
    for number, line in enumerate(lines, start=1):
        parts = [part.strip() for part in line.split("\t")]
        if not any(parts):
            continue
        if len(parts) < 3:
            raise TableError(
                f"{path}, line {number}: a gene set is a name, a description and its genes, "
                "separated by tabs."
            )
        members[parts[0]] = [part for part in parts[2:] if part]
    return members
