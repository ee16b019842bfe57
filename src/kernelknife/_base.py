"""What the estimators share: opening data in scikit-learn's way, and the attributes of a fit.

Every ``fit`` is the same four beats: a :class:`FitSpec` of the parameters, the data, the engine,
and ``_set_fitted``. Number and names of the columns are set in :func:`open_rows_of` and nowhere
else; what is learned is set in ``_set_fitted`` and nowhere else.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._engine import FitResult, FitSpec, Model, Setup, finish, prepare_data
from kernelknife._engine.data import (
    Rows,
    TrainingData,
    column_names,
    measure_columns,
    open_rows,
    open_rows_to_predict,
)
from kernelknife._engine.data.opening import check_class_weight, weigh_classes
from kernelknife._engine.policy import default_loss
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import FLOATS, explained_texts, make_dense
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin
from kernelknife.inspection.effects import (
    Effect,
    EffectTable,
    decompose,
    evaluate_effect,
    rank_effects,
)

__all__ = [
    "KernelPredictor",
    "ProbabilityMethod",
    "SelectedFeatures",
    "check_arrays",
    "fitted_at",
    "fitted_with",
    "open_data",
    "open_rows_of",
    "scored_at",
]


# -- data -----------------------------------------------------------------------------------------


def open_data(estimator: Any, X: Any, y: Any, sample_weight: Any, spec: FitSpec) -> TrainingData:
    """Open, check and measure the data of a fit; sets ``n_features_in_`` and the names."""
    sample_weight = weigh_classes(spec.class_weight, y, sample_weight)
    data = prepare_data(spec, open_rows_of(estimator, X, y, sample_weight))
    if data.targets.classes is not None:
        check_class_weight(spec.class_weight, data.targets.classes)
    return data


def open_rows_of(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Rows:
    """Return the rows of any kind of data; sets ``n_features_in_`` and the names of the columns."""
    estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    rows = open_rows(X, y, sample_weight, partial(check_arrays, estimator))
    estimator.n_features_in_ = rows.shape[1]
    if rows.names is not None:
        estimator.feature_names_in_ = rows.names
    else:
        rows.names = getattr(estimator, "feature_names_in_", None)
    return rows


def check_arrays(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a table in memory and its target as arrays, in scikit-learn's way."""
    numeric = not is_classifier(estimator)
    X = make_dense(X, estimator.memory_budget)
    with explained_texts(X):
        return validate_data(
            estimator,
            X,
            y,
            dtype=FLOATS,
            ensure_all_finite=False,
            multi_output=numeric,
            y_numeric=numeric,
        )


# -- probabilities --------------------------------------------------------------------------------


def _loss_or_name(estimator: Any) -> Any:
    """Return the loss of an estimator, or what stands for it where a fit will refuse it."""
    task = "classification" if is_classifier(estimator) else "regression"
    try:
        return default_loss(estimator.loss, task)
    except (TypeError, ValueError):
        return estimator.loss


