"""Where the rows of a streamed selection come from: files, queries, frames, clusters.

Every source is walked through twice by :func:`kernelknife.select_stream`, a block at a time.
:func:`open_source` finds the one for what it is given; a source of your own is one subclass of
:class:`Source`.
"""

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelknife._engine.data.dask import is_dask, running_client
from kernelknife._engine.data.rows import Join, RowsError, Sums, tree_sum
from kernelknife._streaming.source import Columnar, Source, rows_of_block
from kernelknife._utils.messages import import_optional

__all__ = [
    "ArrowSource",
    "DaskSource",
    "DuckDBSource",
    "FrameSource",
    "PolarsSource",
    "SQLSource",
    "Source",
    "joined",
    "open_source",
    "tree_sum",
]

FIRST_ROWS = 1000  # of a query, which show what its columns hold
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}


def open_source(X: Any, *, table: str | None = None) -> Source:
    """Return the source of whatever holds rows.

    Parameters
    ----------
    X : Source, path, glob, list of paths, relation, lazy frame, frame, dict or connection
        Files are Parquet, Feather or CSV; a folder has files of one kind. ``duckdb:///file.db`` and
        URLs that SQLAlchemy knows are opened with ``table``.
    table : str, default=None
        A table, or a query, of a connection, an engine or a URL.

    Returns
    -------
    Source
        To be passed to :func:`kernelknife.select_stream`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.sources import open_source
    >>> source = open_source({"x": np.arange(5.0), "y": np.ones(5)})
    >>> source.names, source.n_rows
    (['x', 'y'], 5)
    """
    if isinstance(X, Source):
        return X
    home = type(X).__module__.partition(".")[0]
    if isinstance(X, str) and "://" in X and (table is not None or X.startswith("duckdb:")):
        return _of_url(X, table)
    if isinstance(X, (str, os.PathLike)) or (isinstance(X, list | tuple) and X):
        return ArrowSource(X)
    if is_dask(X):
        return DaskSource(X)
    if type(X).__name__ == "LazyFrame":
        return PolarsSource(X)
    if "duckdb" in home:
        return DuckDBSource(X, table)
    if hasattr(X, "cursor") or hasattr(X, "dialect"):
        return SQLSource(X, _needed(table))
    if hasattr(X, "to_batches") and hasattr(X, "schema"):
        return ArrowSource(X)
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        return FrameSource(X)
    raise TypeError(
        f"A {type(X).__name__} is no source of rows: pass files, a query, a frame, or a Source of "
        "your own."
    )


def _of_url(url: str, table: str | None) -> Source:
    path, _, query = url.partition("?")
    if query.startswith("table="):
        url, table = path, query.removeprefix("table=")
    if url.startswith("duckdb:"):
        duckdb = import_optional("duckdb", "kernelknife[sources]", "A DuckDB file")
        file = url.split("://", 1)[1].removeprefix("/")
        if not Path(file).exists():
            raise RowsError(f"There is no file {file}.")
        return DuckDBSource(duckdb.connect(file, read_only=True), _needed(table))
    sqlalchemy = import_optional("sqlalchemy", "kernelknife[sources]", "A database")
    return SQLSource(sqlalchemy.create_engine(url), _needed(table))


def _needed(table: str | None) -> str:
    if table is None:
        raise TypeError("A database needs table, the name of a table or a query.")
    return table


def _as_query(table: str) -> str:
    """Return what a FROM takes: a table's name, or a query in brackets."""
    is_query = table.lstrip().lower().startswith(("select", "with", "from "))
    return f"({table}) AS source" if is_query else table


def _kind_of_arrow(kind: Any) -> str:
    types = import_optional("pyarrow", "pyarrow", "A source of rows").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(test(kind) for test in numbers):
        return "number"
    return "text" if types.is_string(kind) or types.is_large_string(kind) else str(kind)


def _kind_of_array(values: Any) -> str:
    kind = getattr(np.asarray(values[:FIRST_ROWS]).dtype, "kind", "O")
    if kind in "biuf":
        return "number"
    if kind in "UST":
        return "text"
    if kind != "O":
        return str(np.asarray(values[:1]).dtype)
    known = [value for value in np.asarray(values[:FIRST_ROWS], dtype=object) if value is not None]
    return "text" if known and all(isinstance(value, str) for value in known) else "number"


def _kind_of_pandas(kind: Any) -> str:
    if getattr(kind, "kind", "O") in "biuf":
        return "number"
    return "text" if str(kind) in ("object", "string", "str", "category") else str(kind)


