"""The command line. A command parses its options, calls one library function, and prints.

Results go to standard output, progress and warnings to standard error. The exit status is 0 if
the command has done what was asked, 1 if it ran and the answer is no, and 2 if something in the
request was wrong.
"""

import sys

__all__ = ["main"]


def main():
    """Run the ``kernelknife`` command, or what there is of it without its packages."""
    try:
        import typer  # noqa: F401 - imported only to see whether it is installed
    except ModuleNotFoundError:
        from kernelknife.app.cli.bare import run_bare

        raise SystemExit(run_bare(sys.argv[1:])) from None
    from kernelknife.app.cli.app import run

    run()
