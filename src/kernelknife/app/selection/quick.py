"""A first answer within about ten seconds: the options and the rows of a quick search.

It is a preset of the cross-validated estimators and not another way to search. The figures were
chosen by measuring tables from 60 to 100,000 rows on one core: importing the package and reading a
long table take up to five seconds, which leaves about five for everything else.
"""

import numpy as np

from kernelknife._engine.policy import is_counted
from kernelknife._tuning.splits import draw_rows
from kernelknife.app.options import SearchOptions

__all__ = ["SUBSTITUTE_ROWS", "arguments_of_search", "draw_quick_rows"]

# Straight lines for effects of many columns, one joint function for everything else.
KERNELS = ("linear", "rbf")
ALPHA = 0.3  # in the middle of those that a full search begins with
FOLDS = 3
PENALTIES = 8
# A path takes longer the more rows, columns and classes there are. What ROWS_TIMES_ROOT allows is
# divided by the root of the number of columns and by the number of classes.
ROWS_TIMES_ROOT, LEAST_ROWS, MOST_ROWS = 10_000, 300, 1000
SUBSTITUTE_ROWS = 300  # the time to find substitutes grows with the cube of the rows


def arguments_of_search(options: SearchOptions) -> dict:
    """Return what is compared: the preset of a quick search, and over it what was asked for."""
    arguments: dict = {}
    if options.quick:
        arguments = {
            "kernel": list(KERNELS), "alphas": [ALPHA], "sparsities": PENALTIES, "cv": FOLDS
        }  # fmt: skip
    if not (isinstance(options.kernel, str) and options.kernel == "auto"):
        arguments["kernel"] = options.kernel
    if options.alpha is not None:
        arguments["alphas"] = [options.alpha]
    if options.folds is not None:
        arguments["cv"] = options.folds
    if options.n_centers != "auto":
        arguments |= {"n_centers": options.n_centers or None, "search_rows": None}
    return arguments


def draw_quick_rows(y, n_columns, task, folds, random_state) -> np.ndarray:
    """Return the rows of a quick search, in random order.

    Folds given by their number are blocks of neighbors, and rows of a table are often sorted: in
    random order a block is a fair sample. A splitter may name its rows, so that all rows stay where
    they are.

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
    if not is_counted(folds):
        return np.arange(len(y))
    classes = task == "classification"
    target = np.unique(y, return_inverse=True)[1] if classes else y
    n_models = int(target.max()) + 1 if classes else 1
    allowed = ROWS_TIMES_ROOT / (n_models * np.sqrt(n_columns))
    most = int(np.clip(allowed, LEAST_ROWS, MOST_ROWS))
    rows = draw_rows(target, classes, most, random_state)
    return np.random.default_rng(random_state).permutation(rows)
