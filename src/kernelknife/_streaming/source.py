"""What a source of rows offers, and how its blocks become arrays."""

import hashlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kernelknife._engine.data.rows import Join, RowsError, Sums
from kernelknife._utils.threads import limited_blas

__all__ = [
    "Columnar",
    "Layout",
    "Part",
    "Source",
    "Watch",
    "column_of",
    "numbers_of",
    "read_part",
    "rows_of_block",
]

Columnar: TypeAlias = Any  # a mapping from names to arrays, or a record batch or table of Arrow
Watch: TypeAlias = Callable[[int, Sums], None]  # of the number of blocks summed, and their sum
MOST_ROWS, FEWEST_ROWS, BLOCK_NUMBERS = 65_536, 1024, 4_000_000  # of a block
NO_LEVEL = -1.0  # code of a text that training rows do not have
SALT = b"kernelknife"


def rows_of_block(n_columns: int) -> int:
    """Return the rows of a block of so many columns, where a source can choose."""
    return min(MOST_ROWS, max(FEWEST_ROWS, BLOCK_NUMBERS // max(n_columns, 1)))


class Source(ABC):
    """Rows that can be walked through again and again, a block at a time.

    A source of your own is one subclass: it sets ``names``, ``dtypes`` and, if it is known,
    ``n_rows``, and yields the columns that it is asked for from :meth:`blocks`.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    dtypes : dict of str
        By name: "number" (booleans are numbers), "text", or what else a column holds.
    n_rows : int or None
        Number of rows, None where it is unknown before a scan.
    label : str
        What messages call the source.

    Examples
    --------
    Rows that are computed, a million at a time:

    >>> import numpy as np
    >>> from kernelknife.sources import Source
    >>> class Waves(Source):
    ...     names, n_rows, label = ["time", "height"], 3_000_000, "waves"
    ...     dtypes = {"time": "number", "height": "number"}
    ...
    ...     def blocks(self, columns):
    ...         for first in range(0, self.n_rows, 1_000_000):
    ...             time = np.arange(first, first + 1_000_000) / 1000
    ...             block = {"time": time, "height": np.sin(time)}
    ...             yield {name: block[name] for name in columns}
    >>> sum(len(block["time"]) for block in Waves().blocks(["time"]))
    3000000
    """

    names: Sequence[str]
    dtypes: Mapping[str, str]
    n_rows: int | None = None
    label: str = "the source"

    @abstractmethod
    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        """Yield the blocks, in the same order every time.

        Parameters
        ----------
        columns : sequence of str
            Names of the columns that are asked for.

        Yields
        ------
        dict, pyarrow.RecordBatch or pyarrow.Table
            From names to one-dimensional arrays of the same length, or what Arrow has for that.
        """

    def sum_over_blocks(
        self,
        function: Callable[[Columnar, int], Sums],
        columns: Sequence[str],
        join: Join,
        *,
        n_workers: int = 1,
        begun: tuple[int, Sums | None] = (0, None),
        watch: Watch | None = None,
    ) -> Sums | None:
        """Return the sum of a function over the blocks, several of them worked on at a time.

        An engine with workers of its own overrides it.

        Parameters
        ----------
        function : callable
            ``function(block, number)`` returns what is joined.
        columns : sequence of str
            Names of the columns that it needs.
        join : callable
            Joins the results of two blocks.
        n_workers : int, default=1
            Blocks that are worked on at a time.
        begun : (int, tuple), default=(0, None)
            Number of blocks that an interrupted scan has summed, and their sum.
        watch : callable, default=None
            ``watch(n_blocks, total)`` is called after every block.

        Returns
        -------
        tuple or None
            The sum; None where there is no block.
        """
        done, total = begun
        for part in self._results(function, columns, n_workers, done):
            total = part if total is None else join(total, part)
            done += 1
            if watch is not None:
                watch(done, total)
        return total

    def _results(
        self, function: Callable[..., Sums], columns: Sequence[str], n_workers: int, skipped: int
    ) -> Iterator[Sums]:
        """Yield the results of the blocks in order, few of them computed ahead."""
        with limited_blas(), ThreadPoolExecutor(n_workers) as pool:
            waiting: deque[Future[Sums]] = deque()
            for number, block in enumerate(self.checked_blocks(columns)):
                if number < skipped:
                    continue
                waiting.append(pool.submit(function, block, number))
                if len(waiting) > n_workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def checked_blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        """Yield the blocks; whatever an engine says of a broken source becomes one sentence.

        Parameters
        ----------
        columns : sequence of str
            Names of the columns that are asked for.

        Yields
        ------
        dict, pyarrow.RecordBatch or pyarrow.Table
            As :meth:`blocks`.
        """
        try:
            yield from self.blocks(columns)
        except (RowsError, ImportError, MemoryError):
            raise
        except Exception as error:  # every engine has a family of errors of its own
            said = " ".join(str(error).split()) or type(error).__name__
            raise RowsError(f"{self.label} cannot be read on: {said}") from error


@dataclass(frozen=True)
class Layout:
    """Which columns are read, and as what.

    Attributes
    ----------
    label : str
        What messages call the source.
    features : tuple of str
    texts : tuple of str
        Those of the features that hold texts.
    target : str
    weight : str or None
    groups : str or None
        Rows with one value of this column stay in one cell.
    exposure : str or None
        For how long or how much a row was observed.
    text_target : bool
        Whether the target holds texts: the names of two classes.
    """

    label: str
    features: tuple[str, ...]
    texts: tuple[str, ...]
    target: str
    weight: str | None = None
    groups: str | None = None
    exposure: str | None = None
    text_target: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of all columns that a scan reads."""
        extra = [self.target, self.weight, self.groups, self.exposure]
        return list(dict.fromkeys([*self.features, *(name for name in extra if name is not None)]))


@dataclass(frozen=True)
class Part:
    """The rows of a block that have a positive weight.

    Attributes
    ----------
    X : ndarray of shape (p, n)
        Features as rows, so that a column is a slice; texts are numbers of ``levels``.
    y, s, offset : ndarray of shape (n,)
        Target, weight and logarithm of the exposure; a target of texts is numbers of ``levels``.
    levels : dict of list
        By column: the texts that its numbers stand for.
    keys : ndarray of uint64 of shape (n,)
        A hash of what a row holds: the same whatever the block, the engine or the order.
    cells : ndarray of uint64 of shape (n,)
        The same, or a hash of the column that keeps rows together.
    """

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    offset: np.ndarray
    levels: dict[str, list[str]]
    keys: np.ndarray
    cells: np.ndarray


def read_part(block: Columnar, number: int, layout: Layout) -> Part:
    """Return the arrays of a block, checked."""
    place = f"block {number} of {layout.label}"
    missing = [name for name in layout.columns if name not in _names(block)]
    if missing:
        raise RowsError(f"Column {missing[0]!r} is missing in {place}.")
    n = len(column_of(block, layout.target))
    X, y = np.empty((len(layout.features), n)), np.empty(n)
    levels, keys = {}, np.zeros(n, dtype=np.uint64)
    texts = {*layout.texts, *([layout.target] if layout.text_target else [])}
    for name, values in zip((*layout.features, layout.target), (*X, y), strict=True):
        if name in texts:
            codes, levels[name] = _levels(column_of(block, name), name, place)
            values[:] = codes
            keys += _mixed(_hashes(levels[name])[codes], name)
        else:
            values[:] = numbers_of(column_of(block, name), name, place)
            keys += _mixed(_bits(values), name)
    s, offset = np.ones(n), np.zeros(n)
    if layout.weight is not None:
        s = numbers_of(column_of(block, layout.weight), layout.weight, place)
        if (s < 0).any():
            raise RowsError(f"The weights {layout.weight!r} are negative in {place}.")
        keys += _mixed(_bits(s), layout.weight)
    if layout.exposure is not None:
        exposure = numbers_of(column_of(block, layout.exposure), layout.exposure, place)
        if not (exposure[s > 0] > 0).all():
            raise RowsError(f"The exposure {layout.exposure!r} is not positive in {place}.")
        offset[s > 0] = np.log(exposure[s > 0])
        keys += _mixed(_bits(exposure), layout.exposure)
    cells = keys = _final(keys)
    if layout.groups is not None:
        codes, values = _levels(column_of(block, layout.groups), layout.groups, place)
        cells = _final(_hashes(values)[codes])
    if not s.all():
        used = s > 0
        X, y, s, offset = X[:, used], y[used], s[used], offset[used]
        keys, cells = keys[used], cells[used]
    return Part(X, y, s, offset, levels, keys, cells)


# -- columns of any library -----------------------------------------------------------------------


def _names(block: Columnar) -> Any:
    return block.schema.names if hasattr(block, "schema") else block


def column_of(block: Columnar, name: str) -> Any:
    """Return a column of a block, in whatever kind of array it has."""
    return block.column(name) if hasattr(block, "schema") else block[name]


def numbers_of(column: Any, name: str, place: str) -> np.ndarray:
    """Return a column as finite numbers."""
    if hasattr(column, "to_numpy"):
        column = column.to_numpy(**_copying(column))
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(float)
        except (TypeError, ValueError):
            kind = "texts" if values.dtype.kind in "OUST" else str(values.dtype)
            raise RowsError(f"Column {name!r} holds {kind}, not numbers, in {place}.") from None
    values = np.ascontiguousarray(values, dtype=float)
    if not np.isfinite(values.sum()):
        bad = int((~np.isfinite(values)).sum())
        if bad:
            raise RowsError(
                f"Column {name!r} has {bad} missing or infinite values in {place}: drop or fill "
                "them first."
            )
    return values


def _copying(column: Any) -> dict[str, bool]:
    """Return what lets an Arrow array with gaps or bits become an array."""
    copies = hasattr(column, "dictionary_encode") and not hasattr(column, "num_chunks")
    return {"zero_copy_only": False} if copies else {}


def _levels(column: Any, name: str, place: str) -> tuple[np.ndarray, list[str]]:
    """Return numbers of texts, and the texts."""
    if hasattr(column, "dictionary_encode"):
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        encoded = column if hasattr(column, "indices") else column.dictionary_encode()
        if encoded.null_count:
            raise RowsError(f"Column {name!r} has {encoded.null_count} missing values in {place}.")
        values, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
        # A dictionary may hold texts that no row of the block has.
        used, codes = np.unique(codes, return_inverse=True)
        return codes, [str(values[i]) for i in used]
    values = np.asarray(column, dtype=object)
    gaps = sum(value is None or value != value for value in values)
    if gaps:
        raise RowsError(f"Column {name!r} has {gaps} missing values in {place}.")
    texts, codes = np.unique(values.astype(str), return_inverse=True)
    return codes, texts.tolist()


# -- hashes of rows -------------------------------------------------------------------------------


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of numbers, the same for both zeros."""
    return (values + 0.0).view(np.uint64)


def _hashes(texts: Sequence[str]) -> np.ndarray:
    return np.array([_hash(text.encode()) for text in texts], dtype=np.uint64)


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=SALT).digest(), "little")


def _mixed(bits: np.ndarray, name: str) -> np.ndarray:
    """Return numbers that spread, by a factor of the column's own, so that these can be added."""
    factor = np.uint64(_hash(name.encode()) | 1)
    # Round numbers differ in their highest bits only, and a product carries none of them down.
    bits = bits ^ (bits >> np.uint64(32))
    bits *= factor
    bits ^= bits >> np.uint64(29)
    return bits


def _final(keys: np.ndarray) -> np.ndarray:
    """Return well mixed bits of sums over columns (the last steps of MurmurHash3)."""
    keys = keys ^ (keys >> np.uint64(33))
    keys *= np.uint64(0xFF51AFD7ED558CCD)
    keys ^= keys >> np.uint64(33)
    keys *= np.uint64(0xC4CEB9FE1A85EC53)
    keys ^= keys >> np.uint64(33)
    return keys
