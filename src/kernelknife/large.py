"""From data of any size and place to the problem with centres."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kernelknife._support.arrays import is_foreign, like, namespace, to_host
from kernelknife._support.optional import import_optional
from kernelknife.centers import CENTERS, choose_centers
from kernelknife.nystrom import NystromProblem
from kernelknife.preparation import Columns, Targets, check_finite
from kernelknife.rows import (
    DEVICE_BLOCK_BYTES,
    ArrayRows,
    DaskRows,
    ParquetRows,
    RowsError,
    encode_block,
    make_block,
)
from kernelknife.solvers.starts import Start, best_start, make_starts
from kernelknife.solvers.trace import choose_start

__all__ = [
    "FEW_CENTERS",
    "choose_small",
    "is_large",
    "is_lazy",
    "on_some_rows",
    "open_source",
    "prepare_large",
    "refreshed_centers",
    "scores_of",
    "solve_small",
    "warn_centers",
]

FEW_CENTERS = 1000  # where the number is not given
SAMPLE = 20_000  # rows that centres are chosen from


def is_lazy(X):
    """Whether X is no array in this process's memory: a Dask collection, a folder, a device."""
    return is_dask(X) or isinstance(X, (str, os.PathLike)) or is_foreign(X)


def is_dask(X):
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def is_large(n_rows, memory_budget):
    """Whether a kernel matrix of all rows is over the budget."""
    return 8.0 * n_rows * n_rows > memory_budget


@dataclass(frozen=True)
class Source:
    """Rows that can be summed over, and what is known of their targets."""

    rows: object
    targets: Targets
    classes: np.ndarray | None
    squeeze: bool
    names: np.ndarray | None


@dataclass(frozen=True)
class Encoder:
    """Turns targets into what the loss sees, block by block."""

    center: Any
    scale: Any
    classes: np.ndarray | None

    @classmethod
    def of_classes(cls, classes):
        """Return the encoder of some classes."""
        if len(classes) < 2:
            raise ValueError(f"The target y has one class ({classes[0]!r}); two are needed.")
        return cls(None, None, classes)

    def targets(self, n_outputs):
        """Return what undoes the encoding."""
        if self.classes is not None:
            return Targets(np.empty((0, n_outputs)), np.zeros(n_outputs), np.ones(n_outputs))
        return Targets(np.empty((0, n_outputs)), self.center, self.scale)

    def __call__(self, y):
        y = np.asarray(y)
        if self.classes is None:
            y = np.asarray(y, dtype=float).reshape(len(y), -1)
            return (y - self.center) / self.scale
        codes = np.searchsorted(self.classes, y.ravel())
        return Targets.from_classes(codes, len(self.classes)).Y


def open_source(X, y, sample_weight, task, loss, standardize):
    """Return the rows of any kind of data."""
    if isinstance(X, (str, os.PathLike)):
        return _open_parquet(X, y, sample_weight, task, loss, standardize)
    if is_dask(X):
        return _open_dask(X, y, sample_weight, task, loss, standardize)
    host = to_host(y) if is_foreign(y) else np.asarray(y)
    if len(host) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {len(host)}.")
    s = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if is_foreign(X):
        _check_device(X)
    if task == "classification":
        check_classification_targets(host)
        encoder = Encoder.of_classes(np.unique(host))
    else:
        raw = np.asarray(host, dtype=float).reshape(len(host), -1)
        encoder = _measure_targets(ArrayRows(X, like(raw, X), like(s, X)), loss, standardize)
    Y = encoder(host)
    squeeze = host.ndim == 1 if encoder.classes is None else len(encoder.classes) == 2
    rows = ArrayRows(X, like(Y, X), like(s, X))
    return Source(rows, encoder.targets(Y.shape[1]), encoder.classes, squeeze, None)


def target_sums(block, shift):
    """Return weight and moments about ``shift`` of a block's targets."""
    y, s = to_host(block.y), to_host(block.s)
    if not np.isfinite(y).all():
        raise RowsError(f"Block {block.number}: the target has missing or infinite values.")
    centred = y - shift
    return np.sum(s), s @ centred, s @ (centred * centred)


