"""The decisions that the data take where a user has left them open."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeaveOneOut

from kernelknife._engine.policy import (
    CENTERS,
    FOLDS,
    affordable_folds,
    component_centers,
    default_loss,
    final_centers,
    fit_centers,
    infer_task,
    is_counted,
    needs_exact,
    planned_folds,
    quick_centers,
    rows_to_search,
    search_centers,
    task_of_loss,
)
from kernelknife.kernels import check_kernel
from kernelknife.losses import LOSSES, HuberLoss, SquaredHinge, SquaredLoss, check_loss

RBF, SIGMOID = check_kernel("rbf"), check_kernel("sigmoid")
CONVEX = [check_kernel("linear"), check_kernel("additive")]
SQUARED, HINGE = SquaredLoss(), check_loss("hinge", "classification")


# -- classification or regression, and the loss ---------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([True, False], "classification"),
        ([0, 1, 2], "classification"),
        ([0.0, 1.0, 2.0], "classification"),
        (range(10), "classification"),
        (range(11), "regression"),
        ([0.0, 0.5], "regression"),
        ([0.0, np.nan], "regression"),
        ([[0, 1], [1, 0]], "regression"),
        ([[0], [1]], "classification"),
    ],
    ids=repr,
)
def test_the_target_decides_the_task(y, task):
    assert infer_task(y) == task


def test_a_loss_has_a_task_by_name_and_as_an_object():
    for name, kind in LOSSES.items():
        assert task_of_loss(name) == task_of_loss(kind()) == kind.task
    assert task_of_loss(None) is task_of_loss("absolute") is task_of_loss(7) is None


def test_no_loss_is_the_loss_of_the_task():
    assert type(default_loss(None, "regression")) is SquaredLoss
    assert type(default_loss(None, "classification")) is SquaredHinge
    assert type(default_loss("huber", "regression")) is HuberLoss
    given = HuberLoss(2.0)
    assert default_loss(given, "regression") is given


def test_a_loss_of_the_other_task_is_refused():
    with pytest.raises(ValueError, match="'hinge' is for classification"):
        default_loss("hinge", "regression")
    with pytest.raises(ValueError, match="'squared' is for regression"):
        default_loss("squared", "classification")


# -- exact or Nystrom, and how many centers -------------------------------------------------------


def centers_of_a_fit(
    n_centers=None, kernel=RBF, *, given=False, in_memory=True, n_rows=100, budget=2**31
):
    rows = {"given": given, "in_memory": in_memory, "n_rows": n_rows}
    return fit_centers(n_centers, kernel, SQUARED, **rows, memory_budget=budget)


@pytest.mark.parametrize("kernel", [RBF, SIGMOID, *CONVEX], ids=repr)
def test_a_fit_has_the_centers_of_the_model_that_cross_validation_would_fit(kernel):
    for n_rows in (100, 2000, 10_000):
        expected = final_centers("auto", kernel, SQUARED, n_rows)
        assert centers_of_a_fit("auto", kernel, n_rows=n_rows) == expected
    # The policy is made for rows in memory and for centers that are not given.
    options = {"n_rows": 10**6}
    for more in ({"in_memory": False}, {"given": True}):
        assert centers_of_a_fit("auto", kernel, **options, **more) == CENTERS.without_memory


def test_a_fit_is_exact_where_its_matrix_fits_the_memory():
    n = int(np.sqrt(2**31 / 8))
    assert centers_of_a_fit(n_rows=n) is None
    with pytest.warns(UserWarning, match=r"needs 2 GiB .* over the budget of 2 GiB: 1000 centers"):
        assert centers_of_a_fit(n_rows=n + 1) == CENTERS.without_memory


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n_centers": 7}, 7),
        ({"n_centers": 7, "n_rows": 10**6}, 7),
        ({"in_memory": False, "n_rows": 10**6}, CENTERS.without_memory),
        ({"in_memory": False, "n_rows": 30}, 30),
        ({"given": True, "n_rows": 30}, 30),
    ],
)
def test_centers_that_need_no_warning(options, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert centers_of_a_fit(**options) == expected


@pytest.mark.parametrize(
    ("n_rows", "search", "final"),
    [(1000, None, None), (1001, 300, 300), (3000, 300, 300), (4000, 300, 400), (90_000, 300, 500)],
)
def test_few_rows_are_exact_and_many_bear_more_centers_than_the_folds_had(n_rows, search, final):
    assert search_centers("auto", RBF, SQUARED, n_rows) == search
    assert final_centers("auto", RBF, SQUARED, n_rows) == final


@pytest.mark.parametrize("kernel", CONVEX, ids=repr)
def test_convex_kernels_are_exact_up_to_more_rows(kernel):
    assert search_centers("auto", kernel, SQUARED, 3000) is None
    assert final_centers("auto", kernel, SQUARED, 3000) is None
    assert search_centers("auto", kernel, SQUARED, 5000) == 300
    assert final_centers("auto", kernel, SQUARED, 5000) == 500


@pytest.mark.parametrize("given", [None, 40])
def test_what_the_user_gives_holds_for_every_model(given):
    for n_rows in (10, 10_000):
        for kernel in (RBF, *CONVEX):
            assert search_centers(given, kernel, SQUARED, n_rows) == given
            assert final_centers(given, kernel, SQUARED, n_rows) == given


def test_neither_the_hinge_nor_the_sigmoid_kernel_has_a_model_on_centers():
    assert not needs_exact(SQUARED, [RBF])
    assert needs_exact(HINGE, [RBF])
    assert needs_exact(SQUARED, [RBF, SIGMOID])
    for kernel, loss in ((SIGMOID, SQUARED), (RBF, HINGE)):
        assert search_centers("auto", kernel, loss, 10_000) is None
        assert final_centers("auto", kernel, loss, 10_000) is None
        assert quick_centers([kernel], loss, 10_000) is None


def test_components_have_centers_where_an_exact_path_takes_minutes():
    most = CENTERS.component_exact_rows
    assert component_centers(None, given=False, n_rows=most) is None
    assert component_centers(None, given=False, n_rows=most + 1) == CENTERS.component
    assert component_centers(None, given=True, n_rows=most + 1) is None
    assert component_centers(20, given=False, n_rows=most + 1) == 20


def test_a_quick_look_has_fewer_centers_and_sooner():
    assert quick_centers([RBF], SQUARED, CENTERS.quick_exact_rows) is None
    assert quick_centers([RBF, *CONVEX], SQUARED, CENTERS.quick_exact_rows + 1) == CENTERS.quick


# -- folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cv", "n_rows", "expected"),
    [
        (None, FOLDS.few_rows, FOLDS.n_folds),
        (None, FOLDS.few_rows - 1, FOLDS.n_folds * FOLDS.repeats),
        (3, 10, 3),
        (np.int64(4), 10, 4),
        (KFold(7), 10, 7),
        ([(0, 1)] * 6, 10, 6),
    ],
)
def test_folds_are_planned_as_they_will_be_made(cv, n_rows, expected):
    assert planned_folds(cv, n_rows) == expected


def test_a_splitter_that_needs_the_rows_counts_as_the_default():
    for cv in (LeaveOneOut(), LeaveOneGroupOut(), iter([(0, 1)])):
        assert planned_folds(cv, 1000) == FOLDS.n_folds


@pytest.mark.parametrize(
    ("sizes", "n_folds", "expected"),
    [([40, 3], 5, 3), ([40, 2], 5, 2), ([40, 5], 5, None), ([40, 1], 5, None), ([9, 9], 5, None)],
)
def test_a_rare_class_makes_fewer_folds(sizes, n_folds, expected):
    assert affordable_folds(np.repeat(np.arange(len(sizes)), sizes), n_folds) == expected


@pytest.mark.parametrize(
    ("most", "cv", "expected"),
    [
        (3000, None, 3000),
        (3000, 10, 3000),
        (9000, None, 5000),
        (None, None, 5000),
        # Both may name rows, which a draw would take away.
        (3000, KFold(5), 5000),
        (3000, [(np.arange(4000), np.arange(4000, 5000))], 5000),
    ],
)
def test_folds_that_are_counted_leave_the_search_on_some_rows(most, cv, expected):
    assert rows_to_search(5000, most, cv) == expected
    assert is_counted(cv) == (cv is None or cv == 10)
