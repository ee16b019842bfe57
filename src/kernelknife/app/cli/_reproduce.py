"""``kernelknife reproduce``: the tables and figures of the paper."""

import os

from kernelknife.app.cli.console import Failure, out, progress, show_table, warned
from kernelknife.datasets import DataFileError
from kernelknife.paper import ITEMS, reproduce

__all__ = ["run", "show"]


def show():
    """Print the parts of the paper that can be run."""
    rows = [
        (item.name, item.repetitions, ", ".join(item.labels), item.title) for item in ITEMS.values()
    ]
    show_table(("part", "repetitions", "in the paper", "what it is"), rows, numeric=(1,))


def run(names, output, *, quick, jobs, page, data):
    """Run parts of the paper and print where the summary is.

    Parameters
    ----------
    names : list of str
        Parts of the paper; an empty list is all of them.
    output : path
        Folder for tables, figures and the summary.
    quick : bool
        Whether to run only a few repetitions.
    jobs : int
        Number of repetitions to run at the same time.
    page : path or None
        Where to write the summary, if not into the folder.
    data : path or None
        Folder with the data files of the paper.
    """
    if jobs == 0:
        raise Failure("--jobs must be a number of processes, or -1 for all cores, got 0.")
    if data is not None:
        os.environ["KERNELKNIFE_DATA"] = str(data)
    try:
        with warned(), progress() as report:
            summary = reproduce(
                names,
                output,
                quick=quick,
                jobs=jobs,
                page=page,
                report=lambda item, done, total: report(item.name, done, total),
            )
    except (DataFileError, ValueError) as error:
        raise Failure(error) from error
    except OSError as error:
        raise Failure(f"{output} cannot be written: {error.strerror or error}.") from error
    out.print(f"Summary: {summary.resolve()}")
    out.print(f"As a page: {(output / 'summary.html').resolve()}")
