"""Choose both penalties by cross-validation, along warm paths.

The grid of weight penalties depends on the number of rows and on no data. In a fold of other
size a penalty must mean the same, and what it means is which noise it keeps out. What a useless
feature gains by fitting noise does not grow with the rows. A non-linear kernel needs a weight
of fixed size to take that gain, so the fold uses the same penalty. A linear kernel needs a
weight that shrinks like one over the rows, so the fold uses it in proportion to its rows.

Everything else that a fold's fit uses, standardisation, starts and paths, comes from its
training rows alone.
"""

import numbers
import warnings
from abc import abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    check_cv,
)
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelknife._prepare import check_groups
from kernelknife._rows import refuse_lazy_rows
from kernelknife._rows.opening import check_sample_weight
from kernelknife._support.checks import check_number
from kernelknife._support.progress import root_task
from kernelknife._support.threads import limited_blas
from kernelknife.estimators import (
    Job,
    KnifeClassifier,
    KnifeRegressor,
    check_arrays,
    draw_seed,
    gives_probabilities,
    prepare_job,
    publish,
    trace_path,
)
from kernelknife.kernels import check_kernel
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifeClassifierCV", "KnifeRegressorCV"]

RULES = ("min", "1se")
LOWEST, HIGHEST = 1e-3, 10.0  # range of the default grid, per row
FEW_ROWS = 200  # below, one split into folds is mostly luck, and three are made
DEFAULT_FOLDS = 5
ALPHAS = (0.1, 0.3, 1.0)  # to choose from, where none are given
# The same for kernels that add up effects, whose single columns are cheaper at a small alpha and
# whose pairs are cheaper at a large one.
EFFECT_ALPHAS = (0.01, 0.1, 1.0)


@dataclass(frozen=True)
class FoldScores:
    """Scores and selected features along paths, the last axes over points and features."""

    scores: np.ndarray
    selected: np.ndarray  # of bool, packed to bits: thousands of features in dozens of folds


