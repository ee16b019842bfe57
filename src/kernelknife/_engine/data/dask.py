"""Rows of Dask collections: on a cluster, or computed chunk by chunk in this process."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from copy import copy
from typing import Any

import numpy as np

from kernelknife._engine.data.rows import (
    Block,
    Encode,
    Join,
    LocalRows,
    Result,
    Rows,
    RowsError,
    Sample,
    Sums,
    add,
    tree_sum,
)
from kernelknife._utils.arrays import Array
from kernelknife._utils.messages import import_optional

__all__ = ["ClusterRows", "LazyRows", "dask_rows", "is_dask"]

EXTRA = "kernelknife[cluster]"


def is_dask(X: Any) -> bool:
    """Whether an object is a Dask collection; Dask need not be installed."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def dask_rows(X: Any, y: Any = None, s: Any = None, names: Any = None, known: Any = None) -> Rows:
    """Return the rows of a Dask array or data frame.

    Parameters
    ----------
    X : dask array or data frame
    y, s : dask array, series or array-like, default=None
    names : sequence of str, default=None
        Columns to take from a data frame, in this order; None takes all.
    known : dask array, default=None
        Known parts of the scores, which stand behind the targets.
    """
    X, found = _as_array(X, names)
    y, s = (None if values is None else _aligned(values, X) for values in (y, s))
    if known is not None:
        y = _stacked(y, _aligned(known, X))
    chunked = _Chunks(X, y, s)
    client = running_client()
    if y is None or client is None:
        return LazyRows(chunked, found)
    return ClusterRows(chunked, client, found)


def running_client() -> Any:
    """Return the client of the running cluster, None where there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _as_array(X: Any, names: Any) -> tuple[Any, np.ndarray | None]:
    """Return a Dask array of all columns with known chunks, and the columns' names."""
    found = None
    if hasattr(X, "to_dask_array"):
        columns = list(X.columns)
        if names is not None:
            # The names of a fitted model are texts, whatever the frame's labels are.
            labels = {str(label): label for label in columns}
            absent = [name for name in names if str(name) not in labels]
            if absent:
                raise ValueError(f"X lacks the column {absent[0]!r} that the model needs.")
            columns = [labels[str(name)] for name in names]
            X = X[columns]
        for label, kind in zip(columns, X.dtypes, strict=True):
            if getattr(kind, "kind", "O") not in "biuf":
                raise RowsError(
                    f"Column {str(label)!r} holds {kind}, not numbers: turn it into numbers, or "
                    "leave it out."
                )
        found = np.array([str(label) for label in columns], dtype=object)
        X = X.to_dask_array(lengths=True)
    if np.isnan(X.shape[0]):
        X.compute_chunk_sizes()
    return (X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X), found


def _aligned(values: Any, X: Any) -> Any:
    """Return targets or weights as a Dask array with the chunks of the rows."""
    array = import_optional("dask.array", EXTRA, "A Dask collection")
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array(lengths=True)
    if not is_dask(values):
        values = np.asarray(values)
        _check_length(values.shape[0], X)
        return array.from_array(values, chunks=(X.chunks[0], *([-1] * (values.ndim - 1))))
    _check_length(values.shape[0], X)
    return values.rechunk({0: X.chunks[0]}) if values.chunks[0] != X.chunks[0] else values


def _stacked(y: Any, known: Any) -> Any:
    """Return targets with the known parts of their scores behind them."""
    array = import_optional("dask.array", EXTRA, "A Dask collection")
    y, known = (part if part.ndim == 2 else part[:, None] for part in (y, known))
    return array.hstack([y, array.broadcast_to(known, y.shape)]).rechunk({1: -1})


def _check_length(n: int, X: Any) -> None:
    if n != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, and its targets, weights or offsets have {n}.")


class _Chunks:
    """A Dask array with its targets and weights, chunk by chunk."""

    def __init__(self, X: Any, y: Any, s: Any):
        self.X = X
        self.sizes = [int(size) for size in X.chunks[0]]
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        parts = [part if part is None else part.to_delayed().ravel() for part in (X, y, s)]
        empty = [None] * len(self.sizes)
        self.parts = list(zip(*(empty if part is None else part for part in parts), strict=True))


def _make_block(X: Any, y: Any, s: Any, number: int) -> Block:
    """Return a block of one chunk of each."""
    X = np.asarray(X, dtype=float)
    y = np.zeros(len(X)) if y is None else np.asarray(y)
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    return Block(X, y, s, number)


