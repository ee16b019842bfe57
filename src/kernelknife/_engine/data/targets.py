"""The targets: what the task is, and how a user's targets become those that the loss sees."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kernelknife._engine.data.columns import LARGEST_RAW_VALUE
from kernelknife._engine.data.rows import Block, Rows, RowsError, Sums, check_weights, concatenate
from kernelknife._engine.data.survival import check_survival, survival_columns
from kernelknife._utils.arrays import Array, is_foreign, like, namespace, to_host
from kernelknife.losses import Loss

__all__ = [
    "TARGETS",
    "SurvivalEncoder",
    "TargetEncoder",
    "log_exposure",
    "measure_targets",
    "split_offset",
    "stack_offset",
]

# Targets and scores at which a loss is compared with itself.
SHIFT_PROBES = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.3, -0.4, 1.7, 3.0])
NORMAL_MAD = 1.4826  # a normal distribution's deviation over its median absolute deviation


@dataclass(frozen=True)
class TargetEncoder:
    """Turns a user's targets into those that the loss sees, and scores back into predictions.

    Attributes
    ----------
    center, scale : ndarray of shape (k,)
        Numbers are standardized by these; zeros and ones for classes.
    classes : ndarray or None
        The classes: one column of -1 and +1 for two, one column per class for more.
    squeeze : bool
        Whether predictions have one dimension: a one-dimensional target, or two classes.
    offset : bool
        Whether offsets stand behind the targets.
    loss : Loss or None
        With the link from scores to predictions, where there is one.
    labels : bool
        Whether the classes are labels, of which a row may have several or none: one column of 0 and
        1 each.
    """

    center: np.ndarray
    scale: np.ndarray
    classes: np.ndarray | None
    squeeze: bool
    offset: bool = False
    loss: Loss | None = None
    labels: bool = False

    @property
    def n_outputs(self) -> int:
        """Number of columns of scores."""
        return len(self.center)

    def __call__(self, y: Any) -> np.ndarray:
        """Return targets of shape (n, k), and k offsets behind them where there are some."""
        y = np.asarray(y)
        if self.offset:
            y, offset = split_offset(y)
            return np.hstack([replace(self, offset=False)(y), offset / self.scale])
        if self.classes is None:
            numbers = np.asarray(y, dtype=float).reshape(len(y), -1)
            return np.asarray((numbers - self.center) / self.scale)
        if self.labels:
            return np.where(np.asarray(y, dtype=float) > 0.5, 1.0, -1.0)
        codes = np.searchsorted(self.classes, y.ravel())
        return encode_classes(codes, len(self.classes))

    def decode(self, scores: Array) -> Array:
        """Return the predictions behind scores of shape (n, k), in their own kind of array."""
        if self.classes is None:
            values = scores * like(self.scale, scores) + like(self.center, scores)
            if self.loss is not None:
                values = self.loss.inverse_link(values)
            return values[:, 0] if self.squeeze else values
        xp = namespace(scores)
        if self.labels:
            return xp.astype(scores > 0, xp.int64)
        two = self.squeeze
        codes = xp.astype(scores[:, 0] > 0, xp.int64) if two else xp.argmax(scores, axis=1)
        if isinstance(codes, np.ndarray):
            return self.classes[codes]
        if self.classes.dtype.kind not in "biuf":
            # No device holds texts.
            return self.classes[to_host(codes).astype(int)]
        return xp.take(xp.asarray(self.classes, device=scores.device), codes, axis=0)


def stack_offset(y: np.ndarray, offset: np.ndarray, classes: bool = False) -> np.ndarray:
    """Return targets with their offsets, one per target, in columns behind them.

    Labels of classes stay what they are.
    """
    y = np.asarray(y, dtype=object) if classes else np.asarray(y)
    y = y.reshape(len(y), -1)
    offset = np.broadcast_to(offset.reshape(len(y), -1), y.shape)
    return np.hstack([y, offset])


def log_exposure(exposure: Array) -> Array:
    """Return the logarithms, not finite where an exposure is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(exposure)


