"""Targets that are not numbers with a mean on their own scale: counts, amounts, quantiles, labels.

The model at fixed weights is compared with scikit-learn's and with independent solvers, the search
with planted columns, and the laws that an offset must obey are stated as such.
"""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.metrics import d2_pinball_score, d2_tweedie_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife.losses import (
    Loss,
    NegativeBinomialLoss,
    QuantileLoss,
    TweedieLoss,
)

COUNTS = ["poisson", "negative_binomial", "tweedie", "gamma"]


def draw(rng, n=120, p=6, positive=False):
    """Return rows whose log mean depends on columns 0 and 1, and counts."""
    X = rng.uniform(-1, 1, size=(n, p))
    y = rng.poisson(np.exp(1.0 + 1.5 * np.sin(2 * X[:, 0]) + 2 * X[:, 1] ** 2)).astype(float)
    return X, y + 1.0 if positive else y


def straight(loss, alpha, **options):
    """Return a linear model of all columns, with weights of one."""
    fixed = {"kernel": "linear", "learn_weights": False, "start": 1.0, "standardize": False}
    return KnifeRegressor(loss=loss, alpha=alpha, tol=1e-10, **fixed, **options)


# -- counts and amounts ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_centers", [None, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "peer"),
    [
        ("poisson", PoissonRegressor),
        ("gamma", GammaRegressor),
        (TweedieLoss(1.3), lambda **options: TweedieRegressor(power=1.3, link="log", **options)),
    ],
    ids=["poisson", "gamma", "tweedie"],
)
def test_a_straight_model_is_the_generalized_linear_model_of_scikit_learn(
    loss, peer, weighted, n_centers, rng
):
    X, y = draw(rng, positive=loss == "gamma")
    s = rng.uniform(0.5, 2.0, size=len(y)) if weighted else np.ones(len(y))
    # Theirs is a mean of half deviances plus alpha / 2, ours a sum plus alpha.
    oracle = peer(alpha=2 * 3.0 / s.sum(), tol=1e-12, solver="newton-cholesky", max_iter=1000)
    oracle.fit(X, y, sample_weight=s)
    model = straight(loss, 3.0, n_centers=n_centers).fit(X, y, sample_weight=s)
    rtol = 1e-6 if n_centers is None else 1e-5  # sums over rows square the condition
    assert_allclose(model.predict(X), oracle.predict(X), rtol=rtol)
    assert_allclose(model.score(X, y, s), oracle.score(X, y, s), rtol=rtol)
    assert model.converged_


@pytest.mark.parametrize("dispersion", [0.3, 2.0])
def test_a_straight_negative_binomial_model_is_that_of_an_independent_solver(dispersion, rng):
    X, y = draw(rng)
    offset, s = rng.normal(size=len(y)), rng.uniform(0.5, 2.0, size=len(y))

    def objective(theta):
        f = X @ theta[:-1] + theta[-1] + offset
        size = 1 / dispersion
        terms = (y + size) * np.logaddexp(np.log(size), f) - y * f
        return s @ terms + 0.7 * theta[:-1] @ theta[:-1]

    found = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-7}).x
    loss = NegativeBinomialLoss(dispersion)
    model = straight(loss, 0.7).fit(X, y, s, offset=offset)
    wanted = np.exp(X @ found[:-1] + found[-1] + offset)
    assert_allclose(model.predict(X, offset=offset), wanted, rtol=1e-5)


