"""Targets as they would be if only some columns mattered, or none.

Where no column matters, the targets of rows can be exchanged. Where some do, what their model
leaves unexplained of rows that it has not seen can: these residuals are exchanged and added to its
predictions. A class has no residual; there, labels are drawn from predicted probabilities.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelknife._engine import FitResult, FitSpec, Setup, finish, fit, prepare_data, set_up
from kernelknife._engine.data import Sample, TrainingData
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.targets import encode_classes
from kernelknife._engine.policy import FOLDS
from kernelknife._engine.search import fixed_weights
from kernelknife._tuning.splits import make_splitter
from kernelknife._utils.row_units import RowUnits
from kernelknife.losses import LogisticLoss

__all__ = ["Draw", "Exchange", "draw_around_model", "draw_without_columns", "load_rows"]

# From a random generator to encoded targets and to sample weights.
Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Exchange:
    """Which rows may exchange their targets.

    Attributes
    ----------
    within : ndarray of int of shape (n,)
        Rows with the same number may.
    wholes : ndarray of int or None
        Group of every row, where all rows of a group have one target and move together.
    size : int
        Of rows in the order of time: all targets move by at least this many rows, in a circle, so
        that neighbors stay neighbors. 0 where rows may be exchanged.
    """

    within: np.ndarray
    wholes: np.ndarray | None = None
    size: int = 0

    @classmethod
    def of(
        cls,
        rows: Sample,
        strata: np.ndarray | None,
        groups: np.ndarray | None,
        blocks: int | None = None,
    ) -> "Exchange":
        """Return what strata, groups, or the order of rows in time allow.

        Targets that vary inside the groups are exchanged there. Where every group has one target,
        as where patients are diagnosed and samples are measured, groups exchange theirs.
        """
        if blocks is not None:
            if strata is not None or groups is not None:
                raise ValueError("Rows belong together by groups or by blocks, not by both.")
            units = RowUnits.of(len(rows.y), None, blocks)
            return cls(np.zeros(len(rows.y), dtype=int), None, 0 if units is None else units.size)
        parts = [(np.asarray(rows.s) > 0).astype(int)]
        if strata is not None:
            parts.append(np.unique(strata, return_inverse=True)[1])
        codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
        if codes is not None:
            first = np.unique(codes, return_index=True)[1]
            if not np.equal(rows.y, rows.y[first][codes]).all():
                parts.append(codes)
                codes = None
        labels = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1]
        return cls(labels.ravel(), codes)

    def permute(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the values, shape (n, k), of rows that have exchanged them."""
        if self.size:
            by = rng.integers(self.size, len(values) - self.size + 1)
            return np.roll(values, int(by), axis=0)
        if self.wholes is None:
            return np.asarray(values[_permutation(self.within, rng)])
        first = np.unique(self.wholes, return_index=True)[1]
        sizes = np.bincount(self.wholes)[:, None]
        means = np.stack([np.bincount(self.wholes, v) for v in values.T], axis=1) / sizes
        order = _permutation(self.within[first], rng)
        # What rows of a group differ by stays where it is.
        return np.asarray(values + (means[order] - means)[self.wholes])

    def uniform(self, rng: np.random.Generator) -> np.ndarray:
        """Return a uniform number for every row, one for all rows that move together."""
        if self.size:
            codes = np.arange(len(self.within)) // self.size
            return np.asarray(rng.uniform(size=int(codes.max()) + 1)[codes])
        if self.wholes is None:
            return rng.uniform(size=len(self.within))
        return np.asarray(rng.uniform(size=int(self.wholes.max()) + 1)[self.wholes])


