"""How sure a column is without a target: the share of random half-samples that select it."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelknife._error_rates import draw_half_samples
from kernelknife._utils.row_units import RowUnits
from kernelknife.app.selection.verdict import tier_of

__all__ = ["column_frequencies", "column_tiers"]

HALF_SAMPLES = 10  # in complementary pairs
MOST_ROWS = 500  # of a half-sample; more would take long and tell little more


def column_frequencies(
    fit: Callable[[np.ndarray, Any], np.ndarray],
    n: int,
    groups: np.ndarray | None,
    blocks: int | None,
    seed: int,
) -> np.ndarray:
    """Return the share of half-samples of the rows in which each column has a weight.

    Parameters
    ----------
    fit : callable
        Of rows and their groups: the weights of all columns there.
    n : int
        Number of rows.
    groups, blocks
        Rows that are halved together.
    seed : int
    """
    units = RowUnits.of(n, groups, blocks)
    codes = None if units is None else units.codes
    shares = []
    for rows in draw_half_samples(n, HALF_SAMPLES // 2, np.random.default_rng(seed), groups=codes):
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(int)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # only what many half-samples share counts
            try:
                shares.append(fit(some, None if codes is None else codes[some]) > 0)
            except ValueError:  # the penalty leaves no column, or too few groups are left
                continue
    return np.sum(shares, axis=0) / HALF_SAMPLES


def column_tiers(weights: dict[str, float], frequencies: dict[str, float]) -> dict[str, str]:
    """Return the tier of every column that has one.

    Parameters
    ----------
    weights, frequencies : dict of str to float
    """
    tiers = {name: tier_of(w > 0, frequencies[name]) for name, w in weights.items()}
    return {name: tier for name, tier in tiers.items() if tier}