def split_offset(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return targets, of one dimension where there is one, and offsets of shape (n, k)."""
    k = y.shape[1] // 2
    targets, offset = y[:, :k], np.asarray(y[:, k:], dtype=float)
    if targets.dtype == object:
        targets = np.array(targets.tolist())  # labels of one type again
    return (targets[:, 0] if k == 1 else targets), offset


@dataclass(frozen=True)
class SurvivalEncoder(TargetEncoder):
    """Times until an event, as the columns that Cox's partial likelihood takes."""

    def __call__(self, y: Any) -> np.ndarray:
        """Return time, event, stratum and entry of every row."""
        return survival_columns(y)


def encode_classes(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return one column of -1 and +1 for two classes, else one column per class."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def measure_targets(
    rows: Rows, loss: Loss, *, standardize: bool, offset: bool = False
) -> TargetEncoder:
    """Return the encoder of the rows' targets, measured where the rows are.

    Parameters
    ----------
    rows : Rows
        With targets as the user gave them, or without any.
    loss : Loss
        Its ``target`` names the kind of target.
    standardize : bool
        Whether numbers are centered and scaled, where the loss allows it.
    offset : bool, default=False
        Whether offsets stand behind the targets.
    """
    values = rows.total(_block_targets, join=concatenate)
    return rows.fetch(rows.apply(_make_encoder, values, loss, standardize, offset))


def _block_targets(block: Block) -> Sums:
    # Targets that have not been encoded may be texts, which are on the host already.
    y = to_host(block.y) if is_foreign(block.y) else np.asarray(block.y)
    return y, to_host(block.s)


def _make_encoder(
    values: tuple[np.ndarray, np.ndarray], loss: Loss, standardize: bool, offset: bool
) -> TargetEncoder:
    y, s = values
    check_weights(s)  # those of lazy rows have not been checked before
    if y.ndim == 2 and not y.shape[1]:
        return TargetEncoder(np.zeros(0), np.ones(0), None, squeeze=False)
    if offset:
        y, offsets = split_offset(y)
        if not np.isfinite(offsets).all():
            raise RowsError(
                "The offset, or the logarithm of the exposure, has missing or infinite values: an "
                "offset must be finite, and an exposure positive."
            )
    kind = loss.target or TARGET_OF_TASK[loss.task]
    standardize = standardize and loss.scale_target
    if standardize and kind == "numbers":
        _check_shift(loss)
    encoder = TARGETS[kind](y, s, standardize, loss.robust)
    if offset and not encoder.labels and encoder.n_outputs > 1 and encoder.classes is not None:
        raise ValueError(
            "An offset is a known part of one score, and there is one for each of the "
            f"{encoder.n_outputs} classes: it needs two classes, or several labels."
        )
    if encoder.classes is None:
        loss.check_target(np.asarray(y, dtype=float))
        encoder = _one_per_level(encoder, loss)
    has_link = type(loss).inverse_link is not Loss.inverse_link
    return replace(encoder, offset=offset, loss=loss if has_link else None)


def _one_per_level(encoder: TargetEncoder, loss: Loss) -> TargetEncoder:
    """Return the encoder with as many equal columns as the loss has scores of one number."""
    if loss.n_levels == 1:
        return encoder
    if encoder.n_outputs > 1:
        raise ValueError(
            f"{loss!r} has several scores of one number, but the target has {encoder.n_outputs} "
            "columns: fit each of them by itself."
        )
    center, scale = (np.repeat(part, loss.n_levels) for part in (encoder.center, encoder.scale))
    return replace(encoder, center=center, scale=scale, squeeze=False)


def _check_shift(loss: Loss) -> None:
    """Raise where standardized targets would change what a loss means, unless it says they may.

    A loss of the difference of target and score is the same after a shift of both; that of counts
    is not.
    """
    classes = type(loss).__mro__
    own = classes[: classes.index(Loss)]
    if loss.couples_rows or any("scale_target" in vars(one) for one in own):
        return
    y, f = (np.tile(values[:, None], loss.n_levels) for values in SHIFT_PROBES)
    shift = 1.5
    with np.errstate(all="ignore"):
        here, there = loss.value(y, f), loss.value(y + shift, f + shift)
    if not np.allclose(here, there, rtol=1e-6, atol=1e-9):
        name = type(loss).__name__
        raise ValueError(
            f"{name} is no function of the difference of target and score, so that it means "
            "something else for standardized targets. Set scale_target = False in the class if it "
            "needs the targets as they are, as a loss of counts does, or scale_target = True if it "
            "is meant for standardized ones."
        )


def _encoder_of_classes(
    y: np.ndarray, s: np.ndarray, standardize: bool = False, robust: bool = False
) -> TargetEncoder:
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim == 2:
        return _encoder_of_labels(y, s)
    missing = _missing(y)
    if missing:
        raise RowsError(f"The target has {missing} missing values: drop those rows, or fill them.")
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"The target y has one class ({classes.tolist()[0]!r}): a classifier needs at least "
            "two classes."
        )
    counted = np.unique(y[s > 0])
    if len(counted) < len(classes):
        raise ValueError(
            "After removing rows of zero sample weight, less than one row per class is left: "
            f"{len(counted)} of {len(classes)} classes remain."
        )
    k = 1 if len(classes) == 2 else len(classes)
    return TargetEncoder(np.zeros(k), np.ones(k), classes, squeeze=k == 1)


