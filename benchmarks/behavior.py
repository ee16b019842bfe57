"""Whether two versions of the package give the same answers.

``record`` fits every estimator to small simulated data with fixed seeds, in about two thousand
named cases, and stores what comes out: predictions, weights, objectives, selections, and what folds
have chosen. It takes four minutes. ``compare`` holds two such files against each other and ends
with status 1 if they differ.

    PYTHONPATH=OLD/src python benchmarks/behavior.py record before.npz
    python benchmarks/behavior.py record after.npz
    python benchmarks/behavior.py compare before.npz after.npz

Numbers may differ by 1e-8 relative to ``max(1, |value|)``, penalties that were chosen by as much of
themselves; selections, words and counts have to be the same. A case that raises stores the type of
the exception, so that refusals are compared as well. A part of the cases is recorded with ``--only
PATTERN``, a regular expression that is searched for in ``group: case``; ``compare`` then looks at
this part alone. The number of factorizations is no answer and is not recorded.

Two recordings of the same code on one machine agree to the last bit. Sums in another order do not:
with ``OPENBLAS_CORETYPE=Sandybridge`` in place of Haswell one case in eleven moves by more than
1e-8, most of them barely, a few to other centers or to other points of a path. Before a failing
case is taken for a mistake, see whether rounding moves it with the old code as well.

Only public names are used, by way of the package's attributes: what a version lacks makes its own
cases fail and no others.
"""

import argparse
import importlib
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Fits of this size are compared on one thread.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

import kernelknife
from kernelknife import datasets, kernels, losses

Facts = dict[str, np.ndarray]
Cases = Iterator[tuple[str, Callable[[], Facts]]]

TOL = 1e-8
# Names are written out, so that a version that loses one of them is found out.
KERNELS = (
    "linear", "additive", "anova", "rbf", "joint", "polynomial", "laplace", "matern",
    "rational_quadratic", "sigmoid",
)  # fmt: skip
LOSSES = {
    "KnifeRegressor": ("squared", "huber"),
    "KnifeClassifier": ("squared_hinge", "huberized_hinge", "hinge", "logistic"),
}
TWO_KERNELS = ("rbf", "additive")

# The first word of a fact's name says how it is compared and where the table counts it.
KINDS = ("predictions", "weights", "objectives", "scores", "selections", "settings")
EXACT = ("selections", "settings")  # but for the rounding of chosen penalties
ATTRIBUTES = {
    "weights": ("weights_", "x_weights_", "y_weights_"),
    "objectives": ("objective_",),
    "scores": (
        "best_score_", "nested_scores_", "selection_frequency_", "correlations_",
        "held_out_correlations_", "p_values_", "eigenvalues_", "explained_variance_ratio_", "gap_",
        "priors_", "scalings_", "statistics_", "e_values_", "q_values_", "expected_false_",
        "selection_probabilities_", "error_bound_", "error_bounds_",
    ),
    "selections": ("support_", "ranking_", "ranks_", "units_", "support_vectors_rows_"),
    "settings": (
        "kernel_name_", "alpha_", "alphas_", "sparsity_", "sparsities_", "weighting_", "choices_",
        "n_paths_", "score_name_", "feature_groups_", "classes_", "converged_", "n_components_",
        "task_", "n_votes_", "threshold_", "n_units_", "covariance_estimated_",
    ),
}  # fmt: skip
PATH_ATTRIBUTES = {
    "weights": ("weights", "x_weights", "y_weights"),
    "objectives": ("objective", "loss"),
    "scores": ("correlations",),
    "selections": ("n_selected", "ranking", "x_ranking", "y_ranking"),
    "settings": ("sparsities", "ratio", "start", "task", "converged", "settled"),
}
METHODS = ("predict", "decision_function", "predict_proba", "transform")
RESPELLED = {"penalised": "penalized"}  # words that mean the same in two versions


# -- data ---------------------------------------------------------------------------------


@cache
def data() -> SimpleNamespace:
    """Return rows of eight columns with several targets; the last column nearly is the first."""
    rng = np.random.default_rng(20260101)
    n, p = 92, 8
    X = rng.normal(size=(n, p))
    X[:, 7] = X[:, 0] + 0.2 * X[:, 7]
    signal = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    y = signal + 0.2 * rng.normal(size=n)
    second = np.cos(2.0 * X[:, 4]) + X[:, 1] + 0.2 * rng.normal(size=n)
    train, new = slice(0, 80), slice(80, n)
    weights = rng.uniform(0.2, 2.0, size=80)
    weights[::9] = 0.0
    patients = rng.permutation(np.repeat(np.arange(16), 5))
    two = np.where(y > np.quantile(y, 0.4), "shell", "core")
    return SimpleNamespace(
        X=X[train],
        new=X[new],
        y=y[train],
        Y=np.column_stack([y, second])[train],
        two=two[train],
        rare=np.where(y > np.quantile(y, 0.8), "rare", "usual")[train],
        three=np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))][train],
        second=np.column_stack([second, X[:, 2] ** 2, rng.normal(size=(n, 2))])[train],
        new_second=np.column_stack([second, X[:, 2] ** 2, rng.normal(size=(n, 2))])[new],
        weights=weights,
        patients=patients,
        names=[f"column {j}" for j in range(p)],
        labels=[0, 0, 1, 1, 2, 3, 4, 0],
        costs=np.linspace(0.5, 2.0, p),
        clusters=np.where(np.arange(n) % 2, 1.5, -1.5)[train, None] * [1, 0, 1, 0, 1, 0, 0, 0],
    )


def frame(X: np.ndarray) -> pd.DataFrame:
    """Return rows as a data frame."""
    return pd.DataFrame(X, columns=data().names)


class Cauchy(kernels.Kernel):
    """A kernel of the user's own."""

    form = "distance"

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def profile(self, s):
        return 1.0 / (1.0 + self.gamma * s)

    def slope(self, s, k):
        return -self.gamma * k * k

    def curve(self, s, k):
        return 2.0 * self.gamma**2 * k**3


class LogCosh(losses.Loss):
    """A loss of the user's own."""

    task = "regression"

    def value(self, y, f):
        return np.logaddexp(f - y, y - f) - np.log(2.0)

    def gradient(self, y, f):
        return np.tanh(f - y)

    def curvature(self, y, f):
        return 1.0 - np.tanh(f - y) ** 2


# -- what is recorded ---------------------------------------------------------------------


def plain(value: Any) -> np.ndarray:
    """Return numbers, truth values or texts as an array that can be stored without pickling."""
    if isinstance(value, dict):
        numbers = all(np.ndim(one) == 0 and not isinstance(one, str) for one in value.values())
        value = [value[key] for key in sorted(value)] if numbers else json.dumps(value)
    array = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
    if array.dtype.kind in "biuf":
        return array
    words = [RESPELLED.get(str(word), str(word)) for word in array.ravel()]
    return np.array(words, dtype=str).reshape(array.shape)


def attributes(thing: Any, table: dict[str, tuple[str, ...]]) -> Facts:
    """Return the attributes that a thing has, and what weights select."""
    facts = {}
    for kind, names in table.items():
        for name in names:
            value = getattr(thing, name, None)
            if value is not None:
                facts[f"{kind} {name}"] = plain(value)
            if value is not None and kind == "weights":
                facts[f"selections of {name}"] = np.asarray(value) > 0
    return facts


def described(model: Any, new: Any, methods: tuple[str, ...] = METHODS) -> Facts:
    """Return what a fitted estimator has found, and what it says about new rows."""
    facts = attributes(model, ATTRIBUTES)
    if hasattr(model, "get_support"):
        facts["selections support"] = model.get_support()
        facts["selections names"] = plain(model.get_feature_names_out())
    if hasattr(model, "cv_results_"):
        for name, values in model.cv_results_.items():
            if not name.startswith("split"):
                kind = "scores" if "score" in name or "error" in name else "settings"
                facts[f"{kind} cv_results_ {name}"] = plain(values)
        facts["settings splits_"] = np.concatenate([test for _, test in model.splits_])
    for method in methods:
        if hasattr(model, method):
            facts[f"predictions {method}"] = plain(getattr(model, method)(new))
    return facts


