"""Sums over blocks of rows, samples, and the one class that a kind of rows takes."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife._engine.data import Block, LocalRows, Sample
from kernelknife._engine.data.rows import add, check_weights, concatenate, tree_sum


class ListRows(LocalRows):
    """Rows in blocks of any sizes."""

    def __init__(self, X, y, s, sizes, n_threads=1):
        self.X, self.y, self.s, self.sizes = X, y, s, sizes
        self.shape, self.n_threads = X.shape, n_threads

    def blocks(self, width=1):
        first = 0
        for number, size in enumerate(self.sizes):
            rows = slice(first, first + size)
            yield Block(self.X[rows], self.y[rows], self.s[rows], number)
            first += size


@pytest.fixture
def parts(rng):
    return rng.normal(size=(20, 3)), rng.normal(size=(20, 1)), rng.uniform(size=20)


def moments(block, power):
    return block.s @ block.X**power, block.n_rows


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("sizes", [[20], [7, 13], [1] * 20, [3, 5, 4, 8]])
def test_a_sum_over_blocks_is_the_sum_over_rows(parts, sizes, n_threads):
    X, y, s = parts
    total, count = ListRows(X, y, s, sizes, n_threads).total(moments, 2)
    assert_allclose(total, s @ X**2)
    assert count == 20


@pytest.mark.parametrize("n_threads", [1, 4])
def test_blocks_are_joined_in_order(parts, n_threads):
    rows = ListRows(*parts, [4] * 5, n_threads)
    (numbers,) = rows.total(lambda block: (np.full(block.n_rows, block.number),), join=concatenate)
    assert_array_equal(numbers, np.repeat(np.arange(5), 4))


def test_no_more_blocks_are_held_than_threads_work(parts):
    """A source of many blocks is read as fast as blocks are used, not at once."""
    lock, held, most = threading.Lock(), set(), []

    class Counting(ListRows):
        def blocks(self, width=1):
            for block in super().blocks(width):
                with lock:
                    held.add(block.number)
                    most.append(len(held))
                yield block

    def release(block):
        with lock:
            held.discard(block.number)
        return (block.n_rows,)

    assert Counting(*parts, [1] * 20, n_threads=3).total(release) == (20,)
    assert max(most) <= 3 + 3  # at work, waiting to be collected, and the next one


def test_an_error_in_a_block_comes_out(parts):
    def fail(block):
        raise ArithmeticError(f"block {block.number}")

    for n_threads in (1, 3):
        with pytest.raises(ArithmeticError, match="block 0"):
            ListRows(*parts, [5] * 4, n_threads).total(fail)


def test_a_sample_has_the_rows_asked_for(parts):
    X, y, s = parts
    index = np.array([0, 6, 7, 19])
    sample = ListRows(X, y, s, [7, 1, 12]).sample(index)
    for found, expected in ((sample.X, X), (sample.y, y), (sample.s, s)):
        assert_array_equal(found, expected[index])


def test_targets_are_encoded_and_the_first_rows_stay_as_they_were(parts):
    X, y, s = parts
    rows = ListRows(X, y, s, [8, 12])
    encoded = rows.encoded(lambda values: values + 100.0)
    assert_array_equal(encoded.sample(np.arange(20)).y, y + 100.0)
    assert_array_equal(rows.sample(np.arange(20)).y, y)
    (total,) = encoded.total(lambda block: (block.y.sum(),))
    assert_allclose(total, (y + 100.0).sum())


def test_loading_leaves_out_rows_of_no_weight(parts):
    X, y, s = parts
    s = s.copy()
    s[[2, 9]] = 0.0
    sample, numbers = ListRows(X, y, s, [20]).load()
    assert isinstance(sample, Sample)
    assert_array_equal(numbers, np.delete(np.arange(20), [2, 9]))
    assert_array_equal(sample.X, X[numbers])


def test_a_map_keeps_the_order(parts):
    X, y, s = parts
    found = ListRows(X, y, s, [3, 9, 8]).map(lambda block: block.sum(axis=1))
    assert_allclose(found, X.sum(axis=1))


def test_columns_of_a_block_are_double(parts):
    X, y, s = parts
    block = Block(X.astype(np.float32), y, s, 0)
    some = block.columns(np.array([2, 0]))
    assert some.dtype == float
    assert_array_equal(some, X.astype(np.float32)[:, [2, 0]])
    assert block.columns(np.arange(3)).dtype == float


def test_tree_sum_depends_on_the_number_alone():
    shape = tree_sum((str(i) for i in range(6)), lambda a, b: f"({a}{b})")
    assert shape == "(((01)(23))(45))"
    assert tree_sum(iter(["x"]), None) == "x"


def test_joining():
    assert add((1, 2.5), (10, 20)) == (11, 22.5)
    one, two = concatenate(([1], [2.0]), ([3], [4.0]))
    assert_array_equal(one, [1, 3])
    assert_array_equal(two, [2.0, 4.0])


def test_weights_of_rows():
    check_weights(np.array([0.0, 1.0, 2.5]))
    for bad in ([1.0, -1.0], [1.0, np.nan], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="finite and >= 0"):
            check_weights(np.array(bad))
    with pytest.raises(ValueError, match="all zero"):
        check_weights(np.zeros(3))
