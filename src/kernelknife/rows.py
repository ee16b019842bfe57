"""Where rows live, and sums over blocks of them.

Past one block of memory every quantity is a sum over blocks of rows. A problem asks its rows for
three things: ``total(function, ...)`` sums a function of every block, ``apply(function, ...)``
runs a small function on such sums, ``fetch`` brings a result here. In one process the three are
plain calls; on a cluster blocks and sums stay where they are and only what is fetched travels.

The sum is a tree whose shape depends on the number of blocks alone, so that one process and a
cluster with the same blocks give the same answer.
"""

import os
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelknife._support.arrays import is_foreign, namespace, to_host
from kernelknife._support.optional import import_optional
from kernelknife._support.threads import limited_blas

__all__ = [
    "ArrayRows",
    "Block",
    "DaskRows",
    "ParquetRows",
    "RowsError",
    "add",
    "encode_block",
    "make_block",
    "tree_sum",
]

BLOCK_BYTES = 2**25  # of a block's kernel matrix
DEVICE_BLOCK_BYTES = 2**31
DEVICE_MEMORY = 3 * 2**34  # kernel matrices kept on a device between the passes at one state


class RowsError(ValueError):
    """Rows cannot be read as they are; the message names block and column."""


@dataclass(frozen=True)
class Block:
    """Some rows: all their columns, their targets, their weights."""

    X: Any
    y: Any
    s: Any
    number: int
    memory: dict | None = None  # what a device with room remembers between two passes

    def columns(self, index):
        """Return some columns; the rest is not read."""
        return _take(self.X, index)


def _take(X, index):
    whole = np.array_equal(index, np.arange(X.shape[1]))
    if isinstance(X, np.ndarray):
        return np.asarray(X if whole else X[:, index], dtype=float)
    if whole:
        return X
    xp = namespace(X)
    return xp.take(X, xp.asarray(index, device=X.device), axis=1)