class FrameSource(Source):
    """Columns in memory: a data frame, or a dict of arrays.

    Parameters
    ----------
    frame : DataFrame or dict
        From names to columns of the same length.
    block_rows : int, default=None
        Rows of a block; None is 65,536, or fewer of more than 60 columns.

    Examples
    --------
    >>> from kernelknife.sources import FrameSource
    >>> source = FrameSource({"x": [0.0, 1.0, 2.0]}, block_rows=2)
    >>> [len(block["x"]) for block in source.blocks(["x"])]
    [2, 1]
    """

    def __init__(self, frame: Any, block_rows: int | None = None):
        self.names = [str(name) for name in getattr(frame, "columns", frame)]
        self.columns = {name: np.asarray(frame[name]) for name in self.names}
        self.dtypes = {name: _kind_of_array(self.columns[name]) for name in self.names}
        self.n_rows = len(self.columns[self.names[0]]) if self.names else 0
        self.block_rows, self.label = block_rows, "the table"

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        step = self.block_rows or rows_of_block(len(columns))
        for first in range(0, self.n_rows or 0, step):
            rows = slice(first, first + step)
            yield {name: self.columns[name][rows] for name in columns}


class ArrowSource(Source):
    """Files that Arrow reads: Parquet, Feather or CSV, in folders, globs and object stores.

    Parameters
    ----------
    files : path, glob, list of paths or pyarrow.dataset.Dataset
        URLs such as ``s3://bucket/events/*.parquet`` are opened by fsspec, with the package of the
        store that it asks for.
    block_rows : int, default=None
        Rows of a block, at most; None is 65,536, or fewer of more than 60 columns.

    Examples
    --------
    >>> from kernelknife.sources import ArrowSource
    >>> source = ArrowSource("events/*.parquet")  # doctest: +SKIP
    """

    def __init__(self, files: Any, block_rows: int | None = None):
        arrow = import_optional("pyarrow.dataset", "kernelknife[sources]", "A source of files")
        self.label, self.block_rows = "the files", block_rows
        if isinstance(files, (str, os.PathLike)):
            self.label = str(files)
        self.given = hasattr(files, "to_batches")
        self.dataset = files if self.given else _open_dataset(arrow, files)
        self.names = list(self.dataset.schema.names)
        kinds = self.dataset.schema.types
        self.dtypes = {n: _kind_of_arrow(k) for n, k in zip(self.names, kinds, strict=True)}
        self._check_fragments()
        kind = getattr(getattr(self.dataset, "format", None), "default_extname", "")
        self.n_rows = None if kind == "csv" else self.dataset.count_rows()

    def _check_fragments(self) -> None:
        """Raise where a file's columns differ from those of the first one."""
        if self.given:
            return  # its parts may lack columns that it adds, such as those of a partition
        for fragment in self.dataset.get_fragments():
            there = fragment.physical_schema
            kinds = dict(zip(there.names, map(_kind_of_arrow, there.types), strict=True))
            place = getattr(fragment, "path", "a file")
            for name in self.names:
                if name not in kinds:
                    raise RowsError(f"{place} lacks the column {name!r} that other files have.")
                if kinds[name] != self.dtypes[name]:
                    raise RowsError(
                        f"Column {name!r} holds {kinds[name]} in {place} and {self.dtypes[name]} "
                        "in other files."
                    )

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        step = self.block_rows or rows_of_block(len(columns))
        if self.given:
            yield from self.dataset.to_batches(columns=list(columns), batch_size=step)
            return
        for fragment in self.dataset.get_fragments():
            yield from _batches(fragment, self.dataset.schema, list(columns), step)


def _batches(fragment: Any, schema: Any, columns: list[str], block_rows: int) -> Iterator[Columnar]:
    """Yield the record batches of a file, read as they are asked for.

    A scan of a data set reads ahead of whoever is slower than the disk, until all of it is in
    memory.
    """
    kind = fragment.format.default_extname
    if kind == "parquet":
        parquet = import_optional("pyarrow.parquet", "pyarrow", "A Parquet file")
        with fragment.filesystem.open_input_file(fragment.path) as file:
            # What is buffered ahead is kept until the end of the file.
            reader = parquet.ParquetFile(file, pre_buffer=False)
            yield from reader.iter_batches(block_rows, columns=columns)
    elif kind == "csv":
        csv = import_optional("pyarrow.csv", "pyarrow", "A CSV file")
        types = {name: schema.field(name).type for name in columns}
        convert = csv.ConvertOptions(include_columns=columns, column_types=types)
        with fragment.filesystem.open_input_stream(fragment.path) as file:
            yield from csv.open_csv(file, convert_options=convert)
    else:
        yield from fragment.to_batches(columns=columns, batch_size=block_rows)


