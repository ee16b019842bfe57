"""The first scan: moments, values, levels and a sample, whatever the blocks are.

What is kept does not depend on where blocks begin or in which order they come: moments are joined
by the formula for two parts, the values of columns with few of them are counted, and the sample
takes the rows with the smallest hashes of what they hold, which is a random sample of the rows.
"""

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from kernelknife._engine.data import Columns, RowsError
from kernelknife._streaming.source import NO_LEVEL, Columnar, Layout, read_part
from kernelknife.kernels import Kernel
from kernelknife.kernels.basis import Basis, Curve

__all__ = ["Sketch", "block_sketch", "join_sketches"]

FEW_VALUES = 64  # values of a column of numbers that are counted; with more it has a sample
MOST_LEVELS = 100  # texts of a column
SAMPLE = 5000  # rows that the functions of a column of many values are learned from
LOOKED_AT = 1000  # values of a block that show most columns to have many

Key = TypeVar("Key", float, str)
Counts = dict[float, float] | None  # the weight of every value, None for too many values


@dataclass(frozen=True)
class Sketch:
    """What one scan finds out about the rows.

    Attributes
    ----------
    n_rows : int
        Of positive weight.
    weight : float
    mean, squares : ndarray of shape (p + 1,)
        Weighted means of features and target, and sums of squares about them.
    largest : ndarray of shape (p + 1,)
        Largest absolute values.
    values : tuple of (dict or None)
        By feature, and then of the target: the weight of each of its values.
    levels : dict of dict
        By column of texts: the weight of every text.
    keys : ndarray of uint64
        Hashes of the rows of the sample, increasing.
    X : ndarray of shape (p, n_sample)
        Their features; zeros in place of texts.
    y, s, offset : ndarray
        Their targets, weights and offsets.
    """

    n_rows: int
    weight: float
    mean: np.ndarray
    squares: np.ndarray
    largest: np.ndarray
    values: tuple[Counts, ...]
    levels: dict[str, dict[str, float]]
    keys: np.ndarray
    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    offset: np.ndarray

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations of features and target."""
        return np.asarray(np.sqrt(self.squares / self.weight))

    def counts_of_target(self, layout: Layout) -> dict[Any, float] | None:
        """Return the weight of every value of the target, None where there are many values."""
        return self.levels.get(layout.target, self.values[-1])

    def columns(self, layout: Layout, kernel: Kernel) -> Columns:
        """Return the columns that vary, standardized, with the functions of an additive kernel."""
        deviation, mean = self.deviation[:-1], self.mean[:-1]
        rounding = 10.0 * np.finfo(float).eps * np.sqrt(self.n_rows) * self.largest[:-1]
        texts = np.array([name in layout.texts for name in layout.features], dtype=bool)
        several = [len(self.levels.get(name, ())) > 1 for name in layout.features]
        index = np.flatnonzero(np.where(texts, several, deviation > rounding))
        if not len(index):
            raise RowsError(f"All columns of {layout.label} are constant: nothing can be selected.")
        texts = texts[index]
        center = np.where(texts, 0.0, mean[index])
        scale = np.where(texts, 1.0, np.maximum(deviation[index], np.finfo(float).tiny))
        columns = Columns(index, center, scale)
        if not kernel.expands:
            return columns
        curves: list[Curve | None] = [None] * len(index)
        for i in np.flatnonzero(texts):
            curves[i] = _curve_of_levels(self.levels[layout.features[index[i]]])
        few = int(getattr(kernel, "n_knots", FEW_VALUES))
        many = []
        for i in np.flatnonzero(~texts):
            counts = self.values[index[i]]
            if counts is None or len(counts) > few:
                many.append(i)
                continue
            at, share = (np.array(part) for part in zip(*sorted(counts.items()), strict=True))
            curves[i] = _basis(kernel, ((at - center[i]) / scale[i])[:, None], share).curve(0)
        if many:
            Z = (self.X[index[many]].T - center[many]) / scale[many]
            basis = _basis(kernel, Z, self.s)
            for place, i in enumerate(many):
                curves[i] = basis.curve(place)
        return replace(columns, basis=Basis.of_curves([c for c in curves if c is not None]))


def _basis(kernel: Kernel, Z: np.ndarray, share: np.ndarray) -> Basis:
    basis = kernel.make_basis(Z, share)
    assert basis is not None  # as of every kernel that expands columns
    return basis


def _curve_of_levels(weights: dict[str, float]) -> Curve:
    """Return the functions of a column of texts: standardized indicators, of unit size together.

    Levels are numbered in the order of their names; a text without a number is none of them.
    """
    share = np.array([weights[text] for text in sorted(weights)]) / sum(weights.values())
    inside = np.eye(len(share)) if len(share) > 2 else np.eye(2)[:, 1:]
    share = share if len(share) > 2 else share[1:]
    rows = np.concatenate([np.zeros((1, inside.shape[1])), inside])
    table = (rows - share) / np.sqrt(share * (1.0 - share) * len(share))
    return Curve(np.concatenate([[NO_LEVEL], np.arange(len(inside))]), table)


def block_sketch(block: Columnar, number: int, layout: Layout) -> tuple[Sketch]:
    """Return the sketch of one block."""
    part = read_part(block, number, layout)
    rows = np.vstack([part.X, part.y[None]])
    s, n = part.s, len(part.s)
    weight = float(s.sum())
    share = s / weight if n else s
    mean = rows @ share
    if (s == 1.0).all():
        squares = ((rows - mean[:, None]) ** 2).sum(axis=1)
    else:
        squares = (rows - mean[:, None]) ** 2 @ s
    values: list[Counts] = []
    levels = {}
    for name, column in zip((*layout.features, layout.target), rows, strict=True):
        if name in part.levels:
            values.append({})
            weights = np.bincount(column.astype(int), s, len(part.levels[name]))
            levels[name] = dict(zip(part.levels[name], weights.tolist(), strict=True))
        else:
            values.append(_counted(column, s))
    _check_levels(levels)
    kept = _smallest(part.keys)
    sketch = Sketch(
        n, weight, mean, squares, np.abs(rows).max(axis=1, initial=0.0), tuple(values), levels,
        part.keys[kept], part.X[:, kept], part.y[kept], s[kept], part.offset[kept],
    )  # fmt: skip
    for name in layout.texts:
        sketch.X[layout.features.index(name)] = 0.0  # numbers of texts differ between blocks
    return (sketch,)


def join_sketches(one: tuple[Sketch], two: tuple[Sketch]) -> tuple[Sketch]:
    """Return the sketch of the rows of two."""
    (a,), (b,) = one, two
    if not a.n_rows or not b.n_rows:
        return two if not a.n_rows else one
    weight = a.weight + b.weight
    gap = b.mean - a.mean
    keys = np.concatenate([a.keys, b.keys])
    kept = _smallest(keys)
    joined = Sketch(
        n_rows=a.n_rows + b.n_rows,
        weight=weight,
        mean=a.mean + gap * (b.weight / weight),
        squares=a.squares + b.squares + gap * gap * (a.weight * b.weight / weight),
        largest=np.maximum(a.largest, b.largest),
        values=tuple(map(_together, a.values, b.values)),
        levels={name: _added(a.levels[name], b.levels[name]) for name in a.levels},
        keys=keys[kept],
        X=np.concatenate([a.X, b.X], axis=1)[:, kept],
        y=np.concatenate([a.y, b.y])[kept],
        s=np.concatenate([a.s, b.s])[kept],
        offset=np.concatenate([a.offset, b.offset])[kept],
    )
    _check_levels(joined.levels)
    return (joined,)


def _check_levels(levels: dict[str, dict[str, float]]) -> None:
    for name, weights in levels.items():
        if len(weights) > MOST_LEVELS:
            raise RowsError(
                f"Column {name!r} has more than {MOST_LEVELS} different texts, as a name or a key "
                "has: leave it out, or group its texts first."
            )


def _smallest(keys: np.ndarray) -> np.ndarray:
    """Return the places of the smallest keys, in the order of the keys."""
    if len(keys) > SAMPLE:
        some = np.argpartition(keys, SAMPLE)[:SAMPLE]
        return np.asarray(some[np.argsort(keys[some], kind="stable")])
    return np.argsort(keys, kind="stable")


def _counted(column: np.ndarray, s: np.ndarray) -> Counts:
    """Return the weight of every value of a column, None where there are many values."""
    if len(np.unique(column[:LOOKED_AT])) > FEW_VALUES:
        return None
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > FEW_VALUES:
        return None
    return dict(zip((values + 0.0).tolist(), np.bincount(codes, s).tolist(), strict=True))


def _together(a: Counts, b: Counts) -> Counts:
    if a is None or b is None:
        return None
    both = _added(a, b)
    return both if len(both) <= FEW_VALUES else None


def _added(a: dict[Key, float], b: dict[Key, float]) -> dict[Key, float]:
    both = dict(a)
    for value, weight in b.items():
        both[value] = both.get(value, 0.0) + weight
    return both
