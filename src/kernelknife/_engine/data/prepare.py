"""The one preparation of a fit, whatever kind of rows it has."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife._engine.data.columns import (
    NAMED_COLUMNS,
    Columns,
    Moments,
    filled,
    measure_columns,
    rows_to_look_at,
)
from kernelknife._engine.data.grouping import (
    Grouping,
    check_costs,
    column_names,
    find_columns,
    find_groups,
)
from kernelknife._engine.data.rows import Block, Rows, Sample, Sums
from kernelknife._engine.data.targets import TargetEncoder, measure_targets
from kernelknife._utils.arrays import to_host
from kernelknife._utils.messages import warn
from kernelknife.kernels import Kernel
from kernelknife.kernels.basis import Basis, Curve
from kernelknife.losses import Loss

__all__ = ["TrainingData", "prepare"]

BASIS_ROWS = 2000  # rows that the functions of a column are learned from
# Where hardly more of these rows than this share differ from one value, all rows are asked for the
# others, and up to so many of them are taken.
RARE, MOST_RARE = 0.05, 500


@dataclass(frozen=True)
class TrainingData:
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
        Without any output where the rows have no target, or none yet.
    groups : ndarray of int or None
        Index of the weight of each of the columns ``columns.index``; None gives each its own.
    costs : ndarray or None
        Factor of the penalty of each of these columns; None means ones.
    total_weight : float
        Sum of the sample weights.
    grouping : Grouping or None
        The groups of all columns, constant ones included.
    adjusted : Columns or None
        Columns with an unpenalized linear part, which the kernel does not see.
    kept : ndarray of bool or None
        Which weights are never zero.
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
    adjusted: Columns | None = None
    kept: np.ndarray | None = None

    def warn_of_unkept(self, always_keep: Any) -> None:
        """Say which columns a user wants to keep that have no weight."""
        if always_keep is None:
            return
        asked = find_columns(always_keep, "always_keep", self.rows.names, self.n_features)
        lost = np.setdiff1d(asked, self.columns.index)
        if len(lost):
            names = column_names(self.rows.names, self.n_features)[lost]
            warn(
                "always_keep names columns that are constant, or gaps alone, and have no weight: "
                f"{', '.join(repr(str(name)) for name in names[:NAMED_COLUMNS])}.",
                UserWarning,
            )

    def with_targets(self, U: np.ndarray) -> "TrainingData":
        """Return the data with the scores ``U``, shape (n, k), as their targets."""
        k = U.shape[1]
        targets = TargetEncoder(np.zeros(k), np.ones(k), None, squeeze=False)
        return replace(self, rows=self.rows.encoded(lambda _: U), targets=targets)

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
    missing: str = "indicator",
    feature_groups: Any = None,
    feature_costs: Any = None,
    always_keep: Any = None,
    adjust_for: Any = None,
    offset: bool = False,
) -> TrainingData:
    """Measure and check rows of any kind.

    Parameters
    ----------
    rows : Rows
        With targets as the user gave them, or without any.
    missing, feature_groups, feature_costs : see :class:`kernelknife.KnifeRegressor`
    always_keep, adjust_for : see :class:`kernelknife.KnifeRegressor`
    offset : bool, default=False
        Whether offsets stand behind the targets.
    """
    n, p = rows.shape
    if n < 2:
        raise ValueError(f"Found array with {n} sample(s) while at least 2 are needed.")
    costs = None
    if feature_costs is not None:
        costs = check_costs(feature_costs, p)
    targets = measure_targets(rows, loss, standardize=standardize, offset=offset)
    classes = targets.classes
    if classes is not None and len(classes) > 2 and loss.binary_only:
        raise ValueError(
            f"{loss!r} is for two classes, got {len(classes)}: choose another loss, or wrap "
            "the estimator in sklearn.multiclass.OneVsRestClassifier."
        )
    # A basis is learned on standardized columns, whatever the kernel sees otherwise.
    left_out = None
    if adjust_for is not None:
        left_out = find_columns(adjust_for, "adjust_for", rows.names, p)
    columns, moments = measure_columns(
        rows,
        standardize=standardize or kernel.expands,
        center=kernel.translation_invariant,
        missing=missing,
        left_out=left_out,
    )
    # Columns with infinite values have been refused by now.
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
    return TrainingData(
        rows=rows.encoded(targets),
        kernel=kernel,
        loss=loss,
        columns=columns,
        targets=targets,
        groups=groups,
        costs=costs,
        total_weight=moments.total_weight,
        grouping=grouping,
        adjusted=_adjusted_columns(left_out, moments),
        kept=_kept_weights(always_keep, left_out, columns, groups, rows),
    )


def _adjusted_columns(asked: np.ndarray | None, moments: Moments) -> Columns | None:
    """Return the columns that are adjusted for, without the constant ones; None for none."""
    if asked is None or not moments.varying[asked].any():
        return None
    adjusted = moments.standardized(asked[moments.varying[asked]])
    if adjusted.n_seen >= moments.n_rows:
        raise ValueError(
            f"adjust_for stands for {adjusted.n_seen} columns beside {moments.n_rows} rows: a "
            "linear part of as many explains any target. Adjust for fewer columns."
        )
    return adjusted


def _kept_weights(
    always_keep: Any,
    left_out: np.ndarray | None,
    columns: Columns,
    groups: np.ndarray | None,
    rows: Rows,
) -> np.ndarray | None:
    """Return which weights are those of columns that a user wants to keep.

    A constant column among them has no weight, and a group is kept with any of its columns.
    """
    if always_keep is None:
        return None
    asked = find_columns(always_keep, "always_keep", rows.names, rows.shape[1])
    both = np.intersect1d(asked, [] if left_out is None else left_out)
    if len(both):
        name = column_names(rows.names, rows.shape[1])[both[0]]
        raise ValueError(
            f"Column {str(name)!r} is in always_keep and in adjust_for: it has either a weight in "
            "the kernel or a linear part beside it."
        )
    mine = np.isin(columns.index, asked)
    return mine if groups is None else np.bincount(groups, mine) > 0


def _measure_basis(
    rows: Rows, columns: Columns, kernel: Kernel, groups: np.ndarray | None
) -> Basis:
    """Return the functions of the columns that the kernel asks for, learned where the rows are."""
    sample = rows.sample(rows_to_look_at(rows, BASIS_ROWS))
    basis, atoms, places = rows.fetch(rows.apply(_basis_of, sample, columns, kernel))
    if len(places) and rows.n_counted > BASIS_ROWS:
        basis = basis.with_curves(_curves_of_rare_values(rows, columns, kernel, atoms, places))
    return basis if groups is None else basis.shared(groups)


def _basis_of(
    sample: Sample, columns: Columns, kernel: Kernel
) -> tuple[Basis, np.ndarray, np.ndarray]:
    """Return the basis; the columns in which nearly all rows have one value, and that value."""
    counted = sample.counted()
    X = np.asarray(sample.X, dtype=float)[counted]
    X = X[:, columns.index]
    Z = columns.standardize(X)
    basis = kernel.make_basis(Z, np.asarray(sample.s, dtype=float)[counted])
    assert basis is not None  # as of every kernel that expands columns
    # A value that most rows have is the median.
    X = filled(X)
    atoms = np.median(X, axis=0)
    places = np.flatnonzero((atoms == X).mean(axis=0) >= 1.0 - RARE)
    return basis, atoms[places], places


def _curves_of_rare_values(
    rows: Rows, columns: Columns, kernel: Kernel, atoms: np.ndarray, places: np.ndarray
) -> dict[int, Curve]:
    """Return the curves of columns that hardly any row of a sample would show.

    All rows are asked for the values beside the one that nearly all of them have.
    """
    found = rows.fetch(rows.total(_rare_values, columns.index[places], atoms, join=_join_rare))
    totals, masses, values = found
    curves = {}
    for j, atom, total, mass, rare in zip(places, atoms, totals, masses, values, strict=True):
        if len(rare):
            z = (np.array([atom, *rare]) - columns.center[j]) / columns.scale[j]
            share = np.array([total - mass, *np.full(len(rare), mass / len(rare))])
            own = kernel.make_basis(z[:, None], np.maximum(share, 1e-12 * total))
            assert own is not None
            curves[int(j)] = own.curve(0)
    return curves


def _rare_values(block: Block, index: np.ndarray, atoms: np.ndarray) -> Sums:
    """Return the weight of all values of a column, and of those beside an atom, with these."""
    X, s = to_host(block.columns(index)), to_host(block.s)
    gap = np.isnan(X)
    rare = (atoms != X) & (s > 0)[:, None] & ~gap
    values = [_thinned(X[rare[:, j], j]) for j in range(len(index))]
    return float(s.sum()) - s @ gap, s @ rare, values


def _join_rare(a: Sums, b: Sums) -> Sums:
    values = [_thinned(np.concatenate(pair)) for pair in zip(a[2], b[2], strict=True)]
    return a[0] + b[0], a[1] + b[1], values


def _thinned(values: np.ndarray) -> np.ndarray:
    """Return at most some of the values, evenly spread over their order, both ends among them."""
    if len(values) <= MOST_RARE:
        return values
    places = np.linspace(0, len(values) - 1, MOST_RARE).round().astype(int)
    return np.asarray(np.sort(values)[places])
