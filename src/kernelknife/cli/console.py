"""What the commands print with: tables, progress on a terminal, one-line errors."""

import sys
import warnings
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

__all__ = ["Failure", "errors", "out", "progress", "show_table", "warned"]

out = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Failure(Exception):  # noqa: N818 - it ends a command, it is no bug
    """A mistake in what was asked, said in a sentence or two."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


@contextmanager
def progress():
    """Yield ``report(name, done, total)``: bars on a terminal, silence elsewhere."""
    if not errors.is_terminal:
        yield lambda name, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True) as bars:
        tasks = {}

        def report(name, done, total):
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield report


@contextmanager
def warned():
    """Print warnings as one line each on standard error, each once."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in found):
        errors.print(f"warning: {message}", markup=False)


def show_table(header, rows, numeric=()):
    """Print a table: framed for a person, tab-separated for a pipe."""
    if not out.is_terminal:
        for row in [header, *rows]:
            sys.stdout.write("\t".join(map(str, row)) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, heading in enumerate(header):
        table.add_column(heading, justify="right" if i in numeric else "left")
    for row in rows:
        table.add_row(*(str(cell).replace("[", "\\[") for cell in row))
    out.print(table)
