"""What is compared: kernels from words, alphas, penalties, and lines that fit together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressor
from kernelknife._engine.fitting import prepare_job
from kernelknife._tuning import (
    Line,
    alphas_to_try,
    kernels_to_compare,
    penalties_of_line,
    weightings_to_compare,
)
from kernelknife.kernels import RBF, Additive


def test_kernels_come_from_a_word_a_list_or_an_object():
    assert list(kernels_to_compare("auto")) == ["linear", "additive", "anova", "rbf"]
    assert list(kernels_to_compare("laplace")) == ["laplace"]
    named = kernels_to_compare(["rbf", Additive(gamma=2.0)])
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
        kernels_to_compare(kernel)


def test_given_alphas_are_all_there_is():
    kernels = kernels_to_compare(["linear", "rbf"])
    assert alphas_to_try([0.5, 2], kernels) == ({"linear": [0.5, 2.0], "rbf": [0.5, 2.0]}, False)
    begun, extends = alphas_to_try(None, kernels)
    assert extends
    assert begun["rbf"] == [0.1, 1.0]


def test_the_largest_penalty_of_a_convex_line_empties_it(rng):
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + 0.3 * rng.normal(size=60)
    for kernel in ("linear", "additive"):
        template = KnifeRegressor(kernel, alpha=0.5)
        grid = penalties_of_line(prepare_job(template, X, y).problem, 8)
        assert grid[0] == 0.0
        assert len(grid) == 8
        at_top = KnifeRegressor(kernel, alpha=0.5, sparsity=1.001 * grid[-1]).fit(X, y)
        below = KnifeRegressor(kernel, alpha=0.5, sparsity=0.9 * grid[-1]).fit(X, y)
        assert not at_top.weights_.any()
        assert below.weights_.any()


def test_the_penalties_of_a_sticky_kernel_depend_on_the_rows_alone(rng):
    problems = [
        prepare_job(KnifeRegressor("rbf"), rng.normal(size=(40, 3)), rng.normal(size=40)).problem
        for _ in range(2)
    ]
    grids = [penalties_of_line(problem, 6) for problem in problems]
    assert_array_equal(*grids)
    assert_allclose(grids[0][[1, -1]], [0.04, 400.0])


def test_a_first_look_has_the_ends_of_the_line():
    line = Line("rbf", KnifeRegressor(), np.arange(10.0), ("penalized", "relaxed", "equal"))
    few = line.coarse()
    assert_array_equal(few.penalties, [0.0, 3.0, 6.0, 9.0])
    assert few.weightings == ("penalized", "equal")
    assert len(line.settings) == 21
    assert line.settings[10] == ("relaxed", 0.0)
    assert line.point(13) == 3
    # Where nothing but refitted models is asked for, they are what the first look compares.
    relaxed = Line("rbf", KnifeRegressor(), np.arange(10.0), ("relaxed",))
    assert relaxed.coarse().weightings == ("relaxed",)


def test_what_may_become_of_the_weights_begins_with_the_simplest():
    assert weightings_to_compare("auto", True) == ("penalized", "relaxed", "equal")
    assert weightings_to_compare(True, False) == ("relaxed",)
    assert weightings_to_compare(False, True) == ("penalized", "equal")