def test_counts_with_an_exposure_are_rates_weighted_by_it(rng):
    X, y = draw(rng)
    exposure = rng.uniform(0.2, 5.0, size=len(y))
    oracle = PoissonRegressor(alpha=2 * 3.0 / exposure.sum(), tol=1e-12, max_iter=1000)
    oracle.fit(X, y / exposure, sample_weight=exposure)
    model = straight("poisson", 3.0).fit(X, y, exposure=exposure)
    assert_allclose(model.predict(X), oracle.predict(X), rtol=1e-5)
    assert_allclose(model.predict(X, exposure=exposure), exposure * oracle.predict(X), rtol=1e-5)
    together = straight("poisson", 3.0).fit(X, y, offset=np.log(exposure))
    assert_allclose(together.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("n_centers", [None, 30])
@pytest.mark.parametrize("loss", [*COUNTS, "squared", "huber", "expectile"])
def test_a_constant_in_the_offset_moves_the_intercept_and_nothing_else(loss, n_centers, rng):
    X, y = draw(rng, n=80, positive=True)
    offset = 0.3 * rng.normal(size=80)
    options = {"sparsity": 2.0, "start": "scaled", "n_centers": n_centers, "tol": 1e-7}
    one = KnifeRegressor(loss=loss, **options).fit(X, y, offset=offset)
    two = KnifeRegressor(loss=loss, **options).fit(X, y, offset=offset + 1.0)
    assert_allclose(two.weights_, one.weights_, atol=1e-4)
    assert_allclose(two.predict(X, offset=offset + 1.0), one.predict(X, offset=offset), rtol=1e-3)


@pytest.mark.parametrize("loss", COUNTS)
def test_means_are_positive_and_their_columns_found(loss, rng):
    X, y = draw(rng, n=200, p=10, positive=True)
    path = knife_path(X, y, loss=loss)
    assert set(path.ranking.argsort()[:2]) == {0, 1}
    model = path.at(n_features=2)
    assert (model.predict(X) > 0).all()
    assert model.score(X, y) > 0.6


class OwnPoisson(Loss):
    """Ten lines of a user, without the constants that make it a deviance."""

    scale_target = False
    curvature_bound = np.inf

    def value(self, y, f):
        return np.exp(f) - y * f

    def gradient(self, y, f):
        return np.exp(f) - y

    def curvature(self, y, f):
        return np.exp(f)

    def inverse_link(self, f):
        return np.exp(f)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("kernel", ["rbf", "additive", "linear"])
def test_a_poisson_loss_of_ten_lines_is_right_with_default_settings(kernel, scale, rng):
    X, _ = draw(rng, n=150)
    y = rng.poisson(scale * np.exp(np.sin(2 * X[:, 0]) + X[:, 1])).astype(float)
    mine = KnifeRegressor(kernel, loss=OwnPoisson(), sparsity=3.0).fit(X, y)
    theirs = KnifeRegressor(kernel, loss="poisson", sparsity=3.0).fit(X, y)
    assert mine.converged_
    assert_allclose(mine.weights_, theirs.weights_, atol=1e-2)
    assert_allclose(mine.predict(X), theirs.predict(X), rtol=2e-2)


def test_the_search_compares_deviances(rng):
    X, y = draw(rng, n=120)
    exposure = rng.uniform(0.5, 2.0, size=120)
    search = KnifeRegressorCV("rbf", loss="poisson", alphas=[1.0], sparsities=8, random_state=0)
    search.fit(X, rng.poisson(exposure * (y + 0.5)).astype(float), exposure=exposure)
    assert search.score_name_ == "neg_mean_deviance"
    assert {0, 1} <= set(search.get_support(indices=True))
    assert_allclose(search.predict(X, exposure=exposure), exposure * search.predict(X), rtol=1e-9)


def test_the_score_is_the_share_of_the_deviance_that_is_explained(rng):
    X, y = draw(rng)
    model = KnifeRegressor(loss="poisson", sparsity=2.0).fit(X, y)
    assert_allclose(model.score(X, y), d2_tweedie_score(y, model.predict(X), power=1))
    model = KnifeRegressor(loss=QuantileLoss(0.8), sparsity=2.0).fit(X, y)
    assert_allclose(model.score(X, y), d2_pinball_score(y, model.predict(X), alpha=0.8), atol=1e-8)


# -- offsets of classes, and of rows that are not in memory ---------------------------------------


def odds(rng, n=150, p=4):
    """Return rows, a known part of their log-odds, and classes by name."""
    X, offset = rng.normal(size=(n, p)), 1.5 * rng.normal(size=n)
    chance = expit(offset + 1.5 * np.sin(2 * X[:, 0]) + X[:, 1])
    return X, offset, np.where(rng.uniform(size=n) < chance, "yes", "no")


def test_a_straight_logistic_model_with_an_offset_has_the_least_penalized_likelihood(rng):
    X, offset, y = odds(rng)
    s, sign = rng.uniform(0.5, 2.0, size=len(y)), np.where(y == "yes", 1.0, -1.0)

    def objective(theta):
        f = X @ theta[:-1] + theta[-1] + offset
        return s @ np.logaddexp(0.0, -sign * f) + 0.7 * theta[:-1] @ theta[:-1]

    found = minimize(objective, np.zeros(X.shape[1] + 1), tol=1e-10).x
    options = {"kernel": "linear", "learn_weights": False, "start": 1.0, "standardize": False}
    model = KnifeClassifier(loss="logistic", alpha=0.7, tol=1e-10, **options)
    model.fit(X, y, sample_weight=s, offset=offset)
    wanted = X @ found[:-1] + found[-1] + offset
    assert_allclose(model.decision_function(X, offset=offset), wanted, atol=1e-4)
    assert_allclose(model.predict_proba(X, offset=offset)[:, 1], expit(wanted), atol=1e-4)
    assert (model.predict(X, offset=offset) == np.where(wanted > 0, "yes", "no")).all()
    assert model.score(X, y, offset=offset) == np.mean((wanted > 0) == (y == "yes"))
    assert_allclose(model.decision_function(X), wanted - offset, atol=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "huberized_hinge"])