def _measure_targets(rows, loss, standardize):
    """Return how numeric targets are standardised, from sums over the blocks."""
    index = np.unique(np.linspace(0, rows.shape[0] - 1, 1000).astype(int))
    sample, weight = rows.fetch(rows.apply(_targets_of, rows.sample(index)))
    shift = np.nan_to_num(sample.mean(axis=0))
    total, first, second = rows.fetch(rows.total(target_sums, shift, n_centers=rows.shape[1]))
    mean = first / total
    scale = np.sqrt(np.maximum(second / total - mean * mean, 0.0))
    center = shift + mean
    if not (scale > 1e-12 * (np.abs(center) + 1e-300)).all():
        raise ValueError("The target y is constant: no feature can explain it.")
    if not standardize:
        return Encoder(np.zeros_like(center), np.ones_like(scale), None)
    if loss.robust:
        # A sample's median and deviation: outliers must not set the scale.
        counted = weight > 0
        robust = Targets.from_values(sample[counted], weight[counted], True, robust=True)
        center, scale = robust.center, robust.scale
    return Encoder(center, scale, None)


def _check_device(X):
    """Raise where a device cannot do the arithmetic."""
    xp = namespace(X)
    if X.dtype != xp.float64:
        raise TypeError(
            f"X on a device must be float64, got {X.dtype}: the normal equations square the "
            "condition of the kernel matrix. Convert it first."
        )


def _open_parquet(folder, target, sample_weight, task, loss, standardize):
    if not isinstance(target, str):
        raise TypeError("With a Parquet folder as X, y is the name of the target's column.")
    if sample_weight is not None:
        raise ValueError("Sample weights are not supported with a Parquet folder.")
    if not Path(folder).exists():
        raise RowsError(f"There is no file or folder {folder}.")
    rows = ParquetRows(folder, target)
    values = np.concatenate([block.y.ravel() for block in rows._blocks()])
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise RowsError(f"The target {target!r} has {int(np.isnan(values).sum())} missing values.")
    if task == "classification":
        encoder = Encoder.of_classes(np.unique(values))
    else:
        if values.dtype.kind not in "biuf":
            raise RowsError(f"The target {target!r} holds {values.dtype}, not numbers.")
        rows.encode = _as_column
        encoder = _measure_targets(rows, loss, standardize)
    rows.encode = encoder
    classes = encoder.classes
    squeeze = classes is None or len(classes) == 2
    width = 1 if squeeze else len(classes)
    names = np.array(rows.features, dtype=object)
    return Source(rows, encoder.targets(width), classes, squeeze, names)


def _as_column(y):
    return np.asarray(y, dtype=float)[:, None]


def _open_dask(X, y, sample_weight, task, loss, standardize):
    array = import_optional("dask.array", "kernelknife[cluster]", "A Dask collection")
    if sample_weight is not None:
        raise ValueError("Sample weights are not supported with a Dask collection.")
    names = None
    if hasattr(X, "to_dask_array"):
        names = np.array([str(name) for name in X.columns], dtype=object)
        X = X.to_dask_array(lengths=True)
    if hasattr(y, "to_dask_array"):
        y = y.to_dask_array(lengths=True)
    if not is_dask(y):
        y = np.asarray(y)
        y = array.from_array(y, chunks=(X.chunks[0], *([-1] * (y.ndim - 1))))
    if np.isnan(X.shape[0]):
        X.compute_chunk_sizes()
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {y.shape[0]}.")
    squeeze, client = y.ndim == 1, _client()
    rows = _LazyRows(X, y) if client is None else DaskRows(X, y, client)
    if task == "classification":
        encoder = Encoder.of_classes(array.unique(y).compute())
        squeeze = len(encoder.classes) == 2
        width = 1 if squeeze else len(encoder.classes)
    else:
        encoder = _measure_targets(rows, loss, standardize)
        width = len(encoder.scale)
    rows.encode_with(encoder)
    return Source(rows, encoder.targets(width), encoder.classes, squeeze, names)


def _client():
    """Return the client of the running cluster, None where there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


class _LazyRows(ArrayRows):
    """Rows of a Dask array without a cluster: computed chunk by chunk in this process."""

    def __init__(self, X, y):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        y = y.rechunk({0: X.chunks[0]}) if y.chunks[0] != X.chunks[0] else y
        self.chunks, self.encode = (X.to_delayed().ravel(), y.to_delayed().ravel()), None
        self._memory = {}
        self.sizes = [int(size) for size in X.chunks[0]]
        self.shape, self.foreign, self.n_threads = tuple(map(int, X.shape)), False, 1

    def encode_with(self, encode):
        """Encode targets from now on."""
        self.encode = encode

    def _blocks(self, n_centers):
        for number, (a, b) in enumerate(zip(*self.chunks, strict=True)):
            block = make_block(a.compute(), b.compute(), number)
            yield block if self.encode is None else encode_block(block, self.encode)

    def sample(self, index):
        ends = np.cumsum(self.sizes)
        found = []
        for number, block in enumerate(self._blocks(1)):
            first = ends[number] - self.sizes[number]
            here = index[(index >= first) & (index < ends[number])] - first
            if len(here):
                found.append((block.X[here], block.y[here], block.s[here]))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def column_sums(block, index, shift, names):
    """Return weight, first and second moments about ``shift`` of a block's columns."""
    X = block.columns(index)
    xp = namespace(X)
    bad = ~xp.isfinite(X)
    if bool(xp.any(bad)):
        j = int(to_host(xp.argmax(xp.astype(xp.any(bad, axis=0), xp.int64))))
        count = int(to_host(xp.sum(xp.astype(bad[:, j], xp.int64))))
        name = repr(str(names[j])) if names is not None else str(j)
        raise RowsError(
            f"Block {block.number}: column {name} has {count} missing or infinite values. Drop "
            "or impute them first."
        )
    s = block.s
    if not isinstance(X, np.ndarray):
        s = like(to_host(s), X)
    centred = X - like(shift, X)
    return xp.sum(s), s @ centred, s @ (centred * centred)


