"""Fits past one block of memory: centres, memory maps, Parquet, other libraries, a cluster."""

import os
import signal
import threading

import array_api_strict
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeRegressorCV, knife_path
from kernelknife._prepare import measure_columns
from kernelknife._problem import CENTERS, choose_centers
from kernelknife._rows import RowsError
from kernelknife._rows.arrays import ArrayRows
from kernelknife._rows.dask import ClusterRows
from kernelknife.kernels import KERNELS, RBF
from kernelknife.losses import LOSSES

DEFINITE = [name for name, kernel in KERNELS.items() if not kernel.indefinite]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 8))
    y = np.sin(2 * X[:, 1]) + X[:, 4] * X[:, 6] + 0.2 * rng.normal(size=800)
    return X, y


@pytest.mark.parametrize("how", CENTERS)
def test_centers_find_the_planted_features(how, data):
    X, y = data
    model = KnifeRegressor(n_centers=120, centers=how, sparsity=10.0).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [1, 4, 6])
    assert model.score(X, y) > 0.9
    assert len(model.support_vectors_) <= 120


@pytest.mark.parametrize("how", CENTERS)
def test_centers_are_different_rows_of_the_sample(how, rng):
    X = np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    index = choose_centers(X, 30, how, RBF(), np.ones(3), 0)
    assert len(np.unique(index)) == 30
    assert_array_equal(choose_centers(X, 30, how, RBF(), np.ones(3), 0), index)
    assert_array_equal(choose_centers(X, 200, how, RBF(), np.ones(3), 0), np.arange(80))


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_all_rows_as_centers_fit_like_the_exact_method(kernel, loss, data):
    X, y = data[0][:120], data[1][:120]
    kind = KnifeRegressor if loss == "squared" else KnifeClassifier
    target = y if loss == "squared" else (y > 0).astype(int)
    options = {"kernel": kernel, "loss": loss, "sparsity": 2.0, "tol": 1e-10}
    exact = kind(**options).fit(X, target)
    ours = kind(**options, centers=X).fit(X, target)
    assert_allclose(ours.objective_, exact.objective_, rtol=1e-6)
    assert_allclose(ours.weights_, exact.weights_, atol=1e-3)


def test_a_memory_map_and_single_precision(data, tmp_path):
    X, y = data
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, X.shape)
    mapped[:] = X
    there = KnifeRegressor(n_centers=100, sparsity=10.0).fit(np.load(tmp_path / "X.npy", "r"), y)
    here = KnifeRegressor(n_centers=100, sparsity=10.0).fit(mapped.astype(float), y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)


def test_centers_chosen_anew_in_the_geometry_of_the_weights(data):
    X, y = data
    model = KnifeRegressor(n_centers=60, sparsity=10.0, refresh_centers=True).fit(X, y)
    plain = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [1, 4, 6])
    assert model.objective_ < plain.objective_


def test_over_the_budget_centers_are_used_with_a_warning(data):
    X, y = data
    with pytest.warns(UserWarning, match=r"800 rows, over the budget .* 800 centres are used"):
        KnifeRegressor(memory_budget=1e6, sparsity=10.0).fit(X, y)


def test_a_path_and_many_rows(monkeypatch, data):
    """The start comes from some of the rows, the path from all."""
    monkeypatch.setattr("kernelknife._problem.centred.CentredProblem.sample_rows", 200)
    X, y = data
    path = knife_path(X, y, n_centers=80, sparsities=8)
    assert set(np.argsort(path.ranking)[:3]) == {1, 4, 6}
    assert path.converged.all()
    model = KnifeRegressor(n_centers=80, sparsity=10.0).fit(X, y)
    assert "subsample" in [name for name, _ in model.starts_]
    assert path.at(n_features=2).get_support().sum() == 2


def test_sample_weights_are_rows(data):
    X, y = data[0][:200], data[1][:200]
    s = np.arange(200) % 3
    Z = X[:50]
    weighted = KnifeRegressor(centers=Z, sparsity=4.0).fit(X, y, sample_weight=s)
    repeated = KnifeRegressor(centers=Z, sparsity=4.0).fit(np.repeat(X, s, 0), np.repeat(y, s))
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-5)


def test_multi_class_and_groups(data):
    X, y = data
    target = np.digitize(y, [-0.5, 0.5])
    model = KnifeClassifier(n_centers=100, sparsity=10.0, feature_groups=[0, 1, 2, 3, 4, 5, 4, 7])
    model.fit(X, target)
    assert model.weights_[4] == model.weights_[6]
    assert model.decision_function(X).shape == (800, 3)
    assert model.score(X, target) > 0.8


