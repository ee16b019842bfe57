"""Knockoffs: features that beat synthetic copies of themselves."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from kernelknife._error_rates import (
    METHODS,
    KnockoffSampler,
    derandomized_e_values,
    draw_statistics,
    e_bh_q_values,
    explained_by,
    fill_at_random,
    find_copies,
    knockoff_threshold,
    select_by_e_values,
)
from kernelknife._selector import ErrorRateSelector, Table
from kernelknife._utils.checks import check_number, draw_seed
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import root_progress
from kernelknife._utils.row_units import RowUnits
from kernelknife._utils.versions import with_callbacks

__all__ = ["KnifeKnockoffs"]

# Statistics depend on how long weights stay and how large they are, not on their last digits.
PATH_TOL = 1e-2
FEWEST_ROWS = 10
# The covariance has the square of this number of entries, coordinate descent takes its cube in
# steps, and the path has twice as many columns.
MOST_COLUMNS = 2000
MARGINALS = ("auto", "copula", "gaussian")


class KnifeKnockoffs(ErrorRateSelector):
    """Selection with a bound on the share of false features, by model-X knockoffs.

    A knockoff is a synthetic column: it is related to all other columns as the original is, and to
    the target only through them. Features compete with their knockoffs on one feature path. A
    useless feature wins and loses against its knockoff equally often, so the number of knockoffs
    that win estimates how many features win by chance. Several draws of knockoffs are joined by
    e-values, so that the answer does not depend on one draw.

    Parameters
    ----------
    estimator : KnifeRegressor, KnifeClassifier or KnifeSurvival, default=None
        Whose path is followed. None takes one by the target, with the additive kernel: many
        separate effects are what this method is made for.
    fdr : float, default=0.1
        Largest expected share of false features among the selected ones.
    n_draws : int, default=20
        Draws of knockoffs.
    method : {"mvr", "equicorrelated"}, default="mvr"
        How different knockoffs are from their originals: minimum variance-based
        reconstructability, or equally different for all columns.
    marginals : {"auto", "copula", "gaussian"}, default="auto"
        "copula" gives every knockoff the distribution of values of its column, levels included, and
        assumes that normal scores of the columns are jointly normal. "gaussian" assumes that the
        columns themselves are: the exact choice where it is true, see Notes. "auto" is "gaussian"
        where a ``covariance`` is given, else "copula".
    covariance : array-like of shape (n_features, n_features), default=None
        Covariance of the columns, where it is known. With None and more than twice as many rows as
        columns no covariance is needed; with fewer rows it is estimated, shrunk by Ledoit and
        Wolf's formula.
    products : bool, default=True
        Whether products of two columns that are correlated with the residuals stand beside the
        columns, so that a linear or additive kernel finds columns that act in pairs. Other kernels
        find them anyway.
    blocks : int, default=None
        Length of blocks of neighboring rows, for rows in the order of time: every draw takes one
        random row of each block, so that its rows hardly depend on each other.
    n_jobs : int, default=None
        Draws run in parallel through joblib; the answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Of the knockoffs. None draws the same ones every time.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_draws, n_features)
        Positive where a feature beats its knockoff, negative where it loses, 0 where neither has a
        weight on the path.
    e_values_ : ndarray of shape (n_features,)
        Evidence over all draws; its expectation is at most 1 on average over useless features.
    q_values_ : ndarray of shape (n_features,)
        Smallest rate at which these e-values would select a feature, at most 1.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the draws that would select a feature on their own.
    support_ : ndarray of bool of shape (n_features,)
        Which features are selected.
    covariance_estimated_ : bool
        Whether the covariance had to be estimated, so that the bound is approximate: there are
        not more than twice as many rows as columns, or a column follows from others.
    explanation_ : str
        What is selected, and if nothing is, why.
    task_ : {"regression", "classification", "survival"}
        How the target was interpreted.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeStability : A bound on the number of false features, for few true ones too.

    Notes
    -----
    The bound holds if the rows are independent and the distribution of the columns is right;
    nothing is assumed about the target. For rows that depend on each other pass ``groups`` or
    ``blocks``.
    With normal columns it is exact if their covariance is known, and also if it is not and there
    are more than twice as many rows as columns: knockoffs are then drawn given the mean and the
    covariance of the sample. It holds approximately through the copula, and where the covariance
    has to be estimated: with fewer rows, or with a column that is a sum of others.

    Knockoffs cannot select fewer than ``1 / fdr`` features; the selection is then empty.

    The importance of a column is its weight, summed over the points of the path, plus those of the
    products that it is part of: it grows with how long the column stays and with its weight there.
    The statistic is the larger of the importances of a feature and its knockoff, negative if it is
    the knockoff's. The order of the columns in the computation depends on their values alone, so
    that exchanging the two changes the sign of their statistic and nothing else.

    References
    ----------
    R. F. Barber and E. J. Candes (2015), Controlling the false discovery rate via knockoffs, Annals
    of Statistics 43, 2055-2085.

    E. Candes, Y. Fan, L. Janson and J. Lv (2018), Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection, Journal of the Royal Statistical Society B 80,
    551-577.

    D. Huang and L. Janson (2020), Relaxing the assumptions of knockoffs by conditioning, Annals of
    Statistics 48, 3021-3042.

    A. Spector and L. Janson (2022), Powerful knockoffs via minimizing reconstructability, Annals of
    Statistics 50, 252-276.

    Z. Ren and R. F. Barber (2024), Derandomized knockoffs: leveraging e-values for false discovery
    rate control, Journal of the Royal Statistical Society B 86, 122-154.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeKnockoffs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 40))
    >>> y = np.cos(2 * X[:, :12]).sum(axis=1) + 0.5 * rng.normal(size=400)
    >>> knockoffs = KnifeKnockoffs(n_draws=3).fit(X, y)
    >>> knockoffs.get_support(indices=True)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        fdr: float = 0.1,
        n_draws: int = 20,
        method: str = "mvr",
        marginals: str = "auto",
        covariance: Any = None,
        products: bool = True,
        blocks: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.fdr = fdr
        self.n_draws = n_draws
        self.method = method
        self.marginals = marginals
        self.covariance = covariance
        self.products = products
        self.blocks = blocks
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Draw knockoffs, follow the paths and join the draws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target of every row.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, depend on each other: every draw
            takes one random row of each group.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        table = self._open(X, y, "A selection by knockoffs", kernel="additive", tol=PATH_TOL)
        units = RowUnits.of(len(table.y), groups, self.blocks)
        self._check_table(table, len(table.y) if units is None else len(units.members))
        X = np.asarray(table.X[:, table.varying], dtype=float)
        adjusted = np.asarray(table.X[:, table.adjusted], dtype=float)
        # A gap is where it is in the column and in its knockoff, and tells them not apart. The
        # costs are those of the columns that vary, and the adjusted columns stand behind these.
        spec = replace(table.spec, feature_costs=table.data.costs, missing="mean", adjust_for=None)
        covariance, seed = self._check_covariance(table), draw_seed(self.random_state) or 0
        parts = [(np.arange(len(X)), self.n_draws, seed)]
        if units is not None:
            # One row of every unit: the rows of a draw do not depend on each other, and the
            # e-values of draws may be averaged whatever their rows.
            rng = np.random.default_rng(seed)
            parts = [(units.one_of_each(rng), 1, seed + i) for i in range(self.n_draws)]
        statistics = []
        with root_progress(self, "knockoffs", self.n_draws) as progress:
            for rows, n_draws, own_seed in parts:
                sampler = KnockoffSampler.of_table(
                    fill_at_random(X[rows]) - explained_by(adjusted[rows], X[rows]),
                    method=self.method,
                    copula=self.marginals != "gaussian" and self.covariance is None,
                    covariance=covariance,
                    seed=own_seed,
                )
                found = draw_statistics(
                    spec,
                    X[rows],
                    table.y[rows],
                    sampler,
                    n_draws,
                    products=self.products,
                    adjusted=adjusted[rows],
                    n_jobs=self.n_jobs,
                    progress=progress,
                )
                statistics.append(found)
        return self._set_fitted(table, np.vstack(statistics), estimated=sampler.estimated)

    def _check_parameters(self) -> None:
        check_number(self.fdr, "fdr", strict=True)
        if self.fdr >= 1:
            raise ValueError(f"fdr must be a share between 0 and 1, got {self.fdr!r}.")
        check_number(self.n_draws, "n_draws", low=1, integer=True)
        for name, known in (("method", METHODS), ("marginals", MARGINALS)):
            value = getattr(self, name)
            if value not in known:
                words = ", ".join(repr(word) for word in known)
                raise ValueError(f"{name} must be one of {words}, got {value!r}.")
        if self.covariance is not None and self.marginals == "copula":
            raise ValueError(
                "A covariance is one of the columns themselves: use it with marginals='gaussian'."
            )

    def _check_table(self, table: Table, n: int) -> None:
        """Raise where no knockoffs of ``n`` rows of this table can be made."""
        p = len(table.varying)
        if n < FEWEST_ROWS:
            raise ValueError(
                f"Knockoffs need at least {FEWEST_ROWS} rows, got n_samples = {n}: a covariance "
                "cannot be learned from fewer."
            )
        if table.data.kept is not None:
            raise ValueError(
                "Every column is compared with its knockoff, and the estimator has always_keep: "
                "leave it out, or use adjust_for."
            )
        if table.data.grouping is not None:
            raise ValueError(
                "Knockoffs are made of single columns, and the estimator has feature_groups: use "
                "KnifeStability, which votes on groups as one."
            )
        if p > MOST_COLUMNS:
            raise ValueError(
                f"Knockoffs need the covariance of all columns, and {p} are more than the limit of "
                f"{MOST_COLUMNS}. Use KnifeStability, which has no such limit."
            )
        if p > n:
            warn(
                f"The covariance of {p} columns is estimated from {n} rows: the false discovery "
                "rate is approximate at best. KnifeStability needs no covariance.",
            )
        alike = np.flatnonzero(np.nanstd(table.X[:, table.varying], axis=0) == 0)
        if len(alike):
            raise ValueError(
                f"Column {table.name(table.varying[alike[0]])} has one value beside its gaps, and "
                "knockoffs are of values: leave it out, or make it a column of zeros and ones."
            )
        copies = find_copies(table.X, table.varying)
        if copies is not None:
            first, second = (table.name(j) for j in copies)
            raise ValueError(
                f"Columns {first} and {second} are copies of each other, and knockoffs cannot "
                "distinguish which of them matters: leave one of them out."
            )

    def _check_covariance(self, table: Table) -> np.ndarray | None:
        """Return the given covariance of the columns that vary."""
        if self.covariance is None:
            return None
        covariance, p = np.asarray(self.covariance, dtype=float), table.data.n_features
        if covariance.shape != (p, p):
            raise ValueError(
                "covariance must have one row and one column per column of X: expected shape "
                f"({p}, {p}), got {covariance.shape}."
            )
        covariance = covariance[np.ix_(table.varying, table.varying)]
        symmetric, positive = np.allclose(covariance, covariance.T), np.diag(covariance) > 0
        if not symmetric or not positive.all() or np.linalg.eigvalsh(covariance)[0] <= 0:
            raise ValueError("covariance must be symmetric and positive definite.")
        return covariance

    def _set_fitted(self, table: Table, statistics: np.ndarray, *, estimated: bool) -> Self:
        """Set every fitted attribute."""
        self._set_table(table)
        p, varying = table.data.n_features, table.varying
        thresholds = np.array([knockoff_threshold(W, self.fdr) for W in statistics])
        e_values = derandomized_e_values(statistics, self.fdr)
        self.statistics_ = np.zeros((self.n_draws, p))
        self.statistics_[:, varying] = statistics
        self.e_values_ = np.zeros(p)
        self.e_values_[varying] = e_values
        self.q_values_ = np.ones(p)
        self.q_values_[varying] = e_bh_q_values(e_values)
        self.support_ = np.zeros(p, dtype=bool)
        self.support_[varying] = select_by_e_values(e_values, self.fdr)
        self.selection_frequency_ = (self.statistics_ >= thresholds[:, None]).mean(axis=0)
        self.covariance_estimated_ = estimated
        self.explanation_ = self._explain(int(np.isfinite(thresholds).sum()))
        return self

    def _explain(self, n_selecting: int) -> str:
        """Return the result in words; ``n_selecting`` draws select something on their own."""
        n_selected, rate = int(self.support_.sum()), f"{self.fdr:g}"
        if n_selected:
            approximate = (
                " This is approximate, because the covariance of the columns was estimated: there "
                "are not more than twice as many rows as columns, or a column follows from others."
            )
            return (
                f"{n_selected} of {self.n_features_in_} columns are selected; of such selections "
                f"a share of at most {rate} is expected to be false."
                + approximate
                * self.covariance_estimated_
            )
        least = int(np.ceil(1.0 / self.fdr - 1e-9))
        if not n_selecting:
            return (
                f"Nothing is selected at a false discovery rate of {rate}: in no draw do enough "
                "columns beat their knockoffs. Knockoffs cannot select fewer than "
                f"1 / {rate} = {least} columns: use stability selection, or allow a larger rate."
            )
        return (
            f"Nothing is selected at a false discovery rate of {rate}: {n_selecting} of "
            f"{self.n_draws} draws select something on their own, but no {least} columns often "
            "enough. Use stability selection, allow a larger rate, or collect more rows."
        )
