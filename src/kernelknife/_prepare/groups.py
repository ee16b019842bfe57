"""A user's groups of columns and costs of columns, checked and turned into numbers per column."""

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["check_costs", "check_groups"]


def check_groups(feature_groups: Any, n_features: int, names: Any) -> np.ndarray:
    """Return the group index of every column, numbered in order of appearance.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or dict
        A label per column, or a mapping from group names to lists of columns (indices, or
        names for a data frame); columns not mentioned stay on their own.
    n_features : int
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


def _labels_from_mapping(groups: Mapping, n_features: int, names: Any) -> list:
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
