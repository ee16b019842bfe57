"""The fitted machine: its refit with the hinge loss, and predictions for every kind of rows."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from kernelknife.kernels import RBF
from kernelknife._problem.hinge import refit_hinge


def test_hinge_refit_is_svc(rng):
    X, alpha = rng.normal(size=(60, 5)), 0.7
    y = np.where(np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 1.0, 1.0, -1.0)
    w, s = rng.uniform(0.1, 0.9, size=5), rng.uniform(0.5, 2.0, size=60)
    K = RBF()(X, X, w**2)
    C, b = refit_hinge(K, y[:, None], s, alpha)
    oracle = SVC(C=1 / (2 * alpha), kernel="rbf", gamma=1.0, tol=1e-10)
    oracle.fit(X * w, y, sample_weight=s)
    assert_allclose((K @ C + b)[:, 0], oracle.decision_function(X * w), atol=1e-6)