def test_a_constant_in_the_offset_of_classes_moves_the_intercept(loss, rng):
    X, offset, y = odds(rng)
    options = {"kernel": "additive", "sparsity": 2.0, "tol": 1e-8}
    one = KnifeClassifier(loss=loss, **options).fit(X, y, offset=offset)
    two = KnifeClassifier(loss=loss, **options).fit(X, y, offset=offset + 1.0)
    assert_allclose(two.weights_, one.weights_, atol=1e-3)
    moved = two.decision_function(X, offset=offset + 1.0)
    assert_allclose(moved, one.decision_function(X, offset=offset), atol=1e-2)


def test_an_offset_of_labels_and_of_a_search_is_used_where_it_is_known(rng):
    X, offset, y = odds(rng)
    both = np.column_stack([y == "yes", X[:, 2] + offset > 0]).astype(int)
    known = KnifeClassifier(loss="logistic", sparsity=2.0).fit(X, both, offset=offset)
    assert known.decision_function(X, offset=offset).shape == (150, 2)
    options = {"alphas": 1.0, "loss": "logistic", "random_state": 0}
    search = KnifeClassifierCV("additive", **options).fit(X, y, offset=offset)
    plain = KnifeClassifierCV("additive", **options).fit(X, y)
    assert {0, 1} <= set(search.get_support(indices=True))
    assert search.best_score_ > plain.best_score_ + 0.05
    assert search.score(X, y, offset=offset) > plain.score(X, y) + 0.05
    learned = KnifeClassifierCV("linear", alphas=1.0, probability="sigmoid", random_state=0)
    chance = learned.fit(X, y, offset=offset).predict_proba(X, offset=offset)
    assert np.mean((chance[:, 1] > 0.5) == (y == "yes")) > 0.75


def test_an_offset_of_classes_that_has_no_meaning_is_explained(rng):
    X, offset, _ = odds(rng)
    three = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="two classes, or several labels"):
        KnifeClassifier(loss="logistic").fit(X, three, offset=offset)
    with pytest.raises(TypeError, match="rows in memory"):
        KnifeClassifier(loss="logistic").fit("folder", "y", offset="known")
    times = np.column_stack([np.ones(150), np.ones(150)])
    with pytest.raises(ValueError, match="not for times"):
        knife_path(X, times, task="survival", offset=offset)


