"""Whether a machine is better than a constant."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score

from kernelknife.selection import select_features


def test_the_constant_is_judged_on_the_same_folds(selection, frame):
    scores = cross_val_score(
        DummyRegressor(), frame[["a"]], frame["height"], cv=selection.search.splits_,
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    assert selection.constant_error.mean == pytest.approx(-scores.mean())


def test_noise_is_rarely_a_finding():
    """Choosing penalties on the folds that judge them must not turn luck into a verdict."""
    findings = 0
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        frame = pd.DataFrame(rng.normal(size=(80, 10)), columns=list("abcdefghij"))
        frame["y"] = rng.permutation(np.repeat(["a", "b"], 40))
        findings += select_features(frame, "y", folds=5, alpha=1.0).better
    assert findings <= 1
