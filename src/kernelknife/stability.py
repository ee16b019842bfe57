"""Stability selection: which features are found again on random half-samples of the rows."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernelknife._engine.data import filled
from kernelknife._error_rates import (
    ASSUMPTIONS,
    choose_votes,
    cluster_columns,
    draw_half_samples,
    error_bound,
    find_copies,
    integrated_q_values,
    rank_half_samples,
    rank_units,
)
from kernelknife._selector import ErrorRateSelector, Table
from kernelknife._utils.checks import check_number, draw_seed
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import root_progress
from kernelknife._utils.row_units import RowUnits
from kernelknife._utils.versions import with_callbacks

__all__ = ["KnifeStability"]

PATH_TOL = 1e-3  # only the elimination order counts, which a loose tolerance gives as well
FEWEST_ROWS = 8  # two half-samples of four rows; a path of fewer is chance


class KnifeStability(ErrorRateSelector):
    """Stability selection with a bound on the number of false features.

    Many complementary pairs of half-samples are drawn, a feature path is followed on each
    half-sample, and each votes for the features that leave its path last. Features with votes from
    most half-samples are selected. How many of them are false in expectation is bounded by theorems
    that assume no model of the data.

    Parameters
    ----------
    estimator : KnifeRegressor, KnifeClassifier or KnifeSurvival, default=None
        Whose path is followed. None takes one by the target, with the Gaussian kernel.
    max_false : float, default=1.0
        Largest expected number of false features among the selected ones.
    n_pairs : int, default=50
        Number of complementary pairs of half-samples.
    threshold : float, default=None
        Share of the half-samples from which on a feature is selected. None is 0.75 if a half-sample
        may then vote for ten features or more, else 0.9, which allows half as many votes again:
        with few votes, true features crowd each other out. It is raised where even one vote per
        half-sample has an error bound above ``max_false``.
    n_votes : int, default=None
        Number of features that a half-sample votes for. None is the largest number whose error
        bound at ``threshold`` is at most ``max_false``. A given number raises ``threshold`` as far
        as that needs.
    assumption : {"unimodal", "none", "r-concave"}, default="unimodal"
        What is assumed about the votes for useless features; see the notes.
    cluster_correlation : float, default=None
        Columns whose absolute correlation is at least this large are voted on, and selected, as one
        cluster. None votes on every column.
    blocks : int, default=None
        Length of blocks of neighboring rows that stay in one half-sample, for rows in the order of
        time. The bound is that of independent rows, or of independent groups or blocks of them.
    n_jobs : int, default=None
        Half-samples run in parallel through joblib; the answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Of the half-samples. None draws the same ones every time.

    Attributes
    ----------
    selection_probabilities_ : ndarray of shape (n_features,)
        Share of the half-samples that vote for a column. Columns of a group or cluster share
        theirs.
    q_values_ : ndarray of shape (n_features,)
        Estimated share of false features among those with at least this column's votes, by
        integrated path stability selection over all numbers of votes, doubled; at least half the
        share of the half-samples that do not vote for the column, and 1 for constant columns. The
        guide states what they claim.
    expected_false_ : ndarray of shape (n_features,)
        Expected number of false features among them.
    error_bound_ : float
        Bound on the expected number of false features among the selected ones.
    error_bounds_ : dict of float
        The same by each of the assumptions; infinity where a theorem does not apply.
    n_votes_ : int
        Features that each half-sample votes for.
    threshold_ : float
        Share of the half-samples from which on a feature is selected.
    units_ : ndarray of int of shape (n_features,)
        The number of the feature, group or cluster that a column belongs to, -1 for constant
        columns.
    n_units_ : int
        How many there are to choose from.
    ranks_ : ndarray of int of shape (2 * n_pairs, n_units)
        Elimination order on every half-sample, 1 for the last to leave; the two of a pair follow
        each other.
    support_ : ndarray of bool of shape (n_features,)
        Which features are selected.
    task_ : {"regression", "classification", "survival"}
        How the target was interpreted.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeKnockoffs : A bound on the share of false features, for ten true ones or more.

    Notes
    -----
    With ``q`` votes of each half-sample among ``p`` features, a threshold ``t`` and ``B`` pairs,
    the bound is ``q**2 / p`` times ``1 / (2 t - 1)`` without an assumption (Meinshausen and
    Buhlmann), and about half as much, or less, if the share of pairs that select a useless feature
    twice has a unimodal distribution (Shah and Samworth), as it practically always has. Their
    r-concave bound assumes more and is smaller still. All of them count a feature as false if a
    half-sample selects it no more often than a blind draw would. A column that has no effect of its
    own but is correlated with one that has is not false in this sense.

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
        blocks: int | None = None,
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
        self.blocks = blocks
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, groups: Any = None, exposure: Any = None) -> Self:
        """Follow a path on every half-sample and count the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Both half-samples of a pair get rows of every class. Or times and events as for
            :class:`KnifeSurvival`: both get half of the events.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one half-sample.
        exposure : array-like of shape (n_samples,), default=None
            Of counts: see :meth:`KnifeRegressor.fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        table = self._open(
            X, y, "Stability selection", kernel="rbf", tol=PATH_TOL, rows_per_fit=0.5
        )
        if exposure is not None:
            table = table.with_exposure(exposure)
        units = self._find_units(table)
        votes, threshold = choose_votes(
            int(units.max()) + 1,
            self.n_pairs,
            self.max_false,
            self.assumption,
            self.threshold,
            self.n_votes,
        )
        if self.blocks is not None:
            blocks = RowUnits.of(len(table.y), groups, self.blocks)
            groups = None if blocks is None else blocks.codes
        half_samples = self._draw_half_samples(table, groups)
        with root_progress(self, "stability", len(half_samples)) as progress:
            ranks = rank_half_samples(
                # The groups of all rows: a half-sample has no names and finds none of its own.
                replace(table.spec, feature_groups=table.data.grouping),
                table.X,
                table.y,
                half_samples,
                n_jobs=self.n_jobs,
                progress=progress,
            )
        return self._set_fitted(table, units, votes, threshold, rank_units(ranks, units))

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
            if self.cluster_correlation > 1:
                raise ValueError(
                    f"cluster_correlation must be at most 1, got {self.cluster_correlation!r}."
                )

    def _find_units(self, table: Table) -> np.ndarray:
        """Return the unit of every column: itself, its group or its cluster.

        Those that nobody votes on have -1: constant ones, and those that are always kept or that
        are adjusted for.
        """
        X, varying = table.X, np.setdiff1d(table.varying, table.kept)
        if not len(varying):
            raise ValueError("All columns are always kept: there is none left to vote on.")
        labels = np.arange(X.shape[1])
        if table.data.grouping is not None:
            if self.cluster_correlation is not None:
                raise ValueError(
                    "Give the estimator feature_groups, or ask for clusters by "
                    "cluster_correlation, not both: a column can have one vote only."
                )
            labels = table.data.grouping.labels
        elif self.cluster_correlation is not None:
            labels[varying] = cluster_columns(filled(X[:, varying]), self.cluster_correlation)
        units = np.full(X.shape[1], -1)
        units[varying] = np.unique(labels[varying], return_inverse=True)[1]
        copies = find_copies(X, varying)
        if copies is not None and units[copies[0]] != units[copies[1]]:
            first, second = (table.name(j) for j in copies)
            warn(
                f"Columns {first} and {second} are copies of each other and share their votes, so "
                "that neither may have enough: leave one of them out, or pass "
                "cluster_correlation=0.99 to vote on them as one.",
            )
        return units

    def _draw_half_samples(self, table: Table, groups: Any) -> list[np.ndarray]:
        """Return the rows of every half-sample, after a check that each can be fitted."""
        n = len(table.y)
        if n < FEWEST_ROWS:
            raise ValueError(
                f"Stability selection needs at least {FEWEST_ROWS} rows for two half-samples, got "
                f"n_samples = {n}: too few to learn anything from half of them."
            )
        classes, strata = [], None
        if table.spec.task == "survival":
            strata = (table.y[:, 1] > 0).astype(int)  # both half-samples get half of the events
        if table.spec.task == "classification":
            values, strata = np.unique(table.y, return_inverse=True)
            classes, counts = values.tolist(), np.bincount(strata)
            if counts.min() < 2:
                raise ValueError(
                    f"Class {classes[counts.argmin()]!r} has one row, which one of two "
                    "half-samples would lack: leave the class out, or join it with another."
                )
        if groups is not None:
            check_consistent_length(table.y, groups)
            n_groups = len(np.unique(groups))
            if n_groups < 4:
                raise ValueError(
                    f"Half-samples of whole groups need at least 4 groups of rows, got {n_groups}: "
                    "fit without groups, or use finer ones."
                )
        rng = np.random.default_rng(draw_seed(self.random_state) or 0)
        half_samples = draw_half_samples(n, self.n_pairs, rng, strata, groups)
        if strata is not None and classes and groups is not None:
            for rows in half_samples:
                lost = np.setdiff1d(strata, strata[rows])
                if len(lost):
                    raise ValueError(
                        f"Class {classes[lost[0]]!r} lies in too few groups of rows, and a "
                        "half-sample of whole groups lacks it: leave the class out, or use finer "
                        "groups."
                    )
        return half_samples

    def _set_fitted(
        self, table: Table, units: np.ndarray, votes: int, threshold: float, ranks: np.ndarray
    ) -> Self:
        """Set every fitted attribute."""
        self._set_table(table)
        p = ranks.shape[1]
        self.units_, self.n_units_, self.ranks_ = units, p, ranks
        self.n_votes_, self.threshold_ = votes, threshold
        self.error_bounds_ = {
            name: float(error_bound(votes, p, threshold, self.n_pairs, name))
            for name in ASSUMPTIONS
        }
        self.error_bound_ = self.error_bounds_[self.assumption]
        expected_false, q_values = integrated_q_values(ranks, votes)
        self.selection_probabilities_ = self._per_column(self.vote_shares(votes), 0.0)
        self.expected_false_ = self._per_column(expected_false, float(p))
        self.q_values_ = self._per_column(q_values, 1.0)
        # Shares are multiples of 1 / (2 n_pairs): half a step leaves room for rounding.
        self.support_ = self.selection_probabilities_ >= threshold - 0.25 / self.n_pairs
        # The error rates are those of the others, which were voted on.
        self.support_[table.kept] = True
        self.selection_probabilities_[table.kept] = 1.0
        return self

    def _per_column(self, values: np.ndarray, constant: float) -> np.ndarray:
        """Return the value of every column, given one value per unit."""
        return np.where(self.units_ >= 0, values[np.maximum(self.units_, 0)], constant)

    def vote_shares(self, n_votes: int) -> np.ndarray:
        """Return the share of half-samples that have each unit among their last ``n_votes``.

        Parameters
        ----------
        n_votes : int
            Number of features that each half-sample votes for.

        Returns
        -------
        ndarray of shape (n_units,)
            Share of the half-samples that vote for a unit.
        """
        check_is_fitted(self, "ranks_")
        return (self.ranks_ <= n_votes).mean(axis=0)