def _encoder_of_labels(y: np.ndarray, s: np.ndarray) -> TargetEncoder:
    """Return the encoder of an indicator matrix, one column per label."""
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise ValueError(
            "A classification with several columns of targets is one of several labels: every "
            "column must hold 0 and 1. For several numbers use a regressor."
        )
    for label, column in enumerate(y[s > 0].T):
        if column.min() == column.max():
            have = "all rows have" if column.max() else "no row has"
            raise ValueError(
                f"The label in column {label} of the target separates nothing: {have} it. Leave "
                "it out."
            )
    k = y.shape[1]
    return TargetEncoder(np.zeros(k), np.ones(k), np.arange(k), squeeze=False, labels=True)


def _missing(y: np.ndarray) -> int:
    """Return the number of missing values of a target that may hold texts."""
    if y.dtype.kind == "f":
        return int(np.isnan(y).sum())
    if y.dtype.kind == "O":
        return sum(value is None or value != value for value in y.ravel())
    return 0


def _encoder_of_numbers(
    y: np.ndarray, s: np.ndarray, standardize: bool, robust: bool
) -> TargetEncoder:
    if y.dtype.kind not in "biuf":
        try:
            y = y.astype(float)
        except (TypeError, ValueError):
            raise RowsError(
                f"The target holds {y.dtype}, not numbers: a regression needs numbers."
            ) from None
    squeeze = y.ndim == 1
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    missing = int((~np.isfinite(y)).sum())
    if missing:
        raise RowsError(f"The target has {missing} missing or infinite values.")
    y, s = y[s > 0], s[s > 0]
    share = s / s.sum()
    largest = np.maximum(np.abs(y).max(axis=0), np.finfo(float).tiny)
    scaled = y / largest
    center = share @ scaled
    deviation = np.sqrt(share @ (scaled - center) ** 2)
    _check_varying(y, deviation)
    if not standardize:
        if largest.max() > LARGEST_RAW_VALUE:
            raise ValueError(
                f"y has values up to {largest.max():.1e}, which overflow inside the loss: "
                "leave standardize=True, or rescale y first."
            )
        return TargetEncoder(np.zeros(y.shape[1]), np.ones(y.shape[1]), None, squeeze)
    if robust:
        center = _weighted_median(scaled, s)
        spread = NORMAL_MAD * _weighted_median(np.abs(scaled - center), s)
        # Where half of the values are equal the deviation from them is zero.
        deviation = np.where(spread > 0, spread, deviation)
    return TargetEncoder(center * largest, deviation * largest, None, squeeze)


def _encoder_of_times(
    y: np.ndarray, s: np.ndarray, standardize: bool, robust: bool
) -> TargetEncoder:
    check_survival(survival_columns(y), s)
    return SurvivalEncoder(np.zeros(1), np.ones(1), None, squeeze=True)


def _check_varying(y: np.ndarray, deviation: np.ndarray) -> None:
    """Raise where an output is constant but for rounding."""
    constant = np.flatnonzero(deviation <= 10.0 * np.finfo(float).eps * np.sqrt(len(y)))
    if len(constant):
        which = "" if y.shape[1] == 1 else f" in output column {constant[0]}"
        raise ValueError(
            f"The target y is constant{which} (all values are {y[0, constant[0]]:g}): no "
            "feature can explain it. Check that the right column was given as y."
        )


def _weighted_median(values: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the median of each column, a row of weight 2 counting twice."""
    order = np.argsort(values, axis=0)
    total = np.cumsum(s[order], axis=0)
    half = 0.5 * total[-1]
    low = np.argmax(total >= half, axis=0)
    high = np.argmax(total > half, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    columns = np.arange(values.shape[1])
    return np.asarray(0.5 * (ranked[low, columns] + ranked[high, columns]))


# From a kind of target to the function that measures it, given the targets, the sample weights,
# whether to standardize, and whether by median and median absolute deviation, so that outliers do
# not set the scale on which a robust loss calls them outliers.
TARGETS: dict[str, Callable[[np.ndarray, np.ndarray, bool, bool], TargetEncoder]] = {
    "numbers": _encoder_of_numbers,
    "classes": _encoder_of_classes,
    "survival": _encoder_of_times,
}
TARGET_OF_TASK = {"regression": "numbers", "classification": "classes"}
