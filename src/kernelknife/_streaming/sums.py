"""The second scan: products of the functions of all columns, by cell of rows.

A row belongs to the cell that its hash names. Folds are some of the cells, and half-samples half of
them, so that no later question touches the rows again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernelknife._engine.data import Columns, RowsError
from kernelknife._engine.objective.primal import PrimalSums
from kernelknife._streaming.source import (
    NO_LEVEL,
    Columnar,
    Layout,
    Part,
    read_part,
    rows_of_block,
)
from kernelknife.kernels.basis import Curve

__all__ = [
    "CellSums",
    "Expansion",
    "block_products",
    "cells_of",
    "chunks",
    "coded",
    "join_products",
    "products_memory",
]

CHUNK_BYTES = 2**24  # of the functions of some rows: they should stay near the processor's caches
FEWEST_ROWS = 256
COPIES = 3  # of a block in work: as it was read, as numbers, and what is computed of these
EVEN = 1e-9  # share by which intervals of equal lengths may differ


@dataclass(frozen=True, eq=False)
class Expansion:
    """What every row becomes: the functions of its columns, a one, and the target.

    Attributes
    ----------
    columns : Columns
    levels : dict of dict
        By feature of texts: the number of every text.
    center, scale : float
        Of the target.
    n_cells : int
    classes : tuple
        The two values of a target of classes, -1 and +1 to the loss.
    """

    columns: Columns
    levels: dict[str, dict[str, int]]
    center: float
    scale: float
    n_cells: int
    classes: tuple[Any, ...] = ()

    def restricted(self, functions: np.ndarray) -> "Expansion":
        """Return the expansion to some of the functions, those of whole columns."""
        return replace(self, columns=self.columns.restricted(functions))

    @property
    def width(self) -> int:
        """Number of functions, with the one and the target."""
        return self.columns.n_seen + 2

    @cached_property
    def _lines(self) -> list["_Lines"]:
        """The functions of every column, as lines between positions."""
        basis = self.columns.basis
        assert basis is not None  # for the type checker: fill asks only where there is one
        return [_Lines.of(basis.curve(j)) for j in range(basis.n_columns)]

    def encoded(self, part: Part, target: str) -> np.ndarray:
        """Return the target of the rows of a block as the loss sees it."""
        if not self.classes:
            return (part.y - self.center) / self.scale
        values = (
            np.array(part.levels[target])[part.y.astype(int)] if target in part.levels else part.y
        )
        second = values == self.classes[1]
        if not (second | (values == self.classes[0])).all():
            other = values[~second & (values != self.classes[0])][0]
            raise RowsError(
                f"The target {target!r} is {other} in a row, which the first scan had not."
            )
        return np.where(second, 1.0, -1.0)

    def fill(self, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the functions of some rows, one below the other, with a one and the target.

        ``y`` is the target as the loss sees it.
        """
        columns = self.columns
        A = np.empty((self.width, len(rows)))
        A[-2], A[-1] = 1.0, y[rows]
        first = 0
        for place, (j, center, scale) in enumerate(
            zip(columns.index, columns.center, columns.scale, strict=True)
        ):
            z = X[j].take(rows)
            z -= center
            z /= scale
            if columns.basis is None:
                A[place] = z
            else:
                first += self._lines[place].fill(z, A[first:])
        return A


@dataclass(frozen=True, eq=False)
class _Lines:
    """The functions of a column as lines between positions: ``level + slope z`` in each interval.

    Function by function, with values that stay in the cache, it takes a seventh of the time of
    ``Basis.expand``.
    """

    positions: np.ndarray
    step: float  # between positions that are equally far apart, else 0
    level: np.ndarray  # of shape (r, g - 1)
    slope: np.ndarray

    @classmethod
    def of(cls, curve: Curve) -> "_Lines":
        """Return the lines of a curve."""
        at, table = curve.positions, curve.table
        gaps = np.diff(at)
        # Two positions may be equal but for rounding.
        slope = (np.diff(table, axis=0) / np.where(gaps > 0, gaps, 1.0)[:, None]).T
        level = table[:-1].T - slope * at[:-1]
        even = len(gaps) > 1 and np.ptp(gaps) <= EVEN * gaps.mean()
        step = float(at[-1] - at[0]) / len(gaps) if even else 0.0
        return cls(at, step, np.ascontiguousarray(level), np.ascontiguousarray(slope))

    def fill(self, z: np.ndarray, A: np.ndarray) -> int:
        """Write the functions into the first rows of an array; return how many these are."""
        at = self.positions
        np.clip(z, at[0], at[-1], out=z)
        if self.step:
            interval = ((z - at[0]) / self.step).astype(np.intp)
        else:
            interval = np.searchsorted(at[1:-1], z)
        product = np.empty_like(z)
        for row, level, slope in zip(A, self.level, self.slope, strict=False):
            # The last position belongs to the last interval.
            slope.take(interval, out=product, mode="clip")
            product *= z
            level.take(interval, out=row, mode="clip")
            row += product
        return len(self.level)


