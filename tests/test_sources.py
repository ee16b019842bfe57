"""The same rows give the same selection, whatever engine yields them."""

import importlib.util
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import select_stream
from kernelknife._engine.data import RowsError
from kernelknife.sources import ArrowSource, Source, open_source

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

N = 3000
QUICK = {"cv": 3, "n_pairs": 2, "sparsities": 10}


def columns():
    rng = np.random.default_rng(5)
    made = {f"x{j}": rng.normal(size=N) for j in range(4)}
    made["count"] = rng.integers(0, 6, N)
    made["kind"] = rng.choice(["blue", "it's", 'say "x"'], N)
    signal = np.sin(made["x1"]) + made["count"] * 0.3 + (made["kind"] == "blue")
    return made | {"y": signal + 0.3 * rng.normal(size=N)}


@pytest.fixture(scope="module")
def table():
    return pa.table(columns())


@pytest.fixture(scope="module")
def expected():
    return select_stream(columns(), "y", **QUICK)


def parquet(table, folder):
    for i in range(3):
        pq.write_table(
            table.slice(1000 * i, 1000), folder / f"part-{i}.parquet", row_group_size=300
        )
    return str(folder / "*.parquet")


def folder_of_feather(table, folder):
    for i in range(2):
        feather.write_feather(table.slice(1500 * i, 1500), str(folder / f"{i}.feather"))
    return folder


def csv_files(table, folder):
    names = [folder / "a.csv", folder / "b.csv"]
    csv.write_csv(table.slice(0, 100), names[0])
    csv.write_csv(table.slice(100), names[1])
    return names


def dataset(table, folder):
    return pytest.importorskip("pyarrow.dataset").dataset(table)


def relation(table, folder):
    duckdb = pytest.importorskip("duckdb")
    parquet(table, folder)
    return duckdb.sql(f"select * from '{folder}/*.parquet'")


def duckdb_file(table, folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "file.db")) as connection:
        connection.register("given", table)
        connection.execute("create table events as select * from given")
    return f"duckdb:///{folder}/file.db?table=events"


def lazy(table, folder):
    return pytest.importorskip("polars").from_arrow(table).lazy()


def frame(table, folder):
    return table.to_pandas()


def engine(table, folder):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    made = sqlalchemy.create_engine(f"sqlite:///{folder}/file.sqlite")
    table.to_pandas().to_sql("events", made, index=False)
    return open_source(made, table="SELECT * FROM events ORDER BY rowid")


def adbc(table, folder):
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with sqlite3.connect(folder / "file.sqlite") as connection:
        table.to_pandas().to_sql("events", connection, index=False)
    connection.close()
    return open_source(driver.connect(str(folder / "file.sqlite")), table="events")


def dask_frame(table, folder):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(table.to_pandas(), npartitions=4)


