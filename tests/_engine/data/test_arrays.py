"""Rows of arrays: memory maps, single precision, other array libraries."""

import pickle

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.data.arrays import ArrayRows, DeviceRows
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


@pytest.mark.parametrize("kernel", ["rbf", "anova"])
def test_columns_that_are_transformed_once_give_the_answer_of_every_pass(
    kernel, planted, monkeypatch
):
    X, y = planted[0][:300], planted[1][:300]
    transforms = []
    once = ArrayRows.transformed

    def counted(rows, transform, width):
        transforms.append(once(rows, transform, width))
        return transforms[-1]

    monkeypatch.setattr(ArrayRows, "transformed", counted)
    kept = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(X, y)
    assert transforms[0].shape[1] >= X.shape[1]
    monkeypatch.setattr("kernelknife._engine.data.arrays.HOST_MEMORY", 0)
    again = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(X, y)
    assert transforms[1] is None
    assert_allclose(again.weights_, kept.weights_, atol=1e-12)
    assert_allclose(again.predict(X), kept.predict(X), atol=1e-10)


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


@pytest.mark.parametrize("kernel", ["rbf", "anova"])
def test_a_sample_of_rows_on_a_device_stays_on_it(kernel, planted, monkeypatch):
    monkeypatch.setattr("kernelknife._engine.objective.nystrom.SAMPLE_ROWS", 150)
    monkeypatch.setattr("kernelknife._engine.objective.nystrom.SAMPLE_ROWS_PER_CENTER", 1)
    samples = []

    class Counted(DeviceRows):
        def __init__(self, X, *arguments, **options):
            samples.append(X)
            super().__init__(X, *arguments, **options)

    monkeypatch.setattr("kernelknife._engine.objective.nystrom.DeviceRows", Counted)
    X, y = planted[0][:500], planted[1][:500]
    here = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(X, y)
    assert not samples
    strict = array_api_strict.asarray(X)
    there = KnifeRegressor(kernel=kernel, n_centers=40, sparsity=5.0).fit(strict, y)
    assert [x.shape[0] for x in samples] == [150]
    assert isinstance(samples[0], type(strict))
    assert_allclose(there.weights_, here.weights_, atol=1e-6)


@pytest.mark.parametrize(
    "loss", [name for name, kind in LOSSES.items() if kind().surrogate is None]
)
def test_every_loss_on_the_array_api(loss, planted):
    X, y = planted[0][:300], planted[1][:300]
    regression = LOSSES[loss]().task == "regression"
    if LOSSES[loss]().inverse_link(0.0) == 1.0:
        y = np.ceil(np.exp(y))  # counts
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

    monkeypatch.setattr("kernelknife._engine.objective.nystrom_coefficients.newton_sums", fail)
    with pytest.raises(MemoryError, match="lower n_centers"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(planted[0]), planted[1])


@pytest.mark.parametrize("kind", ["host", "device"])
def test_blocks_cover_the_rows_once_and_fit_the_width(kind, planted):
    X, y = planted
    rows = ArrayRows(X, y) if kind == "host" else DeviceRows(array_api_strict.asarray(X), y)
    widths = (1, 2**14, 2**22)
    for width in widths:
        blocks = list(rows.blocks(width))
        assert_array_equal(np.concatenate([np.asarray(block.X) for block in blocks]), X)
        assert_array_equal(np.concatenate([np.asarray(block.y) for block in blocks]), y)
        assert [block.number for block in blocks] == list(range(len(blocks)))
    # 256 rows are the fewest, so that the interpreter does not cost more than the arithmetic.
    assert len(list(ArrayRows(X, y).blocks(2**22))) == 4


def test_a_device_remembers_matrices_as_long_as_their_setting_lives(planted):
    class Setting:
        pass

    rows = DeviceRows(array_api_strict.asarray(planted[0]), planted[1])
    setting = Setting()
    next(rows.blocks(10)).memory[setting] = {0: ("matrix",)}
    assert next(rows.blocks(10)).memory[setting] == {0: ("matrix",)}
    assert b"matrix" not in pickle.dumps(rows.__getstate__()["_memory"])
    # Matrices larger than a device's memory are not kept.
    assert next(rows.blocks(2**40)).memory is None
    del setting
    assert not next(rows.blocks(10)).memory


def test_texts_stay_on_the_host_until_they_are_encoded(planted):
    X = array_api_strict.asarray(planted[0])
    labels = np.where(planted[1] > 0, "up", "down")
    rows = DeviceRows(X, labels)
    assert_array_equal(rows.sample(np.arange(5)).y, labels[:5])
    encoded = rows.encoded(lambda y: np.where(y == "up", 1.0, -1.0)[:, None])
    block = next(encoded.blocks())
    assert isinstance(block.y, type(X))
    assert_array_equal(np.asarray(block.y)[:, 0], np.where(planted[1] > 0, 1.0, -1.0))
