"""A fit that is ready to be solved."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.fitting import prepare_job


def test_another_alpha_gives_the_problem_that_is_prepared_with_it(orange):
    changed = prepare_job(KnifeClassifier(alpha=1.0), *orange).with_alpha(0.1).problem
    direct = prepare_job(KnifeClassifier(alpha=0.1), *orange).problem
    w = np.linspace(0.1, 0.9, direct.n_weights)
    assert_allclose(changed.solve(w).smooth, direct.solve(w).smooth)


def test_an_estimator_takes_over_the_columns_of_its_data(sinusoid):
    X, y = sinusoid
    estimator = KnifeRegressor()
    job = prepare_job(estimator, pd.DataFrame(X[:, :3], columns=list("abc")), y)
    assert list(estimator.feature_names_in_) == list(job.prepared.weight_names) == list("abc")
    prepare_job(estimator, X, y)
    assert estimator.n_features_in_ == X.shape[1]
    assert not hasattr(estimator, "feature_names_in_")


def test_a_seed_is_drawn_once_and_only_from_a_random_state(sinusoid):
    assert prepare_job(KnifeRegressor(), *sinusoid).seed is None
    first, second = (prepare_job(KnifeRegressor(random_state=3), *sinusoid) for _ in range(2))
    assert first.seed == second.seed is not None
