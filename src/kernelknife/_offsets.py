"""Known parts of scores: an offset, or the logarithm of an exposure, in fits and in predictions."""

import os
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from kernelknife._engine.data.dask import is_dask
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._engine.data.targets import log_exposure
from kernelknife._engine.objective import share_explained
from kernelknife._engine.policy import default_loss, task_of
from kernelknife._utils.arrays import is_foreign, to_host
from kernelknife.losses import Loss

__all__ = ["OffsetClassification", "OffsetMethods", "OffsetPrediction", "known_scores"]


def known_scores(offset: Any, exposure: Any, X: Any, loss: Loss) -> Any:
    """Return the known parts of the scores of rows: an offset, and the log of an exposure.

    Parameters
    ----------
    offset : array-like of shape (n,) or (n, k), Dask array, name of a column, or None
    exposure : array-like of shape (n,), Dask array, name of a column, or None
    X : the rows
        Columns are named for Parquet files; Dask arrays are for Dask collections.
    loss : Loss

    Returns
    -------
    ndarray, Dask array, dict or None
        The dict is for Parquet files: by the name of a column, whether its logarithm counts.
    """
    given = {"offset": offset, "exposure": exposure}
    given = {name: values for name, values in given.items() if values is not None}
    if not given:
        return None
    if "exposure" in given:
        _check_link(loss)
    lazy, files = is_dask(X), isinstance(X, (str, os.PathLike))
    if (lazy or files) and loss.task == "classification":
        raise TypeError("An offset of classes needs the rows in memory: pass an array or a frame.")
    if files:
        return _named(given)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known: Any = None
    for name, values in given.items():
        values = _of_dask(name, values) if lazy else _in_memory(name, values, n)
        known = values if known is None else (known.T + values.T).T
    return known


def _named(given: dict[str, Any]) -> dict[str, bool]:
    for name, column in given.items():
        if not isinstance(column, str):
            raise TypeError(
                f"With Parquet files as X, {name} is the name of a column, got "
                f"{type(column).__name__}."
            )
    return {column: name == "exposure" for name, column in given.items()}


def _of_dask(name: str, values: Any) -> Any:
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array(lengths=True)
    if not is_dask(values):
        values = np.asarray(values, dtype=float)
    if name == "offset":
        return values
    return values.map_blocks(log_exposure, dtype=float) if is_dask(values) else log_exposure(values)


def _in_memory(name: str, given: Any, n: int) -> np.ndarray:
    """Return an offset, or the logarithm of an exposure, after all checks."""
    values = np.asarray(to_host(given) if is_foreign(given) else given)
    if values.dtype.kind not in "biufO":
        raise TypeError(f"The {name} holds {values.dtype}, not numbers.")
    values = np.asarray(values, dtype=float)
    if values.shape[:1] != (n,) or values.ndim > (2 if name == "offset" else 1):
        raise ValueError(f"{name} must have shape ({n},), one per row, got {values.shape}.")
    missing = int((~np.isfinite(values)).sum())
    if missing:
        raise ValueError(f"The {name} has {missing} missing or infinite values.")
    if name == "offset":
        return values
    bad = int((values <= 0).sum())
    if bad:
        raise ValueError(
            f"An exposure must be positive, but that of {bad} rows is not: leave out rows that "
            "were not observed."
        )
    return np.log(values)


def _check_link(loss: Loss) -> None:
    if loss.task != "regression" or not loss.has_log_link:
        raise ValueError(
            f"exposure is for losses with a logarithmic link, such as loss='poisson', and not for "
            f"{loss!r}. An offset, a known part of the prediction, is offset=."
        )


class OffsetMethods:
    """The way from a user's offset and exposure to the known parts of scores."""

    loss: Any

    def _loss(self) -> Loss:
        return default_loss(self.loss, task_of(self))

    def _known_scores(self, X: Any, offset: Any, exposure: Any = None) -> np.ndarray | None:
        """Return the known parts of the scores of rows to predict."""
        if offset is None and exposure is None:
            return None
        if isinstance(X, (str, os.PathLike)) or is_dask(X):
            raise TypeError(
                "Predictions of rows that are not in memory take no offset and no exposure: "
                "predict without them, and multiply the predictions by the exposure."
            )
        known: np.ndarray | None = known_scores(offset, exposure, X, self._loss())
        return known


class OffsetPrediction(OffsetMethods):
    """What a regressor says of rows whose scores are known in part: predictions and their score."""

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> float:
        """Return how much of the target is explained: 1 at best, 0 for the best constant.

        It is the coefficient of determination, or for a loss with a score of its own the share of
        it that the best constant does not reach: of the deviance for counts and amounts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        offset, exposure : array-like of shape (n_samples,), default=None
            See :meth:`fit`.

        Returns
        -------
        float
            At most 1.
        """
        known = self._known_scores(X, offset, exposure)
        predicted = self.predict(X, offset=known)  # type: ignore[attr-defined]  # a regressor
        loss = self._loss()
        if loss.score is None:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        y = np.asarray(y, dtype=float)
        s = check_sample_weight(sample_weight, len(y))
        return share_explained(loss, y, predicted, s, known)


class OffsetClassification(OffsetMethods):
    """The score of a classifier on rows whose scores are known in part."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the accuracy: the share of the rows whose class, or set of labels, is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        offset : array-like of shape (n_samples,), default=None
            See :meth:`fit`.

        Returns
        -------
        float
            Between 0 and 1.
        """
        predicted = self.predict(X, offset=offset)  # type: ignore[attr-defined]  # a classifier
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))
