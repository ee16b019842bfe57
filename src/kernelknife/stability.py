"""Stability selection: which features are found again on random halves of the rows."""

import warnings
from contextlib import ExitStack
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import check_groups, infer_task, refuse_lazy_rows
from kernelknife._engine.fitting import check_arrays, prepare_job, trace_path
from kernelknife._error_rates import (
    ASSUMPTIONS,
    draw_halves,
    error_bound,
    integrated_q_values,
    largest_count,
    smallest_threshold,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import Task, root_task
from kernelknife._utils.seeds import draw_seed
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.path import PathResult

__all__ = ["KnifeStability", "find_twins", "make_template", "warn_constant"]

# A half votes by the order in which features leave its path: a coarse path at a loose tolerance
# tells that order as well as a fine one.
PATH_POINTS, PATH_TOL = 15, 1e-3
# The share of halves that selects, and the one for tables whose halves would have few votes.
USUAL_THRESHOLD, STRICT_THRESHOLD, MANY_VOTES = 0.75, 0.9, 10
FEWEST_ROWS = 8  # two halves of four rows; below, a path is an accident
MOST_CLUSTERED = 5000  # columns whose correlations with each other fit into 200 MB


class KnifeStability(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Stability selection with a bound on the number of false features.

    The rows are halved at random many times, a feature path is followed on each half, and every
    half votes for the features that leave its path last. Features with votes from most halves are
    selected. How many of them are false in expectation is bounded by theorems that assume no
    model of the data.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier, default=None
        Whose path is followed. None takes one by the target, with the Gaussian kernel.
    max_false : float, default=1.0
        Largest expected number of false features among the selected ones.
    n_pairs : int, default=50
        Number of times that the rows are halved; both halves are used.
    threshold : float, default=None
        Share of the halves from which on a feature is selected. None is 0.75 if a half may then
        vote for ten features or more, else 0.9, which leaves a half half as many votes again: with
        few votes, true features crowd each other out. It is raised where even one vote per half
        would break the promise.
    n_votes : int, default=None
        Number of features that a half votes for. None is the largest number that keeps the promise
        at ``threshold``. A given number raises ``threshold`` as far as the promise needs.
    assumption : {"unimodal", "none", "r-concave"}, default="unimodal"
        What is assumed of the votes for useless features; see the notes.
    cluster_correlation : float, default=None
        Columns whose absolute correlation is at least this large are voted on, and selected, as one
        cluster. None votes on every column.
    n_jobs : int, default=None
        Halves run in parallel through joblib; the answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Of the halves. None draws the same halves every time.

    Attributes
    ----------
    selection_probabilities_ : ndarray of shape (n_features,)
        Share of the halves that vote for a column. Columns of a group or cluster share theirs.
    q_values_ : ndarray of shape (n_features,)
        Expected share of false features among those with at least this column's votes, by
        integrated path stability selection over all numbers of votes; 1 for constant columns.
    expected_false_ : ndarray of shape (n_features,)
        Expected number of false features among them.
    error_bound_ : float
        Bound on the expected number of false features among the selected ones.
    error_bounds_ : dict of float
        The same by each of the assumptions; infinity where a theorem does not apply.
    n_votes_ : int
        Features that each half votes for.
    threshold_ : float
        Share of the halves from which on a feature is selected.
    units_ : ndarray of int of shape (n_features,)
        The number of the feature, group or cluster that a column belongs to, -1 for constant
        columns.
    n_units_ : int
        How many there are to choose from.
    ranks_ : ndarray of int of shape (2 * n_pairs, n_units)
        Order of survival on every half, 1 for the last to leave; halves of a pair follow each
        other.
    support_ : ndarray of bool of shape (n_features,)
        Which features are selected.
    task_ : {"regression", "classification"}
        What the target was taken for.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeKnockoffs : A bound on the share of false features, for ten true ones or more.

    Notes
    -----
    With ``q`` votes of each half among ``p`` features, a threshold ``t`` and ``B`` pairs, the bound
    is ``q**2 / p`` times ``1 / (2 t - 1)`` without an assumption (Meinshausen and Buhlmann), and
    about half as much, or less, if the share of pairs that select a useless feature twice has a
    unimodal distribution (Shah and Samworth), as it practically always has. Their r-concave bound
    assumes more and is smaller still. All of them count a feature as false if a half selects it no
    more often than a blind draw would. A column that has no effect of its own but is correlated
    with one that has is not false in this sense.

    References
    ----------
    N. Meinshausen and P. Buhlmann (2010), Stability selection, Journal of the Royal Statistical
    Society B 72, 417-473.

    R. D. Shah and R. J. Samworth (2013), Variable selection with error control: another look at
    stability selection, Journal of the Royal Statistical Society B 75, 55-80.

    O. Melikechi and J. W. Miller (2024), Integrated path stability selection.

    Examples
    --------
    >>> from kernelknife import KnifeStability
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(200, 46, random_state=0)
    >>> stability = KnifeStability(n_pairs=20).fit(X, y)
    >>> stability.get_support(indices=True)
    array([0, 1, 2, 3])
    >>> stability.error_bound_ <= 1.0
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_false: float = 1.0,
        n_pairs: int = 50,
        threshold: float | None = None,
        n_votes: int | None = None,
        assumption: str = "unimodal",
        cluster_correlation: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.max_false = max_false
        self.n_pairs = n_pairs
        self.threshold = threshold
        self.n_votes = n_votes
        self.assumption = assumption
        self.cluster_correlation = cluster_correlation
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, groups: Any = None) -> "KnifeStability":
        """Follow a path on every half and count the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Both halves get rows of every class.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one half.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        refuse_lazy_rows(X, "Stability selection")
        X, y, groups = indexable(X, y, groups)
        template = make_template(self.estimator, y, PATH_TOL)
        job = prepare_job(template, X, y)
        self.task_ = job.prepared.loss.task
        self.n_features_in_ = job.prepared.n_features
        self.__dict__.pop("feature_names_in_", None)
        if job.prepared.rows.names is not None:
            self.feature_names_in_ = job.prepared.rows.names
        X, y = check_arrays(template, X, y)
        varying = job.prepared.columns.index
        names = getattr(self, "feature_names_in_", None)
        warn_constant(X.shape[1], varying, names)
        self._find_units(template, X, varying)
        self._warn_twins(X, varying, names)
        self._choose_votes()
        halves = self._draw_halves(y, groups)
        with root_task(self, "stability", len(halves)) as task:
            rankings = self._follow_halves(template, X, y, halves, task)
        self.ranks_ = np.array([self._rank_units(ranking, varying) for ranking in rankings])
        self._count_votes()
        return self

    def _check_parameters(self) -> None:
        check_number(self.max_false, "max_false", strict=True)
        check_number(self.n_pairs, "n_pairs", low=2, integer=True)
        if self.threshold is not None:
            check_number(self.threshold, "threshold", low=0.5, strict=True)
        if self.threshold is not None and self.threshold > 1:
            raise ValueError(f"threshold must be a share in (0.5, 1], got {self.threshold!r}.")
        if self.n_votes is not None:
            check_number(self.n_votes, "n_votes", low=1, integer=True)
        if self.assumption not in ASSUMPTIONS:
            known = ", ".join(repr(name) for name in ASSUMPTIONS)
            raise ValueError(f"assumption must be one of {known}, got {self.assumption!r}.")
        if self.cluster_correlation is not None:
            check_number(self.cluster_correlation, "cluster_correlation", strict=True)

    def _find_units(self, template: Any, X: np.ndarray, varying: np.ndarray) -> None:
        """Set the unit of every column: itself, its group, or its cluster."""
        names = getattr(self, "feature_names_in_", None)
        labels = np.arange(X.shape[1])
        if template.feature_groups is not None:
            if self.cluster_correlation is not None:
                raise ValueError(
                    "Give the estimator feature_groups, or ask for clusters by "
                    "cluster_correlation, not both: a column can have one vote only."
                )
            labels = check_groups(template.feature_groups, X.shape[1], names)
            # Names of columns mean nothing to a half, which is an array.
            template.set_params(feature_groups=labels)
        elif self.cluster_correlation is not None:
            labels = labels.copy()
            labels[varying] = _cluster_columns(X[:, varying], self.cluster_correlation)
        self.units_ = np.full(X.shape[1], -1)
        self.units_[varying] = np.unique(labels[varying], return_inverse=True)[1]
        self.n_units_ = int(self.units_.max()) + 1

    def _warn_twins(self, X: np.ndarray, varying: np.ndarray, names: Any) -> None:
        """Warn where the halves have to choose between copies."""
        twins = find_twins(X, varying)
        if twins is not None and self.units_[twins[0]] != self.units_[twins[1]]:
            first, second = (_name(j, names) for j in twins)
            warnings.warn(
                f"Columns {first} and {second} are copies of each other and share their votes, so "
                "that neither may have enough: leave one of them out, or pass "
                "cluster_correlation=0.99 to vote on them as one.",
                stacklevel=5,
            )

    def _choose_votes(self) -> None:
        """Set the number of votes of a half, and the share of halves that selects."""
        p, allowed = self.n_units_, (self.max_false, self.assumption)
        halves = 2 * self.n_pairs
        wanted = self.threshold
        if wanted is None:
            many = largest_count(p, USUAL_THRESHOLD, self.n_pairs, *allowed) >= MANY_VOTES
            wanted = USUAL_THRESHOLD if many else STRICT_THRESHOLD
        # Shares are whole numbers of halves.
        wanted = float(np.ceil(halves * wanted - 1e-9)) / halves
        votes = self.n_votes
        if votes is None:
            votes = max(largest_count(p, wanted, self.n_pairs, *allowed), 1)
        elif votes > p:
            raise ValueError(f"n_votes={votes} is more than the {p} features to vote on.")
        threshold: float | None = wanted
        if error_bound(votes, p, wanted, self.n_pairs, self.assumption) > self.max_false:
            threshold = smallest_threshold(votes, p, self.n_pairs, *allowed)
        if threshold is None:
            raise ValueError(
                f"With {p} feature(s), {self.n_pairs} pairs of halves and {votes} vote(s) per "
                f"half, no threshold promises at most {self.max_false:g} false ones: raise "
                "max_false or n_pairs, or lower n_votes."
            )
        self.n_votes_, self.threshold_ = int(votes), float(threshold)
        self.error_bounds_ = {
            name: float(error_bound(self.n_votes_, p, self.threshold_, self.n_pairs, name))
            for name in ASSUMPTIONS
        }
        self.error_bound_ = self.error_bounds_[self.assumption]

    def _draw_halves(self, y: np.ndarray, groups: Any) -> list[np.ndarray]:
        """Return the rows of every half, after a check that each can be fitted."""
        n = len(y)
        if n < FEWEST_ROWS:
            raise ValueError(
                f"Stability selection needs at least {FEWEST_ROWS} rows for two halves, got "
                f"n_samples = {n}: too few to learn anything from half of them."
            )
        strata = None
        if self.task_ == "classification":
            classes, strata = np.unique(y, return_inverse=True)
            rarest = int(np.argmin(np.bincount(strata)))
            if np.bincount(strata)[rarest] < 2:
                raise ValueError(
                    f"Class {classes[rarest]!r} has one row, and one of two halves would lose it: "
                    "leave the class out, or join it with another."
                )
        if groups is not None:
            groups = np.asarray(groups)
            if len(np.unique(groups)) < 4:
                raise ValueError(
                    f"Halves of whole groups need at least 4 groups of rows, got "
                    f"{len(np.unique(groups))}: fit without groups, or use finer ones."
                )
        seed = draw_seed(self.random_state)
        rng = np.random.default_rng(0 if seed is None else seed)
        halves = draw_halves(n, self.n_pairs, rng, strata, groups)
        if strata is not None and groups is not None:
            for half in halves:
                lost = np.setdiff1d(strata, strata[half])
                if len(lost):
                    raise ValueError(
                        f"Class {classes[lost[0]]!r} lies in too few groups of rows: a half of the "
                        "groups loses it. Leave the class out, or use finer groups."
                    )
        return halves

    def _follow_halves(
        self, template: Any, X: np.ndarray, y: np.ndarray, halves: list[np.ndarray], task: Task
    ) -> list[np.ndarray]:
        """Return the order of survival of the columns on every half."""
        with ExitStack() as open_tasks:
            parent = task.child("halves", len(halves), ordered=False)
            open_tasks.enter_context(parent)
            jobs = [
                delayed(_rank_on_half)(
                    clone(template), X, y, rows, parent.child("half", None, number=i)
                )
                for i, rows in enumerate(halves)
            ]
            return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _rank_units(self, ranking: np.ndarray, varying: np.ndarray) -> np.ndarray:
        """Return the order of survival of units: one survives as long as its best column."""
        best = np.full(self.n_units_, np.iinfo(np.int64).max)
        np.minimum.at(best, self.units_[varying], ranking[varying])
        ranks = np.empty(self.n_units_, dtype=np.int32)
        ranks[np.argsort(best, kind="stable")] = np.arange(1, self.n_units_ + 1)
        return ranks

    def _count_votes(self) -> None:
        """Set what follows from the ranks on all halves."""
        shares = self.vote_shares(self.n_votes_)
        expected_false, q_values = integrated_q_values(self.ranks_)
        self.selection_probabilities_ = self._per_column(shares, 0.0)
        self.expected_false_ = self._per_column(expected_false, float(self.n_units_))
        self.q_values_ = self._per_column(q_values, 1.0)
        # Shares are whole numbers of halves: half of one is room enough for rounding.
        room = 0.25 / self.n_pairs
        self.support_ = self.selection_probabilities_ >= self.threshold_ - room

    def vote_shares(self, n_votes: int) -> np.ndarray:
        """Return the share of halves that have each unit among their last ``n_votes``.

        Parameters
        ----------
        n_votes : int
            Number of features that each half votes for.

        Returns
        -------
        ndarray of shape (n_units,)
            Share of the halves that vote for a unit.
        """
        check_is_fitted(self, "ranks_")
        return (self.ranks_ <= n_votes).mean(axis=0)

    def _per_column(self, values: np.ndarray, constant: float) -> np.ndarray:
        return np.where(self.units_ >= 0, values[np.maximum(self.units_, 0)], constant)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def warn_constant(n_features: int, varying: np.ndarray, names: Any) -> None:
    """Warn where columns are constant.

    Parameters
    ----------
    n_features : int
    varying : ndarray of int
        The columns that are not.
    names : ndarray of str or None
    """
    constant = np.setdiff1d(np.arange(n_features), varying)
    if len(constant):
        others = f" and {len(constant) - 1} more" if len(constant) > 1 else ""
        warnings.warn(
            f"Column {_name(constant[0], names)}{others} is constant: it is never selected, and is "
            "not counted among the features to choose from.",
            stacklevel=5,
        )


def find_twins(X: np.ndarray, varying: np.ndarray) -> tuple[int, int] | None:
    """Return two columns with the same values, None where there are none."""
    first: dict[bytes, int] = {}
    for j in varying.tolist():
        twin = first.setdefault(X[:, j].tobytes(), j)
        if twin != j:
            return twin, j
    return None


def _name(j: int, names: Any) -> str:
    return f"x{j}" if names is None else repr(str(names[j]))


def make_template(
    estimator: Any, y: Any, tol: float, kernel: str = "rbf"
) -> KnifeRegressor | KnifeClassifier:
    """Return a copy of the estimator, or one that fits the target, to be fitted many times.

    Parameters
    ----------
    estimator : KnifeRegressor, KnifeClassifier or None
    y : array-like
    tol, kernel : float and str
        Tolerance and kernel of an estimator that is chosen here.
    """
    if estimator is None:
        if y is None:
            raise ValueError("A selection requires y to be passed, but the target y is None.")
        kind = KnifeRegressor if infer_task(y) == "regression" else KnifeClassifier
        return kind(kernel=kernel, tol=tol)
    if not isinstance(estimator, KnifeRegressor | KnifeClassifier):
        raise TypeError(
            "estimator must be a KnifeRegressor, a KnifeClassifier or None, got "
            f"{type(estimator).__name__}. Of a cross-validated estimator pass its best_estimator_."
        )
    return clone(estimator).set_params(n_jobs=None, n_features_to_select=None)


def _rank_on_half(
    template: Any, X: np.ndarray, y: np.ndarray, rows: np.ndarray, task: Task
) -> np.ndarray:
    """Return the order in which columns leave the path of some rows, 1 for the last."""
    with limited_blas(), task, warnings.catch_warnings():
        # A half with few rows may be small or dull; what counts is what all of them have in common.
        warnings.simplefilter("ignore")
        job = prepare_job(template, X[rows], y[rows])
        trace = trace_path(template, job, PATH_POINTS, task=task)
        return PathResult.from_trace(template, job, trace).ranking


def _cluster_columns(X: np.ndarray, correlation: float) -> np.ndarray:
    """Return the cluster of every column; columns of one have at least this correlation.

    The target is not looked at, so that the bounds hold for clusters as they do for columns.
    """
    p = X.shape[1]
    if correlation > 1:
        raise ValueError(f"cluster_correlation must be at most 1, got {correlation!r}.")
    if p > MOST_CLUSTERED:
        raise ValueError(
            f"Clusters need the correlations of all columns with each other; {p} columns are more "
            f"than the {MOST_CLUSTERED} that can be borne. Leave out cluster_correlation, or "
            "drop copies beforehand."
        )
    if p < 2:
        return np.zeros(p, dtype=int)
    distance = 1.0 - np.abs(np.corrcoef(X, rowvar=False))
    np.fill_diagonal(distance, 0.0)
    distance = np.maximum(0.5 * (distance + distance.T), 0.0)
    # Complete linkage: the weakest correlation inside a cluster decides.
    tree = linkage(squareform(distance, checks=False), method="complete")
    return fcluster(tree, 1.0 - correlation + 1e-12, criterion="distance")
