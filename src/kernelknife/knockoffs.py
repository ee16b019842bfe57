"""Knockoffs: features that beat forged copies of themselves."""

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import check_costs, refuse_lazy_rows
from kernelknife._engine.fitting import check_arrays, prepare_job, trace_path
from kernelknife._error_rates import (
    ConditionalKnockoffs,
    CopulaColumn,
    GaussianKnockoffs,
    bounded_columns,
    derandomized_e_values,
    e_bh_q_values,
    equicorrelated,
    knockoff_threshold,
    law_without_covariance,
    least_reconstructable,
    normal_scores,
    product_columns,
    select_by_e_values,
    signed_maximum,
    strong_pairs,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import SILENT, Task, root_task
from kernelknife._utils.seeds import draw_seed
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.kernels import check_kernel
from kernelknife.path import PathResult
from kernelknife.stability import find_twins, make_template, warn_constant

__all__ = ["KnifeKnockoffs", "path_statistics"]

# A coarse path at a loose tolerance: the races are decided by how long weights stay and how large
# they are, not by their last digits.
PATH_POINTS, PATH_TOL = 15, 1e-2
FEWEST_ROWS = 10
# The covariance has the square of this many entries, the descent for the knockoffs takes its cube
# in steps, and the path sees twice as many columns.
MOST_COLUMNS = 2000
# Residuals come from the first point of the path with at most so many columns per row.
COLUMNS_PER_ROW = 0.1
METHODS = ("mvr", "equicorrelated")
MARGINALS = ("auto", "copula", "gaussian")


class KnifeKnockoffs(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Selection with a bound on the share of false features, by model-X knockoffs.

    A knockoff is a forged column: it is related to all other columns as the original is, and to the
    target only through them. Features and knockoffs run against each other on one feature path. A
    useless feature wins and loses against its knockoff equally often, so the races that knockoffs
    win tell how many of those that features win are accidents. Several draws of knockoffs are
    joined by e-values, so that the answer does not depend on one draw.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier, default=None
        Whose path is followed. None takes one by the target, with the additive kernel: many
        separate effects are what this method is made for.
    fdr : float, default=0.1
        Largest expected share of false features among the selected ones.
    n_draws : int, default=20
        Draws of knockoffs.
    method : {"mvr", "equicorrelated"}, default="mvr"
        How different knockoffs are from their originals: minimum variance-based reconstructability,
        or equally different for all columns.
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
        columns, so that a linear or additive kernel sees columns that act in pairs. Other kernels
        see them anyway.
    n_jobs : int, default=None
        Draws run in parallel through joblib; the answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Of the knockoffs. None draws the same ones every time.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_draws, n_features)
        Positive where a feature beats its knockoff, negative where it loses, 0 where none of both
        has a part in the path.
    e_values_ : ndarray of shape (n_features,)
        Evidence over all draws; its expectation is at most 1 on average over useless features.
    q_values_ : ndarray of shape (n_features,)
        Smallest rate at which these e-values would select a feature, at most 1.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the draws that would select a feature on their own.
    support_ : ndarray of bool of shape (n_features,)
        Which features are selected.
    covariance_estimated_ : bool
        Whether the covariance had to be estimated, so that the promise is approximate: there are
        not more than twice as many rows as columns, or a column follows from others.
    explanation_ : str
        What was found, and if nothing was, why.
    task_ : {"regression", "classification"}
        What the target was taken for.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeStability : A bound on the number of false features, for few true ones too.

    Notes
    -----
    The promise holds if the distribution of the columns is right; nothing is assumed of the target.
    With normal columns it is exact if their covariance is known, and also if it is not and there
    are more than twice as many rows as columns: knockoffs are then drawn given the mean and the
    covariance of the sample. It holds approximately through the copula, and where the covariance
    has to be estimated: with fewer rows, or with a column that is a sum of others.

    A selection has at least ``1 / fdr`` features or none: with fewer findings this method cannot
    speak.

    The importance of a column is its weight, summed over the points of the path, plus those of the
    products that it is part of: it grows with how long the column stays and with its weight there.
    The statistic is the larger of the importances of a feature and its knockoff, negative if it is
    the knockoff's. Both see the same computation in an order that depends on the values alone, so
    that exchanging them changes the sign of their statistic and nothing else.

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
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> "KnifeKnockoffs":
        """Draw knockoffs, follow the paths and join the draws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target of every row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        refuse_lazy_rows(X, "A selection by knockoffs")
        template = make_template(self.estimator, y, PATH_TOL, kernel="additive")
        job = prepare_job(template, X, y)
        self.task_ = job.prepared.loss.task
        self.n_features_in_ = job.prepared.n_features
        self.__dict__.pop("feature_names_in_", None)
        if job.prepared.rows.names is not None:
            self.feature_names_in_ = job.prepared.rows.names
        X, y = check_arrays(template, X, y)
        varying = job.prepared.columns.index
        self._check_table(X, template, varying)
        if template.feature_costs is not None:
            costs = check_costs(template.feature_costs, X.shape[1])
            template.set_params(feature_costs=costs[varying])
        X = np.asarray(X[:, varying], dtype=float)
        forge = self._make_forge(X, varying)
        with root_task(self, "knockoffs", self.n_draws) as task:
            statistics = self._run_draws(template, X, y, forge, task)
        self.statistics_ = np.zeros((self.n_draws, self.n_features_in_))
        self.statistics_[:, varying] = statistics
        self._select(varying)
        return self

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

    def _check_table(self, X: np.ndarray, template: Any, varying: np.ndarray) -> None:
        """Raise where no knockoffs of this table can be made."""
        n, p = len(X), len(varying)
        if n < FEWEST_ROWS:
            raise ValueError(
                f"Knockoffs need at least {FEWEST_ROWS} rows, got n_samples = {n}: a covariance "
                "cannot be learned from fewer."
            )
        if template.feature_groups is not None:
            raise ValueError(
                "Knockoffs are made of single columns, and the estimator has feature_groups: use "
                "KnifeStability, which votes on groups as one."
            )
        if p > MOST_COLUMNS:
            raise ValueError(
                f"Knockoffs need the covariance of all columns; {p} are more than the "
                f"{MOST_COLUMNS} that can be borne. Use KnifeStability, which has no such limit."
            )
        if p > n:
            warnings.warn(
                f"The covariance of {p} columns is estimated from {n} rows: the false discovery "
                "rate is approximate at best. KnifeStability needs no covariance.",
                stacklevel=5,
            )
        names = getattr(self, "feature_names_in_", None)
        warn_constant(X.shape[1], varying, names)
        twins = find_twins(X, varying)
        if twins is not None:
            first, second = (f"x{j}" if names is None else repr(str(names[j])) for j in twins)
            raise ValueError(
                f"Columns {first} and {second} are copies of each other, and no knockoff can tell "
                "which of them matters: leave one of them out."
            )

    def _make_forge(self, X: np.ndarray, varying: np.ndarray) -> "Forge":
        """Return what knockoffs are drawn from, and remember whether it is an estimate."""
        choose = least_reconstructable if self.method == "mvr" else equicorrelated
        seed = draw_seed(self.random_state)
        seed = 0 if seed is None else seed
        copula = self.marginals == "copula" or (
            self.marginals == "auto" and self.covariance is None
        )
        law: GaussianKnockoffs | ConditionalKnockoffs
        # One BLAS thread everywhere: several of them sum in an order of their own.
        with limited_blas():
            center, spread = X.mean(axis=0), X.std(axis=0)
            if self.covariance is not None:
                spread, correlation = _check_covariance(
                    self.covariance, self.n_features_in_, varying
                )
                law = GaussianKnockoffs.from_correlation(correlation, choose(correlation))
            else:
                rng = np.random.default_rng(seed)
                scores = normal_scores(X, rng) if copula else (X - center) / spread
                law = law_without_covariance(scores, choose)
        self.covariance_estimated_ = self.covariance is None and isinstance(law, GaussianKnockoffs)
        tied = copula and any(CopulaColumn.of(x).has_levels for x in X.T)
        return Forge(None if tied else law, choose, center, spread, copula, seed)

    def _run_draws(
        self, template: Any, X: np.ndarray, y: np.ndarray, forge: "Forge", task: Task
    ) -> list[np.ndarray]:
        """Return the statistics of every draw."""
        with ExitStack() as open_tasks:
            parent = task.child("draws", self.n_draws, ordered=False)
            open_tasks.enter_context(parent)
            jobs = [
                delayed(_run_draw)(
                    clone(template),
                    X,
                    y,
                    forge,
                    draw,
                    self.products,
                    parent.child("draw", None, number=draw),
                )
                for draw in range(self.n_draws)
            ]
            return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _select(self, varying: np.ndarray) -> None:
        """Set what follows from the statistics."""
        among = self.statistics_[:, varying]
        self.e_values_ = np.zeros(self.n_features_in_)
        self.e_values_[varying] = derandomized_e_values(among, self.fdr)
        self.q_values_ = np.ones(self.n_features_in_)
        self.q_values_[varying] = e_bh_q_values(self.e_values_[varying])
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[varying] = select_by_e_values(self.e_values_[varying], self.fdr)
        thresholds = np.array([knockoff_threshold(W, self.fdr) for W in among])
        self.selection_frequency_ = (self.statistics_ >= thresholds[:, None]).mean(axis=0)
        self.explanation_ = self._explain(int(np.isfinite(thresholds).sum()))

    def _explain(self, n_speaking: int) -> str:
        """Return the answer in a sentence; ``n_speaking`` draws select something on their own."""
        n_selected, rate = int(self.support_.sum()), f"{self.fdr:g}"
        if n_selected:
            return (
                f"{n_selected} of {self.n_features_in_} columns are selected; of such selections "
                f"a share of at most {rate} is expected to be false." + self._caveat()
            )
        least = int(np.ceil(1.0 / self.fdr - 1e-9))
        if not n_speaking:
            return (
                f"Nothing is selected at a false discovery rate of {rate}: in no draw do enough "
                f"columns beat their knockoffs. With fewer than 1 / {rate} = {least} findings this "
                "method cannot speak: use stability selection, or allow a larger rate."
            )
        return (
            f"Nothing is selected at a false discovery rate of {rate}: {n_speaking} of "
            f"{self.n_draws} draws select something on their own, but no {least} columns often "
            "enough. Use stability selection, allow a larger rate, or collect more rows."
        )

    def _caveat(self) -> str:
        """Return what makes the promise approximate, in a sentence."""
        if not self.covariance_estimated_:
            return ""
        return (
            " This is approximate, because the covariance of the columns was estimated: there are "
            "not more than twice as many rows as columns, or a column follows from others."
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class Forge:
    """Draws knockoffs of a table.

    Attributes
    ----------
    law : GaussianKnockoffs, ConditionalKnockoffs or None
        Of standardized columns, or of their normal scores. None where values are tied: scores then
        differ from draw to draw, and every draw gets a law of its own.
    choose : callable
        Returns the entries of ``s`` for a correlation matrix.
    center, spread : ndarray of shape (p,)
    copula : bool
        Whether the law is one of normal scores.
    seed : int
    """

    law: GaussianKnockoffs | ConditionalKnockoffs | None
    choose: Callable[[np.ndarray], np.ndarray]
    center: np.ndarray
    spread: np.ndarray
    copula: bool
    seed: int

    def draw(self, X: np.ndarray, number: int) -> np.ndarray:
        """Return draw number ``number``, which is the same whenever it is made."""
        rng = np.random.default_rng([self.seed, number])
        scores = normal_scores(X, rng) if self.copula else (X - self.center) / self.spread
        law = self.law or law_without_covariance(scores, self.choose)
        scores = law.draw(scores, rng)
        if not self.copula:
            return self.center + self.spread * scores
        columns = [CopulaColumn.of(X[:, j]).values(scores[:, j]) for j in range(X.shape[1])]
        return np.column_stack(columns)


def path_statistics(
    template: Any,
    X: np.ndarray,
    knockoffs: np.ndarray,
    y: np.ndarray,
    *,
    products: bool = True,
    task: Task = SILENT,
) -> np.ndarray:
    """Return the statistic of every feature from one path of features and knockoffs.

    Exchanging a feature and its knockoff changes the sign of its statistic, and permuting the
    features permutes the statistics; both exactly, not only up to rounding.

    Parameters
    ----------
    template : KnifeRegressor or KnifeClassifier
    X, knockoffs : ndarray of shape (n, p)
    y : ndarray of shape (n,) or (n, n_outputs)
    products : bool, default=True
        See :class:`KnifeKnockoffs`.
    task : Task
        Parent of the progress reports.

    Returns
    -------
    ndarray of shape (p,)
    """
    p = X.shape[1]
    both = np.hstack([X, knockoffs])
    # Columns run in the order of their values, so that nothing depends on which of them are real.
    order = np.lexsort(both[::-1])
    costs = template.feature_costs
    if costs is not None:
        costs = np.tile(costs, 2)[order]
    importance = np.empty(2 * p)
    importance[order] = _importance(template, both[:, order], y, costs, products, task)
    W = signed_maximum(importance[:p], importance[p:])
    # Of a column that is its own knockoff nothing can be said.
    own = np.equal(X, knockoffs).all(axis=0)
    W[own] = 0.0
    return W


def _importance(
    template: Any,
    columns: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray | None,
    products: bool,
    task: Task,
) -> np.ndarray:
    """Return how long and how heavy columns stay in the path."""
    path = _follow(template, columns, y, costs, task)
    # The first point has no penalty, and every column that is of any use.
    importance = path.weights[1:].sum(axis=0)
    if not products or not check_kernel(template.kernel).convex:
        return importance
    varying = columns.std(axis=0) > 0
    U = np.zeros(columns.shape)
    U[:, varying] = bounded_columns(columns[:, varying])
    first, second = strong_pairs(U, _residuals(path, columns, y), most=columns.shape[1])
    if not len(first):
        return importance
    if costs is not None:
        costs = np.concatenate([costs, 0.5 * (costs[first] + costs[second])])
    together = np.hstack([columns, product_columns(U, first, second)])
    path = _follow(template, together, y, costs, task)
    stays = path.weights[1:].sum(axis=0)
    importance, of_products = stays[: columns.shape[1]].copy(), stays[columns.shape[1] :]
    np.add.at(importance, first, of_products)
    np.add.at(importance, second, of_products)
    return importance


def _follow(
    template: Any, columns: np.ndarray, y: np.ndarray, costs: Any, task: Task
) -> PathResult:
    """Return the path of some columns."""
    model = clone(template).set_params(feature_costs=costs)
    job = prepare_job(model, columns, y)
    return PathResult.from_trace(model, job, trace_path(model, job, PATH_POINTS, task=task))


def _residuals(path: PathResult, columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what a model of few columns on the path leaves to explain, one column per output."""
    few = np.flatnonzero(path.n_selected <= COLUMNS_PER_ROW * len(y))
    model = path.model(int(few[0]) if len(few) else len(path) - 1)
    if path.task == "regression":
        return np.asarray(y - model.predict(columns)).reshape(len(y), -1)
    scores = np.asarray(model.decision_function(columns)).reshape(len(y), -1)
    codes = np.where(np.asarray(y)[:, None] == model.classes_, 1.0, -1.0)
    return codes[:, -scores.shape[1] :] - scores


def _run_draw(
    template: Any,
    X: np.ndarray,
    y: np.ndarray,
    forge: Forge,
    number: int,
    products: bool,
    task: Task,
) -> np.ndarray:
    """Return the statistics of one draw of knockoffs."""
    with limited_blas(), task, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rough path is enough for a race
        knockoffs = forge.draw(X, number)
        return path_statistics(template, X, knockoffs, y, products=products, task=task)


def _check_covariance(
    covariance: Any, n_features: int, varying: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return deviations and correlation of the columns that vary."""
    covariance = np.asarray(covariance, dtype=float)
    if covariance.shape != (n_features, n_features):
        raise ValueError(
            f"covariance must have one row and one column per column of X: expected shape "
            f"({n_features}, {n_features}), got {covariance.shape}."
        )
    covariance = covariance[np.ix_(varying, varying)]
    variances = np.diag(covariance)
    symmetric = np.allclose(covariance, covariance.T)
    if not symmetric or not (variances > 0).all() or np.linalg.eigvalsh(covariance)[0] <= 0:
        raise ValueError("covariance must be symmetric and positive definite.")
    spread = np.sqrt(variances)
    return spread, covariance / np.outer(spread, spread)
