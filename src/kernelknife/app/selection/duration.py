"""What a search compares and about how long it takes, said before it begins."""

import time
import warnings

import numpy as np
from joblib import effective_n_jobs

from kernelknife._engine.fitting import prepare_job
from kernelknife._engine.search import scaled_weights
from kernelknife._tuning import draw_rows, plan_search
from kernelknife._utils.formatting import listed
from kernelknife._utils.threads import limited_blas
from kernelknife.estimators import KnifeClassifier, KnifeRegressor

__all__ = ["announce_search", "in_words"]

# Steps of a path on a fold in the first look and to the end, those of its starts, refits and scores
# included, in units of one Gaussian step on as many rows: the geometric means over fourteen tables
# of 60 to 3,000 rows, which differ from them by a factor of two to three in either direction.
FIRST_STEPS, LAST_STEPS = 45, 110
LEAST_SECONDS_PER_PATH = 0.03  # whatever its rows
LONG = 120  # seconds that hardly anybody waits without a reason
ADVICE = "--quick gives a first answer in about ten seconds"


def announce_search(search, task, X, y, *, n_folds=None, quick=False) -> str:
    """Return one line: what is compared, on which folds, and about how long it takes.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Not fitted.
    task : {"regression", "classification"}
    X, y : ndarray
        The rows that it will be fitted to.
    n_folds : int, default=None
        Number of folds where the rows decide it; None leaves it to the search.
    quick : bool, default=False
        Whether it is a quick search already; else one is recommended where it takes long.
    """
    plan = plan_search(search, len(X), n_folds=n_folds)
    first = FIRST_STEPS * _time_step(task, X, y, plan.first_training_rows, None)
    last = LAST_STEPS * _time_step(task, X, y, plan.training_rows, plan.n_centers)
    seconds = plan.n_first_paths * max(first, LEAST_SECONDS_PER_PATH)
    seconds += plan.n_last_paths * max(last, LEAST_SECONDS_PER_PATH)
    seconds /= effective_n_jobs(search.n_jobs)
    advice = "" if quick or seconds <= LONG else f"; {ADVICE}"
    return (
        f"comparing {listed(plan.kernels)} on {plan.n_folds} folds of {plan.n_rows} rows, about "
        f"{plan.n_paths} paths: {in_words(seconds)}{advice}"
    )


def _time_step(task, X, y, n_rows, n_centers):
    """Return the seconds of one step of the Gaussian kernel: model, gradient and curvature.

    Where so many rows cannot be fitted, because their targets are all the same, it is zero: a
    guess must not end a search.
    """
    classes = task == "classification"
    single = KnifeClassifier if classes else KnifeRegressor
    codes = np.unique(y, return_inverse=True)[1] if classes else y
    rows = draw_rows(codes, classes, n_rows, 0)
    with limited_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are constant in these rows
        try:
            job = prepare_job(single("rbf", n_centers=n_centers), X[rows], y[rows])
        except ValueError:
            return 0.0
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
