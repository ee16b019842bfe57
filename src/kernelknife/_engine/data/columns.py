"""The columns of X: checked, the constant ones left out, the others standardized.

The moments are sums over blocks of rows. A first pass finds the largest value of every column and
the values that are missing; a second one takes the moments of the columns divided by that value,
about a mean that a sample suggests. Neither scales such as 1e-200 and 1e200 nor a common shift of
1e12 then cost any digits.

A gap in a column, NaN, is seen as two numbers: 0, which is the mean, where the value would be, and
1 in an indicator beside it. Both have the weight of the column, so that a gap may mean something,
and two rows of which one has a gap are as far apart as they are on average. Without a gap in the
training rows a column has no indicator, and a gap in a later row is the mean.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from kernelknife._engine.data.rows import Block, Rows, RowsError, Sample, Sums
from kernelknife._utils.arrays import Array, like, namespace, take_columns, to_host
from kernelknife.kernels.basis import Basis

__all__ = [
    "MISSING",
    "Columns",
    "Moments",
    "as_taken",
    "check_finite",
    "even_sample",
    "filled",
    "measure_columns",
    "rows_to_look_at",
    "take_both",
]

SHIFT_ROWS = 1000  # rows that suggest the means: a rough mean is enough to save all digits
LARGEST_RAW_VALUE = 1e50  # kernels and losses of larger values overflow
NAMED_COLUMNS = 5  # columns that an error message names before it counts the rest
MISSING = ("indicator", "mean", "error")  # what becomes of gaps


def _no_columns() -> np.ndarray:
    return np.zeros(0, dtype=int)


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
    gaps : ndarray of int
        Which of the columns ``index`` have an indicator of gaps, increasing. It stands behind the
        functions of its column.
    refuses_gaps : bool
        Whether a gap in a row to predict is an error.
    fill : ndarray or None
        What stands for a missing value, by column of ``index``: the mean. None is 0, the mean of
        centered columns.
    """

    index: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    basis: Basis | None = None
    ready: bool = False
    gaps: np.ndarray = field(default_factory=_no_columns)
    refuses_gaps: bool = False
    fill: np.ndarray | None = None

    @classmethod
    def as_seen(cls, n_seen: int) -> "Columns":
        """Return columns that come as the kernel sees them."""
        return cls(np.arange(n_seen), np.zeros(n_seen), np.ones(n_seen), ready=True)

    @property
    def n_seen(self) -> int:
        """Number of columns that the kernel sees."""
        return len(self._function_sources) + len(self.gaps)

    @property
    def sources(self) -> np.ndarray:
        """Which of the columns ``index`` each column that the kernel sees comes from."""
        sources = self._function_sources
        return np.sort(np.concatenate([sources, self.gaps])) if len(self.gaps) else sources

    @property
    def indicators(self) -> np.ndarray:
        """Which of the columns that the kernel sees are indicators of gaps."""
        return np.searchsorted(self.sources, self.gaps, side="right") - 1

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What separate effects are made of: the functions of a column, or its indicator of gaps.

        The first array is the part that each column that the kernel sees belongs to; the others
        are, for every part, which of the columns ``index`` it is of, and whether it is of gaps.
        """
        sources, is_gap = self.sources, np.zeros(self.n_seen, dtype=bool)
        is_gap[self.indicators] = True
        first = np.ones(self.n_seen, dtype=bool)
        first[1:] = (sources[1:] != sources[:-1]) | is_gap[1:]
        return np.cumsum(first) - 1, sources[first], is_gap[first]

    @property
    def _function_sources(self) -> np.ndarray:
        return np.arange(len(self.index)) if self.basis is None else self.basis.sources

    def standardize(self, X: Array) -> Array:
        """Return the columns ``index`` of X standardized, given just these, their gaps as NaN."""
        return (X - like(self.center, X)) / like(self.scale, X)

    def transform(self, X: Array) -> Array:
        """Return what the kernel sees of the columns ``index`` of X, given just these."""
        if self.ready:
            return X
        Z = self.standardize(X)
        xp = namespace(Z)
        gap = xp.isnan(Z)
        if not len(self.gaps) and not bool(xp.any(gap)):
            return Z if self.basis is None else self.basis.expand(Z)
        fill = xp.zeros_like(Z) if self.fill is None else like(self.fill, Z)
        seen = xp.where(gap, fill, Z)
        if self.basis is not None:
            seen = self.basis.expand(seen)
            hidden = take_columns(gap, self.basis.sources)
            seen = xp.where(hidden, xp.zeros_like(seen), seen)
        if not len(self.gaps):
            return seen
        indicators = xp.astype(take_columns(gap, self.gaps), seen.dtype)
        order = np.argsort(np.concatenate([self._function_sources, self.gaps]), kind="stable")
        return take_columns(xp.concat([seen, indicators], axis=1), order)

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
        if self.basis is not None or len(self.gaps):
            sources = self.sources[seen]
            kept = sources[np.sort(np.unique(sources, return_index=True)[1])]
        return replace(
            self,
            index=self.index[kept],
            center=self.center[kept],
            scale=self.scale[kept],
            basis=None if self.basis is None else self.basis.restricted(kept),
            gaps=np.flatnonzero(np.isin(kept, self.gaps)),
            fill=None if self.fill is None else self.fill[kept],
        )


@dataclass(frozen=True)
class Moments:
    """What two passes over the rows measure of the columns.

    Attributes
    ----------
    total_weight : float
        Sum of the sample weights.
    gap_weight, present_weight : ndarray of shape (p,)
        That of the rows in which a column has a gap, and of the others.
    largest : ndarray of shape (p,)
        Largest absolute value among the rows of positive weight.
    mean, deviation : ndarray of shape (p,)
        Of the columns divided by ``largest``, over the values that are there.
    n_rows : int
    missing : {"indicator", "mean", "error"}
        What becomes of gaps.
    """

    total_weight: float
    gap_weight: np.ndarray
    present_weight: np.ndarray
    largest: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    n_rows: int
    missing: str

    @property
    def unit(self) -> np.ndarray:
        """What the columns are divided by: ``largest``, and 1 for columns of zeros."""
        return np.where(self.largest > 0, self.largest, 1.0)

    @property
    def rounding(self) -> float:
        """Deviation that a constant column may still have, of the order of its rounding errors."""
        return float(10.0 * np.finfo(float).eps * np.sqrt(self.n_rows))

    @property
    def indicated(self) -> np.ndarray:
        """Which columns have an indicator of gaps: those with some of their values, and not all."""
        some = (self.gap_weight > 0) & (self.present_weight > 0)
        return np.asarray(some & (self.missing == "indicator"))

    @property
    def varying(self) -> np.ndarray:
        """Which columns are not constant."""
        return np.asarray((self.deviation > self.rounding) | self.indicated)

    def standardized(self, index: np.ndarray) -> Columns:
        """Return some columns, centered and scaled; none of them is constant."""
        unit, deviation = self.unit[index], self.deviation[index]
        # A deviation that underflows would divide by zero, and that of a column whose values are
        # all alike beside its gaps is rounding.
        scale = np.maximum(deviation * unit, np.finfo(float).tiny)
        scale = np.where(deviation > self.rounding, scale, unit)
        return self._with_gaps(Columns(index, self.mean[index] * unit, scale))

    def raw(self, index: np.ndarray, *, center: bool) -> Columns:
        """Return some columns in the user's units, centered or not."""
        mean, zeros = self.mean[index] * self.unit[index], np.zeros(len(index))
        ones = np.ones(len(index))
        if center:
            return self._with_gaps(Columns(index, mean, ones))
        return self._with_gaps(Columns(index, zeros, ones, fill=mean))

    def _with_gaps(self, columns: Columns) -> Columns:
        gaps = np.flatnonzero(self.indicated[columns.index])
        return replace(columns, gaps=gaps, refuses_gaps=self.missing == "error")


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
    rows: Rows,
    *,
    standardize: bool,
    center: bool,
    missing: str = "indicator",
    left_out: np.ndarray | None = None,
) -> tuple[Columns, Moments]:
    """Find the constant columns, and center and scale of the others.

    Parameters
    ----------
    standardize : bool
        Center and scale; otherwise only center, if ``center`` is True.
    center : bool
        Whether a shift leaves the kernel unchanged, so that centering is free accuracy.
    missing : {"indicator", "mean", "error"}, default="indicator"
        What becomes of gaps.
    left_out : ndarray of int, default=None
        Columns that the kernel does not see.
    """
    moments = measure_moments(rows, missing)
    p = rows.shape[1]
    varying = np.flatnonzero(moments.varying)
    if left_out is not None:
        varying = np.setdiff1d(varying, left_out)
    if not len(varying) and moments.varying.any():
        raise ValueError(
            "Every column of X that varies is adjusted for: there is nothing to select from. Leave "
            "one of them out of adjust_for."
        )
    if not len(varying) and not moments.present_weight.any():
        raise ValueError(f"All {p} column(s) of X hold nothing but gaps: there are no values.")
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
    return moments.raw(varying, center=center), moments


