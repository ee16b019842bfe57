"""The selected candidate on all rows: its path there, and a model that is that of a plain fit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kernelknife import KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV
from kernelknife._engine import Setup, follow, policy
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.policy import final_centers
from kernelknife._tuning import candidates
from kernelknife._tuning import refit as refitting
from kernelknife._tuning.candidates import Candidate, CandidatePath, SearchSpec
from kernelknife._tuning.choose import Selected
from kernelknife._tuning.folds import SearchData
from kernelknife._tuning.halving import Halving
from kernelknife._tuning.refit import refit
from kernelknife._utils.progress import SILENT
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import check_kernel
from kernelknife.losses import check_loss

KINDS = ("penalized", "relaxed", "equal")


@dataclass
class Searched:
    """All rows, and the path of one kernel on the rows of a search."""

    spec: SearchSpec
    data: SearchData
    setup: Setup
    path: CandidatePath

    def candidate(self, weighting, sparsity):
        return Candidate(self.path.kernel, self.path.alpha, weighting, sparsity)

    def refit(self, weighting, sparsity, n_features=2.0, ties=None):
        """Refit what folds have selected, with this mean number of features and these ties."""
        candidate = self.candidate(weighting, sparsity)
        tied = tuple(self.candidate(weighting, s) for s in ties or [sparsity])
        selected = Selected(candidate, tied, n_features)
        return refit(self.spec, self.setup, self.path, selected, self.data, [None], SILENT)

    @property
    def trace(self):
        return follow(self.setup.with_alpha(self.path.alpha), self.path.penalties)


@pytest.fixture
def searched(search_spec, search_data):
    """Return a function that prepares a search on the first of 120 rows."""

    def make(make_data=make_sinusoidal, kernel="rbf", n_searched=120, **options):
        spec = search_spec(kernel, **{"sparsities": [1.0, 6.0, 1e6], **options})
        data = search_data(*make_data(120, 3, random_state=0))
        halving = Halving(spec, data.take(np.arange(n_searched)), None)
        path = halving.make_path(kernel, 1.0 if kernel == "linear" else 0.3)
        return Searched(spec, data, halving.setup_of(kernel), path)

    return make


def n_selected(point):
    return np.count_nonzero(point.w)


# -- the path on all rows -------------------------------------------------------------------------


def test_a_path_that_leads_to_another_model_need_not_be_exact(searched):
    exactly = searched(tol=1e-6)
    # The search has looked at half of the rows.
    rough = replace(exactly, data=exactly.data.take(np.tile(np.arange(120), 2)))
    traces = [one.refit("penalized", 6.0).trace for one in (exactly, rough)]
    assert traces[1].n_factorizations < traces[0].n_factorizations
    objectives = [[point.objective for point in trace.points] for trace in traces]
    assert_allclose(*objectives, rtol=1e-2)


def test_penalties_that_folds_cannot_tell_apart_are_told_apart_by_all_rows(searched):
    """The largest of them has lost features that every fold has."""
    search = searched(sparsities=[0.01, 0.1, 1.0, 200.0, 1e6])
    penalties = search.path.penalties.tolist()
    counts = [n_selected(point) for point in search.trace.points]
    assert counts[0] > counts[3] > counts[4] == 0, "otherwise there is nothing to settle"
    for wanted in (1, 2, 3):
        found = search.refit("relaxed", 1e6, float(counts[wanted]), ties=penalties[1:])
        settled = penalties.index(found.candidate.sparsity)
        assert counts[settled] == counts[wanted]
        assert found.candidate in search.path.candidates
    # With nothing to choose from, it is the last penalty that leaves a feature.
    assert search.refit("penalized", 1e6, 1.8).candidate.sparsity == 200.0
    # Folds without features mean it.
    empty = search.refit("penalized", 1e6, 0.2)
    assert empty.candidate.sparsity == 1e6
    assert not empty.result.weights.any()


def test_a_support_too_large_to_be_refitted_in_a_fold_is_not_refitted_on_all_rows(
    searched, monkeypatch
):
    search = searched()
    kept = n_selected(search.trace.points[1])
    refitted, penalized = (search.refit(kind, 6.0).result for kind in ("relaxed", "penalized"))

    def allow(number):
        changed = replace(candidates.GRID, most_relaxed=number)
        monkeypatch.setattr(candidates, "GRID", changed)

    allow(kept)
    assert search.refit("relaxed", 6.0).candidate == search.candidate("relaxed", 6.0)
    allow(kept - 1)
    found = search.refit("relaxed", 6.0)
    assert found.candidate == search.candidate("penalized", 6.0)
    assert_array_equal(found.result.weights, penalized.weights)
    # Where the penalized model is not compared, the refitted one is what was asked for.
    alone = replace(search, path=replace(search.path, weightings=("relaxed",)))
    found = alone.refit("relaxed", 6.0)
    assert found.candidate == search.candidate("relaxed", 6.0)
    assert_array_equal(found.result.weights, refitted.weights)


def test_past_the_end_of_the_path_the_last_point_is_selected(searched):
    search = searched(sparsities=[1.0, 1e6, 1e7, 1e8])
    found = search.refit("penalized", 1e8, n_features=0.0)
    assert len(found.trace.points) < 4
    assert found.candidate == search.candidate("penalized", 1e8)
    assert found.sparsity == found.trace.points[-1].sparsity
    assert not found.result.weights.any()


@pytest.mark.parametrize(
    ("seed", "given", "expected"),
    [(0, "auto", "auto"), (1, "auto", "scaled"), (1, "laplace", "laplace")],
)
def test_the_path_on_all_rows_tries_only_the_start_that_won_in_every_fold(
    monkeypatch, seed, given, expected
):
    tried = []

    def watched(setup, *rest, **options):
        tried.append(setup.spec.start)
        return follow(setup, *rest, **options)

    monkeypatch.setattr(refitting, "follow", watched)
    X, y = make_sinusoidal(150, 2, random_state=seed)  # at seed 0 the folds differ
    search = KnifeRegressorCV("rbf", alphas=0.1, sparsities=5, cv=3, start=given).fit(X, y)
    assert tried == [expected]
    assert search.best_estimator_.start == given


# -- the selected model ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weighting", "n_searched"),
    [(kind, 120) for kind in KINDS] + [("penalized", 80), ("equal", 80)],
)
def test_the_selected_model_is_that_of_a_fit_to_all_rows(searched, weighting, n_searched):
    search = searched(n_searched=n_searched, tol=1e-7)
    sparsity = 0.0 if weighting == "equal" else 6.0
    found = search.refit(weighting, sparsity)
    assert found.sparsity == found.result.solution.sparsity == sparsity
    alone = KnifeRegressor(
        "rbf",
        alpha=0.3,
        sparsity=sparsity,
        relax=weighting == "relaxed",
        learn_weights=weighting != "equal",
        tol=1e-7,
    )
    alone.fit(search.data.X, search.data.y)
    predicted = found.result.model.predict(ArrayRows(search.data.X))
    assert_allclose(found.result.weights, alone.weights_, atol=1e-3)
    assert_allclose(predicted, alone.predict(search.data.X), atol=0.01)


@pytest.mark.parametrize(
    ("options", "weighting"),
    [
        ({"relax": False, "include_all": False}, "penalized"),
        ({"relax": False, "include_all": False, "kernel": "anova"}, "penalized"),
        ({"relax": True, "include_all": False}, "relaxed"),
        ({"relax": True, "include_all": False, "kernel": "linear"}, "relaxed"),
        ({"relax": False, "sparsities": [1e6]}, "equal"),
        ({"n_features_to_select": 4}, "penalized"),
        ({"n_features_to_select": 4, "search_rows": 70}, "penalized"),
    ],
)
def test_the_selected_estimator_is_that_of_a_fit_with_its_parameters(options, weighting):
    X, y = make_skin_of_orange(100, 4, random_state=0)
    options = {"kernel": "rbf", "sparsities": 8, "alphas": 0.3, "cv": 3, "tol": 1e-7, **options}
    search = KnifeClassifierCV(**options).fit(X, y)
    model = search.best_estimator_
    assert search.weighting_ == weighting
    alone = clone(model).fit(X, y)
    assert_allclose(model.weights_, alone.weights_, atol=1e-3)
    assert_allclose(model.decision_function(X), alone.decision_function(X), atol=0.01)
    assert model.sparsity_ == pytest.approx(alone.sparsity_)


def test_features_that_some_rows_have_selected_are_refitted_on_all_rows(searched):
    search = searched(n_searched=80, tol=1e-7)
    on_path = search.setup.data.user_values(search.trace.points[1].w)
    selected = on_path > 0
    weights = search.refit("relaxed", 6.0).result.weights
    assert 0 < selected.sum() < len(selected)
    assert_array_equal(weights > 0, selected)
    # A fit of these columns without penalty that begins here stays here, up to the tolerance of
    # refits, while the weights of the path are much further away.
    w = weights[selected]
    stays = KnifeRegressor("rbf", alpha=0.3, sparsity=0.0, start=w, tol=1e-7)
    stays.fit(search.data.X[:, selected], search.data.y)
    assert np.abs(stays.weights_ - w).max() < 0.02 < 0.05 < np.abs(w - on_path[selected]).max()


def test_a_convex_penalty_grows_with_the_rows(searched):
    search = searched(make_linear, "linear", n_searched=80, tol=1e-8)
    found = search.refit("penalized", 6.0)
    assert found.sparsity == 6.0
    assert_allclose(found.result.solution.sparsity, 6.0 * 120 / 80)


def test_a_number_of_features_is_that_of_a_fit_with_the_groups_of_the_user():
    pandas = pytest.importorskip("pandas")
    X, y = make_sinusoidal(120, 3, random_state=0)
    names = [f"column {j}" for j in range(X.shape[1])]
    frame, groups = pandas.DataFrame(X, columns=names), {"pair": ["column 0", "column 1"]}
    options = {"n_features_to_select": 2, "feature_groups": groups}
    model = KnifeRegressorCV("rbf", alphas=1.0, cv=2, **options).fit(frame, y).best_estimator_
    assert model.feature_groups == groups
    assert_array_equal(model.feature_names_in_, names)
    alone = KnifeRegressor("rbf", **options).fit(frame, y)
    assert_array_equal(model.weights_, alone.weights_)


# -- its centers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "expected"), [(1000, None), (1001, 300), (3000, 300), (4000, 400), (90_000, 500)]
)
def test_many_rows_bear_more_centers_than_the_folds_had(n_rows, expected):
    squared = check_loss("squared", "regression")
    assert final_centers("auto", check_kernel("rbf"), squared, n_rows) == expected


def test_the_selected_model_is_exact_or_on_given_centers_as_those_of_the_folds():
    squared = check_loss("squared", "regression")
    assert final_centers("auto", check_kernel("sigmoid"), squared, 10_000) is None
    for kernel in ("linear", "additive"):
        assert final_centers("auto", check_kernel(kernel), squared, 3000) is None
        assert final_centers("auto", check_kernel(kernel), squared, 5000) == 500
    for given in (None, 40):
        assert final_centers(given, check_kernel("rbf"), squared, 10_000) == given


def test_the_selected_model_has_its_own_number_of_centers(monkeypatch):
    changed = {"search_exact_rows": 50, "search": 30, "rows_per_center": 2}
    monkeypatch.setattr(policy, "CENTERS", replace(policy.CENTERS, **changed))
    X, y = make_sinusoidal(120, 3, random_state=0)
    options = {"alphas": 0.3, "sparsities": [1.0, 6.0], "cv": 2, "random_state": 0}
    for given, on_path, final in (("auto", 30, 60), (20, 20, 20), (None, 120, 120)):
        search = KnifeRegressorCV("rbf", n_centers=given, **options).fit(X, y)
        assert len(search.path_.model(0).dual_coef_) == on_path
        assert len(search.best_estimator_.dual_coef_) == final
        assert (search.best_estimator_.n_centers or 120) == final