def prefixed(prefix: str, facts: Facts) -> Facts:
    """Return facts with a word that says what they belong to."""
    return {f"{name}, {prefix}": value for name, value in facts.items()}


def fit(kind: str, options: dict, X: Any, y: Any = None, new: Any = None, **given: Any) -> Facts:
    """Fit an estimator and describe it."""
    model = getattr(kernelknife, kind)(**options).fit(X, y, **given)
    return described(model, data().new if new is None else new)


def follow(function: str, options: dict, *tables: Any, at: int | None = 2) -> Facts:
    """Follow a path and describe it, two of its models, and the one with some features."""
    path = getattr(kernelknife, function)(*tables, **options)
    facts = attributes(path, PATH_ATTRIBUTES)
    for i in (0, len(path) // 2):
        facts |= prefixed(f"point {i}", described(path.model(i), data().new))
    if at is not None:
        facts |= prefixed(f"{at} features", described(path.at(n_features=at), data().new))
    return facts


def substitutes_of(thing: Any, *arguments: Any, **options: Any) -> Facts:
    """Return what could take the place of selected columns, whatever that is called."""
    own = "substitutes" if hasattr(thing, "substitutes") else "stand_ins"
    found = getattr(thing, own)
    places = list(found(*arguments, **options) if callable(found) else found)
    facts = {
        "selections places": plain([place.name for place in places]),
        "selections needed": plain([place.needed for place in places]),
        "scores costs": plain([place.cost for place in places]),
    }
    for place in places:
        facts[f"selections partners of {place.name}"] = plain(list(place.partners))
        for word, ones in (("in", getattr(place, own)), ("tried in", place.tried)):
            names = plain([one.name for one in ones])
            numbers = [[one.correlation, one.cost, one.standard_error] for one in ones]
            facts[f"selections {word} place of {place.name}"] = names
            facts[f"scores {word} place of {place.name}"] = plain(numbers)
    return prefixed("substitutes", facts)


# -- single estimators --------------------------------------------------------------------


def singles(kind: str, target: str) -> Cases:
    """Yield every kernel with every loss, with the options that change the problem."""
    d = data()
    plans: dict[str, tuple[dict, dict]] = {
        "plain": ({}, {}),
        "weights": ({}, {"sample_weight": d.weights}),
        "groups": ({"feature_groups": d.labels}, {}),
        "centers": ({"n_centers": 40}, {}),
    }
    for kernel, loss, (plan, (options, given)) in product(KERNELS, LOSSES[kind], plans.items()):
        options = {"kernel": kernel, "loss": loss, "alpha": 0.3, "sparsity": 3.0} | options
        y = getattr(d, target)
        yield f"{kernel}, {loss}, {plan}", partial(fit, kind, options, d.X, y, **given)


def _options_of_all(d: SimpleNamespace) -> Iterator[tuple[str, dict]]:
    """Yield options that regression and classification share."""
    yield "costs", {"feature_costs": d.costs}
    yield "costs of groups", {"feature_costs": d.costs, "feature_groups": d.labels}
    yield "over the memory budget", {"memory_budget": 1e4}
    for centers, refresh in product(("kmeans++", "uniform", "leverage"), (False, True)):
        name = f"{centers}{', refreshed' if refresh else ''}"
        yield name, {"n_centers": 40, "centers": centers, "refresh_centers": refresh}
    yield "leverage, a seed", {"n_centers": 30, "centers": "leverage", "random_state": 3}
    yield "given centers", {"centers": d.X[::3]}
    yield "two features", {"n_features_to_select": 2}
    yield "two groups", {"n_features_to_select": 2, "feature_groups": d.labels}
    yield "three features on centers", {"n_features_to_select": 3, "n_centers": 40}
    yield "relaxed", {"relax": True}
    yield "relaxed on centers", {"relax": True, "n_centers": 40}
    yield "relaxed groups", {"relax": True, "feature_groups": d.labels}
    yield "two features, relaxed", {"relax": True, "n_features_to_select": 2}
    yield "equal weights", {"learn_weights": False}
    yield "given weights", {"learn_weights": False, "start": np.linspace(0.1, 0.8, 8)}
    yield "auto", {"sparsity": "auto"}
    yield "auto on centers", {"sparsity": "auto", "n_centers": 40}
    yield "alternate", {"solver": "alternate"}
    yield "alternate on centers", {"solver": "alternate", "n_centers": 40}
    yield "random starts", {"n_starts": 2, "random_state": 0}
    for start in ("scaled", "laplace", 0.3):
        yield f"start {start}", {"start": start}
    yield "given start", {"start": np.linspace(0.2, 0.9, 8)}
    yield "not standardized", {"standardize": False}
    yield "not standardized, on centers", {"standardize": False, "n_centers": 40}
    yield "no intercept", {"fit_intercept": False}
    yield "no intercept, on centers", {"fit_intercept": False, "n_centers": 40}
    yield "correlated groups", {"feature_groups": "correlated"}
    yield "few steps", {"max_iter": 3}
    yield "accurate", {"tol": 1e-7}
    yield "hardly a penalty", {"sparsity": 1e-6}
    yield "nothing left", {"sparsity": 1e4}
    yield "a job", {"n_jobs": 1, "n_starts": 1, "random_state": 1}


def _inputs(d: SimpleNamespace) -> Iterator[tuple[str, Any, Any]]:
    """Yield other kinds of tables in memory, with new rows of the same kind."""
    from scipy.sparse import csr_array

    yield "data frame", frame(d.X), frame(d.new)
    yield "single precision", d.X.astype(np.float32), d.new.astype(np.float32)
    yield "columns first", np.asfortranarray(d.X), d.new
    yield "sparse", csr_array(np.where(d.X > 0, d.X, 0.0)), csr_array(d.new)
    constant, copies = d.X.copy(), d.X.copy()
    constant[:, [1, 5]], copies[:, 5] = 3.0, copies[:, 0]
    yield "constant columns", constant, d.new
    yield "copies", copies, d.new
    yield "levels", np.round(d.X), np.round(d.new)
    yield "large units", d.X * 1e5 + 1e6, d.new * 1e5 + 1e6
    yield "wide", np.tile(d.X[:30], 5) + np.sin(np.arange(1200)).reshape(30, 40), None


def options(kind: str) -> Cases:
    """Yield the options of the single estimators with two kernels."""
    d = data()
    regression = kind == "KnifeRegressor"
    y, three = (d.y, d.Y) if regression else (d.two, d.three)
    more = "two outputs" if regression else "three classes"
    for kernel in TWO_KERNELS:
        base = {"kernel": kernel, "alpha": 0.3, "sparsity": 4.0 if kernel == "rbf" else 16.0}
        if not regression:
            base["sparsity"] *= 2.0
        for name, chosen in _options_of_all(d):
            yield f"{kernel}, {name}", partial(fit, kind, base | chosen, d.X, y)
        for name, X, new in _inputs(d):
            if new is None:
                new = np.tile(d.new, 5)
            yield f"{kernel}, {name}", partial(fit, kind, base, X, y[: X.shape[0]], new)
        by_name = {"first": d.names[:3], "second": d.names[3:5]}
        named = partial(fit, kind, base | {"feature_groups": by_name}, frame(d.X), y)
        yield f"{kernel}, groups by name", partial(named, frame(d.new))
        for name, chosen in {
            "plain": {},
            "centers": {"n_centers": 40},
            "groups": {"feature_groups": d.labels},
            "two features": {"n_features_to_select": 2},
            "relaxed": {"relax": True},
            "not standardized": {"standardize": False},
            "alternate": {"solver": "alternate"},
        }.items():
            yield f"{kernel}, {more}, {name}", partial(fit, kind, base | chosen, d.X, three)
        weighed = partial(fit, kind, sample_weight=d.weights)
        for name, chosen in {
            "centers": {"n_centers": 40},
            "leverage": {"n_centers": 40, "centers": "leverage"},
            "relaxed": {"relax": True},
            "groups": {"feature_groups": d.labels},
        }.items():
            yield f"{kernel}, weights, {name}", partial(weighed, base | chosen, d.X, y)
            yield f"{kernel}, weights, {more}, {name}", partial(weighed, base | chosen, d.X, three)
    yield from _own_options(kind, y)


def _own_options(kind: str, y: np.ndarray) -> Cases:
    """Yield what only one of the estimators has, and kernels and losses with parameters."""
    d = data()
    base = {"alpha": 0.3, "sparsity": 3.0}
    chosen = kernelknife.CorrelatedGroups(threshold=0.7, similarity="kernel")
    yield "groups by kernel", partial(fit, kind, base | {"feature_groups": chosen}, d.X, y)
    for kernel in (
        kernels.RBF(gamma=0.3),
        kernels.Joint(gamma=0.4),
        kernels.Laplace(gamma=0.5),
        kernels.Matern(nu=1.5),
        kernels.RationalQuadratic(shape=0.5, gamma=2.0),
        kernels.Polynomial(degree=3, coef0=0.5),
        kernels.Sigmoid(gamma=0.05, coef0=0.2),
        kernels.Additive(gamma=0.3, n_functions=3),
        kernels.Anova(order=3),
        Cauchy(0.5),
    ):
        for name, more in {"": {}, ", centers": {"n_centers": 40}}.items():
            yield f"{kernel}{name}", partial(fit, kind, base | {"kernel": kernel} | more, d.X, y)
    if kind == "KnifeRegressor":
        for loss, name in product((losses.HuberLoss(delta=0.5), LogCosh()), TWO_KERNELS):
            given = base | {"kernel": name, "loss": loss}
            yield f"{name}, {loss}", partial(fit, kind, given, d.X, y)
            yield f"{name}, {loss}, two outputs", partial(fit, kind, given, d.X, d.Y)
        return
    for loss, name in product((losses.HuberizedHinge(width=0.3), losses.Hinge(0.5)), TWO_KERNELS):
        given = base | {"kernel": name, "loss": loss}
        yield f"{name}, {loss}", partial(fit, kind, given, d.X, y)
    for name, loss, n_centers in product(TWO_KERNELS, LOSSES[kind], (None, 40)):
        given = base | {"kernel": name, "loss": loss, "n_centers": n_centers}
        case = f"{name}, {loss}, {n_centers} centers"
        balanced, words = {"class_weight": "balanced"}, {"class_weight": {"rare": 3.0, "usual": 1}}
        yield f"{case}, balanced", partial(fit, kind, given | balanced, d.X, d.rare)
        yield f"{case}, class weights", partial(fit, kind, given | words, d.X, d.rare)


# -- rows that are not in memory ----------------------------------------------------------


def fit_dask(kind: str, options: dict, y: np.ndarray, *, weigh: bool, names: bool) -> Facts:
    """Fit to a Dask array or data frame in four chunks, and predict one."""
    import dask
    import dask.array as array
    import dask.dataframe as dataframe

    d = data()
    model = getattr(kernelknife, kind)(**options)
    with dask.config.set(scheduler="synchronous"):
        X, new = (array.from_array(rows, chunks=(20, -1)) for rows in (d.X, d.new))
        if names:
            X, new = (dataframe.from_pandas(frame(rows), npartitions=4) for rows in (d.X, d.new))
        target = array.from_array(y, chunks=(20, *y.shape[1:]))
        model.fit(X, target, **({"sample_weight": d.weights} if weigh else {}))
        facts = described(model, new, METHODS[:3])
    return facts | prefixed("in memory", described(model, frame(d.new) if names else d.new))


def fit_parquet(kind: str, options: dict, y: np.ndarray, *, weigh: bool) -> Facts:
    """Fit to a folder of Parquet files, and predict it."""
    d = data()
    model = getattr(kernelknife, kind)(**options)
    table = frame(d.X).assign(y=y, s=d.weights)
    with tempfile.TemporaryDirectory() as folder:
        for i, rows in enumerate(np.array_split(np.arange(len(table)), 2)):
            part = table.iloc[rows] if weigh else table.iloc[rows].drop(columns="s")
            part.to_parquet(Path(folder) / f"part{i}.parquet", row_group_size=20)
        model.fit(Path(folder), "y", **({"sample_weight": "s"} if weigh else {}))
        facts = described(model, Path(folder), METHODS[:3])
    return facts | prefixed("in memory", described(model, frame(d.new)))


def lazy_rows() -> Cases:
    """Yield fits to Dask collections and Parquet folders."""
    d = data()
    targets = {"number": d.y, "two outputs": d.Y, "two": d.two, "three": d.three}
    for kernel, (name, y), weigh in product((*TWO_KERNELS, "linear"), targets.items(), (0, 1)):
        kind = "KnifeRegressor" if y.dtype.kind == "f" else "KnifeClassifier"
        plans = {"": {}, ", refreshed": {"refresh_centers": True}}
        if not weigh:
            plans |= {
                ", relaxed": {"relax": True},
                ", groups": {"feature_groups": d.labels},
                ", uniform": {"centers": "uniform"},
                ", leverage": {"centers": "leverage"},
                ", two features": {"n_features_to_select": 2},
            }
        for plan, more in plans.items():
            base = {"kernel": kernel, "alpha": 0.3, "sparsity": 4.0, "n_centers": 30} | more
            case = f"{kernel}, {name}{', weights' * weigh}{plan}"
            arguments: tuple = (kind, base, y)
            yield f"Dask, {case}", partial(fit_dask, *arguments, weigh=weigh, names=False)
            if y.ndim == 1:
                yield f"Parquet, {case}", partial(fit_parquet, *arguments, weigh=weigh)
        base = {"kernel": kernel, "alpha": 0.3, "sparsity": 4.0}
        yield (
            f"Dask frame, {kernel}, {name}{', weights' * weigh}",
            partial(fit_dask, kind, base, y, weigh=weigh, names=True),
        )


# -- cross-validation ---------------------------------------------------------------------


def median_error(model: Any, X: Any, y: Any) -> float:
    """Score a model by the median of its errors, as a user's own function would."""
    return -float(np.median(np.abs(model.predict(X) - y)))


def _searches_of_all(d: SimpleNamespace) -> Iterator[tuple[str, dict, dict]]:
    """Yield options of the search, and arguments of its fit."""
    from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit

    for relax, everything, rule in product(("auto", True, False), (True, False), ("min", "1se")):
        chosen = {"relax": relax, "include_all": everything, "rule": rule}
        yield f"relax {relax}, all {everything}, {rule}", chosen, {}
    groups = {"groups": d.patients}
    yield "groups", {}, groups
    yield "groups, five folds", {"cv": 5}, groups
    yield "groups, splitter", {"cv": GroupKFold(4)}, groups
    yield "weights", {}, {"sample_weight": d.weights}
    yield "weights, centers", {"n_centers": 30}, {"sample_weight": d.weights}
    yield "splitter", {"cv": KFold(4, shuffle=True, random_state=1)}, {}
    yield "repeated", {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)}, {}
    yield "overlapping", {"cv": ShuffleSplit(4, random_state=0)}, {}
    rows = np.arange(80)
    yield "listed folds", {"cv": [(rows[20:], rows[:20]), (rows[:60], rows[60:])]}, {}
    yield "usual folds", {"cv": None}, {}
    yield "some rows", {"search_rows": 50}, {}
    yield "some rows, a seed", {"search_rows": 50, "random_state": 4}, {}
    yield "some rows, weights", {"search_rows": 50}, {"sample_weight": d.weights}
    yield "all rows", {"search_rows": None}, {}
    yield "centers", {"n_centers": 30}, {}
    yield "leverage centers", {"n_centers": 30, "centers": "leverage"}, {}
    yield "exact", {"n_centers": None}, {}
    for count in (1, 2, 3):
        yield f"{count} features", {"n_features_to_select": count}, {}
    yield "two features, some rows", {"n_features_to_select": 2, "search_rows": 50}, {}
    yield "two features, centers", {"n_features_to_select": 2, "n_centers": 30}, {}
    yield "alphas of its own", {"alphas": None}, {}
    yield "three alphas", {"alphas": [0.1, 1.0, 10.0]}, {}
    yield "given penalties", {"sparsities": [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]}, {}
    yield "labels", {"feature_groups": d.labels}, {}
    yield "two of the labels", {"feature_groups": d.labels, "n_features_to_select": 2}, {}
    yield "correlated", {"feature_groups": "correlated"}, {}
    yield "costs", {"feature_costs": d.costs}, {}
    yield "not standardized", {"standardize": False}, {}
    yield "no intercept", {"fit_intercept": False}, {}
    yield "alternate", {"solver": "alternate", "sparsities": 4}, {}
    yield "random starts", {"n_starts": 1, "random_state": 2}, {}


