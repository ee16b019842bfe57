"""Numbers and names that a user gives."""

import numpy as np
import pytest

from kernelknife._utils.checks import check_number, resolve
from kernelknife.kernels import KERNELS, RBF, Kernel


@pytest.mark.parametrize("value", [0, 0.0, 2, 2.5, np.float32(1.0), np.int64(3)])
def test_numbers_that_pass(value):
    check_number(value, "alpha")


@pytest.mark.parametrize(
    ("value", "options", "error", "words"),
    [
        (-1.0, {}, ValueError, "alpha must be a number >= 0, got -1.0"),
        (0.0, {"strict": True}, ValueError, "a number > 0, got 0.0"),
        (np.nan, {}, ValueError, "got nan"),
        (np.inf, {}, ValueError, "got inf"),
        ("1", {}, TypeError, "a number >= 0, got '1'"),
        (True, {}, TypeError, "got True"),
        (None, {}, TypeError, "got None"),
        (2.0, {"integer": True}, TypeError, "an integer >= 0, got 2.0"),
        (0, {"integer": True, "low": 1}, ValueError, "an integer >= 1, got 0"),
    ],
)
def test_numbers_that_do_not(value, options, error, words):
    with pytest.raises(error, match=words):
        check_number(value, "alpha", **options)


def test_names_classes_and_instances():
    mine = RBF(gamma=0.5)
    assert resolve(mine, KERNELS, Kernel, "kernel") is mine
    assert isinstance(resolve("rbf", KERNELS, Kernel, "kernel"), RBF)
    with pytest.raises(ValueError, match=r"Unknown kernel 'gauss'. Known names: .*rbf"):
        resolve("gauss", KERNELS, Kernel, "kernel")
    with pytest.raises(TypeError, match=r"pass RBF\(\) instead of the class"):
        resolve(RBF, KERNELS, Kernel, "kernel")
    with pytest.raises(TypeError, match="got int"):
        resolve(3, KERNELS, Kernel, "kernel")
    with pytest.raises(ValueError, match="gamma"):
        resolve(RBF(gamma=-1.0), KERNELS, Kernel, "kernel")
