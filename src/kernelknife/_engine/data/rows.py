"""What every kind of rows offers: sums over blocks, samples, predictions.

Past one block of memory every quantity is a sum over blocks of rows. A problem asks its rows for
``total(function, ...)``, the sum of a function of every block; ``apply(function, ...)`` runs a
small function on such sums; ``fetch`` brings a result into this process. In one process the three
are plain calls. On a cluster blocks and sums stay where they are, and only what is fetched
travels: there a future takes the place of every result, and counts as that result in types.

The sum is a tree whose shape depends on the number of blocks alone, so that one process and a
cluster with the same blocks give the same result.
"""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kernelknife._utils.arrays import Array, take_columns
from kernelknife._utils.threads import limited_blas

__all__ = [
    "Block",
    "Encode",
    "Join",
    "LocalRows",
    "Rows",
    "RowsError",
    "Sample",
    "Sums",
    "add",
    "check_weights",
    "concatenate",
    "tree_sum",
]

Sums: TypeAlias = tuple[Any, ...]  # arrays and numbers that are added up over blocks
Join: TypeAlias = Callable[[Sums, Sums], Sums]
Encode: TypeAlias = Callable[[Any], np.ndarray]  # from a user's targets to those of the loss
Result = TypeVar("Result")

BLOCK_BYTES = 2**25  # of a block's kernel matrix: it should stay near the processor's caches


def add(a: Sums, b: Sums) -> Sums:
    """Return the sum of two tuples, entry by entry."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def concatenate(a: Sums, b: Sums) -> Sums:
    """Return the arrays of two tuples one below the other, entry by entry."""
    return tuple(np.concatenate([x, y]) for x, y in zip(a, b, strict=True))


class RowsError(ValueError):
    """Rows cannot be read as they are; the message names the place and the column."""


@dataclass(frozen=True)
class Sample:
    """Some rows in the memory of a process: features, targets of shape (rows, k), weights."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray

    def counted(self) -> np.ndarray:
        """Return which rows have a positive weight; there must be one."""
        index = np.flatnonzero(np.asarray(self.s) > 0)
        if not len(index):
            raise RowsError(
                f"None of the {len(self.s)} sampled rows has a positive sample weight: leave out "
                "rows of weight zero."
            )
        return index


@dataclass(frozen=True)
class Block:
    """Consecutive rows: all their columns, their targets, their weights.

    A kind of rows that reads columns on demand overrides :meth:`columns`.
    """

    X: Array
    y: Array
    s: Array
    number: int
    # Kernel matrices that several passes ask for, by setting; they are dropped together with it.
    memory: MutableMapping[object, dict[object, Sums]] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.s.shape[0])

    def columns(self, index: np.ndarray) -> Array:
        """Return some columns in double precision; the other columns are not read."""
        taken = take_columns(self.X, index)
        return np.asarray(taken, dtype=float) if isinstance(taken, np.ndarray) else taken

    def encoded(self, encode: Encode) -> "Block":
        """Return the block with its targets encoded."""
        return replace(self, y=encode(self.y))


