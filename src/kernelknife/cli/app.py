"""The commands and their options. Heavy modules are imported inside, so that help is instant."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kernelknife import __version__
from kernelknife.cli.console import Failure, errors, out

__all__ = ["app", "run"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Find which features matter when the relation is not linear.",
)


def run():
    """Run the command; a failure is a line on standard error and an exit status."""
    try:
        app()
    except Failure as failure:
        errors.print(f"kernelknife: {failure}", markup=False)
        raise SystemExit(failure.code) from None
    except KeyboardInterrupt:
        errors.print("kernelknife: stopped")
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; what is left has no place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None


def _version(wanted: bool):
    if wanted:
        out.print(f"kernelknife {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
):
    """Find which features matter when the relation is not linear."""


@app.command()
def demo():
    """Show what it does, on data of its own."""
    from kernelknife.cli import _demo

    _demo.run()


@app.command()
def reproduce(
    items: Annotated[
        list[str] | None, typer.Argument(help="Parts of the paper; none for all.")
    ] = None,
    list_items: Annotated[bool, typer.Option("--list", help="Name the parts.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repetitions, under a minute for one part.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Repetitions at a time; -1 for all cores.")] = -1,
    output: Annotated[Path, typer.Option(help="Folder for tables, figures, summary.")] = Path(
        "kernelknife-paper"
    ),
    page: Annotated[
        Path | None, typer.Option(help="Where to write the summary, else summary.md in the folder.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the paper's data files, else KERNELKNIFE_DATA.")
    ] = None,
):
    """Run the paper's tables and figures and judge its claims.

    A run that was stopped goes on where it was, without repeating what is finished.
    """
    from kernelknife.cli import _reproduce

    if list_items:
        _reproduce.show()
    else:
        _reproduce.run(items or [], output, quick=quick, jobs=jobs, page=page, data=data)
