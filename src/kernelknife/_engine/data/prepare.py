"""The one preparation of a fit, whatever kind of rows it has."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife._engine.data.columns import Columns, measure_columns, rows_to_look_at
from kernelknife._engine.data.grouping import Grouping, check_costs, column_names, find_groups
from kernelknife._engine.data.rows import Rows, Sample
from kernelknife._engine.data.targets import TargetEncoder, measure_targets
from kernelknife.kernels import Kernel
from kernelknife.kernels.basis import Basis
from kernelknife.losses import Loss

__all__ = ["Prepared", "prepare"]

BASIS_ROWS = 2000  # rows that tell the shape of a column's functions


@dataclass(frozen=True)
class Prepared:
    """A fit's data, ready to become a problem, and the way back to the user's units.

    Attributes
    ----------
    rows : Rows
        With encoded targets.
    kernel : Kernel
    loss : Loss
        As the user asked for it; a loss that is not smooth has a ``surrogate``.
    columns : Columns
        The columns that are not constant.
    targets : TargetEncoder
    groups : ndarray of int or None
        Index of the weight of each of the columns ``columns.index``; None gives each its own.
    costs : ndarray or None
        Factor of the penalty of each of these columns; None means ones.
    total_weight : float
        Sum of the sample weights.
    grouping : Grouping or None
        The groups of all columns, constant ones included.
    """

    rows: Rows
    kernel: Kernel
    loss: Loss
    columns: Columns
    targets: TargetEncoder
    groups: np.ndarray | None
    costs: np.ndarray | None
    total_weight: float
    grouping: Grouping | None

    @property
    def n_features(self) -> int:
        """Number of the user's columns, the constant ones included."""
        return self.rows.shape[1]

    @property
    def smooth_loss(self) -> Loss:
        """The loss that the weights are found with."""
        return self.loss.surrogate or self.loss

    @property
    def weight_names(self) -> list[str]:
        """Name of every weight: of a column, or of a group."""
        if self.grouping is None:
            names = column_names(self.rows.names, self.n_features)
            return [str(names[j]) for j in self.columns.index]
        return [self.grouping.names[k] for k in np.unique(self.grouping.labels[self.columns.index])]

    def column_values(self, values: np.ndarray) -> np.ndarray:
        """Return the value of every varying column, given one value per weight."""
        return values if self.groups is None else values[self.groups]

    def user_values(self, values: np.ndarray, constant: float = 0.0) -> np.ndarray:
        """Return the value of every column of the user, given one value per weight."""
        result = np.full(self.n_features, constant, dtype=values.dtype)
        result[self.columns.index] = self.column_values(values)
        return result

    def weight_values(self, values: np.ndarray) -> np.ndarray:
        """Return one value per weight, given that of every column of the user.

        Columns of a group share one weight: it is the mean of theirs.
        """
        values = values[self.columns.index]
        if self.groups is None:
            return values
        return np.bincount(self.groups, values) / np.bincount(self.groups)

    def group_members(self) -> dict[str, list[str]]:
        """Return the names of the columns of every group."""
        names = column_names(self.rows.names, self.n_features)
        members: dict[str, list[str]] = {}
        if self.grouping is not None:
            for name, label in zip(names, self.grouping.labels, strict=True):
                members.setdefault(self.grouping.names[label], []).append(str(name))
        return members


def prepare(
    rows: Rows,
    kernel: Kernel,
    loss: Loss,
    *,
    standardize: bool = True,
    feature_groups: Any = None,
    feature_costs: Any = None,
) -> Prepared:
    """Measure and check rows of any kind.

    Parameters
    ----------
    rows : Rows
        With targets as the user gave them.
    kernel : Kernel
    loss : Loss
    standardize : bool, default=True
    feature_groups, feature_costs : see :class:`kernelknife.KnifeRegressor`
    """
    n, p = rows.shape
    if n < 2:
        raise ValueError(f"Found array with {n} sample(s) while at least 2 are needed.")
    costs = None
    if feature_costs is not None:
        costs = check_costs(feature_costs, p)
    targets = measure_targets(rows, loss.task, standardize=standardize, robust=loss.robust)
    classes = targets.classes
    if classes is not None and len(classes) > 2 and loss.binary_only:
        raise ValueError(
            f"{loss!r} is for two classes, got {len(classes)}: choose another loss, or wrap "
            "the estimator in sklearn.multiclass.OneVsRestClassifier."
        )
    # A basis is learned on standardized columns, whatever the kernel sees otherwise.
    columns, moments = measure_columns(
        rows,
        standardize=standardize or kernel.expands,
        center=kernel.translation_invariant,
    )
    # Columns without a number have been refused by now.
    grouping, groups = find_groups(feature_groups, rows, kernel), None
    if grouping is not None:
        groups = np.unique(grouping.labels[columns.index], return_inverse=True)[1]
        if grouping.alike:
            shared = grouping.costs(kernel)
            costs = shared if costs is None else shared * costs
    if costs is not None:
        costs = costs[columns.index]
    if kernel.expands:
        columns = replace(columns, basis=_measure_basis(rows, columns, kernel, groups))
    return Prepared(
        rows=rows.encoded(targets),
        kernel=kernel,
        loss=loss,
        columns=columns,
        targets=targets,
        groups=groups,
        costs=costs,
        total_weight=moments.total_weight,
        grouping=grouping,
    )


def _measure_basis(
    rows: Rows, columns: Columns, kernel: Kernel, groups: np.ndarray | None
) -> Basis:
    """Return the functions of the columns that the kernel asks for, learned where the rows are."""
    sample = rows.sample(rows_to_look_at(rows, BASIS_ROWS))
    basis = rows.fetch(rows.apply(_basis_of, sample, columns, kernel))
    return basis if groups is None else basis.shared(groups)


def _basis_of(sample: Sample, columns: Columns, kernel: Kernel) -> Basis:
    counted = sample.counted()
    s = np.asarray(sample.s, dtype=float)[counted]
    return kernel.make_basis(columns.take(np.asarray(sample.X)[counted]), s)
