"""A table with a text column that matters, and what is selected from it."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.selection import select_features


@pytest.fixture(scope="session")
def frame():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 5))
    kind = rng.choice(["oak", "ash", "elm"], 100)
    height = np.sin(2 * X[:, 1]) + 1.5 * (kind == "oak") + 0.1 * rng.normal(size=100)
    return pd.DataFrame(X, columns=list("abcde")).assign(kind=kind, height=height)


@pytest.fixture(scope="session")
def selection(frame):
    return select_features(frame, "height", alpha=0.3, folds=4, rule="1se")
