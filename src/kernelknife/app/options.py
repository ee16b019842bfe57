"""The options of the application: each stated once, with its default, its help and its flag.

A dataclass holds the arguments of one function: ``read_table``, ``make_table``,
``select_features``, ``knife_path``, ``explore_table`` and ``relate_tables``. The command makes its
options of the fields, and a report prints what was asked from them. Nothing heavy is imported here,
so that the help of the command is instant.
"""

# ruff: noqa: RUF009 - the calls in the dataclasses return fields

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from kernelknife.app.messages import Hint, InputError, as_code, plain_number

__all__ = [
    "FLAGS",
    "KERNELS",
    "LOSSES",
    "NESTED",
    "ColumnOptions",
    "ExploreOptions",
    "PathOptions",
    "ReadOptions",
    "RelateOptions",
    "SearchOptions",
    "SelectOptions",
    "TableOptions",
    "as_arguments",
    "as_names",
    "changed",
    "command_line",
    "flags_of",
    "in_command",
    "printed",
]

# Importing what has these names would make help slow, so they are repeated here. A test compares
# them.
KERNELS = (
    *("linear", "additive", "anova", "rbf", "joint", "polynomial", "laplace", "matern"),
    *("rational_quadratic", "sigmoid"),
)
NESTED = ("others", "full")
LOSSES = (
    *("squared", "huber", "quantile", "expectile"),
    *("poisson", "negative_binomial", "gamma", "tweedie"),
    *("squared_hinge", "huberized_hinge", "hinge", "logistic"),
)
MANY = "such as a,b or x*; repeatable"
# What a function is called on the command line.
COMMANDS = {"save_model": "`kernelknife select --save`"}


def option(default: Any, help: str, *flags: str, **about: Any) -> Any:
    """Return a field of a dataclass of options.

    Parameters
    ----------
    default : object
        ``MISSING`` for an option that must be given.
    help : str
        What ``--help`` prints.
    *flags : str
        The flags, where they are not the name with hyphens.
    **about
        ``choices``: the values that the command accepts. ``low``: the least of them. ``kind``: the
        type of what the command takes, where Python takes more, and ``parse`` makes a value of it.
        ``printed``: whether the option is part of the question, so that a report repeats it.
    """
    return field(default=default, metadata={"help": help, "flags": flags, **about})


def same_as(owner: type, name: str, **changes: Any) -> Any:
    """Return a field like one of another dataclass, but for some changes."""
    (like,) = (one for one in fields(owner) if one.name == name)
    default = changes.pop("default", like.default)
    return field(default=default, metadata={**like.metadata, **changes})


