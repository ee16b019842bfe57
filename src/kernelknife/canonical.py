"""Kernel canonical correlation between two tables, with few columns of each.

A pair of scores ``f(x)`` and ``g(y)`` goes together if each is predicted well from the other's
table: up to their scales, ``f`` is the kernel ridge regression of ``g`` on the first table and
``g`` that of ``f`` on the second. At fixed weights the best pair is the leading singular pair of
the two smoothers, which is regularised kernel canonical correlation. The weights are found by
turns: those of a table by the regression of the other table's scores, with a penalty on their sum.
A column cannot make up the target that it has to explain, so that the turns do not collapse.

A pair of columns that go together do so in many functions, which are canonical pairs as well. So
that a second pair has something else to tell, everything is taken out of both tables that the
smoothers of the earlier pairs explain, not only their scores.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._rows.arrays import ArrayRows
from kernelknife._rows.opening import refuse_lazy_rows
from kernelknife._search import StartSettings, find_weights
from kernelknife._search.starts import scaled_weights
from kernelknife._spectral import (
    centred_features,
    check_fixed_weights,
    check_penalty,
    dependence_scores,
    expand_columns,
    favour,
    make_regressor,
    seen_columns,
    solution_at,
    table_job,
    with_targets,
)
from kernelknife._support.checks import check_number
from kernelknife._support.progress import Task, root_task
from kernelknife._support.threads import limited_blas
from kernelknife._support.versions import CallbackSupportMixin, with_callbacks
from kernelknife.estimators import FLOATS, Job, KnifeRegressor, draw_seed, make_solver
from kernelknife.machine import Machine, build_machine

__all__ = ["KnifeCCA", "canonical_pairs"]

# An automatic penalty, per row: a column of weight 1 must explain so large a share of the scores.
AUTO_SHARE = 0.03
MOST_ROUNDS = 8  # of turns between the tables; two to four are the rule
MOST_HALVINGS = 12  # of an automatic penalty that leaves no column
# A start takes so many rounds before it is compared with others, and needs no rival where both
# tables are left with less than this share of a constant's objective.
FIRST_ROUNDS, GOOD_START = 2, 0.4
SINGLE_STARTS = 4  # dependences of two columns that are starts of their own
CHANCE_DRAWS = 19  # permutations of rows that tell which dependence is chance


@dataclass(frozen=True)
class Side:
    """One of the two tables while the pairs are searched for."""

    name: str
    job: Job
    seen: np.ndarray
    functions: tuple[np.ndarray, np.ndarray]
    regressor: KnifeRegressor
    fixed: np.ndarray | None
    sparsity: Any

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.seen)

    def features(self, w: np.ndarray) -> np.ndarray:
        """Return the features of the weighted kernel, centred."""
        return centred_features(self.job, self.seen, w)

    def regress(self, target: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return the weights that predict a target, their penalty, and the objective.

        The objective is a share of that of a constant.
        """
        job = with_targets(self.job, target[:, None])
        settings = StartSettings(seed=job.seed)
        automatic = isinstance(self.sparsity, str)
        sparsity = AUTO_SHARE * self.n_rows if automatic else float(self.sparsity)
        for _ in range(MOST_HALVINGS):
            solution, _ = find_weights(job.problem, make_solver(self.regressor), settings, sparsity)
            if solution.w.any():
                return solution.w, sparsity, solution.objective / self.n_rows
            if not automatic:
                break
            sparsity /= 2.0
        raise ValueError(
            f"sparsity={sparsity:g} drives every column of {self.name} out: lower it, or leave "
            "sparsity='auto'."
        )

    def machine(self, w: np.ndarray, target: np.ndarray) -> tuple[Machine, np.ndarray]:
        """Return the machine that predicts a target at some weights, and its scores of the rows.

        The scores have mean 0 and variance 1 over the rows.
        """
        job = with_targets(self.job, target[:, None])
        solution = solution_at(job, w)
        machine = build_machine(job.prepared, job.built, w, solution.C, solution.b)
        scores = machine.scores(job.prepared.rows)
        center, scale = scores.mean(axis=0), scores.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        machine = replace(
            machine, coef=machine.coef / scale, intercept=(machine.intercept - center) / scale
        )
        return machine, ((scores - center) / scale)[:, 0]


