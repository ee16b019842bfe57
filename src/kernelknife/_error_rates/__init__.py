"""Selections with an error rate, without their estimators.

Stability selection: half-samples, the elimination orders on them, bounds on the number of false
selections, and q-values. Knockoffs: their sampler, their statistics, and the filter that selects.
Calibration: targets without a signal, their paths, and the columns that are stronger. All take a
:class:`kernelknife._engine.FitSpec`, or a setup made of one, and arrays.
"""

from kernelknife._error_rates.bounds import (
    ASSUMPTIONS,
    choose_votes,
    error_bound,
    integrated_q_values,
)
from kernelknife._error_rates.calibration import (
    Calibration,
    calibrate,
    calibrate_jointly,
    check_level,
    columns_beyond,
    fewest_permutations,
    fit_calibrated,
    settle,
)
from kernelknife._error_rates.filter import (
    derandomized_e_values,
    e_bh_q_values,
    knockoff_threshold,
    select_by_e_values,
)
from kernelknife._error_rates.half_samples import (
    cluster_columns,
    draw_half_samples,
    find_copies,
    rank_half_samples,
    rank_units,
)
from kernelknife._error_rates.sampler import (
    METHODS,
    GaussianKnockoffs,
    KnockoffSampler,
    distribution_given_sample,
    explained_by,
    fill_at_random,
    least_reconstructable,
)
from kernelknife._error_rates.statistics import draw_statistics, path_statistics

__all__ = [
    "ASSUMPTIONS",
    "METHODS",
    "Calibration",
    "GaussianKnockoffs",
    "KnockoffSampler",
    "calibrate",
    "calibrate_jointly",
    "check_level",
    "choose_votes",
    "cluster_columns",
    "columns_beyond",
    "derandomized_e_values",
    "distribution_given_sample",
    "draw_half_samples",
    "draw_statistics",
    "e_bh_q_values",
    "error_bound",
    "explained_by",
    "fewest_permutations",
    "fill_at_random",
    "find_copies",
    "fit_calibrated",
    "integrated_q_values",
    "knockoff_threshold",
    "least_reconstructable",
    "path_statistics",
    "rank_half_samples",
    "rank_units",
    "select_by_e_values",
    "settle",
]
