"""Columns that are kept or adjusted for, from the table to the report and the saved model."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.selection import select_features
from kernelknife.app.storage import load_model, save_model
from kernelknife.app.tables import TableError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(140, 6)), columns=[f"g{j}" for j in range(6)])
    frame["batch"] = rng.choice(["a", "b", "c"], 140)
    frame["age"] = rng.normal(size=140)
    shift = frame["batch"].map({"a": 0.0, "b": 2.0, "c": 4.0})
    frame[["g2", "g3"]] += shift.to_numpy()[:, None]
    frame["y"] = 2.0 * frame["g0"] + shift * 2.0 + 0.3 * rng.normal(size=140)
    return frame


def test_a_text_column_is_adjusted_for_and_another_one_is_kept(frame, tmp_path):
    found = select_features(
        frame, "y", kernel="linear", folds=3, alpha=1.0, adjust_for="batch", always_keep="age"
    )
    assert set(found.selected) == {"g0", "age"}
    assert "batch" not in {feature.name for feature in found.features}
    assert "Adjusted for batch" in found.model_in_words
    assert found.baseline_name == "baseline (batch alone)"
    # The constant has an error of about 15, the batches alone one of about 4.
    assert 3.0 < found.baseline_error.mean < 6.0
    assert found.better
    assert found.to_json()["adjusted_for"] == ["batch"]
    assert found.to_json()["kept"] == ["age"]
    save_model(tmp_path / "model.kk", found)
    encoder, model, facts = load_model(tmp_path / "model.kk")
    needed = [*facts["selected"], *facts["adjusted"]]
    predicted = model.predict(encoder.transform(frame[needed], needed))
    np.testing.assert_allclose(predicted, found.predict(frame))
    with pytest.raises(TableError, match="lacks columns that the model needs: batch"):
        found.predict(frame.drop(columns="batch"))


def test_names_may_stand_together_with_commas(frame):
    found = select_features(
        frame, "y", kernel="linear", alpha=1.0, folds=3, adjust_for="batch,age", hold_out=0.2
    )
    assert found.table.adjusted == ("batch", "age")
    assert found.selected == ["g0"]
    assert found.held_out.error < found.held_out.baseline


def test_classes_have_the_adjusted_columns_for_their_baseline(frame):
    high = frame.assign(y=np.where(frame["y"] > 4, "high", "low"))
    found = select_features(
        high, "y", kernel="rbf", alpha=1.0, folds=3, adjust_for="batch", stability=True
    )
    assert found.rates.selected == ["g0"]
    assert "batch" not in found.rates.columns


def test_knockoffs_adjust_for_texts_too(frame):
    found = select_features(
        frame, "y", kernel="linear", alpha=1.0, folds=3, adjust_for="batch", fdr=0.9
    )
    assert "batch" not in found.rates.columns
    with pytest.raises(TableError, match="age must not be dropped"):
        select_features(frame, "y", fdr=0.5, always_keep="age", adjust_for="batch")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"adjust_for": "batch", "always_keep": "batch"}, "'batch' is kept; it cannot be adjusted"),
        ({"adjust_for": "y"}, "'y' is the target; it cannot be adjusted for"),
        ({"always_keep": "g0", "drop": ["g0"]}, "'g0' is left out; it cannot be kept"),
        ({"always_keep": "agge"}, "no column 'agge': did you mean 'age'"),
        ({"adjust_for": [f"g{j}" for j in range(6)] + ["batch", "age"]}, "nothing to choose from"),
        ({"adjust_for": "age", "n_features": 8}, "8 features asked for, the table has 7"),
    ],
)
def test_bad_requests_get_a_sentence(options, words, frame):
    with pytest.raises(TableError, match=words):
        select_features(frame, "y", **options)


def test_constant_columns_are_left_out_of_every_role(frame):
    found = select_features(
        frame.assign(one=1.0), "y", kernel="linear", alpha=1.0, folds=3,
        adjust_for=["one", "batch"],
    )  # fmt: skip
    assert found.table.adjusted == ("batch",)


@pytest.mark.parametrize("kind", ["survival", "counts"])
def test_targets_whose_rows_exchange_nothing_are_selected_for_as_well(kind):
    """What is adjusted for leaves no residuals of times and counts, so that noise is not asked."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(sex=rng.choice(["m", "f"], 120))
    if kind == "survival":
        target, options = "days", {"event": "died"}
        frame = frame.assign(days=rng.exponential(np.exp(-2 * X[:, 0])), died=1)
    else:
        target, options = "visits", {"loss": "poisson"}
        frame = frame.assign(visits=np.minimum(rng.poisson(np.exp(X[:, 0])), 6))
    options |= {"kernel": "additive", "alpha": 1.0, "folds": 3, "adjust_for": ["sex"]}
    selection = select_features(frame, target, **options)
    assert "a" in selection.selected
    assert selection.against_noise is None
