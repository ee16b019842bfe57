"""Tables: from a file or a data frame to columns of numbers that an estimator can use.

:func:`read_table` reads a file into a pandas data frame, :func:`make_table` chooses the target
and the features among its columns, and :class:`TableEncoder` turns the features into numbers. A
text column becomes one column of zeros and ones per level, and all of these share one weight, so
that a selection names the columns that the user knows. A table that cannot be used is refused with
a :class:`TableError` that says why and what to do.
"""

from kernelknife.app.tables.columns import TableError, reading_notes
from kernelknife.app.tables.dates import expand_dates, has_dates
from kernelknife.app.tables.encoding import (
    TableEncoder,
    new_gaps,
    outside_range,
    rows_to_predict,
    unseen_levels,
)
from kernelknife.app.tables.making import (
    Table,
    group_labels,
    make_features,
    make_table,
)
from kernelknife.app.tables.reading import check_format, is_formula, read_table, table_bytes
from kernelknife.app.tables.requests import check_column, without_commas

__all__ = [
    "Table",
    "TableEncoder",
    "TableError",
    "check_column",
    "check_format",
    "expand_dates",
    "group_labels",
    "has_dates",
    "is_formula",
    "make_features",
    "make_table",
    "new_gaps",
    "outside_range",
    "read_table",
    "reading_notes",
    "rows_to_predict",
    "table_bytes",
    "unseen_levels",
    "without_commas",
]