ENGINES = [
    *(parquet, folder_of_feather, csv_files, relation, duckdb_file, lazy, frame, engine, adbc),
    *(dask_frame, dataset),
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
def test_every_engine_gives_the_same_selection(make, table, expected, tmp_path):
    found = select_stream(open_source(make(table, tmp_path)), "y", **QUICK)
    assert found.selected == expected.selected
    assert_allclose(found.path, expected.path, atol=1e-9)
    assert_allclose(found.error, expected.error, rtol=1e-9)
    assert {"x1", "count", "kind"} <= set(found.selected)


def test_a_cluster_sums_where_the_partitions_are(table, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        found = select_stream(dask_frame(table, tmp_path), "y", **QUICK)
    assert_allclose(found.path, expected.path, atol=1e-9)
    assert_allclose(found.error, expected.error, rtol=1e-9)


def example(name):
    """Return the module of an example of a source."""
    file = Path(__file__).parents[1] / "docs" / "guide" / "sources" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(file.read_text(encoding="utf-8").splitlines()) < 40
    return module


@pytest.mark.filterwarnings("ignore")  # of the engines, of which there are many
def test_ray_sums_where_the_blocks_are(table, expected):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        source = example("ray_source").RaySource(ray.data.from_arrow(table).repartition(3))
        found = select_stream(source, "y", **QUICK)
        assert_allclose(sum(len(block) for block in source.blocks(["y"])), N)
    finally:
        ray.shutdown()
    assert_allclose(found.path, expected.path, atol=1e-9)
    assert_allclose(found.error, expected.error, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_spark_sums_where_the_partitions_are(table, expected):
    pyspark = pytest.importorskip("pyspark.sql")
    session = pyspark.SparkSession.builder.master("local[1]").getOrCreate()
    try:
        frame = session.createDataFrame(table.to_pandas()).repartition(3)
        source = example("spark_source").SparkSource(frame)
        found = select_stream(source, "y", **QUICK)
        assert_allclose(sum(len(block) for block in source.blocks(["y"])), N)
    finally:
        session.stop()
    assert_allclose(found.path, expected.path, atol=1e-9)
    assert_allclose(found.error, expected.error, rtol=1e-9)


def test_a_source_of_your_own_is_one_class(expected):
    class Slices(Source):
        names, n_rows, label = list(columns()), None, "slices"
        dtypes = {name: "text" if name == "kind" else "number" for name in columns()}  # noqa: RUF012

        def blocks(self, names):
            whole = columns()
            for first in range(0, N, 700):
                yield {name: whole[name][first : first + 700] for name in names}

    found = select_stream(Slices(), "y", **QUICK)
    assert_allclose(found.path, expected.path, atol=1e-9)


@pytest.mark.parametrize("name", ["events/*.parquet", "events", "events/part-0.parquet"])
def test_files_of_an_object_store_are_those_of_a_folder(name, table, expected):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    step = N if name.endswith("0.parquet") else 1000
    for i in range(0, N, step):
        with store.open(f"/bucket/events/part-{i // step}.parquet", "wb") as file:
            pq.write_table(table.slice(i, step), file)
    with store.open("/bucket/events/_SUCCESS", "wb") as file:
        file.write(b"")
    try:
        source = open_source(f"memory://bucket/{name}")
        assert source.n_rows == N
        found = select_stream(source, "y", **QUICK)
        with pytest.raises(RowsError, match=r"There are no files at memory://bucket/others/"):
            open_source("memory://bucket/others/*.parquet")
    finally:
        store.rm("/bucket", recursive=True)
    assert_allclose(found.path, expected.path, atol=1e-9)
    with pytest.raises(RowsError, match=r"nowhere://bucket cannot be opened: .*nowhere"):
        open_source("nowhere://bucket")


# -- what is refused ------------------------------------------------------------------------------


def test_files_of_other_columns_are_refused_with_their_names(table, tmp_path):
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.drop_columns(["x2"]), tmp_path / "b.parquet")
    with pytest.raises(RowsError, match=r"b\.parquet lacks the column 'x2' that other files have"):
        open_source(tmp_path)
    changed = table.set_column(0, "x0", [pa.array(["a"] * N)])
    pq.write_table(changed, tmp_path / "b.parquet")
    with pytest.raises(RowsError, match=r"'x0' holds text in .*b\.parquet and number in other"):
        open_source(tmp_path)


def test_a_file_that_vanishes_between_the_scans_is_named(table, tmp_path):
    source = ArrowSource(parquet(table, tmp_path))

    class Vanishing(Source):
        names, dtypes, label = source.names, source.dtypes, source.label
        n_scans = 0

        def blocks(self, names):
            self.n_scans += 1
            if self.n_scans == 2:
                (tmp_path / "part-1.parquet").unlink()
            yield from source.blocks(names)

    with pytest.raises(RowsError, match=r"cannot be read on: .*part-1\.parquet"):
        select_stream(Vanishing(), "y", **QUICK)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "nothing.parquet", r"There is no file .*nothing\.parquet"),
        (lambda folder: str(folder / "*.parquet"), r"There are no files in"),
        (lambda folder: folder, r"There are no files in"),
        (lambda folder: "duckdb:////nowhere.db?table=t", r"There is no file"),
    ],
)
def test_files_that_are_not_there_are_named(make, message, tmp_path):
    pytest.importorskip("duckdb")
    with pytest.raises(RowsError, match=message):
        open_source(make(tmp_path))


def test_what_is_no_source_is_refused():
    with pytest.raises(TypeError, match="A int is no source of rows"):
        open_source(5)
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(TypeError, match="needs table"):
        open_source(duckdb.connect())


def test_files_of_two_kinds_and_broken_files_are_refused(table, tmp_path):
    pq.write_table(table, tmp_path / "a.parquet")
    csv.write_csv(table, tmp_path / "b.csv")
    with pytest.raises(RowsError, match=r"several kinds \(csv, parquet\)"):
        open_source(tmp_path)
    (tmp_path / "b.csv").unlink()
    (tmp_path / "a.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(RowsError, match=r"a\.parquet cannot be opened"):
        open_source(tmp_path)


def test_dates_and_gaps_are_refused_with_the_column(table, tmp_path):
    dated = table.append_column("day", [pa.array(np.zeros(N, "datetime64[s]"))])
    pq.write_table(dated, tmp_path / "a.parquet")
    with pytest.raises(RowsError, match=r"'day' holds timestamp\[ms\], neither numbers nor texts"):
        select_stream(tmp_path, "y", **QUICK)
    assert select_stream(tmp_path, "y", drop=["day"], **QUICK).selected
    values = table["x0"].to_pylist()
    values[1234] = None
    pq.write_table(table.set_column(0, "x0", [values]), tmp_path / "a.parquet")
    with pytest.raises(RowsError, match=r"'x0' has 1 missing or infinite values in block 0 of"):
        select_stream(tmp_path, "y", **QUICK)
    with pytest.raises(RowsError, match=r"'kind' holds texts, which a linear model cannot take"):
        select_stream(tmp_path, "y", kernel="linear", **QUICK)
