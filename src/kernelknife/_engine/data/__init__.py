"""Data of a fit: rows wherever they live, and what is measured of them before anything is solved.

:func:`open_rows` turns whatever a user passes as ``X`` into a :class:`Rows`; everything after that
asks the rows for sums over their blocks and never for what kind they are. :func:`prepare` is the
one way from rows of any kind to a problem, with one set of moments, one threshold for "this column
is constant" and one list of checks.
"""

from kernelknife._engine.data.columns import Columns, check_finite, filled, measure_columns
from kernelknife._engine.data.grouping import (
    Grouping,
    check_costs,
    check_groups,
    column_names,
    find_columns,
    find_groups,
)
from kernelknife._engine.data.opening import open_rows, open_rows_to_predict, refuse_lazy_rows
from kernelknife._engine.data.prepare import TrainingData, prepare
from kernelknife._engine.data.rows import Block, LocalRows, Rows, RowsError, Sample
from kernelknife._engine.data.targets import TargetEncoder, measure_targets

__all__ = [
    "Block",
    "Columns",
    "Grouping",
    "LocalRows",
    "Rows",
    "RowsError",
    "Sample",
    "TargetEncoder",
    "TrainingData",
    "check_costs",
    "check_finite",
    "check_groups",
    "column_names",
    "filled",
    "find_columns",
    "find_groups",
    "measure_columns",
    "measure_targets",
    "open_rows",
    "open_rows_to_predict",
    "prepare",
    "refuse_lazy_rows",
]
