"""The commands and their options. Heavy modules are imported inside, so that help is instant."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kernelknife.app.cli.bare import version_line
from kernelknife.app.cli.console import Failure, out, say

__all__ = ["app", "run"]

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Find which features matter when the relation is not linear.",
)

INTERRUPTED = 130  # the exit status that shells expect after Ctrl-C

# Importing the kernels and losses would make help slow, so their names are repeated here. A test
# compares them.
Kernel = StrEnum(
    "Kernel",
    [
        "linear",
        "additive",
        "anova",
        "rbf",
        "joint",
        "polynomial",
        "laplace",
        "matern",
        "rational_quadratic",
        "sigmoid",
    ],
)
Loss = StrEnum(
    "Loss", ["squared", "huber", "squared_hinge", "huberized_hinge", "hinge", "logistic"]
)
Task = StrEnum("Task", ["regression", "classification"])
Impute = StrEnum("Impute", ["median"])
Dates = StrEnum("Dates", ["days", "year", "month"])
ClassWeight = StrEnum("ClassWeight", ["balanced"])
Rule = StrEnum("Rule", {"min": "min", "one_se": "1se"})

Data = Annotated[
    str, typer.Argument(help="CSV, TSV (also gzip), Excel, Parquet, Feather; - for stdin.")
]
Target = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column to leave out; repeatable.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="Identifier, left out; repeatable.")]
Group = Annotated[
    str | None, typer.Option(help="Column whose equal values mark rows that belong together.")
]
TaskOption = Annotated[
    Task | None, typer.Option("--task", help="Guessed from the target if absent.")
]
ImputeOption = Annotated[
    Impute | None, typer.Option("--impute", help="Replace missing numbers by the median.")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
]
DatesOption = Annotated[
    list[Dates] | None,
    typer.Option("--dates", help="Dates as days since the first, year or month; repeatable."),
]
KernelOption = Annotated[Kernel, typer.Option("--kernel", help="Kind of relations to look for.")]
# The folds of ``select`` can choose among kernels; a path has one.
KernelChoice = StrEnum(
    "KernelChoice",
    [
        "auto",
        "linear",
        "additive",
        "anova",
        "rbf",
        "joint",
        "polynomial",
        "laplace",
        "matern",
        "rational_quadratic",
        "sigmoid",
    ],
)
KernelChoiceOption = Annotated[
    KernelChoice, typer.Option("--kernel", help="Kind of relations to look for.")
]
LossOption = Annotated[
    Loss | None, typer.Option("--loss", help="Squared for numbers, squared hinge for classes.")
]
ClassWeightOption = Annotated[
    ClassWeight | None,
    typer.Option("--class-weight", help="A rare class counts as much as a frequent one."),
]
Alpha = Annotated[
    float | None, typer.Option(help="Penalty on the model; chosen by the folds if absent.")
]
Sparsity = Annotated[
    float | None, typer.Option(help="Penalty on the weights; chosen by the folds if absent.")
]
Features = Annotated[
    int | None, typer.Option("--features", "-k", help="Number of columns to select.")
]
RuleOption = Annotated[
    Rule, typer.Option("--rule", help="Least error, or fewest columns within one standard error.")
]
Folds = Annotated[
    int | None, typer.Option(min=2, help="Number of folds; 5, split twice below 200 rows.")
]
HoldOut = Annotated[
    str,
    typer.Option(
        "--hold-out", help="Rows kept for judging only: a share, or a column such as split=test."
    ),
]
Stability = Annotated[
    bool, typer.Option("--stability", help="Let random halves of the rows vote on the columns.")
]
MaxFalse = Annotated[
    float, typer.Option("--max-false", help="Expected false columns that the votes may keep.")
]
Fdr = Annotated[
    float | None,
    typer.Option("--fdr", help="Expected share of false columns among those that beat knockoffs."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A first answer in about ten seconds, on some of the rows.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[
    int | None,
    typer.Option(help="Folds at a time; -1 for all cores, as if absent, but 1 with --quick."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]
Missing = Annotated[
    list[str] | None, typer.Option("--missing", help="Text that stands for a missing value.")
]
Decimal = Annotated[str, typer.Option(help="Decimal mark of a text file.")]
Thousands = Annotated[
    str | None, typer.Option(help="Mark between thousands in a text file, such as a comma.")
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel workbook; the first if absent.")]
Transpose = Annotated[
    bool, typer.Option("--transpose", help="The file has a variable in every row (genes).")
]
Centers = Annotated[
    int | None,
    typer.Option(
        "--centers", min=0, help="Centers of the model; 0 for all rows. Absent, rows decide."
    ),
]
Cluster = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler to spread the folds over.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def run():
    """Run the command; a failure ends in one line on standard error and an exit status."""
    try:
        app()
    except SystemExit as stop:
        # typer turns Ctrl-C into this status and prints nothing.
        if stop.code == INTERRUPTED:
            say("kernelknife: stopped.")
        raise
    except Failure as failure:
        _fail(failure, failure.code)
    except ImportError as error:
        # The message of a missing optional dependency says what to install.
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
    say(f"kernelknife: {message}")
    raise SystemExit(code) from None


def _version(wanted: bool):
    """Print the versions, if they are asked for, and exit."""
    if wanted:
        out.print(version_line())
        raise typer.Exit


def _settings(**options):
    """Return the options in the form that the library takes: plain strings, tuples for lists."""
    plain = {}
    for name, value in options.items():
        if isinstance(value, StrEnum):
            value = str(value)
        if name in ("drop", "ids", "dates"):
            value = tuple(map(str, value or ()))
        plain[name] = value
    if plain.get("n_jobs") == 0:
        raise Failure("--jobs must be a number of processes, or -1 for all cores, got 0.")
    return plain


def _held_out(text):
    """Return a share of the rows as a number, and the column that marks them as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def _reading(encoding, missing, decimal, thousands, sheet, transpose):
    """Return the arguments of ``read_table``."""
    if len(decimal) != 1:
        raise Failure(f"--decimal must be one character, got {decimal!r}.")
    if thousands is not None and len(thousands) != 1:
        raise Failure(f"--thousands must be one character, got {thousands!r}.")
    return {
        "encoding": encoding,
        "missing": tuple(missing or ()),
        "decimal": decimal,
        "thousands": thousands,
        "sheet": sheet,
        "transpose": transpose,
    }


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions."),
    ] = False,
):
    """Find which features matter when the relation is not linear."""


