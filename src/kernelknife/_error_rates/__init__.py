"""Selections with an error rate, without their estimators.

Stability selection: half-samples, the elimination orders on them, bounds on the number of false
selections, and q-values. Knockoffs: their sampler, their statistics, and the filter that selects.
Both take a :class:`kernelknife._engine.FitSpec` and arrays.
"""

from kernelknife._error_rates.bounds import (
    ASSUMPTIONS,
    choose_votes,
    error_bound,
    integrated_q_values,
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
    "GaussianKnockoffs",
    "KnockoffSampler",
    "choose_votes",
    "cluster_columns",
    "derandomized_e_values",
    "distribution_given_sample",
    "draw_half_samples",
    "draw_statistics",
    "e_bh_q_values",
    "error_bound",
    "explained_by",
    "fill_at_random",
    "find_copies",
    "integrated_q_values",
    "knockoff_threshold",
    "least_reconstructable",
    "path_statistics",
    "rank_half_samples",
    "rank_units",
    "select_by_e_values",
]
