"""The columns of X: checked, the constant ones left out, the others standardized.

The moments are sums over blocks of rows. A first pass finds the largest value of every column and
the values that are missing; a second one takes the moments of the columns divided by that value,
about a mean that a sample suggests. Neither scales such as 1e-200 and 1e200 nor a common shift of
1e12 then cost any digits.
"""

from dataclasses import dataclass

import numpy as np

from kernelknife._engine.data.rows import Block, Rows, RowsError, Sample, Sums
from kernelknife._utils.arrays import Array, like, namespace, take_columns, to_host
from kernelknife.kernels.basis import Basis

__all__ = [
    "Columns",
    "Moments",
    "as_taken",
    "check_finite",
    "even_sample",
    "measure_columns",
    "rows_to_look_at",
    "take_both",
]

SHIFT_ROWS = 1000  # rows that suggest the means: a rough mean is enough to save all digits
LARGEST_RAW_VALUE = 1e50  # kernels and losses of larger values overflow
NAMED_COLUMNS = 5  # columns that an error message names before it counts the rest


@dataclass(frozen=True)
class Columns:
    """The columns that a problem has, and how a user's columns are turned into them.

    Attributes
    ----------
    index : ndarray of int
        The user's columns that are not constant; for ``ready`` ones, columns of rows that were
        transformed once.
    center, scale : ndarray, one entry per column of ``index``
    basis : Basis or None
        Functions of the standardized columns that the kernel sees in their place.
    ready : bool
        Whether the columns come as the kernel sees them, so that nothing is left to do.
    """

    index: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    basis: Basis | None = None
    ready: bool = False

    @classmethod
    def as_seen(cls, n_seen: int) -> "Columns":
        """Return columns that come as the kernel sees them."""
        return cls(np.arange(n_seen), np.zeros(n_seen), np.ones(n_seen), ready=True)

    @property
    def n_seen(self) -> int:
        """Number of columns that the kernel sees."""
        return len(self.index) if self.basis is None else int(self.basis.widths.sum())

    @property
    def sources(self) -> np.ndarray:
        """Which of the columns ``index`` each column that the kernel sees comes from."""
        return np.arange(len(self.index)) if self.basis is None else self.basis.sources

    def transform(self, X: Array) -> Array:
        """Return what the kernel sees of the columns ``index`` of X, given just these."""
        if self.ready:
            return X
        Z = (X - like(self.center, X)) / like(self.scale, X)
        return Z if self.basis is None else self.basis.expand(Z)

    def take(self, X: Array) -> Array:
        """Return what the kernel sees, given all columns of X."""
        return self.transform(take_columns(X, self.index))

    def of_block(self, block: Block) -> Array:
        """Return what the kernel sees of a block of rows; other columns are not read."""
        return self.transform(block.columns(self.index))

    def restricted(self, seen: np.ndarray) -> "Columns":
        """Return the columns behind some of those that the kernel sees, in their order.

        All functions of a column are asked for together, because they share a weight.
        """
        kept = seen
        if self.basis is not None:
            sources = self.sources[seen]
            kept = sources[np.sort(np.unique(sources, return_index=True)[1])]
        basis = None if self.basis is None else self.basis.restricted(kept)
        return Columns(self.index[kept], self.center[kept], self.scale[kept], basis, self.ready)


@dataclass(frozen=True)
class Moments:
    """What two passes over the rows measure of the columns.

    Attributes
    ----------
    total_weight : float
        Sum of the sample weights.
    largest : ndarray of shape (p,)
        Largest absolute value among the rows of positive weight.
    mean, deviation : ndarray of shape (p,)
        Of the columns divided by ``largest``.
    n_rows : int
    """

    total_weight: float
    largest: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    n_rows: int

    @property
    def varying(self) -> np.ndarray:
        """Which columns are not constant."""
        # A constant column still has a deviation of the order of its rounding errors.
        rounding = 10.0 * np.finfo(float).eps * np.sqrt(self.n_rows)
        return np.asarray(self.deviation > rounding)

    @property
    def unit(self) -> np.ndarray:
        """What the columns are divided by: ``largest``, and 1 for columns of zeros."""
        return np.where(self.largest > 0, self.largest, 1.0)

    def standardized(self, index: np.ndarray) -> Columns:
        """Return some columns, centered and scaled; none of them is constant."""
        unit = self.unit[index]
        # A deviation that underflows would divide by zero.
        scale = np.maximum(self.deviation[index] * unit, np.finfo(float).tiny)
        return Columns(index, self.mean[index] * unit, scale)


