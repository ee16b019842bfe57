"""What a search compares and about how long it takes, announced before it begins."""

import time
import warnings

import numpy as np
from joblib import effective_n_jobs

from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._engine.search import scaled_weights
from kernelknife._tuning.candidates import SearchSpec
from kernelknife._tuning.halving import SearchPlan
from kernelknife._tuning.splits import draw_rows
from kernelknife._utils.messages import listed
from kernelknife._utils.threads import limited_blas
from kernelknife.app.messages import Hint, Message
from kernelknife.estimators import KnifeClassifier, KnifeRegressor

__all__ = ["announce_search", "in_words"]

# Steps of a path on a fold in the screening and to the end, those of its starts, refits and scores
# included, in units of one Gaussian step on as many rows: the geometric means over fourteen tables
# of 60 to 3,000 rows, which differ from them by a factor of two to three in either direction.
SCREENING_STEPS, FINAL_STEPS = 45, 110
LEAST_SECONDS_PER_PATH = 0.03  # whatever its rows
LONG = 120  # seconds after which a quick search is recommended
QUICK = Hint("for a first answer in about ten seconds, use {}", {"quick": True})


def announce_search(spec: SearchSpec, plan: SearchPlan, X, y, *, quick: bool = False) -> Message:
    """Return a note on what is compared, on which folds, and about how long it takes.

    Parameters
    ----------
    spec : SearchSpec
    plan : SearchPlan
    X, y : ndarray
        The rows that it will be fitted to.
    quick : bool, default=False
        Whether it is a quick search already; otherwise one is recommended where it takes long.
    """
    screening = SCREENING_STEPS * _time_step(spec.fit, X, y, plan.screening_rows, None)
    final = FINAL_STEPS * _time_step(spec.fit, X, y, plan.training_rows, plan.n_centers)
    seconds = plan.n_screening_paths * max(screening, LEAST_SECONDS_PER_PATH)
    seconds += plan.n_final_paths * max(final, LEAST_SECONDS_PER_PATH)
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
    plain = KnifeClassifier("rbf") if classes else KnifeRegressor("rbf")
    spec = FitSpec.from_estimator(plain, n_centers=n_centers)
    with limited_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are constant in these rows
        try:
            problem = set_up(spec, prepare_arrays(spec, X[rows], y[rows])).problem
        except ValueError:
            return 0.0
        w = scaled_weights(problem)
        problem.linearize(problem.solve(w))  # the first one is never like the others
        begin = time.perf_counter()
        problem.linearize(problem.solve(w))
        return time.perf_counter() - begin


def in_words(seconds: float) -> str:
    """Return a time in words, rounded."""
    if seconds < 15:
        return "a few seconds"
    if seconds < 90:
        return f"about {10 * round(seconds / 10)} seconds"
    if seconds < 90 * 60:
        return f"about {max(round(seconds / 60), 2)} minutes"
    return f"about {seconds / 3600:.0f} hours"