@dataclass(frozen=True)
class Pair:
    """A canonical pair: for each table its weights, its penalty, its machine."""

    weights: tuple[np.ndarray, np.ndarray]
    features: tuple[np.ndarray, np.ndarray]  # of the kernels at these weights
    sparsities: tuple[float, float]
    machines: tuple[Machine, Machine]
    scores: tuple[np.ndarray, np.ndarray]
    n_rounds: int = 1

    @property
    def correlation(self) -> float:
        """Correlation of the two scores over the rows that the pair was found on."""
        return correlate(*self.scores)

    def held_out(self, tables: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the two scores of other rows."""
        f, g = (
            machine.scores(ArrayRows(table))[:, 0]
            for machine, table in zip(self.machines, tables, strict=True)
        )
        return f, g


def correlate(f: np.ndarray, g: np.ndarray) -> float:
    """Return the correlation of two scores, 0 where one of them is constant."""
    f, g = f - f.mean(), g - g.mean()
    size = np.linalg.norm(f) * np.linalg.norm(g)
    return float(f @ g / size) if size > 0 else 0.0


def canonical_pairs(
    A: np.ndarray, B: np.ndarray, alphas: tuple[float, float], k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the leading pairs of scores of two tables, by regularised canonical correlation.

    With centred features ``A`` and ``B`` of the rows, the smoothers ``R = A (A'A + alpha I)^-1 A'``
    are ``P P'`` and ``Q Q'``. A pair that each smoother turns into the other, up to scale, comes
    from the singular vectors of ``P'Q``.

    Parameters
    ----------
    A, B : ndarray of shape (n, r) and (n, t)
    alphas : pair of float
    k : int

    Returns
    -------
    F, G : ndarray of shape (n, k)
        Each column of length sqrt(n).
    values : ndarray of shape (k,)
        The singular values, which are the regularised correlations.
    """
    P, Q = _half_smoother(A, alphas[0]), _half_smoother(B, alphas[1])
    left, values, right = np.linalg.svd(P.T @ Q, full_matrices=False)
    F, G = P @ left[:, :k], Q @ right[:k].T
    # A sign that the order of rows leaves as it is.
    sign = np.where(F[np.abs(F).argmax(axis=0), np.arange(F.shape[1])] < 0, -1.0, 1.0)
    F, G = (scores * sign for scores in (F, G))
    size = np.sqrt(len(A))
    F, G = (size * S / np.maximum(np.linalg.norm(S, axis=0), 1e-300) for S in (F, G))
    return F, G, values[:k]


def _half_smoother(A: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``P`` with ``P P' = A (A'A + alpha I)^-1 A'``."""
    gram = A.T @ A
    gram.flat[:: len(gram) + 1] += alpha
    return solve_triangular(cholesky(gram, lower=True), A.T, lower=True).T


class KnifeCCA(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Kernel canonical correlation of two tables, and the few columns that go together.

    Two tables describe the same rows. A weight between 0 and 1 sits on every column of each inside
    a kernel; the columns whose functions correlate with functions of the other table keep their
    weight, most others become exactly zero.

    Parameters
    ----------
    n_components : int, default=1
        Number of pairs of scores, each with weights of its own. Later pairs are searched for in
        what smooth functions of the columns of earlier ones leave.
    kernel : str, Kernel or pair of them, default="rbf"
        See :class:`KnifeRegressor`; a pair has one for each table.
    alpha : float or pair of float, default=1.0
        Penalty on the squared norm of the machines.
    sparsity : float, "auto" or pair of them, default="auto"
        Penalty on the sum of the weights of each table. "auto" is 0.03 times the number of rows: a
        column of weight 1 must explain 3 % of the scores. It is halved where that leaves no column.
    weights : pair of (float or array-like), default=None
        Weights of both tables to keep as they are instead of learning them: all pairs then come
        from one regularised kernel canonical correlation analysis.
    hold_out : float, default=0.25
        Share of the rows on which the correlation is judged: the pairs are found without these
        rows, and then once more with all of them. 0 leaves the judgement out.
    n_permutations : int, default=999
        Permutations of the held-out rows that the p-values are made of.
    feature_groups, feature_costs : pair, default=None
        See :class:`KnifeRegressor`; one entry for each table, which may be None.
    solver, standardize : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the machines on so many centres instead of on all rows. None takes all rows up to
        1,500 of them, and 300 centres beyond.
    centers, memory_budget, max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    random_state : int, RandomState or None, default=None
        For the rows that are held out, permutations and centres; None makes every fit the same.

    Attributes
    ----------
    x_weights_, y_weights_ : ndarray of shape (n_components, n_features) of each table
        Weights of the columns in each pair, many of them exactly zero.
    correlations_ : ndarray of shape (n_components,)
        Of each pair of scores, over the rows of the fit: too high, as all such figures are.
    held_out_correlations_ : ndarray of shape (n_components,)
        Of the pairs that were found without the held-out rows, over these.
    p_values_ : ndarray of shape (n_components,)
        Share of permutations of the held-out rows of one table with at least that correlation: it
        is uniform if the tables are independent.
    sparsities_ : ndarray of shape (n_components, 2)
        The penalties.
    n_iter_ : int
        Most turns between the tables that a pair took.
    n_features_in_, n_y_features_in_ : int
        Numbers of columns that ``fit`` saw.
    feature_names_in_, y_feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    sklearn.cross_decomposition.CCA : Linear, with all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeCCA
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 6)), rng.normal(size=(200, 5))
    >>> Y[:, 3] = np.sin(2 * X[:, 1]) - Y[:, 2] + 0.1 * rng.normal(size=200)
    >>> model = KnifeCCA().fit(X, Y)
    >>> model.get_support(indices=True), model.get_support(indices=True, table="y")
    (array([1]), array([2, 3]))
    >>> bool(model.held_out_correlations_[0] > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        kernel: Any = "rbf",
        *,
        alpha: Any = 1.0,
        sparsity: Any = "auto",
        weights: Any = None,
        hold_out: float = 0.25,
        n_permutations: int = 999,
        feature_groups: Any = None,
        feature_costs: Any = None,
        solver: str = "eliminate",
        standardize: bool = True,
        n_centers: int | None = None,
        centers: Any = "kmeans++",
        memory_budget: float = 2**31,
        max_iter: int | None = None,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.sparsity = sparsity
        self.weights = weights
        self.hold_out = hold_out
        self.n_permutations = n_permutations
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.solver = solver
        self.standardize = standardize
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any) -> "KnifeCCA":
        """Find the columns of two tables that go together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        y : array-like of shape (n_samples, n_columns) or (n_samples,)
            The second table, with the same rows in the same order.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        tables = self._check_tables(X, y)
        seed = draw_seed(self.random_state)
        n = len(tables[0])
        n_held_out = round(self.hold_out * n) if self.weights is None else 0
        with limited_blas(n), root_task(self, total=None) as task:
            if n_held_out:
                self._judge(tables, n_held_out, seed, task)
            self._publish(self._find_pairs(tables, seed, task))
        return self

    def _check_parameters(self) -> None:
        check_number(self.n_components, "n_components", low=1, integer=True)
        for penalty in _both(self.sparsity, "sparsity"):
            check_penalty(penalty)
        check_number(self.hold_out, "hold_out")
        if self.hold_out >= 1.0:
            raise ValueError(f"hold_out must be a share of the rows below 1, got {self.hold_out}.")
        check_number(self.n_permutations, "n_permutations", low=1, integer=True)

    def _check_tables(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return both tables as arrays; takes over the names of their columns."""
        for name in ("held_out_correlations_", "p_values_", "y_feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        refuse_lazy_rows(X, type(self).__name__)
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: it is the second table."
            )
        refuse_lazy_rows(y, type(self).__name__)
        X = validate_data(self, X, dtype=FLOATS, ensure_all_finite=False)
        names = getattr(y, "columns", None)
        y = check_array(y, dtype=FLOATS, ensure_2d=False, ensure_all_finite=False, input_name="y")
        y = y.reshape(len(y), -1)
        if len(X) != len(y):
            raise ValueError(
                f"X has {len(X)} rows and y has {len(y)}: both tables must describe the same rows, "
                "in the same order."
            )
        if names is not None:
            self.y_feature_names_in_ = np.asarray(names, dtype=object)
        self.n_y_features_in_ = y.shape[1]
        return X, y

    def _side(self, which: int, table: np.ndarray, seed: int | None) -> Side:
        """Return a table, ready for regressions."""
        own = {
            name: _both(getattr(self, name), name)[which]
            for name in ("kernel", "alpha", "feature_groups", "feature_costs")
        }
        template = KnifeCCA(**{**self.get_params(deep=False), **own})
        regressor = make_regressor(template, len(table), seed)
        names = getattr(self, ("feature_names_in_", "y_feature_names_in_")[which], None)
        job = table_job(regressor, table, names)
        fixed = None
        if self.weights is not None:
            fixed = check_fixed_weights(_both(self.weights, "weights")[which], job)
        return Side(
            ("X", "y")[which],
            job,
            seen_columns(job),
            expand_columns(job),
            regressor,
            fixed,
            _both(self.sparsity, "sparsity")[which],
        )

    def _find_pairs(
        self, tables: tuple[np.ndarray, np.ndarray], seed: int | None, task: Task
    ) -> list[Pair]:
        """Return the canonical pairs of two tables."""
        sides = self._side(0, tables[0], seed), self._side(1, tables[1], seed)
        alphas = sides[0].job.problem.alpha, sides[1].job.problem.alpha
        if self.weights is not None:
            return _pairs_at(sides, alphas, self.n_components)
        pairs: list[Pair] = []
        for _ in range(self.n_components):
            with task.subtask("component"):
                pairs.append(_next_pair(sides, alphas, pairs, seed))
        return pairs

    def _judge(
        self,
        tables: tuple[np.ndarray, np.ndarray],
        n_held_out: int,
        seed: int | None,
        task: Task,
    ) -> None:
        """Find the pairs without some rows and set the correlations over these."""
        n = len(tables[0])
        if n_held_out < 3 or n - n_held_out < 3:
            warnings.warn(
                f"{n_held_out} of {n} rows to hold out are too few to judge a correlation on: none "
                "are held out.",
                UserWarning,
                stacklevel=5,
            )
            return
        rng = np.random.default_rng(0 if seed is None else seed)
        order = rng.permutation(n)
        out, kept = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
        pairs = self._find_pairs((tables[0][kept], tables[1][kept]), seed, task)
        found, chances = [], []
        for pair in pairs:
            f, g = pair.held_out((tables[0][out], tables[1][out]))
            correlation = correlate(f, g)
            by_chance = [
                correlate(f, g[rng.permutation(n_held_out)]) for _ in range(self.n_permutations)
            ]
            found.append(correlation)
            exceeded = np.count_nonzero(np.array(by_chance) >= correlation)
            chances.append((1 + exceeded) / (1 + self.n_permutations))
        self.held_out_correlations_ = np.array(found)
        self.p_values_ = np.array(chances)

    def _publish(self, pairs: list[Pair]) -> None:
        """Set the fitted attributes."""
        self.x_weights_, self.y_weights_ = (
            np.stack([pair.weights[which] for pair in pairs]) for which in (0, 1)
        )
        self.correlations_ = np.array([pair.correlation for pair in pairs])
        self.sparsities_ = np.array([pair.sparsities for pair in pairs])
        self.n_iter_ = max(pair.n_rounds for pair in pairs)
        self._machines = tuple(zip(*(pair.machines for pair in pairs), strict=True))

    # -- selection --------------------------------------------------------------------

    def get_support(self, indices: bool = False, table: str = "x") -> np.ndarray:
        """Return which columns of a table have a weight in any of the pairs.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their numbers instead of a mask.
        table : {"x", "y"}, default="x"
            The first or the second table.

        Returns
        -------
        ndarray of shape (n_features,), or of the numbers
            A mask, or numbers of columns.
        """
        check_is_fitted(self)
        if table not in ("x", "y"):
            raise ValueError(f"table must be 'x' or 'y', got {table!r}.")
        weights = self.x_weights_ if table == "x" else self.y_weights_
        mask: np.ndarray = np.any(weights > 0, axis=0)
        return np.flatnonzero(mask) if indices else mask

    @property
    def _n_features_out(self) -> int:
        return len(self.x_weights_)

    # -- scores -----------------------------------------------------------------------

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the canonical scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table.
        y : array-like of shape (n_samples, n_columns), default=None
            Rows of the second one.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or two of them
            The scores of ``X``, and those of ``y`` where it is given.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)
        ours = _scores_of(self._machines[0], X)
        if y is None:
            return ours
        y = check_array(y, dtype=FLOATS, ensure_2d=False, ensure_all_finite=False, input_name="y")
        y = y.reshape(len(y), -1)
        if y.shape[1] != self.n_y_features_in_:
            raise ValueError(
                f"y has {y.shape[1]} columns, the model was fitted on {self.n_y_features_in_}."
            )
        return ours, _scores_of(self._machines[1], y)

    def score(self, X: Any, y: Any) -> float:
        """Return the mean correlation of the pairs over some rows.

        Parameters
        ----------
        X, y : array-like
            Both tables.

        Returns
        -------
        float
            The mean over the pairs.
        """
        ours, theirs = self.transform(X, y)
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        return float(np.mean([correlate(f, g) for f, g in zip(ours.T, theirs.T, strict=True)]))