def searches(kind: str) -> Cases:
    """Yield cross-validations: the kernels, the options, the scorings."""
    d = data()
    regression = kind == "KnifeRegressorCV"
    y, more = (d.y, d.Y) if regression else (d.two, d.three)
    base: dict[str, Any] = {"alphas": 0.3, "sparsities": 8, "cv": 3}
    for kernel in KERNELS:
        yield f"{kernel}", partial(fit, kind, base | {"kernel": kernel}, d.X, y)
        yield f"{kernel}, targets", partial(fit, kind, base | {"kernel": kernel}, d.X, more)
    for kernel, (name, chosen, given) in product(TWO_KERNELS, _searches_of_all(d)):
        given = partial(fit, kind, base | {"kernel": kernel} | chosen, d.X, y, **given)
        yield f"{kernel}, {name}", given
    losses = LOSSES["KnifeRegressor" if regression else "KnifeClassifier"]
    for kernel, loss in product(TWO_KERNELS, losses):
        given = base | {"kernel": kernel, "loss": loss}
        yield f"{kernel}, {loss}", partial(fit, kind, given, d.X, y)
        yield f"{kernel}, {loss}, centers", partial(fit, kind, given | {"n_centers": 30}, d.X, y)
        yield (
            f"{kernel}, {loss}, weights",
            partial(fit, kind, given, d.X, y, sample_weight=d.weights),
        )
    for kernel, scoring in product(
        TWO_KERNELS,
        ("neg_median_absolute_error", "r2", median_error)
        if regression
        else ("balanced_accuracy", "roc_auc", "f1_macro"),
    ):
        given = base | {"kernel": kernel, "scoring": scoring}
        target = y if regression else (y == "shell").astype(int)
        word = getattr(scoring, "__name__", scoring)
        yield f"{kernel}, {word}", partial(fit, kind, given, d.X, target)
    yield "default", partial(fit, kind, {}, d.X, y)
    yield "default, targets", partial(fit, kind, {}, d.X, more)
    yield "default, data frame", partial(fit, kind, {"cv": 3}, frame(d.X), y, frame(d.new))
    yield "default, weights", partial(fit, kind, {"cv": 3}, d.X, y, sample_weight=d.weights)
    yield "default, 1se", partial(fit, kind, {"cv": 3, "rule": "1se"}, d.X, y)
    pair = {"kernel": ["linear", kernels.RBF(gamma=0.5)], "cv": 3}
    yield "a list with an object", partial(fit, kind, pair, d.X, y)
    for kernel in ("linear", "rbf"):
        long = base | {"kernel": kernel, "sparsities": 5, "cv": 2}
        yield f"{kernel}, long", partial(fit_long, kind, long)
        yield f"{kernel}, long, some rows", partial(fit_long, kind, long | {"search_rows": 300})
    if not regression:
        for kernel, loss in product(TWO_KERNELS, ("squared_hinge", "logistic")):
            given = base | {"kernel": kernel, "loss": loss, "class_weight": "balanced"}
            given["scoring"] = "balanced_accuracy"
            yield f"{kernel}, {loss}, balanced", partial(fit, kind, given, d.X, d.rare)