def test_parquet_files_and_dask_arrays_have_offsets_and_exposures(rng, tmp_path):
    pd, da = pytest.importorskip("pandas"), pytest.importorskip("dask.array")
    pytest.importorskip("pyarrow")
    X, y = draw(rng)
    years, shift = rng.uniform(0.2, 5.0, size=len(y)), 0.3 * rng.normal(size=len(y))
    options = {"kernel": "additive", "loss": "poisson", "sparsity": 20.0, "n_centers": 20}
    make = partial(KnifeRegressor, **options, centers=X[:20])
    wanted = make().fit(X, y, offset=shift, exposure=years)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, years=years, shift=shift)
    frame.to_parquet(tmp_path / "part.parquet", row_group_size=50)
    files = make().fit(str(tmp_path), "y", offset="shift", exposure="years")
    assert files.feature_names_in_.tolist() == list("abcdef")
    blocks = [da.from_array(part, chunks=(50, *part.shape[1:])) for part in (X, y, shift, years)]
    lazy = make().fit(blocks[0], blocks[1], offset=blocks[2], exposure=blocks[3])
    for model in (files, lazy):
        assert_allclose(model.weights_, wanted.weights_, atol=1e-6)
        rate = np.asarray(model.predict(blocks[0] if model is lazy else str(tmp_path)))
        assert_allclose(rate * years, wanted.predict(X, exposure=years), rtol=1e-5)
    with pytest.raises(ValueError, match="exposure positive"):
        make().fit(blocks[0], blocks[1], exposure=blocks[3] - 1.0)
    with pytest.raises(TypeError, match="multiply the predictions by the exposure"):
        lazy.predict(blocks[0], exposure=blocks[3])
    with pytest.raises(TypeError, match="exposure is the name of a column"):
        make().fit(str(tmp_path), "y", exposure=years)
    with pytest.raises(ValueError, match="no column 'time'"):
        make().fit(str(tmp_path), "y", exposure="time")


def test_offsets_and_exposures_go_through_pipelines_and_grid_searches(rng):
    X, y = draw(rng)
    years, s = rng.uniform(0.2, 5.0, size=len(y)), rng.uniform(0.5, 2.0, size=len(y))
    groups = np.arange(len(y)) // 4
    with config_context(enable_metadata_routing=True):
        model = KnifeRegressor("linear", loss="poisson", sparsity=5.0)
        model.set_fit_request(exposure=True, sample_weight=True)
        model.set_predict_request(exposure=True).set_score_request(
            exposure=True, sample_weight=True
        )
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipe.fit(X, y, exposure=years, sample_weight=s)
        alone = KnifeRegressor("linear", loss="poisson", sparsity=5.0)
        Z = StandardScaler().fit_transform(X)
        alone.fit(Z, y, exposure=years, sample_weight=s)
        assert_allclose(pipe.predict(X, exposure=years), alone.predict(Z, exposure=years))
        grid = GridSearchCV(pipe, {"kniferegressor__sparsity": [1.0, 5.0]}, cv=GroupKFold(3))
        grid.fit(X, y, exposure=years, sample_weight=s, groups=groups)
        train, test = next(GroupKFold(3).split(X, y, groups))
        Z = StandardScaler().fit(X[train]).transform(X)
        alone.fit(Z[train], y[train], exposure=years[train], sample_weight=s[train])
        scored = alone.score(Z[test], y[test], sample_weight=s[test], exposure=years[test])
        assert_allclose(grid.cv_results_["split0_test_score"][1], scored, rtol=1e-6)
        search = KnifeRegressorCV("linear", alphas=1.0, loss="poisson", cv=GroupKFold(3))
        search.set_fit_request(exposure=True, groups=True)
        make_pipeline(StandardScaler(), search).fit(X, y, exposure=years, groups=groups)
        for train, test in search.splits_:
            assert not set(groups[train]) & set(groups[test])
        X, offset, y = odds(rng)
        classes = KnifeClassifier("linear", loss="logistic").set_fit_request(offset=True)
        classes.set_score_request(offset=True)
        grid = GridSearchCV(make_pipeline(StandardScaler(), classes), {}, cv=3)
        grid.fit(X, y, offset=offset)
        assert grid.best_score_ > 0.7


# -- bad offsets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exposure": 0.0}, "exposure must be positive.*1 rows"),
        ({"exposure": -2.0}, "exposure must be positive"),
        ({"exposure": np.nan}, "exposure.*missing or infinite"),
        ({"offset": np.inf}, "offset.*missing or infinite"),
    ],
)
def test_offsets_that_are_none_are_explained(options, words, rng):
    X, y = draw(rng)
    ((name, bad),) = options.items()
    values = np.ones(len(y))
    values[3] = bad
    with pytest.raises(ValueError, match=words):
        KnifeRegressor(loss="poisson").fit(X, y, **{name: values})
    model = KnifeRegressor(loss="poisson", sparsity=5.0).fit(X, y)
    with pytest.raises(ValueError, match=words):
        model.predict(X, **{name: values})