def measure_moments(rows: Rows, missing: str = "indicator") -> Moments:
    """Return the moments of all columns by two passes over the rows; infinity is refused."""
    refuses_gaps = missing == "error"
    p = rows.shape[1]
    everything = np.arange(p)
    extremes = rows.total(column_extremes, everything, refuses_gaps, width=p, join=merge_extremes)
    total, largest, gaps, infinite, first_block, absent, present = rows.fetch(extremes)
    if infinite.any() or (refuses_gaps and gaps.any()):
        place = rows.block_label(int(first_block))
        raise RowsError(gap_message(gaps * refuses_gaps, infinite, rows.names, place))
    if not np.isfinite(total) or total <= 0:
        raise ValueError("sample_weight must be finite and >= 0, and not all zero.")
    unit = np.where(largest > 0, largest, 1.0)
    sample = rows.sample(even_sample(rows.shape[0], SHIFT_ROWS))
    shift = rows.fetch(rows.apply(_sample_mean, sample, unit))
    first, second = rows.fetch(rows.total(column_moments, everything, unit, shift, width=p))
    share = np.where(present > 0, present, 1.0)
    offset = to_host(first) / share
    deviation = np.sqrt(np.maximum(to_host(second) / share - offset * offset, 0.0))
    mean, n = shift + offset, rows.shape[0]
    return Moments(float(total), absent, present, largest, mean, deviation, n, missing)


