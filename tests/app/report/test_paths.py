"""The drawing of paths."""

import numpy as np

from kernelknife.app.report.paths import path_piece


def test_thousands_of_columns_stay_small(rng):
    weights = np.sort(rng.random((40, 3000)), axis=0)[::-1]
    names = [f"gene {j}" for j in range(3000)]
    piece = path_piece(names, np.geomspace(0.1, 10, 40), weights, np.arange(3000) + 1)
    assert len(piece) < 500_000
    assert "columns of small weight are not drawn" in piece
