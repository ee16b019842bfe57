"""With every row as a center, the model on centers is the exact one.

The tests run over the registries: every kernel and loss that both problems support, with sample
weights, groups of columns, costs, several outputs, and all of them at once.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.data import Columns
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective import ExactProblem, Features, NystromProblem
from kernelknife.kernels import KERNELS
from kernelknife.losses import LOSSES

SUPPORTED = sorted(name for name, kernel in KERNELS.items() if not kernel.indefinite)
SMOOTH = sorted(name for name, loss in LOSSES.items() if loss().surrogate is None)
N, P = 40, 5
GROUPS = np.array([0, 1, 0, 2, 1])
COSTS = np.array([1.0, 0.5, 2.0, 1.5, 0.0])
CASES = {
    "plain": (),
    "weights": ("weights",),
    "groups": ("groups",),
    "costs": ("costs",),
    "outputs": ("outputs",),
    "no intercept": ("no intercept",),
    "everything": ("weights", "groups", "costs", "outputs"),
}


def make_data(rng, loss, parts):
    """Return rows, targets in their own columns, and weights of the rows."""
    X = rng.normal(size=(N, P))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1, X[:, 2] * X[:, 3], X[:, 0]])
    Y = (Y + 0.2 * rng.normal(size=Y.shape))[:, : 3 if "outputs" in parts else 1]
    s = rng.uniform(0.5, 2.0, size=N) if "weights" in parts else np.ones(N)
    if loss.inverse_link(0.0) == 1.0:
        Y = np.ceil(np.exp(Y))  # counts
    if loss.task == "classification":
        Y = np.where(np.median(Y, axis=0) < Y, 1.0, -1.0)
    return X, Y, s


def both(rng, kernel, loss, parts):
    """Return the exact problem and the one on centers, of the same data."""
    X, Y, s = make_data(rng, loss, parts)
    features = Features.of_columns(
        P,
        GROUPS if "groups" in parts else None,
        COSTS if "costs" in parts else None,
        squared=not kernel.linear_in_weights,
    )
    options = {"alpha": 0.5, "features": features, "fit_intercept": "no intercept" not in parts}
    exact = ExactProblem(X, Y, kernel, loss, sample_weight=s, **options)
    centered = NystromProblem(
        ArrayRows(X, Y, s, block_rows=16),
        Columns(np.arange(P), np.zeros(P), np.ones(P)),
        X,
        kernel,
        loss,
        n_outputs=Y.shape[1],
        total_weight=float(s.sum()),
        **options,
    )
    return exact, centered


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("kernel", SUPPORTED)
def test_values_and_derivatives_at_fixed_weights(kernel, loss, case, rng):
    exact, centered = both(rng, KERNELS[kernel](), LOSSES[loss](), CASES[case])
    assert centered.n_weights == exact.n_weights
    assert_allclose(centered.costs, exact.costs)
    assert_allclose(centered.null_value, exact.null_value, rtol=1e-6)
    w = rng.uniform(0.2, 0.7, exact.n_weights)
    w[1] = 0.0
    one, two = exact.solve(w, tol=1e-12), centered.solve(w, tol=1e-12)
    assert_allclose(two.smooth, one.smooth, rtol=1e-6)
    assert_allclose(two.inner.loss, one.inner.loss, rtol=1e-5)
    scale = np.abs(exact.gradient(one)).max()
    # The promise of a step, at which the sums over rows stop, is the square of what the gradient
    # lacks. Only where the loss is nearly a parabola has the last step gone much further than that.
    accuracy = 1e-6 if np.isfinite(exact.loss.curvature_bound) else 1e-4
    assert_allclose(centered.gradient(two), exact.gradient(one), atol=accuracy * scale)
    there = w > 0
    atol = 10.0 * accuracy * scale
    assert_allclose(centered.potential(two)[there], exact.potential(one)[there], atol=atol)
    values = [
        problem.value(w, state.inner.C, state.inner.b, 0.3)
        for problem, state in ((exact, one), (centered, two))
    ]
    assert_allclose(values[1], values[0], rtol=1e-6)
    # Scores agree even where different coefficients make them.
    K = exact.kernel_matrix(w)
    assert_allclose(K @ two.inner.C + two.inner.b, one.inner.F, atol=1e-4)


def without_null_space(name):
    """A kernel of distances: its matrix at different rows determines the coefficients."""
    return KERNELS[name].form != "dot"


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "kernel",
    [
        *filter(without_null_space, SUPPORTED),
        "linear",
    ],
)
def test_what_an_absent_feature_would_bring(kernel, loss, rng):
    """A path ranks features by it that it does not have."""
    exact, centered = both(rng, KERNELS[kernel](), LOSSES[loss](), ())
    w = np.array([0.5, 0.0, 0.6, 0.0, 0.4])
    absent = w == 0
    one = exact.potential(exact.solve(w, tol=1e-12))[absent]
    two = centered.potential(centered.solve(w, tol=1e-12))[absent]
    assert_allclose(two, one, rtol=1e-2, atol=1e-3 * np.abs(one).max())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("kernel", SUPPORTED)
def test_the_end_of_a_fit(kernel, loss, case, rng):
    task, parts = LOSSES[loss]().task, CASES[case]
    X, y, s = make_data(rng, LOSSES[loss](), parts)
    estimator = KnifeRegressor
    if task == "classification":
        # Several outputs of a classifier are several classes.
        estimator, y = KnifeClassifier, (y[:, 0] > 0).astype(int)
        if "outputs" in parts:
            y = y + (X[:, 2] * X[:, 3] > 0.2)
    options = {
        "kernel": kernel,
        "loss": loss,
        "alpha": 0.5,
        "sparsity": 0.5,
        "tol": 1e-10,
        "start": 0.4,
        "feature_groups": GROUPS if "groups" in parts else None,
        "feature_costs": COSTS if "costs" in parts else None,
        "fit_intercept": "no intercept" not in parts,
    }
    exact = estimator(**options).fit(X, y, s)
    centered = estimator(**options, centers=X).fit(X, y, s)
    assert exact.weights_.any()
    assert_allclose(centered.objective_, exact.objective_, rtol=1e-6)
    assert_allclose(centered.weights_, exact.weights_, atol=1e-3)
