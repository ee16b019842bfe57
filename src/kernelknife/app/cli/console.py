"""What the commands print and write with: tables, notes on standard error, JSON, and files.

Names of columns and files are the user's. rich would take parts of them for markup (``[bold]``)
or emoji (``:a:``), so both are switched off for everything that is printed.
"""

import contextlib
import json
import os
import re
import sys
import warnings
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.table import Table

from kernelknife._utils.files import check_writable, is_stream, write_file
from kernelknife.app.messages import spelled
from kernelknife.app.options import in_command

__all__ = [
    "Failure",
    "as_line",
    "busy",
    "check_ending",
    "check_folder",
    "check_outputs",
    "each_name",
    "errors",
    "out",
    "print_json",
    "print_note",
    "print_places",
    "print_table",
    "warned",
    "write_figures",
    "write_table",
    "writing",
]

PLAIN: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False, "soft_wrap": True}
out = Console(**PLAIN)
errors = Console(stderr=True, **PLAIN)

# A control character in a name could break a line, or change the terminal: a space stands for it.
SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


# Of a name that would fill the terminal the beginning and the end are shown.
LONG_WORD, ELLIPSIS = re.compile(r"(\S{60})\S{240,}(\S{20})"), "\u2026"


# Endings of formats that a report and a model do not have, and what they are instead.
DOCUMENTS = frozenset({".pdf", ".docx", ".doc", ".odt", ".xlsx", ".csv", ".png", ".svg", ".json"})
NOT_ITS_ENDINGS = {
    "report": (DOCUMENTS, "a report is one HTML file, such as report.html"),
    "model": (
        DOCUMENTS | {".pkl", ".pickle", ".joblib", ".onnx", ".pt", ".h5", ".html"},
        "a model has a format of its own, which predict reads: name it model.kk, say",
    ),
    "table": (
        (DOCUMENTS | {".xls", ".html", ".pkl"}) - {".csv", ".xlsx"},
        "a table is CSV (.csv, .tsv), an Excel workbook (.xlsx) or Parquet (.parquet)",
    ),
}


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
def warned():
    """Print every warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print_note(message, "warning: ")


@contextmanager
def busy(what):
    """Show on a terminal what takes a while, and print the warnings afterwards."""
    with warned(), errors.status(what) if errors.is_terminal else nullcontext():
        yield


def as_line(message):
    """Return a message or an error as one line, with the flags of the command in its hints."""
    line = spelled(message, in_command).translate(SPACES)
    return LONG_WORD.sub(rf"\1{ELLIPSIS}\2", line)


def print_note(message, before=""):
    """Print a message or an error as one line on standard error."""
    errors.print(f"{before}{as_line(message)}")


def print_json(content, indent=None):
    """Print one JSON object on standard output, as ``json.dumps`` writes it."""
    sys.stdout.write(json.dumps(_with_flags(content), indent=indent, default=str) + "\n")


def _with_flags(content):
    """Return content with the flags of the command in the hints of its texts."""
    if isinstance(content, dict):
        return {name: _with_flags(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_with_flags(value) for value in content]
    return spelled(content, in_command) if isinstance(content, str) else content


def print_table(header, rows, numeric=()):
    """Print a table: aligned on a terminal, separated by tabs elsewhere.

    Parameters
    ----------
    header : sequence of str
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
        table.add_row(*map(as_line, line))
    # rich's soft wrap would cut long cells in a table.
    out.print(table, soft_wrap=False)


@contextlib.contextmanager
def writing(path):
    """Turn a failed write into a sentence that names the file."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}.") from error


def check_outputs(*paths, inputs=()):
    """Raise where a result could not be written, or would replace an input or another result.

    A command calls this before it begins to work, which may take minutes.

    Parameters
    ----------
    *paths : path or None
        Files to write; None is skipped.
    inputs : sequence of path, default=()
        Files that the command reads; "-" is standard input.
    """
    taken = [(path, "is read by this command") for path in inputs if str(path) != "-"]
    for path in paths:
        if path is None:
            continue
        with writing(path):
            check_writable(path)
            streamed = is_stream(path)
        for other, reason in taken:
            if not streamed and _same_file(path, other):
                raise Failure(f"{path} {reason} and would be overwritten: name another file.")
        taken.append((path, "holds another result of this command"))


def check_ending(path, kind):
    """Raise where the ending of a file to be written names a format that it will not have.

    Parameters
    ----------
    path : path or None
    kind : {"report", "model", "table"}
    """
    endings, what = NOT_ITS_ENDINGS[kind]
    if path is None:
        return
    if os.path.splitext(path)[1].lower() in endings:
        raise Failure(f"{path} has the ending of another format: {what}.")
    if kind == "table":
        from kernelknife.app.tables import check_format  # help is printed without it

        check_format(path)


def write_table(path, frame, exact=()):
    """Write a data frame as CSV, Excel or Parquet, as the ending of the file says.

    Parameters
    ----------
    path : path
    frame : DataFrame
    exact : sequence of str, default=()
        Columns that come back as they are: see ``table_bytes``.
    """
    from kernelknife.app.tables import table_bytes

    content = table_bytes(frame, path, exact)
    with writing(path):
        write_file(path, content)


def each_name(names):
    """Return names with those that commas separate, one of which may hold a comma itself."""
    return [*names, *(part.strip() for name in names for part in name.split(","))]


def write_figures(folder, found):
    """Write every figure of an answer as PDF, SVG and PNG.

    Parameters
    ----------
    folder : path or None
        It is made where it is not there. None writes nothing.
    found : Selection, Exploration or Relation
    """
    if folder is None:
        return
    from kernelknife.inspection.displays import save_figure  # help is printed without it

    with writing(folder):
        os.makedirs(folder, exist_ok=True)
        for name, figure in found.figures().items():
            for ending in ("pdf", "svg", "png"):
                save_figure(figure, os.path.join(folder, f"{name}.{ending}"))


def check_folder(folder):
    """Raise where figures could not be written to a folder.

    Parameters
    ----------
    folder : path or None
    """
    if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
        raise Failure(f"{folder} is a file: name a folder for the figures.")
    if folder is not None:
        from kernelknife._utils.messages import import_optional

        import_optional("matplotlib", "kernelknife[cli]", "Drawing")


def print_places(**paths):
    """Print where each kind of result was written; None is skipped.

    A pipe or a device keeps the name that the user gave.
    """
    for kind, path in paths.items():
        if path is not None:
            place = str(path) if is_stream(path) else os.path.realpath(path)
            errors.print(f"{kind}: {place.translate(SPACES)}")


def _same_file(path, other):
    """Return whether two paths name the same file, which need not exist."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    # On a file system that ignores case, two names are one file.
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