class Rows(ABC):
    """Rows of some data, with targets and weights, that can be summed over.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of columns.
    names : ndarray of str or None
        Names of the columns, where the data has names.
    in_memory : bool
        Whether all rows lie in the memory of this process, so that the exact method can have them.
    on_device : bool
        Whether they lie in the memory of a device such as a GPU.
    counted : ndarray of int or None
        Numbers of the rows with a positive weight; None where that is all of them, or where it is
        unknown until the rows are read.
    """

    shape: tuple[int, int]
    names: np.ndarray | None = None
    in_memory = False
    on_device = False
    counted: np.ndarray | None = None

    @property
    def n_counted(self) -> int:
        """Number of rows to draw a sample from: without those known to have no weight."""
        return self.shape[0] if self.counted is None else len(self.counted)

    def numbers(self, index: np.ndarray) -> np.ndarray:
        """Return the numbers of some of the rows that count."""
        return index if self.counted is None else self.counted[index]

    @abstractmethod
    def total(
        self,
        function: Callable[..., Sums],
        *arguments: Any,
        width: int = 1,
        join: Join = add,
    ) -> Sums:
        """Return the sum of ``function(block, *arguments)`` over the blocks.

        Parameters
        ----------
        function : callable
            From a block to a tuple of arrays.
        *arguments
            Further arguments of the function.
        width : int, default=1
            Numbers that the function keeps per row, such as the number of centers: blocks are
            cut so that their product with the rows of a block fits the memory.
        join : callable, default=add
            Joins the results of two blocks.
        """

    @abstractmethod
    def sample(self, index: np.ndarray) -> Sample:
        """Return the rows ``index``, which increase."""

    @abstractmethod
    def encoded(self, encode: Encode) -> "Rows":
        """Return the same rows with every target passed through ``encode``."""

    def with_targets(self, y: np.ndarray, s: np.ndarray) -> "Rows":
        """Return the same rows with other targets, as the loss sees them, and other weights."""
        raise RowsError("Rows that are read in parts keep their targets: pass arrays.")

    @abstractmethod
    def map(self, function: Callable[[Array], Array], width: int = 1) -> Array:
        """Return ``function(X)`` of every block's columns, joined, in the rows' own kind of array.

        Parameters
        ----------
        function : callable
            From an array of shape (rows, columns) to one with as many rows.
        width : int, default=1
            As in :meth:`total`.
        """

    def transformed(self, transform: Callable[[Array], Array], width: int) -> "Rows | None":
        """Return the rows with their columns transformed once for all passes.

        None where blocks are transformed in every pass: the rows are neither in the memory of this
        process nor on a device, or ``width`` numbers for each of them are too many to keep.
        """
        return None

    def as_one_block(self) -> "Rows":
        """Return the rows in a single block, for a loss that couples them."""
        raise RowsError(
            "This loss couples the rows, so that they have to be in the memory of this process: "
            "pass an array or a data frame."
        )

    def load(self) -> tuple[Sample, np.ndarray]:
        """Return all rows of positive weight in this process, and their numbers."""
        everything = self.fetch(self.sample(np.arange(self.shape[0])))
        if everything.s.all():
            return everything, np.arange(self.shape[0])
        index = np.flatnonzero(everything.s)
        return Sample(everything.X[index], everything.y[index], everything.s[index]), index

    def apply(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a small function on sums or samples, where they are."""
        return function(*arguments)

    def fetch(self, result: Result) -> Result:
        """Bring a result of :meth:`total`, :meth:`apply` or :meth:`sample` into this process."""
        return result

    def share(self, value: np.ndarray) -> Array:
        """Make an array ready to be passed to many blocks."""
        return value

    def place(self, values: np.ndarray) -> Array:
        """Return a host array as the kind of array that small matrices are computed with."""
        return values

    def block_label(self, number: int) -> str:
        """Return how to name a block in an error message, nothing where blocks mean nothing."""
        return ""


class LocalRows(Rows):
    """Rows that this process can walk through, block by block.

    A kind of rows of its own is one subclass: it sets ``shape`` (and ``names``, where there are
    some) and yields :class:`Block` objects from :meth:`blocks`.
    """

    n_threads: int = os.cpu_count() or 1  # blocks that are worked on at a time
    encode: Encode | None = None

    @abstractmethod
    def blocks(self, width: int = 1) -> Iterator[Block]:
        """Yield the blocks in order, their targets not encoded."""

    def _encoded_blocks(self, width: int) -> Iterator[Block]:
        encode = self.encode
        blocks = self.blocks(width)
        return blocks if encode is None else (block.encoded(encode) for block in blocks)

    def encoded(self, encode: Encode) -> "LocalRows":
        """Return the same rows with every target passed through ``encode``."""
        other = copy(self)
        other.encode = encode
        return other

    def total(
        self,
        function: Callable[..., Sums],
        *arguments: Any,
        width: int = 1,
        join: Join = add,
    ) -> Sums:
        """Return the sum over the blocks, several of them worked on at a time."""
        with limited_blas():
            parts = _in_order(function, self._encoded_blocks(width), arguments, self.n_threads)
            return tree_sum(parts, join)

    def sample(self, index: np.ndarray) -> Sample:
        """Return some rows, by a walk through the blocks that hold one of them."""
        parts: list[tuple[np.ndarray, ...]] = []
        everything, first = np.arange(self.shape[1]), 0
        for block in self._encoded_blocks(1):
            last = first + block.n_rows
            here = index[(index >= first) & (index < last)] - first
            if len(here):
                parts.append((block.columns(everything)[here], block.y[here], block.s[here]))
            first = last
        return Sample(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def map(self, function: Callable[[Array], Array], width: int = 1) -> Array:
        """Return ``function(X)`` of every block's columns, one below the other."""
        everything = np.arange(self.shape[1])
        return np.concatenate([function(block.columns(everything)) for block in self.blocks(width)])


def check_weights(s: np.ndarray) -> None:
    """Raise unless all weights are finite and not negative, and some are positive."""
    if not np.isfinite(s).all() or (s < 0).any():
        raise ValueError("sample_weight must be finite and >= 0.")
    if not s.any():
        raise ValueError("sample_weight must not be all zero.")


def tree_sum(parts: Iterable[Result], join: Callable[[Result, Result], Result]) -> Result:
    """Join parts in pairs, as they come, in a tree that depends on their number alone.

    At most the logarithm of their number is held at a time.

    Parameters
    ----------
    parts : iterable
        Results of blocks, or what stands for them until they are computed.
    join : callable
        ``join(a, b)`` returns the result of both.

    Returns
    -------
    object
        The result of all.

    Examples
    --------
    >>> from kernelknife.sources import tree_sum
    >>> tree_sum(["a", "b", "c"], lambda one, two: f"({one}{two})")
    '((ab)c)'
    """
    stack: list[tuple[int, Result]] = []
    for part in parts:
        level = 0
        while stack and stack[-1][0] == level:
            part = join(stack.pop()[1], part)
            level += 1
        stack.append((level, part))
    total = stack.pop()[1]
    while stack:
        total = join(stack.pop()[1], total)
    return total


def _in_order(
    function: Callable[..., Sums],
    blocks: Iterator[Block],
    arguments: tuple[Any, ...],
    n_threads: int,
) -> Iterator[Sums]:
    """Yield the results of the blocks in order, no more than ``n_threads`` computed ahead."""
    first, second = next(blocks), next(blocks, None)
    if second is None or n_threads == 1:
        # One block is the rule for small data, where starting threads would cost more than it.
        yield function(first, *arguments)
        rest = blocks if second is None else chain([second], blocks)
        yield from (function(block, *arguments) for block in rest)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Sums]] = deque()
        for block in chain([first, second], blocks):
            waiting.append(pool.submit(function, block, *arguments))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