# -- other libraries ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", DEFINITE)
def test_the_array_api_gives_numpys_answer(kernel, data):
    X, y = data[0][:300], data[1][:300]
    strict = array_api_strict.asarray(X)
    here = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(X, y)
    there = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(strict, y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    predicted = there.predict(strict)
    assert isinstance(predicted, type(strict))
    assert_allclose(np.asarray(predicted), here.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "loss", [name for name, kind in LOSSES.items() if kind().surrogate is None]
)
def test_every_loss_on_the_array_api(loss, data):
    X, y = data[0][:300], data[1][:300]
    regression = LOSSES[loss]().task == "regression"
    kind, target = (KnifeRegressor, y) if regression else (KnifeClassifier, (y > 0).astype(int))
    strict = array_api_strict.asarray(X)
    here = kind(loss=loss, n_centers=40, sparsity=5.0).fit(X, target)
    there = kind(loss=loss, n_centers=40, sparsity=5.0).fit(strict, target)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    assert_allclose(np.asarray(there.predict(strict)), here.predict(X), atol=1e-6)


def test_a_device_without_float64(data):
    single = array_api_strict.asarray(data[0].astype(np.float32))
    with pytest.raises(TypeError, match="must be float64"):
        KnifeRegressor(n_centers=10).fit(single, data[1])


def test_a_device_out_of_memory(data, monkeypatch):
    def fail(*_):
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 GiB")

    monkeypatch.setattr("kernelknife._problem.centred.newton_sums", fail)
    with pytest.raises(MemoryError, match="lower n_centers"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(data[0]), data[1])


# -- Parquet --------------------------------------------------------------------------------------


def write_folder(folder, X, y, parts=4):
    folder.mkdir()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    for i, rows in enumerate(np.array_split(np.arange(len(X)), parts)):
        frame.iloc[rows].to_parquet(folder / f"part{i}.parquet", row_group_size=70)
    return folder


def test_a_parquet_folder(data, tmp_path):
    X, y = data
    folder = write_folder(tmp_path / "data", X, y)
    there = KnifeRegressor(centers=X[:100], sparsity=10.0).fit(folder, "y")
    here = KnifeRegressor(centers=X[:100], sparsity=10.0).fit(X, y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    assert list(there.get_feature_names_out()) == ["x1", "x4", "x6"]
    assert_allclose(there.predict(folder), here.predict(X), atol=1e-6)


def test_only_columns_with_weight_are_read(data, tmp_path, monkeypatch):
    from kernelknife._rows.parquet import ParquetRows

    X, y = data
    folder = write_folder(tmp_path / "data", X, y)
    read, asked = ParquetRows.read, []

    def watched(self, number, names):
        asked.append(set(names))
        return read(self, number, names)

    monkeypatch.setattr(ParquetRows, "read", watched)
    KnifeRegressor(n_centers=100, sparsity=10.0).fit(folder, "y")
    assert {"x1", "x4", "x6"} in asked[-30:]
    assert not any("x0" in names for names in asked[-10:])


def test_bad_parquet_folders(data, tmp_path):
    X, y = data
    with pytest.raises(RowsError, match="There is no file or folder"):
        KnifeRegressor().fit(tmp_path / "nowhere", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RowsError, match="has no Parquet files"):
        KnifeRegressor().fit(tmp_path / "empty", "y")
    folder = write_folder(tmp_path / "data", X, y)
    with pytest.raises(RowsError, match="has no column 'z'"):
        KnifeRegressor().fit(folder, "z")
    with pytest.raises(TypeError, match="name of the target's column"):
        KnifeRegressor().fit(folder, y)
    part = pd.read_parquet(folder / "part2.parquet")
    part.drop(columns="x3").to_parquet(folder / "part2.parquet")
    with pytest.raises(RowsError, match=r"part2\.parquet lacks the column 'x3'"):
        KnifeRegressor().fit(folder, "y")
    part.assign(x3=part["x3"].astype(str)).to_parquet(folder / "part2.parquet")
    with pytest.raises(RowsError, match=r"Column 'x3' is .*string in .* and double in other files"):
        KnifeRegressor().fit(folder, "y")


def test_the_block_and_column_of_a_gap_are_named(data, tmp_path):
    X, y = data
    X = X.copy()
    X[753, 5] = np.nan
    with pytest.raises(RowsError, match=r"NaN in column 5 \(1 value\)"):
        measure_columns(ArrayRows(X, y, block_rows=100), standardize=True, center=True)
    folder = write_folder(tmp_path / "data", X, y)
    place = r"NaN in column 'x5' \(1 value in .*part3\.parquet, row group 2\)"
    with pytest.raises(RowsError, match=place):
        KnifeRegressor(n_centers=10).fit(folder, "y")


# -- Dask -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture
def same_blocks(monkeypatch):
    monkeypatch.setattr(ArrayRows, "rows_per_block", lambda self, width: 100)


def chunks(X, y):
    return da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)


@pytest.mark.usefixtures("same_blocks")
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_cluster_gives_the_same_answer(cluster, data, task):
    X, y = data
    kind, target = KnifeRegressor, y
    if task == "classification":
        kind, target = KnifeClassifier, np.where(y > 0, "up", "down")
    here = kind(n_centers=60, sparsity=10.0).fit(X, target)
    there = kind(n_centers=60, sparsity=10.0).fit(*chunks(X, target))
    assert_allclose(there.weights_, here.weights_, atol=1e-10)
    found = there.predict(chunks(X, target)[0])
    assert isinstance(found, da.Array)
    assert_array_equal(found.compute(), there.predict(X))


@pytest.mark.usefixtures("same_blocks")
def test_a_killed_worker_does_not_change_the_answer(cluster, data):
    X, y = data
    here = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    victim = sorted(cluster.run(os.getpid).values())[0]
    threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
    there = KnifeRegressor(n_centers=60, sparsity=10.0).fit(*chunks(X, y))
    assert_allclose(there.weights_, here.weights_, atol=1e-10)


@pytest.mark.usefixtures("same_blocks")
def test_gaps_on_a_cluster(cluster, data):
    X = data[0].copy()
    X[310, 2] = np.inf
    with pytest.raises(RowsError, match=r"infinity in column 2 \(1 value in chunk 3\)"):
        KnifeRegressor(n_centers=10).fit(*chunks(X, data[1]))


def test_a_cluster_that_goes_away(data, monkeypatch):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    )
    client = distributed.Client(cluster)
    monkeypatch.setattr("kernelknife._rows.dask.running_client", lambda: client)
    fetch = ClusterRows.fetch

    def fetch_from_nowhere(self, result):
        cluster.close()
        return fetch(self, result)

    monkeypatch.setattr(ClusterRows, "fetch", fetch_from_nowhere)
    with pytest.raises(RuntimeError, match="cluster went away"):
        KnifeRegressor(n_centers=60, sparsity=10.0).fit(*chunks(*data))
    client.close()


