"""One run of one method on one draw, in a process of its own.

The process is forked from one that has loaded every library, so that neither its time nor its
memory counts what loading takes.
"""

import contextlib
import dataclasses
import importlib
import io
import logging
import multiprocessing
import os
import resource
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import peers
import problems
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

LIBRARIES = (
    "kernelknife",
    "torch",
    "gpytorch",
    "botorch.fit",
    "botorch.models.map_saas",
    "himalaya.kernel_ridge",
    "interpret.glassbox",
    "lassonet",
    "stg",
    "xrfm",
    "boruta",
    "skrebate",
    "mrmr",
    "pyHSICLasso",
    "ipss",
    "hidimstat",
    "pandas",
    "threadpoolctl",
    "sklearn.ensemble",
    "sklearn.feature_selection",
    "sklearn.gaussian_process",
    "sklearn.inspection",
)
QUICK = 2.0  # seconds below which a fit is timed twice: first calls pay for what later ones find
JUDGE_LIMIT = 120.0  # seconds to predict, and to fit the common model
CHOOSE_ROWS = 1000  # most rows on which the common model chooses its parameters


def warm_up():
    """Load every library; one that does not load fails again in its own run, which says why."""
    for name in LIBRARIES:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def run_apart(job, limit):
    """Run a job in a process that ends at the limit; return its row."""
    problem = problems.BY_KEY[job["problem"]]
    row = {
        "method": job["method"],
        "problem": problem.name,
        "n": problem.n,
        "seed": job["seed"],
        "threads": job["threads"],
        "message": "",
        **dict.fromkeys(("p", "recall", "f1", "selected", "own_error", "common_error"), ""),
        **dict.fromkeys(("seconds", "peak_mib"), ""),
    }
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(job, there))
    begin = time.perf_counter()
    process.start()
    there.close()
    fitted, found = False, None
    try:
        with contextlib.suppress(EOFError):
            # What is measured after the fit, the common model among it, has time of its own.
            fitted = here.poll(limit) and here.recv() == "fitted"
            if fitted and here.poll(JUDGE_LIMIT):
                found = here.recv()
        if found is not None:
            row.update(found)
        elif process.is_alive():
            row.update(status="timeout", seconds=f"{time.perf_counter() - begin:.1f}")
            row["message"] = (
                f"fitted, but not judged in {JUDGE_LIMIT:.0f} s"
                if fitted
                else f"not done after {limit:.0f} s"
            )
        else:
            process.join()
            killed = "killed by the system, for memory as a rule"
            reason = killed if process.exitcode == -9 else f"exit code {process.exitcode}"
            row.update(status="error", message=f"the process ended: {reason}")
    finally:
        # With whatever processes the method has started; also when the race itself is stopped.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return row


def _run(job, pipe):
    os.setpgrp()
    threads = job["threads"]
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)  # for processes that a method starts
    # What a peer prints, logs and warns about while it works is its own affair.
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import threadpoolctl

    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(threads)
    problem = problems.BY_KEY[job["problem"]]
    race = standardized(problem.draw(problem.n, job["seed"]))
    facts = {"p": race.X.shape[1]}
    with threadpoolctl.threadpool_limits(threads), contextlib.redirect_stdout(io.StringIO()):
        try:
            before = _forget_peak()
            outcome, seconds = _timed(job, race)
            facts["peak_mib"] = f"{_peak() - before:.1f}"
            if seconds < QUICK:
                seconds = min(seconds, _timed(job, race)[1])
            facts["seconds"] = f"{seconds:.4f}"
            pipe.send("fitted")
            facts.update(judge(race, outcome), status="ok")
        # Whatever a peer raises is a result: the table shows it.
        except Exception as error:
            message = " ".join(f"{type(error).__name__}: {error}".split())
            facts.update(status="error", message=message[:200])
            if "seconds" not in facts:
                pipe.send("fitted")
    pipe.send(facts)


def _timed(job, race):
    begin = time.perf_counter()
    outcome = peers.METHODS[job["method"]].run(race, job["seed"], job["threads"])
    return outcome, time.perf_counter() - begin


def standardized(race):
    """Return the race with features, and a numeric target, of mean 0 and variance 1."""
    mean, scale = race.X.mean(axis=0), race.X.std(axis=0)
    scale[scale == 0] = 1.0
    changes = {"X": (race.X - mean) / scale, "X_test": (race.X_test - mean) / scale}
    if race.task == "regression":
        mean, scale = race.y.mean(), race.y.std()
        changes.update(y=(race.y - mean) / scale, y_test=(race.y_test - mean) / scale)
    return dataclasses.replace(race, **changes)


def judge(race, outcome):
    """Return recall, F1 and the errors of an outcome."""
    order = np.argsort(-np.asarray(outcome.scores, dtype=float), kind="stable")
    top = order[: race.k]
    facts = {}
    if race.true is not None:
        facts["recall"] = f"{np.isin(top, race.true).mean():.4f}"
    if outcome.selected is not None:
        chosen = np.flatnonzero(outcome.selected)
        facts["selected"] = len(chosen)
        if race.true is not None:
            facts["f1"] = f"{f1(chosen, race):.4f}"
    if outcome.predict is not None:
        facts["own_error"] = f"{error(race, outcome.predict(race.X_test)):.4f}"
    facts["common_error"] = f"{common_error(race, top):.4f}"
    return facts


def f1(chosen, race):
    hits = np.isin(chosen, race.true).sum()
    if not hits:
        return 0.0
    # Of redundant features k are enough, whichever.
    precision, recall = hits / len(chosen), min(1.0, hits / race.k)
    return 2 * precision * recall / (precision + recall)


def error(race, predicted):
    """Return the share of wrong classes, or of the variance that is not explained."""
    predicted = np.ravel(predicted)
    if race.task == "classification":
        return np.mean(predicted != race.y_test)
    return np.mean((predicted - race.y_test) ** 2) / np.var(race.y_test)


def common_error(race, top):
    """Return the test error of a Gaussian SVM on the top features, its parameters by five folds."""
    model = SVC if race.task == "classification" else SVR
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.3 / race.k, 1.0 / race.k, 3.0 / race.k]}
    X, few = race.X[:, top], slice(CHOOSE_ROWS)
    best = GridSearchCV(model(), grid, refit=False).fit(X[few], race.y[few]).best_params_
    return error(race, model(**best).fit(X, race.y).predict(race.X_test[:, top]))


def _forget_peak():
    """Reset the highest memory of this process where the system can; return what it has, in MiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak():
    """Return the highest memory so far in MiB, that of ended child processes included.

    Without the pages of files: a forked process touches a library's code anew, which is no memory
    that the method asks for.
    """
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status")
    if status.exists():
        facts = dict(line.split(":", 1) for line in status.read_text().splitlines())
        own = int(facts["VmHWM"].split()[0]) - int(facts["RssFile"].split()[0])
    return (own + children) / 1024.0