def _both(value: Any, name: str) -> tuple[Any, Any]:
    """Return the values of both tables: those of a pair, or one value for both."""
    if not isinstance(value, tuple):
        if name in ("feature_groups", "feature_costs", "weights") and value is not None:
            raise ValueError(f"{name} must be a pair (of X, of y), got {type(value).__name__}.")
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be one value or a pair (of X, of y), got {len(value)}.")
    return value[0], value[1]


def _scores_of(machines: tuple[Machine, ...], table: np.ndarray) -> np.ndarray:
    with limited_blas(max(len(table), *(len(machine.vectors) for machine in machines))):
        return np.column_stack([machine.scores(ArrayRows(table)) for machine in machines])


def _pairs_at(sides: tuple[Side, Side], alphas: tuple[float, float], k: int) -> list[Pair]:
    """Return the leading pairs at weights that are given."""
    fixed: list[Any] = [side.fixed for side in sides]
    A, B = (side.features(w) for side, w in zip(sides, fixed, strict=True))
    F, G, values = canonical_pairs(A, B, alphas, k)
    if len(values) < k:
        raise ValueError(
            f"n_components={k}, but the smaller of both kernel matrices has rank {len(values)}: "
            f"ask for at most {len(values)}."
        )
    return [_pair(sides, fixed, (0.0, 0.0), f, g) for f, g in zip(F.T, G.T, strict=True)]


