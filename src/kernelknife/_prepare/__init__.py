"""From a user's rows to a problem: which columns vary, how they are standardised, what is learned.

:func:`prepare` is the one way from rows of any kind to a problem, with one set of moments, one
threshold for "this column is constant" and one list of checks.
"""

from kernelknife._prepare.columns import Columns, check_finite, measure_columns
from kernelknife._prepare.groups import (
    Grouping,
    check_costs,
    check_groups,
    column_names,
    find_groups,
)
from kernelknife._prepare.prepare import Prepared, prepare
from kernelknife._prepare.targets import TargetEncoder, infer_task, measure_targets

__all__ = [
    "Columns",
    "Grouping",
    "Prepared",
    "TargetEncoder",
    "check_costs",
    "check_finite",
    "check_groups",
    "column_names",
    "find_groups",
    "infer_task",
    "measure_columns",
    "measure_targets",
    "prepare",
]
