"""Opening what a user passes as X."""

import array_api_strict
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeRegressor


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
    named = KnifeRegressor(n_centers=60, sparsity=10.0).fit(folder, "y")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    turned = dd.from_pandas(frame[frame.columns[::-1]], npartitions=2)
    assert_allclose(named.predict(turned).compute(), named.predict(frame))
    frame.loc[3, "x1"] = np.nan
    with pytest.raises(ValueError, match="contains NaN in column 'x1'"):
        named.predict(dd.from_pandas(frame, npartitions=2)).compute()
