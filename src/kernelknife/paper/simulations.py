"""The protocol that the paper's simulations share.

Training sets of 100 rows, validation and test sets of 1,000; of every method's candidates the
one with the least validation error is judged on the test set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.preprocessing import StandardScaler

from kernelknife import knife_path

__all__ = ["ALPHAS", "Draw", "Machine", "best", "knife_models", "on_columns"]

SIZES = (100, 1000, 1000)
FIRST = 15_000  # no draw here was used to choose a default setting
ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # where KNIFE's other penalty is chosen too


@dataclass(frozen=True)
class Draw:
    """Training, validation and test rows of one repetition, standardised by the first."""

    train: tuple
    validation: tuple
    test: tuple

    @classmethod
    def of(cls, make, n_noise, seed):
        """Draw from a generator."""
        pairs = [make(n, n_noise, random_state=FIRST + 3 * seed + i) for i, n in enumerate(SIZES)]
        scaler = StandardScaler().fit(pairs[0][0])
        return cls(*((scaler.transform(X), y) for X, y in pairs))


@dataclass(frozen=True)
class Machine:
    """A fitted model on some columns, with an offset for one that fits no intercept."""

    model: Any
    columns: np.ndarray
    settings: dict
    offset: float = 0.0

    def error(self, X, y):
        """Return the share of wrong classes, or the mean squared error."""
        found = self.model.predict(X[:, self.columns])
        if is_classifier(self.model):
            return float(np.mean(found != y))
        return float(np.mean((found + self.offset - y) ** 2))


def on_columns(make_model, columns, data, **settings):
    """Fit a model on some columns of the training rows.

    ``KernelRidge`` fits no intercept and gets a centred target.
    """
    X, y = data.train
    columns = np.asarray(columns)
    model = make_model()
    offset = float(np.mean(y)) if isinstance(model, KernelRidge) else 0.0
    model.fit(X[:, columns], y - offset if offset else y)
    return Machine(model, columns, settings, offset)


def knife_models(data, alphas=(1.0,), **options):
    """Return the machines along KNIFE's paths, one path per ``alpha``."""
    X, y = data.train
    everything = np.arange(X.shape[1])
    machines = []
    for alpha in alphas:
        path = knife_path(X, y, alpha=alpha, **options)
        for i in range(len(path)):
            model = path.model(i)
            settings = {"alpha": alpha, "sparsity": float(model.sparsity_)}
            machines.append(Machine(model, everything, settings))
    return machines


def best(method, machines, data, n_true):
    """Return a row on the machine with the least validation error.

    Of several equally good ones the first counts.
    """
    errors = [machine.error(*data.validation) for machine in machines]
    chosen = machines[int(np.argmin(errors))]
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
