"""What a search is to do before it begins: the rows to hold out, a quick search, and the time.

Rows that are held out are used neither to fit nor to select, only to judge the selection. A quick
search is a preset of the cross-validated estimators and not another way to search: an answer within
about ten seconds. Its figures were chosen by measuring tables from 60 to 100,000 rows on one core:
importing the package and reading a long table take up to five seconds, which leaves about five for
everything else.
"""

import time
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import KFold, TimeSeriesSplit

from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._engine.policy import FOLDS, is_counted
from kernelknife._engine.search import scaled_weights
from kernelknife._tuning.candidates import SearchSpec
from kernelknife._tuning.halving import SearchPlan
from kernelknife._tuning.splits import draw_rows
from kernelknife._utils.messages import listed
from kernelknife._utils.threads import limited_blas
from kernelknife.app.messages import Hint, Message
from kernelknife.app.options import SearchOptions, SelectOptions
from kernelknife.app.tables import Table, TableError
from kernelknife.kernels import KERNELS as REGISTRY
from kernelknife.losses import Loss
from kernelknife.survival import ESTIMATORS

__all__ = [
    "FEWEST_ROWS",
    "SUBSTITUTE_ROWS",
    "announce_search",
    "arguments_of_search",
    "check_centers",
    "draw_quick_rows",
    "folds_in_time",
    "in_words",
    "split_held_out",
]

# A standard error over folds needs five folds of two rows each.
FEWEST_ROWS = 10
# Straight lines for effects of many columns, one joint function for everything else.
KERNELS = ("linear", "rbf")
ALPHA = 0.3  # in the middle of those that a full search begins with
QUICK_FOLDS = 3
PENALTIES = 8
# A path takes longer the more rows, columns and classes there are. What ROWS_TIMES_ROOT allows is
# divided by the root of the number of columns and by the number of classes.
ROWS_TIMES_ROOT, LEAST_ROWS, MOST_ROWS = 10_000, 300, 1000
SUBSTITUTE_ROWS = 300  # the time to find substitutes grows with the cube of the rows
# Steps of a path on a fold in the screening and to the end, those of its starts, refits and scores
# included, in units of one Gaussian step on as many rows: the geometric means over seven tables of
# 60 to 1,500 rows, which differ from them by a factor of two to three in either direction.
SCREENING_STEPS, FINAL_STEPS = 22, 55
LEAST_SECONDS_PER_PATH = 0.015  # whatever its rows
# A step is repeated for this long, and its median counts: a single one of a millisecond is chance.
MEASURED_SECONDS = 0.2
LONG = 120  # seconds after which a quick search is recommended
QUICK = Hint("for a first answer in about ten seconds, use {}", {"quick": True})


