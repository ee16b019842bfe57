"""Choose the kernel, both penalties and what becomes of the weights by cross-validation.

The grid of weight penalties of a kernel with an absorbing zero depends on the number of rows and on
no data. In a fold of other size a penalty must mean the same, and what it means is which noise it
keeps out. What a useless feature gains by fitting noise grows much more slowly than the rows, and
over the step from a fold to all rows it is nearly the same. A non-linear kernel needs a weight of
fixed size to take that gain, so the fold uses the same penalty. A linear or additive kernel needs a
weight that shrinks like one over the rows, so the fold uses it in proportion to its rows.

Everything else that a fold's fit uses, standardization, starts and paths, comes from its
training rows alone.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from kernelknife._base import (
    ProbabilityMethod,
    SelectedFeatures,
    check_arrays,
    choose_columns,
    fitted_at,
    fitted_with,
    known_scores,
    with_column_numbers,
    with_probabilities,
)
from kernelknife._engine import FitSpec
from kernelknife._engine.data import find_groups, refuse_lazy_rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_class_weight, check_sample_weight
from kernelknife._fold_models import IntervalPrediction, find_again, renumbered, scored_candidate
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
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.estimators import (
    KnifeClassifier,
    KnifeRegressor,
)
from kernelknife.inspection.substitutes import Substitutes, fold_of_rows
from kernelknife.path import PathResult

__all__ = ["BaseKnifeCV", "KnifeClassifierCV", "KnifeRegressorCV", "models_of_folds"]


def models_of_folds(search: Any, X: np.ndarray, y: np.ndarray, n_jobs: Any = None) -> list:
    """Return the models of the selected candidate that the folds of a fitted search have scored.

    It was fitted to ``X`` and ``y``, without sample weights and offsets.
    """
    as_estimator = partial(scored_candidate, search._single_estimator())
    scoring = Scoring(search.score_name_, None, as_estimator)
    data = SearchData(X, y, np.ones(len(y)), scoring).take(search._rows)
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
        known = known_scores(offset, exposure, len(y), spec.fit.loss)
        spec = replace(spec, fit=replace(spec.fit, offset=known is not None))
        data, fixed = self._open(X, y, sample_weight, spec, known), choose_columns(spec.fit, X)
        spec = replace(spec, fit=with_column_numbers(fixed, data.names, data.X.shape[1]))
        # Groups by name mean nothing to a fold without a frame, and those that are found in the
        # columns are the same in all folds.
        columns = ArrayRows(data.X, s=data.sample_weight, names=data.names)
        spec = spec.with_groups(find_groups(spec.fit.feature_groups, columns, spec.fit.kernel))
        codes = self._class_codes(data.y)
        if codes is not None and groups is None:
            warn_of_unjudged(self.classes_, codes, spec.cv)
        with root_progress(self, "cv", None) as progress:
            result = search(spec, data, codes, groups, progress)
        self._set_fitted(result, spec.seed)
        if learns_probabilities(getattr(self, "probability", None), spec.fit):
            self._learn_probabilities(data, codes)
        self.path_.warn_not_converged()
        if not result.refit.result.converged and self.path_.converged.all():
            # What has not converged on the path has been said already.
            result.refit.result.warn_not_converged("The selected model")
        return self

    def _learn_probabilities(self, data: SearchData, codes: np.ndarray) -> None:
        """Learn probabilities from models like the chosen one, of the training rows of folds."""
        spec = FitSpec.from_estimator(self.best_estimator_)
        spec = with_column_numbers(spec, data.names, data.X.shape[1])
        scores = held_out_scores(spec, self.splits_, data.X, data.y, data.sample_weight)
        tested = np.concatenate([test for _, test in self.splits_])
        s, method = data.sample_weight[tested], str(self.probability)
        with_probabilities(
            self.best_estimator_, learn_probabilities(scores, codes[tested], s, method)
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
                "With an offset or an exposure the folds compare the score of the loss: leave out "
                "scoring, which would predict without them."
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


class KnifeRegressorCV(IntervalPrediction, RegressorMixin, BaseKnifeCV):
    """:class:`KnifeRegressor` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel : str, Kernel or list of them, default="auto"
        The folds choose among several. "auto" is the list of "linear" (straight lines), "additive"
        (a sum of separate effects), "anova" (with interactions of pairs) and "rbf" (one joint
        function).
    loss : str or Loss, default=None
        See :class:`KnifeRegressor`.
    alphas : float or array-like, default=None
        Penalties on the norm of the model to try. None begins with 0.1 and 1 (0.1 and 10 where
        weights enter linearly) and goes on by factors of ten on the side that does better, until
        that no longer pays; ``alphas_`` tells them after a fit.
    sparsities : int or array-like, default=25
        Number of weight penalties, or the increasing penalties themselves. A fold uses the
        same ones, or with a linear or additive kernel in proportion to its rows: see the notes.
    n_permutations, level : as in KnifeRegressor
        Of ``rule="calibrated"``.
    n_features_to_select : int, default=None
        Exactly this many features (or groups): the folds then choose kernel and ``alpha`` alone,
        and ``sparsities``, ``relax`` and ``include_all`` have no effect.
    relax : {"auto", True, False}, default="auto"
        Whether the model of the selected features is refitted without the penalty that has
        selected them. "auto" lets the folds decide; models of more than 50 features are then not
        refitted.
    include_all : bool, default=True
        Whether the model of all features with equal weights is compared too. Models that keep
        all features, with these or other weights, are then chosen only where they beat the best
        selection by more than one standard error of the difference over the folds.
    rule : {"min", "1se", "calibrated"}, default="min"
        The best mean score, or the fewest features within one standard error of it. Scores within
        a quarter of a standard error of the best count as equally good, and the fewest features
        decide. Features are counted over all folds together. "calibrated" lets permutations of the
        target decide how many features there are, as ``sparsity="calibrated"`` of
        :class:`KnifeRegressor` does, with a ``level`` that holds for all kernels together; the
        folds then choose the kernel, and ``alpha`` of the refitted model, and ``sparsities``,
        ``relax`` and ``include_all`` have no effect.
    scoring : str, callable or None, default=None
        None is the mean squared error, or the accuracy for classes (for labels its mean over them);
        of a loss with a score of its own that score, such as the mean deviance of counts.
    cv : int, splitter or iterable, default=None
        None is five folds of shuffled rows, stratified for classes; below 200 rows, where one
        split into folds is mostly chance, twice five; and as many as the rarest class has rows
        where these are fewer than five. A class of a single row, or with fewer rows than a number
        of folds that is given, cannot be judged: all folds train on its rows. With ``groups``,
        None and a number keep them together.
    nested : {"others", "full"}, default="others"
        What ``nested_scores_`` are. "others" scores in every fold what the other folds select,
        which costs nothing; they have trained on that fold's rows, so that a little optimism is
        left. "full" searches once more inside the training rows of every fold: an honest estimate,
        at about as many more searches as there are folds.
    class_weight, probability : None
        For :class:`KnifeClassifierCV` only; a regressor refuses everything else.
    solver, start, n_starts, standardize, missing, fit_intercept, feature_groups, feature_costs, \