def _open_dataset(arrow: Any, files: Any) -> Any:
    """Return a data set of Arrow, of files that exist."""
    if isinstance(files, (str, os.PathLike)):
        name = os.fspath(files)
        if "://" in name:
            return _dataset_of_store(arrow, name)
        if Path(name).is_dir():
            found = sorted(str(file) for file in Path(name).iterdir() if _is_data(file))
        else:
            found = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else [name]
        if not found:
            raise RowsError(f"There are no files in {name}, or none that match it.")
    else:
        found = [os.fspath(file) for file in files]
    absent = [file for file in found if not Path(file).exists()]
    if absent:
        raise RowsError(f"There is no file {absent[0]}.")
    formats = {_format_of(file) for file in found}
    if len(formats) > 1:
        raise RowsError(f"The files are of several kinds ({', '.join(sorted(formats))}).")
    try:
        return arrow.dataset(found, format=formats.pop())
    except Exception as error:  # Arrow has a family of errors for broken files
        raise RowsError(f"{found[0]} cannot be opened: {' '.join(str(error).split())}") from error


def _dataset_of_store(arrow: Any, url: str) -> Any:
    """Return a data set of files in an object store, a folder of them, or a glob."""
    fsspec = import_optional("fsspec.core", "kernelknife[sources]", f"Files at {url}")
    filesystems = import_optional("pyarrow.fs", "kernelknife[sources]", "A source of files")
    try:
        store, path = fsspec.url_to_fs(url)
        inside = glob.has_magic(path) or store.isdir(path)
        found = [path] if not inside else store.glob(path) if glob.has_magic(path) else None
        found = store.find(path, maxdepth=1) if found is None else found
        files = sorted(file for file in found if not inside or _is_data_name(Path(file)))
        if not files or not all(map(store.exists, files)):
            raise RowsError(f"There are no files at {url}.")
        formats = {_format_of(file) for file in files}
        if len(formats) > 1:
            raise RowsError(f"The files are of several kinds ({', '.join(sorted(formats))}).")
        handler = filesystems.PyFileSystem(filesystems.FSSpecHandler(store))
        return arrow.dataset(files, format=formats.pop(), filesystem=handler)
    except RowsError:
        raise
    except Exception as error:  # every store has a family of errors of its own
        raise RowsError(f"{url} cannot be opened: {' '.join(str(error).split())}") from error


def _is_data(file: Path) -> bool:
    return file.is_file() and _is_data_name(file)


def _is_data_name(file: Path) -> bool:
    known = file.suffix in FORMATS or file.suffix in (".csv", ".gz")
    return known and not file.name.startswith((".", "_"))


def _format_of(name: str) -> str:
    return FORMATS.get(Path(name).suffix, "csv")


class DuckDBSource(Source):
    """A relation of DuckDB, or a table or query of one of its connections.

    Parameters
    ----------
    source : DuckDBPyRelation or DuckDBPyConnection
        A relation, or a connection together with ``table``.
    table : str, default=None
        A table or a query of the connection.
    block_rows : int, default=None
        Rows of a block; None is 65,536, or fewer of more than 60 columns.

    Examples
    --------
    >>> import duckdb  # doctest: +SKIP
    >>> source = DuckDBSource(duckdb.sql("select * from 'events/*.parquet'"))  # doctest: +SKIP
    """

    def __init__(self, source: Any, table: str | None = None, block_rows: int | None = None):
        if not hasattr(source, "types"):  # a connection
            source = source.sql(f"SELECT * FROM {_as_query(_needed(table))}")
        self.relation, self.block_rows = source, block_rows
        self.names, self.label = list(source.columns), "the relation"
        schema = source.limit(0).to_arrow_table().schema
        self.dtypes = {n: _kind_of_arrow(schema.field(n).type) for n in self.names}

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        yield from self.relation.project(names).to_arrow_reader(
            self.block_rows or rows_of_block(len(columns))
        )


class PolarsSource(Source):
    """A lazy frame of polars, which is collected a block at a time.

    Parameters
    ----------
    frame : polars.LazyFrame
        It is run anew for every scan.
    block_rows : int, default=None
        Rows of a block; None is 65,536, or fewer of more than 60 columns.

    Examples
    --------
    >>> import polars  # doctest: +SKIP
    >>> source = PolarsSource(polars.scan_parquet("events/*.parquet"))  # doctest: +SKIP
    """

    def __init__(self, frame: Any, block_rows: int | None = None):
        self.frame, self.block_rows, self.label = frame, block_rows, "the lazy frame"
        schema = frame.head(0).collect().to_arrow().schema
        self.names = list(schema.names)
        self.dtypes = {n: _kind_of_arrow(schema.field(n).type) for n in self.names}

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        chosen = self.frame.select(list(columns))
        step = self.block_rows or rows_of_block(len(columns))
        for batch in chosen.collect_batches(chunk_size=step, maintain_order=True):
            yield batch.to_arrow()


