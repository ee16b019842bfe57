"""Rows of arrays: in memory or mapped from a file, and on a device such as a GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from kernelknife._engine.data.rows import (
    BLOCK_BYTES,
    Block,
    Encode,
    Join,
    LocalRows,
    Result,
    Rows,
    Sample,
    Sums,
    add,
    tree_sum,
)
from kernelknife._utils.arrays import Array, like, namespace, to_host

__all__ = ["ArrayRows", "DeviceRows"]

Memory: TypeAlias = WeakKeyDictionary[object, dict[object, Sums]]

FEWEST_BLOCK_ROWS = 256  # below, the interpreter costs more than the arithmetic of a block
DEVICE_BLOCK_BYTES = 2**31  # large enough to keep a GPU busy, small beside its memory
HOST_MEMORY = 2**27  # bytes kept in this process because several passes ask for them
DEVICE_MEMORY = 3 * 2**34  # bytes of kernel matrices kept on a device between two passes


class ArrayRows(LocalRows):
    """Rows of a NumPy array or of a memory map.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,) or (n, k), default=None
        None for rows without a target: they have one of no columns.
    s : ndarray of shape (n,), default=None
        Weights of the rows, ones for None.
    names : ndarray of str, default=None
    block_rows : int, default=None
        Rows of a block; None fits ``width`` numbers per row into 32 MiB.
    """

    in_memory = True

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None = None,
        s: np.ndarray | None = None,
        *,
        names: np.ndarray | None = None,
        block_rows: int | None = None,
    ):
        self.X = X
        self.y = np.zeros((len(X), 0)) if y is None else np.asarray(y)
        self.s = np.ones(len(X)) if s is None else s
        self.shape = (X.shape[0], X.shape[1])
        self.counted = _rows_that_count(self.s)
        self.names = names
        self.block_rows = block_rows
        self._memory: Memory = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memory": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory=WeakKeyDictionary())

    def rows_per_block(self, width: int) -> int:
        """Return how many rows a block has."""
        if self.block_rows is not None:
            return self.block_rows
        return max(FEWEST_BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, width)))

    def blocks(self, width: int = 1) -> Iterator[Block]:
        """Yield slices of the arrays."""
        step = self.rows_per_block(width)
        memory = self._memory if 16 * self.shape[0] * width <= HOST_MEMORY else None
        for number, first in enumerate(range(0, self.shape[0], step)):
            rows = slice(first, first + step)
            yield Block(self.X[rows], self.y[rows], self.s[rows], number, memory)

    def as_one_block(self) -> "ArrayRows":
        """Return the rows in a single block, for a loss that couples them."""
        return ArrayRows(self.X, self.y, self.s, names=self.names, block_rows=self.shape[0])

    def encoded(self, encode: Encode) -> "ArrayRows":
        """Return the same rows with all targets encoded, once for all passes."""
        return self.with_targets(encode(self.y), self.s)

    def with_targets(self, y: np.ndarray, s: np.ndarray) -> "ArrayRows":
        """Return the same rows with other targets and weights."""
        return ArrayRows(self.X, y, s, names=self.names, block_rows=self.block_rows)

    def transformed(self, transform: Callable[[Array], Array], width: int) -> "ArrayRows | None":
        """Return the rows with their columns transformed, None where they are too many."""
        if 8 * self.shape[0] * width > HOST_MEMORY:
            return None
        # Block by block, so that a large table of other numbers is never held in double precision.
        X = self.map(transform, self.shape[1])
        return ArrayRows(X, self.y, self.s, block_rows=self.block_rows)

    def sample(self, index: np.ndarray) -> Sample:
        """Return some rows, without a walk through the others."""
        if len(index) == self.shape[0]:
            return Sample(np.asarray(self.X, dtype=float), self.y, self.s)
        return Sample(np.asarray(self.X[index], dtype=float), self.y[index], self.s[index])


class DeviceRows(Rows):
    """Rows of an array of another library than NumPy, such as a tensor on a GPU.

    Parameters
    ----------
    X : array of shape (n, p)
        In double precision, of a library with the array API.
    y, s, names, block_rows : as in :class:`ArrayRows`
        Targets and weights are given on the host and follow ``X`` to its device.
    """

    on_device = True

    def __init__(
        self,
        X: Array,
        y: np.ndarray | None = None,
        s: np.ndarray | None = None,
        *,
        names: np.ndarray | None = None,
        block_rows: int | None = None,
    ):
        xp = namespace(X)
        if X.dtype != xp.float64:
            raise TypeError(
                f"X on a device must be float64, got {X.dtype}: the normal equations square the "
                "condition of the kernel matrix. Convert it first."
            )
        n = X.shape[0]
        self.X = X
        self.host_y = np.zeros(n) if y is None else np.asarray(y)
        self.host_s = np.ones(n) if s is None else np.asarray(s, dtype=float)
        self.s = like(self.host_s, X)
        self.counted = _rows_that_count(self.host_s)
        # Targets that have not been encoded may be texts, which no device holds.
        self.y = like(self.host_y, X) if self.host_y.dtype.kind == "f" else self.host_y
        self.shape = (n, X.shape[1])
        self.names = names
        self.block_rows = block_rows
        self._memory: Memory = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memory": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory=WeakKeyDictionary())

    def rows_per_block(self, width: int) -> int:
        """Return how many rows a block has."""
        if self.block_rows is not None:
            return self.block_rows
        return max(FEWEST_BLOCK_ROWS, DEVICE_BLOCK_BYTES // (8 * max(1, width)))

    def blocks(self, width: int = 1) -> Iterator[Block]:
        """Yield slices of the arrays, with a memory for kernel matrices where these are small."""
        step, n = self.rows_per_block(width), self.shape[0]
        memory = self._memory if 16 * n * width <= DEVICE_MEMORY else None
        for number, first in enumerate(range(0, n, step)):
            rows = slice(first, min(first + step, n))
            yield Block(self.X[rows, ...], self.y[rows, ...], self.s[rows], number, memory)

    def encoded(self, encode: Encode) -> "DeviceRows":
        """Return the same rows with all targets encoded on the host and placed on the device."""
        return self.with_targets(encode(self.host_y), self.host_s)

    def with_targets(self, y: np.ndarray, s: np.ndarray) -> "DeviceRows":
        """Return the same rows with other targets and weights."""
        return DeviceRows(self.X, y, s, names=self.names, block_rows=self.block_rows)

    def transformed(self, transform: Callable[[Array], Array], width: int) -> "DeviceRows | None":
        """Return the rows with their columns transformed, None where they are too many."""
        if 8 * self.shape[0] * width > DEVICE_BLOCK_BYTES:
            return None
        X = self.map(transform, self.shape[1])
        return DeviceRows(X, self.host_y, self.host_s, block_rows=self.block_rows)

    def total(
        self,
        function: Callable[..., Sums],
        *arguments: Any,
        width: int = 1,
        join: Join = add,
    ) -> Sums:
        """Return the sum over the blocks, one after the other: the device is busy with one."""
        with _explained_memory_errors(width):
            parts = (function(block, *arguments) for block in self.blocks(width))
            return tree_sum(parts, join)

    def apply(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a small function on sums."""
        with _explained_memory_errors(None):
            return function(*arguments)

    def place(self, values: np.ndarray) -> Array:
        """Return a host array on the device."""
        return like(values, self.X)

    def share(self, value: np.ndarray) -> Array:
        """Return a host array on the device, where all blocks are."""
        return like(value, self.X)

    def sample(self, index: np.ndarray) -> Sample:
        """Return some rows on the host."""
        xp = namespace(self.X)
        X = xp.take(self.X, xp.asarray(index, device=self.X.device), axis=0)
        return Sample(to_host(X), self.host_y[index], self.host_s[index])

    def map(self, function: Callable[[Array], Array], width: int = 1) -> Array:
        """Return ``function(X)`` of every block, on the device unless the function left it."""
        parts = [function(block.X) for block in self.blocks(width)]
        return namespace(parts[0]).concat(parts, axis=0)


@contextmanager
def _explained_memory_errors(n_centers: int | None) -> Iterator[None]:
    """Explain what to lower where a device runs out of memory; each library has its own error."""
    try:
        yield
    except Exception as error:
        if "out of memory" not in str(error).lower():
            raise
        size = "" if n_centers is None else f" with {n_centers} centers"
        raise MemoryError(
            f"The device ran out of memory{size}: lower n_centers, free other arrays on it, or fit "
            "from host memory."
        ) from error


def _rows_that_count(s: np.ndarray) -> np.ndarray | None:
    """Return the numbers of the rows with a positive weight, None where that is all of them."""
    return np.flatnonzero(np.asarray(s) > 0) if np.any(np.asarray(s) == 0) else None