def add(a, b):
    """Return the entrywise sum of two tuples of arrays."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def tree_sum(parts, join):
    """Combine parts pairwise, as they come, in a tree that depends on their number alone.

    At most the logarithm of their number is held at a time.
    """
    stack: list[tuple[int, Any]] = []
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


class _Local:
    """What rows in one process share: small functions run here."""

    def apply(self, function, *arguments):
        """Run a small function on sums."""
        if not getattr(self, "foreign", False):
            return function(*arguments)
        with _device_memory("so many"):
            return function(*arguments)

    def fetch(self, result):
        """Return a result."""
        return result

    def share(self, value):
        """Make a value ready to be passed to many blocks."""
        return value

    def forget(self):
        """Nothing is remembered."""


class ArrayRows(_Local):
    """Rows of an array in memory, of a memory map, or on a GPU.

    Parameters
    ----------
    X : array of shape (n, p)
        A NumPy array or memory map, or an array of a library with the array API.
    y : array of shape (n, k)
    s : array of shape (n,)
    block_rows : int, default=None
        Rows of a block; None fits ``n_centers`` columns of a kernel matrix into 32 MiB, or 2 GiB
        on a device.
    n_threads : int, default=None
        Blocks at a time; None is the number of cores. On a device always one.
    """

    def __init__(self, X, y, s, *, block_rows=None, n_threads=None):
        self.X, self.y, self.s = X, y, s
        self.shape = tuple(X.shape)
        self.block_rows = block_rows
        self.n_threads = (os.cpu_count() or 1) if n_threads is None else n_threads
        self.foreign = is_foreign(X)
        self._memory: dict = {}

    def _step(self, n_centers):
        if self.block_rows is not None:
            return self.block_rows
        most = DEVICE_BLOCK_BYTES if self.foreign else BLOCK_BYTES
        return max(256, most // (8 * max(1, n_centers)))

    def _blocks(self, n_centers):
        step = self._step(n_centers)
        room = self.foreign and 16 * self.shape[0] * n_centers <= DEVICE_MEMORY
        memory = self._memory if room else None
        for number, first in enumerate(range(0, self.shape[0], step)):
            rows = slice(first, min(first + step, self.shape[0]))
            yield Block(self.X[rows, ...], self.y[rows, ...], self.s[rows], number, memory)

    def total(self, function, *arguments, n_centers=1):
        """Return the sum of ``function(block, *arguments)`` over the blocks."""
        blocks = self._blocks(n_centers)
        if self.foreign or self.n_threads == 1:
            with limited_blas(0 if self.n_threads == 1 else self.shape[0]):
                parts = (function(block, *arguments) for block in blocks)
                with _device_memory(n_centers):
                    return tree_sum(parts, add)
        with limited_blas(), ThreadPoolExecutor(self.n_threads) as pool:
            return tree_sum(_in_order(pool, function, blocks, arguments, self.n_threads), add)

    def __getstate__(self):
        return {**self.__dict__, "_memory": {}}

    def forget(self):
        """Let go of what is remembered."""
        self._memory.clear()

    def sample(self, index):
        """Return some rows: X, y and s on the host."""
        if not self.foreign:
            return np.asarray(self.X[index], dtype=float), self.y[index], self.s[index]
        xp = namespace(self.X)
        rows = xp.asarray(index, device=self.X.device)
        return tuple(to_host(xp.take(part, rows, axis=0)) for part in (self.X, self.y, self.s))


@contextmanager
def _device_memory(n_centers):
    """Say what to lower where a device runs out of memory; each library has its own error."""
    try:
        yield
    except Exception as error:
        if "out of memory" not in str(error).lower():
            raise
        raise MemoryError(
            f"The device ran out of memory with {n_centers} centres: lower n_centers, free other "
            "arrays on it, or fit from host memory."
        ) from error


def _in_order(pool, function, blocks, arguments, ahead):
    """Yield results in order, no more than a few computed ahead."""
    waiting: deque = deque()
    for block in blocks:
        waiting.append(pool.submit(function, block, *arguments))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class ParquetRows(_Local):
    """Rows of the Parquet files of a folder, a row group at a time.

    Parameters
    ----------
    folder : path
        A folder of files with the same columns, or one file.
    target : str or None
        None for rows to predict.
    features : list of str, default=None
        None is every column but the target.
    encode : callable
        Turns a block's target into an array of shape (rows, k).
    n_threads : int, default=None
    """

    def __init__(self, folder, target, features=None, encode=None, n_threads=None):
        self.parquet = import_optional("pyarrow.parquet", "pyarrow", "A Parquet folder")
        self.folder, self.target = Path(folder), target
        files = [self.folder] if self.folder.is_file() else sorted(self.folder.glob("*.parquet"))
        if not files:
            raise RowsError(f"{folder} has no Parquet files (*.parquet; subfolders are not read).")
        self.encode = encode
        self.n_threads = (os.cpu_count() or 1) if n_threads is None else n_threads
        self.parts: list[tuple[Path, int, int]] = []
        schema: Any = None
        for file in files:
            opened = self._open(file)
            schema = self._check_schema(file, opened.schema_arrow, schema)
            for group in range(opened.metadata.num_row_groups):
                rows = opened.metadata.row_group(group).num_rows
                if rows:
                    self.parts.append((file, group, rows))
        if not self.parts:
            raise RowsError(f"The Parquet files of {folder} have no rows.")
        names = [name for name in schema if name != self.target]
        self.features = names if features is None else list(features)
        absent = [name for name in self.features if name not in schema]
        if absent:
            raise RowsError(f"{folder} lacks the column {absent[0]!r} that the model needs.")
        self.shape = (sum(rows for _, _, rows in self.parts), len(self.features))

    def _open(self, file):
        try:
            return self.parquet.ParquetFile(file)
        # pyarrow has a family of errors for broken files.
        except Exception as error:
            raise RowsError(f"{file} is not a readable Parquet file: {error}") from error

    def _check_schema(self, file, schema, first):
        found = {name: str(kind) for name, kind in zip(schema.names, schema.types, strict=True)}
        if self.target is not None and self.target not in found:
            raise RowsError(f"{file} has no column {self.target!r}, the target.")
        if first is None:
            return found
        missing = [name for name in first if name not in found]
        if missing:
            raise RowsError(f"{file} lacks the column {missing[0]!r} that other files have.")
        changed = [name for name in first if found[name] != first[name]]
        if changed:
            name = changed[0]
            raise RowsError(
                f"Column {name!r} is {found[name]} in {file} and {first[name]} in other files."
            )
        return first

    def _blocks(self):
        for number, (file, group, _) in enumerate(self.parts):
            yield _ParquetBlock(self, file, group, number)

    def read(self, file, group, names):
        """Return some columns of a row group."""
        table = self.parquet.ParquetFile(file).read_row_group(group, columns=list(names))
        return table.select(list(names))

    def total(self, function, *arguments, n_centers=1):
        """Return the sum of ``function(block, *arguments)`` over the row groups."""
        with limited_blas(), ThreadPoolExecutor(self.n_threads) as pool:
            parts = _in_order(pool, function, self._blocks(), arguments, self.n_threads)
            return tree_sum(parts, add)

    def sample(self, index):
        """Return some rows: X, y and s on the host."""
        ends = np.cumsum([rows for _, _, rows in self.parts])
        which = np.searchsorted(ends, index, side="right")
        everything = np.arange(len(self.features))
        found = []
        for number, block in enumerate(self._blocks()):
            here = index[which == number] - (ends[number] - self.parts[number][2])
            if len(here):
                found.append((block.columns(everything)[here], block.y[here], block.s[here]))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))


class _ParquetBlock:
    """A row group that reads the columns it is asked for."""

    def __init__(self, rows, file, group, number):
        self._rows, self._file, self._group, self.number = rows, file, group, number

    def columns(self, index):
        names = [self._rows.features[j] for j in index]
        if not names:
            return np.empty((self._rows.parts[self.number][2], 0))
        table = self._rows.read(self._file, self._group, names)
        return np.column_stack([_as_floats(table[name], name, self._file) for name in names])

    @property
    def y(self):
        table = self._rows.read(self._file, self._group, [self._rows.target])
        values = table[self._rows.target].to_numpy()
        return self._rows.encode(values) if self._rows.encode else values[:, None]

    @property
    def s(self):
        return np.ones(self._rows.parts[self.number][2])


def _as_floats(column, name, file):
    try:
        return column.to_numpy().astype(float)
    except (ValueError, TypeError):
        raise RowsError(f"Column {name!r} of {file} holds {column.type}, not numbers.") from None


class DaskRows:
    """Rows of a Dask array on its own cluster: blocks and sums stay with the workers.

    Parameters
    ----------
    X, y : dask arrays of shape (n, p) and (n, k), with the same chunks of rows
    client : distributed.Client
    """

    def __init__(self, X, y, client):
        self.client = client
        self.shape = tuple(int(size) for size in X.shape)
        self.sizes = [int(size) for size in X.chunks[0]]
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        if [int(size) for size in y.chunks[0]] != self.sizes:
            y = y.rechunk({0: X.chunks[0]})
        xs, ys = X.to_delayed().ravel(), y.to_delayed().ravel()
        delayed = import_optional("dask", "kernelknife[cluster]", "A Dask array").delayed
        made = [
            delayed(make_block)(a, b, number)
            for number, (a, b) in enumerate(zip(xs, ys, strict=True))
        ]
        # The futures keep their recipe: a block that is lost with its worker is made again.
        self.blocks = client.compute(made)

    def encode_with(self, encode):
        """Encode the targets of every block, where it is."""
        self.blocks = [
            self.client.submit(encode_block, block, encode, pure=False) for block in self.blocks
        ]

    def forget(self):
        """Nothing is remembered."""

    def share(self, value):
        """Send a value to the cluster once; a lost copy is sent again by its recipe."""
        return self.client.submit(_identity, value, pure=False)

    def total(self, function, *arguments, n_centers=1):
        """Return the sum of ``function(block, *arguments)`` over the blocks, as a future."""
        parts = [
            self.client.submit(function, block, *arguments, pure=False) for block in self.blocks
        ]
        return tree_sum(parts, lambda a, b: self.client.submit(add, a, b, pure=False))

    def apply(self, function, *arguments):
        """Run a small function on the cluster."""
        return self.client.submit(function, *arguments, pure=False)

    def fetch(self, result):
        """Bring a result here."""
        if not hasattr(result, "status"):
            return result
        killed = import_optional("distributed", "kernelknife[cluster]", "A cluster").KilledWorker
        try:
            return self.client.gather(result)
        except killed as error:
            raise RuntimeError(
                f"The cluster's workers died again and again at the same work ({error}): give them "
                "more memory, or lower n_centers or the size of the chunks."
            ) from error
        except (CancelledError, TimeoutError, OSError) as error:
            raise RuntimeError(
                f"The Dask cluster went away during the fit ({type(error).__name__}): nothing is "
                "fitted. Start it again and fit again."
            ) from error

    def sample(self, index):
        """Return some rows, X, y and s, gathered on one worker."""
        ends = np.cumsum(self.sizes)
        which = np.searchsorted(ends, index, side="right")
        wanted = []
        for number, block in enumerate(self.blocks):
            here = index[which == number] - (ends[number] - self.sizes[number])
            if len(here):
                wanted.append(self.client.submit(_some_rows, block, here, pure=False))
        return self.client.submit(_join_rows, wanted, pure=False)


def make_block(X, y, number):
    """Return a block of a chunk of X and one of y."""
    y = np.asarray(y)
    y = y[:, None] if y.ndim == 1 else y
    return Block(np.asarray(X, dtype=float), y, np.ones(len(y)), number)


def encode_block(block, encode):
    """Return the block with its targets encoded."""
    return replace(block, y=encode(block.y))


def _identity(value):
    return value


def _join_rows(parts):
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def _some_rows(block, index):
    return block.X[index], block.y[index], block.s[index]
