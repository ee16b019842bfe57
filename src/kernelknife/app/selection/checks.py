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
    unjudged_classes,
)
from kernelknife._error_rates import fewest_permutations
from kernelknife._tuning.candidates import named_kernels
from kernelknife._utils.checks import check_number
from kernelknife.app.messages import Hint
from kernelknife.app.options import SelectOptions
from kernelknife.app.selection.planning import FEWEST_ROWS
from kernelknife.app.tables import Table, TableError

__all__ = ["check_groups", "check_options", "check_size", "fewer_folds"]

FEWEST_FOLDS = 2
MOST_CLASSES_NAMED = 5  # in a message


def check_options(options: SelectOptions) -> None:
    """Raise where options are wrong or contradict each other, whatever the table."""
    named_kernels(options.kernel)
    if options.alpha is not None:
        check_number(options.alpha, "alpha", strict=True)
    if options.sparsity is not None:
        check_number(options.sparsity, "sparsity")
    if options.sparsity is not None and options.n_features is not None:
        raise TableError("Give a sparsity or a number of features, not both.")
    if options.n_features is not None and options.n_features < 1:
        raise TableError(f"The number of features must be at least 1, got {options.n_features}.")
    if options.nested == "full" and (
        options.sparsity is not None or options.n_features is not None
    ):
        raise TableError(
            "A search inside every fold is for penalties that cross-validation selects: with a "
            "sparsity or a number of features of your own every fold is fitted anew anyway.",
            Hint("leave out {}", {"nested": "full"}),
        )
    _check_permutations(options.n_permutations, options.level)
    if options.n_jobs == 0:
        raise TableError(
            "The number of processes cannot be 0.", Hint("use {} for all cores", {"n_jobs": -1})
        )


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
        raise TableError(f"The table has {n_rows} rows; at least {FEWEST_ROWS} are needed.")
    if n_features is not None and n_features > n_columns:
        raise TableError(
            f"{n_features} features asked for, the table has {n_columns} to choose from."
        )


def check_groups(table: Table, train: np.ndarray, folds: Any) -> None:
    """Raise where there are fewer groups of rows than folds."""
    if table.groups is None or not is_counted(folds):
        return
    n_folds = FOLDS.n_folds if folds is None else int(folds)
    n_groups = len(np.unique(table.groups[train]))
    if n_groups < n_folds:
        raise TableError(
            f"{n_folds} folds need as many groups, got {n_groups}: use fewer folds, or another "
            "column as the group."
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
