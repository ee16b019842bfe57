"""The one place that inspects what a user passed as ``X`` and chooses the kind of rows."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from kernelknife._engine.data.arrays import ArrayRows, DeviceRows
from kernelknife._engine.data.dask import dask_rows, is_dask
from kernelknife._engine.data.parquet import ParquetRows
from kernelknife._engine.data.rows import Rows, check_weights
from kernelknife._engine.data.targets import stack_offset
from kernelknife._utils.arrays import is_foreign, to_host

__all__ = [
    "check_class_weight",
    "check_sample_weight",
    "open_rows",
    "open_rows_to_predict",
    "refuse_lazy_rows",
    "refuse_rows_elsewhere",
    "weigh_classes",
]

CheckArrays = Callable[[Any, Any], tuple[np.ndarray, np.ndarray]]
CheckArray = Callable[[Any], np.ndarray]


def open_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    check_arrays: CheckArrays,
    known: Any = None,
    classes: bool = False,
) -> Rows:
    """Return the rows of any kind of data, with targets as they were given.

    Parameters
    ----------
    X : array-like, data frame, memory map, device array, Dask collection, path or Rows
    y : array-like, Dask collection, or the name of a column of Parquet files
        None for Rows, which have their own.
    check_arrays : callable
        Validates tables in memory: ``check_arrays(X, y)`` returns both as arrays.
    known : ndarray, Dask array or dict, default=None
        Known parts of the scores, which stand behind the targets from here on. For Parquet files a
        dict: by the name of a column, whether its logarithm counts.
    classes : bool, default=False
        Whether the targets are labels of classes.
    """
    if known is not None and isinstance(X, Rows):
        raise TypeError("Rows bring their targets with them, and offsets behind these.")
    if isinstance(X, Rows):
        if y is not None or sample_weight is not None:
            raise TypeError(
                "Rows bring their targets and weights with them: pass y=None and no sample_weight."
            )
        return X
    if isinstance(X, (str, os.PathLike)):
        if not isinstance(y, str):
            raise TypeError("With a Parquet folder as X, y is the name of the target's column.")
        if sample_weight is not None and not isinstance(sample_weight, str):
            raise TypeError(
                "With a Parquet folder as X, sample_weight is the name of the weights' column."
            )
        return ParquetRows(X, y, sample_weight, known=known)
    if is_dask(X):
        return dask_rows(X, y, sample_weight, known=known)
    if is_foreign(X):
        y = to_host(y) if is_foreign(y) else np.asarray(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}.")
        y = y if known is None else stack_offset(y, known, classes)
        return DeviceRows(X, y, check_sample_weight(sample_weight, X.shape[0]))
    X, y = check_arrays(X, y)
    y = y if known is None else stack_offset(y, known, classes)
    return ArrayRows(X, y, check_sample_weight(sample_weight, len(X)))


def open_rows_to_predict(X: Any, names: Any, n_features: int, check_array: CheckArray) -> Rows:
    """Return rows without targets, with the columns that a model was fitted on.

    Parameters
    ----------
    X : as in :func:`open_rows`
    names : ndarray of str or None
        The names of the model's columns, where it has some.
    check_array : callable
        Validates a table in memory.
    """
    rows: Rows
    if isinstance(X, Rows):
        rows = X
    elif isinstance(X, (str, os.PathLike)):
        rows = ParquetRows(X, features=names)
    elif is_dask(X):
        rows = dask_rows(X, names=names)
    elif is_foreign(X):
        rows = DeviceRows(X)
    else:
        return ArrayRows(check_array(X))
    if rows.shape[1] != n_features:
        raise ValueError(f"X has {rows.shape[1]} columns, the model was fitted on {n_features}.")
    return rows


def refuse_lazy_rows(X: Any, what: str, instead: str = "") -> None:
    """Raise a TypeError unless ``X`` is a table in memory that can be cut into parts.

    ``instead`` is what else can be done about it, a sentence that ends the message.
    """
    if _is_elsewhere(X):
        raise TypeError(
            f"{what} splits rows and needs an array or a data frame, got {type(X).__name__}: "
            f"choose the penalties on some of the rows, then fit on all.{instead and f' {instead}'}"
        )


def refuse_rows_elsewhere(X: Any) -> None:
    """Raise a TypeError unless ``X`` is a table in memory, whose rows can be compared."""
    if _is_elsewhere(X):
        raise TypeError(
            "A survival model compares every row with all rows that are still at risk and needs "
            f"them in memory: pass an array or a data frame, got {type(X).__name__}."
        )


def _is_elsewhere(X: Any) -> bool:
    return isinstance(X, (Rows, str, os.PathLike)) or is_dask(X) or is_foreign(X)


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray:
    """Return the weights of the rows as floats; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    if is_foreign(sample_weight):
        sample_weight = to_host(sample_weight)
    s = np.asarray(sample_weight, dtype=float)
    if s.ndim == 0:
        s = np.full(n, float(s))
    if s.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one per row, got {s.shape}.")
    check_weights(s)
    return s


def check_class_weight(class_weight: Any, classes: np.ndarray) -> None:
    """Raise where a class that has a weight is not among the classes of the target."""
    if not isinstance(class_weight, Mapping):
        return
    absent = [label for label in class_weight if not np.any(classes == label)]
    if absent:
        raise ValueError(
            f"class_weight has weights for classes that y does not have: {absent}. Its classes are "
            f"{classes.tolist()}."
        )


def weigh_classes(class_weight: Any, y: Any, sample_weight: Any) -> Any:
    """Return the sample weights, multiplied by those of the classes where there are some.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    y, sample_weight : see :func:`open_rows`
    """
    if class_weight is None:
        return sample_weight
    if y is None or isinstance(y, str) or is_dask(y):
        raise ValueError(
            "class_weight needs the classes in memory: pass sample_weight with the weight of every "
            "row instead."
        )
    shape = getattr(y, "shape", None) or np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            "class_weight is for one column of classes, and the target is one of several labels: "
            "pass sample_weight instead."
        )
    labels = np.ravel(to_host(y) if is_foreign(y) else np.asarray(y))
    factors = compute_sample_weight(class_weight, labels)
    if sample_weight is None:
        return factors
    return check_sample_weight(sample_weight, len(labels)) * factors
