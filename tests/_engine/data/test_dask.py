"""Rows of Dask collections, on a cluster and without one."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.data import RowsError
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.dask import ClusterRows


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
def no_cluster(monkeypatch):
    """Rows see no cluster, and Dask itself does not use one that other tests have started."""
    monkeypatch.setattr("kernelknife._engine.data.dask.running_client", lambda: None)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def same_blocks(monkeypatch):
    monkeypatch.setattr(ArrayRows, "rows_per_block", lambda self, width: 200)


def chunks(X, y):
    return da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)


@pytest.mark.usefixtures("same_blocks")
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_cluster_gives_the_same_answer(cluster, planted, task):
    X, y = planted
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
def test_a_killed_worker_does_not_change_the_answer(cluster, planted, monkeypatch):
    """It dies by its own hand, in the middle of a sum over the blocks."""
    X, y = planted
    here = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    victim = sorted(cluster.run(os.getpid).values())[0]
    total, sums, when = ClusterRows.total, [], "model_sums"

    def watched_total(self, function, *arguments, **options):
        sums.append(function.__name__)
        if sums.count(when) != 1 or function.__name__ != when:
            return total(self, function, *arguments, **options)

        # Nested, so that it travels to the workers by value.
        def struck_down(block, *rest):
            if os.getpid() == victim:
                os.kill(victim, signal.SIGKILL)
            return function(block, *rest)

        return total(self, struck_down, *arguments, **options)

    monkeypatch.setattr(ClusterRows, "total", watched_total)
    there = KnifeRegressor(n_centers=60, sparsity=10.0).fit(*chunks(X, y))
    assert_allclose(there.weights_, here.weights_, atol=1e-10)
    assert sums[sums.index(when) + 1 :], "work was left when the worker died"
    cluster.wait_for_workers(2, timeout=60)
    assert victim not in cluster.run(os.getpid).values(), "the worker was not killed"


@pytest.mark.usefixtures("same_blocks")
def test_gaps_on_a_cluster(cluster, planted):
    X = planted[0].copy()
    X[310, 2] = np.inf
    with pytest.raises(RowsError, match=r"infinity in column 2 \(1 value in chunk 1\)"):
        KnifeRegressor(n_centers=10).fit(*chunks(X, planted[1]))


def test_a_cluster_that_goes_away(planted, monkeypatch):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    )
    client = distributed.Client(cluster)
    monkeypatch.setattr("kernelknife._engine.data.dask.running_client", lambda: client)
    fetch = ClusterRows.fetch

    def fetch_from_nowhere(self, result):
        cluster.close()
        return fetch(self, result)

    monkeypatch.setattr(ClusterRows, "fetch", fetch_from_nowhere)
    with pytest.raises(RuntimeError, match="cluster went away"):
        KnifeRegressor(n_centers=60, sparsity=10.0).fit(*chunks(*planted))
    client.close()


def test_the_command_on_a_cluster(cluster, planted, monkeypatch, capsys, write_folder):
    from kernelknife.app.cli import main

    folder = write_folder(planted[0][:280], planted[1][:280], parts=2)
    words = ["kernelknife", "select", str(folder), "-t", "y", "--alpha", "0.3", "--folds", "3"]
    monkeypatch.setattr("sys.argv", [*words, "--cluster", cluster.scheduler.address])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "x1\t" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*words, "--cluster", "tcp://127.0.0.1:9"])
    monkeypatch.setattr("kernelknife.app.cli._select.CLUSTER_TIMEOUT", 1)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "There is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.usefixtures("no_cluster")
def test_dask_without_a_cluster_and_data_frames(planted):
    X, y = planted
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefgh")), npartitions=4)
    target = dd.from_pandas(pd.Series(y), npartitions=4)
    model = KnifeRegressor(n_centers=60, sparsity=10.0).fit(frame, target)
    assert list(model.get_feature_names_out()) == ["b", "e", "g"]


@pytest.mark.usefixtures("no_cluster")
def test_dask_chunks_that_differ(planted):
    X, y = planted
    lazy = da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=90)
    assert_array_equal(
        KnifeRegressor(n_centers=60, sparsity=10.0).fit(*lazy).get_support(indices=True), [1, 4, 6]
    )
    two = KnifeRegressor(n_centers=60, sparsity=10.0).fit(lazy[0], np.column_stack([y, y]))
    assert two.predict(X).shape == (800, 2)
