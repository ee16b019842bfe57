"""Exported models predict what the models predict, wherever they are computed."""

import importlib

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import (
    KnifeCCA,
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeDiscriminant,
    KnifePCA,
    KnifeRegressor,
    KnifeRegressorCV,
    KnifeSurvivalCV,
    select_stream,
)
from kernelknife._engine.data import RowsError
from kernelknife.export import predict_batches, to_polars, to_sql, to_tables, trusted_types
from kernelknife.kernels import KERNELS
from kernelknife.losses import LOSSES

N = 100_000


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(3)
    made = {
        "plain": rng.normal(size=N),
        "heavy": np.exp(2.0 * rng.normal(size=N)),
        "few": rng.integers(0, 5, N),
        'it"s': rng.uniform(size=N),
        "noise": rng.normal(size=N),
        "kind": rng.choice(["blue", "it's", "red"], N),
    }
    signal = np.sin(made["plain"]) + np.log(made["heavy"]) / 3 + made["few"] + 2 * made['it"s'] ** 2
    return made | {"y": signal + (made["kind"] == "red") + 0.5 * rng.normal(size=N)}


@pytest.fixture(scope="module")
def streamed(columns):
    return select_stream(columns, "y", cv=3, n_pairs=0, sparsities=15)


def in_duckdb(columns, sql):
    duckdb = pytest.importorskip("duckdb")
    arrow = pytest.importorskip("pyarrow")
    connection = duckdb.connect()
    connection.register("given", arrow.table(columns))
    return connection.sql(f"select {sql} as score from given").fetchnumpy()["score"]


def test_sql_predicts_in_duckdb_what_the_model_predicts(columns, streamed):
    assert {"plain", "heavy", "few", 'it"s', "kind"} == set(streamed.selected)
    predicted = streamed.predict(columns)
    assert_allclose(in_duckdb(columns, to_sql(streamed)), predicted, atol=1e-9, rtol=0)
    assert_allclose(to_tables(streamed).predict(columns), predicted, atol=1e-9, rtol=0)


@pytest.mark.parametrize("kernel", ["linear", "additive"])
def test_models_of_arrays_are_exported_too(kernel, columns):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(columns).drop(columns=["y", "kind"])
    few = X.iloc[:400]
    model = KnifeRegressor(kernel=kernel, sparsity=5.0).fit(few, columns["y"][:400])
    # Far beyond the training rows too, where curves stay and lines go on.
    for rows in (X, 3.0 * X + 1.0):
        predicted = model.predict(rows)
        given = {name: rows[name].to_numpy() for name in X}
        size = np.abs(predicted).max()
        assert_allclose(in_duckdb(given, to_sql(model)), predicted, atol=1e-9 * size, rtol=0)
        assert_allclose(to_tables(model).predict(rows), predicted, atol=1e-9 * size, rtol=0)


def test_a_text_that_training_has_not_seen_and_gaps(columns, streamed):
    new = {name: np.asarray(values[:2]) for name, values in columns.items()}
    new["kind"] = np.array(["mauve", "red"])
    assert_allclose(in_duckdb(new, to_sql(streamed)), streamed.predict(new), atol=1e-9)
    arrow = pytest.importorskip("pyarrow")
    gaps = {name: arrow.array(values) for name, values in new.items()}
    gaps["plain"] = arrow.array([None, 1.0])
    assert np.ma.getmaskarray(in_duckdb(gaps, to_sql(streamed))).tolist() == [True, False]


def test_tables_make_a_frame(streamed):
    pytest.importorskip("pandas")
    frame = to_tables(streamed).to_frame()
    assert set(frame["column"]) == {"", *streamed.selected}
    assert frame["value"].notna().all()


def test_what_is_no_sum_of_curves_is_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = KnifeRegressor(kernel="rbf").fit(X, X[:, 0])
    with pytest.raises(TypeError, match="is no sum of curves of single columns"):
        to_sql(model)


def test_a_cross_validated_model_is_exported(columns):
    X = np.column_stack([columns["plain"], columns["noise"]])[:300]
    model = KnifeRegressorCV(kernel="additive", cv=3).fit(X, columns["plain"][:300])
    given = {"x0": X[:, 0], "x1": X[:, 1]}
    assert_allclose(to_tables(model).predict(given), model.predict(X), atol=1e-9)


def test_an_expression_of_polars_predicts(columns, streamed):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(columns).lazy()
    found = frame.select(score=to_polars(streamed)).collect()["score"].to_numpy()
    assert_allclose(found, streamed.predict(columns), atol=1e-12)