class SQLSource(Source):
    """A table or a query of a database, fetched in batches: SQLAlchemy, or a driver of ADBC.

    Parameters
    ----------
    connection : sqlalchemy.Engine, or connection of ADBC or of another driver
        ADBC hands over record batches; others hand over rows.
    table : str
        A table or a query; it has to return its rows in one order.
    block_rows : int, default=None
        Rows of a block; None is 65,536, or fewer of more than 60 columns.

    Examples
    --------
    >>> import sqlalchemy  # doctest: +SKIP
    >>> engine = sqlalchemy.create_engine("sqlite:///events.db")  # doctest: +SKIP
    >>> source = SQLSource(engine, "SELECT * FROM events")  # doctest: +SKIP
    """

    def __init__(self, connection: Any, table: str, block_rows: int | None = None):
        self.connection, self.table, self.block_rows = connection, table, block_rows
        self.label = f"the query {table!r}" if " " in table else f"the table {table!r}"
        query = f"SELECT * FROM {_as_query(table)} LIMIT {FIRST_ROWS}"
        first = next(self._fetched(query, FIRST_ROWS), None)
        if first is None:
            raise RowsError(f"{self.label} has no rows.")
        self.names = list(first)
        self.dtypes = {name: _kind_of_array(first[name]) for name in self.names}

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        step = self.block_rows or rows_of_block(len(columns))
        yield from self._fetched(f"SELECT {names} FROM {_as_query(self.table)}", step)

    def _fetched(self, query: str, block_rows: int) -> Iterator[dict[str, np.ndarray]]:
        engine = hasattr(self.connection, "dialect")
        opened = self.connection.raw_connection() if engine else self.connection
        cursor = opened.cursor()
        try:
            cursor.execute(query)
            if hasattr(cursor, "fetch_record_batch"):
                for batch in cursor.fetch_record_batch():
                    yield {n: batch.column(n).to_numpy(False) for n in batch.schema.names}
                return
            names = [entry[0] for entry in cursor.description]
            while rows := cursor.fetchmany(block_rows):
                yield {n: np.array(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
        finally:
            cursor.close()
            if engine:
                opened.close()


class DaskSource(Source):
    """A data frame of Dask: on its cluster where one is running, else a partition at a time.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        On a cluster its partitions are summed where they are, and what is lost with a worker is
        computed again.

    Examples
    --------
    >>> import dask.dataframe  # doctest: +SKIP
    >>> source = DaskSource(dask.dataframe.read_parquet("events/"))  # doctest: +SKIP
    """

    def __init__(self, frame: Any):
        self.frame, self.names = frame, [str(name) for name in frame.columns]
        self.label = "the Dask frame"
        self.dtypes = dict(zip(self.names, map(_kind_of_pandas, frame.dtypes), strict=True))

    def blocks(self, columns: Sequence[str]) -> Iterator[Columnar]:
        for part in self.frame[list(columns)].to_delayed():
            yield part.compute()

    def sum_over_blocks(
        self,
        function: Callable[[Columnar, int], Sums],
        columns: Sequence[str],
        join: Join,
        **options: Any,
    ) -> Sums | None:
        client = running_client()
        if client is None:
            return super().sum_over_blocks(function, columns, join, **options)
        parts = self.frame[list(columns)].to_delayed()
        futures = client.compute(list(parts))
        summed = [client.submit(function, part, i, pure=False) for i, part in enumerate(futures)]
        total = tree_sum(summed, lambda a, b: client.submit(joined, join, a, b, pure=False))
        result: Sums = total.result()
        return result


def joined(join: Join, a: Sums, b: Sums) -> Sums:
    """Join two results that another task may ask for again, so that neither may change.

    Parameters
    ----------
    join : callable
        What ``sum_over_blocks`` is given; it may write into its first argument.
    a, b : tuple
        Results of blocks.

    Returns
    -------
    tuple
        The result of both.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.sources import joined
    >>> joined(lambda a, b: (a[0] + b[0],), (np.ones(2),), (np.ones(2),))
    (array([2., 2.]),)
    """
    return join(tuple(x.copy() if isinstance(x, np.ndarray) else x for x in a), b)
