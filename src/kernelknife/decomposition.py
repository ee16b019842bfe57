"""Kernel principal components that use few columns.

The problem is least squares against scores ``U`` of the rows, with ``U'U = n I``:

    ||U - K_w C - 1 b'||^2 + alpha tr(C' K_w C) + sparsity sum_j w_j.

At fixed weights the best ``U`` are the leading eigenvectors of the centered kernel matrix. Taking
turns between ``U`` and ``w`` until nothing moves would end at a single column, which explains its
own components best. So ``U`` is taken once, at weights that favor columns which depend on each
other, and stays as it is while the penalty rises; the components are those of the weighted kernel
that comes out.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)

from kernelknife._components.eigenproblems import (
    Components,
    TableSelector,
    check_count,
    check_fixed_weights,
    check_penalty,
    check_table,
    dependence_weights,
    leading_components,
    make_regressor,
    seen_columns,
    solution_at,
    structure_gap,
    table_job,
    with_targets,
)
from kernelknife._engine.fitting import Job, make_solver, warn_not_converged
from kernelknife._engine.model import build_model
from kernelknife._engine.search import Start, StartSettings, Trace, follow_path, solve_for_count
from kernelknife._engine.search.starts import best_of_starts, scaled_weights
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import Task, root_task
from kernelknife._utils.seeds import draw_seed
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifePCA", "knife_pca_path"]

STARTS = ("dependence", "scaled")
AUTO_POINTS = 40  # of the path that an automatic penalty is chosen from
CLEAR_GAP = 3.0  # standard deviations over the permutations that make a gap more than chance


class KnifePCA(
    TableSelector,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Kernel principal components, and the few columns that carry them.

    A weight between 0 and 1 sits on every column inside a kernel. Columns that share components
    with other columns keep their weight, the others are driven to exactly zero.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    alpha : float, default=1.0
        Penalty on the squared norm of the model that predicts the components while the weights
        are learned.
    sparsity : float or "auto", default="auto"
        Penalty on the sum of the weights; the larger, the fewer columns. "auto" follows the path of
        all penalties and takes the fewest columns whose components have, to within one standard
        deviation, the largest lead in explained variance over those of columns that are permuted
        independently.
    n_features_to_select : int, default=None
        Exactly this many columns (or groups) instead of a ``sparsity``.
    weights : float or array-like of shape (n_features,), default=None
        Weights to keep as they are instead of learning them: 1 for every column is a plain kernel
        principal component analysis.
    start : {"dependence", "scaled"}, default="dependence"
        Weights at which the components are taken that the learned weights have to explain.
        "dependence" favors columns that depend on other columns, judged by a few functions of
        each; "scaled" gives all columns the same.
    n_permutations : int, default=10
        Permutations that an automatic penalty is compared with.
    solver, standardize, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the model on so many centers instead of on all rows. None takes all rows up to
        1,500 of them, and 300 centers beyond.
    centers, memory_budget, max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    random_state : int, RandomState or None, default=None
        For permutations and centers; None makes every fit the same.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of the columns, many of them exactly zero.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centered kernel matrix at these weights.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the scores: the eigenvalues by the number of rows less one.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in the kernel's feature space.
    n_components_ : int
        Smaller than ``n_components`` where the columns that are left allow no more.
    gap_ : ndarray of shape (n_supports, 3)
        For ``sparsity="auto"``: number of columns, lead in explained variance over permuted
        columns, and its standard deviation over the permutations, along the path.
    path_ : PathResult
        For ``sparsity="auto"`` and for ``n_features_to_select``: the whole path.
    sparsity_ : float
        The penalty of the returned weights.
    objective_, kkt_residual_ : float
        Of the least squares problem that gave the weights.
    n_iter_ : int
        Steps of the solver.
    converged_ : bool
        Whether the optimality conditions hold to ``tol``.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    knife_pca_path : The weights for every penalty.
    sklearn.decomposition.KernelPCA : The same components, of all columns.

    Notes
    -----
    What counts is what a column shares with others. One column that falls into two heaps is a
    perfect cluster of its own, and no more than that: permuted, it is as good, so an automatic
    penalty gives it no credit. Structure that no two columns show, such as the parity of three, is
    not found from the "dependence" start.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifePCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 20))
    >>> X[:, [2, 5, 7]] += 3.0 * rng.integers(0, 2, size=(150, 1))    # two clusters
    >>> model = KnifePCA(n_components=1).fit(X)
    >>> model.get_support(indices=True)
    array([2, 5, 7])
    >>> model.transform(X).shape
    (150, 1)
    """

    def __init__(
        self,
        n_components: int = 2,
        kernel: Any = "rbf",
        *,
        alpha: float = 1.0,
        sparsity: Any = "auto",
        n_features_to_select: int | None = None,
        weights: Any = None,
        start: str = "dependence",
        n_permutations: int = 10,
        solver: str = "eliminate",
        standardize: bool = True,
        feature_groups: Any = None,
        feature_costs: Any = None,
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
        self.n_features_to_select = n_features_to_select
        self.weights = weights
        self.start = start
        self.n_permutations = n_permutations
        self.solver = solver
        self.standardize = standardize
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "KnifePCA":
        """Find the weights, and the components at these weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        job = self._open(X)
        with limited_blas(job.problem.n_rows), root_task(self, total=None) as task:
            if self.weights is not None:
                w = check_fixed_weights(self.weights, job)
                job = with_targets(job, self._components(job, w).targets)
                self._publish(job, solution_at(job, w))
                return self
            job, start = self._begin(job)
            solution = self._solve(job, start, task)
            self._publish(job, solution)
        if not self.converged_:
            warn_not_converged(type(self).__name__, [solution], stacklevel=4)
        return self

    def _check_parameters(self) -> None:
        check_number(self.n_components, "n_components", low=1, integer=True)
        check_penalty(self.sparsity)
        if self.start not in STARTS:
            raise ValueError(f"Unknown start {self.start!r}. Known names: {', '.join(STARTS)}.")

    def _open(self, X: Any) -> Job:
        """Return the job of the table, without targets."""
        for name in ("path_", "gap_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        X = check_table(self, X)
        names = getattr(self, "feature_names_in_", None)
        regressor = make_regressor(self, len(X), draw_seed(self.random_state))
        return table_job(regressor, X, names)

    def _components(self, job: Job, w: np.ndarray) -> Components:
        """Return the components at some weights of all columns."""
        found = leading_components(job, seen_columns(job), w, self.n_components)
        rank = len(found.eigenvalues)
        if rank < self.n_components:
            raise ValueError(
                f"n_components={self.n_components}, but the centered kernel matrix has rank {rank}: "
                f"ask for at most {rank} components."
            )
        return found

    def _begin(self, job: Job) -> tuple[Job, Start]:
        """Return the job with its components as targets, and the weights that they come from."""
        if self.start == "dependence":
            w, dependent = dependence_weights(job, job.seed)
        else:
            w, dependent = scaled_weights(job.problem), False
        found = self._components(job, w)
        name = "dependence" if dependent else "scaled"
        return with_targets(job, found.targets), Start(name, w)

    def _trace(self, job: Job, start: Start, sparsities: Any, task: Task) -> Trace:
        settings = StartSettings(start.weights, seed=job.seed)
        return follow_path(job.problem, make_solver(self), settings, sparsities, task=task)

    def _solve(self, job: Job, start: Start, task: Task) -> Solution:
        """Return the solution that the parameters ask for."""
        solver = make_solver(self)
        if self.n_features_to_select is None and not isinstance(self.sparsity, str):
            watch = task.watch("iteration")
            return best_of_starts(
                job.problem, solver, [start], float(self.sparsity), callback=watch
            )[0]
        wanted = self.n_features_to_select
        if wanted is not None:
            wanted = check_count(wanted, job.problem.n_weights)
        trace = self._trace(job, start, AUTO_POINTS, task)
        self.path_ = PathResult.from_trace(self, job, trace, KnifePCA._publish)
        if wanted is not None:
            return solve_for_count(job.problem, solver, trace, wanted)
        return self._choose(job, trace, start)

    def _choose(self, job: Job, trace: Trace, start: Start) -> Solution:
        """Return the point of the path with the clearest lead over permuted columns."""
        X = seen_columns(job)
        points = _ends_of_each_support(trace)
        gaps = [
            structure_gap(job, X, point.w, self.n_components, self.n_permutations, job.seed)
            for point in points
        ]
        gap, spread = np.array(gaps).T
        self.gap_ = np.column_stack([[np.count_nonzero(point.w) for point in points], gap, spread])
        best = int(np.argmax(gap))
        # Weights that were learned from the same rows have some lead by chance alone: where the
        # start has looked for columns that depend on each other, it must have seen some.
        unseen = self.start == "dependence" and start.name != "dependence"
        if unseen or gap[best] <= CLEAR_GAP * spread[best]:
            warnings.warn(
                "The columns share no component beyond what independent columns would: the "
                "weights are those without a penalty. Pass sparsity to choose for yourself.",
                UserWarning,
                stacklevel=6,
            )
            return points[0]
        return points[int(np.flatnonzero(gap >= gap[best] - spread[best])[-1])]

    def _publish(self, job: Job, solution: Solution, results: Any = None) -> None:
        """Set the fitted attributes from the weights of a solution, as a path asks for it."""
        if not solution.w.any():
            raise ValueError(
                f"sparsity={solution.sparsity:g} drives every column out, and nothing is left to "
                "have components: lower it, or leave sparsity='auto'."
            )
        found = leading_components(job, seen_columns(job), solution.w, self.n_components)
        n_found = len(found.eigenvalues)
        if n_found < self.n_components:
            warnings.warn(
                f"The {np.count_nonzero(solution.w)} column(s) that are left have {n_found} "
                f"component(s), n_components={self.n_components} were asked for.",
                UserWarning,
                stacklevel=3,
            )
        self.weights_ = job.prepared.user_values(solution.w)
        self.eigenvalues_ = found.eigenvalues
        self.explained_variance_ = found.eigenvalues / (job.problem.n_rows - 1)
        self.explained_variance_ratio_ = found.eigenvalues / found.total
        self.n_components_ = n_found
        self.sparsity_ = solution.sparsity
        self.objective_ = solution.objective
        self.kkt_residual_ = solution.kkt_residual
        self.n_iter_ = max(solution.n_iter, 1)
        self.converged_ = solution.converged
        self.n_features_in_ = job.prepared.n_features
        if job.prepared.rows.names is not None:
            self.feature_names_in_ = job.prepared.rows.names
        self._model = build_model(job.prepared, job.built, solution.w, found.coef, found.intercept)

    # -- scores -----------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Any:
        """Return the scores of rows on the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to describe.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Numbers only, one row per row of the table.
        """
        return self._scores(X)


def _ends_of_each_support(trace: Trace) -> list[Solution]:
    """Return the points that have a column: the first and the last one of each set of columns."""
    alive = [point for point in trace.points if point.w.any()]
    supports = [(point.w > 0).tobytes() for point in alive]
    return [
        point
        for i, point in enumerate(alive)
        if i in (0, len(alive) - 1) or len({*supports[i - 1 : i + 2]}) > 1
    ]


def knife_pca_path(
    X: Any,
    *,
    n_components: int = 2,
    kernel: Any = "rbf",
    alpha: float = 1.0,
    sparsities: Any = 50,
    callbacks: Any = (),
    **options: Any,
) -> PathResult:
    """Follow every column's weight in the principal components as the penalty rises.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    n_components : int, default=2
        Number of components.
    kernel : str or Kernel, default="rbf"
        See :class:`KnifePCA`.
    alpha : float, default=1.0
        See :class:`KnifePCA`.
    sparsities : int or array-like, default=50
        Number of points, or increasing penalties, as in :func:`knife_path`.
    callbacks : sequence of callbacks, default=()
        For example ``[sklearn.callback.ProgressBar()]``.
    **options
        Further parameters of :class:`KnifePCA`.

    Returns
    -------
    PathResult
        Its models are fitted :class:`KnifePCA`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernelknife import knife_pca_path
    >>> path = knife_pca_path(load_wine(as_frame=True).data)
    >>> path.at(n_features=4).transform(load_wine(as_frame=True).data).shape
    (178, 2)
    """
    for name in ("sparsity", "n_features_to_select", "weights"):
        if name in options:
            raise TypeError(f"knife_pca_path takes no {name}: it follows all penalties.")
    grid = check_sparsities(sparsities)
    template = KnifePCA(n_components, kernel, alpha=alpha, **options)
    if callbacks:
        template.set_callbacks(*callbacks)
    return _run(template, X, grid)


@with_callbacks
def _run(template: KnifePCA, X: Any, grid: Any) -> PathResult:
    template._check_parameters()
    job = template._open(X)
    total = None if np.ndim(grid) == 0 else len(grid)
    with limited_blas(job.problem.n_rows), root_task(template, "path", total) as task:
        job, start = template._begin(job)
        trace = template._trace(job, start, grid, task)
    path = PathResult.from_trace(clone(template), job, trace, KnifePCA._publish)
    path.warn_not_converged(stacklevel=5)
    return path
