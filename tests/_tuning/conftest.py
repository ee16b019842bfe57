"""What the tests of cross-validation begin with: a specification, and rows without a scorer."""

import numpy as np
import pytest

from kernelknife import KnifeRegressorCV
from kernelknife._tuning.candidates import SearchSpec
from kernelknife._tuning.folds import Scoring, SearchData


@pytest.fixture(scope="session")
def search_spec():
    """Return a function from the parameters of a KnifeRegressorCV to its specification."""

    def make(kernel="rbf", **options):
        return SearchSpec.from_estimator(KnifeRegressorCV(kernel, **options))

    return make


@pytest.fixture(scope="session")
def search_data():
    """Return a function that makes rows with the plain score: squared error, or accuracy."""

    def make(X, y, s=None, scorer=None, as_estimator=None):
        s = np.ones(len(X)) if s is None else s
        return SearchData(X, y, s, Scoring("plain", scorer, as_estimator))

    return make
