"""What the estimators share: opening data in scikit-learn's way, and the attributes of a fit.

Every ``fit`` is the same four beats: a :class:`FitSpec` of the parameters, the data, the engine,
and ``_set_fitted``. Number and names of the columns are set in :func:`open_rows_of` and nowhere
else; what is learned is set in ``_set_fitted`` and nowhere else.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from types import MethodType
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._engine import FitResult, FitSpec, Model, Setup, finish, prepare_data
from kernelknife._engine.curves import SumOfCurves, sum_of_curves
from kernelknife._engine.data import (
    Rows,
    TrainingData,
    column_names,
    find_columns,
    measure_columns,
    open_rows,
    open_rows_to_predict,
)
from kernelknife._engine.data.opening import (
    check_class_weight,
    weigh_classes,
)
from kernelknife._engine.data.survival import check_survival, survival_columns
from kernelknife._engine.policy import default_loss, task_of
from kernelknife._engine.solvers import Solution
from kernelknife._tuning.probabilities import ProbabilityMap
from kernelknife._utils.checks import FLOATS, explained_texts, make_dense
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin
from kernelknife.inspection.effects import (
    Effect,
    EffectTable,
    decompose,
    evaluate_effect,
    part_names,
    rank_effects,
)

__all__ = [
    "KernelPredictor",
    "ProbabilityMethod",
    "SelectedFeatures",
    "check_arrays",
    "choose_columns",
    "fitted_at",
    "fitted_with",
    "open_data",
    "open_rows_of",
    "scored_at",
    "with_column_numbers",
    "with_probabilities",
]

# Attributes that only a calibrated fit has.
CALIBRATED = ("null_sparsities_", "p_value_", "adjusted_p_values_", "n_steps_")


# -- data -----------------------------------------------------------------------------------------

COLUMN_OPTIONS = ("always_keep", "adjust_for")


def open_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, spec: FitSpec, offset: Any = None
) -> TrainingData:
    """Open, check and measure the data of a fit; sets ``n_features_in_`` and the names.

    The ``offset`` is what :func:`kernelknife._offsets.known_scores` returns.
    """
    sample_weight = weigh_classes(spec.class_weight, y, sample_weight)
    spec = choose_columns(spec, X)
    data = prepare_data(spec, open_rows_of(estimator, X, y, sample_weight, offset))
    data.warn_of_unkept(spec.always_keep)
    if data.targets.classes is not None:
        check_class_weight(spec.class_weight, data.targets.classes)
    return data


def choose_columns(spec: FitSpec, X: Any) -> FitSpec:
    """Return a specification that names its columns, where functions of the frame choose them."""
    chosen: dict[str, Any] = {}
    for option in COLUMN_OPTIONS:
        selector = getattr(spec, option)
        if callable(selector):
            if not hasattr(X, "columns"):
                raise TypeError(
                    f"{option} is a function of a data frame, and X is {type(X).__name__}: name "
                    "the columns, or pass a frame."
                )
            # No column may fit: there is then nothing to keep or to adjust for.
            chosen[option] = list(selector(X)) or None
    return replace(spec, **chosen) if chosen else spec


def with_column_numbers(spec: FitSpec, names: np.ndarray | None, n_features: int) -> FitSpec:
    """Return a specification with numbers for names of columns, for fits that have no names."""
    given = {option: getattr(spec, option) for option in COLUMN_OPTIONS}
    found: dict[str, Any] = {
        option: find_columns(wanted, option, names, n_features)
        for option, wanted in given.items()
        if wanted is not None
    }
    return replace(spec, **found) if found else spec


def open_rows_of(
    estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, known: Any = None
) -> Rows:
    """Return the rows of any kind of data; sets ``n_features_in_`` and the names of the columns."""
    estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    check = partial(check_arrays, estimator)
    rows = open_rows(X, y, sample_weight, check, known, is_classifier(estimator))
    estimator.n_features_in_ = rows.shape[1]
    if rows.names is not None:
        estimator.feature_names_in_ = rows.names
    else:
        rows.names = getattr(estimator, "feature_names_in_", None)
    return rows


def check_arrays(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a table in memory and its target as arrays, in scikit-learn's way."""
    numeric = not is_classifier(estimator)
    if task_of(estimator) == "survival":
        # Whatever is wrong with times and events is said by those who know what they are.
        y = survival_columns(y)
        check_survival(y, np.ones(len(y)))
    y = y.toarray() if issparse(y) else y  # an indicator matrix of labels
    values = np.asarray(y)
    several = values.ndim == 2 and values.shape[1] > 1
    if values.dtype.kind == "O" and values.ndim:
        gaps = sum(value is None or value != value for value in values.ravel())
        if gaps:
            raise ValueError(
                f"Input y contains NaN: the target is missing in {gaps} of {len(values)} rows. "
                "Leave them out."
            )
    X = make_dense(X, estimator.memory_budget)
    with explained_texts(X):
        return validate_data(
            estimator,
            X,
            y,
            dtype=FLOATS,
            ensure_all_finite=False,
            multi_output=numeric or several,
            y_numeric=numeric,
        )


