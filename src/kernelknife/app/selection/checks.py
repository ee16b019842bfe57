"""What is refused before a search: options that contradict each other, tables that are too small.

Where the rarest class has too few rows for the folds, there are fewer folds, or it is refused.
"""

from functools import partial
from typing import Any

import numpy as np

from kernelknife._engine.policy import (
    FOLDS,
    affordable_folds,
    deals_classes,
    is_counted,
    task_of_loss,
    unjudged_classes,
)
from kernelknife._error_rates import fewest_permutations
from kernelknife._tuning.candidates import named_kernels
from kernelknife._utils.checks import check_number
from kernelknife.app.messages import Hint
from kernelknife.app.options import SelectOptions
from kernelknife.app.selection.planning import FEWEST_ROWS
from kernelknife.app.tables import Table, TableError
from kernelknife.losses import QuantileLoss, check_loss

__all__ = [
    "check_groups",
    "check_loss_options",
    "check_options",
    "check_size",
    "fewer_folds",
    "loss_of",
]

FEWEST_FOLDS = 2
# Losses whose score is the logarithm of a mean, so that counts can be proportional to an exposure.
LOG_LINK = ("poisson", "negative_binomial", "gamma", "tweedie")
MOST_CLASSES_NAMED = 5  # in a message


def check_options(options: SelectOptions) -> None:
    """Raise where options are wrong or contradict each other, whatever the table."""
    named_kernels(options.kernel)
    if options.alpha is not None:
        check_number(options.alpha, "alpha", strict=True)
    if options.sparsity is not None:
        check_number(options.sparsity, "sparsity")
    if options.sparsity is not None and options.n_features is not None:
        raise TableError(
            "Give a sparsity or a number of features, not both.",
            Hint("use {} alone", {"sparsity": options.sparsity}),
            Hint("use {} alone", {"n_features": options.n_features}),
        )
    if options.n_features is not None and options.n_features < 1:
        raise TableError(
            f"The number of features must be at least 1, got {options.n_features}.",
            Hint("leave it out, so that cross-validation selects how many"),
        )
    if options.nested == "full" and (
        options.sparsity is not None or options.n_features is not None
    ):
        raise TableError(
            "A search inside every fold is for penalties that cross-validation selects: with a "
            "sparsity or a number of features of your own every fold is fitted anew anyway.",
            Hint("leave out {}", {"nested": "full"}),
        )
    _check_permutations(options.n_permutations, options.level)
    _check_kind(options)
    if options.n_jobs == 0:
        raise TableError(
            "The number of processes cannot be 0.", Hint("use {} for all cores", {"n_jobs": -1})
        )


def _check_kind(options):
    """Raise where options are about different kinds of targets."""
    levels, loss = options.quantile, options.loss
    if levels is not None:
        values = levels if isinstance(levels, tuple) else (levels,)
        outside = [value for value in values if not 0.0 < value < 1.0]
        if outside or not values:
            got = f"{outside[0]:g}" if outside else "none"
            raise TableError(
                f"A quantile lies between 0 and 1, got {got}.",
                Hint("use {} for what nine in ten rows do not exceed", {"quantile": 0.9}),
            )
        if loss not in (None, "quantile"):
            raise TableError("A quantile has a loss of its own.", Hint("leave out the loss"))
    classes = options.task == "classification"
    what = {"quantile": levels, "exposure": options.exposure}
    for name, value in what.items():
        if value is not None and (classes or options.event is not None):
            kind = "classes" if classes else "times with an event"
            article = "An exposure" if name == "exposure" else "A quantile"
            raise TableError(
                f"{article} is that of a number, and {kind} are none.",
                Hint(f"leave out the {name}"),
            )
    if options.event is not None and loss is not None:
        raise TableError(
            "A time with an event has a loss of its own, Cox's.", Hint("leave out the loss")
        )
    log_link = loss is None or (isinstance(loss, str) and loss not in LOG_LINK)
    if options.exposure is not None and log_link:
        raise TableError(
            "An exposure belongs to counts, which are proportional to it.",
            Hint("use {}", {"loss": "poisson"}),
            Hint("leave out the exposure"),
        )
    if options.exposure is not None and options.fdr is not None:
        raise TableError(
            "Knockoffs do not know exposures.",
            Hint("use {} instead", {"stability": True}),
            Hint("leave out the exposure"),
        )


