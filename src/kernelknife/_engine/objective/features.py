"""Whose weight each column carries, and how the weights enter a kernel's form.

A kernel's form takes one number ``v`` per column. The weight of a column's feature enters as
``v = w`` for kernels that are linear in the weights, and as ``v = w**2`` for the others (the
paper's equation for non-linear kernels). Columns of a group share one weight.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelknife._utils.arrays import Array, like, namespace
from kernelknife.kernels import Kernel

__all__ = ["Chain", "Features", "Subset"]


# A weight that is always kept stays at this at least: from much less it would hardly return where
# v = w**2, and with much more a column that says nothing would have a say.
LEAST_KEPT = 1e-3


@dataclass(frozen=True)
class Chain:
    """Turns derivatives in the form's ``v`` (last axis) into derivatives in the weights."""

    factor: np.ndarray | None  # dv/dw of every weight's columns, None where it is 1
    first: np.ndarray | None  # where each weight's columns begin, None for one column each

    def __call__(self, in_v: Array) -> Array:
        """Return the derivatives in the weights; a NumPy array may be overwritten."""
        sums = in_v if self.first is None else _add_columns(in_v, self.first)
        if self.factor is None:
            return sums
        if isinstance(sums, np.ndarray):
            sums *= self.factor
            return sums
        return sums * like(self.factor, sums)


def _add_columns(in_v: Array, first: np.ndarray) -> Array:
    """Return sums over the columns of every weight, given where each one's begin."""
    if not len(first):
        return in_v[..., :0]
    if isinstance(in_v, np.ndarray):
        return np.add.reduceat(in_v, first, axis=-1)
    xp = namespace(in_v)
    ends = [*first[1:], in_v.shape[-1]]
    sums = [xp.sum(in_v[..., a:z], axis=-1) for a, z in zip(first, ends, strict=True)]
    return xp.stack(sums, axis=-1)


@dataclass(frozen=True, eq=False)
class Subset:
    """The weights ``active`` and their columns.

    Attributes
    ----------
    active : ndarray of int
        Increasing indices of weights.
    columns : ndarray of int
        Their columns; those of one weight stand together, so that sums over them are slices.
    owner : ndarray of int or None
        Position in ``active`` of each column's weight, None for one column per weight.
    squared : bool
        Whether ``v = w**2``.
    """

    active: np.ndarray
    columns: np.ndarray
    owner: np.ndarray | None
    squared: bool

    @cached_property
    def first(self) -> np.ndarray | None:
        """Where each weight's columns begin, None for one column per weight."""
        if self.owner is None:
            return None
        return np.searchsorted(self.owner, np.arange(len(self.active)))

    def spread(self, w: np.ndarray) -> np.ndarray:
        """Return the weight of every column, given all weights."""
        w = w[self.active]
        return w if self.owner is None else w[self.owner]

    def form_weights(self, w: np.ndarray) -> np.ndarray:
        """Return ``v`` of every column, given all weights."""
        spread = self.spread(w)
        return spread * spread if self.squared else spread

    def chain(self, w: np.ndarray) -> Chain:
        """Return the chain rule at the weights ``w``."""
        return Chain(2.0 * w[self.active] if self.squared else None, self.first)


class Features:
    """The features of a problem: one weight each, one column or several.

    Parameters
    ----------
    n_columns : int
    owner : ndarray of int of shape (n_columns,), default=None
        Index of the weight of each column; None gives each column its own.
    costs : ndarray of shape (n_weights,), default=None
        Factors of the weight penalty; None means ones.
    squared : bool, default=True
        Whether the weights enter as ``v = w**2``.
    kept : ndarray of bool of shape (n_weights,), default=None
        Weights that are never zero; they cost nothing. None means that all of them may be.
    """

    def __init__(
        self,
        n_columns: int,
        owner: np.ndarray | None = None,
        costs: np.ndarray | None = None,
        *,
        squared: bool = True,
        kept: np.ndarray | None = None,
    ):
        self.n_columns, self.owner, self.squared = n_columns, owner, squared
        self.n_weights = n_columns if owner is None else int(owner.max()) + 1
        self.costs = np.ones(self.n_weights) if costs is None else np.asarray(costs, dtype=float)
        self.kept = kept if kept is not None and kept.any() else None
        if self.kept is not None:
            self.costs = np.where(self.kept, 0.0, self.costs)
        self._order = np.arange(n_columns) if owner is None else np.argsort(owner, kind="stable")
        self.everything = self.select(np.arange(self.n_weights))

    @classmethod
    def of_columns(
        cls,
        n_columns: int,
        groups: np.ndarray | None = None,
        column_costs: np.ndarray | None = None,
        *,
        squared: bool = True,
        kept: np.ndarray | None = None,
    ) -> "Features":
        """Return the features of groups of columns; a group costs what its columns cost together.

        Parameters
        ----------
        n_columns : int
        groups : ndarray of int of shape (n_columns,), default=None
        column_costs : ndarray of shape (n_columns,), default=None
        squared : bool, default=True
        kept : ndarray of bool of shape (n_weights,), default=None
        """
        costs = column_costs
        if groups is not None:
            each = np.ones(n_columns) if column_costs is None else column_costs
            costs = np.bincount(groups, each)
        return cls(n_columns, groups, costs, squared=squared, kept=kept)

    @property
    def lowest(self) -> np.ndarray | float:
        """The least value of every weight: 0, but for those that are kept."""
        return 0.0 if self.kept is None else np.where(self.kept, LEAST_KEPT, 0.0)

    def select(self, active: np.ndarray) -> Subset:
        """Return the columns of some weights, an increasing index."""
        if self.owner is None:
            return Subset(active, active, None, self.squared)
        grouped = self.owner[self._order]
        mine = np.isin(grouped, active)
        owner = np.searchsorted(active, grouped[mine])
        return Subset(active, self._order[mine], owner, self.squared)

    def restricted(self, kept: np.ndarray) -> tuple["Features", np.ndarray]:
        """Return the features of the weights ``kept`` alone, and the columns that they have."""
        costs, always = self.costs[kept], None if self.kept is None else self.kept[kept]
        if self.owner is None:
            return Features(len(kept), None, costs, squared=self.squared, kept=always), kept
        columns = np.flatnonzero(np.isin(self.owner, kept))
        owner = np.searchsorted(kept, self.owner[columns])
        few = Features(len(columns), owner, costs, squared=self.squared, kept=always)
        return few, columns

    def for_kernel(self, kernel: Kernel, linear: bool | None = None) -> "Features":
        """Return the same features for another kernel.

        Weights enter as the kernel has it, or as ``linear`` asks where it is not None.
        """
        squared = not (kernel.linear_in_weights if linear is None else linear)
        return Features(self.n_columns, self.owner, self.costs, squared=squared, kept=self.kept)

    def columns_of(self, weights: np.ndarray) -> np.ndarray:
        """Return how many columns each of some weights has."""
        if self.owner is None:
            return np.ones(len(weights), dtype=int)
        counts: np.ndarray = np.bincount(self.owner, minlength=self.n_weights)[weights]
        return counts