def measure_columns(rows, kernel, standardize, names, seed):
    """Return the columns that vary, with centre and scale, by one pass over the rows."""
    n, p = rows.shape
    rng = np.random.default_rng(seed)
    index = np.sort(rng.choice(n, min(n, 1000), replace=False))
    with np.errstate(invalid="ignore"):
        shift = np.nan_to_num(rows.fetch(rows.apply(_means_of, rows.sample(index))))
    sums = rows.fetch(rows.total(column_sums, np.arange(p), shift, names, n_centers=p))
    total, first, second = (to_host(part) for part in sums)
    mean = first / total
    deviation = np.sqrt(np.maximum(second / total - mean * mean, 0.0))
    size = np.abs(shift + mean) + deviation
    varying = np.flatnonzero(deviation > 1e-12 * np.where(size > 0, size, 1.0))
    if not len(varying):
        raise ValueError(f"All {p} column(s) of X are constant: there is nothing to select from.")
    center, scale = (shift + mean)[varying], deviation[varying]
    if not standardize:
        scale = np.ones(len(varying))
        if not kernel.translation_invariant:
            center = np.zeros(len(varying))
    return Columns(varying, center, scale)


def prepare_large(estimator, source, kernel, loss, groups, costs, names):
    """Return the problem with centres and its columns.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
        For its parameters.
    source : Source
    kernel : Kernel
    loss : Loss
    groups, costs : callable
        From the columns that vary to their groups and costs, or to None.
    names : ndarray of str or None
    """
    rows, seed = source.rows, estimator._seed()
    columns = measure_columns(rows, kernel, estimator.standardize, names, seed)
    Z = _given_centers(estimator.centers, columns, rows.shape[1])
    if Z is None:
        n_centers = estimator.n_centers
        if n_centers is None:
            n_centers = min(FEW_CENTERS, rows.shape[0])
        v = np.full(len(columns.varying), 0.5 / len(columns.varying))
        Z = pick_centers(rows, columns, n_centers, estimator.centers, kernel, v, seed)
    return columns, NystromProblem(
        rows,
        np.ascontiguousarray(Z),
        columns.varying,
        columns.center,
        columns.scale,
        kernel,
        loss,
        alpha=estimator.alpha,
        groups=groups(columns.varying),
        costs=costs(columns.varying),
        fit_intercept=estimator.fit_intercept,
        n_outputs=len(source.targets.center),
        seed=seed,
    )


def pick_centers(rows, columns, n_centers, how, kernel, v, seed):
    """Return centres from some of the rows, standardised; chosen where the rows are."""
    rng = np.random.default_rng(seed)
    n, size = rows.shape[0], max(SAMPLE, 2 * n_centers)
    index = np.sort(rng.choice(n, min(n, size), replace=False))
    sample = rows.sample(index)
    return rows.fetch(rows.apply(_centers_of, sample, columns, n_centers, how, kernel, v, seed))


def _centers_of(sample, columns, n_centers, how, kernel, v, seed):
    X = columns.transform(sample[0][np.asarray(sample[2]) > 0])
    return X[choose_centers(X, n_centers, how, kernel, v, seed)]


def _means_of(sample):
    return sample[0].mean(axis=0)


def _targets_of(sample):
    return np.asarray(sample[1], dtype=float), np.asarray(sample[2], dtype=float)


def refreshed_centers(problem, columns, w, how, seed):
    """Return centres chosen anew in the geometry of the weights."""
    spread = w if problem.groups is None else w[problem.groups]
    v = spread if problem.kernel.linear_in_weights else spread * spread
    m = len(problem.data)
    return pick_centers(problem.rows, columns, m, how, problem.kernel, v, seed + 1)


