"""The decisions that the data take where the user has left them open, each in one function.

Classification or regression, the loss, exact or Nystrom and how many centers, how many folds. The
estimators, the components, cross-validation, the quick look and the table application ask here, and
nowhere else. The numbers stand together, with the benchmark that set them.
"""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from kernelknife._engine.data.survival import looks_like_survival
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import number, warn
from kernelknife.kernels import Kernel
from kernelknife.losses import COUPLED_LOSSES, LOSSES, Loss, check_loss

__all__ = [
    "CENTERS",
    "FOLDS",
    "affordable_folds",
    "component_centers",
    "deals_classes",
    "default_loss",
    "final_centers",
    "fit_centers",
    "has_few_rows",
    "infer_task",
    "needs_exact",
    "planned_folds",
    "quick_centers",
    "rows_to_search",
    "search_centers",
    "sums_pay",
    "task_of",
    "task_of_loss",
    "unjudged_classes",
]

# -- the task, and the loss ----------------------------------------------------------------------

FEW_CLASSES = 10  # whole numbers with more distinct values are taken for a number
DEFAULT_LOSSES = {
    "regression": "squared",
    "classification": "squared_hinge",
    "survival": "cox",
}
# What an estimator's tags call it in scikit-learn, by the task.
KINDS = {"classifier": "classification", "survival": "survival"}


def infer_task(y: Any) -> str:
    """Return "classification", "regression" or "survival", judged by the target alone.

    A structured array of a truth value and a number, as in scikit-survival, holds survival times.
    Texts and truth values are classes. Whole numbers are classes where there are at most ten
    different ones, and one column of them. Everything else is a number.
    """
    if looks_like_survival(y):
        return "survival"
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        return "regression"
    y = y.ravel()
    if y.dtype.kind not in "iuf":
        return "classification"
    whole = y.dtype.kind in "iu" or bool((np.isfinite(y) & (y % 1 == 0)).all())
    return "classification" if whole and len(np.unique(y)) <= FEW_CLASSES else "regression"


def task_of(estimator: Any) -> str:
    """Return the task of an estimator."""
    return KINDS.get(get_tags(estimator).estimator_type, "regression")


def task_of_loss(loss: Any) -> str | None:
    """Return the task of a loss by name or object, None where the name is unknown."""
    if isinstance(loss, Loss):
        return loss.task
    known = LOSSES | COUPLED_LOSSES
    return known[loss].task if isinstance(loss, str) and loss in known else None


def default_loss(loss: Any, task: str) -> Loss:
    """Return a loss as an object, checked against the task; None is the default of the task."""
    return check_loss(DEFAULT_LOSSES[task] if loss is None else loss, task)


# -- exact or Nystrom, and how many centers -------------------------------------------------------


@dataclass(frozen=True)
class CenterPolicy:
    """Up to how many rows a model is exact, and how many centers it has beyond.

    Attributes
    ----------
    without_memory : int
        Of a fit whose kernel matrix does not fit the memory budget.
    search_exact_rows, search : int
        Of the models that cross-validation compares. In benchmarks/centers.py a path on 300 centers
        has the errors of the exact path, 100 centers raise them by up to 8 % for numbers, and 500
        do not lower them. The path on 300 is the quicker one from about 600 rows on (Gaussian
        kernel, numbers), or 1,000 (ANOVA kernel, classes).
    search_exact_rows_convex : int
        Convex kernels are exact up to more rows: their matrices are products of the columns, which
        takes less time than centers do, and centers that do not span the columns would make them
        lose their one minimum.
    rows_per_center, most_final : int
        The model that is fitted to all rows in the end is one that the folds have judged. With more
        centers or exact, it follows noise that theirs could not follow
        (benchmarks/chosen_centers.py). A table with more rows than the search uses allows more: one
        center per ``rows_per_center`` rows, up to a limit.
    component_exact_rows, component : int
        Of principal components, discriminants and canonical variates: with more rows an exact path
        takes minutes, with centers seconds.
    quick_exact_rows, quick : int
        Of a quick look (benchmarks/quick.py).
    """

    without_memory: int = 1000
    search_exact_rows: int = 1000
    search_exact_rows_convex: int = 3000
    search: int = 300
    rows_per_center: int = 10
    most_final: int = 500
    component_exact_rows: int = 1500
    component: int = 300
    quick_exact_rows: int = 400
    quick: int = 100


