"""What each selected column does to the prediction."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.selection import select_features


def test_effects_follow_the_truth(selection):
    effects = {effect.name: effect for effect in selection.effects}
    curve = effects["b"].curves["prediction"]
    expected = np.sin(2 * np.array(effects["b"].values))
    assert np.corrcoef(curve, expected)[0, 1] > 0.95
    oak = dict(zip(effects["kind"].values, effects["kind"].curves["prediction"], strict=True))
    assert oak["oak"] - oak["ash"] == pytest.approx(1.5, abs=0.3)


def test_several_classes_get_one_curve_each(frame):
    data = frame.assign(height=pd.qcut(frame["b"], 3, labels=["low", "mid", "high"]).astype(str))
    selection = select_features(data, "height", alpha=0.3, folds=3, rule="1se")
    assert selection.selected == ["b"]
    assert set(selection.effects[0].curves) == {"score of low", "score of mid", "score of high"}