def test_predictions_of_files_are_written_block_by_block(columns, streamed, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow.table(columns), tmp_path / "in.parquet", row_group_size=30_000)
    out = tmp_path / "out.parquet"
    n = predict_batches(streamed, tmp_path / "in.parquet", out, keep=["y"], name="score")
    written = pq.read_table(out)
    assert n == written.num_rows == N
    assert written.column_names == ["y", "score"]
    assert_allclose(written["score"].to_numpy(), streamed.predict(columns), atol=1e-12)
    assert_allclose(written["y"].to_numpy(), columns["y"])


def test_a_joint_model_predicts_files_too(tmp_path):
    pandas = pytest.importorskip("pandas")
    pq = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    model = KnifeRegressor(kernel="rbf").fit(X[:100], np.sin(X["a"])[:100])
    out = tmp_path / "out.parquet"
    predict_batches(model, X, out)
    assert_allclose(pq.read_table(out)["prediction"].to_numpy(), model.predict(X), atol=1e-12)


def test_a_prediction_that_fails_leaves_nothing(columns, streamed, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    broken = {name: np.array(values[:300]) for name, values in columns.items()}
    broken["plain"][250] = np.nan
    pq.write_table(arrow.table(broken), tmp_path / "in.parquet", row_group_size=100)
    out = tmp_path / "out.parquet"
    with pytest.raises(RowsError, match="'plain' has 1 missing"):
        predict_batches(streamed, tmp_path / "in.parquet", out)
    with pytest.raises(ValueError, match="lacks the column 'id'"):
        predict_batches(streamed, tmp_path / "in.parquet", out, keep=["id"])
    assert [file.name for file in tmp_path.iterdir()] == ["in.parquet"]


# -- files of skops -------------------------------------------------------------------------------


def fitted_estimators():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + np.sin(X[:, 1])
    yes, three, counts = y > 0, np.digitize(y, [-0.5, 0.5]), np.round(np.exp(y)) + 1.0
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    times = np.array(list(zip(rng.random(60) < 0.7, np.exp(-y), strict=True)), dtype="?,f8")
    few = {"alphas": [1.0], "cv": 3, "sparsities": 5}
    for name in KERNELS:
        yield KnifeRegressor(KERNELS[name](), sparsity=1.0).fit(gaps, y), gaps
    for name in LOSSES:
        task = LOSSES[name].task if name != "negative_binomial" else "regression"
        search = KnifeClassifierCV if task == "classification" else KnifeRegressorCV
        yield (
            search("linear", loss=name, **few).fit(X, yes if task == "classification" else counts),
            X,
        )
    yield KnifeRegressorCV(["additive", "rbf"], solver="alternate", **few).fit(X, y), X
    yield KnifeRegressorCV("rbf", n_centers=20, feature_groups="correlated", **few).fit(X, y), X
    yield KnifeClassifierCV("rbf", probability="isotonic", **few).fit(X, three), X
    yield (
        KnifeClassifier(loss=LOSSES["hinge"](), probability="sigmoid", sparsity=1.0).fit(X, yes),
        X,
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    yield KnifeRegressor(adjust_for=["a"], sparsity=1.0).fit(frame, y), frame
    yield KnifeSurvivalCV("linear", **few).fit(X, times), X
    yield KnifePCA(1, sparsity=1.0).fit(X), X
    yield KnifeDiscriminant().fit(X, three), X
    yield KnifeCCA().fit(X[:, :2], X[:, 2:]), X[:, :2]


def test_skops_needs_to_trust_nothing_but_the_list():
    for model, X in fitted_estimators():
        stored = skops.io.dumps(model)
        unknown = set(skops.io.get_untrusted_types(data=stored)) - set(trusted_types())
        assert not unknown, (model, unknown)
        loaded = skops.io.loads(stored, trusted=trusted_types())
        method = "predict" if hasattr(model, "predict") else "transform"
        assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


def test_the_list_of_types_has_nothing_that_is_not_there():
    for name in trusted_types():
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize("kernel", ["additive", "linear"])
def test_a_model_of_counts_leaves_as_its_predictions_and_not_as_their_logarithms(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    frame = pd.DataFrame(X, columns=list("abcd"))
    y = rng.poisson(np.exp(0.5 * X[:, 1]))
    model = KnifeRegressor(kernel, loss="poisson", sparsity=5.0).fit(frame, y)
    np.testing.assert_allclose(to_tables(model).predict(frame), model.predict(frame), rtol=1e-9)
    duckdb = pytest.importorskip("duckdb")
    computed = duckdb.sql(f"select {to_sql(model)} as f from frame").df()["f"]
    np.testing.assert_allclose(computed, model.predict(frame), rtol=1e-9)
