"""What the cross-validated estimators share: the search, what it has found, the chosen model."""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from kernelknife._base import (
    SelectedFeatures,
    check_arrays,
    choose_columns,
    fitted_at,
    fitted_with,
    with_column_numbers,
    with_probabilities,
)
from kernelknife._engine import FitSpec
from kernelknife._engine.data import find_groups, refuse_lazy_rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._fold_models import find_again, renumbered, scored_candidate
from kernelknife._offsets import known_scores
from kernelknife._tuning.candidates import EQUAL, RELAXED, SearchSpec
from kernelknife._tuning.folds import Scoring, SearchData
from kernelknife._tuning.probabilities import (
    held_out_scores,
    learn_probabilities,
    learns_probabilities,
)
from kernelknife._tuning.refit import SearchResult, search
from kernelknife._tuning.splits import warn_of_unjudged
from kernelknife._utils.checks import as_frame
from kernelknife._utils.progress import root_progress
from kernelknife._utils.versions import CallbackSupportMixin
from kernelknife.inspection.substitutes import Substitutes, fold_of_rows
from kernelknife.path import PathResult

__all__ = ["BaseKnifeCV", "models_of_folds"]


def models_of_folds(
    search: Any, X: np.ndarray, y: np.ndarray, n_jobs: Any = None, known: np.ndarray | None = None
) -> list:
    """Return the models of the selected candidate that the folds of a fitted search have scored.

    It was fitted to ``X`` and ``y`` without sample weights; ``known`` are offsets and logarithms of
    exposures, if there were any.
    """
    as_estimator = partial(scored_candidate, search._single_estimator())
    scoring = Scoring(search.score_name_, None, as_estimator)
    data = SearchData(X, y, np.ones(len(y)), scoring, offset=known).take(search._rows)
    path, candidate = search._found
    found = find_again(path, candidate, data, search._folds, search._starts, n_jobs)
    return [as_estimator(*one) for one in found]