CENTERS = CenterPolicy()
# Columns that the kernel sees, as a share of the rows, up to which a problem of their products is
# the faster one: these are summed once, by less work than one factorization of all rows takes.
FEWER_COLUMNS = 0.5


def needs_exact(loss: Loss, kernels: Iterable[Kernel]) -> bool:
    """Whether a loss or one of some kernels has no model on centers."""
    return loss.needs_rows or any(kernel.indefinite for kernel in kernels)


def fit_centers(
    n_centers: Any,
    kernel: Kernel,
    loss: Loss,
    *,
    given: bool,
    in_memory: bool,
    n_rows: int,
    memory_budget: float,
) -> int | None:
    """Return how many centers a single fit has, None for the exact method.

    Warns where memory is the reason.

    Parameters
    ----------
    n_centers : int, None or "auto"
        What the user asks for; "auto" is what cross-validation would take for the model of all
        rows.
    kernel : Kernel
    loss : Loss
    given : bool
        Whether the user gives the centers themselves.
    in_memory : bool
        Whether all rows are in the memory of this process.
    memory_budget : float
        Most bytes of a kernel matrix of all rows.
    """
    if n_centers == "auto":
        # The policy is made for rows in memory; elsewhere there are many of them in any case.
        n_centers = None if given or not in_memory else final_centers("auto", kernel, loss, n_rows)
    if n_centers is not None:
        asked: int = n_centers
        return asked
    most = min(CENTERS.without_memory, n_rows)
    if given or not in_memory:
        return most
    if 8.0 * n_rows * n_rows <= memory_budget:
        return None
    warn(
        f"The exact method needs {number(8 * n_rows**2 / 2**30)} GiB for one kernel matrix of "
        f"{n_rows} rows, over the budget of {number(memory_budget / 2**30)} GiB: {most} centers "
        "are used instead. Set n_centers, or raise memory_budget.",
    )
    return most


def sums_pay(n_rows: int, n_columns: int) -> bool:
    """Whether products of columns summed over the rows make a path faster than the rows do."""
    return n_columns <= FEWER_COLUMNS * n_rows


def search_centers(given: Any, kernel: Kernel, loss: Loss, n_rows: int) -> int | None:
    """Return the number of centers with which cross-validation compares a kernel with others.

    Parameters
    ----------
    given : int, None or "auto"
        The user's ``n_centers``; all but "auto" holds for every model.
    """
    if given != "auto":
        asked: int | None = given  # a specification checks it
        return asked
    most = CENTERS.search_exact_rows_convex if kernel.convex else CENTERS.search_exact_rows
    return None if n_rows <= most or needs_exact(loss, [kernel]) else CENTERS.search


