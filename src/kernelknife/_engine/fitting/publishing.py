"""From a solution to the fitted attributes, and the warning about one that did not converge."""

import warnings
from collections.abc import Iterable
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelknife._engine.fitting.job import Job
from kernelknife._engine.model import Model, build_model, final_coefficients
from kernelknife._engine.solvers import Outcome, Solution

__all__ = ["publish", "publish_model", "warn_not_converged"]


class Fitted(Protocol):
    """The attributes that a fitted estimator has; :class:`KnifeRegressor` describes them."""

    weights_: np.ndarray
    support_vectors_rows_: np.ndarray
    support_vectors_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int
    feature_groups_: dict[str, list[str]]
    feature_names_in_: np.ndarray
    classes_: np.ndarray
    _model: Model  # what the estimator predicts with
    sparsity_: float
    objective_: float
    history_: np.ndarray
    n_iter_: int
    n_factorizations_: int
    converged_: bool
    kkt_residual_: float
    starts_: list[tuple[str, np.ndarray]]


def publish(
    estimator: Fitted,
    job: Job,
    solution: Solution,
    results: list[tuple[str, Solution]] | None = None,
) -> None:
    """Set the fitted attributes from a solution.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    solution : Solution
    results : list of (str, Solution), default=None
        Name and solution of every start.
    """
    results = results or []
    C, b, accurate = publish_model(estimator, job, solution)
    estimator.sparsity_ = solution.sparsity
    estimator.objective_ = job.problem.value(solution.w, C, b, solution.sparsity, job.prepared.loss)
    estimator.history_ = np.array(solution.history)
    estimator.n_iter_ = max(solution.n_iter, 1)
    estimator.n_factorizations_ = (
        sum(result.n_factorizations for _, result in results) or solution.n_factorizations
    )
    estimator.converged_ = bool(solution.converged and accurate)
    estimator.kkt_residual_ = solution.kkt_residual
    estimator.starts_ = [(name, np.array(result.history)) for name, result in results]


def publish_model(
    estimator: Fitted, job: Job, solution: Solution
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Set what prediction and selection need, and no account of how it was found.

    Returns
    -------
    C, b : ndarray
        Coefficients of all rows (or centers) and intercepts, for the user's own loss.
    accurate : bool
        Whether they reached their minimum.
    """
    C, b, accurate = final_coefficients(job.prepared, job.built, solution)
    model = build_model(job.prepared, job.built, solution.w, C, b)
    estimator.weights_ = job.prepared.user_values(solution.w)
    estimator.support_vectors_rows_ = model.support
    estimator.support_vectors_ = model.vectors
    estimator.dual_coef_ = model.coef
    estimator.intercept_ = model.intercept
    estimator.n_features_in_ = job.prepared.n_features
    estimator.__dict__.pop("feature_groups_", None)  # of an earlier fit
    if job.prepared.grouping is not None:
        estimator.feature_groups_ = job.prepared.group_members()
    if job.prepared.rows.names is not None:
        estimator.feature_names_in_ = job.prepared.rows.names
    if model.targets.classes is not None:
        estimator.classes_ = model.targets.classes
    estimator._model = model
    return C, b, accurate


def warn_not_converged(name: str, failed: Iterable[Solution], stacklevel: int) -> None:
    """Issue a ConvergenceWarning about the worst of some solutions, with advice that fits it."""
    worst = max(failed, key=lambda solution: solution.kkt_residual)
    outcome: Outcome = worst.outcome
    warnings.warn(
        f"{name} did not converge ({outcome.reason}; KKT residual {worst.kkt_residual:.1e}): "
        f"{outcome.advice}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
