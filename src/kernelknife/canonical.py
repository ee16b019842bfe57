"""Kernel canonical correlation between two tables, with few columns of each.

A pair of scores ``f(x)`` and ``g(y)`` goes together if each is predicted well from the other's
table: up to their scales, ``f`` is the kernel ridge regression of ``g`` on the first table and
``g`` that of ``f`` on the second. At fixed weights the best pair is the leading singular pair of
the two smoothers, which is regularized kernel canonical correlation. The weights are found by
alternation: those of a table by the regression of the other table's scores, with a penalty on their
sum. A column cannot make up the target that it has to explain, so that the alternation does not
collapse.

A pair of columns that go together do so in many functions, which are canonical pairs as well. So
that a second pair has something else to show, it is made of other columns, as long as there are
any, and everything is taken out of both tables that the smoothers of the earlier pairs explain.
"""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._components.alternation import (
    Pair,
    Side,
    Sides,
    Tables,
    canonical_pairs,
    correlate,
    find_pairs,
    pairs_at,
    permutation_tests,
)
from kernelknife._components.pair_path import follow_pairs
from kernelknife._engine import FitSpec, Model
from kernelknife._engine.data import refuse_lazy_rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._table_base import check_weights, open_table, refuse_options
from kernelknife._utils.checks import FLOATS, check_number, draw_seed
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import Progress, root_progress
from kernelknife._utils.row_units import RowUnits
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.canonical_path import CCAPathResult
from kernelknife.kernels import check_kernel
from kernelknife.path import check_sparsities

__all__ = ["KnifeCCA", "canonical_pairs", "knife_cca_path"]