def final_centers(given: Any, kernel: Kernel, loss: Loss, n_rows: int) -> int | None:
    """Return the number of centers of the selected model, which is fitted to all rows."""
    count = search_centers(given, kernel, loss, n_rows)
    if count is None or given != "auto":
        return count
    return min(max(count, n_rows // CENTERS.rows_per_center), CENTERS.most_final)


def component_centers(n_centers: int | None, *, given: bool, n_rows: int) -> int | None:
    """Return the number of centers of components; see :func:`fit_centers` for the parameters."""
    if n_centers is None and not given and n_rows > CENTERS.component_exact_rows:
        return CENTERS.component
    return n_centers


def quick_centers(kernels: Iterable[Kernel], loss: Loss, n_rows: int) -> int | None:
    """Return the number of centers of a quick look."""
    exact = n_rows <= CENTERS.quick_exact_rows or needs_exact(loss, kernels)
    return None if exact else CENTERS.quick


# -- folds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldPolicy:
    """How rows are split where the user has not chosen.

    Attributes
    ----------
    n_folds : int
    few_rows, repeats : int
        Below this number of rows one split into folds is mostly chance, and it is repeated.
    fewest_of_a_class : int
        Rows of a rare class that a random subset of the rows takes: two for every fold.
    few_per_class : int
        Rows per class, of three classes or more, below which the best of many candidates is mostly
        chance: half a dozen rows that are classified otherwise decide.
    """

    n_folds: int = 5
    few_rows: int = 200
    repeats: int = 2
    fewest_of_a_class: int = 10
    few_per_class: int = 15


FOLDS = FoldPolicy()


def is_counted(cv: Any) -> bool:
    """Whether folds are given by their number, or not at all; anything else names its rows."""
    return cv is None or isinstance(cv, numbers.Integral)


def planned_folds(cv: Any, n_rows: int) -> int:
    """Return how many folds will be made of ``n_rows`` rows.

    A splitter whose number depends on the rows themselves counts as the default number.
    """
    if isinstance(cv, numbers.Integral):
        return int(cv)
    if cv is None:
        return FOLDS.n_folds * (FOLDS.repeats if n_rows < FOLDS.few_rows else 1)
    if hasattr(cv, "get_n_splits"):
        try:
            return int(cv.get_n_splits())
        except (TypeError, ValueError):
            return FOLDS.n_folds
    return len(cv) if hasattr(cv, "__len__") else FOLDS.n_folds


def affordable_folds(codes: np.ndarray, n_folds: int) -> int | None:
    """Return as many folds as the rarest class has rows where these are fewer than ``n_folds``.

    Every fold needs a row of it. Classes that cannot be judged do not count. None where that
    changes nothing, or where no two classes have two rows.
    """
    counts = np.bincount(codes)
    rarest = int(np.delete(counts, unjudged_classes(codes, None)).min())
    return rarest if 2 <= rarest < n_folds else None


def deals_classes(codes: np.ndarray) -> bool:
    """Whether classes with fewer rows than folds are dealt to these, one row to a fold.

    With several classes a fold can do without one of them. Of two, both have to be in every fold.
    """
    judged = np.delete(np.bincount(codes), unjudged_classes(codes, None))
    return len(judged) > 2 and 2 <= judged.min() < FOLDS.n_folds


def has_few_rows(codes: np.ndarray | None) -> bool:
    """Whether there are several classes of so few rows that folds hardly tell candidates apart."""
    n_classes = 0 if codes is None else len(np.unique(codes))
    return codes is not None and n_classes > 2 and len(codes) < FOLDS.few_per_class * n_classes


def unjudged_classes(codes: np.ndarray, cv: Any) -> np.ndarray:
    """Return the classes with too few rows for the folds, whose rows all folds train on.

    Those have fewer rows than the number of folds that was asked for, or a single row where none
    was. Empty where fewer than two others are left: nothing could be judged then, and such folds
    are refused.

    Parameters
    ----------
    codes : ndarray of int
        Of the classes.
    cv : int, splitter, iterable or None
        One that names its rows decides for itself.
    """
    if not is_counted(cv):
        return np.zeros(0, dtype=int)
    counts = np.bincount(codes)
    rare = counts < (2 if cv is None else int(cv))
    none = rare.sum() == 0 or (~rare).sum() < 2
    return np.zeros(0, dtype=int) if none else np.flatnonzero(rare)


def rows_to_search(n_rows: int, most: int | None, cv: Any) -> int:
    """Return how many of ``n_rows`` rows a search uses.

    Parameters
    ----------
    most : int or None
        None for all rows.
    cv : int, splitter, iterable or None
        One that is not counted may name its rows, so that it splits all of them.
    """
    return min(n_rows, most) if most is not None and is_counted(cv) else n_rows


def check_memory_budget(memory_budget: Any) -> None:
    """Raise unless a memory budget is a positive number."""
    check_number(memory_budget, "memory_budget", strict=True)