class _BaseKnifeCV(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """What both cross-validated estimators share."""

    def __init__(
        self,
        kernel="rbf",
        loss=None,
        *,
        alphas=None,
        sparsities=40,
        rule="min",
        scoring=None,
        cv=None,
        solver="eliminate",
        start="auto",
        n_starts=0,
        standardize=True,
        fit_intercept=True,
        feature_groups=None,
        feature_costs=None,
        n_centers=None,
        centers="kmeans++",
        memory_budget=2**31,
        max_iter=None,
        tol=1e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.alphas = alphas
        self.sparsities = sparsities
        self.rule = rule
        self.scoring = scoring
        self.cv = cv
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
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    _single: type
    _default_scoring: str

    @abstractmethod
    def _split_target(self, y):
        """Return the target for stratification, and whether it is one of classes."""

    def _template(self, alpha, labels=None):
        """Return the single estimator that a path point is an instance of.

        ``labels`` replaces groups by name, which mean nothing to a fold without a frame.
        """
        shared = set(self._single().get_params(deep=False)) & set(self.get_params(deep=False))
        options = {name: getattr(self, name) for name in shared}
        # Workers share the machine already, and all of them draw the same.
        changes = {"alpha": alpha, "n_jobs": None, "random_state": self._seed}
        if labels is not None:
            changes["feature_groups"] = labels
        return self._single(**{**options, **changes})

    @with_callbacks
    def fit(self, X, y, sample_weight=None, groups=None):
        """Choose the penalties by cross-validation, then follow the path on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the loss and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one fold. A
            splitter given as ``cv`` gets them, and is refused if it tears a group apart.

        Returns
        -------
        self : object
        """
        alphas = self.alphas_ = self._check_alphas()
        if self.rule not in RULES:
            raise ValueError(f"rule must be 'min' or '1se', got {self.rule!r}.")
        refuse_lazy_rows(X, "Cross-validation")
        X, y, groups = indexable(X, y, groups)
        # A generator would be another one in every worker.
        state = self.random_state
        self._seed = state if isinstance(state, numbers.Integral | None) else draw_seed(state)
        template = self._template(alphas[0])
        job = prepare_job(template, X, y, sample_weight)
        self._take_names(job)
        X, y = check_arrays(template, X, y)
        s = check_sample_weight(sample_weight, len(X))
        scorer = self._make_scorer(template, y, s)
        self.score_name_ = self._score_name()
        target, classes = self._split_target(y)
        splits = list(self._make_cv(target, classes, groups).split(X, target, groups))
        _check_splits(splits, target if classes else None, s, groups)
        self.splits_ = splits
        grid = self._grid(job, alphas)
        labels = None
        if self.feature_groups is not None:
            names = getattr(self, "feature_names_in_", None)
            labels = check_groups(self.feature_groups, X.shape[1], names)
        templates = [self._template(alpha, labels) for alpha in alphas]
        with root_task(self, "cv", len(alphas) + 1) as task:
            results = self._run_folds(X, y, s, splits, templates, grid, scorer, task)
            self._choose(results, alphas, grid)
            with task.subtask("path", len(grid)) as path_task, limited_blas():
                self._follow(job, grid, path_task)
        return self

    def _make_scorer(self, template, y, s):
        """Return one scorer; one that takes no sample weights is called without them."""
        scoring = self._default_scoring if self.scoring is None else self.scoring
        if not (isinstance(scoring, str) or callable(scoring)):
            raise ValueError(
                "scoring must be one name or one callable, because it chooses the model; got "
                f"{type(scoring).__name__}."
            )
        scorer = check_scoring(template, scoring)
        if (s == 1).all() or _takes_weights(scorer, y):
            return scorer
        warnings.warn(
            f"The scoring {self._score_name()!r} takes no sample weights: the folds are scored "
            "without them.",
            stacklevel=4,
        )
        return _Unweighted(scorer)

    def _take_names(self, job: Job) -> None:
        """Take over number and names of the columns; names of an earlier fit are forgotten."""
        self.n_features_in_ = job.prepared.n_features
        self.__dict__.pop("feature_names_in_", None)
        if job.prepared.rows.names is not None:
            self.feature_names_in_ = job.prepared.rows.names

    def _make_cv(self, target, classes, groups):
        """Return the splitter; groups stay together, few rows are split repeatedly."""
        if self.cv is None and classes and groups is None:
            # A rare class makes fewer folds: every one needs a row of it.
            rarest = int(np.bincount(target).min())
            if 2 <= rarest < DEFAULT_FOLDS:
                return check_cv(rarest, target, classifier=True)
        if self.cv is None or isinstance(self.cv, numbers.Integral):
            _check_folds(self.cv or DEFAULT_FOLDS, target, classes, groups)
        if groups is not None and (self.cv is None or isinstance(self.cv, numbers.Integral)):
            return (StratifiedGroupKFold if classes else GroupKFold)(self.cv or DEFAULT_FOLDS)
        if self.cv is None and len(target) < FEW_ROWS:
            repeated = RepeatedStratifiedKFold if classes else RepeatedKFold
            seed = 0 if self._seed is None else self._seed
            return repeated(n_splits=DEFAULT_FOLDS, n_repeats=3, random_state=seed)
        return check_cv(self.cv, target, classifier=classes)

    def _score_name(self):
        """What the scores are, in a word for pictures and reports."""
        if isinstance(self.scoring, str):
            return self.scoring
        if self.scoring is None:
            return self._default_scoring
        return getattr(self.scoring, "__name__", "score")

    def _check_alphas(self):
        given = self.alphas
        if given is None:
            given = EFFECT_ALPHAS if check_kernel(self.kernel).expands else ALPHAS
        alphas = np.atleast_1d(np.asarray(given, dtype=float))
        if alphas.ndim != 1 or not len(alphas):
            raise ValueError("alphas must be a number or a list of numbers.")
        for alpha in alphas:
            check_number(float(alpha), "alphas", strict=True)
        return alphas

    def _grid(self, job, alphas):
        """Return the penalties for all rows."""
        grid = check_sparsities(self.sparsities)
        if np.ndim(grid):
            return grid
        total = job.problem.total_weight
        if grid == 1:
            return np.array([LOWEST * total])
        # A linear kernel of standardised columns keeps a feature up to n / alpha per row.
        convex = check_kernel(self.kernel).convex
        highest = max(HIGHEST, total / alphas.min()) if convex else HIGHEST
        return np.concatenate([[0.0], total * np.geomspace(LOWEST, highest, grid - 1)])

    def _run_folds(self, X, y, s, splits, templates, grid, scorer, task):
        """Return the scores of every alpha and fold, shape (n_alphas, n_folds, n_points)."""
        jobs = []
        with ExitStack() as open_tasks:
            for template in templates:
                parent = task.child(f"alpha={template.alpha:g}", len(splits), ordered=False)
                open_tasks.enter_context(parent)
                for i, (train, test) in enumerate(splits):
                    fold = parent.child("fold", len(grid), number=i)
                    jobs.append(
                        delayed(_score_fold)(template, X, y, s, train, test, grid, scorer, fold)
                    )
            found = Parallel(n_jobs=self.n_jobs)(jobs)
        shape = (len(templates), len(splits), len(grid))
        return FoldScores(
            np.array([fold.scores for fold in found]).reshape(shape),
            np.array([fold.selected for fold in found]).reshape(*shape, -1),
        )

    def _choose(self, results, alphas, grid):
        scores = results.scores
        if np.isnan(scores).any():
            warnings.warn(
                f"{np.isnan(scores).sum()} of {scores.size} scores are NaN; settings with one are "
                "not chosen. Look at cv_results_, and consider another scoring or cv.",
                stacklevel=3,
            )
        if np.isnan(scores.mean(axis=1)).all():
            raise ValueError(
                "Every setting has a NaN score in some fold, so none can be chosen: use another "
                "scoring, or a cv whose folds hold every class."
            )
        mean = scores.mean(axis=1)
        error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
        features = np.bitwise_count(results.selected).sum(axis=3, dtype=int).mean(axis=1)
        best = np.nanmax(mean)
        # Of several best settings the one with the smallest spread sets the bar of "1se".
        bars = {"min": best, "1se": best - np.nanmin(error[mean >= best])}
        self.choices_ = {}
        for rule, bar in bars.items():
            # Fewest features first, then the better score, then the larger penalty.
            order = np.lexsort(
                (
                    -np.broadcast_to(grid, mean.shape).ravel(),
                    -np.nan_to_num(mean, nan=-np.inf).ravel(),
                    features.ravel(),
                    ~(mean >= bar).ravel(),
                )
            )
            self.choices_[rule] = int(order[0])
        self.best_index_ = self.choices_[self.rule]
        chosen = np.unravel_index(self.best_index_, mean.shape)
        self.alpha_ = float(alphas[chosen[0]])
        self._point = int(chosen[1])
        bits = results.selected[chosen[0], :, chosen[1]]
        selected = np.unpackbits(bits, axis=1, count=self.n_features_in_)
        self.selection_frequency_ = selected.mean(axis=0)
        self.best_score_ = float(mean[chosen])
        self.cv_results_ = {
            "alpha": np.repeat(alphas, len(grid)),
            "sparsity": np.tile(grid, len(alphas)),
            "mean_test_score": mean.ravel(),
            "std_test_score": scores.std(axis=1).ravel(),
            "standard_error": error.ravel(),
            "mean_n_features": features.ravel(),
            **{f"split{i}_test_score": scores[:, i].ravel() for i in range(scores.shape[1])},
        }

    def _follow(self, job, sparsities, task):
        """Follow the path on all rows with the chosen alpha and keep the chosen point."""
        template = self._template(self.alpha_)
        job = job.with_alpha(self.alpha_)
        trace = trace_path(template, job, sparsities, task=task)
        self.path_ = PathResult.from_trace(template, job, trace)
        # The path ends where the last feature leaves; beyond, nothing changes.
        self.best_estimator_ = self.path_.model(min(self._point, len(self.path_) - 1))
        self.path_.warn_not_converged(stacklevel=5)
        self.weights_ = self.best_estimator_.weights_
        self.sparsity_ = self.best_estimator_.sparsity_
        self.n_iter_ = len(self.path_)

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

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._chosen.predict(X)


class KnifeRegressorCV(RegressorMixin, _BaseKnifeCV):
    """:class:`KnifeRegressor` with both penalties chosen by cross-validation.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
    loss : str or Loss, default=None
    alphas : float or array-like, default=None
        Penalties on the norm of the machine to try; ``alphas_`` tells them after a fit. None is
        0.1, 0.3 and 1, and for additive and ANOVA kernels 0.01, 0.1 and 1.
    sparsities : int or array-like, default=40
        Number of weight penalties, or the increasing penalties themselves. A fold uses the
        same ones, or with a linear kernel in proportion to its rows: see the notes.
    rule : {"min", "1se"}, default="min"
        The best mean score, or the fewest features within one standard error of it.
    scoring : str, callable or None, default=None
        None is the mean squared error, or the accuracy for classes.
    cv : int, splitter or iterable, default=None
        None is five folds, stratified for classes; below 200 rows, where one split into folds
        is mostly luck, three times five; and as many folds as the rarest class has rows where
        these are fewer than five. With ``groups``, None and a number keep them together.
    solver, start, n_starts, standardize, fit_intercept : see :class:`KnifeRegressor`
    feature_groups, feature_costs, max_iter, tol, random_state : see :class:`KnifeRegressor`
    n_centers, centers, memory_budget : see :class:`KnifeRegressor`
    n_jobs : int, default=None
        Folds and alphas run in parallel through joblib, on any of its backends, each on one
        BLAS thread; the answer does not depend on it.

    Attributes
    ----------
    alpha_, sparsity_ : float
        The chosen penalties.
    alphas_ : ndarray
        The penalties on the norm that were tried.
    weights_ : ndarray of shape (n_features,)
    best_estimator_ : KnifeRegressor
        Fitted on all rows.
    best_score_ : float
        Its mean score over the folds.
    score_name_ : str
        What is scored.
    splits_ : list of (ndarray, ndarray)
        Training and test rows of every fold.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the folds in which a feature is selected at the chosen penalties.
    path_ : PathResult
        On all rows, with the chosen ``alpha_``.
    cv_results_ : dict of ndarray
        One entry per pair of penalties.
    choices_ : dict of int
        What each rule would choose, as indices into ``cv_results_``.

    Notes
    -----
    What a useless feature gains by fitting noise does not grow with the number of rows. A
    non-linear kernel needs a weight of fixed size to take that gain, so a penalty keeps out the
    same noise in a fold as in all rows. A linear kernel needs a weight that shrinks like one
    over the rows, so there the penalty is taken in proportion to them.

    Examples
    --------
    >>> from kernelknife import KnifeRegressorCV
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(100, 5, random_state=0)
    >>> model = KnifeRegressorCV(alphas=[0.1, 1.0], rule="1se").fit(X, y)
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
    """:class:`KnifeClassifier` with both penalties chosen by cross-validation.

    Parameters
    ----------
    kernel, loss : see :class:`KnifeClassifier`
    alphas, sparsities, rule, scoring, cv, n_jobs : see :class:`KnifeRegressorCV`
    solver, start, n_starts, standardize, fit_intercept : see :class:`KnifeRegressor`
    feature_groups, feature_costs, max_iter, tol, random_state : see :class:`KnifeRegressor`
    n_centers, centers, memory_budget : see :class:`KnifeRegressor`

    Attributes
    ----------
    classes_ : ndarray
        The classes; all other attributes are those of :class:`KnifeRegressorCV`.

    Examples
    --------
    >>> from kernelknife import KnifeClassifierCV
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(100, 6, random_state=0)
    >>> model = KnifeClassifierCV(alphas=[0.1, 1.0], rule="1se").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3])
    """

    _single = KnifeClassifier
    _default_scoring = "accuracy"

    _task = "classification"
    _default_loss = "squared_hinge"

    def _split_target(self, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes, True

    def decision_function(self, X):
        """Return the scores of the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._chosen.decision_function(X)

    @available_if(gives_probabilities)
    def predict_proba(self, X):
        """Return class probabilities of the chosen model, for a loss that has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._chosen.predict_proba(X)


class _Unweighted:
    """A scorer that leaves out sample weights which its score cannot take."""

    def __init__(self, scorer):
        self.scorer = scorer

    def __call__(self, estimator, X, y, sample_weight=None):
        return self.scorer(estimator, X, y)


def _takes_weights(scorer, y):
    """Whether a scorer takes sample weights, tried on a constant prediction."""
    dummy = DummyClassifier() if np.asarray(y).dtype.kind not in "f" else DummyRegressor()
    zeros = np.zeros((len(y), 1))
    try:
        scorer(dummy.fit(zeros, y), zeros, y, sample_weight=np.ones(len(y)))
    except TypeError:
        return False
    # Whatever else is wrong with a constant prediction is not about weights.
    except Exception:
        return True
    return True


def _check_folds(n_folds, target, classes, groups):
    """Raise where so many folds cannot be made, before scikit-learn says it in its words."""
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise ValueError(
            f"{n_folds} folds need as many groups, got {len(np.unique(groups))}: use fewer folds."
        )
    if len(target) < n_folds:
        raise ValueError(f"{n_folds} folds need as many rows, got {len(target)}: use fewer folds.")
    if classes and groups is None:
        fewest = int(np.bincount(target).min())
        if fewest < n_folds:
            raise ValueError(
                f"{n_folds} folds need as many rows of every class, the rarest has {fewest}: use "
                "fewer folds, or leave out or join rare classes."
            )


def _check_splits(splits, codes, s, groups):
    """Raise where a fold cannot be fitted, and say which."""
    if len(splits) < 2:
        raise ValueError(f"cv gave {len(splits)} split(s); at least 2 are needed.")
    for i, (train, test) in enumerate(splits):
        if not s[train].any() or not s[test].any():
            raise ValueError(f"Fold {i} has no training or no test rows with positive weight.")
        if groups is not None:
            torn = np.intersect1d(np.asarray(groups)[train], np.asarray(groups)[test])
            if len(torn):
                raise ValueError(
                    f"Fold {i} has rows of group {torn[0]!r} on both sides: use a cv that keeps "
                    "groups together, such as GroupKFold, or leave out groups."
                )
        if codes is not None:
            missing = np.setdiff1d(codes, codes[train][s[train] > 0])
            if len(missing):
                raise ValueError(
                    f"The training rows of fold {i} lack {len(missing)} of the "
                    f"{len(np.unique(codes))} classes: use fewer folds or a stratified cv, or "
                    "drop classes with fewer rows than folds."
                )


def _score_fold(template, X, y, s, train, test, grid, scorer, task):
    """Follow the path on the training rows and score every point on the others."""
    with limited_blas(), task:
        job = prepare_job(template, X[train], y[train], s[train])
        share = s[train].sum() / s.sum()
        here = grid * share if job.problem.convex else grid
        trace = trace_path(template, job, here, task=task)
        weighted = {} if (s[test] == 1).all() else {"sample_weight": s[test]}
        scores, selected = np.empty(len(grid)), np.zeros((len(grid), X.shape[1]), dtype=bool)
        for i, point in enumerate(trace.points):
            model = clone(template)
            publish(model, job, point)
            scores[i] = scorer(model, X[test], y[test], **weighted)
            selected[i] = model.get_support()
        # Past the end of the path no feature is left and nothing changes any more.
        scores[len(trace.points) :] = scores[len(trace.points) - 1]
        return FoldScores(scores, np.packbits(selected, axis=1))
