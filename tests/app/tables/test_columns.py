"""Finding columns by name."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.tables import TableError, make_table


def make(frame, target, **options):
    return make_table(frame, TableOptions(target=target, **options))


def frame(**columns):
    n = 12
    base = {"x": np.arange(n) * 1.0, "kind": ["red", "blue", "green"] * 4, "y": np.arange(n) % 2}
    return pd.DataFrame({**base, **columns})


def test_columns_may_be_numbered_and_one_name_is_enough():
    data = frame().rename(columns={"x": 0, "kind": 1, "y": 2})
    table = make(data, 2, drop=[1])
    assert (table.target_name, list(table.features.columns)) == ("2", ["0"])
    assert list(make(frame(), "y", drop="kind").features.columns) == ["x"]


def test_a_column_that_is_not_there_among_thousands():
    columns = [f"gene{i}" for i in range(7000)] + ["Outcome ", "date of birth"]
    data = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    with pytest.raises(TableError, match=r"no column 'outcome': did you mean 'Outcome '\?"):
        make(data, "outcome")
    with pytest.raises(TableError, match=r"no column 'birth': did you mean 'date of birth'\?"):
        make(data, "birth")
    with pytest.raises(TableError, match=r"7002 columns, from gene0, .* to .*, date of birth\."):
        make(data, "survived")
    with pytest.raises(TableError, match=r"there are x, kind, y\."):
        make(frame(), "survived")