def _map_chunks(X: Any, function: Callable[[Array], Array]) -> Any:
    """Return a Dask array of ``function(chunk)``; nothing is computed yet."""
    # Run on a row of zeros, the function reveals the width and the type of its results.
    like = function(np.zeros((1, X.shape[1])))
    chunks = (X.chunks[0], *((size,) for size in like.shape[1:]))
    dropped = [1] if like.ndim == 1 else None
    return X.map_blocks(function, dtype=like.dtype, chunks=chunks, drop_axis=dropped)


class LazyRows(LocalRows):
    """Rows of a Dask array without a cluster: computed chunk by chunk in this process."""

    n_threads = 1  # Dask has threads of its own

    def __init__(self, chunks: _Chunks, names: np.ndarray | None):
        self.chunks, self.shape, self.names = chunks, chunks.shape, names

    def blocks(self, width: int = 1) -> Iterator[Block]:
        """Compute and yield one chunk after the other."""
        compute = import_optional("dask", EXTRA, "A Dask collection").compute
        for number, parts in enumerate(self.chunks.parts):
            X, y, s = compute(*parts)
            yield _make_block(X, y, s, number)

    def block_label(self, number: int) -> str:
        """Return the number of a chunk."""
        return f"chunk {number}"

    def map(self, function: Callable[[Array], Array], width: int = 1) -> Any:
        """Return a Dask array; nothing is computed yet."""
        return _map_chunks(self.chunks.X, function)


class ClusterRows(Rows):
    """Rows of a Dask array on its own cluster: blocks and sums stay with the workers.

    Parameters
    ----------
    chunks : _Chunks
    client : distributed.Client
    names : ndarray of str or None
    """

    def __init__(self, chunks: _Chunks, client: Any, names: np.ndarray | None):
        self.client, self.names = client, names
        self.shape, self.sizes, self.X = chunks.shape, chunks.sizes, chunks.X
        delayed = import_optional("dask", EXTRA, "A Dask array").delayed
        made = [delayed(_make_block)(*parts, number) for number, parts in enumerate(chunks.parts)]
        # The futures keep their recipe: a block that is lost with its worker is made again.
        self.futures = client.compute(made)

    def encoded(self, encode: Encode) -> "ClusterRows":
        """Return the same rows, the targets of every block encoded where the block is."""
        other = copy(self)
        other.futures = [
            self.client.submit(Block.encoded, block, encode, pure=False) for block in self.futures
        ]
        return other

    def block_label(self, number: int) -> str:
        """Return the number of a chunk."""
        return f"chunk {number}"

    def share(self, value: np.ndarray) -> Array:
        """Send an array to the cluster once; a lost copy is sent again by its recipe."""
        return self.client.submit(_identity, value, pure=False)

    def total(
        self,
        function: Callable[..., Sums],
        *arguments: Any,
        width: int = 1,
        join: Join = add,
    ) -> Sums:
        """Return the sum over the blocks, as a future."""
        submit = self.client.submit
        parts = [submit(function, block, *arguments, pure=False) for block in self.futures]
        future: Sums = tree_sum(parts, lambda a, b: submit(join, a, b, pure=False))
        return future

    def apply(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a small function on the cluster."""
        future: Result = self.client.submit(function, *arguments, pure=False)
        return future

    def fetch(self, result: Result) -> Result:
        """Bring a result here."""
        distributed = import_optional("distributed", EXTRA, "A cluster")
        if not isinstance(result, distributed.Future):
            return result
        try:
            fetched: Result = self.client.gather(result)
            return fetched
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"The cluster's workers died repeatedly at the same work ({error}): give them more "
                "memory, or lower n_centers or the size of the chunks."
            ) from error
        except (CancelledError, TimeoutError, OSError) as error:
            raise RuntimeError(
                f"The Dask cluster went away during the fit ({type(error).__name__}): nothing is "
                "fitted. Start it again and fit again."
            ) from error

    def sample(self, index: np.ndarray) -> Sample:
        """Return some rows, gathered on one worker."""
        ends = np.cumsum(self.sizes)
        which = np.searchsorted(ends, index, side="right")
        wanted = []
        for number, block in enumerate(self.futures):
            here = index[which == number] - (ends[number] - self.sizes[number])
            if len(here):
                wanted.append(self.client.submit(_some_rows, block, here, pure=False))
        future: Sample = self.client.submit(_join_rows, wanted, pure=False)
        return future

    def map(self, function: Callable[[Array], Array], width: int = 1) -> Any:
        """Return a Dask array; nothing is computed yet."""
        return _map_chunks(self.X, function)


def _identity(value: np.ndarray) -> np.ndarray:
    return value


def _some_rows(block: Block, index: np.ndarray) -> Sums:
    return block.X[index], block.y[index], block.s[index]


def _join_rows(parts: list[Sums]) -> Sample:
    return Sample(*(np.concatenate(part) for part in zip(*parts, strict=True)))