class ProbabilityMethod:
    """A method that exists only where the loss has probabilities, and else says which loss has.

    It is decided before a fit, as scikit-learn expects.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self.function
        loss = _loss_or_name(estimator)
        if getattr(loss, "probability", None) is None:
            raise AttributeError(
                f"{self.function.__name__} needs loss='logistic': {loss!r} has scores, from "
                "decision_function, and no probabilities."
            )
        return MethodType(self.function, estimator)


# -- a fitted estimator ---------------------------------------------------------------------------


def fitted_at(estimator: Any, setup: Setup, solution: Solution, start: str = "") -> Any:
    """Return a copy of an estimator, fitted with a solution: a point of a path, say.

    Parameters
    ----------
    estimator : KernelPredictor
        Its parameters are those of the copy, but for the penalty, which is that of the solution.
    start : str
        Name of the start that the solution comes from.
    """
    fitted = clone(estimator).set_params(sparsity=float(solution.sparsity))
    starts = [(start, solution)] if start else []
    return fitted._set_fitted(finish(setup, solution, starts))


def fitted_with(estimator: Any, result: FitResult) -> Any:
    """Return an estimator that has not been fitted, with the attributes of a result."""
    return estimator._set_fitted(result)


def scored_at(estimator: Any, setup: Setup, solution: Solution, model: Model) -> Any:
    """Return a copy of an estimator that predicts and selects, with no account of the fit."""
    return copy(estimator)._set_model(setup, solution, model)


class SelectedFeatures:
    """The attributes of ``RFE`` and Boruta, for an estimator with ``get_support``."""

    @property
    def support_(self) -> np.ndarray:
        """Which features are selected, an array of bool of shape (n_features,)."""
        support: np.ndarray = self.get_support()  # type: ignore[attr-defined]  # of the estimator
        return support

    @property
    def ranking_(self) -> np.ndarray:
        """The rank of every feature, 1 for all that are selected.

        After a cross-validation the others follow from 2 on, in the reverse order in which they
        leave the path. A single fit has no such order, and gives all of them a 2.
        """
        selected = self.support_
        ranks = np.where(selected, 1, 2)
        path = getattr(self, "path_", None)
        if path is not None and not selected.all():
            ranks[~selected] += np.unique(path.ranking[~selected], return_inverse=True)[1]
        return ranks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's mixin
        tags.input_tags.sparse = True
        return tags


class KernelPredictor(CallbackSupportMixin, SelectedFeatures, SelectorMixin, BaseEstimator):
    """A fitted kernel model: the features that it selects, its effects and its predictions."""

    weights_: np.ndarray
    n_features_in_: int
    memory_budget: float
    standardize: bool
    _model: Model

    def _set_fitted(self, result: FitResult) -> Self:
        """Set every fitted attribute from the result of a fit."""
        solution = result.solution
        self._set_model(result.setup, solution, result.model)
        self.sparsity_ = solution.sparsity
        self.objective_ = result.objective
        self.history_ = np.array(solution.history)
        self.n_iter_ = max(solution.n_iter, 1)
        self.n_factorizations_ = result.n_factorizations
        self.converged_ = result.converged
        self.kkt_residual_ = solution.kkt_residual
        self.starts_ = [(name, np.array(start.history)) for name, start in result.starts]
        self.searched_products_ = result.setup.searched_products
        return self

    def _set_model(self, setup: Setup, solution: Solution, model: Model) -> Self:
        """Set what prediction and selection need."""
        data = setup.data
        self.weights_ = data.user_values(solution.w)
        self.support_vectors_rows_ = model.support
        self.support_vectors_ = model.vectors
        self.dual_coef_ = model.coef
        self.intercept_ = model.intercept
        self.n_features_in_ = data.n_features
        self.__dict__.pop("feature_groups_", None)  # of an earlier fit
        if data.grouping is not None:
            self.feature_groups_ = data.group_members()
        if data.rows.names is not None:
            self.feature_names_in_ = data.rows.names
        if model.targets.classes is not None:
            self.classes_ = model.targets.classes
        self._model = model
        return self

    # -- selection --------------------------------------------------------------------

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.weights_ > 0

    @property
    def feature_importances_(self) -> np.ndarray:
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    # -- effects ----------------------------------------------------------------------

    def _column_names(self) -> np.ndarray:
        return column_names(getattr(self, "feature_names_in_", None), self.n_features_in_)

    def effects(self) -> EffectTable:
        """Return what the columns do alone and together, for additive and ANOVA kernels.

        Returns
        -------
        EffectTable
            Every main effect, pair (and triple) with its share of the fitted variance, the largest
            first.
        """
        check_is_fitted(self)
        return rank_effects(self._model, self._column_names())

    def effect(self, *columns: Any) -> Effect:
        """Return one effect on a grid of values, for additive and ANOVA kernels.

        Parameters
        ----------
        *columns : str or int
            A selected column, by name (``"x3"`` where the data had no names) or index, or two of
            them (three, with ``Anova(order=3)``) for what they do together.

        Returns
        -------
        Effect
            The grid of every column and the values on it.
        """
        check_is_fitted(self)
        return evaluate_effect(self._model, self._column_names(), columns)

    def effect_values(self, X: Any) -> tuple[np.ndarray, dict[tuple[str, ...], np.ndarray]]:
        """Return every effect at given rows, for additive and ANOVA kernels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows at which the effects are wanted.

        Returns
        -------
        constant : ndarray of shape (n_outputs,)
            What is left when all effects are zero.
        effects : dict
            From names of columns to arrays of shape (n_samples, n_outputs). Constant and effects
            add up to the prediction of a regressor, or to the scores of a classifier.
        """
        check_is_fitted(self)
        sample, _ = self._rows_to_predict(X).load()
        model, names = self._model, self._column_names()
        constant, effects = decompose(model, model.columns.take(sample.X))
        scale, center = model.targets.scale, model.targets.center
        named = {
            tuple(str(names[model.columns.index[j]]) for j in chosen): values * scale
            for chosen, values in effects.items()
        }
        return constant * scale + center, named

    def kernel_matrices(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel matrix of ``X`` with equal and with the fitted weights.

        The equal weights are those that the scaled start gives to all features, on columns
        standardized by ``X`` itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to compare with each other.

        Returns
        -------
        before, after : ndarray of shape (n_samples, n_samples)
            The two matrices.
        """
        check_is_fitted(self)
        rows = self._rows_to_predict(X)
        sample, _ = rows.load()
        kernel = self._model.kernel
        columns, _ = measure_columns(
            rows, standardize=self.standardize, center=kernel.translation_invariant
        )
        Z = columns.take(sample.X)
        before = kernel(Z, Z, np.full(Z.shape[1], 0.5 / Z.shape[1]))
        return before, self._model.kernel_matrix(sample.X)

    # -- prediction -------------------------------------------------------------------

    def _check_array(self, X: Any) -> np.ndarray:
        X = make_dense(X, self.memory_budget)
        with explained_texts(X):
            return validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)

    def _rows_to_predict(self, X: Any) -> Rows:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = open_rows_to_predict(X, names, self.n_features_in_, self._check_array)
        if rows.names is None:
            rows.names = names
        return rows

    def _apply(self, function: Callable[[Rows], Any], X: Any) -> Any:
        """Apply a method of the model to rows of any kind."""
        rows = self._rows_to_predict(X)
        with limited_blas(max(rows.shape[0], len(self._model.vectors))):
            return function(rows)

    def predict(self, X: Any) -> Any:
        """Predict the target: numbers, or classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or any other kind of rows that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row.
        """
        check_is_fitted(self)
        return self._apply(self._model.predict, X)
