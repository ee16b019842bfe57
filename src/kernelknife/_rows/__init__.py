"""Rows of data, wherever they live: in memory, in files, on a device, on a cluster.

:func:`open_rows` turns whatever a user passes as ``X`` into a :class:`Rows`. Everything after that
asks the rows for sums over their blocks and never for what kind they are.
"""

from kernelknife._rows.base import Block, LocalRows, Rows, RowsError, Sample
from kernelknife._rows.opening import open_rows, open_rows_to_predict, refuse_lazy_rows

__all__ = [
    "Block",
    "LocalRows",
    "Rows",
    "RowsError",
    "Sample",
    "open_rows",
    "open_rows_to_predict",
    "refuse_lazy_rows",
]
