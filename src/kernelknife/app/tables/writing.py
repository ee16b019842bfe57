"""A data frame as the bytes of a file, in the format that the ending of its name asks for."""

import io
from pathlib import Path

from kernelknife._utils.messages import import_optional
from kernelknife.app.tables.errors import TableError
from kernelknife.app.tables.workbook import to_workbook

__all__ = ["check_format", "table_bytes"]

NEEDED = {".parquet": ("pyarrow", "pyarrow"), ".xlsx": ("openpyxl", "kernelknife[excel]")}


def check_format(path) -> None:
    """Raise where a table could not be written to a file of this name, before any work is done."""
    ending = Path(path).suffix.lower()
    if ending == ".xls":
        raise TableError(f"{path}: Excel's old format is not written. Use the ending .xlsx.")
    if ending in NEEDED:
        import_optional(*NEEDED[ending], f"Writing {ending}")


def table_bytes(frame, path) -> bytes:
    """Return a data frame as CSV, as Parquet (.parquet) or as an Excel workbook (.xlsx).

    Parameters
    ----------
    frame : DataFrame
    path : path
        The file that is going to be written; its ending names the format, and all others are CSV.
    """
    ending = Path(path).suffix.lower()
    if ending == ".xlsx":
        return to_workbook(frame)
    if ending == ".parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    return frame.to_csv(index=False, sep="\t" if ending in (".tsv", ".tab") else ",").encode()
