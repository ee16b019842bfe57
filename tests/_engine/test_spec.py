"""A specification holds every option of a fit, frozen and checked."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from kernelknife import KnifeClassifier, KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV
from kernelknife._engine import STARTS, FitSpec
from kernelknife._engine.solvers import SOLVERS
from kernelknife._engine.spec import check_sparsities
from kernelknife.kernels import RBF, Linear
from kernelknife.losses import HuberLoss, SquaredHinge, SquaredLoss

# Whether sums may take the place of rows is for a search to say, and no parameter.
FIELDS = {field.name for field in fields(FitSpec)} - {"from_sums"}
# Parameters of an estimator that have become part of something else.
RESOLVED = {"tol": "solver", "max_iter": "solver", "random_state": "seed"}
# A value of every parameter that is not its default.
OTHERS = {
    "alpha": 0.3,
    "sparsity": "auto",
    "n_features_to_select": 2,
    "relax": True,
    "learn_weights": False,
    "start": 0.4,
    "n_starts": 3,
    "standardize": False,
    "fit_intercept": False,
    "n_permutations": 39,
    "level": 0.1,
    "class_weight": "balanced",
    "feature_groups": {"a": [0, 1]},
    "feature_costs": [1.0, 2.0],
    "missing": "mean",
    "always_keep": [1],
    "adjust_for": ["age"],
    "n_centers": 7,
    "centers": "uniform",
    "refresh_centers": True,
    "memory_budget": 1e6,
    "n_jobs": 2,
}


def spec_of(**parameters):
    return FitSpec.from_estimator(KnifeRegressor(**parameters))


def test_every_parameter_is_a_field_or_is_resolved_into_one():
    parameters = KnifeRegressor().get_params(deep=False)
    # Offsets are known from the arguments of fit, a search asks for sums, probabilities are learned
    # after it.
    fields_of_parameters = FIELDS - {"offset", "from_sums"}
    parameters.pop("probability")
    assert {RESOLVED.get(name, name) for name in parameters} == fields_of_parameters
    tried = fields_of_parameters - {"kernel", "loss", "solver", "seed"}
    assert set(OTHERS) == tried, "all of these are tried"


@pytest.mark.parametrize("name", OTHERS)
def test_a_parameter_arrives_as_it_is(name):
    spec = FitSpec.from_estimator(KnifeClassifier(**{name: OTHERS[name]}))
    assert getattr(spec, name) is OTHERS[name]
    default = FitSpec.from_estimator(KnifeClassifier())
    assert getattr(default, name) != OTHERS[name]


def test_kernel_loss_and_solver_are_objects():
    spec = spec_of()
    assert isinstance(spec.kernel, RBF)
    assert isinstance(spec.loss, SquaredLoss)
    assert type(spec.solver) is SOLVERS["eliminate"]
    given = spec_of(kernel=Linear(), loss="huber", solver="alternate", tol=1e-3, max_iter=7)
    assert isinstance(given.kernel, Linear)
    assert isinstance(given.loss, HuberLoss)
    assert type(given.solver) is SOLVERS["alternate"]
    assert (given.solver.tol, given.solver.max_iter) == (1e-3, 7)


def test_defaults_are_those_of_the_estimator():
    spec, estimator = spec_of(), KnifeRegressor()
    for name in OTHERS:
        assert getattr(spec, name) == getattr(estimator, name), name
    alone = FitSpec(spec.kernel, spec.loss, spec.solver)
    for name in FIELDS:
        assert getattr(alone, name) == getattr(spec, name), name


@pytest.mark.parametrize("name", ["alpha", "kernel", "seed", "new"])
def test_it_is_frozen(name):
    with pytest.raises(FrozenInstanceError):
        setattr(spec_of(), name, 1.0)


@pytest.mark.parametrize(
    ("estimator", "task", "loss"),
    [
        (KnifeRegressor(), "regression", SquaredLoss),
        (KnifeClassifier(), "classification", SquaredHinge),
        (KnifeRegressorCV(), "regression", SquaredLoss),
        (KnifeClassifierCV(), "classification", SquaredHinge),
    ],
)
def test_the_kind_of_estimator_is_the_task(estimator, task, loss):
    spec = FitSpec.from_estimator(estimator, kernel=RBF(), relax=False, n_centers=None)
    assert spec.task == task
    assert type(spec.loss) is loss


class Few(RegressorMixin, BaseEstimator):
    """An estimator that has few of the parameters, and some that a fit has not."""

    kernel, solver, tol, max_iter, alpha, random_state, cv = (
        "linear",
        "eliminate",
        0.1,
        3,
        5.0,
        1,
        4,
    )


def test_parameters_that_an_estimator_lacks_are_as_by_default():
    spec, default = FitSpec.from_estimator(Few()), spec_of()
    assert isinstance(spec.kernel, Linear)
    assert (spec.alpha, spec.solver.tol, spec.solver.max_iter) == (5.0, 0.1, 3)
    for name in FIELDS - {"kernel", "loss", "solver", "alpha", "seed"}:
        assert getattr(spec, name) == getattr(default, name), name


def test_what_is_fixed_is_not_read_from_the_estimator():
    wrong = KnifeRegressor(kernel="gauss", alpha="auto", loss="hinge", random_state="now")
    spec = FitSpec.from_estimator(wrong, kernel=Linear(), alpha=2.0, loss=SquaredLoss(), seed=4)
    assert isinstance(spec.kernel, Linear)
    assert (spec.alpha, spec.seed) == (2.0, 4)


def test_a_seed_is_drawn_once_and_only_from_a_random_state():
    assert spec_of().seed is None
    assert spec_of(random_state=3).seed == spec_of(random_state=3).seed is not None
    generator = np.random.RandomState(0)
    first, second = spec_of(random_state=generator), spec_of(random_state=generator)
    assert first.seed != second.seed, "a generator goes on"
    assert replace(first, alpha=0.1).seed == first.seed, "a variant keeps it"


WRONG = [
    ({"kernel": "gauss"}, "Unknown kernel 'gauss'"),
    ({"loss": "absolute"}, "Unknown loss 'absolute'"),
    ({"loss": "hinge"}, "'hinge' is for classification"),
    ({"solver": "newton"}, "Unknown solver 'newton'. Known names: alternate, eliminate"),
    ({"tol": 0.0}, "tol must be a number > 0"),
    ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ({"alpha": 0.0}, "alpha must be a number > 0, got 0.0"),
    ({"sparsity": -1.0}, "sparsity must be a number >= 0, got -1.0"),
    ({"sparsity": "much"}, "sparsity must be a number, 'auto' or 'calibrated', got 'much'"),
    ({"n_features_to_select": 0}, "n_features_to_select must be an integer >= 1"),
    ({"relax": "yes"}, "relax must be True or False, got 'yes'"),
    ({"learn_weights": 1}, "learn_weights must be True or False, got 1"),
    ({"refresh_centers": None}, "refresh_centers must be True or False, got None"),
    ({"start": "warm"}, "Unknown start 'warm'. Known names: auto, scaled, laplace"),
    ({"n_starts": -1}, "n_starts must be an integer >= 0"),
    ({"n_centers": 0}, "n_centers must be an integer >= 1"),
    ({"memory_budget": 0}, "memory_budget must be a number > 0"),
    ({"class_weight": "balanced"}, "class_weight is for classifiers"),
]


@pytest.mark.parametrize(("parameters", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_option_is_refused_before_there_are_data(parameters, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        spec_of(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [entry for entry in WRONG if entry[0].keys() <= FIELDS - {"kernel", "loss", "solver"}],
    ids=lambda value: str(value)[:40],
)
def test_a_variant_is_checked_again(parameters, words):
    spec = spec_of()
    with pytest.raises(ValueError, match=words):
        replace(spec, **parameters)


def test_a_hinge_needs_an_intercept():
    options = {"loss": "hinge", "fit_intercept": False}
    with pytest.raises(ValueError, match="needs fit_intercept=True"):
        FitSpec.from_estimator(KnifeClassifier(**options))


def test_a_fit_checks_its_options_once(rng, monkeypatch):
    checked = []
    check = FitSpec.__post_init__
    monkeypatch.setattr(FitSpec, "__post_init__", lambda spec: checked.append(check(spec)))
    X = rng.normal(size=(40, 3))
    KnifeRegressor(sparsity="auto", relax=True).fit(X, X[:, 0])
    assert len(checked) == 1


def test_every_named_start_is_known():
    for start in STARTS:
        assert spec_of(start=start).start == start


def test_given_centers_are_told_from_a_way_to_choose_them():
    assert not spec_of(centers="leverage").gives_centers
    assert spec_of(centers=np.zeros((3, 2))).gives_centers


def test_penalties_of_a_path_are_a_number_of_points_or_a_grid():
    assert check_sparsities(12) == 12
    grid = check_sparsities([0, 1, 2.5])
    assert grid.dtype == float
    assert grid.tolist() == [0.0, 1.0, 2.5]
    for wrong, words in (
        (0, "integer >= 1"),
        (2.5, "integer"),
        ([], "a number of points or a list"),
        ([[1.0]], "a number of points or a list"),
        ([0.0, 0.0], "increasing"),
        ([-1.0, 0.0], ">= 0"),
        ([0.0, np.inf], "finite"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            check_sparsities(wrong)
