"""The error that refuses a table, and the form in which its message lists names."""

from collections.abc import Iterable

from kernelknife.app.messages import Hint, InputError

__all__ = ["TableError", "leave_out", "listing"]

# A message must stay readable on a terminal, whatever the number of columns that it is about.
MOST_LISTED = 5


class TableError(InputError):
    """A table cannot be used as it is; the message says why and what to do."""


def leave_out(*names: str) -> Hint:
    """Return the hint to leave columns out."""
    columns = "columns" if len(names) > 1 else "column"
    return Hint(f"leave the {columns} out with {{}}", {"drop": list(names)})


def listing(names: Iterable[object]) -> str:
    """Return names separated by commas; of many names, the first few and the number of others."""
    texts = [str(name) for name in names]
    others = len(texts) - MOST_LISTED
    more = f" and {others} more" if others > 0 else ""
    return ", ".join(texts[:MOST_LISTED]) + more