def test_offsets_of_other_shapes_and_losses_are_explained(rng):
    X, y = draw(rng)
    with pytest.raises(ValueError, match=r"offset must have shape \(120,\)"):
        KnifeRegressor(loss="poisson").fit(X, y, offset=np.ones(7))
    with pytest.raises(ValueError, match=r"exposure must have shape \(120,\)"):
        KnifeRegressorCV(loss="poisson").fit(X, y, exposure=np.ones(7))
    with pytest.raises(ValueError, match=r"exposure is for losses with a logarithmic link"):
        KnifeRegressor().fit(X, y, exposure=np.ones(120))


# -- quantiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_a_straight_quantile_is_that_of_an_independent_solver(tau, rng):
    """Residuals as differences of two positive parts make the problem quadratic: by SLSQP."""
    n, p, alpha = 40, 3, 0.4
    X = rng.normal(size=(n, p))
    y = X[:, 0] + rng.normal(size=n) * np.exp(0.5 * X[:, 1])
    s = rng.uniform(0.5, 2.0, size=n)
    design = np.column_stack([X, np.ones(n), np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.zeros(p + 1), tau * s, (1 - tau) * s])
    found = minimize(
        lambda z: alpha * z[:p] @ z[:p] + cost @ z,
        np.concatenate([np.zeros(p + 1), np.maximum(y, 0), np.maximum(-y, 0)]),
        jac=lambda z: cost + 2 * alpha * np.concatenate([z[:p], np.zeros(len(z) - p)]),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * (2 * n),
        constraints={"type": "eq", "fun": lambda z: design @ z - y, "jac": lambda z: design},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    model = straight(QuantileLoss(tau), alpha).fit(X, y, sample_weight=s)
    assert_allclose(model.predict(X), X @ found.x[:p] + found.x[p], atol=1e-6)
    assert model.converged_


@pytest.mark.parametrize("n_centers", [None, 40])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_the_share_of_the_rows_below_the_fit_is_the_quantile(tau, n_centers, rng):
    X, _ = draw(rng, n=200)
    y = np.sin(2 * X[:, 0]) + rng.normal(size=200) * np.exp(X[:, 1])
    model = KnifeRegressor(loss=QuantileLoss(tau), sparsity=3.0, n_centers=n_centers).fit(X, y)
    residual = y - model.predict(X)
    on_the_fit = np.abs(residual) < 2e-3
    below = (residual < 0) & ~on_the_fit
    assert below.mean() <= tau + 1e-9 <= below.mean() + on_the_fit.mean() + 1e-9
    assert on_the_fit.mean() < 0.3


def test_quantiles_asked_for_together_never_cross(rng):
    X, _ = draw(rng, n=150)
    y = np.sin(2 * X[:, 0]) + rng.normal(size=150) * np.exp(X[:, 1])
    levels = [0.1, 0.25, 0.5, 0.75, 0.9]
    model = KnifeRegressor(loss=QuantileLoss(levels), sparsity=2.0).fit(X, y)
    far = rng.uniform(-5, 5, size=(500, 6))
    for rows in (X, far):
        assert (np.diff(model.predict(rows), axis=1) >= 0).all()
    assert_allclose((y[:, None] <= model.predict(X) + 1e-4).mean(axis=0), levels, atol=0.06)
    assert model.predict(X).shape == (150, 5)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_new_targets_lie_below_a_quantile_as_often_as_it_says(tau):
    """The mean of twelve fits, each judged on 2,000 new rows; one scatters by .02."""
    below = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(2500, 4))
        y = np.sin(2 * X[:, 0]) + rng.normal(size=2500) * np.exp(0.7 * X[:, 1])
        model = KnifeRegressor("additive", loss=QuantileLoss(tau), sparsity=20.0)
        below.append(np.mean(y[500:] <= model.fit(X[:500], y[:500]).predict(X[500:])))
    assert abs(np.mean(below) - tau) <= 0.02


