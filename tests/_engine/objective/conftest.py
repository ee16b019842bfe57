"""Problems that the tests of this room share."""

import numpy as np
import pytest

from kernelknife._engine.objective import ExactProblem, Features


@pytest.fixture
def make_problem(rng):
    """Return a function that makes an exact problem of random rows."""

    def make(kernel, loss, *, n=25, p=5, k=1, plain=False, **options):
        X = rng.normal(size=(n, p))
        signal = np.sin(X[:, :1] * np.arange(1, k + 1)) + X[:, 1:2] ** 2 - 1.0
        Y = signal + 0.3 * rng.normal(size=(n, k))
        if loss.inverse_link(0.0) == 1.0:
            Y = np.ceil(np.exp(Y))  # counts
        if loss.task == "classification":
            Y = np.where(np.median(Y, axis=0) < Y, 1.0, -1.0)
        if not plain:
            options.setdefault("sample_weight", rng.uniform(0.5, 2.0, size=n))
        groups, costs = options.pop("groups", None), options.pop("costs", None)
        options["features"] = Features.of_columns(
            p, groups, costs, squared=not kernel.linear_in_weights
        )
        return ExactProblem(X, Y, kernel, loss, alpha=0.7, **options)

    return make
