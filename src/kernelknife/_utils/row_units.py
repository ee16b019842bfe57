"""Rows that depend on each other: groups of rows, and blocks of neighbors in time.

Where rows depend on each other, a permutation of single rows shows what independent rows would do.
Whole groups, or whole blocks, are held out, exchanged and halved together instead.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length

from kernelknife._utils.checks import check_number

__all__ = ["RowUnits"]

FEWEST_UNITS = 4  # that a table must have


@dataclass(frozen=True, eq=False)
class RowUnits:
    """Groups of rows, or blocks of neighbors, that are treated as one.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        Unit of every row.
    size : int
        Rows of a block, 0 for groups.
    """

    codes: np.ndarray
    size: int = 0

    @classmethod
    def of(cls, n: int, groups: Any, blocks: int | None) -> Self | None:
        """Return the units of ``n`` rows, None where every row stands for itself.

        Parameters
        ----------
        n : int
        groups : array-like of shape (n,) or None
        blocks : int or None
            Rows of a block of neighbors.
        """
        if groups is None and blocks is None:
            return None
        if groups is None:
            check_number(blocks, "blocks", low=1, integer=True)
            codes, size = np.arange(n) // int(blocks), int(blocks)  # type: ignore[arg-type]
        elif blocks is not None:
            raise ValueError("Rows belong together by groups or by blocks, not by both.")
        else:
            groups = np.asarray(groups)
            check_consistent_length(np.empty(n), groups)
            codes, size = np.unique(groups, return_inverse=True)[1].ravel(), 0
        units = cls(codes, size)
        if len(units.members) < FEWEST_UNITS:
            what = f"blocks={blocks} makes" if groups is None else "groups has"
            raise ValueError(
                f"{what} {len(units.members)} units of {n} rows, and at least {FEWEST_UNITS} are "
                "needed: use smaller ones, or none."
            )
        return units

    @cached_property
    def members(self) -> list[np.ndarray]:
        """Rows of every unit."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.codes[order])) + 1)

    def held_out(
        self, share: float, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, Self]:
        """Return rows to hold out, rows to learn from, and the units of the first.

        Groups are drawn at random. Of blocks the last ones are held out, and the one before them is
        left out, so that no row to learn from is a neighbor of one that judges.
        """
        n, members = len(self.codes), self.members
        if self.size:
            n_out = max(round(share * n / self.size), 1)
            first = n - n_out * self.size  # blocks of the same length, counted from the end
            out, kept = np.arange(first, n), np.arange(max(first - self.size, 0))
            return out, kept, type(self)((out - first) // self.size, self.size)
        order = rng.permutation(len(members))
        sizes = np.cumsum([len(members[i]) for i in order])
        n_units = int(np.searchsorted(sizes, share * n)) + 1
        taken = np.isin(self.codes, order[:n_units])
        out = np.flatnonzero(taken)
        codes = np.unique(self.codes[out], return_inverse=True)[1].ravel()
        return out, np.flatnonzero(~taken), type(self)(codes)

    def one_of_each(self, rng: np.random.Generator) -> np.ndarray:
        """Return a random row of every unit, in the order of the rows."""
        return np.sort([rows[rng.integers(len(rows))] for rows in self.members])

    def thinned(self, most: int) -> Self:
        """Return the units of at most so many rows at even distances, as samples of rows are."""
        n = len(self.codes)
        if n <= most:
            return self
        kept = np.linspace(0, n - 1, most).astype(int)
        codes = np.unique(self.codes[kept], return_inverse=True)[1].ravel()
        return type(self)(codes, self.size and max(1, round(self.size * most / n)))

    def exchanged(self, rng: np.random.Generator) -> np.ndarray:
        """Return an order of the rows in which whole units have changed places."""
        members = self.members
        order = np.empty(len(self.codes), dtype=int)
        shuffled = [members[i] for i in rng.permutation(len(members))]
        order[np.concatenate(members)] = np.concatenate(shuffled)
        return order

    def surrogate(self, rng: np.random.Generator) -> np.ndarray:
        """Return an order that keeps the dependence of the rows: a shift in time for blocks."""
        n = len(self.codes)
        if not self.size:
            return self.exchanged(rng)
        return np.roll(np.arange(n), int(rng.integers(self.size, n - self.size + 1)))

    def within(self, values: np.ndarray) -> np.ndarray:
        """Return values less the mean of their block; values of groups stay as they are.

        Levels of a series drift, and two independent series seem to go together by their levels
        alone. What they do inside a block tells more.
        """
        if not self.size:
            return values
        means = np.bincount(self.codes, values) / np.bincount(self.codes)
        centered: np.ndarray = values - means[self.codes]
        return centered