@dataclass(frozen=True)
class CellSums:
    """Products of all functions, by cell.

    Attributes
    ----------
    products : ndarray of shape (n_cells, d + 2, d + 2)
    weight : ndarray of shape (n_cells,)
    n_rows : ndarray of int of shape (n_cells,)
    functions : ndarray of int, default=None
        Which of the functions were summed, where these are not all: to the others, of which there
        are ``n_functions`` with them, every model is blind.
    n_functions : int, default=0
    """

    products: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray
    functions: np.ndarray | None = None
    n_functions: int = 0

    def embedded(self, products: np.ndarray) -> np.ndarray:
        """Return products of some functions as those of all, with zeros for the others."""
        if self.functions is None:
            return products
        d = self.n_functions
        places = np.concatenate([self.functions, [d, d + 1]])
        everything = np.zeros((d + 2, d + 2))
        everything[np.ix_(places, places)] = products
        return everything

    def of(self, cells: np.ndarray) -> PrimalSums:
        """Return the sums over some of the cells."""
        products = self.embedded(self.products[cells].sum(axis=0))
        return PrimalSums(
            products,
            len(products) - 2,
            1,
            float(self.weight[cells].sum()),
            int(self.n_rows[cells].sum()),
        )


def block_products(
    block: Columnar, number: int, layout: Layout, expansion: Expansion
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the products of a block, by cell, with weights and numbers of rows."""
    part = read_part(block, number, layout)
    n_cells, width = expansion.n_cells, expansion.width
    products, cells = np.zeros((n_cells, width, width)), cells_of(part, n_cells)
    X, y = coded(part, layout, expansion.levels), expansion.encoded(part, layout.target)
    equal = bool((part.s == 1.0).all())
    for rows in chunks(cells, width):
        A = expansion.fill(X, y, rows)
        if not equal:
            A *= np.sqrt(part.s[rows])
        ends = np.searchsorted(cells[rows], np.arange(n_cells + 1))
        for cell in np.flatnonzero(np.diff(ends)):
            some = A[:, ends[cell] : ends[cell + 1]]
            products[cell] += some @ some.T
    weight = np.bincount(cells, part.s, n_cells).astype(float)  # whole numbers without any rows
    return products, weight, np.bincount(cells, minlength=n_cells)


def cells_of(part: Part, n_cells: int) -> np.ndarray:
    """Return the cell of every row of a block."""
    return ((part.cells >> np.uint64(11)) % np.uint64(n_cells)).astype(np.intp)


def chunks(cells: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Yield the numbers of some rows after the others, those of a chunk in the order of cells."""
    step = max(FEWEST_ROWS, CHUNK_BYTES // (8 * width))
    order = np.argsort(cells, kind="stable")
    for first in range(0, len(cells), step):
        yield order[first : first + step]


def coded(part: Part, layout: Layout, levels: dict[str, dict[str, int]]) -> np.ndarray:
    """Return the features of a block with texts as the numbers that training gave them."""
    X = part.X
    for name in layout.texts:
        texts = part.levels[name]
        codes = np.array([levels[name].get(text, NO_LEVEL) for text in texts], dtype=float)
        j = layout.features.index(name)
        X[j] = codes[X[j].astype(np.intp)] if len(codes) else X[j]
    return X


def join_products(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return the sum of two results, which takes the place of the first."""
    for total, more in zip(a, b, strict=True):
        total += more
    return a


def products_memory(n_columns: int, width: int, n_cells: int, n_workers: int) -> int:
    """Return the bytes that a scan takes: products of all rows, and blocks that are in work."""
    block = 8 * rows_of_block(n_columns) * n_columns
    products = 8 * n_cells * width * width
    return (n_workers + 2) * (products + COPIES * block) + 3 * n_workers * CHUNK_BYTES