def fit_long(kind: str, options: dict) -> Facts:
    """Search on more rows than the exact method is used for."""
    X, y = datasets.make_sinusoidal(1100, 2, random_state=0)
    y = y if kind == "KnifeRegressorCV" else np.where(y > 0, "up", "down")
    return fit(kind, options, X, y, X[:20])


# -- paths --------------------------------------------------------------------------------


def paths() -> Cases:
    """Yield the path of one target, for every kernel and loss."""
    d = data()
    function = "knife_path"
    for kind, target in product(LOSSES, ("y", "two", "three")):
        if (kind == "KnifeRegressor") != (target == "y"):
            continue
        for kernel, loss in product(KERNELS, LOSSES[kind]):
            chosen = {"kernel": kernel, "loss": loss, "alpha": 0.3, "sparsities": 12}
            run = partial(follow, function, chosen, d.X, getattr(d, target))
            yield f"{kernel}, {loss}, {target}", run
    for kernel, (target, y) in product(TWO_KERNELS, {"number": d.y, "classes": d.two}.items()):
        base = {"kernel": kernel, "alpha": 0.3, "sparsities": 12}
        for name, chosen in {
            "default": {"sparsities": 50, "alpha": 1.0},
            "given penalties": {"sparsities": [0.0, 1.0, 3.0, 10.0, 30.0]},
            "one update": {"updates_per_point": 1},
            "centers": {"n_centers": 40},
            "uniform centers": {"n_centers": 40, "centers": "uniform"},
            "groups": {"feature_groups": d.labels},
            "correlated": {"feature_groups": "correlated"},
            "costs": {"feature_costs": d.costs},
            "weights": {"sample_weight": d.weights},
            "weights, centers": {"sample_weight": d.weights, "n_centers": 40},
            "not standardized": {"standardize": False},
            "no intercept": {"fit_intercept": False},
            "alternate": {"solver": "alternate", "sparsities": 5},
            "random starts": {"n_starts": 2, "random_state": 0},
            "a start": {"start": "scaled"},
        }.items():
            run = partial(follow, function, base | chosen, d.X, y)
            yield f"{kernel}, {target}, {name}", run
        yield f"{kernel}, {target}, relevance", partial(relevance, base, y)
    several = {"alpha": 0.3, "sparsities": 12, "task": "regression"}
    yield "two outputs", partial(follow, function, several, d.X, d.Y)