def loss_of(options: SelectOptions) -> Any:
    """Return the loss that is asked for, that of a quantile where one is."""
    return options.loss if options.quantile is None else QuantileLoss(options.quantile)


def check_loss_options(options: SelectOptions, table: Table, rows: np.ndarray) -> None:
    """Raise where a loss, or what belongs to it, does not suit the target or the columns.

    Parameters
    ----------
    options : SelectOptions
    table : Table
    rows : ndarray of int
        Those that are not held out.
    """
    name, y = table.target_name, table.target[rows]
    if options.quantile is not None and table.task != "regression":
        raise TableError(
            f"A quantile is that of a number, and the target {name} was taken for "
            f"{len(np.unique(y))} classes.",
            Hint("leave out the quantile"),
            Hint("use {} if the target is a number", {"task": "regression"}),
        )
    asked = loss_of(options)
    if asked is None:
        return
    _check_task_of_loss(options, table)
    loss = check_loss(asked, table.task)
    if loss.needs_rows and table.adjusted:
        raise TableError(
            f"The loss {_called(options)} has no model with columns that are adjusted for.",
            Hint("use {} instead", {"always_keep": list(table.adjusted)}),
            Hint("use a smooth loss, such as {}", {"loss": _smooth(table.task)}),
        )
    if table.task == "regression":
        _check_target(loss, options, name, y)


def _check_task_of_loss(options, table):
    """Raise where a loss by name is for another kind of target."""
    of_loss = task_of_loss(options.loss)
    if of_loss in (None, table.task) or not isinstance(options.loss, str):
        return
    kinds = {"regression": "a number", "classification": "classes", "survival": "a time"}
    other = "logistic" if table.task == "classification" else "squared"
    hints = [Hint("use {}", {"loss": other}), Hint("leave out the loss")]
    if table.task == "regression" and options.task is None:
        hints[:1] = [Hint("use {} if they are classes", {"task": "classification"})]
    raise TableError(
        f"The loss {options.loss} is for {kinds[of_loss]}, and the target {table.target_name} was "
        f"taken for {kinds[table.task]}.",
        *hints,
    )


def _called(options):
    """Return what a loss is called in a message."""
    return "of a quantile" if options.quantile is not None else options.loss


def _smooth(task):
    return "squared" if task == "regression" else "squared_hinge"


def _check_target(loss, options, name, y):
    """Raise where a loss cannot take some numbers of the target."""
    try:
        loss.check_target(y)
        return
    except ValueError as error:
        if not isinstance(options.loss, str):
            raise  # a loss of the user's own explains itself
        reason = str(error)
    of_both = Hint("use {} for numbers of both signs", {"loss": "squared"})
    amounts = Hint("use {} for amounts", {"loss": "tweedie"})
    negative, zero, parts = y[y < 0], y[y == 0], y[y % 1 != 0]
    if len(negative):
        what, least = _values(negative), negative.min()
        raise TableError(
            f"The target {name} is negative in {what} (the least is {least:g}), which the loss "
            f"{options.loss} is not for.",
            of_both,
        )
    if options.loss == "gamma" and len(zero):
        raise TableError(
            f"The target {name} is zero in {_values(zero)}, and the loss {options.loss} is for "
            "positive amounts.",
            Hint("use {} for amounts that may be zero", {"loss": "tweedie"}),
            Hint("use {} for counts", {"loss": "poisson"}),
        )
    if len(parts):
        raise TableError(
            f"The target {name} is not whole in {_values(parts)} (such as {parts[0]:g}), and the "
            f"loss {options.loss} is for counts.",
            amounts,
            Hint("take counts, and {} for what rates are divided by", {"exposure": "years"}),
        )
    raise TableError(f"The target {name} does not suit the loss {options.loss}. {reason}")


def _values(some):
    return f"{len(some)} {'row' if len(some) == 1 else 'rows'}"