def test_columns_of_the_spread_are_found_by_a_quantile_and_not_by_the_mean(rng):
    X = rng.uniform(-1, 1, size=(400, 10))
    y = X[:, 0] + rng.normal(size=400) * np.exp(1.5 * X[:, 3])
    path = knife_path(X, y, loss=QuantileLoss(0.9))
    assert set(path.ranking.argsort()[:2]) == {0, 3}


# -- intervals -------------------------------------------------------------------------------------


def searched(rng, loss="squared", n=300, **options):
    """Return a quick search, and a function that draws rows."""

    def rows(n):
        X = rng.uniform(-1, 1, size=(n, 5))
        y = np.sin(3 * X[:, 0]) + 0.5 * rng.normal(size=n) * np.exp(X[:, 1])
        return X, (np.ceil(np.exp(y)) if loss == "poisson" else y)

    quick = {"alphas": [0.3], "sparsities": 6, "include_all": False, "relax": False}
    search = KnifeRegressorCV("rbf", loss=loss, random_state=0, **quick, **options)
    return search.fit(*rows(n)), rows


@pytest.mark.parametrize(
    "loss", ["squared", "huber", "poisson", QuantileLoss([0.2, 0.8])], ids=["a", "b", "c", "d"]
)
def test_intervals_cover_what_they_promise(loss):
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(4):
        search, rows = searched(rng, loss, n=400)
        X, y = rows(2000)
        low, high = search.predict_interval(X, level=0.9).T
        covered.append(np.mean((low <= y) & (y <= high)))
        wide = search.predict_interval(X, level=0.98)
        assert (wide[:, 0] <= low).all()
        assert (wide[:, 1] >= high).all()
    assert 0.88 <= np.mean(covered) <= 0.92 + 0.03 * bool(loss == "poisson")  # counts have ties


def test_intervals_are_those_of_models_without_the_row(rng):
    """CV+ by hand: quantiles of the predictions of each fold's model plus the errors it made."""
    search, rows = searched(rng, n=60, cv=4)
    X = rows(7)[0]
    models = search.predict_interval(X) is not None and search._intervals.models
    data = search.path_._setup.data
    y = data.rows.y[:, 0] * data.targets.scale + data.targets.center
    ends = []
    for model, (_, test) in zip(models, search.splits_, strict=True):
        error = np.abs(y[test] - model.predict(type(data.rows)(data.rows.X[test])))
        new = model.predict(type(data.rows)(X))
        ends.append([new[:, None] - error, new[:, None] + error])
    low, high = np.concatenate(ends, axis=2)
    expected = [
        np.sort(low, axis=1)[:, int(np.floor(0.1 * 61)) - 1],
        np.sort(high, axis=1)[:, int(np.ceil(0.9 * 61)) - 1],
    ]
    assert_allclose(search.predict_interval(X, 0.9).T, expected, rtol=1e-9)


def test_intervals_scale_with_the_exposure_and_stay_positive(rng):
    X, y = draw(rng)
    exposure = rng.uniform(0.5, 2.0, size=len(y))
    quick = {"alphas": [1.0], "sparsities": 5, "include_all": False, "relax": False, "cv": 3}
    y = rng.poisson(exposure * (y + 1.0))
    search = KnifeRegressorCV("linear", loss="poisson", **quick).fit(X, y, exposure=exposure)
    low, high = search.predict_interval(X, exposure=exposure).T
    assert (low >= 0).all()
    assert 0.8 <= np.mean((low <= y) & (y <= high)) <= 1.0


def test_intervals_that_cannot_be_are_explained(rng):
    search, rows = searched(rng, n=60)
    X = rows(5)[0]
    for level in (0.0, 1.0):
        with pytest.raises(ValueError, match="level must"):
            search.predict_interval(X, level=level)
    with pytest.raises(ValueError, match="needs at least 999 rows"):
        search.predict_interval(X, level=0.999)
    both = KnifeRegressorCV("linear", alphas=[1.0], sparsities=4)
    both.fit(*(rng.normal(size=(60, 3)), rng.normal(size=(60, 2))))
    with pytest.raises(ValueError, match="Intervals are for one target"):
        both.predict_interval(rng.normal(size=(5, 3)))
