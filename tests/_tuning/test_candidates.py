"""What is compared: kernels from words, alphas, penalties, and candidates that are keys."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressor, KnifeRegressorCV
from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._tuning import candidates
from kernelknife._tuning.candidates import (
    CandidatePath,
    named_kernels,
    penalties_of_path,
    penalty_for_share,
)
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import RBF, Additive

KINDS = ("penalized", "relaxed", "equal")
KEY = ["kernel", "alpha", "weighting", "sparsity"]


def path_of(penalties, weightings=KINDS, **options):
    spec = FitSpec.from_estimator(KnifeRegressor("rbf", **options))
    return CandidatePath("rbf", spec, np.asarray(penalties, dtype=float), weightings)


def problem_of(X, y, **options):
    spec = FitSpec.from_estimator(KnifeRegressor(**options))
    return set_up(spec, prepare_arrays(spec, X, y)).problem


# -- kernels, alphas, weightings ------------------------------------------------------------------


def test_kernels_come_from_a_word_a_list_or_an_object():
    assert list(named_kernels("auto")) == ["linear", "additive", "anova", "rbf"]
    assert list(named_kernels("laplace")) == ["laplace"]
    named = named_kernels(["rbf", Additive(gamma=2.0)])
    assert isinstance(named["rbf"], RBF)
    assert [kernel.words for kernel in named.values()] == [
        "one joint function of the columns",
        "a sum of separate effects",
    ]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [([], "empty list"), (["rbf", "rbf"], "twice"), (["auto", "rbf"], "cannot be in one")],
)
def test_lists_that_make_no_sense_are_refused(kernel, words):
    with pytest.raises(ValueError, match=words):
        named_kernels(kernel)


def test_given_alphas_are_all_there_is(search_spec):
    given = search_spec(["linear", "rbf"], alphas=[0.5, 2])
    assert given.alphas == {"linear": [0.5, 2.0], "rbf": [0.5, 2.0]}
    assert not given.extends
    begun = search_spec(["linear", "rbf"])
    assert begun.extends
    assert begun.alphas["rbf"] == [0.1, 1.0]


def test_what_may_become_of_the_weights_begins_with_the_simplest(search_spec):
    assert search_spec().weightings == KINDS
    assert search_spec(relax=True, include_all=False).weightings == ("relaxed",)
    assert search_spec(relax=False).weightings == ("penalized", "equal")
    # With a number of features the folds choose kernel and alpha alone.
    assert search_spec(n_features_to_select=2).weightings == ("penalized",)


def test_a_generator_draws_the_seed_of_a_search_once(search_spec):
    """In every worker it would be another one."""
    specs = [search_spec(random_state=np.random.RandomState(4)) for _ in range(2)]
    assert specs[0].seed == specs[1].seed
    assert specs[0].fit.seed == specs[1].fit.seed
    assert search_spec(random_state=4).seed == 4
    assert search_spec().fit.seed is None


# -- a candidate is a key -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"alphas": [1.0, 0.1, 1, 1.0]},
        {"sparsities": [0.0, 2.0, 200.0], "alphas": 1.0},
        {"kernel": ["linear", "rbf"]},
        {"kernel": ["linear", RBF(), RBF(2.0)], "alphas": [1.0, 1.0]},
        {"n_features_to_select": 2, "alphas": [0.1, 1.0, 10.0, 10.0]},
    ],
)
def test_no_two_rows_of_a_table_are_the_same_candidate(options):
    X, y = make_sinusoidal(70, 2, random_state=0)
    search = KnifeRegressorCV(**{"kernel": "rbf", "sparsities": 5, "cv": 2, **options}).fit(X, y)
    frame = pd.DataFrame(search.cv_results_)
    assert not frame.duplicated(KEY).any()
    best = frame.iloc[search.best_index_]
    chosen = (search.kernel_name_, search.alpha_, search.weighting_)
    assert tuple(best[KEY[:3]]) == chosen
    assert best["mean_test_score"] == search.best_score_


@pytest.mark.parametrize("options", [{}, {"n_features_to_select": 3}])
def test_a_candidate_finds_itself_among_those_of_its_path(options):
    """Also one by its number of features, whose penalty is NaN, and NaN equals nothing."""
    found = path_of([0.0, 1.0, 4.0], **options).candidates
    again = path_of([0.0, 1.0, 4.0], **options).candidates
    assert len(set(found)) == len(found)
    assert [again.index(candidate) for candidate in found] == list(range(len(found)))


def test_candidates_of_a_curve_differ_in_their_penalty_alone():
    path = path_of([0.0, 1.0, 4.0])
    assert len(path.candidates) == 3 + 3 + 1
    curves = {}
    for candidate in path.candidates:
        curves.setdefault(candidate.curve, []).append(candidate.sparsity)
    assert list(curves.values()) == [[0.0, 1.0, 4.0], [0.0, 1.0, 4.0], [0.0]]


# -- penalties of a path --------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "additive"])
def test_the_largest_penalty_of_a_convex_path_empties_it(rng, kernel):
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + 0.3 * rng.normal(size=60)
    grid = penalties_of_path(problem_of(X, y, kernel=kernel, alpha=0.5), 8)
    assert grid[0] == 0.0
    assert len(grid) == 8
    assert (np.diff(grid) > 0).all()
    at_top = KnifeRegressor(kernel, alpha=0.5, sparsity=1.001 * grid[-1]).fit(X, y)
    below = KnifeRegressor(kernel, alpha=0.5, sparsity=0.9 * grid[-1]).fit(X, y)
    assert not at_top.weights_.any()
    assert below.weights_.any()


def test_the_penalties_of_an_absorbing_kernel_depend_on_the_rows_alone(rng):
    problems = [
        problem_of(rng.normal(size=(40, 3)), rng.normal(size=40), kernel="rbf") for _ in range(2)
    ]
    grids = [penalties_of_path(problem, 6) for problem in problems]
    assert_array_equal(*grids)
    assert grids[0][0] == 0.0
    assert_allclose(grids[0][[1, -1]], [0.04, 400.0])


def test_a_screening_keeps_no_penalty_at_all_and_the_largest():
    for penalties in (np.arange(10.0), np.arange(9.0), np.arange(8.0)):
        path = path_of(penalties)
        few = path.screened()
        assert len(few.penalties) <= len(path.penalties) / 2
        assert few.penalties[0] == 0.0
        assert few.penalties[-1] == penalties[-1]
        assert set(few.candidates) < set(path.candidates)
    assert_array_equal(path_of(np.arange(10.0)).screened().penalties, [0.0, 3.0, 6.0, 9.0])
    # A user's path without a zero gets none.
    assert path_of(np.arange(1.0, 10.0)).screened().penalties[0] > 0


def test_a_screening_refits_only_where_nothing_else_selects():
    assert path_of([0.0, 1.0]).screened().weightings == ("penalized", "equal")
    assert path_of([0.0, 1.0], ("relaxed", "equal")).screened().weightings == ("relaxed", "equal")


def test_a_path_from_a_penalty_has_none_below():
    path = path_of([0.0, 1.0, 2.0, 4.0])
    assert_array_equal(path.between(2.0, 9.0).penalties, [2.0, 4.0])
    assert_array_equal(path_of([1.0, 2.0, 4.0]).between(2.0, 9.0).penalties, [2.0, 4.0])
    assert_array_equal(path.between(0.0, 9.0).penalties, path.penalties)


def test_a_penalty_goes_with_the_rows_only_where_weights_enter_linearly():
    assert penalty_for_share(6.0, 0.5, convex=True) == 3.0
    assert penalty_for_share(6.0, 0.5, convex=False) == 6.0


def test_large_supports_are_refitted_only_where_the_penalized_model_is_not_compared():
    most = candidates.GRID.most_relaxed
    both, alone = path_of([1.0]), path_of([1.0], ("relaxed", "equal"))
    assert both.refits(most)
    assert not both.refits(most + 1)
    assert alone.refits(most + 1)
