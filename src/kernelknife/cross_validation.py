"""Choose the kernel, both penalties and what becomes of the weights by cross-validation.

The grid of weight penalties of a kernel with a absorbing zero depends on the number of rows and on no
data. In a fold of other size a penalty must mean the same, and what it means is which noise it
keeps out. What a useless feature gains by fitting noise grows much more slowly than the rows, and
over the step from a fold to all rows it is nearly the same. A non-linear kernel needs a weight of
fixed size to take that gain, so the fold uses the same penalty. A linear or additive kernel needs a
weight that shrinks like one over the rows, so the fold uses it in proportion to its rows.

Everything else that a fold's fit uses, standardization, starts and paths, comes from its
training rows alone.
"""

import numbers
from abc import abstractmethod
from copy import copy
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import find_groups, refuse_lazy_rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._engine.fitting import (
    ProbabilityMethod,
    check_arrays,
    prepare_job,
    resolved_loss,
    trace_path,
    warn_not_converged,
)
from kernelknife._tuning import (
    EQUAL,
    CenterCounts,
    Data,
    Judgments,
    LineMaker,
    Race,
    Runner,
    alphas_to_try,
    check_splits,
    chosen_sparsity,
    draw_rows,
    expected_paths,
    fit_chosen,
    fit_count,
    follow_line,
    is_final,
    judged_by_others,
    kernels_to_compare,
    make_scorer,
    make_splitter,
    needs_exact,
    pick_setting,
    refit_as_judged,
    rows_to_search,
    score_name,
    settle,
    tabulate,
    weightings_to_compare,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import root_task
from kernelknife._utils.seeds import draw_seed
from kernelknife._utils.selecting import SelectedFeatures
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.inspection.substitutes import Substitutes, fold_of_rows
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifeClassifierCV", "KnifeRegressorCV", "models_of_folds"]

RULES = ("min", "1se")


def models_of_folds(search, X, y, n_jobs=None) -> list:
    """Return the models of the chosen setting that the folds of a fitted search have judged.

    It stands here because only the estimators know the line that they have chosen, and where the
    paths of its folds began.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted to ``X`` and ``y``, without sample weights and ``n_features_to_select``.
    X, y : ndarray
    n_jobs : int or None
    """
    pick, rows = search._pick, search._searched
    data = Data(X, y, np.ones(len(y)), None).take(rows)
    # Every fold gets a line of its own, because a fit leaves its mark on the template.
    jobs = (
        delayed(refit_as_judged)(
            pick.line.with_options(),
            pick.weighting,
            pick.point,
            data,
            np.searchsorted(rows, train),
            begin,
        )
        for (train, _), begin in zip(search.splits_, search._starts_of_folds, strict=True)
    )
    return Parallel(n_jobs=n_jobs)(jobs)


class _BaseKnifeCV(CallbackSupportMixin, SelectedFeatures, SelectorMixin, BaseEstimator):
    """What both cross-validated estimators share."""

    def __init__(
        self,
        kernel="auto",
        loss=None,
        *,
        alphas=None,
        sparsities=25,
        n_features_to_select=None,
        relax="auto",
        include_all=True,
        rule="min",
        scoring=None,
        cv=None,
        class_weight=None,
        solver="eliminate",
        start="auto",
        n_starts=0,
        standardize=True,
        fit_intercept=True,
        feature_groups=None,
        feature_costs=None,
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
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.include_all = include_all
        self.rule = rule
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.solver = solver
        self.start = start
        self.n_starts = n_starts
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.search_rows = search_rows
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    _single: type
    _default_scoring: str

    @abstractmethod
    def _split_target(self, y):
        """Return the target for stratification, and whether it is one of classes."""

    def _template(self, **changes):
        """Return the single estimator that every setting is an instance of."""
        shared = set(self._single().get_params(deep=False)) & set(self.get_params(deep=False))
        options = {name: getattr(self, name) for name in shared}
        # Workers share the model already, and all of them draw the same.
        options |= {"n_jobs": None, "random_state": self._seed}
        # The folds choose these; every line has its own.
        options |= {"relax": False, "n_centers": None}
        return self._single(**{**options, **changes})

    @with_callbacks
    def fit(self, X, y, sample_weight=None, groups=None):
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

        Returns
        -------
        self : object
            The fitted estimator.
        """
        kernels = kernels_to_compare(self.kernel)
        alphas, extends = alphas_to_try(self.alphas, kernels)
        self._check_words()
        grid = check_sparsities(self.sparsities)
        refuse_lazy_rows(X, "Cross-validation")
        X, y, groups = indexable(X, y, groups)
        self._seed = self._fixed_seed()
        first = next(iter(kernels))
        plain = self._template(kernel=kernels[first])
        X, y = check_arrays(plain, X, y)
        self._take_names(plain)
        s = check_sample_weight(sample_weight, len(X))
        scoring = self._default_scoring if self.scoring is None else self.scoring
        scorer = make_scorer(scoring, plain, y, s)
        self.score_name_ = score_name(scoring)
        data = Data(X, y, s, None if self.scoring is None else scorer)
        target, classes = self._split_target(y)
        rows = self._searched = self._draw_rows(target, classes, s)
        searched = data if len(rows) == len(X) else data.take(rows)
        lines = self._make_lines(kernels, grid, data, searched)
        lines.job(first)  # whatever is wrong with the rows is said before the folds
        if searched is not data:
            for kernel in kernels.values():
                if needs_exact(lines.centers.loss, [kernel]):
                    # If chosen it will be exact on all rows, which may be too many for it.
                    prepare_job(copy(lines.template).set_params(kernel=kernel), X, y, s)
        groups = None if groups is None else np.asarray(groups)[rows]
        splits = self._make_splits(searched, target[rows], classes, groups)
        self.splits_ = [(rows[train], rows[test]) for train, test in splits]
        self.n_paths_ = sum(expected_paths(alphas, extends, len(splits), len(rows)))
        with root_task(self, "cv", None) as task:
            codes = target[rows] if classes else None
            runner = Runner(searched, splits, codes, self.n_jobs, self._seed, task)
            race = Race(lines.make, runner, extends, shortens=np.ndim(grid) == 0)
            race.compare(alphas, len(splits), len(rows))
            self._choose(race)
            line = self._pick.line
            start = runner.common_start(line.kernel)
            self._starts_of_folds = runner.starts_of(line.kernel)
            with task.subtask("path", len(line.penalties)) as path_task, limited_blas():
                self._follow(lines, data, start, path_task)
            self._publish_choice(race)
        return self

    def _draw_rows(self, target, classes, s):
        """Return the rows that the search looks at; of more rows than that, those that count."""
        most = rows_to_search(len(target), self.search_rows, self.cv)
        counted = np.flatnonzero(s > 0)
        if most >= len(target) or (classes and len(np.unique(target[counted])) <= target.max()):
            # All rows; or a class without weight, which is refused where all rows are seen.
            return draw_rows(target, classes, most, self._seed)
        return counted[draw_rows(target[counted], classes, most, self._seed)]

    def _make_splits(self, data, target, classes, groups):
        """Return training and test rows of every fold, numbered within the rows of the search."""
        splitter = make_splitter(self.cv, target, classes, groups, self._seed)
        splits = [
            (np.asarray(train), np.asarray(test))
            for train, test in splitter.split(data.X, target, groups)
        ]
        codes, numbers = (target, None) if classes else (None, data.y)
        check_splits(splits, codes, data.sample_weight, groups, numbers)
        return splits

    def _check_words(self):
        """Raise where a parameter has none of the values that it can have."""
        if self.rule not in RULES:
            raise ValueError(f"rule must be 'min' or '1se', got {self.rule!r}.")
        if self.relax not in ("auto", True, False):
            raise ValueError(f"relax must be 'auto', True or False, got {self.relax!r}.")
        if self.search_rows is not None:
            check_number(self.search_rows, "search_rows", low=2, integer=True)

    def _fixed_seed(self) -> Any:
        """Return a number or None: a generator would be another one in every worker."""
        state = self.random_state
        fixed = state is None or isinstance(state, numbers.Integral)
        return state if fixed else draw_seed(state)

    def _make_lines(self, kernels, grid, data, searched):
        """Return the maker of lines for the rows that are searched; all rows tell the groups."""
        first = next(iter(kernels.values()))
        names = getattr(self, "feature_names_in_", None)
        columns = ArrayRows(data.X, s=data.sample_weight, names=names)
        # Groups by name mean nothing to a fold without a frame, and those that are found in the
        # columns are the same in all folds.
        grouping = find_groups(self.feature_groups, columns, first)
        return LineMaker(
            template=self._template(kernel=first, feature_groups=grouping),
            kernels=kernels,
            centers=CenterCounts(self.n_centers, resolved_loss(self)),
            grid=grid,
            weightings=weightings_to_compare(self.relax, self.include_all),
            data=searched,
            names=names,
        )

    def _take_names(self, template) -> None:
        """Take over number and names of the columns; names of an earlier fit are forgotten."""
        self.n_features_in_ = template.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(template, "feature_names_in_"):
            self.feature_names_in_ = template.feature_names_in_

    def _choose(self, race):
        """Take what the folds say, by both rules."""
        judgments = Judgments.gathered(race.lines, race.scores, len(self.splits_), race.followed)
        self.cv_results_ = tabulate(race.lines, judgments)
        self.nested_scores_ = judged_by_others(judgments, self.splits_, self.rule)
        picks = pick_setting(race.lines, judgments)
        self.choices_ = {rule: pick.index for rule, pick in picks.items()}
        self._pick = picks[self.rule]

    def _publish_choice(self, race):
        """Tell what was chosen, once the path on all rows has settled what folds left open."""
        pick = self._pick
        self.choices_[self.rule] = self.best_index_ = pick.index
        self.weighting_ = pick.weighting
        self.kernel_, self.kernel_name_ = pick.line.template.kernel, pick.line.kernel
        self.alpha_ = pick.line.alpha
        mine = self.cv_results_["kernel"] == pick.line.kernel
        self.alphas_ = np.unique(self.cv_results_["alpha"][mine])
        self.best_score_ = float(self.cv_results_["mean_test_score"][pick.index])
        self.n_paths_ = race.n_paths
        bits = np.array([fold.selected[pick.setting] for fold in race.scores[pick.position]])
        selected = np.unpackbits(bits, axis=1, count=self.n_features_in_)
        self.selection_frequency_ = selected.mean(axis=0)

    def _follow(self, lines, data, start, task):
        """Follow the path of the chosen line, and fit the chosen model to all rows.

        ``start`` is the name of the start that was the best in all folds, None where they differ.
        """
        line = self._pick.line
        job = lines.job(line.kernel).with_alpha(line.alpha)
        n_centers = lines.centers.of_chosen(job.prepared.kernel, data.n_counted)
        if self.n_features_to_select is None:
            roughly = not is_final(line, job, data, n_centers)
            trace = follow_line(line, job, start, task, roughly=roughly)
            self._fit_chosen(job, trace, data, n_centers)
        else:
            self._fit_count(job, trace_path(line.template, job, task=task), data, n_centers)
        self.weights_ = self.best_estimator_.weights_
        self.n_iter_ = len(self.path_)
        self.__dict__.pop("feature_groups_", None)  # of an earlier fit
        if hasattr(self.best_estimator_, "feature_groups_"):
            self.feature_groups_ = self.best_estimator_.feature_groups_

    def _fit_chosen(self, job, trace, data, n_centers):
        """Publish the path, and the model of the chosen point fitted to all rows."""
        self._pick = settle(self._pick, trace, job)
        template = self._publish_path(job, trace)
        self.sparsity_ = chosen_sparsity(self._pick, trace)
        self.best_estimator_, solution = fit_chosen(
            self._pick, template, job, trace, data, n_centers
        )
        if not solution.converged and self.path_.converged.all():
            # What has not converged on the path has been said already.
            warn_not_converged("The chosen model", [solution], stacklevel=6)

    def _fit_count(self, job, trace, data, n_centers):
        """Publish the path, and the model with the number of features fitted to all rows."""
        self._publish_path(job, trace)
        template = self._pick.line.template
        self.best_estimator_ = fit_count(template, job, data, n_centers, self.feature_groups)
        self.sparsity_ = float(self.best_estimator_.sparsity_)

    def _publish_path(self, job, trace):
        """Set the path of the chosen line, and return what its models are instances of.

        They have the groups as the user gave them, not as the folds need them.
        """
        template = clone(self._pick.line.template).set_params(feature_groups=self.feature_groups)
        self.path_ = PathResult.from_trace(template, job, trace)
        self.path_.warn_not_converged(stacklevel=8)
        return template

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
        model = min(self._pick.point, len(self.path_) - 1)
        if self.n_features_to_select is not None:
            # A model of so many features need not be a point of the path.
            model = self.path_.at(n_features=self.n_features_to_select)
        return self.path_.substitutes(
            model,
            n_candidates=n_candidates,
            folds=fold_of_rows(self.splits_, self._searched),
            random_state=random_state,
        )


class KnifeRegressorCV(RegressorMixin, _BaseKnifeCV):
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
    rule : {"min", "1se"}, default="min"
        The best mean score, or the fewest features within one standard error of it. Scores within
        a quarter of a standard error of the best count as equally good, and the fewest features
        decide. Features are counted over all folds together.
    scoring : str, callable or None, default=None
        None is the mean squared error, or the accuracy for classes.
    cv : int, splitter or iterable, default=None
        None is five folds of shuffled rows, stratified for classes; below 200 rows, where one
        split into folds is mostly luck, twice five; and as many folds as the rarest class has rows
        where these are fewer than five. With ``groups``, None and a number keep them together.
    class_weight : None
        For :class:`KnifeClassifierCV` only; a regressor refuses everything else.
    solver, start, n_starts, standardize, fit_intercept : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    feature_groups, feature_costs : as in KnifeRegressor
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
        Mean score over the folds of the chosen setting. The best of many is partly luck: see
        ``nested_scores_``.
    nested_scores_ : ndarray of shape (n_folds,)
        Every fold's score of what the other folds choose; its mean is an estimate that the choice
        does not flatter.
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
    n_paths_ : int
        Paths that were followed in the folds.
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

    def _split_target(self, y):
        return y, False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KnifeClassifierCV(ClassifierMixin, _BaseKnifeCV):
    """:class:`KnifeClassifier` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    loss : as in KnifeClassifier
        See :class:`KnifeClassifier`.
    alphas, sparsities, n_features_to_select : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    relax, include_all, rule, scoring, cv : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    class_weight : as in KnifeClassifier
        See :class:`KnifeClassifier`. With "balanced", ``scoring="balanced_accuracy"`` chooses in
        the same spirit.
    solver, start, n_starts, standardize, fit_intercept : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, memory_budget, search_rows : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    max_iter, tol, n_jobs, random_state : as in KnifeRegressorCV
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

    def _split_target(self, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes, True

    def decision_function(self, X):
        """Return the scores of the chosen model.

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
        """Return class probabilities of the chosen model, for a loss that has them.

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
