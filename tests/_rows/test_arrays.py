"""Rows of arrays: memory maps, single precision, other array libraries."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife.kernels import KERNELS
from kernelknife.losses import LOSSES

DEFINITE = [name for name, kernel in KERNELS.items() if not kernel.indefinite]


def test_a_memory_map_and_single_precision(planted, tmp_path):
    X, y = planted
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, X.shape)
    mapped[:] = X
    there = KnifeRegressor(n_centers=100, sparsity=10.0).fit(np.load(tmp_path / "X.npy", "r"), y)
    here = KnifeRegressor(n_centers=100, sparsity=10.0).fit(mapped.astype(float), y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)


@pytest.mark.parametrize("kernel", DEFINITE)
def test_the_array_api_gives_numpys_answer(kernel, planted):
    X, y = planted[0][:300], planted[1][:300]
    strict = array_api_strict.asarray(X)
    here = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(X, y)
    there = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(strict, y)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    predicted = there.predict(strict)
    assert isinstance(predicted, type(strict))
    assert_allclose(np.asarray(predicted), here.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "loss", [name for name, kind in LOSSES.items() if kind().surrogate is None]
)
def test_every_loss_on_the_array_api(loss, planted):
    X, y = planted[0][:300], planted[1][:300]
    regression = LOSSES[loss]().task == "regression"
    kind, target = (KnifeRegressor, y) if regression else (KnifeClassifier, (y > 0).astype(int))
    strict = array_api_strict.asarray(X)
    here = kind(loss=loss, n_centers=40, sparsity=5.0).fit(X, target)
    there = kind(loss=loss, n_centers=40, sparsity=5.0).fit(strict, target)
    assert_allclose(there.weights_, here.weights_, atol=1e-6)
    assert_allclose(np.asarray(there.predict(strict)), here.predict(X), atol=1e-6)


def test_a_device_without_float64(planted):
    single = array_api_strict.asarray(planted[0].astype(np.float32))
    with pytest.raises(TypeError, match="must be float64"):
        KnifeRegressor(n_centers=10).fit(single, planted[1])


def test_a_device_out_of_memory(planted, monkeypatch):
    def fail(*_):
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 GiB")

    monkeypatch.setattr("kernelknife._problem.centred.newton_sums", fail)
    with pytest.raises(MemoryError, match="lower n_centers"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(planted[0]), planted[1])
