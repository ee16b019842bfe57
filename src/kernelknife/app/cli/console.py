"""What the commands print with: tables, bars of progress, and errors of one line.

Names of columns and files are the user's. rich would take parts of them for markup (``[bold]``)
or emoji (``:a:``), so both are switched off for everything that is printed.
"""

import json
import sys
import warnings
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = [
    "SPACES",
    "Failure",
    "errors",
    "out",
    "progress",
    "say",
    "show_json",
    "show_table",
    "warned",
]

PLAIN: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False, "soft_wrap": True}
out = Console(**PLAIN)
errors = Console(stderr=True, **PLAIN)

# A control character in a name could break a line, or change the terminal: a space stands for it.
SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


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

    name_column = TextColumn("{task.description}", markup=False)
    columns = (name_column, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as bars:
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
        say(f"warning: {message}")


def say(message):
    """Print a message as one line on standard error."""
    errors.print(str(message).translate(SPACES))


def show_json(content, indent=None):
    """Print one JSON object on standard output, as ``json.dumps`` writes it."""
    sys.stdout.write(json.dumps(content, indent=indent, default=str) + "\n")


def show_table(header, rows, numeric=()):
    """Print a table: aligned on a terminal, separated by tabs elsewhere.

    Parameters
    ----------
    header : sequence of str
    rows : list of sequence
    numeric : sequence of int, default=()
        Indices of the columns to align at the right.
    """
    lines = [[str(cell).translate(SPACES) for cell in row] for row in [header, *rows]]
    if not out.is_terminal:
        for line in lines:
            sys.stdout.write("\t".join(line) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, heading in enumerate(lines[0]):
        # A name that is longer than the terminal is wide continues on the next line.
        table.add_column(heading, justify="right" if i in numeric else "left", overflow="fold")
    for line in lines[1:]:
        table.add_row(*line)
    # rich's soft wrap would cut long cells in a table.
    out.print(table, soft_wrap=False)
