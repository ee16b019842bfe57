"""Rows of the Parquet files of a folder, read a row group at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kernelknife._engine.data.rows import Block, LocalRows, RowsError
from kernelknife._engine.data.targets import log_exposure, stack_offset
from kernelknife._utils.messages import import_optional

__all__ = ["ParquetRows"]

Schema: TypeAlias = dict[str, Any]  # the type that pyarrow gives each column


class ParquetRows(LocalRows):
    """Rows of a Parquet file, or of the files of a folder, a row group at a time.

    Columns that pandas saved as the index of a data frame are not features.

    Parameters
    ----------
    source : path
        A folder of files with the same columns, or one file.
    target : str, default=None
        Name of the target's column; None for rows to predict.
    weight : str, default=None
        Name of a column with the weights of the rows.
    features : sequence of str, default=None
        None is every column but target, weight, known parts and saved index.
    known : dict, default=None
        Columns that are known parts of the scores, and whether their logarithm counts.
    """

    def __init__(
        self,
        source: Any,
        target: str | None = None,
        weight: str | None = None,
        features: Any = None,
        known: dict[str, bool] | None = None,
    ):
        self.parquet = import_optional("pyarrow.parquet", "pyarrow", "A Parquet folder")
        self.source, self.target, self.weight = Path(source), target, weight
        self.known = known or {}
        if not self.source.exists():
            raise RowsError(f"There is no file or folder {source}.")
        self.parts, schema, index = self._read_layout()
        roles = [("exposure" if log else "offset", name) for name, log in self.known.items()]
        for role, name in (("target", target), ("sample_weight", weight), *roles):
            if name is not None and name not in schema:
                raise RowsError(f"{source} has no column {name!r}, the {role}.")
        if features is None:
            features = [
                name for name in schema if name not in {target, weight, *self.known, *index}
            ]
        absent = [name for name in features if name not in schema]
        if absent:
            raise RowsError(f"{source} lacks the column {absent[0]!r} that the model needs.")
        self.features = list(features)
        self._check_numeric(schema, self.features)
        self.names = np.array(self.features, dtype=object)
        self.shape = (sum(rows for _, _, rows in self.parts), len(self.features))

    def _read_layout(self) -> tuple[list[tuple[Path, int, int]], Schema, set[str]]:
        """Return the row groups, the type of every column, and the columns of a saved index."""
        files = [self.source] if self.source.is_file() else sorted(self.source.glob("*.parquet"))
        if not files:
            raise RowsError(
                f"{self.source} has no Parquet files (*.parquet; subfolders are not read)."
            )
        parts: list[tuple[Path, int, int]] = []
        first: Schema = {}
        index: set[str] = set()
        for file in files:
            opened = self._open(file)
            schema = opened.schema_arrow
            kinds = dict(zip(schema.names, schema.types, strict=True))
            first = first or kinds
            _check_same(file, kinds, first)
            index |= _saved_index(schema)
            for group in range(opened.metadata.num_row_groups):
                rows = opened.metadata.row_group(group).num_rows
                if rows:
                    parts.append((file, group, rows))
        if not parts:
            raise RowsError(f"The Parquet files of {self.source} have no rows.")
        return parts, first, index

    def _open(self, file: Path) -> Any:
        try:
            return self.parquet.ParquetFile(file)
        # pyarrow has a family of errors for broken files.
        except Exception as error:
            raise RowsError(f"{file} is not a readable Parquet file: {error}") from error

    def _check_numeric(self, schema: Schema, features: list[str]) -> None:
        """Raise where a feature holds dates or texts, which a cast would turn into numbers."""
        types = import_optional("pyarrow", "pyarrow", "A Parquet folder").types
        for name in features:
            kind = schema[name]
            tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
            if not any(test(kind) for test in tests):
                raise RowsError(
                    f"Column {name!r} of {self.source} holds {kind}, not numbers: turn it into "
                    "numbers, or leave it out of the files."
                )

    def blocks(self, width: int = 1) -> Iterator[Block]:
        """Yield one block per row group; it reads the columns that it is asked for."""
        for number in range(len(self.parts)):
            y, s = self._targets(number), self._weights(number)
            yield _RowGroup(None, y, s, number, rows=self)

    def block_label(self, number: int) -> str:
        """Return the file and the row group of a block."""
        file, group, _ = self.parts[number]
        return f"{file}, row group {group}"

    def read(self, number: int, names: list[str]) -> Any:
        """Return some columns of a row group as an arrow table."""
        file, group, _ = self.parts[number]
        return self.parquet.ParquetFile(file).read_row_group(group, columns=names).select(names)

    def _targets(self, number: int) -> np.ndarray:
        if self.target is None:
            return np.zeros(self.parts[number][2])
        table = self.read(number, [self.target, *self.known])
        y = np.asarray(table[self.target].to_numpy())
        if not self.known:
            return y
        parts = [(table[name].to_numpy().astype(float), log) for name, log in self.known.items()]
        offset = sum(log_exposure(values) if log else values for values, log in parts)
        return stack_offset(y, np.asarray(offset))

    def _weights(self, number: int) -> np.ndarray:
        if self.weight is None:
            return np.ones(self.parts[number][2])
        weights = self.read(number, [self.weight])[self.weight].to_numpy()
        return np.asarray(weights, dtype=float)


@dataclass(frozen=True)
class _RowGroup(Block):
    """A row group that reads the columns that it is asked for."""

    rows: ParquetRows | None = None

    def columns(self, index: np.ndarray) -> np.ndarray:
        assert self.rows is not None  # for the type checker: ParquetRows.blocks sets it
        names = [self.rows.features[j] for j in index]
        if not names:
            return np.empty((self.n_rows, 0))
        table = self.rows.read(self.number, names)
        return np.column_stack([table[name].to_numpy().astype(float) for name in names])


def _check_same(file: Path, kinds: Schema, first: Schema) -> None:
    """Raise where a file's columns differ from those of the first file."""
    missing = [name for name in first if name not in kinds]
    if missing:
        raise RowsError(f"{file} lacks the column {missing[0]!r} that other files have.")
    changed = [name for name in first if kinds[name] != first[name]]
    if changed:
        name = changed[0]
        raise RowsError(
            f"Column {name!r} is {kinds[name]} in {file} and {first[name]} in other files."
        )


def _saved_index(schema: Any) -> set[str]:
    """Return the columns that pandas wrote for the index of a data frame."""
    columns = (schema.pandas_metadata or {}).get("index_columns", [])
    return {name for name in columns if isinstance(name, str)}