def test_the_command_on_a_cluster(cluster, data, tmp_path, monkeypatch, capsys):
    from kernelknife.cli import main

    folder = write_folder(tmp_path / "data", *data)
    words = ["kernelknife", "select", str(folder), "-t", "y", "--alpha", "0.3", "--folds", "3"]
    monkeypatch.setattr("sys.argv", [*words, "--cluster", cluster.scheduler.address])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "x1\t" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*words, "--cluster", "tcp://127.0.0.1:9"])
    monkeypatch.setattr("kernelknife.cli._select.CLUSTER_TIMEOUT", 1)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "There is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_dask_without_a_cluster_and_data_frames(data, monkeypatch):
    monkeypatch.setattr("kernelknife._rows.dask.running_client", lambda: None)
    X, y = data
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefgh")), npartitions=4)
    target = dd.from_pandas(pd.Series(y), npartitions=4)
    model = KnifeRegressor(n_centers=60, sparsity=10.0).fit(frame, target)
    assert list(model.get_feature_names_out()) == ["b", "e", "g"]


# -- corners --------------------------------------------------------------------------------------


def test_no_feature_left(data, tmp_path):
    X, y = data[0][:200], data[1][:200]
    for options in ({"kernel": "linear"}, {}):
        model = KnifeRegressor(n_centers=30, sparsity=1e6, **options).fit(X, y)
        assert not model.weights_.any()
        assert_allclose(model.predict(X), y.mean(), atol=1e-6)
    folder = write_folder(tmp_path / "data", X, y)
    assert not KnifeRegressor(n_centers=30, sparsity=1e6).fit(folder, "y").weights_.any()
    strict = array_api_strict.asarray(X)
    model = KnifeRegressor(n_centers=30, n_features_to_select=1).fit(strict, y)
    assert model.get_support().sum() == 1


