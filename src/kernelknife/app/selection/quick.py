"""A first answer within about ten seconds: what a quick search looks at.

It is a preset of the cross-validated estimators and no other way to search. The figures were chosen
by measuring tables from 60 to 100,000 rows on one core: importing the package and reading a long
table take up to five seconds, so that some five are left for everything else.
"""

import numbers

import numpy as np

from kernelknife._engine.fitting import resolved_loss
from kernelknife._tuning import draw_rows, kernels_to_compare, needs_exact

__all__ = ["STAND_IN_ROWS", "chosen_options", "draw_quick_rows", "quick_centers"]

# Straight lines for effects of many columns, one joint function for everything else.
KERNELS = ("linear", "rbf")
ALPHA = 0.3  # in the middle of those that a full search begins with
FOLDS = 3
PENALTIES = 8
# A path takes longer the more rows, columns and classes there are. What ROWS_TIMES_ROOT allows is
# divided by the root of the number of columns and by the number of classes.
ROWS_TIMES_ROOT, LEAST_ROWS, MOST_ROWS = 10_000, 300, 1000
EXACT_ROWS, CENTERS = 400, 100  # beyond so many rows centers are faster than the exact method
STAND_IN_ROWS = 300  # the search for substitutes takes a time that grows with the cube of the rows


def chosen_options(quick, *, kernel, alpha, folds, n_centers) -> dict:
    """Return options of the search: the preset of a quick one, and over it what was asked for.

    Parameters
    ----------
    quick : bool
    kernel, alpha, folds, n_centers : see :func:`kernelknife.app.selection.select_features`
    """
    options: dict = {}
    if quick:
        options = {"kernel": list(KERNELS), "alphas": [ALPHA], "sparsities": PENALTIES, "cv": FOLDS}
    if not (isinstance(kernel, str) and kernel == "auto"):
        options["kernel"] = kernel
    if alpha is not None:
        options["alphas"] = [alpha]
    if folds is not None:
        options["cv"] = folds
    if n_centers != "auto":
        options |= {"n_centers": n_centers or None, "search_rows": None}
    return options


def quick_centers(search, n_rows) -> int | None:
    """Return the number of centers of a quick search, None for the exact method.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Not fitted.
    n_rows : int
        Rows that it is given.
    """
    kernels = kernels_to_compare(search.kernel).values()
    exact = n_rows <= EXACT_ROWS or needs_exact(resolved_loss(search), kernels)
    return None if exact else CENTERS


def draw_quick_rows(y, n_columns, task, folds, random_state) -> np.ndarray:
    """Return the rows that a quick search looks at, in random order.

    Folds that are counted are blocks of neighbors, and rows of a table are often sorted: in random
    order a block is a fair sample. Folds that are not counted may name their rows, so that all rows
    stay where they are.

    Parameters
    ----------
    y : ndarray
        The target of the training rows.
    n_columns : int
        Columns of numbers that the table becomes.
    task : {"regression", "classification"}
    folds : int, splitter or None
    random_state : int
    """
    if not (folds is None or isinstance(folds, numbers.Integral)):
        return np.arange(len(y))
    classes = task == "classification"
    target = np.unique(y, return_inverse=True)[1] if classes else y
    n_models = int(target.max()) + 1 if classes else 1
    allowed = ROWS_TIMES_ROOT / (n_models * np.sqrt(n_columns))
    most = int(np.clip(allowed, LEAST_ROWS, MOST_ROWS))
    rows = draw_rows(target, classes, most, random_state)
    return np.random.default_rng(random_state).permutation(rows)
