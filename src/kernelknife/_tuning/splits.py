"""How rows are split into folds, and what makes a fold impossible to fit."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from kernelknife._engine.policy import (
    FOLDS,
    affordable_folds,
    deals_classes,
    is_counted,
    unjudged_classes,
)
from kernelknife._utils.messages import warn

__all__ = [
    "check_folds",
    "check_splits",
    "draw_rows",
    "inner_cv",
    "make_splitter",
    "rows_of_splits",
    "warn_of_unjudged",
]

MOST_CLASSES_NAMED = 5  # in a warning


def draw_rows(target: np.ndarray, classes: bool, most: int, seed: int | None) -> np.ndarray:
    """Return at most ``most`` rows at random, in their order.

    Of every class its share is drawn, and of a rare one enough that each fold can have some.

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
    # Rows in the order of their class, each class shuffled: rows at even distances are a fair draw.
    order = np.lexsort((rng.random(n), target))
    drawn = order[np.linspace(0, n - 1, most).round().astype(int)]
    counts = np.bincount(target[drawn], minlength=int(target.max()) + 1)
    few = np.flatnonzero(counts < FOLDS.fewest_of_a_class)
    rare = [order[target[order] == code][: FOLDS.fewest_of_a_class] for code in few]
    return np.unique(np.concatenate([drawn, *rare]))


def rows_of_splits(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the rows that some split trains on or judges, in their order.

    A split need not have all of them: folds of a time series train on the past alone.
    """
    return np.unique(np.concatenate([rows for split in splits for rows in split]))


def make_splitter(
    cv: Any,
    target: np.ndarray,
    classes: bool,
    groups: Any,
    seed: int | None,
    *,
    needs_all_classes: bool = False,
) -> Any:
    """Return the splitter; groups stay together, few rows are split repeatedly.

    Parameters
    ----------
    cv : int, splitter, iterable or None
    target : ndarray
        Codes of the classes, or numbers.
    classes : bool
    groups : array-like or None
    seed : int or None
    needs_all_classes : bool, default=False
        Whether test rows have to be of every class, as some scorings demand.
    """
    if classes and groups is None and len(rare := unjudged_classes(target, cv)):
        kept = np.isin(target, rare)
        others = np.unique(target[~kept], return_inverse=True)[1]
        options = {"needs_all_classes": needs_all_classes}
        return _WithRareRows(make_splitter(cv, others, classes, None, seed, **options), kept)
    repeats = FOLDS.repeats if len(target) < FOLDS.few_rows else 1
    if cv is None and classes and groups is None:
        seed = 0 if seed is None else seed
        if not needs_all_classes and deals_classes(target):
            return _DealtFolds(FOLDS.n_folds, repeats, seed)
        fewer = affordable_folds(target, FOLDS.n_folds)
        if fewer is not None:
            return StratifiedKFold(fewer, shuffle=True, random_state=seed)
    if is_counted(cv):
        n_folds = FOLDS.n_folds if cv is None else cv
        check_folds(n_folds, target, classes, groups)
        if groups is not None:
            return (StratifiedGroupKFold if classes else GroupKFold)(n_folds)
    if cv is None:
        # Rows of a table are often sorted, so that a fold of neighbors is unlike the others.
        repeated = RepeatedStratifiedKFold if classes else RepeatedKFold
        seed = 0 if seed is None else seed
        return repeated(n_splits=FOLDS.n_folds, n_repeats=repeats, random_state=seed)
    return check_cv(cv, target, classifier=classes)


def warn_of_unjudged(classes: np.ndarray, codes: np.ndarray, cv: Any) -> None:
    """Say which classes have too few rows to be judged."""
    rare, counts = unjudged_classes(codes, cv), np.bincount(codes)
    if not len(rare):
        return
    named = [f"{str(classes[k])!r} ({counts[k]})" for k in rare[:MOST_CLASSES_NAMED]]
    others = len(rare) - len(named)
    more = f" and {others} more" if others else ""
    warn(
        f"Classes with too few rows for the folds cannot be judged, {', '.join(named)}{more}: "
        "their rows are among the training rows of every fold.",
        UserWarning,
    )


class _WithRareRows:
    """A splitter of the other rows, which adds those of rare classes to all training rows."""

    def __init__(self, splitter: Any, kept: np.ndarray):
        self.splitter, self.kept = splitter, kept

    def split(
        self, X: Any, y: np.ndarray, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield training and test rows."""
        kept, others = np.flatnonzero(self.kept), np.flatnonzero(~self.kept)
        for train, test in self.splitter.split(np.zeros(len(others)), y[others]):
            yield np.sort(np.concatenate([others[train], kept])), others[test]


class _DealtFolds:
    """Folds to which the rows of every class are dealt in turn, also where these are fewer.

    As many folds as the rarest class has rows would train on two thirds of the rows, or on half of
    them: too few to tell candidates apart where rows are few and classes several.
    """

    def __init__(self, n_folds: int, repeats: int, seed: int):
        self.n_folds, self.repeats, self.seed = n_folds, repeats, seed

    def split(
        self, X: Any, y: np.ndarray, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield training and test rows."""
        rng = np.random.default_rng(self.seed)
        for _ in range(self.repeats):
            # Every class begins where the one before it has ended: folds differ by one row at most.
            fold_of = np.empty(len(y), dtype=int)
            fold_of[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y)) % self.n_folds
            for fold in range(self.n_folds):
                yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


def inner_cv(
    cv: Any,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    fold: int,
    target: np.ndarray,
    classes: bool,
    groups: Any,
) -> Any:
    """Return the ``cv`` of a search inside the training rows of a fold.

    A number of folds is lowered to what these rows can have. Folds that name their rows cannot be
    made anew: there the other folds take part, without the rows that this one does not train on.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        That of all rows.
    splits : sequence of (ndarray, ndarray)
        The folds that it has made.
    fold : int
    target : ndarray
        Codes of the classes, or numbers, of the training rows.
    classes : bool
    groups : ndarray or None
        Of the training rows.
    """
    if not is_counted(cv):
        if hasattr(cv, "split") and not isinstance(cv, PredefinedSplit):
            return cv
        mine = splits[fold][0]
        sides = [
            (np.flatnonzero(np.isin(mine, train)), np.flatnonzero(np.isin(mine, test)))
            for i, (train, test) in enumerate(splits)
            if i != fold
        ]
        left = [(train, test) for train, test in sides if len(train) and len(test)]
        if len(left) < 2:
            raise ValueError(
                f"Of the other folds that cv names, {len(left)} have training and test rows among "
                "them, and at least 2 are needed."
            )
        return left
    if cv is None and groups is None:
        return None  # what this stands for looks at the rows
    if groups is not None:
        most = len(np.unique(groups))
    else:
        most = len(target)
        if classes:
            counts = np.bincount(target)
            most = int(np.delete(counts, unjudged_classes(target, None)).min())
    return min(FOLDS.n_folds if cv is None else cv, max(most, 2))


def check_folds(n_folds: int, target: np.ndarray, classes: bool, groups: Any) -> None:
    """Raise where ``n_folds`` folds cannot be made, with advice that scikit-learn does not give."""
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
    """Raise where a fold cannot be fitted, and name it.

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
