"""A saved model predicts the same, and a file that is not a model is refused and runs nothing."""

import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone

from kernelknife.app.selection import select_features
from kernelknife.app.storage import FACTS, MODEL, ModelFileError, load_model, save_model
from kernelknife.app.tables import TableEncoder
from kernelknife.datasets import make_sinusoidal


@pytest.fixture(scope="module")
def frame():
    X, y = make_sinusoidal(60, 1, random_state=0)
    kind = np.random.default_rng(0).choice(["red", "blue"], 60)
    return pd.DataFrame(X, columns=list("abcdef")).assign(kind=kind, y=y + 3.0 * (kind == "red"))


@pytest.fixture(scope="module")
def selection(frame):
    return select_features(frame, "y", alpha=0.3, folds=2)


@pytest.fixture
def saved(selection, tmp_path):
    """A model file, its facts and its parts."""
    path = tmp_path / "model.kk"
    save_model(path, selection)
    with zipfile.ZipFile(path) as archive:
        facts, data = json.loads(archive.read(FACTS)), archive.read(MODEL)
    parts = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    return path, facts, data, parts


def rewrite(path, facts, data):
    """Write an archive of the form of a model file, with any content."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(FACTS, json.dumps(facts))
        archive.writestr(MODEL, data if isinstance(data, bytes) else skops.io.dumps(data))


def test_a_saved_model_predicts_the_same(selection, frame, saved):
    encoder, model, facts = load_model(saved[0])
    np.testing.assert_array_equal(model.predict(encoder.transform(frame)), selection.predict(frame))
    assert facts["target"] == "y"
    assert facts["selected"] == selection.selected


def test_files_name_the_public_path_of_the_encoder(saved):
    """So that a file stays readable when the class moves to another module of the package."""
    assert "kernelknife.app.tables.TableEncoder" in skops.io.get_untrusted_types(data=saved[2])


WRONG = {
    "numbers": lambda facts, parts: (facts, {"encoder": 1, "model": 2}),
    "a list": lambda facts, parts: (facts, [1, 2]),
    "swapped": lambda f, parts: (f, {"encoder": parts["model"], "model": parts["encoder"]}),
    "unfitted encoder": lambda f, parts: (f, {**parts, "encoder": clone(parts["encoder"])}),
    "unfitted model": lambda f, parts: (f, {**parts, "model": clone(parts["model"])}),
    "other columns": lambda facts, parts: (facts, {**parts, "encoder": narrow_encoder()}),
    "fewer columns": lambda facts, parts: (
        {**facts, "selected": ["a"]}, {**parts, "encoder": narrow_encoder()}
    ),
    "unknown columns": lambda facts, parts: ({**facts, "selected": ["z"]}, parts),
    "no columns": lambda facts, parts: ({**facts, "selected": None}, parts),
    "no target": lambda facts, parts: ({**facts, "target": 3}, parts),
    "other task": lambda facts, parts: ({**facts, "task": "classification"}, parts),
    "no task": lambda facts, parts: ({**facts, "task": ["regression"]}, parts),
}  # fmt: skip


def narrow_encoder():
    return TableEncoder().fit(pd.DataFrame({"a": [1.0], "b": [2.0]}))


@pytest.mark.parametrize("case", WRONG)
def test_parts_that_make_no_model_are_refused(case, saved):
    path, facts, _, parts = saved
    rewrite(path, *WRONG[case](facts, parts))
    with pytest.raises(
        ModelFileError, match=r"model\.kk is damaged.*Save the model again with save_model"
    ):
        load_model(path)


def test_torn_files_and_other_versions_are_refused(saved):
    path, facts, data, parts = saved
    rewrite(path, facts, data[: len(data) // 2])
    with pytest.raises(ModelFileError, match="is damaged"):
        load_model(path)
    rewrite(path, {**facts, "version": "0.0.1"}, parts)
    with pytest.raises(ModelFileError, match=r"saved by kernelknife 0\.0\.1"):
        load_model(path)
    rewrite(path, {**facts, "format_version": 1}, parts)
    with pytest.raises(ModelFileError, match=r"an earlier state of kernelknife.*save_model\.$"):
        load_model(path)
    for facts_of_others in ({**facts, "format": "a song"}, ["format"]):
        rewrite(path, facts_of_others, parts)
        with pytest.raises(ModelFileError, match="is no model of kernelknife"):
            load_model(path)
    path.write_bytes(b"not an archive")
    with pytest.raises(ModelFileError, match="is no model of kernelknife"):
        load_model(path)


class Harmful:
    """A type that would run code where it is rebuilt."""

    ran = False

    def __init__(self):
        self.value = 1

    def __setstate__(self, state):
        Harmful.ran = True


def test_foreign_types_are_not_rebuilt(saved):
    path, facts, _, _ = saved
    rewrite(path, facts, {"encoder": os.path.join, "model": Harmful()})
    with pytest.raises(ModelFileError, match="types that are not ours"):
        load_model(path)
    assert not Harmful.ran
