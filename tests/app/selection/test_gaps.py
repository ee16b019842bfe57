"""A table with gaps, from the data frame to the report, the saved model and new rows."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.storage import load_model, save_model
from kernelknife.app.tables import new_gaps


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(150, 5)), columns=["age", "dose", "a", "b", "c"])
    frame["kind"] = rng.choice(["x", "y"], 150)
    late = rng.random(150) < 0.3
    frame["y"] = 2.0 * frame["age"] + 2.0 * late + 0.3 * rng.normal(size=150)
    frame.loc[late, "dose"] = np.nan
    frame.loc[rng.random(150) < 0.2, "kind"] = None
    return frame


@pytest.mark.parametrize("kernel", ["additive", "rbf"])
def test_a_gap_is_found_and_shown_as_what_it_does(kernel, frame, tmp_path):
    found = select_features(frame, "y", kernel=kernel, folds=3, alpha=1.0)
    assert {"age", "dose"} <= set(found.selected)
    gaps = {feature.name: feature.gaps for feature in found.features}
    assert gaps["dose"] == frame["dose"].isna().sum()
    assert gaps["age"] == 0
    (dose,) = (effect for effect in found.effects if effect.name == "dose")
    (by_gap,), (curve,) = dose.missing.values(), dose.curves.values()
    assert by_gap - np.mean(curve) > 1.0
    (age,) = (effect for effect in found.effects if effect.name == "age")
    assert not age.missing
    page = build_report(found)
    assert "rows without a value" in page
    assert "where it is missing" in page
    save_model(tmp_path / "model.kk", found)
    encoder, model, facts = load_model(tmp_path / "model.kk")
    predicted = model.predict(encoder.transform(frame, facts["selected"]))
    np.testing.assert_allclose(predicted, found.predict(frame))
    new = frame.head(3).assign(age=[np.nan, 1.0, 2.0])
    (note,) = new_gaps(encoder, new, facts["selected"])
    assert note.startswith("column age: 1 rows lack a value, which no training row did")
    assert np.isfinite(found.predict(new)).all()
