"""Feature paths: every feature's weight as the penalty rises, and when it leaves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from kernelknife._base import fitted_at, open_data
from kernelknife._engine import FitSpec, Setup, follow, set_up, warn_not_converged
from kernelknife._engine.data import column_names
from kernelknife._engine.data.dask import is_dask
from kernelknife._engine.policy import default_loss, infer_task, task_of_loss
from kernelknife._engine.search import Trace, rank_features, solve_for_count
from kernelknife._engine.solvers import Solution
from kernelknife._engine.spec import check_sparsities
from kernelknife._error_rates import calibrate, settle
from kernelknife._offsets import known_scores
from kernelknife._utils.arrays import is_foreign, to_host
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import import_optional
from kernelknife._utils.progress import root_progress
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import with_callbacks
from kernelknife.inspection.substitutes import find_substitutes, rank_relevance
from kernelknife.losses import check_loss
from kernelknife.survival import ESTIMATORS

__all__ = ["CalibratedSelection", "PathResult", "check_sparsities", "knife_path"]


@dataclass(frozen=True)
class CalibratedSelection:
    """The columns of a path that are stronger than noise; from :meth:`PathResult.calibrate`.

    Attributes
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted with the selected columns, at the smallest penalty that leaves no others.
    support : ndarray of bool of shape (n_features,)
        Which columns are selected.
    sparsity : float
        The penalty beyond which no column of noise is active.
    strengths : ndarray of shape (n_features,)
        The penalty at which a column leaves; 0 for those that leave before noise does.
    null_sparsities, p_value, adjusted_p_values, n_steps : as in KnifeRegressor
        See the attributes of :class:`KnifeRegressor`, and what they claim.
    n_paths : int
        Paths that were followed.

    Examples
    --------
    >>> from kernelknife import knife_path
    >>> from kernelknife.datasets import make_sinusoidal
    >>> path = knife_path(*make_sinusoidal(100, 5, random_state=0), kernel="additive")
    >>> found = path.calibrate()
    >>> found.support.nonzero()[0], found.p_value < 0.05
    (array([0, 1, 2, 3, 4]), True)
    """

    model: Any
    support: np.ndarray
    sparsity: float
    strengths: np.ndarray
    null_sparsities: np.ndarray
    p_value: float
    adjusted_p_values: np.ndarray
    n_steps: int
    n_paths: int


@dataclass(frozen=True)
class PathResult:
    """A feature path.

    Attributes
    ----------
    sparsities : ndarray of shape (n_points,)
        Penalties, from 0 to where the last feature leaves.
    weights : ndarray of shape (n_points, n_features)
        Weights of the features at every point.
    n_selected : ndarray of int of shape (n_points,)
        Number of features with a weight at every point.
    converged : ndarray of bool of shape (n_points,)
        Whether a point satisfies its optimality conditions.
    objective, loss : ndarray of shape (n_points,)
        Objective and the part of it that is loss. For a loss that is not smooth, such as the
        hinge, these are of the smooth loss that finds the weights; ``model(i).objective_`` is
        that of the loss itself.
    factorizations : ndarray of int of shape (n_points,)
        Factorizations per point.
    n_factorizations : int
        All factorizations, those of the starts and of placing the points included.
    ranking : ndarray of int of shape (n_features,)
        1 for the feature that is eliminated last, as in ``sklearn.feature_selection.RFE``.
        Features that are gone at the first point are ranked by when they left while the path
        was begun, then by how much they would help. Columns of a group share a rank;
        constant columns come last.
    feature_names : ndarray of str
        Names of the columns, ``x0``, ``x1`` and so on where the data had none.
    start : str
        The start that the path begins at.
    searched_products : dict
        In how many rows products of 2 and of 3 columns were searched for pure interactions, 0 where
        there are too many columns; empty for convex kernels and for a ``start`` of your own.
    task : {"regression", "classification", "survival"}
        What the path took the target for.

    Examples
    --------
    >>> from kernelknife import knife_path
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> path = knife_path(*make_skin_of_orange(80, 6, random_state=0))
    >>> path.task, path.weights.shape == (len(path), 10)
    ('classification', True)
    >>> path.at(n_features=4).get_support(indices=True)
    array([0, 1, 2, 3])
    """

    sparsities: np.ndarray
    weights: np.ndarray
    n_selected: np.ndarray
    converged: np.ndarray
    objective: np.ndarray
    loss: np.ndarray
    factorizations: np.ndarray
    n_factorizations: int
    ranking: np.ndarray
    feature_names: np.ndarray
    start: str
    searched_products: dict[int, int]
    task: str
    _setup: Setup = field(repr=False)
    _trace: Trace = field(repr=False)
    _fitted: Callable[..., Any] = field(repr=False)

    @classmethod
    def from_trace(cls, setup: Setup, trace: Trace, fitted: Callable[..., Any]) -> "PathResult":
        """Spread the weights of a trace over the user's columns.

        Parameters
        ----------
        setup : Setup
            The data and the problem.
        trace : Trace
            The solutions along the path.
        fitted : callable
            ``fitted(setup, solution, start)`` returns the fitted model of a point.

        Returns
        -------
        PathResult
            The path in terms of the user's columns.
        """
        points, data = trace.points, setup.data
        w = np.array([point.w for point in points])
        weights = np.array([data.user_values(row) for row in w])
        ranks = rank_features(w, trace.tie_break)
        return cls(
            sparsities=np.array([point.sparsity for point in points]),
            weights=weights,
            n_selected=np.count_nonzero(weights, axis=1),
            converged=np.array([point.converged for point in points]),
            objective=np.array([point.objective for point in points]),
            loss=np.array([point.loss for point in points]),
            factorizations=np.array([point.n_factorizations for point in points]),
            n_factorizations=trace.n_factorizations,
            ranking=data.user_values(ranks, constant=len(ranks) + 1),
            feature_names=column_names(data.rows.names, data.n_features),
            start=trace.start,
            searched_products=setup.searched_products,
            task=setup.spec.task,
            _setup=setup,
            _trace=trace,
            _fitted=fitted,
        )

    def __len__(self):
        return len(self.sparsities)

    def model(self, i):
        """Return the fitted estimator at point ``i``.

        Parameters
        ----------
        i : int
            Index of a point; negative ones count from the end.

        Returns
        -------
        KnifeRegressor, KnifeClassifier or KnifeSurvival
            Ready to predict.
        """
        return self._fitted(self._setup, self._point(i), self.start)

    def _point(self, i: int) -> Solution:
        if not -len(self) <= i < len(self):
            raise IndexError(f"The path has {len(self)} points, there is no point {i}.")
        return self._trace.points[i]

    @cached_property
    def relevance(self):
        """Rank of every feature by how much it could do: 1 for the most relevant one.

        ``ranking`` is the elimination order, so that its top are the fewest features that suffice;
        of several with the same information, one is there and the others are far down. Here a
        feature that can substitute a selected one comes right after it, so that the top holds
        everything that matters. Where no feature can substitute another, both are the same.

        A feature's strength is the penalty at which it leaves the path. One that helps in the place
        of a selected one (see :meth:`substitutes`) has at least the strength of that one, times the
        share that it makes up for. Selected are those of the point with the fewest features whose
        held-out loss is within one standard error of the least one. It is computed when it is first
        asked for, which takes two or three times as long as the path. Columns of a group share a
        rank, and constant columns come last.
        """
        setup, points = self._setup, self._trace.points
        elimination = rank_features(np.array([p.w for p in points]), self._trace.tie_break)
        with limited_blas(setup.problem.n_rows):
            ranks = rank_relevance(setup.problem, setup.spec.solver, points, elimination)
        return setup.data.user_values(ranks, constant=len(ranks) + 1)

    def substitutes(self, i, *, n_candidates=8, folds=5, random_state=0):
        """Find columns that could take the place of those that are selected at point ``i``.

        Parameters
        ----------
        i : int, KnifeRegressor, KnifeClassifier or KnifeSurvival
            Index of a point; negative ones count from the end. Or a model of this path, such as
            ``at(n_features=3)``.
        n_candidates, folds, random_state : as in KnifeRegressor.substitutes
            See :meth:`KnifeRegressor.substitutes`.

        Returns
        -------
        Substitutes
            One place for every selected column.
        """
        if hasattr(i, "weights_"):
            w, sparsity = self._setup.data.weight_values(i.weights_), i.sparsity_
        else:
            point = self._point(i)
            w, sparsity = point.w, point.sparsity
        return find_substitutes(
            self._setup,
            w,
            sparsity,
            n_candidates=n_candidates,
            folds=folds,
            random_state=random_state,
        )

    def calibrate(
        self,
        *,
        n_permutations=20,
        level=0.05,
        alpha=None,
        groups=None,
        strata=None,
        blocks=None,
        n_jobs=None,
        random_state=0,
    ):
        """Select the columns that are stronger than the strongest column of noise.

        A column's strength is the penalty at which it leaves. Targets are permuted, their paths are
        followed, and the strongest column of each is noted; columns that are stronger than these in
        all but a share ``level`` are selected. What the selected columns leave unexplained is then
        permuted, and the others are compared once more, until none enters. Paths are coarser than
        this one, those of the target and of its permutations alike.

        Parameters
        ----------
        n_permutations, level : as in KnifeRegressor
            See :class:`KnifeRegressor`.
        alpha : float, default=None
            Penalty on the norm of the model, for the paths that are compared; None is that of this
            path. With a small one noise can be memorized, and few columns outlast it.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as the samples of one patient. The target is permuted
            within groups or, where all rows of every group have the same, between whole groups.
        strata : array-like of shape (n_samples,), default=None
            Rows exchange their targets with rows of the same stratum only, such as a batch.
        blocks : int, default=None
            Of rows in the order of time, over how many rows their dependence lasts: targets are not
            exchanged, but all of them move by at least as many rows, so that neighbors stay
            neighbors.
        n_jobs : int, default=None
            Permutations run in parallel through joblib; the answer does not depend on it.
        random_state : int, default=0
            Seed of the permutations.

        Returns
        -------
        CalibratedSelection
            The selected columns, a model of them, and the strengths of noise.
        """
        setup = self._setup if alpha is None else self._setup.with_alpha(alpha)
        found = calibrate(
            setup,
            n_permutations=n_permutations,
            level=level,
            groups=_one_per_row(groups, setup, "groups"),
            strata=_one_per_row(strata, setup, "strata"),
            blocks=blocks,
            n_jobs=n_jobs,
            seed=random_state,
        )
        spread = setup.data.user_values
        return CalibratedSelection(
            model=self._fitted(setup, settle(setup, found.solution), found.start),
            support=spread(found.selected),
            sparsity=found.threshold,
            strengths=spread(found.strengths),
            null_sparsities=found.nulls,
            p_value=found.p_value,
            adjusted_p_values=found.p_values,
            n_steps=found.n_steps,
            n_paths=found.n_paths,
        )

    def at(self, *, n_features=None, sparsity=None):
        """Return the fitted estimator with a number of features, or nearest to a penalty.

        Parameters
        ----------
        n_features : int, default=None
            Number of features (of groups, where there are some).
        sparsity : float, default=None
            A penalty; the point nearest to it is taken.

        Returns
        -------
        KnifeRegressor, KnifeClassifier or KnifeSurvival
            Ready to predict.
        """
        if (n_features is None) == (sparsity is None):
            raise ValueError("Give either n_features or sparsity.")
        if sparsity is not None:
            check_number(sparsity, "sparsity")
            return self.model(int(np.argmin(np.abs(self.sparsities - sparsity))))
        check_number(n_features, "n_features", low=1, integer=True)
        problem = self._setup.problem
        if n_features > problem.n_weights:
            raise ValueError(
                f"n_features={n_features} is more than the {problem.n_weights} features (or "
                "groups) that are not constant."
            )
        with limited_blas(problem.n_rows):
            solution = solve_for_count(
                problem, self._setup.spec.solver, self._trace, int(n_features)
            )
        return self._fitted(self._setup, solution, self.start)

    def warn_not_converged(self) -> None:
        """Issue a ConvergenceWarning if a point has not converged."""
        failed = [point for point in self._trace.points if not point.converged]
        if failed:
            warn_not_converged(f"{len(failed)} of {len(self)} points of the path", failed)

    def to_frame(self):
        """Return a pandas data frame: one row per point, one column per feature.

        Returns
        -------
        DataFrame
            The penalty, the number of features, the objective and the weights.
        """
        pandas = import_optional("pandas", "pandas", "PathResult.to_frame")
        facts = pandas.DataFrame(
            {
                "sparsity": self.sparsities,
                "n_selected": self.n_selected,
                "objective": self.objective,
                "loss": self.loss,
                "factorizations": self.factorizations,
            }
        )
        weights = pandas.DataFrame(self.weights, columns=self.feature_names)
        return pandas.concat([facts, weights], axis=1)

    def _repr_html_(self):
        from kernelknife.app.report import path_fragment

        return path_fragment(self)

    def plot(self, *, sparsity=None, ax=None, style=None):
        """Draw the path; see :class:`kernelknife.inspection.displays.WeightPathDisplay`.

        Parameters
        ----------
        sparsity : float, default=None
            A penalty to mark.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        style : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        WeightPathDisplay
            The picture.
        """
        from kernelknife.inspection.displays import WeightPathDisplay

        data = (self.sparsities, self.weights, self.feature_names)
        display = WeightPathDisplay(*data, ranking=self.ranking, sparsity=sparsity)
        return display.plot(ax=ax, style=style)


def _one_per_row(values, setup, name):
    """Return what marks the rows as an array, None for None."""
    if values is None:
        return None
    values, n = np.asarray(values), setup.data.rows.shape[0]
    if values.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one per row, got {values.shape}.")
    return values


def knife_path(
    X,
    y,
    *,
    kernel="rbf",
    loss=None,
    alpha=1.0,
    sparsities=50,
    updates_per_point=None,
    sample_weight=None,
    offset=None,
    exposure=None,
    task=None,
    callbacks=(),
    **options,
):
    """Follow every feature's weight as the penalty rises, until the last one leaves.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Target of every row, numbers or classes; or times and events as for
        :class:`KnifeSurvival`.
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    loss : str or Loss, default=None
        None is the squared loss for numbers, the squared hinge for classes and the partial
        likelihood for times until an event.
    alpha : float, default=1.0
        Penalty on the squared norm of the model, the same along the path.
    sparsities : int or array-like, default=50
        Number of points, or increasing penalties. A number finds its own grid, from 0 to
        where the last feature leaves, with points where features leave; the path may end a
        few points early or late, or much earlier where some features cost nothing.
    updates_per_point : int, default=None
        Steps of the solver per point: 1 is the paper's approximation; None solves each point
        to ``tol``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the loss.
    offset, exposure : array-like of shape (n_samples,), default=None
        See :meth:`KnifeRegressor.fit`.
    task : {"regression", "classification", "survival"}, default=None
        None takes it from the loss, else from ``y``: texts, truth values and at most ten
        different whole numbers are classes, and a structured array holds times until an event.
        ``PathResult.task`` holds which was inferred.
    callbacks : sequence of callbacks, default=()
        For example ``[sklearn.callback.ProgressBar()]``.
    **options
        Further parameters of :class:`KnifeRegressor`, :class:`KnifeClassifier` or
        :class:`KnifeSurvival`.

    Returns
    -------
    PathResult
        Weights at every penalty, the ranking, and a fitted model at every point.

    Examples
    --------
    >>> from kernelknife import knife_path
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(100, 5, random_state=0)
    >>> path = knife_path(X, y)
    >>> sorted(int(j) for j in path.ranking.argsort()[:5])
    [0, 1, 2, 3, 4]
    >>> path.at(n_features=3).get_support(indices=True)
    array([0, 1, 2])
    """
    for name in ("sparsity", "n_features_to_select"):
        if name in options:
            raise TypeError(f"knife_path takes no {name}: it follows all penalties.")
    grid = check_sparsities(sparsities)
    if updates_per_point is not None:
        check_number(updates_per_point, "updates_per_point", low=1, integer=True)
    task = _find_task(task, loss, y)
    if task == "survival":
        options |= _survival_options(loss)
    elif loss is not None:
        options["loss"] = loss
    model = ESTIMATORS[task](kernel=kernel, alpha=alpha, **options)
    if callbacks:
        model.set_callbacks(*callbacks)
    known = None
    if offset is not None or exposure is not None:
        if task == "survival":
            raise ValueError("offset and exposure are not for times until an event.")
        known = known_scores(offset, exposure, X, default_loss(loss, task))
    return _run(model, X, y, sample_weight, known, grid, updates_per_point)


@with_callbacks
def _run(model, X, y, sample_weight, known, grid, updates_per_point):
    spec = FitSpec.from_estimator(model, offset=known is not None)
    setup = set_up(spec, open_data(model, X, y, sample_weight, spec, known))
    total = None if np.ndim(grid) == 0 else len(grid)
    with limited_blas(setup.problem.n_rows), root_progress(model, "path", total) as progress:
        trace = follow(setup, grid, updates_per_point=updates_per_point, progress=progress)
    path = PathResult.from_trace(setup, trace, partial(fitted_at, model))
    if updates_per_point is None:
        path.warn_not_converged()
    return path


def _find_task(task, loss, y):
    """Regression or classification: from the word, else the loss, else the target."""
    if task is not None:
        if task not in ESTIMATORS:
            known = ", ".join(repr(name) for name in ESTIMATORS)
            raise ValueError(f"task must be one of {known}, got {task!r}.")
        return task
    task = task_of_loss(loss)
    if task is not None:
        return task
    if isinstance(y, str) or is_dask(y):
        raise ValueError("Pass task='regression' or task='classification': y is not looked at.")
    return infer_task(to_host(y) if is_foreign(y) else y)


def _survival_options(loss):
    """Return what a loss for times until an event means for the estimator, which names its ties."""
    return {} if loss is None else {"ties": check_loss(loss, "survival").ties}
