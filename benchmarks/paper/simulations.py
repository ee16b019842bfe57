"""The protocol that the paper's simulations share.

A training set has 100 rows, a validation set and a test set have 1,000 rows each. Every method fits
several candidates on the training set, for example one for each value of a penalty. The candidate
with the least validation error is judged on the test set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.preprocessing import StandardScaler

from kernelknife import knife_path

__all__ = ["ALPHAS", "Candidate", "Draw", "fit_on_columns", "knife_candidates", "row_of_best"]

SIZES = (100, 1000, 1000)  # rows of the training, validation and test set
# Seeds begin here so that none of these draws was used to choose a default setting.
FIRST_SEED = 15_000
ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # values of alpha where it is validated beside the sparsity


@dataclass(frozen=True)
class Draw:
    """Training, validation and test set of one repetition, standardized by the training set.

    Each of them is a pair of features and target.
    """

    train: tuple
    validation: tuple
    test: tuple

    @classmethod
    def of(cls, make, n_noise, seed):
        """Draw the three sets from a generator of :mod:`kernelknife.datasets`."""
        first = FIRST_SEED + len(SIZES) * seed
        pairs = [make(n, n_noise, random_state=first + i) for i, n in enumerate(SIZES)]
        scaler = StandardScaler().fit(pairs[0][0])
        return cls(*((scaler.transform(X), y) for X, y in pairs))


@dataclass(frozen=True)
class Candidate:
    """A model that was fitted on some columns of the training set.

    Attributes
    ----------
    model : estimator
    columns : ndarray of int
    settings : dict
        The parameters that are validated.
    offset : float
        Added to the predictions of a model that fits no intercept.
    """

    model: Any
    columns: np.ndarray
    settings: dict
    offset: float = 0.0

    def error(self, X, y):
        """Return the misclassification rate, or the mean squared error."""
        prediction = self.model.predict(X[:, self.columns])
        if is_classifier(self.model):
            return float(np.mean(prediction != y))
        return float(np.mean((prediction + self.offset - y) ** 2))


def fit_on_columns(make_model, columns, data, **settings):
    """Return a candidate: a new model, fitted on some columns of the training set.

    ``KernelRidge`` fits no intercept, so its target is centered and the mean becomes the offset.
    """
    X, y = data.train
    columns = np.asarray(columns)
    model = make_model()
    offset = float(np.mean(y)) if isinstance(model, KernelRidge) else 0.0
    model.fit(X[:, columns], y - offset if offset else y)
    return Candidate(model, columns, settings, offset)


def knife_candidates(data, alphas=(1.0,), **options):
    """Return the models at all points of KNIFE's paths, one path per ``alpha``."""
    X, y = data.train
    everything = np.arange(X.shape[1])
    candidates = []
    for alpha in alphas:
        path = knife_path(X, y, alpha=alpha, **options)
        for i in range(len(path)):
            model = path.model(i)
            settings = {"alpha": alpha, "sparsity": float(model.sparsity_)}
            candidates.append(Candidate(model, everything, settings))
    return candidates


def row_of_best(method, candidates, data, n_true):
    """Return a row of a table about the candidate with the least validation error.

    If several candidates have the same error, the first of them is taken. The ``n_true`` true
    features are the first columns.
    """
    errors = [candidate.error(*data.validation) for candidate in candidates]
    chosen = candidates[int(np.argmin(errors))]
    weights = getattr(chosen.model, "weights_", None)
    if isinstance(chosen.model, (Lasso, ElasticNet)):
        weights = chosen.model.coef_
    selected = chosen.columns if weights is None else np.flatnonzero(weights)
    return {
        "method": method,
        "train_error": chosen.error(*data.train),
        "validation_error": min(errors),
        "test_error": chosen.error(*data.test),
        "true_features": int(np.sum(selected < n_true)),
        "noise_features": int(np.sum(selected >= n_true)),
        "settings": ", ".join(f"{name}={value:.4g}" for name, value in chosen.settings.items()),
    }