def even_sample(n: int, size: int) -> np.ndarray:
    """Return at most ``size`` of ``n`` row numbers, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, size)).astype(int))


def rows_to_look_at(rows: Rows, size: int) -> np.ndarray:
    """Return at most ``size`` row numbers, evenly spread over the rows that count."""
    return rows.numbers(even_sample(rows.n_counted, size))


def column_extremes(block: Block, index: np.ndarray, refuses_gaps: bool) -> Sums:
    """Return weight, largest values, counts of NaN and infinity, and the block if it is refused.

    With them the weight of the rows in which each column has a gap, and of those in which it has a
    value.
    """
    X = block.columns(index)
    s = to_host(block.s)
    zeros = np.zeros(len(index), dtype=int)
    weight = float(s.sum()) if np.isfinite(s).all() and (s >= 0).all() else np.nan
    if isinstance(X, np.ndarray):
        used = X if s.all() else X[s > 0]
        # The maximum is finite unless a value is not: one pass finds both.
        largest = np.abs(used).max(axis=0, initial=0.0)
        if s.all() and np.isfinite(largest).all():
            nothing, everything = np.zeros(len(index)), np.full(len(index), weight)
            return weight, largest, zeros, zeros, np.inf, nothing, everything
        gap, infinity = np.isnan(X), np.isinf(X)
        largest = np.abs(np.where(gap[s > 0], 0.0, X[s > 0])).max(axis=0, initial=0.0)
    else:
        xp = namespace(X)
        counted = like(np.where(s > 0, 1.0, 0.0), X)[:, None]
        sizes = xp.where(xp.isnan(X), xp.zeros_like(X), xp.abs(X)) * counted
        largest = to_host(xp.max(sizes, axis=0)) if X.shape[0] else zeros * 0.0
        gap, infinity = to_host(xp.isnan(X)), to_host(xp.isinf(X))
    gaps, infinite = gap.sum(axis=0), infinity.sum(axis=0)
    bad = infinite.any() or (refuses_gaps and gaps.any())
    number = float(block.number) if bad else np.inf
    present = np.where(gaps > 0, s @ ~gap, weight)
    return weight, largest, gaps, infinite, number, s @ gap, present


def merge_extremes(a: Sums, b: Sums) -> Sums:
    """Join the extremes of two blocks."""
    sums = (x + y for x, y in zip(a[2:4] + a[5:], b[2:4] + b[5:], strict=True))
    gaps, infinite, absent, present = sums
    largest, number = np.maximum(a[1], b[1]), min(a[4], b[4])
    return a[0] + b[0], largest, gaps, infinite, number, absent, present


def column_moments(block: Block, index: np.ndarray, unit: np.ndarray, shift: np.ndarray) -> Sums:
    """Return the first and second moments of ``X / unit`` about ``shift``; gaps do not count."""
    X = block.columns(index)
    centered = X / like(unit, X) - like(shift, X)
    xp = namespace(centered)
    gap = xp.isnan(centered)
    if bool(xp.any(gap)):
        centered = xp.where(gap, xp.zeros_like(centered), centered)
    s = block.s
    return s @ centered, s @ (centered * centered)


def _sample_mean(sample: Sample, unit: np.ndarray) -> np.ndarray:
    """Return the mean of a sample's scaled columns, weighted unless all its weights are zero."""
    s = np.asarray(sample.s, dtype=float)
    share = s / s.sum() if s.any() else np.full(len(s), 1.0 / len(s))
    X = np.asarray(sample.X, dtype=float) / unit
    gap = np.isnan(X)
    if not gap.any():
        return np.asarray(share @ X)
    present = share @ ~gap
    return np.asarray(share @ np.where(gap, 0.0, X) / np.where(present > 0, present, 1.0))


def filled(X: np.ndarray) -> np.ndarray:
    """Return columns with the median in place of every gap, for what only compares columns."""
    gap = np.isnan(X)
    if not gap.any():
        return X
    empty = gap.all(axis=0)
    return np.where(gap, np.nanmedian(np.where(empty, 0.0, X), axis=0), X)


def check_finite(X: np.ndarray, names: np.ndarray | None, *, refuses_gaps: bool = True) -> None:
    """Raise a ValueError that names the columns with infinity, or with NaN where it is refused."""
    # One sum finds any NaN without a temporary array; overflow of finite values is checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    gaps, infinite = np.isnan(X).sum(axis=0) * refuses_gaps, np.isinf(X).sum(axis=0)
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
    remedy = (
        "Drop or impute them first, for example with sklearn.impute.SimpleImputer, or leave "
        "missing='indicator', which takes gaps as they are."
        if gaps.any()
        else "Replace them, or make them NaN, which stands for a missing value."
    )
    return (
        f"Input X contains {kinds} in column{'s' if len(columns) > 1 else ''} {shown}{more} "
        f"({count} value{'s' if count > 1 else ''}{place and f' in {place}'}). {remedy}"
    )
