"""A picture of kernel matrices."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife import (
    KnifeClassifier,
)
from kernelknife.datasets import make_skin_of_orange
from kernelknife.inspection.displays import (
    KernelDisplay,
)


def test_kernel_before_and_after():
    X, y = make_skin_of_orange(60, 6, random_state=0)
    model = KnifeClassifier(sparsity=3.0).fit(X, y)
    display = KernelDisplay.from_estimator(model, X, y)
    order = np.argsort(y, kind="stable")
    _, after = model.kernel_matrices(X)
    assert_allclose(display.images_[1].get_array(), after[np.ix_(order, order)])
    assert [name for name, _ in display.groups] == ["0", "1"]
