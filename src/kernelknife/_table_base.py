"""What the estimators of components share: tables, fixed weights, scores of rows, and paths."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._engine import Model, Setup, follow
from kernelknife._engine.data import TrainingData, open_rows_to_predict, refuse_lazy_rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import FLOATS, as_frame
from kernelknife._utils.progress import root_progress
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.path import PathResult

__all__ = [
    "TableTransformer",
    "check_weights",
    "fitted_at",
    "open_table",
    "refuse_options",
    "run_path",
]


# Makes what ``_set_fitted`` takes of the solution of a point of a path.
ResultAt = Callable[[Setup, Solution], Any]


def open_table(
    estimator: Any, X: Any, y: Any = "no_validation", sample_weight: Any = None
) -> ArrayRows:
    """Return the rows of a table in memory; sets number and names of its columns."""
    refuse_lazy_rows(X, type(estimator).__name__)
    checked = validate_data(estimator, as_frame(X), y, dtype=FLOATS, ensure_all_finite=False)
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    s = check_sample_weight(sample_weight, len(X))
    return ArrayRows(X, y, s, names=getattr(estimator, "feature_names_in_", None))


def check_weights(weights: Any, data: TrainingData) -> np.ndarray:
    """Return weights that a user wants kept, one per weight of the problem.

    A single number is the weight of every column.
    """
    p = data.n_features
    given = np.asarray(weights, dtype=float)
    if given.shape not in ((), (p,)):
        raise ValueError(
            f"weights must be a number or one weight per column ({p}), got shape {given.shape}."
        )
    if not ((given >= 0) & (given <= 1)).all() or not given.any():
        raise ValueError(
            "weights must lie between 0 and 1, not all of them 0, got values from "
            f"{given.min():g} to {given.max():g}."
        )
    return data.weight_values(np.broadcast_to(given, (p,)))


class TableTransformer(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """An estimator with one weight per column and a model of scores."""

    weights_: np.ndarray
    n_features_in_: int
    missing: str
    _model: Model

    def _set_fitted(self, found: Any) -> Self:
        """Set every fitted attribute from what was found: a setup, its solution and the model."""
        setup, solution = found.setup, found.solution
        self.weights_ = setup.data.user_values(solution.w)
        self.sparsity_ = solution.sparsity
        self.objective_ = solution.objective
        self.kkt_residual_ = solution.kkt_residual
        self.n_iter_ = max(solution.n_iter, 1)
        self.converged_ = solution.converged
        self.n_features_in_ = setup.data.n_features
        if setup.data.rows.names is not None:
            self.feature_names_in_ = setup.data.rows.names
        self._model = found.model
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return which columns have a weight.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their numbers instead of a mask.

        Returns
        -------
        ndarray
            A mask, or numbers of columns.
        """
        check_is_fitted(self)
        mask: np.ndarray = self.weights_ > 0
        return np.flatnonzero(mask) if indices else mask

    @property
    def feature_importances_(self) -> np.ndarray:
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    def _scores(self, X: Any) -> Any:
        """Return all scores of rows of any kind."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = open_rows_to_predict(X, names, self.n_features_in_, self._check_array)
        if rows.names is None:
            rows.names = names
        with limited_blas(max(rows.shape[0], len(self._model.vectors))):
            return self._model.scores(rows)

    def _check_array(self, X: Any) -> np.ndarray:
        X = as_frame(X)
        return validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)


# -- paths ----------------------------------------------------------------------------------------


def refuse_options(function: str, options: dict[str, Any], *names: str) -> None:
    """Raise where a function that follows all penalties is given what chooses one."""
    for name in names:
        if name in options:
            raise TypeError(f"{function} takes no {name}: it follows all penalties.")


def fitted_at(
    estimator: TableTransformer,
    result_at: ResultAt,
    setup: Setup,
    solution: Solution,
    start: str = "",
) -> Any:
    """Return a copy of an estimator, fitted with the solution of a point of a path.

    The last three arguments are those that a :class:`PathResult` gives.
    """
    fitted = clone(estimator).set_params(sparsity=float(solution.sparsity))
    return fitted._set_fitted(result_at(setup, solution))


@with_callbacks
def run_path(
    estimator: Any,
    open_setup: Callable[[], tuple[Setup, ResultAt]],
    sparsities: int | np.ndarray,
) -> PathResult:
    """Follow the path of an estimator, whose models are fitted copies of it.

    ``open_setup`` returns the setup with its targets, and the function that makes the result of a
    point. It is called in here because it begins the fit that callbacks watch.
    """
    setup, result_at = open_setup()
    total = len(sparsities) if isinstance(sparsities, np.ndarray) else None
    with limited_blas(setup.problem.n_rows), root_progress(estimator, "path", total) as progress:
        trace = follow(setup, sparsities, progress=progress)
    path = PathResult.from_trace(setup, trace, partial(fitted_at, clone(estimator), result_at))
    path.warn_not_converged()
    return path