# -- probabilities --------------------------------------------------------------------------------


def _loss_or_name(estimator: Any) -> Any:
    """Return the loss of an estimator, or what stands for it where a fit will refuse it."""
    try:
        return default_loss(estimator.loss, task_of(estimator))
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
        if getattr(loss, "probability", None) is None and estimator.probability is None:
            raise AttributeError(
                f"{self.function.__name__} needs loss='logistic' or probability='sigmoid': "
                f"{loss!r} has scores, from decision_function, and no probabilities of its own."
            )
        return MethodType(self.function, estimator)


# -- a fitted estimator ---------------------------------------------------------------------------


def fitted_at(estimator: Any, setup: Setup, solution: Solution, start: str = "") -> Any:
    """Return a copy of an estimator, fitted with a solution: a point of a path, say.

    Parameters
    ----------
    estimator : KernelPredictor
        Its parameters are those of the copy, but for the penalties, which are those of the solution
        and of the setup.
    start : str
        Name of the start that the solution comes from.
    """
    options = {"sparsity": float(solution.sparsity), "alpha": setup.spec.alpha}
    fitted = clone(estimator).set_params(**options)
    starts = [(start, solution)] if start else []
    return fitted._set_fitted(finish(setup, solution, starts))


def fitted_with(estimator: Any, result: FitResult) -> Any:
    """Return an estimator that has not been fitted, with the attributes of a result."""
    return estimator._set_fitted(result)


def scored_at(estimator: Any, setup: Setup, solution: Solution, model: Model) -> Any:
    """Return a copy of an estimator that predicts and selects, with no account of the fit."""
    return copy(estimator)._set_model(setup, solution, model)


def with_probabilities(estimator: Any, probabilities: ProbabilityMap) -> Any:
    """Return a fitted classifier that has learned its probabilities."""
    return estimator._set_probabilities(probabilities)


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

    def _set_calibration(self, result: FitResult) -> None:
        """Set what permutations of the target have told, where they were asked."""
        for name in CALIBRATED:
            self.__dict__.pop(name, None)  # of an earlier fit
        found = result.calibration
        if found is not None:
            self.null_sparsities_, self.adjusted_p_values_ = found.nulls, found.p_values
            self.p_value_, self.n_steps_ = found.p_value, found.n_steps

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's mixin
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"  # type: ignore[attr-defined]
        return tags


class KernelPredictor(CallbackSupportMixin, SelectedFeatures, SelectorMixin, BaseEstimator):
    """A fitted kernel model: the features that it selects, its effects and its predictions."""

    weights_: np.ndarray
    n_features_in_: int
    memory_budget: float
    standardize: bool
    missing: str
    probability: str | None
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
        self._set_calibration(result)
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
        self.__dict__.pop("adjusted_coef_", None)
        if model.adjusted_coef is not None:
            self.adjusted_coef_ = model.adjusted_coef
        self._model = model
        return self

    def _set_probabilities(self, found: ProbabilityMap) -> Self:
        """Set the way from scores to probabilities."""
        self.probability_map_, self.probability = found, found.method
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
            them (three, with ``Anova(order=3)``) for what they do together. "x3 is missing" is
            what a gap in that column does.

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
            add up to the prediction of a regressor, or to the scores of a classifier. The linear
            parts of columns that are adjusted for are among them.
        """
        check_is_fitted(self)
        sample, _ = self._rows_to_predict(X).load()
        model, names = self._model, self._column_names()
        constant, effects = decompose(model, model.columns.take(sample.X))
        scale, center = model.targets.scale, model.targets.center
        linear = model.adjusted_parts(sample.X)
        words = part_names(model, names)
        named = {
            tuple(words[j] for j in chosen): values * scale for chosen, values in effects.items()
        }
        named |= {(str(names[j]),): values * scale for j, values in linear.items()}
        return constant * scale + center, named

    def sum_of_curves(self) -> SumOfCurves | None:
        """Return the model as a constant and one curve per column, on the scales of the user.

        Returns
        -------
        SumOfCurves or None
            None where the kernel is not linear or additive, or with several outputs. See
            :mod:`kernelknife.export` for tables and SQL.
        """
        check_is_fitted(self)
        return sum_of_curves(self._model)

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
            rows,
            standardize=self.standardize,
            center=kernel.translation_invariant,
            missing=self.missing,
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
