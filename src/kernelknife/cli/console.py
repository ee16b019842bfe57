"""What the commands print with: tables, bars of progress, and errors of one line."""

import sys
import warnings
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

__all__ = ["Failure", "errors", "out", "progress", "show_table", "warned"]

out = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Failure(Exception):  # noqa: N818 - it ends a command and is no bug
    """A request that cannot be carried out, with the reason in a sentence or two.

    Parameters
    ----------
    message : str
    code : int, default=2
        The exit status of the command.
    """

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


@contextmanager
def progress():
    """Yield ``report(name, done, total)``, which draws bars on a terminal and nothing elsewhere."""
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
    """Print every warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        errors.print(f"warning: {message}", markup=False)


def show_table(header, rows, numeric=()):
    """Print a table: aligned on a terminal, separated by tabs elsewhere.

    Parameters
    ----------
    header : sequence of str
    rows : list of sequence
    numeric : sequence of int, default=()
        Indices of the columns to align at the right.
    """
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