def _share_or_column(text: str) -> float | str:
    """Return a share of the rows as a number, and the column that marks them as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def as_names(names: str | Iterable[object]) -> tuple[str, ...]:
    """Return names as texts, which data frames of numbered columns need not have."""
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def as_levels(quantile: Any) -> Any:
    """Return one quantile as a number, several as an increasing tuple; ``"0.1,0.9"`` are two.

    Parameters
    ----------
    quantile : float, str, sequence of these or None
    """
    if quantile is None:
        return None
    given = (quantile,) if isinstance(quantile, str) else quantile
    parts = ",".join(map(str, given)).split(",") if isinstance(given, Iterable) else [given]
    try:
        levels = tuple(sorted({float(part) for part in parts}))
    except (TypeError, ValueError):
        raise InputError(
            f"A quantile is a number between 0 and 1, or several of them, got {parts}.",
            Hint("use {}, say", {"quantile": "0.1,0.9"}),
        ) from None
    return levels[0] if len(levels) == 1 else levels


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read; see :func:`kernelknife.app.tables.read_table`."""

    encoding: str = option("utf-8", "Encoding of a text file.")
    missing: tuple[str, ...] = option((), "Text that stands for a missing value; repeatable.")
    decimal: str = option(".", "Decimal mark of a text file.")
    thousands: str | None = option(None, "Mark between thousands in a text file, such as a comma.")
    sheet: str | None = option(None, "Sheet of an Excel workbook; the first if absent.")
    transpose: bool = option(False, "The file has a variable in every row (genes).")

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", as_names(self.missing))


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Which columns are left out, which have levels, and what becomes of gaps and dates."""

    drop: tuple[str, ...] = option((), f"Columns to leave out, {MANY}.")
    ids: tuple[str, ...] = option((), f"Identifiers, left out, {MANY}.", "--id")
    levels: tuple[str, ...] = option(
        (), f"Columns whose values are names, numbers or identifiers as they look, {MANY}."
    )
    log: tuple[str, ...] = option(
        (), f"Columns of positive numbers whose logarithm is used, {MANY}."
    )
    impute: str | None = option(
        None,
        "Replace missing numbers by the median, instead of using gaps as they are.",
        choices=("median",),
    )
    drop_missing: bool = option(False, "Leave out rows with missing values.")
    dates: tuple[str, ...] = option(
        (),
        "Dates as days since the first, year or month; repeatable.",
        choices=("days", "year", "month"),
    )

    def __post_init__(self) -> None:
        for name in ("drop", "ids", "levels", "log", "dates"):
            object.__setattr__(self, name, as_names(getattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class TableOptions(ColumnOptions):
    """What is predicted, from which columns, and which rows belong together or are held out."""

    target: str = option(
        MISSING, "Column to predict; a time with --event.", "--target", "-t", "--time"
    )
    event: str | None = option(
        None, "Column that is 1 where the event was observed at the target, a time; 0 if censored."
    )
    exposure: str | None = option(
        None, "Of counts: column that they are proportional to, such as years or persons."
    )
    group: str | None = option(None, "Column whose equal values mark rows that belong together.")
    order: str | None = option(
        None, "Column of the time of the rows: folds are blocks of neighbors."
    )
    forward: bool = option(False, "With --order: every fold tests rows after its training rows.")
    task: str | None = option(
        None, "Guessed from the target if absent.", choices=("regression", "classification")
    )
    always_keep: tuple[str, ...] = option((), f"Columns that are never dropped, {MANY}.", "--keep")
    adjust_for: tuple[str, ...] = option((), f"Columns to adjust for, {MANY}.")
    hold_out: float | str = option(
        0.0,
        "Rows kept for judging only: a share, or a column such as split=test.",
        kind=str,
        parse=_share_or_column,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", str(self.target))
        for name in ("always_keep", "adjust_for"):
            object.__setattr__(self, name, as_names(getattr(self, name)))
        for name in ("group", "event", "exposure", "order"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, str(getattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What cross-validation compares, what it selects, and which error rates are wanted."""

    kernel: Any = option("auto", "Kind of relations to look for.", choices=("auto", *KERNELS))
    loss: Any = option(
        None, "Squared for numbers, squared hinge for classes if absent.", choices=LOSSES
    )
    quantile: Any = option(
        None,
        "Select for this quantile of a number, such as 0.9, or for several: 0.1,0.9.",
        kind=list[str],
    )
    feature_groups: Any = option(
        None,
        "Groups of columns with one weight each: a CSV file of column,group, or gene sets (.gmt).",
        "--groups",
        kind=str,
    )
    class_weight: Any = option(
        None, "A rare class counts as much as a frequent one.", choices=("balanced",)
    )
    alpha: float | None = option(
        None, "Penalty on the model; selected by cross-validation if absent.", kind=float
    )
    sparsity: float | None = option(
        None, "Penalty on the weights; selected by cross-validation if absent.", kind=float
    )
    n_features: int | None = option(None, "Number of columns to select.", "--features", "-k")
    rule: str = option(
        "min", "Least error, or fewest columns within one standard error.", choices=("min", "1se")
    )
    folds: Any = option(None, "Number of folds; 5, split twice below 200 rows.", kind=int, low=2)
    nested: str = option(
        "others",
        "Errors of what the other folds select, or of searches inside every fold (longer).",
        choices=NESTED,
    )
    n_centers: int | str = option(
        "auto",
        "Nystrom centers (0: exact; default: chosen from the number of rows).",
        "--centers",
        kind=int,
        low=0,
    )
    stability: bool = option(False, "Select columns by their share of random half-samples, too.")
    max_false: float = option(1.0, "With --stability: expected false columns at most.")
    fdr: float | None = option(
        None, "Compare columns with knockoffs, too: expected share of false columns at most."
    )
    n_permutations: int = option(
        20,
        "Permutations of the target to compare columns with; 0 for none.",
        "--permutations",
        low=0,
    )
    level: float = option(0.05, "Family-wise error of that comparison.")
    quick: bool = option(False, "A first answer in about ten seconds, on some of the rows.")
    random_state: int = option(0, "Seed of everything random.", "--seed", low=0)
    n_jobs: int | None = option(
        None,
        "Folds at a time; -1 for all cores, as if absent, but 1 with --quick.",
        "--jobs",
        printed=False,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantile", as_levels(self.quantile))


@dataclass(frozen=True, kw_only=True)
class SelectOptions(SearchOptions, TableOptions):
    """All arguments of :func:`kernelknife.app.selection.select_features` but the data frame."""

    def __post_init__(self) -> None:
        TableOptions.__post_init__(self)
        SearchOptions.__post_init__(self)


@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """The target and the arguments of :func:`kernelknife.knife_path`."""

    target: str = same_as(TableOptions, "target")
    event: str | None = same_as(TableOptions, "event")
    task: str | None = same_as(TableOptions, "task")
    kernel: str = same_as(SearchOptions, "kernel", default="rbf", choices=KERNELS)
    loss: str | None = same_as(SearchOptions, "loss")
    alpha: float = same_as(SearchOptions, "alpha", default=1.0, help="Penalty on the model.")
    sparsities: int = option(50, "Number of penalties.", "--points", low=2)
    random_state: int = same_as(SearchOptions, "random_state")


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(ColumnOptions):
    """Arguments of :func:`kernelknife.app.exploration.explore_table`."""

    group: str | None = same_as(TableOptions, "group")
    blocks: int | None = option(
        None,
        "Rows in the order of time: length of blocks that are held out and permuted together.",
        kind=int,
        low=1,
    )

    color: str | None = option(None, "Column that only colors the picture.")
    n_components: int = option(2, "Number of components.", "--components", low=1)
    kernel: Any = same_as(PathOptions, "kernel")
    sparsity: float | str = same_as(
        SearchOptions,
        "sparsity",
        default="auto",
        help="Penalty on the weights; selected automatically if absent.",
    )
    n_features: int | None = same_as(SearchOptions, "n_features")
    random_state: int = same_as(SearchOptions, "random_state")


@dataclass(frozen=True, kw_only=True)
class RelateOptions(ColumnOptions):
    """Arguments of :func:`kernelknife.app.exploration.relate_tables`."""

    on: str | None = option(None, "Column of both tables that names the rows.")
    group: str | None = same_as(
        TableOptions,
        "group",
        help="Column of the first table whose equal values mark rows that belong together.",
    )
    blocks: int | None = same_as(ExploreOptions, "blocks")
    n_components: int = same_as(ExploreOptions, "n_components", default=1)
    kernel: Any = same_as(PathOptions, "kernel")
    sparsity: Any = same_as(
        ExploreOptions,
        "sparsity",
        help="Penalty on the weights of both tables; selected if absent.",
    )
    hold_out: float = option(0.25, "Share of the rows that judges what was found.")
    random_state: int = same_as(SearchOptions, "random_state")


OPTIONS = (ReadOptions, SelectOptions, PathOptions, ExploreOptions, RelateOptions)


def flags_of(one: Field) -> tuple[str, ...]:
    """Return the flags of an option, the long one first."""
    return one.metadata["flags"] or (f"--{one.name.replace('_', '-')}",)


# The one place that maps arguments to flags of the command line.
FLAGS = {one.name: flags_of(one)[0] for options in OPTIONS for one in fields(options)}


def printed(options: Any) -> dict[str, Any]:
    """Return the options that are part of the question, by the names of arguments."""
    return {
        one.name: getattr(options, one.name)
        for one in fields(options)
        if one.metadata.get("printed", True)
    }


def changed(options: Any) -> dict[str, Any]:
    """Return the options that are part of the question and differ from their defaults."""
    defaults = {one.name: one.default for one in fields(options)}
    return {
        name: value
        for name, value in printed(options).items()
        if defaults[name] is not MISSING and not _equal(value, defaults[name])
    }


def _equal(value: Any, default: Any) -> bool:
    # Arrays have no truth value, and none of them is a default.
    return type(value) in (type(default), int, float) and value == default


def as_arguments(options: Any) -> list[str]:
    """Return the options that differ from their defaults as arguments in Python."""
    return [f"{name}={as_code(value)}" for name, value in changed(options).items()]


def as_flags(values: Mapping[str, Any]) -> list[str]:
    """Return values by the names of arguments as words of the command line."""
    words = []
    for name, value in values.items():
        if value is True:
            words.append(FLAGS[name])
            continue
        if name == "quantile" and isinstance(value, tuple):
            value = ",".join(map(plain_number, value))
        for one in value if isinstance(value, tuple | list) else (value,):
            words += [FLAGS[name], plain_number(one) if isinstance(one, float) else str(one)]
    return words


def command_line(data: str, options: SelectOptions, reading: ReadOptions) -> str:
    """Return the command that asks the same question."""
    words = ["kernelknife", "select", data, "--target", options.target]
    return shlex.join([*words, *as_flags(changed(options)), *as_flags(changed(reading))])


def in_command(hint: Hint) -> str:
    """Return the options of a hint as flags, such as ``--impute median``."""
    return shlex.join(as_flags(hint.options)) if hint.options else COMMANDS.get(hint.function, "")