def take_both(columns: Columns, adjusted: Columns | None, X: Array) -> Array:
    """Return what the kernel sees of all columns of X, and behind it the adjusted columns."""
    Z = columns.take(X)
    return Z if adjusted is None else namespace(Z).concat([Z, adjusted.take(X)], axis=1)


def as_taken(columns: Columns, adjusted: Columns | None) -> tuple[Columns, Columns | None]:
    """Return both kinds of columns as they are in the result of :func:`take_both`."""
    n_seen, n_adjusted = columns.n_seen, 0 if adjusted is None else adjusted.n_seen
    taken = Columns.as_seen(n_seen + n_adjusted)
    if adjusted is None:
        return taken, None
    return (
        taken.restricted(np.arange(n_seen)),
        taken.restricted(np.arange(n_seen, n_seen + n_adjusted)),
    )


def measure_columns(
    rows: Rows, *, standardize: bool, center: bool, left_out: np.ndarray | None = None
) -> tuple[Columns, Moments]:
    """Find the constant columns, and center and scale of the others.

    Parameters
    ----------
    standardize : bool
        Center and scale; otherwise only center, if ``center`` is True.
    center : bool
        Whether a shift leaves the kernel unchanged, so that centering is free accuracy.
    left_out : ndarray of int, default=None
        Columns that the kernel does not see.
    """
    moments = measure_moments(rows)
    p = rows.shape[1]
    varying = np.flatnonzero(moments.varying)
    if left_out is not None:
        varying = np.setdiff1d(varying, left_out)
    if not len(varying):
        raise ValueError(f"All {p} column(s) of X are constant: there is nothing to select from.")
    largest = float(moments.largest.max())
    if not standardize and largest > LARGEST_RAW_VALUE:
        raise ValueError(
            f"X has values up to {largest:.1e}, which overflow inside a kernel: leave "
            "standardize=True, or rescale the columns first."
        )
    if standardize:
        return moments.standardized(varying), moments
    unit, mean = moments.unit[varying], moments.mean[varying]
    center_at = mean * unit if center else np.zeros(len(varying))
    return Columns(varying, center_at, np.ones(len(varying))), moments


def measure_moments(rows: Rows) -> Moments:
    """Return the moments of all columns by two passes over the rows."""
    p = rows.shape[1]
    everything = np.arange(p)
    extremes = rows.total(column_extremes, everything, width=p, join=merge_extremes)
    total, largest, gaps, infinite, first_block = rows.fetch(extremes)
    if gaps.any() or infinite.any():
        place = rows.block_label(int(first_block))
        raise RowsError(gap_message(gaps, infinite, rows.names, place))
    if not np.isfinite(total) or total <= 0:
        raise ValueError("sample_weight must be finite and >= 0, and not all zero.")
    unit = np.where(largest > 0, largest, 1.0)
    sample = rows.sample(even_sample(rows.shape[0], SHIFT_ROWS))
    shift = rows.fetch(rows.apply(_sample_mean, sample, unit))
    first, second = rows.fetch(rows.total(column_moments, everything, unit, shift, width=p))
    offset = to_host(first) / total
    deviation = np.sqrt(np.maximum(to_host(second) / total - offset * offset, 0.0))
    return Moments(float(total), largest, shift + offset, deviation, rows.shape[0])


