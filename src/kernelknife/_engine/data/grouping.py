"""A user's groups of columns and costs of columns, checked and turned into numbers per column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._engine.data.columns import filled, rows_to_look_at
from kernelknife._engine.data.correlated import CorrelatedGroups
from kernelknife._engine.data.rows import Rows, Sample
from kernelknife.kernels import Kernel

__all__ = [
    "Grouping",
    "check_costs",
    "check_groups",
    "column_names",
    "find_columns",
    "find_groups",
]

CORRELATED = "correlated"


def column_names(names: np.ndarray | None, n_features: int) -> np.ndarray:
    """Return the names of the columns, ``x0``, ``x1`` and so on where they have none."""
    if names is not None:
        return names
    return np.array([f"x{j}" for j in range(n_features)], dtype=object)


def find_columns(wanted: Any, option: str, names: np.ndarray | None, p: int) -> np.ndarray:
    """Return the numbers of columns that are given by names, numbers or a mask, increasing.

    Parameters
    ----------
    wanted : str, int, or array-like of str, int or bool
    option : str
        What the user calls them.
    names : ndarray of str or None
    p : int
    """
    given = np.atleast_1d(np.asarray(wanted))
    if given.ndim != 1 or not len(given):
        raise ValueError(f"{option} must name at least one column, got {wanted!r}.")
    if given.dtype == bool:
        if len(given) != p:
            raise ValueError(f"{option} is a mask of {len(given)} columns, X has {p}.")
        return np.flatnonzero(given)
    if given.dtype.kind in "iu":
        bad = given[(given < -p) | (given >= p)]
        if len(bad):
            raise ValueError(f"{option} asks for column {bad[0]}, X has {p} columns.")
        return np.unique(given % p)
    known = {str(name): j for j, name in enumerate(column_names(names, p))}
    unknown = [str(name) for name in given if str(name) not in known]
    if unknown:
        raise ValueError(
            f"{option} names columns that X does not have: {', '.join(map(repr, unknown[:5]))}."
        )
    return np.unique([known[str(name)] for name in given])


@dataclass(frozen=True)
class Grouping:
    """Groups of columns that share a weight.

    Attributes
    ----------
    labels : ndarray of int of shape (n_features,)
        Group of every column.
    names : tuple of str
        Name of every group.
    alike : bool
        Whether the columns of a group are redundant, so that together they cost what one of them
        would cost alone.
    """

    labels: np.ndarray
    names: tuple[str, ...]
    alike: bool = False

    def costs(self, kernel: Kernel) -> np.ndarray:
        """Return the cost of every column of groups that are alike.

        Of m copies with the weight w the kernel sees m w, or m w**2 where weights enter squared:
        what one column of weight m w, or sqrt(m) w, gives it. A kernel that sees columns through a
        basis has made them smaller by itself, and sees one column of weight w. The costs of the
        copies add up to the penalty of that column.
        """
        size = np.bincount(self.labels)[self.labels].astype(float)
        if kernel.expands:
            return np.asarray(1.0 / size)
        return np.ones(len(size)) if kernel.linear_in_weights else np.asarray(1.0 / np.sqrt(size))


def find_groups(feature_groups: Any, rows: Rows, kernel: Kernel) -> Grouping | None:
    """Return the groups that a user asks for, None where there are none.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,), dict, str, CorrelatedGroups or Grouping
        See :class:`kernelknife.KnifeRegressor`. A grouping that was found before is taken as it is.
    rows : Rows
        Redundant columns are searched for on some of them.
    """
    if feature_groups is None or isinstance(feature_groups, Grouping):
        return feature_groups
    p = rows.shape[1]
    names = column_names(rows.names, p)
    if isinstance(feature_groups, str):
        if feature_groups != CORRELATED:
            raise ValueError(
                f"Unknown feature_groups {feature_groups!r}. The only name is {CORRELATED!r}; or "
                "give a label per column, or a dict from group names to lists of columns."
            )
        feature_groups = CorrelatedGroups()
    if isinstance(feature_groups, CorrelatedGroups):
        index = rows_to_look_at(rows, feature_groups.most_rows)
        labels, medoids = rows.fetch(
            rows.apply(_find_correlated, rows.sample(index), feature_groups, kernel)
        )
        return Grouping(labels, tuple(str(names[j]) for j in medoids), alike=True)
    labels = check_groups(feature_groups, p, rows.names)
    return Grouping(labels, _name_groups(feature_groups, labels, names))


def _find_correlated(
    sample: Sample, groups: CorrelatedGroups, kernel: Kernel
) -> tuple[np.ndarray, np.ndarray]:
    return groups.find(filled(np.asarray(sample.X, dtype=float)[sample.counted()]), kernel)


def _name_groups(feature_groups: Any, labels: np.ndarray, names: np.ndarray) -> tuple[str, ...]:
    """Return the user's name for every group, the column's name for columns on their own."""
    words: dict[int, Any] = {}
    if isinstance(feature_groups, Mapping):
        position = {name: j for j, name in enumerate(names)}
        for group, members in feature_groups.items():
            for member in members:
                words[int(labels[position.get(member, member)])] = group
    else:
        words = {int(label): word for label, word in zip(labels, feature_groups, strict=True)}
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    found = []
    for label, (column, count) in enumerate(zip(first, counts, strict=True)):
        word = words.get(label)
        if not isinstance(word, str):
            word = names[column] if count == 1 else f"group {word}"
        found.append(str(word))
    return tuple(found)


def check_groups(feature_groups: Any, n_features: int, names: np.ndarray | None) -> np.ndarray:
    """Return the group index of every column, numbered in order of appearance.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or dict
        A label per column, or a mapping from group names to lists of columns (indices, or
        names for a data frame); columns not mentioned stay on their own.
    names : ndarray of str or None
    """
    if isinstance(feature_groups, Mapping):
        labels = _labels_from_mapping(feature_groups, n_features, names)
    else:
        if any(isinstance(label, list | tuple | set | np.ndarray) for label in feature_groups):
            raise ValueError(
                "feature_groups must be one label per column, or a dict from group names to "
                "lists of columns; got a list of lists."
            )
        labels = list(feature_groups)
        if len(labels) != n_features:
            raise ValueError(
                f"feature_groups must have one label per column: expected {n_features}, got "
                f"{len(labels)}."
            )
    index: dict[object, int] = {}
    return np.array([index.setdefault(label, len(index)) for label in labels])


def _labels_from_mapping(
    groups: Mapping[Any, Any], n_features: int, names: np.ndarray | None
) -> list[object]:
    if len(groups) > n_features:
        raise ValueError(f"feature_groups names {len(groups)} groups for {n_features} columns.")
    position = {} if names is None else {name: j for j, name in enumerate(names)}
    labels: list[object] = [("column", j) for j in range(n_features)]
    taken: dict[int, object] = {}
    for group, members in groups.items():
        if isinstance(members, str | int | np.integer):
            raise TypeError(
                f"feature_groups must map each group to a list of columns: write "
                f"{{{group!r}: [{members!r}]}}."
            )
        for member in members:
            j = position.get(member, member)
            if not isinstance(j, int | np.integer) or not 0 <= j < n_features:
                raise ValueError(
                    f"feature_groups puts {member!r} into group {group!r}, but X has no such "
                    "column."
                )
            if (column := int(j)) in taken:
                raise ValueError(
                    f"feature_groups puts column {member!r} into both {taken[column]!r} and "
                    f"{group!r}."
                )
            taken[column] = group
            labels[column] = ("group", group)
    return labels


def check_costs(feature_costs: Any, n_features: int) -> np.ndarray:
    """Return the penalty factor of every column."""
    costs = np.asarray(feature_costs, dtype=float)
    if costs.shape != (n_features,):
        raise ValueError(
            f"feature_costs must have one number per column: expected shape ({n_features},), got "
            f"{costs.shape}."
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("feature_costs must be finite and >= 0.")
    return costs
