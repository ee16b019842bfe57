"""Kernel principal components that use few columns.

The problem is least squares against scores ``U`` of the rows, with ``U'U = n I``:

    ||U - K_w C - 1 b'||^2 + alpha tr(C' K_w C) + sparsity sum_j w_j.

At fixed weights the best ``U`` are the leading eigenvectors of the centered kernel matrix. To
alternate between ``U`` and ``w`` until nothing moves would end at a single column, which explains
its own components best. So ``U`` is taken once, at weights that favor columns which depend on each
other, and stays as it is while the penalty rises; the components are those of the weighted kernel
that comes out.
"""

from functools import partial
from typing import Any, Self

from sklearn.base import clone

from kernelknife._components.eigenproblems import set_up_table
from kernelknife._components.principal import (
    PrincipalFit,
    begin,
    components_at,
    fit_components,
    fixed_components,
)
from kernelknife._engine import FitSpec, Setup, warn_not_converged
from kernelknife._table_base import (
    ResultAt,
    TableTransformer,
    check_weights,
    fitted_at,
    open_table,
    refuse_options,
    run_path,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import root_progress
from kernelknife._utils.row_units import RowUnits
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import with_callbacks
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifePCA", "knife_pca_path"]

STARTS = ("dependence", "scaled")


class KnifePCA(TableTransformer):
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
        Permutations that an automatic penalty is compared with. They show what independent columns
        of independent rows would do: for rows that depend on each other pass ``groups`` or
        ``blocks``.
    blocks : int, default=None
        Length of blocks of neighboring rows, for rows in the order of time: a column is shifted in
        time, by more than a block, instead of permuted.
    solver, standardize, missing, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the model on this number of centers instead of on all rows. None takes all rows up to
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
    beyond_chance_ : bool
        For ``sparsity="auto"``: whether the columns share more than independent columns would.
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
        blocks: int | None = None,
        solver: str = "eliminate",
        standardize: bool = True,
        missing: str = "indicator",
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
        self.blocks = blocks
        self.solver = solver
        self.standardize = standardize
        self.missing = missing
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
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Find the weights, and the components at these weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : ignored
            For pipelines.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, are permuted together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        spec = self._specification()
        setup, k = set_up_table(spec, open_table(self, X)), self.n_components
        units = RowUnits.of(setup.problem.n_rows, groups, self.blocks)
        with limited_blas(setup.problem.n_rows), root_progress(self, total=None) as progress:
            if self.weights is not None:
                found = fixed_components(setup, check_weights(self.weights, setup.data), k)
            else:
                found = fit_components(
                    setup,
                    k,
                    start=self.start,
                    n_permutations=self.n_permutations,
                    units=units,
                    progress=progress,
                )
        self._set_fitted(found)
        if found.chance:
            warn(
                "The columns share no component beyond what independent columns would: the "
                "weights are those without a penalty. Pass sparsity to choose for yourself.",
                UserWarning,
            )
        if not self.converged_:
            warn_not_converged(type(self).__name__, [found.solution])
        return self

    def _specification(self) -> FitSpec:
        """Return what the parameters ask for, checked; the start is that of the components."""
        check_number(self.n_components, "n_components", low=1, integer=True)
        check_number(self.n_permutations, "n_permutations", low=2, integer=True)
        if self.start not in STARTS:
            raise ValueError(f"Unknown start {self.start!r}. Known names: {', '.join(STARTS)}.")
        return FitSpec.from_estimator(self, start="auto")

    def _open_path(self, X: Any) -> tuple[Setup, ResultAt]:
        """Return the setup of a path, and what makes the result of a point."""
        setup = set_up_table(self._specification(), open_table(self, X))
        with limited_blas(setup.problem.n_rows):
            setup, _ = begin(setup, self.start, self.n_components)
        return setup, partial(components_at, k=self.n_components)

    def _set_fitted(self, found: PrincipalFit) -> Self:
        """Set every fitted attribute."""
        super()._set_fitted(found)
        components = found.components
        n_found = len(components.eigenvalues)
        if n_found < self.n_components:
            warn(
                f"The {self.get_support().sum()} column(s) that are left have {n_found} "
                f"component(s), n_components={self.n_components} were asked for.",
                UserWarning,
            )
        self.eigenvalues_ = components.eigenvalues
        self.explained_variance_ = components.eigenvalues / (found.setup.problem.n_rows - 1)
        self.explained_variance_ratio_ = components.eigenvalues / components.total
        self.n_components_ = n_found
        for name in ("path_", "gap_", "beyond_chance_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if found.trace is not None:
            result_at = partial(components_at, k=self.n_components)
            model_at = partial(fitted_at, clone(self), result_at)
            self.path_ = PathResult.from_trace(found.setup, found.trace, model_at)
        if found.gaps is not None:
            self.gap_, self.beyond_chance_ = found.gaps, not found.chance
        return self

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
    refuse_options("knife_pca_path", options, "sparsity", "n_features_to_select", "weights")
    grid = check_sparsities(sparsities)
    estimator = KnifePCA(n_components, kernel, alpha=alpha, **options)
    estimator.set_callbacks(*callbacks)
    return run_path(estimator, partial(estimator._open_path, X), grid)