def _pair(
    sides: tuple[Side, Side], weights: Any, sparsities: Any, f: np.ndarray, g: np.ndarray
) -> Pair:
    """Return the machines of a pair: each table predicts the other's scores."""
    (left, ours), (right, theirs) = sides[0].machine(weights[0], g), sides[1].machine(weights[1], f)
    spread = [side.job.prepared.user_values(w) for side, w in zip(sides, weights, strict=True)]
    A, B = (side.features(w) for side, w in zip(sides, weights, strict=True))
    return Pair((spread[0], spread[1]), (A, B), sparsities, (left, right), (ours, theirs))


@dataclass
class Turns:
    """A search by turns from one start: where it stands."""

    weights: list[np.ndarray]
    sparsities: list[float] = field(default_factory=lambda: [0.0, 0.0])
    objectives: list[float] = field(default_factory=lambda: [1.0, 1.0])
    n_rounds: int = 0
    settled: bool = False

    @property
    def objective(self) -> float:
        """Mean objective of both tables, as a share of a constant's."""
        return 0.5 * sum(self.objectives)

    def go_on(self, sides: tuple[Side, Side], alphas: Any, earlier: Any, most_rounds: int) -> None:
        """Take turns until the columns no longer change, or there have been so many rounds."""
        while not self.settled and self.n_rounds < most_rounds:
            before = [tuple(np.flatnonzero(w)) for w in self.weights]
            for i in (0, 1):
                f, g = _leading_pair(sides, self.weights, alphas, earlier)
                found = sides[i].regress((g, f)[i])
                self.weights[i], self.sparsities[i], self.objectives[i] = found
            self.n_rounds += 1
            self.settled = before == [tuple(np.flatnonzero(w)) for w in self.weights]


