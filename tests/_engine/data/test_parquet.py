"""Rows of Parquet files."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeRegressor
from kernelknife._engine.data import RowsError, measure_columns
from kernelknife._engine.data.arrays import ArrayRows


def test_a_parquet_folder(planted, write_folder):
    X, y = planted
    folder = write_folder(X, y)
    there = KnifeRegressor(centers=X[:100], sparsity=10.0).fit(folder, "y")
    here = KnifeRegressor(centers=X[:100], sparsity=10.0).fit(X, y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    assert list(there.get_feature_names_out()) == ["x1", "x4", "x6"]
    assert_allclose(there.predict(folder), here.predict(X), atol=1e-6)


def test_only_columns_with_weight_are_read(planted, monkeypatch, write_folder):
    from kernelknife._engine.data.parquet import ParquetRows

    X, y = planted
    folder = write_folder(X, y)
    read, asked = ParquetRows.read, []

    def watched(self, number, names):
        asked.append(set(names))
        return read(self, number, names)

    monkeypatch.setattr(ParquetRows, "read", watched)
    KnifeRegressor(n_centers=100, sparsity=10.0).fit(folder, "y")
    assert {"x1", "x4", "x6"} in asked[-30:]
    assert not any("x0" in names for names in asked[-10:])


def test_bad_parquet_folders(planted, tmp_path, write_folder):
    X, y = planted
    with pytest.raises(RowsError, match="There is no file or folder"):
        KnifeRegressor().fit(tmp_path / "nowhere", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RowsError, match="has no Parquet files"):
        KnifeRegressor().fit(tmp_path / "empty", "y")
    folder = write_folder(X, y)
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


def test_the_block_and_column_of_a_gap_are_named(planted, write_folder):
    X, y = planted
    X = X.copy()
    X[753, 5] = np.nan
    with pytest.raises(RowsError, match=r"NaN in column 5 \(1 value\)"):
        measure_columns(
            ArrayRows(X, y, block_rows=100), standardize=True, center=True, missing="error"
        )
    folder = write_folder(X, y)
    place = r"NaN in column 'x5' \(1 value in .*part3\.parquet, row group 2\)"
    with pytest.raises(RowsError, match=place):
        KnifeRegressor(n_centers=10, missing="error").fit(folder, "y")


@pytest.mark.parametrize(
    ("weight", "words"),
    [(np.inf, "finite and >= 0"), (np.nan, "finite and >= 0"), (-1.0, "finite"), (0.0, "all zero")],
)
def test_weights_that_are_no_weights(planted, write_folder, weight, words):
    folder = write_folder(*planted, s=np.full(800, weight))
    with pytest.raises(ValueError, match=f"sample_weight must .*{words}"):
        KnifeRegressor(n_centers=10).fit(folder, "y", sample_weight="s")
