"""From a user's columns to the standardised problem, and back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["Columns", "Targets", "check_costs", "check_finite", "check_groups", "prepare_columns"]


def check_finite(X, names):
    """Raise a ValueError that names the columns with NaN or infinity."""
    # One sum finds trouble without a temporary; overflow of finite values is sorted out below.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    columns = np.flatnonzero(bad.any(axis=0))
    kinds = " and ".join(
        kind
        for kind, found in (("NaN", np.isnan(X).any()), ("infinity", np.isinf(X).any()))
        if found
    )
    shown = ", ".join(str(j) if names is None else repr(str(names[j])) for j in columns[:5])
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    raise ValueError(
        f"Input X contains {kinds} in column{'s' if len(columns) > 1 else ''} {shown}{more} "
        f"({int(bad.sum())} values). Drop or impute them first, for example with "
        "sklearn.impute.SimpleImputer."
    )


@dataclass(frozen=True)
class Columns:
    """What is done to the columns of X: the constant ones dropped, the rest standardised.

    Attributes
    ----------
    varying : ndarray of int
        Indices of the columns that are not constant.
    center, scale : ndarray, one per varying column
    """

    varying: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    def transform(self, X):
        """Return the varying columns, standardised."""
        return (X[:, self.varying] - self.center) / self.scale


def prepare_columns(X, sample_weight, *, standardize, center):
    """Find the constant columns, and centre and scale of the others.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    sample_weight : ndarray of shape (n,)
    standardize : bool
        Centre and scale; otherwise only centre, if ``center`` says so.
    center : bool
        Whether the kernel does not notice a shift, so that centring is free accuracy.

    Returns
    -------
    Columns
    """
    share = sample_weight / sample_weight.sum()
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    mean = share @ scaled
    deviation = np.sqrt(share @ (scaled - mean) ** 2)
    # A constant column still has a deviation of the order of its rounding errors.
    varying = np.flatnonzero(deviation > 10.0 * np.finfo(float).eps * np.sqrt(len(X)))
    if not len(varying):
        raise ValueError(
            f"All {X.shape[1]} column(s) of X are constant: there is nothing to select from."
        )
    if not standardize and largest.max() > 1e50:
        raise ValueError(
            f"X has values up to {largest.max():.1e}, which overflow inside a kernel: leave "
            "standardize=True, or rescale the columns first."
        )
    unit, mean, deviation = unit[varying], mean[varying], deviation[varying]
    if standardize:
        return Columns(varying, mean * unit, np.maximum(deviation * unit, np.finfo(float).tiny))
    center_at = mean * unit if center else np.zeros(len(varying))
    return Columns(varying, center_at, np.ones(len(varying)))


@dataclass(frozen=True)
class Targets:
    """Targets as the problem sees them, and how to undo it for regression."""

    Y: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    @staticmethod
    def from_values(y, sample_weight, standardize, robust=False):
        """Prepare regression targets of shape (n, k).

        ``robust`` standardises by median and median absolute deviation, so that outliers do
        not set the scale on which a robust loss calls them outliers.
        """
        share = sample_weight / sample_weight.sum()
        largest = np.maximum(np.abs(y).max(axis=0), np.finfo(float).tiny)
        scaled = y / largest
        mean = share @ scaled
        deviation = np.sqrt(share @ (scaled - mean) ** 2)
        constant = np.flatnonzero(deviation <= 10.0 * np.finfo(float).eps * np.sqrt(len(y)))
        if len(constant):
            which = "" if y.shape[1] == 1 else f" in output column {constant[0]}"
            raise ValueError(
                f"The target y is constant{which} (all values are {y[0, constant[0]]:g}): no "
                "feature can explain it. Check that the right column was given as y."
            )
        if robust:
            middle = _weighted_median(scaled, sample_weight)
            spread = 1.4826 * _weighted_median(np.abs(scaled - middle), sample_weight)
            # Where half of the values are equal the deviation from them is zero.
            mean, deviation = middle, np.where(spread > 0, spread, deviation)
        if not standardize:
            if largest.max() > 1e50:
                raise ValueError(
                    f"y has values up to {largest.max():.1e}, which overflow inside the loss: "
                    "leave standardize=True, or rescale y first."
                )
            return Targets(y, np.zeros(y.shape[1]), np.ones(y.shape[1]))
        return Targets((scaled - mean) / deviation, mean * largest, deviation * largest)

    @staticmethod
    def from_classes(codes, n_classes):
        """Prepare class codes: one column of -1 and +1 for two classes, else one per class."""
        if n_classes == 2:
            Y = np.where(codes == 1, 1.0, -1.0)[:, None]
        else:
            Y = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
        return Targets(Y, np.zeros(Y.shape[1]), np.ones(Y.shape[1]))


def _weighted_median(values, sample_weight):
    """Return the median of each column, a row of weight 2 counting twice."""
    order = np.argsort(values, axis=0)
    total = np.cumsum(sample_weight[order], axis=0)
    half = 0.5 * total[-1]
    low = np.argmax(total >= half, axis=0)
    high = np.argmax(total > half, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    columns = np.arange(values.shape[1])
    return 0.5 * (ranked[low, columns] + ranked[high, columns])


def check_groups(feature_groups, n_features, names):
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


def _labels_from_mapping(groups, n_features, names):
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


def check_costs(feature_costs, n_features):
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
