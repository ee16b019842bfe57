"""From how many rows on a search has centers, and which models can have none."""

import pytest

from kernelknife._tuning import CenterCounts, needs_exact
from kernelknife.kernels import check_kernel
from kernelknife.losses import check_loss

RBF, SIGMOID = check_kernel("rbf"), check_kernel("sigmoid")
CONVEX = [check_kernel("linear"), check_kernel("additive")]
SQUARED, HINGE = check_loss("squared", "regression"), check_loss("hinge", "classification")


@pytest.mark.parametrize(
    ("n_rows", "search", "chosen"),
    [(1000, None, None), (1001, 300, 300), (3000, 300, 300), (4000, 300, 400), (90_000, 300, 500)],
)
def test_few_rows_are_exact_and_many_bear_more_centers_than_the_folds_had(n_rows, search, chosen):
    counts = CenterCounts("auto", SQUARED)
    assert counts.of_search(RBF, n_rows) == search
    assert counts.of_chosen(RBF, n_rows) == chosen


@pytest.mark.parametrize("kernel", CONVEX, ids=repr)
def test_convex_kernels_are_exact_up_to_more_rows(kernel):
    counts = CenterCounts("auto", SQUARED)
    assert counts.of_search(kernel, 3000) is counts.of_chosen(kernel, 3000) is None
    assert (counts.of_search(kernel, 5000), counts.of_chosen(kernel, 5000)) == (300, 500)


@pytest.mark.parametrize("given", [None, 40])
def test_what_the_user_gives_holds_for_every_model(given):
    counts = CenterCounts(given, SQUARED)
    for n_rows in (10, 10_000):
        for kernel in (RBF, *CONVEX):
            assert counts.of_search(kernel, n_rows) == counts.of_chosen(kernel, n_rows) == given


def test_neither_the_hinge_nor_the_sigmoid_kernel_has_a_model_on_centers():
    assert not needs_exact(SQUARED, [RBF])
    assert needs_exact(HINGE, [RBF])
    assert needs_exact(SQUARED, [RBF, SIGMOID])
    assert CenterCounts("auto", SQUARED).of_chosen(SIGMOID, 10_000) is None
    assert CenterCounts("auto", HINGE).of_search(RBF, 10_000) is None
