"""What a search compares and about how long it takes, said before it begins."""

import time

from joblib import effective_n_jobs

from kernelknife._choice import plan_search
from kernelknife._fitting import prepare_job
from kernelknife._search import scaled_weights
from kernelknife._support.formatting import listed
from kernelknife._support.threads import limited_blas
from kernelknife.estimators import KnifeClassifier, KnifeRegressor

__all__ = ["announce_search", "in_words"]

# Steps of a path on a fold, those of its starts, refits and scores included, in units of one step
# on all rows; and what a path costs at least, whatever its rows. Tables differ by a factor of two
# in either direction.
STEPS_PER_PATH, LEAST_SECONDS_PER_PATH = 60, 0.08
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
    path = max(STEPS_PER_PATH * _time_step(plan, task, X, y), LEAST_SECONDS_PER_PATH)
    seconds = plan.n_paths * path / effective_n_jobs(search.n_jobs)
    advice = "" if quick or seconds <= LONG else f"; {ADVICE}"
    return (
        f"comparing {listed(plan.kernels)} on {plan.n_folds} folds of {plan.n_rows} rows, about "
        f"{plan.n_paths} paths: {in_words(seconds)}{advice}"
    )


def _time_step(plan, task, X, y):
    """Return the seconds of one step of the Gaussian kernel: machine, gradient and curvature."""
    single = KnifeRegressor if task == "regression" else KnifeClassifier
    every = max(len(X) // plan.n_rows, 1)
    job = prepare_job(single("rbf", n_centers=plan.n_centers), X[::every], y[::every])
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