def _given_centers(centers, columns, p):
    """Return centres that the user gave, standardised; None where a word says how to choose."""
    if isinstance(centers, str):
        if centers not in CENTERS:
            raise ValueError(
                f"Unknown centers {centers!r}. Known names: {', '.join(CENTERS)}; or give the "
                "rows themselves."
            )
        return None
    Z = np.asarray(to_host(centers) if is_foreign(centers) else centers, dtype=float)
    if Z.ndim != 2 or Z.shape[1] != p:
        raise ValueError(f"centers must have {p} columns as X has, got shape {Z.shape}.")
    if not np.isfinite(Z).all():
        raise ValueError("centers contain NaN or infinity.")
    return columns.transform(Z)


def on_some_rows(problem, function, *arguments):
    """Run ``function(problem on some of the rows, ...)`` where the rows are.

    Returns None where these rows cannot tell, for want of a class.
    """
    rng = np.random.default_rng(problem.seed)
    index = np.sort(rng.choice(problem.n_rows, problem.subsample_rows, replace=False))
    rows = problem.rows
    found = rows.apply(_run_small, rows.sample(index), problem.without_rows(), function, arguments)
    return rows.fetch(found)


def _run_small(sample, problem, function, arguments):
    X, Y, s = sample
    if problem.loss.task == "classification" and (np.ptp(Y, axis=0) == 0).any():
        return None  # a class is so rare that these rows do not have it
    each = problem.n_rows / len(X)  # a row stands for so many
    problem = problem.on_rows(ArrayRows(X, Y, np.asarray(s, dtype=float) * each))
    return function(problem, *arguments)


def solve_small(problem, solver, settings, sparsity):
    """Return the weights found from the best start, and the results of all starts."""
    solution, results = best_start(problem, solver, make_starts(problem, *settings), sparsity)
    return solution.w, results


def choose_small(problem, solver, settings):
    """Return the best start of a path, relaxed."""
    found = choose_start(problem, solver, make_starts(problem, *settings))
    return Start(found.start.name, found.first.w, solves=found.n_solves)


def scores_of(machine, X, names, n_features):
    """Return the scores of rows of any kind, as the same kind where that is an array."""
    if isinstance(X, (str, os.PathLike)):
        rows = ParquetRows(X, None, names)
        _check_width(len(rows.features), n_features)
        index = np.arange(n_features)
        found = [checked_scores(block.columns(index), machine, names) for block in rows._blocks()]
        return np.concatenate(found)
    if is_dask(X):
        if hasattr(X, "to_dask_array"):
            if names is not None:
                absent = [name for name in names if name not in X.columns]
                if absent:
                    raise ValueError(f"X lacks the column {absent[0]!r} that the model needs.")
                X = X[list(names)]
            X = X.to_dask_array(lengths=True)
        _check_width(X.shape[1], n_features)
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        chunks = (X.chunks[0], (len(machine.intercept),))
        return X.map_blocks(checked_scores, machine, names, dtype=float, chunks=chunks)
    _check_width(X.shape[1], n_features)
    _check_device(X)
    xp = namespace(X)
    parts = []
    vectors, v = like(machine.vectors, X), like(machine.v, X)
    step = max(1, DEVICE_BLOCK_BYTES // (8 * max(1, len(machine.vectors))))
    selected = xp.asarray(machine.selected, device=X.device)
    for first in range(0, X.shape[0], step):
        last = min(first + step, X.shape[0])
        Z = xp.take(X[first:last, ...], selected, axis=1)
        Z = (Z - like(machine.center, X)) / like(machine.scale, X)
        K = machine.kernel(Z, vectors, v)
        parts.append(K @ like(machine.coef, X) + like(machine.intercept, X))
    return xp.concat(parts, axis=0)


def checked_scores(X, machine, names):
    """Return the scores of a block of rows without gaps."""
    X = np.asarray(X, dtype=float)
    check_finite(X, names)
    return machine.scores(X)


def _check_width(found, expected):
    if found != expected:
        raise ValueError(f"X has {found} columns, the model was fitted on {expected}.")


def warn_centers(n_rows, n_centers, memory_budget):
    """Say that centres are used because the exact method would not fit."""
    warnings.warn(
        f"The exact method needs {8 * n_rows**2 / 2**30:.0f} GiB for one kernel matrix of {n_rows} "
        f"rows, over the budget of {memory_budget / 2**30:.1f} GiB: {n_centers} centres are used "
        "instead. Set n_centers, or raise memory_budget.",
        stacklevel=5,
    )