always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, None or "auto", default="auto"
        "auto" is the exact method up to 1,000 rows, with the linear and the additive kernel up to
        3,000; beyond, 300 centers in the search. The chosen model has as many up to 3,000 rows,
        so that it is what the folds have judged, and beyond one for ten rows, up to 500. On a table
        longer than ``search_rows`` it is fitted once more to all rows; ``path_``, which only leads
        there, then has the tolerance of a fold, at least 0.001. A number holds for everything, and
        None is the exact method where it fits.
    centers, memory_budget : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    search_rows : int or None, default=3000
        Rows that the search looks at, drawn at random, by class where there are classes; the chosen
        model is fitted to all rows. None looks at all rows, and so does a splitter given as
        ``cv``.
    max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_jobs : int, default=None
        Folds and kernels run in parallel through joblib, on any of its backends, each on one
        BLAS thread; the answer does not depend on it.
    random_state : as in KnifeRegressor
        See :class:`KnifeRegressor`.

    Attributes
    ----------
    kernel_ : Kernel
        The chosen kernel, and ``kernel_name_`` its name in ``cv_results_``.
    alpha_, sparsity_ : float
        The chosen penalties, those of a point of ``path_``. Where the search has looked at some of
        the rows only, ``best_estimator_`` of a linear or additive kernel has the ``sparsity_`` in
        proportion to all rows.
    weighting_ : {"penalized", "relaxed", "equal"}
        What has become of the weights: as the penalty leaves them, refitted without it, or all
        alike.
    alphas_ : ndarray
        The penalties on the norm that were tried with the chosen kernel.
    weights_ : ndarray of shape (n_features,)
        Weights of the features in the chosen model.
    best_estimator_ : KnifeRegressor
        Fitted on all rows.
    best_score_ : float
        Mean score over the folds of the chosen setting. The best of many has a selection bias: see
        ``nested_scores_``.
    nested_scores_ : ndarray of shape (n_folds,)
        Every fold's score of what the other folds choose, or with ``nested="full"`` of what a
        search of its training rows alone chooses. Its mean estimates the error of the whole
        search.
    score_name_ : str
        What is scored.
    splits_ : list of (ndarray, ndarray)
        Training and test rows of every fold.
    feature_groups_ : dict
        From the name of a group to the names of its columns; only with ``feature_groups``.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the folds in which a feature is selected at the chosen penalties.
    path_ : PathResult
        On the rows that the search has looked at, with the chosen ``alpha_``.
    cv_results_ : dict of ndarray
        One entry per setting: "kernel", "alpha", "weighting" and "sparsity", their scores,
        "n_folds" that have judged them, "n_training_rows" of such a fold, "mean_n_features" that a
        fold selects, and "n_distinct_features" that all folds select together. Settings of kernels
        and alphas that a first look has ruled out have fewer penalties and perhaps fewer rows and
        folds; they are not "followed" and cannot be chosen.
    p_value_, adjusted_p_values_, null_sparsities_, n_steps_ : as in KnifeRegressor
        Only with ``rule="calibrated"``.
    n_paths_ : int
        Paths that were followed in the folds.
    n_factorizations_ : int
        Factorizations of the coefficient system in all folds and on all rows; with
        ``rule="calibrated"`` without those of permuted targets.
    choices_ : dict of int
        What each rule would choose, as indices into ``cv_results_``.

    Notes
    -----
    All kernels and alphas get a first look: a third of the penalties, on at most 600 training
    rows of at most five folds, or of as many folds as have 800 test rows. The two that do best are
    then followed on all folds, and the best of everything on them is chosen. They have all
    penalties that the user gives, or of a number of ``sparsities`` those from just below the best
    of the first look on.

    Where folds cannot tell penalties apart, because refitted models of the same features are the
    same, the one is taken whose path on all rows has most nearly as many features as the folds.

    What a useless feature gains by fitting noise grows much more slowly than the rows, and over the
    step from a fold to all rows it is nearly the same. A non-linear kernel needs a weight of fixed
    size to take that gain, so a penalty keeps out the same noise in a fold as in all rows. A linear
    or additive kernel needs one that shrinks like one over the rows, so there the penalty is taken
    in proportion to them.

    Examples
    --------
    >>> from kernelknife import KnifeRegressorCV
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(100, 5, random_state=0)
    >>> model = KnifeRegressorCV(["additive", "rbf"], rule="1se").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    """

    _single = KnifeRegressor
    _default_scoring = "neg_mean_squared_error"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Choose by cross-validation, then fit what was chosen to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target of every row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the loss and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one fold. A
            splitter given as ``cv`` gets them, and is refused if it tears a group apart.
        offset, exposure : array-like of shape (n_samples,), default=None
            See :meth:`KnifeRegressor.fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups, offset, exposure)

    def predict(self, X, offset=None, exposure=None):
        """Predict with the chosen model, on the scale of y.

        Parameters
        ----------
        X, offset, exposure : as in KnifeRegressor.predict
            See :meth:`KnifeRegressor.predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row, or one per quantile.
        """
        return self._chosen.predict(X, offset, exposure)

    def _class_codes(self, y):
        return None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KnifeClassifierCV(ClassifierMixin, BaseKnifeCV):
    """:class:`KnifeClassifier` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel, loss, alphas, sparsities, n_permutations, level, n_features_to_select, relax, \
include_all, rule, scoring, cv, nested : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`; losses are those of :class:`KnifeClassifier`.
    class_weight : as in KnifeClassifier
        See :class:`KnifeClassifier`. With class_weight="balanced",
        ``scoring="balanced_accuracy"`` chooses in the same spirit.
    probability : {None, "sigmoid", "isotonic"}, default=None
        How probabilities are learned where the loss has none of its own, from the scores that the
        models of the folds give to their test rows; see :class:`KnifeClassifier`.
    solver, start, n_starts, standardize, missing, fit_intercept, feature_groups, feature_costs, \
