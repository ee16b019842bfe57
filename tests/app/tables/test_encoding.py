"""Turning texts into columns of numbers."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.tables import TableEncoder, TableError


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_the_encoder_gives_texts_one_group_and_ignores_new_ones():
    encoder = TableEncoder().fit(frame()[["x", "kind"]])
    assert list(encoder.feature_groups_) == ["x", "kind", "kind", "kind"]
    np.testing.assert_allclose(encoder.feature_costs, [1, 1 / 3, 1 / 3, 1 / 3])
    X = encoder.transform(pd.DataFrame({"kind": ["red", "violet"], "x": [1.0, 2.0], "more": 0}))
    np.testing.assert_array_equal(X, [[1, 0, 0, 1], [2, 0, 0, 0]])
    with pytest.raises(TableError, match="lacks columns that the model needs: kind"):
        encoder.transform(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(TableError, match=r"Column x holds texts \('hello' in row 1\)"):
        encoder.transform(pd.DataFrame({"x": ["hello"], "kind": ["red"]}))
