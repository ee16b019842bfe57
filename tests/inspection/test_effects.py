"""Separate effects: convex and certified, found where they are, and adding up to the prediction."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_separate_effects, make_sinusoidal
from kernelknife.kernels import Additive, Anova, Linear
from kernelknife.losses import SquaredHinge, SquaredLoss

# -- order 1 is a convex problem with a known solution --------------------------------------


def reverse_huber(size, alpha, sparsity):
    """Return the penalty that eliminating a weight in [0, 1] leaves, and its slope."""
    corner, flat = np.sqrt(sparsity / alpha), 2 * np.sqrt(alpha * sparsity)
    inside = size <= corner
    value = np.where(inside, flat * size, alpha * size**2 + sparsity)
    return value, np.where(inside, flat, 2 * alpha * size)


@pytest.mark.parametrize("loss", [SquaredLoss(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("sparsity", [0.5, 4.0, 12.0])
def test_order_one_is_a_group_lasso_on_the_basis(loss, sparsity, rng):
    """L-BFGS on the coefficients, which shares nothing with the solver."""
    X = rng.normal(size=(60, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + 0.1 * rng.normal(size=60)
    y = y - y.mean() if loss.task == "regression" else np.where(y > 0, 1.0, -1.0)
    basis = Additive().make_basis(X, np.ones(60))
    A, owner, alpha = basis.expand(X), basis.sources, 0.7
    features = Features(A.shape[1], owner, squared=False)
    problem = ExactProblem(
        A, y[:, None], Additive(), loss, alpha=alpha, features=features, fit_intercept=False
    )
    ours = Eliminate(tol=1e-12, max_iter=500).solve(problem, np.full(4, 0.1), sparsity)

    def objective(b):
        sizes = np.sqrt(np.bincount(owner, b * b) + 1e-18)
        penalty, slope = reverse_huber(sizes, alpha, sparsity)
        f = A @ b
        gradient = A.T @ loss.gradient(y, f) + (slope / sizes)[owner] * b
        return loss.value(y, f).sum() + penalty.sum(), gradient

    oracle = min(
        (
            minimize(
                objective,
                scale * rng.normal(size=A.shape[1]),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-10},
            )
            for scale in (0.01, 0.1, 1.0)
        ),
        key=lambda result: result.fun,
    )
    assert_allclose(ours.objective, oracle.fun, rtol=1e-6)
    coefficients = (A.T @ ours.C[:, 0]) * ours.w[owner]
    assert_allclose(A @ coefficients, A @ oracle.x, atol=1e-3)
    assert ours.kkt_residual < 1e-5


def test_with_one_column_per_feature_it_is_the_linear_kernel(rng):
    X, y = rng.normal(size=(50, 5)), rng.normal(size=(50, 1))
    features = Features(5, np.arange(5), squared=False)
    one = ExactProblem(X, y, Additive(), SquaredLoss(), features=features)
    two = ExactProblem(X, y, Linear(), SquaredLoss())
    w = rng.uniform(size=5)
    assert_allclose(one.solve(w).smooth, two.solve(w).smooth)
    assert_allclose(one.gradient(one.solve(w)), two.gradient(two.solve(w)))


def test_order_one_does_not_depend_on_the_start(rng):
    X, y = make_sinusoidal(80, 5, random_state=0)
    fits = [
        KnifeRegressor("additive", sparsity=3.0, start=start, tol=1e-8).fit(X, y)
        for start in (0.9, 1e-3, "auto")
    ]
    for other in fits[1:]:
        assert_allclose(other.objective_, fits[0].objective_, rtol=1e-6)
        assert_allclose(other.weights_, fits[0].weights_, atol=1e-3)


# -- what is found ---------------------------------------------------------------------------


def test_separate_effects_are_all_found():
    """The Gaussian kernel, one joint function, finds one of them and then noise."""
    table = make_separate_effects(600, 30, random_state=1)
    path = knife_path(table.data, table.target, kernel="anova")
    assert set(np.argsort(path.ranking)[:6]) == set(table.relevant)


@pytest.mark.parametrize("order", [2, 3])
def test_pure_interactions_are_found(order, rng):
    X = rng.uniform(-1, 1, size=(400, 20))
    y = X[:, :order].prod(axis=1) > 0
    path = knife_path(X, y, kernel=Anova(order=order))
    assert set(np.argsort(path.ranking)[:order]) == set(range(order))


def test_sums_of_sines_are_fitted_better_than_by_one_joint_function():
    X, y = make_sinusoidal(100, 5, random_state=3)
    new_X, new_y = make_sinusoidal(1000, 5, random_state=4)
    errors = {
        kernel: np.mean(
            (KnifeRegressor(kernel, alpha=0.1, sparsity=2.0).fit(X, y).predict(new_X) - new_y) ** 2
        )
        for kernel in ("rbf", "additive", "anova")
    }
    assert errors["additive"] < errors["rbf"]
    assert errors["anova"] < errors["rbf"]


# -- the effects themselves ------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    table = make_separate_effects(250, 6, union=False, random_state=0)
    return KnifeRegressor("anova", alpha=0.3, sparsity=6.0).fit(table.data, table.target), table


@pytest.mark.parametrize("kernel", [Additive(), Anova(), Anova(order=3)], ids=repr)
@pytest.mark.parametrize("task", ["regression", "two outputs", "classification", "three classes"])
def test_effects_add_up_to_the_prediction(kernel, task, rng):
    X = rng.normal(size=(90, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    targets = {
        "regression": y,
        "two outputs": np.column_stack([100 * y, y**2]),
        "classification": y > 0,
        "three classes": np.digitize(y, [-0.5, 0.5]),
    }
    knife = KnifeClassifier if "cla" in task else KnifeRegressor
    model = knife(kernel, sparsity=2.0).fit(X, targets[task])
    new = rng.normal(size=(20, 5)) * 2.0
    constant, effects = model.effect_values(new)
    total = constant + sum(effects.values())
    expected = model.decision_function(new) if "cla" in task else model.predict(new)
    assert_allclose(total, expected.reshape(total.shape), atol=1e-10 * np.abs(expected).max())
    assert_allclose(sum(effect.share for effect in model.effects()), 1.0)


def test_what_acts_together_has_a_name(fitted):
    model, _ = fitted
    pairs = [effect.names for effect in model.effects() if len(effect.names) == 2]
    assert pairs[0] == ("x2", "x3")  # the checkerboard: a product of two columns
    frame = model.effects().to_frame()
    assert frame["share"].is_monotonic_decreasing
    assert frame["effect"][frame["order"] == 2].iloc[0] == "x2 x x3"


def test_an_effect_on_a_grid_is_what_it_is_at_the_rows(fitted):
    model, table = fitted
    for names in (("x4",), ("x2", "x3")):
        effect = model.effect(*names)
        grid = np.zeros((len(effect.grids[0]), table.data.shape[1]))
        columns = [int(name[1:]) for name in names]
        grid[:, columns[0]] = effect.grids[0]
        expected = effect.values  # noqa: PD011  no data frame
        if len(names) == 2:
            grid[:, columns[1]] = effect.grids[1][7]
            expected = expected[:, 7]
        assert_allclose(model.effect_values(grid)[1][names][:, 0], expected, atol=1e-8)


def test_effects_by_name_of_a_frame_and_mistakes(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    model = KnifeRegressor("anova", sparsity=3.0).fit(frame, frame["a"] * frame["b"])
    assert model.effect("a", "b").names == ("a", "b")
    assert_array_equal(model.effect(0).values, model.effect("a").values)
    with pytest.raises(ValueError, match=r"'z' is not a selected column\. Selected are: a, b"):
        model.effect("z")
    with pytest.raises(ValueError, match="effects of 1 to 2 different columns"):
        model.effect("a", "a")
    with pytest.raises(ValueError, match="no separate effects"):
        KnifeRegressor().fit(frame, frame["a"]).effects()


# -- all kinds of columns --------------------------------------------------------------------


def test_units_do_not_matter_even_without_standardization(rng):
    X = rng.normal(size=(70, 4))
    y = np.sin(2 * X[:, 0])
    plain = KnifeRegressor("anova", sparsity=2.0).fit(X, y)
    units = np.array([1e6, 1e-6, 3.0, 1.0])
    moved = KnifeRegressor("anova", sparsity=2.0).fit(X * units + 7.0, y)
    target = (y - y.mean()) / y.std()
    raw = KnifeRegressor("anova", sparsity=2.0, standardize=False).fit(X * units, target)
    assert_allclose(moved.weights_, plain.weights_, atol=1e-6)
    assert_allclose(raw.weights_, plain.weights_, atol=1e-6)


def test_indicators_of_levels_and_a_number_with_few_values(rng):
    level = rng.integers(0, 4, size=150)
    effect = np.array([0.0, 2.0, -1.0, 0.5])[level]
    X = np.column_stack([np.eye(4)[level], rng.normal(size=(150, 2)), level])
    y = effect + 0.1 * rng.normal(size=150)
    groups = ["level"] * 4 + ["a", "b", "number"]
    model = KnifeRegressor("additive", sparsity=2.0, feature_groups=groups).fit(X, y)
    assert len(set(model.weights_[:4])) == 1
    assert model.weights_[4] == model.weights_[5] == 0.0
    assert model.score(X, y) > 0.95
    # A number with few values keeps their order: between 1 and 2 it has what lies between.
    doses = KnifeRegressor("additive", sparsity=2.0).fit(X[:, 4:], y)
    low, middle, high = doses.predict(np.array([[0.0, 0.0, d] for d in (1.0, 1.5, 2.0)]))
    assert middle == pytest.approx(0.5 * (low + high))


# -- shares and averages are those of the training rows ------------------------------------------


@pytest.mark.parametrize("kernel", [Additive(), Anova(), Anova(order=3)], ids=repr)
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "squared_hinge"},
        {"loss": "hinge"},
        {"loss": "logistic", "n_centers": 40},
        {"loss": "squared_hinge", "class_weight": "balanced"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_effects_have_the_moments_of_the_training_rows(kernel, options, rng):
    """Whichever rows carry a coefficient: their definition over all rows, by weight."""
    X = rng.normal(size=(150, 4))
    y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.2 * rng.normal(size=150) > 0.7
    s = rng.uniform(0.2, 2.0, size=150)
    model = KnifeClassifier(kernel, alpha=0.3, sparsity=2.0, random_state=0, **options)
    model.fit(X, y, sample_weight=s)
    if model.class_weight is not None:
        s = s * len(y) / (2 * np.bincount(y)[y.astype(int)])
    s = s / s.sum()
    constant, parts = model.effect_values(X)
    f = sum(parts.values())[:, 0]
    f = f - s @ f
    shares = {effect.names: effect.share for effect in model.effects()}
    assert set(shares) == set(parts)
    for names, values in parts.items():
        assert abs(s @ values[:, 0]) < 1e-10, "the average of each effect is zero"
        assert shares[names] == pytest.approx((s * values[:, 0]) @ f / (s @ f**2), abs=1e-9)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert_allclose(constant + sum(parts.values())[:, 0], model.decision_function(X), atol=1e-9)


def test_too_many_pairs_are_refused_in_a_sentence(rng, monkeypatch):
    monkeypatch.setattr("kernelknife._engine.effects.MOST_FUNCTIONS", 10)
    X = rng.normal(size=(60, 5))
    model = KnifeRegressor("anova", sparsity=0.01).fit(X, X.sum(axis=1))
    with pytest.raises(ValueError, match="select fewer columns"):
        model.effects()
    assert np.isfinite(model.predict(X)).all()
