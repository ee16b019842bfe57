"""What a fit, a path and a cross-validation do for an estimator, step by step.

:func:`prepare_job` makes a :class:`Job` of the user's data and the estimator's parameters,
:func:`solve_job` and :func:`trace_path` solve it, and :func:`publish` sets the fitted attributes.
These functions take an estimator as an argument and know nothing of its class.
"""

from kernelknife._engine.fitting.job import Job, prepare_job
from kernelknife._engine.fitting.loss import ProbabilityMethod, resolved_loss
from kernelknife._engine.fitting.opening import check_arrays
from kernelknife._engine.fitting.publishing import publish, publish_model, warn_not_converged
from kernelknife._engine.fitting.search_settings import STARTS, make_solver
from kernelknife._engine.fitting.solving import (
    empty_objective,
    find_start,
    refresh_solution,
    relax_solution,
    solve_job,
    trace_path,
)

__all__ = [
    "STARTS",
    "Job",
    "ProbabilityMethod",
    "check_arrays",
    "empty_objective",
    "find_start",
    "make_solver",
    "prepare_job",
    "publish",
    "publish_model",
    "refresh_solution",
    "relax_solution",
    "resolved_loss",
    "solve_job",
    "trace_path",
    "warn_not_converged",
]
