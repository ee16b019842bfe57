"""What must not change an answer, for every method and every kind of rows.

The same truths are tested with the exact method and with centers, and with rows in an array, in a
memory map, in Parquet files and in a Dask array. Centers are given, so that their choice cannot
differ.
"""

from dataclasses import dataclass

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor

N, P = 60, 5
CHUNK = 32  # rows of a block, so that every kind of rows has several
SETTINGS = {"alpha": 0.3, "sparsity": 2.0, "tol": 1e-9}
# What two descents that end at the same minimum may differ by.
CLOSE = {"rtol": 1e-5, "atol": 1e-6}


@dataclass
class Kind:
    """A kind of rows, with the method that it is fitted with."""

    source: str
    centers: bool
    folder: object
    count: int = 0

    def fit(self, X, y, s=None, *, Z=None, classify=False, **options):
        """Fit from this kind of rows; ``Z`` are centers, the first 25 rows for None."""
        options = {**SETTINGS, **options}
        if self.source != "array":
            # Where the weights start does not depend on the kind of rows: arrays try all starts.
            options["start"] = 0.3
        if self.centers:
            options["centers"] = X[:25] if Z is None else Z
        model = (KnifeClassifier if classify else KnifeRegressor)(**options)
        return model.fit(*self.rows(X, y, s))

    def predict(self, model, X):
        """Predict for this kind of rows."""
        return np.asarray(model.predict(self.rows(X, np.zeros(len(X)), None)[0]))

    def scores(self, model, X):
        """Return a classifier's scores for this kind of rows."""
        return np.asarray(model.decision_function(self.rows(X, np.zeros(len(X)), None)[0]))

    def rows(self, X, y, s):
        """Return what a user would pass to ``fit``."""
        if self.source == "array":
            return X, y, s
        self.count += 1
        place = self.folder / str(self.count)
        if self.source.endswith("map"):
            kind = np.float32 if self.source == "float32 map" else np.float64
            mapped = np.lib.format.open_memmap(place.with_suffix(".npy"), "w+", kind, X.shape)
            mapped[:] = X
            mapped.flush()
            return np.load(place.with_suffix(".npy"), mmap_mode="r"), y, s
        if self.source == "parquet":
            place.mkdir()
            frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
            frame["y"] = y
            if s is not None:
                frame["s"] = s
            for i, part in enumerate(np.array_split(np.arange(len(X)), 2)):
                frame.iloc[part].to_parquet(place / f"part{i}.parquet", row_group_size=CHUNK)
            return place, "y", None if s is None else "s"
        weights = None if s is None else da.from_array(np.asarray(s, dtype=float), chunks=CHUNK)
        return da.from_array(X, chunks=(CHUNK, -1)), da.from_array(y, chunks=CHUNK), weights


KINDS = [
    ("array", False),
    ("float64 map", False),
    ("float32 map", False),
    ("array", True),
    ("float64 map", True),
    ("float32 map", True),
    ("parquet", True),
    ("dask", True),
]