def test_linear_paths_on_centers_count_as_the_exact_ones(data):
    X, y = data[0][:200], data[1][:200]
    grid = [0.0, 1.0, 10.0, 100.0, 1000.0]
    exact = knife_path(X, y, kernel="linear", sparsities=grid)
    ours = knife_path(X, y, kernel="linear", sparsities=grid, n_centers=50)
    assert_array_equal(ours.n_selected, exact.n_selected)


def test_predicting_lazy_rows_is_checked(data, tmp_path):
    X, y = data
    model = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    folder = write_folder(tmp_path / "data", X, y)
    with pytest.raises(ValueError, match="X has 9 columns, the model was fitted on 8"):
        model.predict(folder)
    with pytest.raises(ValueError, match="X has 3 columns"):
        model.predict(da.from_array(X[:, :3]))
    with pytest.raises(ValueError, match="X has 3 columns"):
        model.predict(array_api_strict.asarray(X[:, :3]))
    named = KnifeRegressor(n_centers=60, sparsity=10.0).fit(folder, "y")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    turned = dd.from_pandas(frame[frame.columns[::-1]], npartitions=2)
    assert_allclose(named.predict(turned).compute(), named.predict(frame))
    frame.loc[3, "x1"] = np.nan
    with pytest.raises(ValueError, match="contains NaN in column 'x1'"):
        named.predict(dd.from_pandas(frame, npartitions=2)).compute()


def test_a_class_too_rare_for_the_subsample(monkeypatch, rng):
    monkeypatch.setattr("kernelknife._problem.centred.CentredProblem.sample_rows", 20)
    X = rng.normal(size=(300, 3))
    y = np.zeros(300, dtype=int)
    y[:2] = 1
    assert KnifeClassifier(n_centers=20).fit(X, y).score(X, y) > 0.9


def test_rows_of_no_weight_are_not_there(data):
    X, y = data[0][:200].copy(), data[1][:200].copy()
    s = np.r_[np.ones(100), np.zeros(100)]
    X[100:] *= 1e6
    y[100:] *= 1e3
    for loss in ("squared", "huber"):
        one = KnifeRegressor(loss=loss, n_centers=40, sparsity=2.0).fit(X, y, sample_weight=s)
        two = KnifeRegressor(loss=loss, n_centers=40, sparsity=2.0).fit(X[:100], y[:100])
        assert_allclose(one.weights_, two.weights_, atol=1e-8)


def test_refreshing_keeps_what_was_asked(data):
    X, y = data
    given = KnifeRegressor(centers=X[:50], sparsity=10.0, refresh_centers=True).fit(X, y)
    assert given.get_support().sum() == 3
    assert (
        not KnifeRegressor(n_centers=30, sparsity=1e6, refresh_centers=True)
        .fit(X, y)
        .weights_.any()
    )
    exactly = KnifeRegressor(n_centers=30, n_features_to_select=2, refresh_centers=True).fit(X, y)
    assert exactly.get_support().sum() == 2


def test_dask_chunks_that_differ(data, monkeypatch):
    monkeypatch.setattr("kernelknife._rows.dask.running_client", lambda: None)
    X, y = data
    lazy = da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=90)
    assert_array_equal(
        KnifeRegressor(n_centers=60, sparsity=10.0).fit(*lazy).get_support(indices=True), [1, 4, 6]
    )
    two = KnifeRegressor(n_centers=60, sparsity=10.0).fit(lazy[0], np.column_stack([y, y]))
    assert two.predict(X).shape == (800, 2)


# -- refusals -------------------------------------------------------------------------------------


def test_what_centers_cannot_do(data):
    X, y = data
    classes = (y > 0).astype(int)
    with pytest.raises(ValueError, match="no machine on centres"):
        KnifeClassifier(loss="hinge", n_centers=10).fit(X, classes)
    with pytest.raises(ValueError, match="the solver is 'eliminate'"):
        KnifeRegressor(solver="alternate", n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="Unknown centers 'best'"):
        KnifeRegressor(centers="best", n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="centers must have 8 columns"):
        KnifeRegressor(centers=X[:5, :3]).fit(X, y)
    with pytest.raises(ValueError, match="n_centers must be"):
        KnifeRegressor(n_centers=0).fit(X, y)
    with pytest.raises(TypeError, match="needs an array or a data frame"):
        KnifeRegressorCV().fit(da.from_array(X), da.from_array(y))
    with pytest.raises(ValueError, match="Unknown label type"):
        KnifeClassifier(n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(X), y, -np.ones(800))
    with pytest.raises(ValueError, match="Pass task="):
        knife_path("folder", "y")
    with pytest.raises(ValueError, match=r"800 rows and y has 700"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(X), y[:700])