class BaseKnifeCV(CallbackSupportMixin, SelectedFeatures, SelectorMixin, BaseEstimator):
    """What the cross-validated estimators share."""

    def __init__(
        self,
        kernel="auto",
        loss=None,
        *,
        alphas=None,
        sparsities=25,
        n_permutations=20,
        level=0.05,
        n_features_to_select=None,
        relax="auto",
        include_all=True,
        rule="min",
        scoring=None,
        cv=None,
        nested="others",
        class_weight=None,
        probability=None,
        solver="eliminate",
        start="auto",
        n_starts=0,
        standardize=True,
        missing="indicator",
        fit_intercept=True,
        feature_groups=None,
        feature_costs=None,
        always_keep=None,
        adjust_for=None,
        n_centers="auto",
        centers="kmeans++",
        memory_budget=2**31,
        search_rows=3000,
        max_iter=None,
        tol=1e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.alphas = alphas
        self.sparsities = sparsities
        self.n_permutations = n_permutations
        self.level = level
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.include_all = include_all
        self.rule = rule
        self.scoring = scoring
        self.cv = cv
        self.nested = nested
        self.class_weight = class_weight
        self.probability = probability
        self.solver = solver
        self.start = start
        self.n_starts = n_starts
        self.standardize = standardize
        self.missing = missing
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.always_keep = always_keep
        self.adjust_for = adjust_for
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.search_rows = search_rows
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    _intervals: Any  # made when they are asked for
    _single: type
    _default_scoring: str

    @abstractmethod
    def _class_codes(self, y):
        """Return the codes of the classes, None for numbers; sets ``classes_``."""

    def _find_scoring(self):
        """Return what a scorer is made of."""
        return self.scoring

    def _single_estimator(self, **changes: Any) -> Any:
        """Return the single estimator that a candidate is an instance of, not fitted."""
        known = set(self._single().get_params(deep=False))
        options = {name: getattr(self, name) for name in known & set(self.get_params(deep=False))}
        # The folds choose these.
        decided = {"relax": False, "n_centers": None, "n_jobs": None, "probability": None}
        options |= {name: value for name, value in decided.items() if name in known}
        return self._single(**{**options, **changes})

    def _fit(self, X, y, sample_weight, groups, offset=None, exposure=None):
        spec = SearchSpec.from_estimator(self)
        refuse_lazy_rows(
            X,
            "Cross-validation",
            "For additive models of a number, kernelknife.select_stream has folds of any rows.",
        )
        X, y, groups = indexable(as_frame(X), y, groups)
        known = known_scores(offset, exposure, X, spec.fit.loss)
        spec = replace(spec, fit=replace(spec.fit, offset=known is not None))
        data, fixed = self._open(X, y, sample_weight, spec, known), choose_columns(spec.fit, X)
        spec = replace(spec, fit=with_column_numbers(fixed, data.names, data.X.shape[1]))
        # Groups by name mean nothing to a fold without a frame, and those that are found in the
        # columns are the same in all folds.
        columns = ArrayRows(data.X, s=data.sample_weight, names=data.names)
        spec = spec.with_groups(find_groups(spec.fit.feature_groups, columns, spec.fit.kernel))
        codes = self._class_codes(data.y)
        if groups is None and spec.fit.task == "classification" and codes is not None:
            warn_of_unjudged(self.classes_, codes, spec.cv)
        with root_progress(self, "cv", None) as progress:
            result = search(spec, data, codes, groups, progress)
        self._set_fitted(result, spec.seed)
        result.refit.setup.data.warn_of_unkept(spec.fit.always_keep)
        if learns_probabilities(getattr(self, "probability", None), spec.fit):
            self._learn_probabilities(data, codes)
        self.path_.warn_not_converged()
        if not result.refit.result.converged and self.path_.converged.all():
            # What has not converged on the path has been said already.
            result.refit.result.warn_not_converged("The selected model")
        return self

    def _learn_probabilities(self, data: SearchData, codes: np.ndarray | None) -> None:
        """Learn probabilities from models like the chosen one, of the training rows of folds."""
        spec = FitSpec.from_estimator(self.best_estimator_, offset=data.offset is not None)
        spec = with_column_numbers(spec, data.names, data.X.shape[1])
        scores = held_out_scores(
            spec, self.splits_, data.X, data.y, data.sample_weight, data.offset
        )
        tested = np.concatenate([test for _, test in self.splits_])
        s, method = data.sample_weight[tested], str(self.probability)
        of_classes = data.y if codes is None else codes  # labels have none
        with_probabilities(
            self.best_estimator_, learn_probabilities(scores, of_classes[tested], s, method)
        )

    def _open(
        self, X: Any, y: Any, sample_weight: Any, spec: SearchSpec, known: np.ndarray | None
    ) -> SearchData:
        """Return the rows of the search; sets number and names of the columns."""
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        X, y = check_arrays(self, X, y)
        s = check_sample_weight(sample_weight, len(X))
        template = self._single_estimator(kernel=spec.fit.kernel)
        as_estimator = partial(scored_candidate, template)
        if known is not None and self.scoring is not None:
            raise ValueError(
                "With an offset or an exposure the folds compare the accuracy, or the score of the "
                "loss: leave out scoring, which would predict without them."
            )
        default = spec.fit.loss.score_name or self._default_scoring
        asked = self._find_scoring()
        scoring = Scoring.checked(asked, default, template, as_estimator, y, s)
        return SearchData(X, y, s, scoring, getattr(self, "feature_names_in_", None), known)

    def _set_fitted(self, result: SearchResult, seed: int | None) -> None:
        """Set every fitted attribute from the result of a search."""
        refit, table = result.refit, result.table
        candidate, row = refit.candidate, table.row(refit.candidate)
        self.cv_results_ = table.as_results()
        self.choices_ = {rule: table.row(one.candidate) for rule, one in result.selected.items()}
        self.choices_[self.rule] = self.best_index_ = row
        self.kernel_, self.kernel_name_ = refit.setup.spec.kernel, candidate.kernel
        self.alpha_, self.weighting_ = candidate.alpha, candidate.weighting
        self.alphas_ = np.unique(
            [c.alpha for c in table.candidates if c.kernel == candidate.kernel]
        )
        self.best_score_ = float(self.cv_results_["mean_test_score"][row])
        self.nested_scores_, self.splits_, self.n_paths_ = (
            result.nested_scores,
            result.splits,
            result.n_paths,
        )
        self.n_factorizations_ = result.n_factorizations
        bits = np.unpackbits(table.selected[:, row], axis=1, count=self.n_features_in_)
        self.selection_frequency_ = bits.mean(axis=0)
        single = self._single_estimator(
            kernel=self.kernel_,
            alpha=self.alpha_,
            n_centers=refit.setup.spec.n_centers,
            random_state=seed,
        )
        self.path_ = PathResult.from_trace(refit.setup, refit.trace, partial(fitted_at, single))
        self.n_iter_ = len(self.path_)
        solution = refit.result.solution
        final: dict[str, Any] = {"n_centers": refit.result.setup.spec.n_centers}
        if self.n_features_to_select is None:
            final |= {
                "sparsity": float(solution.sparsity),
                "relax": candidate.weighting == RELAXED,
                "learn_weights": candidate.weighting != EQUAL,
            }
        self.best_estimator_ = fitted_with(
            self._single_estimator(**{**single.get_params(deep=False), **final}), refit.result
        )
        self.sparsity_ = refit.sparsity
        self.weights_ = self.best_estimator_.weights_
        self.__dict__.pop("feature_groups_", None)  # of an earlier fit
        if hasattr(self.best_estimator_, "feature_groups_"):
            self.feature_groups_ = self.best_estimator_.feature_groups_
        self._set_calibration(refit.result)
        self.score_name_ = result.score_name
        self._setup, self._found = refit.setup, (result.path, candidate)
        self._rows, self._starts = result.rows, result.starts
        self._folds, self._intervals = renumbered(self.splits_, self._rows), None

    # -- the chosen model -------------------------------------------------------------

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.weights_ > 0

    @property
    def feature_importances_(self):
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    @property
    def _chosen(self):
        check_is_fitted(self)
        return self.best_estimator_

    def predict(self, X):
        """Predict with the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row.
        """
        return self._chosen.predict(X)

    def substitutes(self, *, n_candidates=8, random_state=0):
        """Find columns that could take the place of the selected ones, on the folds of the fit.

        The model is that of ``path_`` at the chosen penalty, or with as many features as
        ``n_features_to_select`` asks for.

        Parameters
        ----------
        n_candidates, random_state : as in KnifeRegressor.substitutes
            See :meth:`KnifeRegressor.substitutes`.

        Returns
        -------
        Substitutes
            One place for every selected column.
        """
        check_is_fitted(self)
        if self.weighting_ == EQUAL:
            return Substitutes(())  # every column is selected, and none is left to stand in
        if self.n_features_to_select is not None:
            # A model of so many features need not be a point of the path.
            model = self.path_.at(n_features=self.n_features_to_select)
        else:
            # Past the end of the path nothing changes any more.
            model = int(np.argmin(np.abs(self.path_.sparsities - self.sparsity_)))
        return self.path_.substitutes(
            model,
            n_candidates=n_candidates,
            folds=fold_of_rows(self.splits_, self._rows),
            random_state=random_state,
        )
