"""Tables of every library, and metadata that scikit-learn routes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import KnifePCA, KnifeRegressor, KnifeRegressorCV, KnifeStability
from kernelknife.app.exploration import explore_table
from kernelknife.app.selection import select_features

KINDS = {
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
}


@pytest.fixture
def frame(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    frame.loc[3, "b"] = np.nan
    return frame


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_take_a_table_of_any_library(kind, frame):
    y, other = frame["a"].to_numpy() ** 2, KINDS[kind](frame)
    expected = KnifeRegressor(sparsity=1.0).fit(frame, y)
    model = KnifeRegressor(sparsity=1.0).fit(other, y)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_allclose(model.weights_, expected.weights_)
    assert_allclose(model.predict(other), expected.predict(frame))
    assert KnifeRegressorCV("linear", alphas=[1.0], cv=3).fit(other, y).n_features_in_ == 4
    assert KnifePCA(1, sparsity=1.0).fit(other).transform(other).shape == (80, 1)
    assert len(KnifeStability(KnifeRegressor("linear"), n_pairs=2).fit(other, y).support_) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_application_takes_a_table_of_any_library(kind, frame):
    frame = frame.assign(kind=pd.Categorical(["x", "y"] * 40), y=frame["a"] ** 2)
    other = KINDS[kind](frame)
    found = select_features(other, "y", kernel="additive", alpha=1.0, folds=3)
    expected = select_features(frame, "y", kernel="additive", alpha=1.0, folds=3)
    assert found.selected == expected.selected
    assert "80 rows and 6 columns" in found.table.notes[0]
    assert_allclose(found.predict(other), expected.predict(frame))
    assert len(explore_table(other, sparsity=1.0).scores) == 80


def test_a_single_column_is_refused_with_what_to_do(frame):
    for column in (frame["a"], pl.Series("a", frame["a"])):
        with pytest.raises(TypeError, match=r"one column, a Series: pass X.to_frame\(\)"):
            KnifeRegressor().fit(column, frame["a"])


def test_metadata_is_routed(frame):
    y, weights = frame["a"].to_numpy() ** 2, np.linspace(0.5, 2.0, 80)
    with sklearn.config_context(enable_metadata_routing=True):
        single = KnifeRegressor().set_fit_request(sample_weight=True)
        single.set_score_request(sample_weight=True)
        scores = cross_validate(single, frame, y, params={"sample_weight": weights}, cv=3)
        assert np.isfinite(scores["test_score"]).all()
        search = KnifeRegressorCV("linear", cv=4, alphas=[1.0])
        search.set_fit_request(groups=True, sample_weight=True)
        groups = np.arange(80) // 4
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), search)
        pipe.fit(frame, y, groups=groups, sample_weight=weights)
        for train, test in pipe[-1].splits_:
            assert not set(groups[train]) & set(groups[test])
