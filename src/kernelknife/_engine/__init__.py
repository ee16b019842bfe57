"""What a fit is: a specification, data, an objective, a solver, a search, a fitted model.

Nothing in here sees an estimator. :class:`FitSpec` holds every option, :func:`prepare_data`
measures rows of any kind, :func:`fit` finds weights and model, :func:`follow` a path of them, and
:mod:`kernelknife._engine.policy` takes the decisions that a user has left open.
"""

from kernelknife._engine.fit import (
    FitResult,
    Setup,
    check_count,
    find_start,
    finish,
    fit,
    follow,
    or_empty,
    prepare_arrays,
    prepare_data,
    set_up,
    solve_count,
    warn_not_converged,
)
from kernelknife._engine.model import Model, build_model
from kernelknife._engine.spec import STARTS, FitSpec

__all__ = [
    "STARTS",
    "FitResult",
    "FitSpec",
    "Model",
    "Setup",
    "build_model",
    "check_count",
    "find_start",
    "finish",
    "fit",
    "follow",
    "or_empty",
    "prepare_arrays",
    "prepare_data",
    "set_up",
    "solve_count",
    "warn_not_converged",
]