@app.command()
def select(
    data: Data,
    target: Target,
    drop: Drop = None,
    ids: Ids = None,
    group: Group = None,
    task: TaskOption = None,
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    dates: DatesOption = None,
    kernel: KernelChoiceOption = KernelChoice.auto,
    loss: LossOption = None,
    class_weight: ClassWeightOption = None,
    alpha: Alpha = None,
    sparsity: Sparsity = None,
    features: Features = None,
    rule: RuleOption = Rule.min,
    folds: Folds = None,
    hold_out: HoldOut = "0",
    centers: Centers = None,
    stability: Stability = False,
    max_false: MaxFalse = 1.0,
    fdr: Fdr = None,
    quick: Quick = False,
    cluster: Cluster = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    encoding: Encoding = "utf-8",
    missing: Missing = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
    report: Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model, for predict.")] = None,
    json: Json = False,
):
    """Say which columns of a table matter for one of them.

    The exit status is 0 if the selected columns predict better than a constant, and 1 if not.
    """
    from kernelknife.app.cli import _select

    if jobs is None:
        # A quick search is over before other processes have imported what they need.
        jobs = 1 if quick else -1
    settings = _settings(
        drop=drop, ids=ids, group=group, task=task, impute=impute, drop_missing=drop_missing,
        dates=dates, kernel=kernel, loss=loss, class_weight=class_weight, alpha=alpha,
        sparsity=sparsity, n_features=features, rule=rule, folds=folds,
        hold_out=_held_out(hold_out), random_state=seed, n_jobs=jobs,
        n_centers="auto" if centers is None else centers,
        stability=stability, max_false=max_false, fdr=fdr, quick=quick,
    )  # fmt: skip
    code = _select.select(
        data,
        target,
        settings,
        _reading(encoding, missing, decimal, thousands, sheet, transpose),
        report=report,
        save=save,
        json=json,
        cluster=cluster,
    )
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


