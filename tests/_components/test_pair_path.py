"""The points of the path of a canonical pair; what users see of it is in test_canonical_path.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._components.alternation import Side
from kernelknife._components.pair_path import follow_pairs
from kernelknife._engine import FitSpec
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.solvers import Eliminate
from kernelknife._utils.progress import Progress
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


@pytest.fixture
def sides(rng):
    """Two tables of 40 rows: columns 1 and 2 of the first go with column 0 of the second."""
    X, Y = rng.normal(size=(40, 4)), rng.normal(size=(40, 3))
    Y[:, 0] = np.sin(X[:, 1] + X[:, 2]) + 0.05 * rng.normal(size=40)
    spec = FitSpec(RBF(), SquaredLoss(), Eliminate())
    return Side.of("X", spec, ArrayRows(X)), Side.of("y", spec, ArrayRows(Y))


def test_points_have_the_penalties_that_were_asked_for(sides):
    points = follow_pairs(sides, (1.0, 2.0), np.array([0.5, 1.2, 5.0]))
    assert [point.sparsity for point in points] == [0.5, 1.2, 5.0]
    assert [point.pair.sparsities for point in points] == [(0.5, 1.0), (1.2, 2.4), (5.0, 10.0)]
    for point in points:
        assert point.pair.features == ()  # those of all points would not fit the memory
        for mine, theirs in zip(point.weights, point.pair.weights, strict=True):
            assert_allclose(mine, theirs)


def test_a_stop_ends_the_path_where_it_stands(sides):
    progress = Progress()
    progress.stopped = True
    points = follow_pairs(sides, (1.0, 1.0), np.array([0.5, 1.2, 5.0]), progress)
    assert [point.sparsity for point in points] == [1.2]