def _check_permutations(n_permutations, level):
    """Raise where permutations cannot show anything at a level."""
    if not 0 < level < 1:
        raise TableError(f"The level must be a share between 0 and 1, got {level:g}.")
    fewest = fewest_permutations(level)
    if n_permutations and n_permutations < fewest:
        raise TableError(
            f"{n_permutations} permutations of the target cannot show anything at the level "
            f"{level:g}.",
            Hint("use {}, or more", {"n_permutations": fewest}),
            Hint("leave the comparison out with {}", {"n_permutations": 0}),
        )


def check_size(table: Table, n_features: int | None) -> None:
    """Raise where the table has too few rows, or fewer columns than are asked for."""
    n_rows, n_columns = len(table.features), table.n_candidates
    if n_rows < FEWEST_ROWS:
        count = f"{n_rows} {'row' if n_rows == 1 else 'rows'}"
        raise TableError(
            f"The table has {count} to learn from; at least {FEWEST_ROWS} are needed.",
            Hint("add rows"),
        )
    if n_features is not None and n_features > n_columns:
        raise TableError(
            f"{n_features} features asked for, the table has {n_columns} to choose from.",
            Hint("use {}, or fewer", {"n_features": n_columns}),
        )


def check_groups(table: Table, train: np.ndarray, folds: Any) -> None:
    """Raise where there are fewer groups of rows than folds."""
    if table.groups is None or not is_counted(folds):
        return
    n_folds = FOLDS.n_folds if folds is None else int(folds)
    n_groups = len(np.unique(table.groups[train]))
    if n_groups < n_folds:
        fewer = [Hint("use {}", {"folds": n_groups})] if n_groups > 1 else []
        raise TableError(
            f"{n_folds} folds need as many groups, got {n_groups}.",
            *fewer,
            Hint("name another column as the group"),
        )


def fewer_folds(table: Table, y: np.ndarray, folds: Any, asked: bool) -> int | None:
    """Return as many folds as the rarest class has rows, None where that changes nothing.

    Folds that were asked for are kept. Classes with too few rows for them, or with a single row,
    are trained on and not judged; one that looks like a slip of another is refused, and so are all
    where less than two are left to judge. With groups of rows, which are split as a whole, the
    number of rows does not decide, nor with a splitter of scikit-learn.
    """
    if table.task != "classification" or table.groups is not None or not is_counted(folds):
        return None
    n_folds = FOLDS.n_folds if folds is None else int(folds)
    labels, counts = np.unique(y, return_counts=True)
    fewest = int(counts.min())
    needed = n_folds if asked else FEWEST_FOLDS
    if fewest < needed:
        codes = np.unique(y, return_inverse=True)[1]
        sizes = {str(label): int(n) for label, n in zip(labels, counts, strict=True)}
        rare = [label for label, n in sizes.items() if n < needed]
        if not len(unjudged_classes(codes, folds)) or any(map(partial(_other, sizes), rare)):
            raise _rare_classes(table.target_name, sizes, needed, asked)
    codes = np.unique(y, return_inverse=True)[1]
    if asked or (folds is None and deals_classes(codes)):
        return None
    return affordable_folds(codes, n_folds)


def _rare_classes(target, sizes, n_folds, asked):
    """Return the error that names the classes with fewer rows than there are folds."""
    rare = {label: n for label, n in sizes.items() if n < n_folds}
    alike = ""
    for label in rare:
        other = _other(sizes, label)
        if other and not alike:
            alike = f" {label!r} differs from {other!r} only in blanks or capitals."
    shown = ", ".join(f"{label!r} ({n})" for label, n in list(rare.items())[:MOST_CLASSES_NAMED])
    words = ("correct these classes", "join them with others", "leave their rows out")
    hints = [Hint(text) for text in words]
    if min(rare.values()) > 1:
        hints.append(Hint("use {}", {"folds": min(rare.values())}))
    need = f"{n_folds} folds need {n_folds} rows of every class of {target}"
    if not asked:
        need = f"Every class of {target} needs {n_folds} rows or more"
    return TableError(f"{need}, and some have fewer: {shown}.{alike}", *hints)


def _other(labels, label):
    """Return a label that differs from another one only by what is mostly a slip, or nothing."""
    same = [other for other in labels if _plain(other) == _plain(label) and other != label]
    return same[0] if same else ""


def _plain(label):
    """Return a label without the differences that are mostly slips."""
    return str(label).strip().casefold()