always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, memory_budget, search_rows, max_iter, tol, n_jobs, random_state : as in \
KnifeRegressorCV
        See :class:`KnifeRegressorCV`.

    Attributes
    ----------
    classes_ : ndarray
        The classes; all other attributes are those of :class:`KnifeRegressorCV`.

    Examples
    --------
    >>> from kernelknife import KnifeClassifierCV
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(100, 6, random_state=0)
    >>> model = KnifeClassifierCV("rbf", alphas=[0.1, 1.0], rule="1se").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3])
    """

    _single = KnifeClassifier
    _default_scoring = "accuracy"

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose by cross-validation, then fit what was chosen to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups : as in KnifeRegressorCV.fit
            See :meth:`KnifeRegressorCV.fit`; y holds the class of every row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _class_codes(self, y):
        if y.ndim == 2:  # labels, which folds cannot all be stratified by
            self.classes_ = np.arange(y.shape[1])
            return None
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_class_weight(self.class_weight, self.classes_)
        return codes

    def decision_function(self, X):
        """Return the scores of the chosen model, as :meth:`KnifeClassifier.decision_function`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores; the larger, the surer the class.
        """
        return self._chosen.decision_function(X)

    @ProbabilityMethod
    def predict_proba(self, X):
        """Return class probabilities of the chosen model: its loss's, or by ``probability``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One probability per class; those of a row add up to 1.
        """
        return self._chosen.predict_proba(X)
