"""Opening what a user passes as X."""

import array_api_strict
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeRegressor
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight, open_rows, refuse_lazy_rows


def test_predicting_lazy_rows_is_checked(planted, write_folder):
    X, y = planted
    model = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    folder = write_folder(X, y)
    with pytest.raises(ValueError, match="X has 9 columns, the model was fitted on 8"):
        model.predict(folder)
    with pytest.raises(ValueError, match="X has 3 columns"):
        model.predict(da.from_array(X[:, :3]))
    with pytest.raises(ValueError, match="X has 3 columns"):
        model.predict(array_api_strict.asarray(X[:, :3]))
    named = KnifeRegressor(n_centers=60, sparsity=10.0, missing="error").fit(folder, "y")
    frame = pd.DataFrame(X.copy(), columns=[f"x{j}" for j in range(8)])
    turned = dd.from_pandas(frame[frame.columns[::-1]], npartitions=2)
    assert_allclose(named.predict(turned).compute(), named.predict(frame))
    frame.loc[3, "x1"] = np.nan
    with pytest.raises(ValueError, match="contains NaN in column 'x1'"):
        named.predict(dd.from_pandas(frame, npartitions=2)).compute()


def check_arrays(X, y):
    return np.asarray(X, dtype=float), np.asarray(y)


@pytest.mark.parametrize("kind", ["array", "frame", "map", "device", "parquet", "dask", "rows"])
def test_every_kind_is_opened_with_the_same_content(kind, rng, tmp_path, monkeypatch):
    """A user's X becomes rows whose sample has the same columns, targets and weights."""
    monkeypatch.setattr("kernelknife._engine.data.dask.running_client", lambda: None)
    X, y, s = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(size=30)
    frame = pd.DataFrame(X, columns=list("abc"))
    np.save(tmp_path / "X.npy", X)
    frame.assign(y=y, s=s).to_parquet(tmp_path / "rows.parquet", row_group_size=7)
    given = {
        "array": (X, y, s),
        "frame": (frame, y, s),
        "map": (np.load(tmp_path / "X.npy", mmap_mode="r"), y, s),
        "device": (array_api_strict.asarray(X), y, s),
        "parquet": (tmp_path, "y", "s"),
        "dask": (da.from_array(X, chunks=(8, -1)), da.from_array(y, chunks=8), s),
        "rows": (ArrayRows(X, y, s), None, None),
    }
    rows = open_rows(*given[kind], check_arrays)
    assert rows.shape == (30, 3)
    index = np.array([0, 7, 8, 29])
    sample = rows.fetch(rows.sample(index))
    assert_allclose(sample.X, X[index])
    assert_allclose(np.ravel(sample.y), y[index])
    assert_allclose(sample.s, s[index])
    (total,) = rows.fetch(rows.total(lambda block: (float(np.asarray(block.s).sum()),)))
    assert_allclose(total, s.sum())


def test_rows_have_targets_and_weights_of_their_own(rng):
    rows = ArrayRows(rng.normal(size=(30, 3)), rng.normal(size=30))
    assert open_rows(rows, None, None, check_arrays) is rows
    for y, s in ((np.zeros(30), None), (None, np.ones(30))):
        with pytest.raises(TypeError, match="Rows bring their targets and weights"):
            open_rows(rows, y, s, check_arrays)


def test_only_tables_in_memory_are_in_memory(rng, tmp_path):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    assert open_rows(X, y, None, check_arrays).in_memory
    for X_, y_ in ((tmp_path, "y"), (array_api_strict.asarray(X), y)):
        assert not open_rows(X_, y_, None, check_arrays).in_memory


def test_what_cannot_be_split_is_refused(rng, tmp_path):
    X = rng.normal(size=(10, 2))
    for lazy in (tmp_path, str(tmp_path), da.from_array(X), array_api_strict.asarray(X)):
        with pytest.raises(TypeError, match="A search splits rows and needs an array"):
            refuse_lazy_rows(lazy, "A search")
    refuse_lazy_rows(X, "A search")
    refuse_lazy_rows(pd.DataFrame(X), "A search")


def test_weights_of_any_kind(rng):
    assert_allclose(check_sample_weight(None, 3), 1.0)
    assert_allclose(check_sample_weight(2.0, 3), [2.0, 2.0, 2.0])
    s = rng.uniform(size=3)
    assert_allclose(check_sample_weight(array_api_strict.asarray(s), 3), s)
    with pytest.raises(ValueError, match=r"shape \(3,\), one per row, got \(2,\)"):
        check_sample_weight([1.0, 1.0], 3)