def relevance(options: dict, y: np.ndarray) -> Facts:
    """Return the second ranking of a path, and substitutes at one of its points."""
    d = data()
    path = kernelknife.knife_path(d.X, y, **options)
    facts = {"selections relevance": path.relevance}
    facts |= prefixed("point", substitutes_of(path, len(path) // 2))
    return facts | prefixed("model", substitutes_of(path, path.at(n_features=3)))


# -- no target, classes, two tables -------------------------------------------------------


def components() -> Cases:
    """Yield principal components and their paths."""
    d = data()
    X, kind = d.X + d.clusters, "KnifePCA"
    for kernel, (name, chosen) in product(
        KERNELS,
        {
            "auto": {},
            "penalty": {"sparsity": 2.0},
            "two features": {"n_features_to_select": 2},
            "centers": {"sparsity": 2.0, "n_centers": 40},
            "weights": {"weights": 1.0},
        }.items(),
    ):
        yield f"{kernel}, {name}", partial(fit, kind, {"kernel": kernel} | chosen, X)
    for kernel, (name, chosen) in product(
        TWO_KERNELS,
        {
            "one component": {"n_components": 1},
            "scaled": {"start": "scaled"},
            "groups": {"feature_groups": d.labels},
            "costs": {"feature_costs": d.costs},
            "given weights": {"weights": np.linspace(0.0, 1.0, 8)},
            "not standardized": {"standardize": False, "sparsity": 1.0},
            "alternate": {"solver": "alternate", "sparsity": 2.0},
            "a seed": {"random_state": 5},
            "leverage": {"n_centers": 40, "centers": "leverage"},
            "correlated": {"feature_groups": "correlated", "sparsity": 1.0},
        }.items(),
    ):
        yield f"{kernel}, {name}", partial(fit, kind, {"kernel": kernel} | chosen, X)
    yield "data frame", partial(fit, kind, {}, frame(X), None, frame(d.new))
    for kernel in KERNELS:
        chosen = {"kernel": kernel, "sparsities": 12}
        yield f"path, {kernel}", partial(follow, "knife_pca_path", chosen, X)
    for name, chosen in {
        "centers": {"n_centers": 40},
        "groups": {"feature_groups": d.labels},
        "penalties": {"sparsities": [0.0, 1.0, 2.0]},
    }.items():
        yield f"path, {name}", partial(follow, "knife_pca_path", {"sparsities": 12} | chosen, X)


def discriminants() -> Cases:
    """Yield discriminants of two and three classes and their paths."""
    d = data()
    kind = "KnifeDiscriminant"
    for kernel, target, (name, chosen) in product(
        KERNELS,
        ("two", "three"),
        {
            "penalty": {"sparsity": 3.0},
            "two features": {"n_features_to_select": 2},
            "centers": {"sparsity": 3.0, "n_centers": 40},
            "weights": {"weights": 0.5},
        }.items(),
    ):
        run = partial(fit, kind, {"kernel": kernel, "alpha": 0.3} | chosen, d.X, getattr(d, target))
        yield f"{kernel}, {target}, {name}", run
    for kernel, (name, chosen) in product(
        TWO_KERNELS,
        {
            "auto": {"sparsity": "auto"},
            "auto, both": {"sparsity": "auto", "alpha": "auto"},
            "one component": {"n_components": 1},
            "groups": {"feature_groups": d.labels},
            "costs": {"feature_costs": d.costs},
            "not standardized": {"standardize": False},
            "alternate": {"solver": "alternate"},
            "a start": {"start": "scaled"},
            "uniform": {"n_centers": 40, "centers": "uniform", "random_state": 1},
        }.items(),
    ):
        run = partial(fit, kind, {"kernel": kernel, "alpha": 0.3} | chosen, d.X, d.three)
        yield f"{kernel}, {name}", run
        yield f"{kernel}, {name}, sample weights", partial(run, sample_weight=d.weights)
    yield "data frame", partial(fit, kind, {}, frame(d.X), d.three, frame(d.new))
    for kernel, target in product(KERNELS, ("two", "three")):
        chosen = {"kernel": kernel, "alpha": 0.3, "sparsities": 12}
        run = partial(follow, "knife_discriminant_path", chosen, d.X, getattr(d, target))
        yield f"path, {kernel}, {target}", run
    for name, chosen in {
        "centers": {"n_centers": 40},
        "groups": {"feature_groups": d.labels},
        "weights": {"sample_weight": d.weights},
        "penalties": {"sparsities": [0.0, 1.0, 2.0]},
    }.items():
        run = partial(follow, "knife_discriminant_path", {"sparsities": 12} | chosen)
        yield f"path, {name}", partial(run, d.X, d.three)


def fit_pairs(options: dict, X: Any, Y: Any, new: Any = None, new_second: Any = None) -> Facts:
    """Fit canonical pairs and describe them."""
    d = data()
    model = kernelknife.KnifeCCA(**options).fit(X, Y)
    new = d.new if new is None else new
    new_second = d.new_second if new_second is None else new_second
    facts = described(model, new)
    facts["selections second table"] = model.get_support(table="y")
    facts["predictions second table"] = model.transform(new, new_second)[1]
    return facts | {"scores of new rows": plain(model.score(new, new_second))}


def follow_pairs(options: dict, X: Any, Y: Any) -> Facts:
    """Follow the path of a canonical pair and describe it and one of its models."""
    path = kernelknife.knife_cca_path(X, Y, **options)
    facts = attributes(path, PATH_ATTRIBUTES)
    return facts | prefixed("model", described(path.at(sparsity=2.0), data().new))


def pairs() -> Cases:
    """Yield canonical pairs and their paths."""
    d = data()
    plans: dict[str, dict] = {
        "auto": {},
        "penalty": {"sparsity": 1.0},
        "centers": {"sparsity": 1.0, "n_centers": 40},
        "weights": {"weights": (1.0, 0.5)},
    }
    for kernel, (name, chosen) in product(KERNELS, plans.items()):
        chosen = {"kernel": kernel, "n_permutations": 49} | chosen
        yield f"{kernel}, {name}", partial(fit_pairs, chosen, d.X, d.second)
    for name, chosen in {
        "two components": {"n_components": 2},
        "two kernels": {"kernel": ("rbf", "linear"), "alpha": (0.3, 1.0)},
        "two penalties": {"sparsity": (1.0, 3.0)},
        "no rows held out": {"hold_out": 0.0},
        "a third held out": {"hold_out": 0.33, "random_state": 3},
        "groups": {"feature_groups": (d.labels, None)},
        "costs": {"feature_costs": (d.costs, np.ones(4))},
        "not standardized": {"standardize": False, "sparsity": 0.5},
        "alternate": {"solver": "alternate"},
        "uniform centers": {"n_centers": 40, "centers": "uniform"},
        "two components with given weights": {"n_components": 2, "weights": (0.5, 0.5)},
    }.items():
        yield name, partial(fit_pairs, {"n_permutations": 49} | chosen, d.X, d.second)
    second = pd.DataFrame(d.second, columns=list("abcd"))
    new_second = pd.DataFrame(d.new_second, columns=list("abcd"))
    run = partial(fit_pairs, {}, frame(d.X), second, frame(d.new), new_second)
    yield "data frames", run
    for kernel in KERNELS:
        chosen = {"kernel": kernel, "sparsities": 8}
        yield f"path, {kernel}", partial(follow_pairs, chosen, d.X, d.second)
    for name, chosen in {
        "default": {"sparsities": 30},
        "ratio": {"ratio": (1.0, 2.0)},
        "penalties": {"sparsities": [0.5, 1.0, 2.0]},
        "centers": {"n_centers": 40},
        "groups": {"feature_groups": (d.labels, None)},
    }.items():
        yield f"path, {name}", partial(follow_pairs, {"sparsities": 8} | chosen, d.X, d.second)


# -- bounded errors -----------------------------------------------------------------------


def rates() -> Cases:
    """Yield stability selection and knockoffs."""
    d = data()
    base: dict[str, Any] = {"n_pairs": 8, "max_false": 3.0}
    targets = {"number": d.y, "two": d.two, "three": d.three}
    for target, (name, chosen) in product(
        targets,
        {
            "plain": {},
            "no assumption": {"assumption": "none"},
            "r-concave": {"assumption": "r-concave"},
            "clusters": {"cluster_correlation": 0.8},
            "votes": {"n_votes": 2},
            "threshold": {"threshold": 0.8},
            "a seed": {"random_state": 7},
        }.items(),
    ):
        run = partial(fit, "KnifeStability", base | chosen, d.X, targets[target])
        yield f"stability, {target}, {name}", run
    for kernel, name in product(KERNELS, ("KnifeRegressor", "KnifeClassifier")):
        y = d.y if name == "KnifeRegressor" else d.two
        yield (
            f"stability, {name}, {kernel}",
            partial(fit_around, "KnifeStability", base, name, {"kernel": kernel, "alpha": 0.3}, y),
        )
        yield (
            f"knockoffs, {name}, {kernel}",
            partial(
                fit_around,
                "KnifeKnockoffs",
                {"n_draws": 2, "fdr": 0.5},
                name,
                {"kernel": kernel},
                y,
            ),
        )
    run = partial(fit, "KnifeStability", base, d.X, d.y, groups=d.patients)
    yield "stability, patients", run
    yield "stability, data frame", partial(fit, "KnifeStability", base, frame(d.X), d.two)
    grouped = ("KnifeRegressor", {"feature_groups": d.labels}, d.y)
    yield "stability, groups", partial(fit_around, "KnifeStability", base, *grouped)
    covariance = np.eye(8)
    covariance[0, 7] = covariance[7, 0] = covariance[7, 7] = 1.0
    covariance[7, 7] += 0.04
    for target, (name, chosen) in product(
        targets,
        {
            "plain": {},
            "equicorrelated": {"method": "equicorrelated"},
            "gaussian": {"marginals": "gaussian"},
            "covariance": {"covariance": covariance},
            "no products": {"products": False},
            "a seed": {"random_state": 7},
        }.items(),
    ):
        chosen = {"n_draws": 3, "fdr": 0.5} | chosen
        run = partial(fit, "KnifeKnockoffs", chosen, d.X, targets[target])
        yield f"knockoffs, {target}, {name}", run
    chosen = {"n_draws": 3, "fdr": 0.5}
    yield "knockoffs, few rows", partial(fit, "KnifeKnockoffs", chosen, d.X[:14], d.y[:14])
    levels = np.round(d.X + 0.1 * np.arange(80)[:, None])
    yield "knockoffs, levels", partial(fit, "KnifeKnockoffs", chosen, levels, d.y)
    costly = ("KnifeRegressor", {"feature_costs": d.costs, "kernel": "linear"}, d.y)
    yield "knockoffs, costs", partial(fit_around, "KnifeKnockoffs", chosen, *costly)


def fit_around(kind: str, options: dict, name: str, inner: dict, y: np.ndarray) -> Facts:
    """Fit a selector that follows the paths of an estimator."""
    return fit(kind, {"estimator": getattr(kernelknife, name)(**inner)} | options, data().X, y)


# -- effects, substitutes -----------------------------------------------------------------


def explain(kind: str, options: dict, y: np.ndarray) -> Facts:
    """Return the effects of a model, each on a grid and at new rows."""
    d = data()
    model = getattr(kernelknife, kind)(**options).fit(d.X, y)
    table = list(model.effects())
    facts = {
        "selections effects": plain([" x ".join(one.names) for one in table]),
        "scores shares": plain([one.share for one in table]),
    }
    for one in table[:4]:
        effect = model.effect(*one.names)
        facts[f"predictions effect of {' x '.join(one.names)}"] = plain(vars(effect)["values"])
        facts[f"settings grid of {' x '.join(one.names)}"] = np.concatenate(effect.grids)
    constant, values = model.effect_values(d.new)
    facts["predictions constant"] = plain(constant)
    for names in sorted(values):
        facts[f"predictions values of {' x '.join(names)}"] = plain(values[names])
    return facts


def compare_matrices(kind: str, options: dict, y: np.ndarray) -> Facts:
    """Return a model's kernel matrices and substitutes."""
    d = data()
    model = getattr(kernelknife, kind)(**options).fit(d.X, y)
    before, after = model.kernel_matrices(d.X[:20])
    facts = {"predictions kernel before": before, "predictions kernel after": after}
    facts |= substitutes_of(model, d.X, y)
    given = substitutes_of(model, d.X, y, folds=np.arange(80) % 3, n_candidates=2)
    return facts | prefixed("own folds", given)


def replace_chosen(kind: str, options: dict, y: np.ndarray) -> Facts:
    """Return substitutes on the folds of a search."""
    return substitutes_of(getattr(kernelknife, kind)(**options).fit(data().X, y))


def explanations() -> Cases:
    """Yield effects, kernel matrices and substitutes."""
    d = data()
    plans = {
        "number": ("KnifeRegressor", d.y),
        "two outputs": ("KnifeRegressor", d.Y),
        "two classes": ("KnifeClassifier", d.two),
        "three classes": ("KnifeClassifier", d.three),
    }
    for target, (kind, y) in plans.items():
        for kernel in ("additive", "anova", kernels.Anova(order=3)):
            chosen = {"kernel": kernel, "alpha": 0.3, "sparsity": 6.0}
            yield f"effects, {kernel}, {target}", partial(explain, kind, chosen, y)
        for kernel in KERNELS:
            chosen = {"kernel": kernel, "alpha": 0.3, "sparsity": 4.0}
            yield f"substitutes, {kernel}, {target}", partial(compare_matrices, kind, chosen, y)
        chosen = {"n_centers": 40, "alpha": 0.3, "sparsity": 4.0}
        yield f"substitutes, centers, {target}", partial(compare_matrices, kind, chosen, y)
        for kernel in TWO_KERNELS:
            search = {"kernel": kernel, "alphas": 0.3, "sparsities": 8, "cv": 3}
            yield (
                f"substitutes, folds, {kernel}, {target}",
                partial(replace_chosen, f"{kind}CV", search, y),
            )


# -- tables -------------------------------------------------------------------------------


def find_select_features() -> Callable[..., Any]:
    """Return the function for data frames, wherever this version has it."""
    for home in ("kernelknife", "kernelknife.selection", "kernelknife.app.selection"):
        try:
            return importlib.import_module(home).select_features
        except (ImportError, AttributeError):
            continue
    raise ImportError("select_features")


@cache
def sheet() -> pd.DataFrame:
    """Return a table with numbers, texts, dates and gaps."""
    rng = np.random.default_rng(4)
    n = 90
    table = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    table["color"] = rng.choice(["red", "green", "blue"], size=n)
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    table["patient"] = [f"p{i // 3}" for i in range(n)]
    late = (table["day"] - table["day"].min()).dt.days / 700
    signal = np.sin(2 * table["a"]) + (table["color"] == "red") + late + 0.5 * table["b"]
    table["height"] = signal + 0.2 * rng.normal(size=n)
    table["kind"] = np.where(table["height"] > 0.8, "tall", "small")
    table.loc[::11, "c"] = np.nan
    table.loc[5::17, "color"] = None
    return table


def select(target: str, options: dict) -> Facts:
    """Select columns of the table for one of them."""
    table = sheet().drop(columns={"height": "kind", "kind": "height"}[target])
    if "group" not in options:
        table = table.drop(columns="patient")
    if "fdr" in options:
        table = table[["a", "b", "d", target]]
    else:
        options = {"impute": "median", "dates": ("days", "month")} | options
    complete = table.dropna() if options.get("drop_missing") else table
    found = find_select_features()(table, target, **options)
    # The code before issue 34 calls the baseline a constant.
    baseline = "baseline_error" if hasattr(found, "baseline_error") else "constant_error"
    errors = ("error", baseline, "full_error", "advantage")
    facts = {
        "selections selected": plain(found.selected),
        "selections names": plain([feature.name for feature in found.features]),
        "selections ranks": plain([feature.rank for feature in found.features]),
        "weights of features": plain([feature.weight for feature in found.features]),
        "scores frequencies": plain([feature.frequency for feature in found.features]),
        "scores errors": plain([getattr(found, name).mean for name in errors]),
        "scores spreads": plain([getattr(found, name).spread for name in errors]),
        "settings better": plain(found.better),
        "predictions predict": plain(found.predict(complete)),
    }
    facts |= prefixed("model", attributes(found.model, ATTRIBUTES))
    facts |= prefixed("search", attributes(found.search, ATTRIBUTES))
    if found.held_out is not None:
        held = found.held_out
        facts["scores held out"] = plain([held.error, list(vars(held).values())[1], held.rows])
    if found.quality is not None:
        quality = found.quality
        facts["settings confusion"] = plain(quality.confusion)
        facts["scores by class"] = plain([*quality.class_errors, quality.area])
        facts["selections wrong rows"] = plain([row.name for row in quality.wrong_rows])
    for effect in found.effects:
        for output, curve in effect.curves.items():
            facts[f"predictions effect of {effect.name} on {output}"] = plain(curve)
    for one in found.interactions:
        facts[f"scores share of {' x '.join(one.names)}"] = plain(one.share)
    if found.rates is not None:
        columns = found.rates.columns
        facts["settings bound"] = plain(found.rates.bound)
        facts["selections by rate"] = plain([one.selected for one in columns.values()])
        facts["scores shares"] = plain([one.share for one in columns.values()])
    return facts | substitutes_of(found)


def tables() -> Cases:
    """Yield selections of columns of a data frame."""
    for target, (name, chosen) in product(
        ("height", "kind"),
        {
            "quick": {"quick": True},
            "two kernels": {"kernel": ["linear", "rbf"], "alpha": 0.3, "folds": 3},
            "anova": {"kernel": "anova", "alpha": 0.3, "folds": 3},
            "two columns": {"kernel": "rbf", "alpha": 0.3, "folds": 3, "n_features": 2},
            "penalty": {"kernel": "rbf", "alpha": 0.3, "folds": 3, "sparsity": 2.0},
            "patients": {"quick": True, "group": "patient"},
            "held out": {"quick": True, "hold_out": 0.25},
            "complete rows": {"quick": True, "impute": None, "drop_missing": True},
            "1se": {"quick": True, "rule": "1se"},
            "stability": {"quick": True, "stability": True, "max_false": 2.0},
            "knockoffs": {"quick": True, "fdr": 0.5},
        }.items(),
    ):
        yield f"{target}, {name}", partial(select, target, chosen)
    balanced = {"quick": True, "class_weight": "balanced"}
    yield "kind, balanced", partial(select, "kind", balanced)
    yield "height, default", partial(select, "height", {})


# -- simulated data, refusals -------------------------------------------------------------


def simulated() -> Cases:
    """Yield the data that the package makes, and the default estimators on them."""
    makers: dict[str, tuple[str, dict]] = {
        "make_linear": ("KnifeRegressor", {"n_samples": 60, "n_noise": 3}),
        "make_sinusoidal": ("KnifeRegressor", {"n_samples": 60, "n_noise": 3}),
        "make_skin_of_orange": ("KnifeClassifier", {"n_samples": 60, "n_noise": 3}),
        "make_separate_effects": ("KnifeClassifier", {"n_samples": 80, "n_noise": 4}),
        "make_genes": ("KnifeClassifier", {"n_patients": 20, "n_genes": 40}),
    }
    for (name, (kind, sizes)), seed in product(makers.items(), (0, 1)):
        yield f"{name}, seed {seed}", partial(fit_simulated, name, kind, sizes, seed)


def fit_simulated(name: str, kind: str, sizes: dict, seed: int) -> Facts:
    """Make data, and fit the default estimator to them."""
    made = getattr(datasets, name)(**sizes, random_state=seed)
    X, y = made if isinstance(made, tuple) else (made.data, made.target)
    return {"predictions X": plain(X), "predictions y": plain(y)} | fit(kind, {}, X, y, X)


def refusals() -> Cases:
    """Yield what is refused, or used to be."""
    d = data()
    gaps, infinite = d.X.copy(), d.y.copy()
    gaps[3, 2], infinite[4] = np.nan, np.inf
    for kind, y in (("KnifeRegressor", d.y), ("KnifeClassifier", d.two)):
        for name, chosen in {
            "kernel": {"kernel": "gaussian"},
            "loss": {"loss": "logistic" if kind == "KnifeRegressor" else "huber"},
            "alpha": {"alpha": 0.0},
            "sparsity": {"sparsity": -1.0},
            "solver": {"solver": "newton"},
            "start": {"start": "zero"},
            "start of zeros": {"start": np.zeros(8)},
            "centers": {"n_centers": 30, "centers": "random"},
            "shape of centers": {"centers": np.ones((3, 2))},
            "number of centers": {"n_centers": 0},
            "groups": {"feature_groups": [0, 1]},
            "groups by name": {"feature_groups": {"a": ["x77"]}},
            "costs": {"feature_costs": -d.costs},
            "features": {"n_features_to_select": 20},
            "tol": {"tol": 0.0},
            "max_iter": {"max_iter": 0},
            "class weights": {"class_weight": "heavy"},
        }.items():
            yield f"{kind}, {name}", partial(fit, kind, chosen, d.X, y)
        refused = partial(fit, kind, {})
        yield f"{kind}, gaps", partial(refused, gaps, y)
        yield f"{kind}, texts", partial(refused, np.array(d.X, dtype=str), y)
        yield f"{kind}, lengths", partial(refused, d.X, y[:-1])
        yield f"{kind}, one row", partial(refused, d.X[:1], y[:1])
        yield f"{kind}, constant", partial(refused, np.ones((80, 3)), y)
        yield f"{kind}, one value", partial(refused, d.X, np.repeat(y[:1], 80))
        yield f"{kind}, negative weights", partial(refused, d.X, y, sample_weight=-d.weights)
        yield f"{kind}, no weights", partial(refused, d.X, y, sample_weight=np.zeros(80))
        yield f"{kind}, columns of new rows", partial(refused, d.X, y, d.new[:, :3])
        yield f"{kind}, folder", partial(refused, Path("nowhere"), "y")
        yield f"{kind}, not fitted", partial(_predict_unfitted, kind)
        search = f"{kind}CV"
        for name, chosen in {
            "kernel": {"kernel": ["rbf", "gaussian"]},
            "folds": {"cv": 1},
            "many folds": {"cv": 100},
            "scoring": {"scoring": "beauty"},
            "rule": {"rule": "max"},
            "relax": {"relax": "perhaps"},
            "penalties": {"sparsities": [2.0, 1.0]},
            "alphas": {"alphas": [-1.0]},
            "features": {"n_features_to_select": 20},
            "few rows": {"search_rows": 1},
        }.items():
            yield f"{search}, {name}", partial(fit, search, chosen, d.X, y)
        yield f"{search}, folder", partial(fit, search, {}, Path("nowhere"), "y")
        yield f"{search}, one group", partial(fit, search, {}, d.X, y, groups=np.zeros(80))
    yield "regressor, infinite", partial(fit, "KnifeRegressor", {}, d.X, infinite)
    yield "classifier, numbers", partial(fit, "KnifeClassifier", {}, d.X, d.y)
    yield "components, too many", partial(fit, "KnifePCA", {"n_components": 500}, d.X)
    yield "components, penalty", partial(fit, "KnifePCA", {"sparsity": 1e5}, d.X)
    yield "components, start", partial(fit, "KnifePCA", {"start": "laplace"}, d.X)
    yield "discriminant, alpha", partial(fit, "KnifeDiscriminant", {"alpha": "auto"}, d.X, d.two)
    many = {"n_components": 2}
    yield "discriminant, components", partial(fit, "KnifeDiscriminant", many, d.X, d.two)
    yield "pairs, lengths", partial(fit_pairs, {}, d.X, d.second[:-1])
    yield "pairs, groups", partial(fit_pairs, {"feature_groups": d.labels}, d.X, d.second)
    yield "pairs, hold_out", partial(fit_pairs, {"hold_out": 1.0}, d.X, d.second)
    few = {"threshold": 0.4}
    yield "stability, threshold", partial(fit, "KnifeStability", few, d.X, d.y)
    yield "stability, promise", partial(fit, "KnifeStability", {"max_false": 1e-9}, d.X, d.y)
    copies = np.hstack([d.X, d.X[:, :1]])
    yield "knockoffs, copies", partial(fit, "KnifeKnockoffs", {}, copies, d.y)
    yield "knockoffs, fdr", partial(fit, "KnifeKnockoffs", {"fdr": 1.0}, d.X, d.y)
    yield "path, sparsity", partial(follow, "knife_path", {"sparsity": 1.0}, d.X, d.y)
    yield "path, penalties", partial(follow, "knife_path", {"sparsities": [-1.0]}, d.X, d.y)
    yield "path, features", partial(follow, "knife_path", {"sparsities": 5}, d.X, d.y, at=20)
    yield "path, task", partial(follow, "knife_path", {"task": "ranking"}, d.X, d.y)
    yield "table, impute", partial(select, "height", {"impute": None})
    yield "table, dates", partial(select, "height", {"dates": ()})
    yield "table, both", partial(select, "height", {"sparsity": 1.0, "n_features": 2})
    yield "table, groups and knockoffs", partial(select, "height", {"group": "patient", "fdr": 0.5})


def _predict_unfitted(kind: str) -> Facts:
    return described(getattr(kernelknife, kind)(), data().new)


# -- recording ----------------------------------------------------------------------------

GROUPS: dict[str, Callable[[], Cases]] = {
    "regressor": partial(singles, "KnifeRegressor", "y"),
    "two classes": partial(singles, "KnifeClassifier", "two"),
    "three classes": partial(singles, "KnifeClassifier", "three"),
    "options of the regressor": partial(options, "KnifeRegressor"),
    "options of the classifier": partial(options, "KnifeClassifier"),
    "lazy rows": lazy_rows,
    "search for numbers": partial(searches, "KnifeRegressorCV"),
    "search for classes": partial(searches, "KnifeClassifierCV"),
    "paths": paths,
    "components": components,
    "discriminants": discriminants,
    "pairs": pairs,
    "error rates": rates,
    "explanations": explanations,
    "tables": tables,
    "simulated data": simulated,
    "refusals": refusals,
}
SEPARATOR = " | "  # between the name of a case and that of a fact
RAISED = "settings exception"
MOST_NAMED = 3  # facts that the line of a failing case names


def record(file: Path, pattern: str) -> None:
    """Run the cases whose name matches and store their facts."""
    warnings.simplefilter("ignore")
    wanted = re.compile(pattern)
    stored: Facts = {"pattern": np.array(pattern), "package": np.array(kernelknife.__file__)}
    begin = time.perf_counter()
    for group, cases in GROUPS.items():
        start, count = time.perf_counter(), 0
        raised: Counter[str] = Counter()
        for name, run in cases():
            case = f"{group}: {name}"
            if not wanted.search(case):
                continue
            try:
                facts = run()
            except Exception as error:
                facts = {RAISED: np.array(type(error).__name__)}
                raised[f"{type(error).__name__}: {error}"[:90]] += 1
            keys = {f"{case}{SEPARATOR}{fact}": value for fact, value in facts.items()}
            if stored.keys() & keys.keys():
                raise ValueError(f"There are two cases of the name {case!r}.")
            stored |= keys
            count += 1
        if count:
            seconds = time.perf_counter() - start
            print(f"{group:<26} {count:>5} cases {seconds:7.1f} s", file=sys.stderr)
        if group != "refusals":  # whose cases should raise
            for line, times in raised.items():
                print(f"    raised in {times}: {line}", file=sys.stderr)
    np.savez_compressed(file, **stored)
    seconds = time.perf_counter() - begin
    print(f"wrote {file}, {seconds:.0f} s, of {kernelknife.__file__}", file=sys.stderr)


# -- comparing ----------------------------------------------------------------------------


def read(file: Path) -> tuple[dict[str, Facts], str]:
    """Return the facts of every case, and the pattern that it was recorded with."""
    cases: dict[str, Facts] = {}
    with np.load(file) as stored:
        pattern = str(stored["pattern"])
        for key in stored.files:
            if SEPARATOR in key:
                case, fact = key.split(SEPARATOR, 1)
                cases.setdefault(case, {})[fact] = stored[key]
    return cases, pattern


def difference(kind: str, before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest difference, relative to the size; infinity where there is no size."""
    if before.shape != after.shape or not before.size:
        return 0.0 if before.shape == after.shape else np.inf
    if "f" not in (before.dtype.kind, after.dtype.kind) or "U" in (
        before.dtype.kind,
        after.dtype.kind,
    ):
        return 0.0 if np.array_equal(before, after) else np.inf
    before, after = before.astype(float), after.astype(float)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    if same.all():
        return 0.0
    before, after = before[~same], after[~same]
    scale = np.abs(before) if kind in EXACT else np.maximum(1.0, np.abs(before))
    with np.errstate(all="ignore"):
        gap = np.abs(after - before) / scale
    return float(np.where(np.isfinite(gap), gap, np.inf).max())


def differences(before: Facts, after: Facts) -> dict[str, float]:
    """Return the difference of every fact; infinity for one that only one version has."""
    found = dict.fromkeys(before.keys() ^ after.keys(), np.inf)
    for fact in before.keys() & after.keys():
        found[fact] = difference(fact.split()[0], before[fact], after[fact])
    return found


def compare(first: Path, second: Path) -> int:
    """Print the table of groups and the failing cases; return the exit status."""
    (before, of_before), (after, of_after) = read(first), read(second)
    names = [name for name in before if re.search(of_after, name)]
    names += [name for name in after if name not in before and re.search(of_before, name)]
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.split(": ")[0], []).append(name)
    failing: dict[str, dict[str, float]] = {}
    heads = " ".join(f"{kind:>11}" for kind in KINDS)
    print(f"{'group':<26} {'cases':>6} {'raise':>6} {'fail':>6} {heads}")
    for group, members in groups.items():
        worst = dict.fromkeys(KINDS, 0.0)
        raised = failed = 0
        for name in members:
            ours = before.get(name, {})
            raised += RAISED in ours
            found = differences(ours, after.get(name, {}))
            for fact, size in found.items():
                kind = fact.split()[0]
                worst[kind] = max(worst[kind], size)
            wrong = {fact: size for fact, size in found.items() if size > TOL}
            if wrong:
                failing[name] = wrong
                failed += 1
        sizes = " ".join(f"{worst[kind]:>11.1e}" for kind in KINDS)
        print(f"{group:<26} {len(members):>6} {raised:>6} {failed:>6} {sizes}")
    print()
    for name, wrong in failing.items():
        print(f"{name}: {_why(before.get(name), after.get(name), wrong)}")
    print(f"\n{len(names)} cases, {len(failing)} differ by more than {TOL:g}")
    return 1 if failing or not names else 0


def _why(before: Facts | None, after: Facts | None, wrong: dict[str, float]) -> str:
    """Return in what a case differs: as a whole, or in some facts, the largest difference first."""
    if before is None or after is None:
        return f"missing {'before' if before is None else 'after'}"
    words = [str(facts.get(RAISED, "no exception")) for facts in (before, after)]
    if words[0] != words[1]:
        return f"{words[0]} before, {words[1]} after"
    worst = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{fact} {size:.1e}" for fact, size in worst[:MOST_NAMED]]
    if len(worst) > MOST_NAMED:
        named.append(f"{len(worst) - MOST_NAMED} more")
    return "; ".join(named)


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the cases and store what they give")
    recording.add_argument("file", type=Path)
    recording.add_argument("--only", default="", help="a regular expression in 'group: case'")
    comparing = commands.add_parser("compare", help="hold two files against each other")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "record":
        record(arguments.file, arguments.only)
    else:
        sys.exit(compare(arguments.before, arguments.after))


if __name__ == "__main__":
    main()
