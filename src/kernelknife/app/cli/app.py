"""The commands. Heavy modules are imported inside, so that help is instant."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kernelknife.app.cli import version_line
from kernelknife.app.cli.config import read_config, write_config
from kernelknife.app.cli.console import Failure, check_outputs, out, print_note
from kernelknife.app.cli.parameters import PanelCommand, takes_options
from kernelknife.app.options import (
    ColumnOptions,
    ExploreOptions,
    PathOptions,
    ReadOptions,
    RelateOptions,
    SelectOptions,
)

__all__ = ["app", "run"]

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Find which features matter when the relation is not linear.",
)

INTERRUPTED = 130  # the exit status that shells expect after Ctrl-C

Data = Annotated[
    str, typer.Argument(help="CSV, TSV (also gzip), Excel, Parquet, Feather; - for stdin.")
]
Report = Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")]
Table = Annotated[Path | None, typer.Option(help="Write the columns as CSV, .xlsx or .parquet.")]
Figures = Annotated[
    Path | None, typer.Option(help="Folder for all figures, each as PDF, SVG and PNG.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def run():
    """Run the command; a failure ends in one line on standard error and an exit status."""
    try:
        app()
    except SystemExit as stop:
        # typer turns Ctrl-C into this status and prints nothing.
        if stop.code == INTERRUPTED:
            print_note("kernelknife: stopped.")
        raise
    except Failure as failure:
        _fail(failure, failure.code)
    except ImportError as error:
        # The message of a missing optional dependency names what to install.
        _fail(error, 2)
    except ValueError as error:
        # Tables, models and estimators refuse bad input with a ValueError; other errors are bugs.
        _fail(error, 2)
    except KeyboardInterrupt:
        _fail("stopped.", INTERRUPTED)
    except BrokenPipeError:
        # The program that reads our output has ended, as `head` does. Python would complain when it
        # flushes the rest, so the rest goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None


def _fail(message, code):
    """Print a message of one line and exit."""
    print_note(message, "kernelknife: ")
    raise SystemExit(code) from None


def _version(wanted: bool):
    """Print the versions, if they are asked for, and exit."""
    if wanted:
        out.print(version_line())
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions."),
    ] = False,
):
    """Find which features matter when the relation is not linear."""


@app.command(cls=PanelCommand)
@takes_options
def select(
    data: Data,
    options: SelectOptions,
    reading: ReadOptions,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to spread the folds over.")
    ] = None,
    report: Report = None,
    save: Annotated[Path | None, typer.Option(help="Write the model, for predict.")] = None,
    table: Table = None,
    figures: Figures = None,
    sql: Annotated[
        Path | None, typer.Option(help="Of many rows: write the model as an expression of SQL.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Of many rows: keeps what an interrupted run has summed.")
    ] = None,
    json: Json = False,
    config: Annotated[
        Path | None,
        typer.Option(callback=read_config, is_eager=True, help="Take options from a TOML file."),
    ] = None,
    save_config: Annotated[
        Path | None, typer.Option(help="Write the options of this run, for --config.")
    ] = None,
):
    """Find which columns of a table matter for one of them.

    Many rows (a folder, a glob such as 'events/*.parquet', duckdb:///file.db?table=t, or a file
    that is too large to be read at once) are read in blocks, in a few scans.

    The exit status is 0 if the selected columns predict better than the baseline, and 1 if not.
    With --stability or --fdr it is 0 if that keeps a column.
    """
    from kernelknife.app.cli import _select, _stream

    files = {"report": report, "save": save, "table": table, "figures": figures}
    if save_config is not None:
        check_outputs(save_config, inputs=[data])
        others = {"data": data, "cluster": cluster, "sql": sql, "checkpoint": checkpoint}
        write_config(save_config, {**others, **files, "json": json}, options, reading)
    if cluster is None and _stream.is_streamed(data):
        if any(one is not None for one in files.values()):
            raise Failure(
                f"{data} is read in blocks, and --report, --save, --table and --figures cannot be "
                "used with that: use --json and --sql."
            )
        raise typer.Exit(
            _stream.select(data, options, reading, sql=sql, checkpoint=checkpoint, json=json)
        )
    if sql is not None or checkpoint is not None:
        raise Failure(f"{data} is read at once: --sql and --checkpoint are for rows in blocks.")
    if options.n_jobs is None:
        # A quick search is over before other processes have imported what they need.
        options = replace(options, n_jobs=1 if options.quick else -1)
    code = _select.select(data, options, reading, **files, json=json, cluster=cluster)
    raise typer.Exit(code)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def report(
    context: typer.Context,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "report.html"
    ),
):
    """Write a report on which columns matter: select with --report, and all of its options."""
    command = typer.main.get_command(app).commands["select"]  # type: ignore[attr-defined]
    arguments = [data, *context.args, "--report", str(output)]
    raise typer.Exit(command.main(arguments, "kernelknife select", standalone_mode=False) or 0)


@app.command(cls=PanelCommand)
@takes_options
def path(
    data: Data,
    columns: ColumnOptions,
    options: PathOptions,
    reading: ReadOptions,
    csv: Annotated[Path | None, typer.Option(help="Write the weights as a table.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: png, svg or pdf.")] = None,
    json: Json = False,
):
    """Follow the weight of every column as the penalty rises, until the last column leaves."""
    from kernelknife.app.cli import _path

    _path.path(data, columns, options, reading, csv=csv, plot=plot, json=json)


@app.command(cls=PanelCommand)
@takes_options
def explore(
    data: Data,
    options: ExploreOptions,
    reading: ReadOptions,
    report: Report = None,
    scores: Annotated[
        Path | None, typer.Option(help="Write the rows' scores as CSV, .xlsx or .parquet.")
    ] = None,
    table: Table = None,
    figures: Figures = None,
    json: Json = False,
):
    """Find which columns of a table share components with each other, without a target."""
    from kernelknife.app.cli import _explore

    outputs = {"report": report, "scores": scores, "table": table, "figures": figures}
    _explore.explore(data, options, reading, **outputs, json=json)


@app.command(cls=PanelCommand)
@takes_options
def relate(
    left: Annotated[str, typer.Argument(help="The first table.")],
    right: Annotated[str, typer.Argument(help="The second table, with the same rows.")],
    options: RelateOptions,
    reading: ReadOptions,
    report: Report = None,
    table: Table = None,
    figures: Figures = None,
    json: Json = False,
):
    """Find which columns of two tables go together.

    The exit status is 0 if they do so on held-out rows at the 5 % level, and 1 if not.
    """
    from kernelknife.app.cli import _explore

    outputs = {"report": report, "table": table, "figures": figures}
    raise typer.Exit(_explore.relate(left, right, options, reading, **outputs, json=json))


@app.command(cls=PanelCommand)
@takes_options
def predict(
    model: Annotated[Path, typer.Argument(help="What select --save wrote.")],
    data: Data,
    reading: ReadOptions,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Column to repeat beside the predictions.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, .parquet or .xlsx; standard output if absent."),
    ] = None,
):
    """Predict the rows of a table with a saved model."""
    from kernelknife.app.cli import _predict

    _predict.predict(model, data, reading, ids=ids or [], output=output)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The report to write.")] = Path(
        "kernelknife-demo.html"
    ),
):
    """Select among columns of simulated data and write the report."""
    from kernelknife.app.cli import _select

    _select.demo(output)