@app.command()
def path(
    data: Data,
    target: Target,
    drop: Drop = None,
    ids: Ids = None,
    task: TaskOption = None,
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    dates: DatesOption = None,
    kernel: KernelOption = Kernel.rbf,
    loss: LossOption = None,
    alpha: Annotated[float, typer.Option(help="Penalty on the model.")] = 1.0,
    points: Annotated[int, typer.Option(min=2, help="Number of penalties.")] = 50,
    seed: Seed = 0,
    encoding: Encoding = "utf-8",
    missing: Missing = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
    csv: Annotated[Path | None, typer.Option(help="Write the weights as a table.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture: png, svg or pdf.")] = None,
    json: Json = False,
):
    """Follow the weight of every column as the penalty rises, until the last column leaves."""
    from kernelknife.app.cli import _path

    columns = _settings(
        drop=drop, ids=ids, task=task, impute=impute, drop_missing=drop_missing, dates=dates
    )
    options = _settings(kernel=kernel, loss=loss, alpha=alpha, sparsities=points, random_state=seed)
    _path.path(
        data,
        target,
        columns,
        options,
        _reading(encoding, missing, decimal, thousands, sheet, transpose),
        csv=csv,
        plot=plot,
        json=json,
    )


Components = Annotated[int, typer.Option("--components", min=1, help="Number of components.")]


@app.command()
def explore(
    data: Data,
    color: Annotated[
        str | None, typer.Option("--color", help="Column that only colors the picture.")
    ] = None,
    drop: Drop = None,
    ids: Ids = None,
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    dates: DatesOption = None,
    components: Components = 2,
    kernel: KernelOption = Kernel.rbf,
    sparsity: Annotated[
        float | None, typer.Option(help="Penalty on the weights; chosen automatically if absent.")
    ] = None,
    features: Features = None,
    seed: Seed = 0,
    encoding: Encoding = "utf-8",
    missing: Missing = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
    report: Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")] = None,
    scores: Annotated[Path | None, typer.Option(help="Write the rows' scores as CSV.")] = None,
    json: Json = False,
):
    """Say which columns of a table share components with each other, without a target."""
    from kernelknife.app.cli import _explore

    settings = _settings(
        color=color, drop=drop, ids=ids, impute=impute, drop_missing=drop_missing,
        dates=dates, n_components=components, kernel=kernel, n_features=features, random_state=seed,
        sparsity="auto" if sparsity is None else sparsity,
    )  # fmt: skip
    _explore.explore(
        data,
        settings,
        _reading(encoding, missing, decimal, thousands, sheet, transpose),
        report=report,
        scores=scores,
        json=json,
    )


@app.command()
def relate(
    left: Annotated[str, typer.Argument(help="The first table.")],
    right: Annotated[str, typer.Argument(help="The second table, with the same rows.")],
    on: Annotated[
        str | None, typer.Option(help="Column of both tables that names the rows.")
    ] = None,
    drop: Drop = None,
    ids: Ids = None,
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    dates: DatesOption = None,
    components: Components = 1,
    kernel: KernelOption = Kernel.rbf,
    sparsity: Annotated[
        float | None, typer.Option(help="Penalty on the weights of both tables.")
    ] = None,
    hold_out: Annotated[
        float, typer.Option("--hold-out", help="Share of the rows that judges what was found.")
    ] = 0.25,
    seed: Seed = 0,
    encoding: Encoding = "utf-8",
    missing: Missing = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
    report: Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")] = None,
    json: Json = False,
):
    """Say which columns of two tables go together.

    The exit status is 0 if they do so on held-out rows at the 5 % level, and 1 if not.
    """
    from kernelknife.app.cli import _relate

    settings = _settings(
        on=on, drop=drop, ids=ids, impute=impute, drop_missing=drop_missing,
        dates=dates, n_components=components, kernel=kernel, hold_out=hold_out, random_state=seed,
        sparsity="auto" if sparsity is None else sparsity,
    )  # fmt: skip
    code = _relate.relate(
        left,
        right,
        settings,
        _reading(encoding, missing, decimal, thousands, sheet, transpose),
        report=report,
        json=json,
    )
    raise typer.Exit(code)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="What select --save wrote.")],
    data: Data,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Column to repeat beside the predictions.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, .parquet or .xlsx; standard output if absent."),
    ] = None,
    encoding: Encoding = "utf-8",
    missing: Missing = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
):
    """Predict the rows of a table with a saved model."""
    from kernelknife.app.cli import _predict

    reading = _reading(encoding, missing, decimal, thousands, sheet, transpose)
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

    A run that was stopped continues where it was and repeats nothing that is finished.
    """
    from kernelknife.app.cli import _reproduce

    if list_items:
        _reproduce.show()
    else:
        _reproduce.run(items or [], output, quick=quick, jobs=jobs, page=page, data=data)