def even_sample(n: int, size: int) -> np.ndarray:
    """Return at most ``size`` of ``n`` row numbers, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, size)).astype(int))


def rows_to_look_at(rows: Rows, size: int) -> np.ndarray:
    """Return at most ``size`` row numbers, evenly spread over the rows that count."""
    return rows.numbers(even_sample(rows.n_counted, size))


def column_extremes(block: Block, index: np.ndarray) -> Sums:
    """Return weight, largest values, counts of NaN and infinity, and the block if it has some."""
    X = block.columns(index)
    s = to_host(block.s)
    zeros = np.zeros(len(index), dtype=int)
    weight = float(s.sum()) if np.isfinite(s).all() and (s >= 0).all() else np.nan
    if isinstance(X, np.ndarray):
        used = X if s.all() else X[s > 0]
        # The maximum is finite unless a value is not: one pass finds both.
        largest = np.abs(used).max(axis=0, initial=0.0)
        if s.all() and np.isfinite(largest).all():
            return weight, largest, zeros, zeros, np.inf
        gaps, infinite = np.isnan(X).sum(axis=0), np.isinf(X).sum(axis=0)
    else:
        xp = namespace(X)
        counted = like(np.where(s > 0, 1.0, 0.0), X)[:, None]
        largest = to_host(xp.max(xp.abs(X) * counted, axis=0)) if X.shape[0] else zeros * 0.0
        gaps, infinite = (
            to_host(xp.sum(xp.astype(bad, xp.int64), axis=0)).astype(int)
            for bad in (xp.isnan(X), xp.isinf(X))
        )
    bad = (gaps + infinite).any()
    return weight, largest, gaps, infinite, float(block.number) if bad else np.inf


def merge_extremes(a: Sums, b: Sums) -> Sums:
    """Join the extremes of two blocks."""
    return a[0] + b[0], np.maximum(a[1], b[1]), a[2] + b[2], a[3] + b[3], min(a[4], b[4])


def column_moments(block: Block, index: np.ndarray, unit: np.ndarray, shift: np.ndarray) -> Sums:
    """Return the first and second moments of ``X / unit`` about ``shift``."""
    X = block.columns(index)
    centered = X / like(unit, X) - like(shift, X)
    s = block.s
    return s @ centered, s @ (centered * centered)


def _sample_mean(sample: Sample, unit: np.ndarray) -> np.ndarray:
    """Return the mean of a sample's scaled columns, weighted unless all its weights are zero."""
    s = np.asarray(sample.s, dtype=float)
    share = s / s.sum() if s.any() else np.full(len(s), 1.0 / len(s))
    return np.asarray(share @ (np.asarray(sample.X, dtype=float) / unit))


def check_finite(X: np.ndarray, names: np.ndarray | None) -> None:
    """Raise a ValueError that names the columns with NaN or infinity."""
    # One sum finds any NaN without a temporary array; overflow of finite values is checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    gaps, infinite = np.isnan(X).sum(axis=0), np.isinf(X).sum(axis=0)
    if gaps.any() or infinite.any():
        raise ValueError(gap_message(gaps, infinite, names))


def gap_message(
    gaps: np.ndarray, infinite: np.ndarray, names: np.ndarray | None, place: str = ""
) -> str:
    """Return a sentence with the columns that lack numbers, how many, and what to do."""
    bad = gaps + infinite
    columns, count = np.flatnonzero(bad), int(bad.sum())
    kinds = " and ".join(
        kind for kind, found in (("NaN", gaps), ("infinity", infinite)) if found.any()
    )
    shown = ", ".join(
        str(j) if names is None else repr(str(names[j])) for j in columns[:NAMED_COLUMNS]
    )
    rest = len(columns) - NAMED_COLUMNS
    more = f" and {rest} more" if rest > 0 else ""
    return (
        f"Input X contains {kinds} in column{'s' if len(columns) > 1 else ''} {shown}{more} "
        f"({count} value{'s' if count > 1 else ''}{place and f' in {place}'}). Drop or impute them "
        "first, for example with "
        "sklearn.impute.SimpleImputer."
    )
