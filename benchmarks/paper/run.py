"""Rerun the paper's tables and figures and judge its claims.

    python benchmarks/paper/run.py                      # every item
    python benchmarks/paper/run.py vowel --output DIR   # some of them

An item is one table or figure of the paper; --list names them. Tables, figures and a summary with
our figures beside the paper's are written to the folder --output. A run that was stopped continues
where it was and repeats nothing that is finished. It needs the packages of kernelknife[cli].

The exit status is 0 if everything asked for was written, and 2 if something in the request was
wrong, for example the name of an item or a missing data file.
"""

import argparse
import os
import sys
from pathlib import Path

from items import ITEMS
from reproduction import reproduce

from kernelknife.datasets import DataFileError

INTERRUPTED = 130  # the exit status that shells expect after Ctrl-C


def main():
    parser = make_parser()
    options = parser.parse_args()
    if options.list:
        for item in ITEMS.values():
            print(item.name, item.repetitions, ", ".join(item.labels), item.title, sep="\t")
        return
    if options.jobs == 0:
        parser.exit(2, "run.py: --jobs must be a number of processes, or -1 for all, got 0.\n")
    if options.data is not None:
        os.environ["KERNELKNIFE_DATA"] = str(options.data)
    try:
        summary = reproduce(
            options.items,
            options.output,
            quick=options.quick,
            jobs=options.jobs,
            page=options.page,
            report=show_progress,
        )
    except (DataFileError, ValueError) as error:
        parser.exit(2, f"run.py: {error}\n")
    except OSError as error:
        reason = error.strerror or error
        parser.exit(2, f"run.py: {options.output} cannot be written: {reason}.\n")
    except KeyboardInterrupt:
        parser.exit(INTERRUPTED, "run.py: stopped.\n")
    print(f"Summary: {summary.resolve()}")
    print(f"As a page: {(options.output / 'summary.html').resolve()}")


def make_parser():
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("items", nargs="*", metavar="ITEM", help="what to run; none for all")
    parser.add_argument("--list", action="store_true", help="name the items and exit")
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, under a minute for one item"
    )
    parser.add_argument(
        "--jobs", type=int, default=-1, help="repetitions at a time; -1 for all cores (default)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("kernelknife-paper"),
        help="folder for tables, figures and summary (default: %(default)s)",
    )
    parser.add_argument(
        "--page", type=Path, help="where to write the summary (default: summary.md in the folder)"
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the paper's data files, else KERNELKNIFE_DATA"
    )
    return parser


def show_progress(item, done, total):
    """Print a line after every repetition where somebody can be watching."""
    if sys.stderr.isatty():
        print(f"{item.name}: {done} of {total} repetitions", file=sys.stderr)


if __name__ == "__main__":
    main()