def split_held_out(
    table: Table, share: float | str, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the training rows and of the rows to hold out.

    Where a column of the table marks the rows to hold out, these are taken. Otherwise groups of
    rows are held out as a whole, and without groups the same share of every class.

    Parameters
    ----------
    table : Table
    share : float or str
        Share of the rows, or of the groups, to hold out; a text names the column that the table
        has read already.
    random_state : int
    """
    n = len(table.target)
    if table.held_out is not None:
        return _check_split(table, table.held_out, "Holding out the rows that the column marks")
    share = float(share)
    if not 0.0 <= share < 1.0:
        raise TableError(
            f"The share to hold out must lie between 0 and 1, got {share:g}.",
            Hint("use {} for a quarter of the rows", {"hold_out": 0.25}),
        )
    if share == 0.0:
        return np.arange(n), np.arange(0)
    rng = np.random.default_rng(random_state)
    if table.order is not None:
        held = np.arange(n) >= n - round(share * n)  # the last rows
    else:
        held = (_draw_rows if table.groups is None else _draw_groups)(table, share, rng)
    return _check_split(table, held, f"Holding out {share:g} of {n} rows")


def _check_split(table, held, what):
    """Return the indices of both kinds of rows, if there are enough of each."""
    if (~held).sum() < FEWEST_ROWS or not held.any():
        raise TableError(
            f"{what} leaves too few: {FEWEST_ROWS} rows are needed to select columns, and one to "
            "judge the selection."
        )
    if table.task == "classification":
        lost = np.setdiff1d(table.target, table.target[~held])
        if len(lost):
            raise TableError(f"{what} leaves no row of class {lost[0]!r} to learn from.")
    if table.groups is not None:
        split = np.intersect1d(table.groups[held], table.groups[~held])
        if len(split):
            raise TableError(f"{what} splits the group {split[0]!r}: hold out whole groups.")
    return np.flatnonzero(~held), np.flatnonzero(held)


def _draw_groups(table, share, rng):
    """Return which rows to hold out, as whole groups."""
    groups = np.unique(table.groups)
    drawn = rng.choice(groups, max(1, round(share * len(groups))), replace=False)
    return np.isin(table.groups, drawn)


def _draw_rows(table, share, rng):
    """Return which rows to hold out, the same share of every class."""
    held = np.zeros(len(table.target), dtype=bool)
    strata = np.zeros(len(held))
    if table.task != "regression":
        strata = table.target if table.task == "classification" else table.target[:, 1]
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        held[rng.choice(rows, round(share * len(rows)), replace=False)] = True
    return held


def arguments_of_search(options: SearchOptions) -> dict:
    """Return what is compared: the preset of a quick search, and over it what was asked for."""
    arguments: dict = {}
    if options.quick:
        arguments = {
            "kernel": list(KERNELS), "alphas": [ALPHA], "sparsities": PENALTIES, "cv": QUICK_FOLDS
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


def folds_in_time(folds: Any, table: Table, options: SelectOptions) -> Any:
    """Return how rows in the order of time are split: blocks of neighbors, or always forward.

    Parameters
    ----------
    folds : int or None
    table : Table
    options : SelectOptions
    """
    n_folds = FOLDS.n_folds if folds is None else int(folds)
    if options.forward:
        return TimeSeriesSplit(n_folds)
    # Without shuffling a number of folds is blocks of neighbors, of every class where there are
    # classes; events are not shuffled over the folds, either.
    return KFold(n_folds) if table.task == "survival" else n_folds


def check_centers(options: SearchOptions, loss: Loss | None) -> None:
    """Raise where centers are asked for with a loss or a kernel that has no model on them."""
    if options.n_centers in ("auto", 0, None):
        return
    kernels = options.kernel if isinstance(options.kernel, list | tuple) else [options.kernel]
    indefinite = [one for one in kernels if getattr(REGISTRY.get(str(one), one), "indefinite", 0)]
    if indefinite:
        raise TableError(
            f"The kernel {indefinite[0]} is not positive semi-definite, so that a model on centers "
            "has no minimum.",
            Hint("fit all rows with {}", {"n_centers": 0}),
            Hint("choose another kernel, such as {}", {"kernel": "rbf"}),
        )
    if loss is not None and loss.surrogate is not None:
        name = options.loss if options.quantile is None else "of a quantile"
        near = [Hint("use {}, which is close to it", {"loss": "squared_hinge"})]
        raise TableError(
            f"The loss {name} has no model on centers.",
            Hint("fit all rows with {}", {"n_centers": 0}),
            *(near if loss.task == "classification" else []),
        )


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


def announce_search(
    spec: SearchSpec, plan: SearchPlan, X, y, *, quick: bool = False, n_permutations: int = 0
) -> Message:
    """Return a note on what is compared, on which folds, and about how long it takes.

    Parameters
    ----------
    spec : SearchSpec
    plan : SearchPlan
    X, y : ndarray
        The rows that it will be fitted to.
    quick : bool, default=False
        Whether it is a quick search already; otherwise one is recommended where it takes long.
    n_permutations : int, default=0
        Paths of permuted targets that follow.
    """
    screening = SCREENING_STEPS * _time_step(spec.fit, X, y, plan.screening_rows, None)
    final = FINAL_STEPS * _time_step(spec.fit, X, y, plan.training_rows, plan.n_centers)
    seconds = plan.n_screening_paths * max(screening, LEAST_SECONDS_PER_PATH)
    seconds += plan.n_final_paths * max(final, LEAST_SECONDS_PER_PATH)
    seconds += n_permutations * max(final, LEAST_SECONDS_PER_PATH)
    seconds /= effective_n_jobs(spec.n_jobs)
    inside = f", with {plan.n_folds} searches inside the folds" if spec.nested == "full" else ""
    return Message(
        f"comparing {listed(spec.kernels)} on {plan.n_folds} folds of {plan.n_rows} rows{inside}, "
        f"about {plan.n_paths} paths: {in_words(seconds)}",
        *([] if quick or seconds <= LONG else [QUICK]),
    )


def _time_step(spec: FitSpec, X, y, n_rows: int, n_centers: int | None) -> float:
    """Return the seconds of one step of the Gaussian kernel: model, gradient and curvature.

    It is zero where these rows cannot be fitted, because their targets are all the same: an
    estimate must not end a search.
    """
    classes = spec.task == "classification"
    codes = np.unique(y, return_inverse=True)[1] if classes else y
    rows = draw_rows(codes, classes, n_rows, 0)
    plain = ESTIMATORS[spec.task]("rbf")
    spec = FitSpec.from_estimator(plain, n_centers=n_centers)
    with limited_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are constant in these rows
        try:
            problem = set_up(spec, prepare_arrays(spec, X[rows], y[rows])).problem
        except ValueError:
            return 0.0
        w = scaled_weights(problem)
        problem.linearize(problem.solve(w))  # the first one is never like the others
        seconds: list[float] = []
        while sum(seconds) < MEASURED_SECONDS:
            begin = time.perf_counter()
            problem.linearize(problem.solve(w))
            seconds.append(time.perf_counter() - begin)
        return float(np.median(seconds))


def in_words(seconds: float) -> str:
    """Return a time in words, rounded."""
    if seconds < 15:
        return "a few seconds"
    if seconds < 90:
        return f"about {10 * round(seconds / 10)} seconds"
    if seconds < 90 * 60:
        return f"about {max(round(seconds / 60), 2)} minutes"
    return f"about {seconds / 3600:.0f} hours"