Specs = tuple[FitSpec, FitSpec]
OF_EACH_TABLE = ("kernel", "alpha", "sparsity", "feature_groups", "feature_costs")
FEWEST_ROWS = 3  # to find a pair on, and to test its correlation on
FEWEST_UNITS = 4  # groups or blocks to test on: 24 orders of them


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
        Number of pairs of scores, each with weights of its own. Later pairs are searched for among
        the columns that do not carry an earlier one, by at least a tenth of the largest weight, and
        in what smooth functions of its columns leave. A table without further columns keeps all.
    kernel : str, Kernel or pair of them, default="rbf"
        See :class:`KnifeRegressor`; a pair has one for each table.
    alpha : float or pair of float, default=1.0
        Penalty on the squared norm of the models.
    sparsity : float, "auto" or pair of them, default="auto"
        Penalty on the sum of the weights of each table. "auto" is 0.03 times the number of rows: a
        column of weight 1 must explain 3 % of the scores. It is halved where that leaves no column.
    weights : pair of (float or array-like), default=None
        Weights of both tables to keep as they are instead of learning them: all pairs then come
        from one regularized kernel canonical correlation analysis.
    hold_out : float, default=0.25
        Share of the rows on which the correlation is tested: the pairs are found without these
        rows, and then once more with all of them. 0 leaves the test out.
    n_permutations : int, default=999
        Permutations of the held-out rows that the p-values are made of.
    blocks : int, default=None
        Length of blocks of neighboring rows, for rows in the order of time: the last blocks are
        held out, the one before them is left out, and whole blocks are permuted, in which the
        scores are compared without their mean in the block. Five or more should be held out.
    feature_groups, feature_costs : pair, default=None
        See :class:`KnifeRegressor`; one entry for each table, which may be None.
    solver, standardize, missing : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the models on this number of centers instead of on all rows. None takes all rows up to
        1,500 of them, and 300 centers beyond.
    centers, memory_budget, max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    random_state : int, RandomState or None, default=None
        For the rows that are held out, permutations and centers; None makes every fit the same.

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
        is uniform if the tables are independent and their rows are, too. For rows that depend on
        each other, such as those of a patient or of a series, pass ``groups`` or ``blocks``.
    sparsities_ : ndarray of shape (n_components, 2)
        The penalties.
    n_iter_ : int
        Most rounds of the alternation that a pair took.
    n_features_in_, n_y_features_in_ : int
        Numbers of columns that ``fit`` saw.
    feature_names_in_, y_feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    knife_cca_path : The weights of both tables for every penalty.
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
        blocks: int | None = None,
        feature_groups: Any = None,
        feature_costs: Any = None,
        solver: str = "eliminate",
        standardize: bool = True,
        missing: str = "indicator",
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
        self.blocks = blocks
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.solver = solver
        self.standardize = standardize
        self.missing = missing
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.multi_output = True
        return tags

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Find the columns of two tables that go together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        y : array-like of shape (n_samples, n_columns) or (n_samples,)
            The second table, with the same rows in the same order.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, are held out and permuted
            together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        specs, tables = self._specifications(), self._open(X, y)
        units = RowUnits.of(tables[0].shape[0], groups, self.blocks)
        with limited_blas(tables[0].shape[0]), root_progress(self, total=None) as progress:
            tests = None
            if self.weights is None:
                tests = self._test_held_out(specs, tables, units, progress)
                sides = _make_sides(specs, tables)
                pairs = find_pairs(sides, self.n_components, progress)
            else:
                sides = _make_sides(specs, tables)
                given = zip(_both(self.weights, "weights"), sides, strict=True)
                weights = [check_weights(values, side.setup.data) for values, side in given]
                pairs = pairs_at(sides, weights, self.n_components)
        return self._set_fitted(sides, pairs, tests)

    def _specifications(self) -> Specs:
        """Return what the parameters ask for of either table, checked."""
        check_number(self.n_components, "n_components", low=1, integer=True)
        check_number(self.hold_out, "hold_out")
        if self.hold_out >= 1.0:
            raise ValueError(f"hold_out must be a share of the rows below 1, got {self.hold_out}.")
        check_number(self.n_permutations, "n_permutations", low=1, integer=True)
        seed = draw_seed(self.random_state)

        def of_table(which: int) -> FitSpec:
            own = {name: _both(getattr(self, name), name)[which] for name in OF_EACH_TABLE}
            own["kernel"] = check_kernel(own["kernel"])
            return FitSpec.from_estimator(self, seed=seed, **own)

        return of_table(0), of_table(1)

    def _open(self, X: Any, y: Any) -> Tables:
        """Return the rows of both tables."""
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: it is the second table."
            )
        rows = open_table(self, X)
        refuse_lazy_rows(y, type(self).__name__)
        names = getattr(y, "columns", None)
        y = _second_table(y, self.missing)
        if len(y) > 1 and (y == y[0]).all():
            raise ValueError(
                f"All {y.shape[1]} column(s) of y, the second table, are constant: there is "
                "nothing to select from."
            )
        if rows.shape[0] != len(y):
            raise ValueError(
                f"X has {rows.shape[0]} rows and y has {len(y)}: both tables must describe the "
                "same rows, in the same order."
            )
        names = None if names is None else np.asarray(names, dtype=object)
        return rows, ArrayRows(y, names=names)

    def _test_held_out(
        self, specs: Specs, tables: Tables, units: RowUnits | None, progress: Progress
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Find the pairs without some rows; return the correlations over these, and p-values."""
        n = tables[0].shape[0]
        rng = np.random.default_rng(specs[0].seed or 0)
        if units is not None and self.hold_out > 0:
            out, kept, units = units.held_out(self.hold_out, rng)
            if min(len(units.members), len(kept)) < FEWEST_UNITS:
                warn(
                    f"{len(units.members)} units of {n} rows are held out, too few to test a "
                    "correlation on: none are. Use smaller blocks or groups, or hold out more.",
                    UserWarning,
                )
                return None
            pairs = find_pairs(_make_sides(specs, _part(tables, kept)), self.n_components, progress)
            held_out = _part(tables, out)
            return permutation_tests(pairs, held_out, self.n_permutations, rng, units)
        n_out = round(self.hold_out * n)
        if min(n_out, n - n_out) < FEWEST_ROWS:
            if n_out:
                warn(
                    f"{n_out} of {n} rows to hold out are too few to test a correlation on: none "
                    "are held out.",
                    UserWarning,
                )
            return None
        order = rng.permutation(n)
        out, kept = np.sort(order[:n_out]), np.sort(order[n_out:])
        pairs = find_pairs(_make_sides(specs, _part(tables, kept)), self.n_components, progress)
        return permutation_tests(pairs, _part(tables, out), self.n_permutations, rng)

    def _set_fitted(
        self,
        sides: Sides,
        pairs: list[Pair],
        tests: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Self:
        """Set every fitted attribute."""
        for name in ("held_out_correlations_", "p_values_", "y_feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        x_data, y_data = sides[0].setup.data, sides[1].setup.data
        self.n_features_in_, self.n_y_features_in_ = x_data.n_features, y_data.n_features
        if x_data.rows.names is not None:
            self.feature_names_in_ = x_data.rows.names
        if y_data.rows.names is not None:
            self.y_feature_names_in_ = y_data.rows.names
        self.x_weights_, self.y_weights_ = (
            np.stack([pair.weights[which] for pair in pairs]) for which in (0, 1)
        )
        self.correlations_ = np.array([pair.correlation for pair in pairs])
        if tests is not None:
            self.held_out_correlations_, self.p_values_ = tests
        self.sparsities_ = np.array([pair.sparsities for pair in pairs])
        self.n_iter_ = max(pair.n_rounds for pair in pairs)
        self._models = tuple(zip(*(pair.models for pair in pairs), strict=True))
        return self

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
        ours = _scores_of(self._models[0], X)
        if y is None:
            return ours
        y = _second_table(y, self.missing)
        if y.shape[1] != self.n_y_features_in_:
            raise ValueError(
                f"y has {y.shape[1]} columns, the model was fitted on {self.n_y_features_in_}."
            )
        return ours, _scores_of(self._models[1], y)

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


def _make_sides(specs: Specs, tables: Tables) -> Sides:
    """Return both tables, ready for regressions."""
    return Side.of("X", specs[0], tables[0]), Side.of("y", specs[1], tables[1])


def _part(tables: Tables, index: np.ndarray) -> Tables:
    """Return some rows of both tables."""
    left, right = (ArrayRows(rows.X[index], names=rows.names) for rows in tables)
    return left, right


def _second_table(y: Any, missing: str) -> np.ndarray:
    """Return the second table as an array of two dimensions.

    What is wrong with it is said here: later every table is called X.
    """
    finite = True if missing == "error" else "allow-nan"
    y = check_array(y, dtype=FLOATS, ensure_2d=False, ensure_all_finite=finite, input_name="y")
    return y.reshape(len(y), -1)


def _both(value: Any, name: str) -> tuple[Any, Any]:
    """Return the values of both tables: those of a pair, or one value for both."""
    if not isinstance(value, tuple):
        if name in ("feature_groups", "feature_costs", "weights") and value is not None:
            raise ValueError(f"{name} must be a pair (of X, of y), got {type(value).__name__}.")
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be one value or a pair (of X, of y), got {len(value)}.")
    return value[0], value[1]


def _scores_of(models: tuple[Model, ...], table: np.ndarray) -> np.ndarray:
    with limited_blas(max(len(table), *(len(model.vectors) for model in models))):
        return np.column_stack([model.scores(ArrayRows(table)) for model in models])


def knife_cca_path(
    X: Any,
    Y: Any,
    *,
    kernel: Any = "rbf",
    alpha: Any = 1.0,
    sparsities: Any = 30,
    ratio: tuple[float, float] = (1.0, 1.0),
    callbacks: Any = (),
    **options: Any,
) -> CCAPathResult:
    """Follow the columns of two tables that go together as both penalties rise.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The first table.
    Y : array-like of shape (n_samples, n_columns) or (n_samples,)
        The second table, with the same rows in the same order.
    kernel : str, Kernel or pair of them, default="rbf"
        See :class:`KnifeCCA`.
    alpha : float or pair of float, default=1.0
        See :class:`KnifeCCA`.
    sparsities : int or array-like, default=30
        Number of points, or increasing penalties. A number spreads the points evenly over the
        logarithm of the penalty, from 0.001 times the number of rows to where one table has no
        column left; the path may end a few points early or late.
    ratio : pair of float, default=(1.0, 1.0)
        Penalty of each table at a sparsity of 1.
    callbacks : sequence of callbacks, default=()
        For example ``[sklearn.callback.ProgressBar()]``.
    **options
        Further parameters of :class:`KnifeCCA`.

    Returns
    -------
    CCAPathResult
        Weights of both tables and the correlation at every penalty, rankings, and a fitted
        :class:`KnifeCCA` at every point but the last.

    See Also
    --------
    KnifeCCA : Several pairs at one penalty, and their correlation over held-out rows.

    Notes
    -----
    The path is that of the first pair. The point nearest to the automatic penalty of
    :class:`KnifeCCA` is found as a single fit finds it, and the others one after the other from
    there. With several local minima a single fit at another penalty may find another pair.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import knife_cca_path
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(150, 6)), rng.normal(size=(150, 5))
    >>> Y[:, 3] = np.sin(2 * X[:, 1]) - Y[:, 2] + 0.1 * rng.normal(size=150)
    >>> path = knife_cca_path(X, Y, sparsities=10)
    >>> int(path.x_ranking.argmin()), sorted(int(j) for j in path.y_ranking.argsort()[:2])
    (1, [2, 3])
    >>> path.at(sparsity=5.0).transform(X).shape
    (150, 1)
    """
    refuse_options("knife_cca_path", options, "sparsity", "weights")
    if "n_components" in options:
        raise TypeError("knife_cca_path takes no n_components: it follows the first pair.")
    for name in ("hold_out", "n_permutations"):
        if name in options:
            raise TypeError(
                f"knife_cca_path takes no {name}: fit KnifeCCA at the sparsity of a point to test "
                "its pair on held-out rows."
            )
    grid = check_sparsities(sparsities)
    estimator = KnifeCCA(kernel=kernel, alpha=alpha, hold_out=0.0, **options)
    estimator.set_callbacks(*callbacks)
    return _run(estimator, X, Y, grid, _check_ratio(ratio))


def _check_ratio(ratio: Any) -> tuple[float, float]:
    if not isinstance(ratio, tuple | list) or len(ratio) != 2:
        raise ValueError(
            "ratio must be a pair of numbers > 0, of X and of Y, such as (1.0, 2.0), got "
            f"{ratio!r}."
        )
    for share in ratio:
        check_number(share, "Each entry of ratio", strict=True)
    return float(ratio[0]), float(ratio[1])


@with_callbacks
def _run(
    estimator: KnifeCCA, X: Any, Y: Any, grid: Any, ratio: tuple[float, float]
) -> CCAPathResult:
    specs, tables = estimator._specifications(), estimator._open(X, Y)
    total = None if np.ndim(grid) == 0 else len(grid)
    with (
        limited_blas(tables[0].shape[0]),
        root_progress(estimator, "path", total) as progress,
    ):
        sides = _make_sides(specs, tables)
        points = follow_pairs(sides, ratio, grid, progress)
    return CCAPathResult.from_points(
        sides, ratio, points, partial(_fitted_at, clone(estimator), sides)
    )


def _fitted_at(estimator: KnifeCCA, sides: Sides, pair: Pair) -> KnifeCCA:
    """Return a copy of an estimator, fitted with the pair of a point of a path."""
    return clone(estimator).set_params(sparsity=pair.sparsities)._set_fitted(sides, [pair])