def _next_pair(
    sides: tuple[Side, Side], alphas: tuple[float, float], before: list[Pair], seed: int | None
) -> Pair:
    """Find the weights of the next pair by turns, and the pair at these weights.

    Several starts take a few turns each, and the one with the lowest objective goes on.
    """
    earlier = [[pair.features[i] for pair in before] for i in (0, 1)]
    tried: list[Turns] = []
    for weights in _starting_weights(sides, alphas, earlier, seed):
        tried.append(Turns(list(weights)))
        tried[-1].go_on(sides, alphas, earlier, FIRST_ROUNDS)
        if tried[-1].objective < GOOD_START:
            break
    best = min(tried, key=lambda turns: turns.objective)
    best.go_on(sides, alphas, earlier, MOST_ROUNDS)
    f, g = _leading_pair(sides, best.weights, alphas, earlier)
    pair = _pair(sides, best.weights, tuple(best.sparsities), f, g)
    return replace(pair, n_rounds=best.n_rounds)


def _leading_pair(
    sides: tuple[Side, Side], weights: Any, alphas: tuple[float, float], earlier: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading pair of scores at some weights, in what earlier pairs leave."""
    A, B = (
        _without(side.features(w), features, alpha)
        for side, w, features, alpha in zip(sides, weights, earlier, alphas, strict=True)
    )
    F, G, _ = canonical_pairs(A, B, alphas, 1)
    return F[:, 0], G[:, 0]


def _without(A: np.ndarray, earlier: list[np.ndarray], alpha: float) -> np.ndarray:
    """Return columns without what the smoothers of earlier pairs explain of them."""
    for features in earlier:
        # The columns may be there for some of the rows only.
        rows = np.linspace(0, len(features) - 1, len(A)).astype(int)
        P = _half_smoother(features[rows], alpha)
        A = A - P @ (P.T @ A)
    return A


def _starting_weights(
    sides: tuple[Side, Side], alphas: tuple[float, float], earlier: Any, seed: int | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield weights that favour columns which depend on a column of the other table.

    In the first start a dependence counts by how far it exceeds the largest one after the rows of
    one table have been permuted, 19 times; where none does, all columns have the same weight. The
    further starts are the strongest dependences, one by one: a pair that shows weakly in single
    columns may be strong together.
    """
    left, right = (
        (_without(side.functions[0], features, alpha), side.functions[1])
        for side, features, alpha in zip(sides, earlier, alphas, strict=True)
    )
    rng = np.random.default_rng(0 if seed is None else seed)
    chance = 0.0
    for _ in range(CHANCE_DRAWS):
        shuffled = right[0][rng.permutation(len(right[0]))], right[1]
        chance = max(chance, dependence_scores(left, shuffled).max())
    dependence = dependence_scores(left, right)
    yield _favouring(sides, np.maximum(dependence - chance, 0.0))
    strongest = np.argsort(-dependence, axis=None, kind="stable")[:SINGLE_STARTS]
    for place in strongest:
        alone = np.zeros_like(dependence)
        alone.flat[place] = 1.0
        yield _favouring(sides, alone)


def _favouring(sides: tuple[Side, Side], excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starting weights of both tables by the dependences that count."""
    starts = []
    for i, side in enumerate(sides):
        strength = np.sqrt((excess**2).sum(axis=1 - i))
        problem = side.job.problem
        starts.append(favour(problem, strength) if strength.any() else scaled_weights(problem))
    return starts[0], starts[1]