def _permutation(within: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of rows that keeps every row among those with its number."""
    order = rng.permutation(len(within))
    index = np.empty(len(within), dtype=int)
    index[np.argsort(within, kind="stable")] = order[np.argsort(within[order], kind="stable")]
    return index


# -- rows and targets of a setup ------------------------------------------------------------------


def load_rows(data: TrainingData) -> Sample:
    """Return all rows in this process, with encoded targets."""
    if not (data.rows.in_memory or data.rows.on_device):
        raise ValueError(
            "A calibration permutes the target and needs all rows in memory: pass arrays, or "
            "calibrate on some of the rows and give all of them the penalty that was found, in "
            "proportion to their number."
        )
    return data.rows.fetch(data.rows.sample(np.arange(data.rows.shape[0])))


def draw_without_columns(setup: Setup, exchange: Exchange, groups: np.ndarray | None) -> Draw:
    """Return how targets are drawn where no column matters but those that are adjusted for.

    Rows of targets move as they are, with their offsets or the times of their events.
    """
    rows = load_rows(setup.data)
    weigh = Weigh.of(setup, rows)
    if setup.data.adjusted is not None:
        around = draw_around_model(setup, setup.problem.costs == 0, exchange, groups)
        if around is None:
            raise ValueError(
                f"With adjust_for, a calibration permutes what the adjusted columns leave "
                f"unexplained, and {setup.spec.loss!r} leaves nothing that could be exchanged "
                "between rows: leave out adjust_for, or choose the penalty by cross-validation."
            )
        return around

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        Y = exchange.permute(rows.y, rng)
        return Y, weigh(Y)

    return draw


@dataclass(frozen=True, eq=False)
class Weigh:
    """The weights of rows with other targets: those of a class follow the class."""

    s: np.ndarray
    n_outputs: int
    of_class: np.ndarray | None = None

    @classmethod
    def of(cls, setup: Setup, rows: Sample) -> "Weigh":
        """Return what the class weights of a specification ask for."""
        if setup.spec.class_weight is None:
            return cls(rows.s, setup.data.targets.n_outputs)
        k = setup.data.targets.n_outputs
        codes = class_codes(rows.y[:, :k])
        return cls(rows.s, k, np.bincount(codes, rows.s) / np.bincount(codes))

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        if self.of_class is None:
            return self.s
        return np.asarray(self.of_class[class_codes(Y[:, : self.n_outputs])])


def class_codes(Y: np.ndarray) -> np.ndarray:
    """Return the number of every row's class, given one column of -1 and +1, or one per class."""
    return (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else np.argmax(Y, axis=1)


# -- where some columns matter --------------------------------------------------------------------


def draw_around_model(
    setup: Setup,
    kept: np.ndarray,
    exchange: Exchange,
    groups: np.ndarray | None,
) -> Draw | None:
    """Return how targets are drawn where only some columns matter; None where that is unknown.

    Parameters
    ----------
    setup : Setup
    kept : ndarray of bool of shape (n_weights,)
        The weights of these columns.
    exchange : Exchange
    groups : ndarray or None
        Rows of one group stay in one fold.
    """
    data, rows = setup.data, load_rows(setup.data)
    classes = data.targets.classes
    # What is left of a count, say, is no count, and labels or quantiles of a row belong together.
    several = data.targets.labels or setup.spec.loss.n_levels > 1
    if setup.spec.offset or several or (classes is None and not setup.spec.loss.scale_target):
        return None
    weigh = Weigh.of(setup, rows)
    if classes is None:
        F = _held_out(setup, kept, rows, groups)
        if F is None:
            return None
        left = rows.y - F

        def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
            return F + exchange.permute(left, rng), rows.s

        return draw
    chances = _held_out(setup, kept, rows, groups)
    if chances is None:
        return None
    reached = np.cumsum(chances, axis=1)[:, :-1]

    def draw_labels(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        codes = (exchange.uniform(rng)[:, None] > reached).sum(axis=1)
        for k in np.setdiff1d(np.arange(len(classes)), codes):
            codes[np.argmax(chances[:, k])] = k  # a model needs every class
        Y = encode_classes(codes, len(classes))
        return Y, weigh(Y)

    return draw_labels


def _held_out(
    setup: Setup, kept: np.ndarray, rows: Sample, groups: np.ndarray | None
) -> np.ndarray | None:
    """Return predictions, or probabilities of classes, of models that have not seen the row.

    They have the kept columns alone, without a penalty on the weights. None where the rows cannot
    be split.
    """
    data, spec = setup.data, setup.spec
    classes = data.targets.classes
    y = rows.y if classes is None else class_codes(rows.y)
    splits = _splits(y, classes is not None, groups, spec.seed)
    if splits is None:
        return None
    adjusted = np.zeros(0, dtype=int) if data.adjusted is None else data.adjusted.index
    columns = np.union1d(np.flatnonzero(data.user_values(kept.astype(float)) > 0), adjusted)
    if not len(columns):
        return None
    labels = None if data.grouping is None else data.grouping.labels[columns]
    loss = spec.loss
    if classes is not None and loss.probability is None:
        loss = LogisticLoss()
    centers = spec.centers[:, columns] if spec.gives_centers else spec.centers
    spec = replace(
        spec, loss=loss, sparsity=0.0, n_features_to_select=None, relax=False, learn_weights=True,
        start="auto", n_starts=0, feature_groups=labels, feature_costs=None, always_keep=None,
        centers=centers,
        class_weight=None, refresh_centers=False, n_jobs=None,
        adjust_for=None if data.adjusted is None else np.searchsorted(columns, adjusted),
    )  # fmt: skip
    s = rows.s if setup.spec.class_weight is None else np.ones(len(rows.s))
    X, found, times = rows.X[:, columns], None, np.zeros(len(y))
    if len(adjusted) == len(columns):
        # A problem has a kernel, which is given a column and no weight for it.
        X = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])
        spec = replace(spec, feature_groups=None, centers=FitSpec.centers)
    for train, test in splits:
        fold = prepare_data(spec, ArrayRows(X[train], y[train], s[train]))
        if X.shape[1] > len(columns):
            empty = set_up(spec, fold)
            result = finish(empty, fixed_weights(empty.problem, np.zeros(1)))
        else:
            result = fit(spec, fold)
        there = _predictions(result, X[test])
        if found is None:
            found = np.zeros((len(y), there.shape[1]))
        found[test] += there
        times[test] += 1
    assert found is not None
    return np.asarray(found / times[:, None])


def _predictions(result: FitResult, X: np.ndarray) -> np.ndarray:
    """Return predictions, or probabilities of classes, as one column for each."""
    model, rows = result.model, ArrayRows(X)
    if model.targets.classes is not None:
        return np.asarray(model.probabilities(rows, result.setup.spec.loss))
    return np.asarray(model.predict(rows)).reshape(len(X), -1)


def _splits(
    y: np.ndarray, classes: bool, groups: np.ndarray | None, seed: int | None
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return the folds of rows, None where there are too few of a class or too few groups."""
    rarest = int(np.bincount(y).min()) if classes else len(y)
    n_groups = rarest if groups is None else len(np.unique(groups))
    if min(rarest, n_groups) < 2:
        return None
    cv = None if groups is None else min(FOLDS.n_folds, n_groups)
    splitter = make_splitter(cv, y, classes, groups, seed)
    splits = [(train, test) for train, test in splitter.split(np.zeros(len(y)), y, groups)]
    known = len(np.unique(y)) if classes else 0
    if classes and any(len(np.unique(y[train])) < known for train, _ in splits):
        return None
    return splits
