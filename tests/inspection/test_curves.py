"""The curves that pictures of a cross-validation show."""

import numpy as np
from numpy.testing import assert_array_equal

from kernelknife.inspection.curves import as_errors, cv_curves, rows_of_path
from kernelknife.losses import CoxLoss

RESULTS = {
    "kernel": np.array(["rbf"] * 5 + ["linear"] * 4, dtype=object),
    "alpha": np.array([1.0] * 5 + [0.1, 0.1, 1.0, 1.0]),
    "weighting": np.array(
        ["penalized", "penalized", "relaxed", "relaxed", "equal"] + ["penalized"] * 4, dtype=object
    ),
    "sparsity": np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
    "mean_test_score": np.array([1.0, 2.0, 1.0, 5.0, 0.0, 0.0, 0.5, 0.0, 0.9]),
    "n_folds": np.array([5] * 5 + [2] * 4),
    "followed": np.arange(9) < 5,
}


def test_every_kernel_shows_its_best_path():
    curves = cv_curves(RESULTS, chosen=3)
    assert [curve.label for curve in curves] == ["rbf, alpha 1", "linear, alpha 1"]
    assert [curve.chosen for curve in curves] == [True, False]
    # The selected path with the kind of weights that was selected, the others as penalized.
    assert_array_equal(curves[0].rows, [2, 3])
    assert_array_equal(curves[1].rows, [7, 8])
    assert_array_equal(rows_of_path(RESULTS, 3), [2, 3])


def test_a_single_kernel_shows_all_of_its_alphas():
    linear = {name: values[5:] for name, values in RESULTS.items()}
    curves = cv_curves(linear, chosen=1)
    assert [curve.label for curve in curves] == ["alpha = 0.1", "alpha = 1"]
    assert_array_equal(curves[1].rows, [2, 3])


def test_equal_weights_show_the_path_beside_them():
    assert_array_equal(rows_of_path(RESULTS, 4), [0, 1])


def test_what_a_model_of_times_is_scored_by_is_an_error_that_is_positive_for_a_bad_one():
    """The loss and the search spell the name of the score differently; both are turned around."""
    for name in ("partial_likelihood", CoxLoss.score_name):
        words, errors = as_errors(name, np.array([-3.0, -2.5]))
        assert words == "partial likelihood lost per row"
        assert errors.tolist() == [3.0, 2.5]
