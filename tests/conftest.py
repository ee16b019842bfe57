"""Seeds come from one fixture; helpers shared by the tests stand here."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture
def central_difference():
    """Return a function that differentiates numerically, one column per weight."""

    def differentiate(function, w, step=1e-5):
        columns = []
        for j in range(len(w)):
            e = np.zeros_like(w)
            e[j] = step
            columns.append((np.asarray(function(w + e)) - np.asarray(function(w - e))) / (2 * step))
        return np.stack(columns, axis=-1)

    return differentiate
