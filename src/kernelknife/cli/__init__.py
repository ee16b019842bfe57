"""The command line. A command parses its options, calls one library function, and prints.

Results go to standard output, progress and warnings to standard error. The exit status is 0 if
the command has done what was asked, 1 if it ran and the answer is no, and 2 if something in the
request was wrong.
"""

import sys

__all__ = ["main"]


def main():
    """Run the ``kernelknife`` command, or say what must be installed for it."""
    try:
        import typer  # noqa: F401 - imported only to see whether it is installed
    except ModuleNotFoundError:
        print(
            "The kernelknife command needs packages that are not installed: pip install "
            "'kernelknife[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    from kernelknife.cli.app import run

    run()
