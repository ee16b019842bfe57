"""The mathematics of selections with an error rate: functions of arrays that know no estimator.

Bounds of stability selection, q-values from the same half-samples, knockoffs and their filter.
"""

from kernelknife._error_rates.bounds import (
    ASSUMPTIONS,
    error_bound,
    largest_count,
    smallest_threshold,
)
from kernelknife._error_rates.filter import (
    derandomized_e_values,
    e_bh_q_values,
    knockoff_threshold,
    select_by_e_values,
    signed_maximum,
)
from kernelknife._error_rates.halves import draw_halves
from kernelknife._error_rates.ipss import integrated_q_values
from kernelknife._error_rates.pairs import bounded_columns, product_columns, strong_pairs
from kernelknife._error_rates.sampling import (
    ConditionalKnockoffs,
    CopulaColumn,
    GaussianKnockoffs,
    equicorrelated,
    law_without_covariance,
    least_reconstructable,
    normal_scores,
    shrunk_correlation,
)

__all__ = [
    "ASSUMPTIONS",
    "ConditionalKnockoffs",
    "CopulaColumn",
    "GaussianKnockoffs",
    "bounded_columns",
    "derandomized_e_values",
    "draw_halves",
    "e_bh_q_values",
    "equicorrelated",
    "error_bound",
    "integrated_q_values",
    "knockoff_threshold",
    "largest_count",
    "law_without_covariance",
    "least_reconstructable",
    "normal_scores",
    "product_columns",
    "select_by_e_values",
    "shrunk_correlation",
    "signed_maximum",
    "smallest_threshold",
    "strong_pairs",
]