@pytest.fixture(
    scope="module",
    params=KINDS,
    ids=lambda kind: f"{kind[0]}, {'centers' if kind[1] else 'exact'}",
)
def kind(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelknife._engine.data.dask.running_client", lambda: None)
        patch.setattr("kernelknife._engine.data.arrays.ArrayRows.rows_per_block", lambda *_: CHUNK)
        yield Kind(*request.param, tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def data():
    """Rows with few binary digits, so that shifts and powers of two are exact in any precision."""
    rng = np.random.default_rng(7)
    X = np.round(64 * rng.normal(size=(N, P))) / 64
    y = np.sin(2 * X[:, 0]) + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=N)
    return X, np.round(64 * y) / 64


@pytest.fixture(scope="module")
def labels(data):
    """Three classes of the same rows."""
    return np.array(["ash", "elm", "oak"])[np.digitize(data[1], [-0.5, 0.5])]


@pytest.fixture(scope="module")
def plain(kind, data):
    """The fit that the others are compared with."""
    model = kind.fit(*data)
    assert 0 < model.get_support().sum() < P, "otherwise there is nothing to compare"
    return model


# -- units and origin -----------------------------------------------------------------------------


def test_units_of_columns(kind, data, plain):
    X, y = data
    units = 2.0 ** np.array([-20, 3, 12, 0, 20])
    scaled = kind.fit(X * units, y)
    assert_allclose(scaled.weights_, plain.weights_, **CLOSE)
    assert_allclose(kind.predict(scaled, X * units), kind.predict(plain, X), **CLOSE)


def test_units_of_the_target(kind, data, plain):
    X, y = data
    scaled = kind.fit(X, 1000.0 * y)
    assert_allclose(scaled.weights_, plain.weights_, **CLOSE)
    assert_allclose(kind.predict(scaled, X), 1000.0 * kind.predict(plain, X), rtol=1e-5, atol=1e-3)


def test_origin_of_columns_and_target(kind, data, plain):
    X, y = data
    shift = np.array([8.0, -16.0, 4.0, 0.0, 32.0])
    moved = kind.fit(X + shift, y + 100.0)
    assert_allclose(moved.weights_, plain.weights_, **CLOSE)
    assert_allclose(
        kind.predict(moved, X + shift), kind.predict(plain, X) + 100.0, rtol=1e-6, atol=1e-5
    )


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_extreme_units(kind, data, plain, unit):
    if kind.source == "float32 map":
        pytest.skip("single precision does not reach so far")
    X, y = data
    scaled = kind.fit(X * unit, y)
    assert_allclose(scaled.weights_, plain.weights_, **CLOSE)
    assert_allclose(kind.predict(scaled, X * unit), kind.predict(plain, X), **CLOSE)


def test_a_distant_origin(kind, data, plain):
    """At 1e12 a number has four decimal places left."""
    if kind.source == "float32 map":
        pytest.skip("single precision does not reach so far")
    X, y = data
    far = kind.fit(X + 1e12, y)
    assert_array_equal(far.get_support(), plain.get_support())
    assert_allclose(far.weights_, plain.weights_, rtol=1e-3, atol=1e-3)
    assert_allclose(kind.predict(far, X + 1e12), kind.predict(plain, X), atol=5e-3)


# -- order ----------------------------------------------------------------------------------------


def test_order_of_rows(kind, data, plain, rng):
    X, y = data
    order = rng.permutation(N)
    shuffled = kind.fit(X[order], y[order], Z=X[:25])
    assert_allclose(shuffled.weights_, plain.weights_, **CLOSE)
    assert_allclose(kind.predict(shuffled, X), kind.predict(plain, X), **CLOSE)


def test_order_of_columns(kind, data, plain, rng):
    X, y = data
    order = rng.permutation(P)
    shuffled = kind.fit(X[:, order], y)
    assert_allclose(shuffled.weights_, plain.weights_[order], **CLOSE)
    assert_allclose(kind.predict(shuffled, X[:, order]), kind.predict(plain, X), **CLOSE)


def test_order_of_classes(kind, data, labels):
    """Names that sort the other way round rename the predictions, and change nothing else."""
    X = data[0]
    renamed = {"ash": "z", "elm": "a", "oak": "m"}
    model = kind.fit(X, labels, classify=True)
    other = kind.fit(X, np.array([renamed[label] for label in labels]), classify=True)
    assert model.get_support().any()
    assert_allclose(other.weights_, model.weights_, **CLOSE)
    scores, swapped = kind.scores(model, X), kind.scores(other, X)
    place = [list(other.classes_).index(renamed[name]) for name in model.classes_]
    assert_allclose(swapped[:, place], scores, atol=1e-5)
    assert_array_equal(kind.predict(other, X), [renamed[label] for label in kind.predict(model, X)])


def test_which_of_two_classes_is_the_first(kind, data):
    X, y = data
    model = kind.fit(X, (y > 0).astype(int), classify=True)
    other = kind.fit(X, (y <= 0).astype(int), classify=True)
    assert_allclose(other.weights_, model.weights_, **CLOSE)
    assert_allclose(kind.scores(other, X), -kind.scores(model, X), atol=1e-5)


def test_order_of_outputs(kind, data):
    if kind.source == "parquet":
        pytest.skip("Parquet files have one target column")
    X, y = data
    Y = np.column_stack([y, X[:, 0], 50.0 * np.cos(X[:, 2])])
    model, other = kind.fit(X, Y), kind.fit(X, Y[:, [2, 0, 1]])
    assert_allclose(other.weights_, model.weights_, **CLOSE)
    assert_allclose(
        kind.predict(other, X), kind.predict(model, X)[:, [2, 0, 1]], rtol=1e-4, atol=1e-4
    )


# -- weights of rows ------------------------------------------------------------------------------


def test_whole_weights_are_repeated_rows(kind, data, rng):
    X, y = data
    times = rng.integers(1, 4, size=N)
    weighted = kind.fit(X, y, times)
    repeated = kind.fit(np.repeat(X, times, axis=0), np.repeat(y, times), Z=X[:25])
    assert_allclose(weighted.weights_, repeated.weights_, **CLOSE)
    assert_allclose(kind.predict(weighted, X), kind.predict(repeated, X), **CLOSE)


def test_whole_weights_are_repeated_rows_of_classes(kind, data, labels, rng):
    X, times = data[0], rng.integers(1, 4, size=N)
    weighted = kind.fit(X, labels, times, classify=True)
    repeated = kind.fit(
        np.repeat(X, times, axis=0), np.repeat(labels, times), Z=X[:25], classify=True
    )
    assert_allclose(weighted.weights_, repeated.weights_, **CLOSE)
    assert_allclose(kind.scores(weighted, X), kind.scores(repeated, X), atol=1e-5)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_row_of_weight_zero_is_no_row(kind, data, loss, rng):
    """Not even where its values are far beyond all others."""
    X, y = data
    gone = rng.random(N) < 0.3
    s, wild = np.where(gone, 0.0, 1.0), X.copy()
    wild[gone] *= 2.0**60  # beside these all other values would look constant
    Z = X[~gone][:25]
    weighted = kind.fit(wild, np.where(gone, 1e3, y), s, Z=Z, loss=loss)
    removed = kind.fit(X[~gone], y[~gone], Z=Z, loss=loss)
    assert_allclose(weighted.weights_, removed.weights_, **CLOSE)
    assert_allclose(kind.predict(weighted, X), kind.predict(removed, X), **CLOSE)


# -- columns without information ------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 1.0 / 3.0, 1e6])
def test_a_constant_column_is_no_column(kind, data, plain, value):
    X, y = data
    wider = np.insert(X, [0, 2, P], value, axis=1)
    model = kind.fit(wider, y)
    places = [0, 3, P + 2]
    assert not model.weights_[places].any()
    assert_allclose(np.delete(model.weights_, places), plain.weights_, **CLOSE)
    assert_allclose(kind.predict(model, wider), kind.predict(plain, X), **CLOSE)


def test_a_column_that_varies_only_in_rows_of_weight_zero_is_constant(kind, data):
    X, y = data
    s = np.r_[np.zeros(10), np.ones(N - 10)]
    wider = np.column_stack([X, np.r_[np.arange(10.0), np.full(N - 10, 3.0)]])
    Z = X[10:35]
    model = kind.fit(wider, y, s, Z=np.column_stack([Z, np.full(25, 3.0)]))
    assert model.weights_[-1] == 0.0
    assert_allclose(model.weights_[:-1], kind.fit(X, y, s, Z=Z).weights_, **CLOSE)


# -- the same refusals ----------------------------------------------------------------------------


def test_a_class_without_weight_is_refused(kind, data, labels):
    s = np.where(labels == "elm", 0.0, 1.0)
    with pytest.raises(ValueError, match="2 of 3 classes remain") as refusal:
        kind.fit(data[0], labels, s, classify=True)
    assert str(refusal.value) == (
        "After removing rows of zero sample weight, less than one row per class is left: "
        "2 of 3 classes remain."
    )


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_values_that_overflow_are_refused(kind, data, kernel):
    if kind.source == "float32 map":
        pytest.skip("single precision does not reach so far")
    X, y = data
    with pytest.raises(ValueError, match=r"X has values up to .*e\+60, which overflow"):
        kind.fit(X * 1e60, y, standardize=False, kernel=kernel)
    with pytest.raises(ValueError, match=r"y has values up to .*e\+60, which overflow"):
        kind.fit(X, y * 1e60, standardize=False, kernel=kernel)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("classify", [False, True])
def test_weights_that_are_no_weights_are_refused(kind, data, labels, weight, classify):
    s = np.ones(N)
    s[40] = weight
    with pytest.raises(ValueError, match=r"sample_weight must be finite and >= 0\."):
        kind.fit(data[0], labels if classify else data[1], s, classify=classify)
    with pytest.raises(ValueError, match=r"sample_weight must not be all zero\."):
        kind.fit(data[0], labels if classify else data[1], np.zeros(N), classify=classify)


# -- the rows that carry the model --------------------------------------------------------------


@pytest.mark.parametrize("how", ["kmeans++", "uniform", "leverage"])
def test_support_counts_the_users_rows(kind, data, how):
    X, y = data
    s = np.ones(N)
    s[::3] = 0.0  # rows that can be no centers, so that counting the others would show
    options = {"n_centers": 20, "centers": how} if kind.centers else {}
    model = KnifeRegressor(**SETTINGS, **options).fit(*kind.rows(X, y, s))
    used = X[s > 0]
    standardized = (X - used.mean(axis=0)) / used.std(axis=0)
    assert s[model.support_vectors_rows_].all()
    expected = standardized[np.ix_(model.support_vectors_rows_, model.get_support(indices=True))]
    assert_allclose(model.support_vectors_, expected, atol=1e-12)
