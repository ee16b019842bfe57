"""What a search compares and about how long it takes, said before it begins."""

import time
from numbers import Integral

from joblib import effective_n_jobs

from kernelknife._choice import (
    alphas_to_try,
    default_folds,
    expected_paths,
    kernels_to_compare,
)
from kernelknife._search import scaled_weights
from kernelknife._support.threads import limited_blas
from kernelknife.estimators import KnifeClassifier, KnifeRegressor, prepare_job
from kernelknife.model_selection import EXACT_ROWS, SEARCH_CENTERS

__all__ = ["announce_search", "in_words"]

# Steps of a path on a fold, those of its starts, refits and scores included, in units of one step
# on all rows; and what a path costs at least, whatever its rows. Tables differ by a factor of two
# in either direction.
STEPS_PER_PATH, LEAST_SECONDS_PER_PATH = 60, 0.08


def announce_search(search, task, X, y) -> str:
    """Return one line: what is compared, on which folds, and about how long it takes.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Not fitted.
    task : {"regression", "classification"}
    X, y : ndarray
        The rows that it will be fitted to.
    """
    kernels = kernels_to_compare(search.kernel)
    alphas, extends = alphas_to_try(search.alphas, kernels)
    n_rows = len(X)
    counted = search.cv is None or isinstance(search.cv, Integral)
    if counted and search.search_rows is not None:
        n_rows = min(n_rows, search.search_rows)
    n_folds = int(search.cv) if isinstance(search.cv, Integral) else default_folds(n_rows)
    n_paths = expected_paths(alphas, extends, n_folds, n_rows)
    path = max(STEPS_PER_PATH * _time_step(search, task, X, y, n_rows), LEAST_SECONDS_PER_PATH)
    listed = list(kernels)
    words = ", ".join(listed[:-1]) + f" and {listed[-1]}" if len(listed) > 1 else listed[0]
    return (
        f"comparing {words} on {n_folds} folds of {n_rows} rows, about {n_paths} paths: "
        f"{in_words(n_paths * path / effective_n_jobs(search.n_jobs))}"
    )


def _time_step(search, task, X, y, n_rows):
    """Return the seconds of one step of the Gaussian kernel: machine, gradient and curvature."""
    n_centers = search.n_centers
    if n_centers == "auto":
        n_centers = SEARCH_CENTERS if n_rows > EXACT_ROWS else None
    single = KnifeRegressor if task == "regression" else KnifeClassifier
    every = max(len(X) // n_rows, 1)
    job = prepare_job(single("rbf", n_centers=n_centers), X[::every], y[::every])
    with limited_blas():
        w = scaled_weights(job.problem)
        job.problem.linearize(job.problem.solve(w))  # the first one is never like the others
        begin = time.perf_counter()
        job.problem.linearize(job.problem.solve(w))
        return time.perf_counter() - begin


def in_words(seconds: float) -> str:
    """Return a time as a person would say it."""
    if seconds < 15:
        return "a few seconds"
    if seconds < 90:
        return f"about {10 * round(seconds / 10)} seconds"
    if seconds < 90 * 60:
        return f"about {max(round(seconds / 60), 2)} minutes"
    return f"about {seconds / 3600:.0f} hours"
