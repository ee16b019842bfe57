"""How rows are split into folds, and what makes a fold impossible to fit."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

__all__ = [
    "DEFAULT_FOLDS",
    "check_folds",
    "check_splits",
    "draw_rows",
    "make_splitter",
    "planned_folds",
    "rows_of_splits",
]

FEW_ROWS = 200  # below, one split into folds is mostly luck, and several are made
DEFAULT_FOLDS, REPEATS = 5, 2
FEWEST_OF_A_CLASS = 10  # rows of a rare class that a draw takes: two for every fold


def planned_folds(cv: Any, n_rows: int) -> int:
    """Return how many folds will be made of so many rows.

    A splitter that only knows it when it sees the rows counts as the default number.

    Parameters
    ----------
    cv : int, splitter, iterable or None
    n_rows : int
    """
    if isinstance(cv, numbers.Integral):
        return int(cv)
    if cv is None:
        return DEFAULT_FOLDS * (REPEATS if n_rows < FEW_ROWS else 1)
    if hasattr(cv, "get_n_splits"):
        try:
            return int(cv.get_n_splits())
        except (TypeError, ValueError):
            return DEFAULT_FOLDS
    return len(cv) if hasattr(cv, "__len__") else DEFAULT_FOLDS


def draw_rows(target: np.ndarray, classes: bool, most: int, seed: int | None) -> np.ndarray:
    """Return so many rows at random, in their order, or all where there are no more.

    Of every class its share is drawn, and of a rare one so many that each fold can have some.

    Parameters
    ----------
    target : ndarray
        Codes of the classes, or numbers.
    classes : bool
    most : int
    seed : int or None
    """
    n = len(target)
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(0 if seed is None else seed)
    if not classes:
        return np.sort(rng.choice(n, most, replace=False))
    # Rows in the order of their class, each class shuffled: every so many-th is a fair draw.
    order = np.lexsort((rng.random(n), target))
    drawn = order[np.linspace(0, n - 1, most).round().astype(int)]
    counts = np.bincount(target[drawn], minlength=int(target.max()) + 1)
    few = np.flatnonzero(counts < FEWEST_OF_A_CLASS)
    rare = [order[target[order] == code][:FEWEST_OF_A_CLASS] for code in few]
    return np.unique(np.concatenate([drawn, *rare]))


def rows_of_splits(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the rows that some split trains on or judges, in their order.

    A split need not have all of them: folds of a time series train on the past alone.
    """
    return np.unique(np.concatenate([rows for split in splits for rows in split]))


def make_splitter(cv: Any, target: np.ndarray, classes: bool, groups: Any, seed: int | None) -> Any:
    """Return the splitter; groups stay together, few rows are split repeatedly.

    Parameters
    ----------
    cv : int, splitter, iterable or None
    target : ndarray
        Codes of the classes, or numbers.
    classes : bool
    groups : array-like or None
    seed : int or None
    """
    if cv is None and classes and groups is None:
        # A rare class makes fewer folds: every one needs a row of it.
        rarest = int(np.bincount(target).min())
        if 2 <= rarest < DEFAULT_FOLDS:
            seed = 0 if seed is None else seed
            return StratifiedKFold(rarest, shuffle=True, random_state=seed)
    counted = cv is None or isinstance(cv, numbers.Integral)
    if counted:
        n_folds = DEFAULT_FOLDS if cv is None else cv
        check_folds(n_folds, target, classes, groups)
        if groups is not None:
            return (StratifiedGroupKFold if classes else GroupKFold)(n_folds)
    if cv is None:
        # Rows of a table are often sorted, so that a fold of neighbors is unlike the others.
        repeated = RepeatedStratifiedKFold if classes else RepeatedKFold
        repeats = REPEATS if len(target) < FEW_ROWS else 1
        seed = 0 if seed is None else seed
        return repeated(n_splits=DEFAULT_FOLDS, n_repeats=repeats, random_state=seed)
    return check_cv(cv, target, classifier=classes)


def check_folds(n_folds: int, target: np.ndarray, classes: bool, groups: Any) -> None:
    """Raise where so many folds cannot be made, before scikit-learn says it in its words."""
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise ValueError(
            f"{n_folds} folds need as many groups, got {len(np.unique(groups))}: use fewer folds."
        )
    if len(target) < n_folds:
        raise ValueError(f"{n_folds} folds need as many rows, got {len(target)}: use fewer folds.")
    if classes and groups is None:
        fewest = int(np.bincount(target).min())
        if fewest < n_folds:
            raise ValueError(
                f"{n_folds} folds need as many rows of every class, the rarest has {fewest}: use "
                "fewer folds, or leave out or join rare classes."
            )


def check_splits(
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    codes: np.ndarray | None,
    s: np.ndarray,
    groups: Any,
    targets: np.ndarray | None = None,
) -> None:
    """Raise where a fold cannot be fitted, and say which.

    Parameters
    ----------
    splits : sequence of (ndarray, ndarray)
    codes : ndarray or None
        Codes of the classes.
    s : ndarray
        Sample weights.
    groups : array-like or None
    targets : ndarray, default=None
        Those that are numbers.
    """
    if len(splits) < 2:
        raise ValueError(f"cv gave {len(splits)} split(s); at least 2 are needed.")
    for i, (train, test) in enumerate(splits):
        if not s[train].any() or not s[test].any():
            raise ValueError(f"Fold {i} has no training or no test rows with positive weight.")
        if groups is not None:
            torn = np.intersect1d(np.asarray(groups)[train], np.asarray(groups)[test])
            if len(torn):
                raise ValueError(
                    f"Fold {i} has rows of group {torn[0]!r} on both sides: use a cv that keeps "
                    "groups together, such as GroupKFold, or leave out groups."
                )
        if targets is not None and not np.ptp(targets[train][s[train] > 0], axis=0).all():
            raise ValueError(
                f"The target is constant on the training rows of fold {i}: use another number of "
                "folds, or a cv that shuffles the rows."
            )
        if codes is not None:
            missing = np.setdiff1d(codes, codes[train][s[train] > 0])
            if len(missing):
                raise ValueError(
                    f"The training rows of fold {i} lack {len(missing)} of the "
                    f"{len(np.unique(codes))} classes: use fewer folds or a stratified cv, or "
                    "drop classes with fewer rows than folds."
                )
