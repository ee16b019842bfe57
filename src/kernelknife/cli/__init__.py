"""The command line: it parses, calls one library function, and prints.

Results go to standard output, progress and warnings to standard error. The exit status is 0
for done, 1 for "ran, and the answer is no", 2 for a mistake in what was asked.
"""

import sys

__all__ = ["main"]


def main():
    """Run the ``kernelknife`` command, or say what it needs."""
    try:
        import typer  # noqa: F401 - only to see whether it is there
    except ModuleNotFoundError:
        print("The kernelknife command needs more: pip install 'kernelknife[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    from kernelknife.cli.app import run

    run()
