"""The problem with centers: a coefficient for every center, sums over blocks of rows.

With centers ``Z`` the scores are ``F = K(X, Z) C + 1 b'`` and the norm of the model is
``tr(C' K(Z, Z) C)``. Newton's method for ``C`` and ``b`` needs ``K' H K`` and ``K' g`` (``g`` and
``H`` the derivatives of the loss at the scores), the gradient in the weights needs a contraction
of the kernel's derivative with ``g``, and the Gauss-Newton model needs ``A' H A`` and ``K' H A``
with ``A_j = (dK/dw_j) c``. Memory is that of a block and of some m x m matrices, however many rows
there are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernelknife._engine.data import Rows, Sample
from kernelknife._engine.data.arrays import ArrayRows, DeviceRows
from kernelknife._engine.data.columns import Columns, rows_to_look_at
from kernelknife._engine.data.rows import Sums
from kernelknife._engine.objective.base import (
    Fit,
    Linearization,
    Problem,
    Result,
    State,
    rows_of_sample,
    single_precision,
)
from kernelknife._engine.objective.exact import SURE, ExactProblem
from kernelknife._engine.objective.features import Chain, Features, Subset
from kernelknife._engine.objective.nystrom_coefficients import CoefficientDescent
from kernelknife._engine.objective.sums import (
    Setting,
    Step,
    enough_pivots,
    exact_model,
    first_two,
    gradient_sums,
    loss_sums,
    model_sums,
    norm_matrix,
    null_of,
    primal_sums,
    reduced_model,
    respond,
    root_of,
    second_sums,
    seen_once,
    slope_sums,
    spanning_centers,
    usual_curvature,
)
from kernelknife._utils.arrays import Array, like, to_host
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss

__all__ = ["NystromProblem", "NystromState"]

# A ridge on the coefficients, relative to the diagonal of K' H K: about what rounding takes from
# it. It is part of the objective and the same at all weights, so that gradients are exact;
# docs/guide/method.md states it, and benchmarks/audit.py compares both.
RIDGE = 1e-11
# Residual of the coefficients within which a model of a corner that has become a narrow parabola is
# called accurate.
REFIT_ACCURACY = 1e-4
NARROWER = (1e-1, 1e-2, 1e-3)  # its half widths
NULL_ROWS = 10_000  # rows that the objective of a constant is measured on, which is only a scale
# Most weights for which the exact Hessian is computed: it takes one more pass over the rows, and
# beyond this number that pass costs more than the steps that it saves.
HESSIAN_WEIGHTS, HESSIAN_GROUPS = 16, 12  # of one column each, of several
# Rows of the sample that decides where to begin: enough for the centers and for weak features.
SAMPLE_ROWS, SAMPLE_ROWS_PER_CENTER = 5000, 10
WORTH_A_SAMPLE = 3  # times as many rows as the sample has, so that it pays to begin there


@dataclass(frozen=True)
class NystromState(State):
    """The model at the weights ``w``; the factorization stays where it was made."""

    step: Step
    setting: Setting
    few: "Few | None" = None

    @property
    def warm(self) -> np.ndarray:
        """The coefficients, those of the unpenalized columns last."""
        return np.vstack([self.inner.C, self.inner.b])


@dataclass(frozen=True)
class Few:
    """The model on those centers that span all: few, as soon as few columns are left."""

    problem: "NystromProblem"
    state: NystromState
    index: np.ndarray  # of its coefficients among all, those of the unpenalized columns last


class NystromProblem(Problem):
    """A weighted kernel model on centers, as a function of its weights.

    Parameters
    ----------
    rows : Rows
        With encoded targets of shape (n, k).
    columns : Columns
        The problem's columns among those of the rows, and how to standardize them.
    centers : ndarray of shape (m, p)
        Standardized.
    kernel : Kernel
        Positive semi-definite.
    loss : Loss
        A smooth loss.
    alpha : float, default=1.0
    features : Features, default=None
        None gives every column a weight of its own and all the same cost.
    fit_intercept : bool, default=True
    adjusted : Columns, default=None
        Columns with an unpenalized coefficient of their own.
    n_outputs : int, default=1
    total_weight : float, default=None
        Sum of the sample weights; None is the number of rows.
    null_value : float, default=None
        Objective of the best constant model, where it is known.
    spans : bool, default=None
        Whether the centers span all columns; None finds out.
    seed : int, default=0
        For the rows that samples take.
    ridge : float, default=None
        Of the coefficients; None finds out.
    """

    exact = False

    def __init__(
        self,
        rows: Rows,
        columns: Columns,
        centers: np.ndarray,
        kernel: Kernel,
        loss: Loss,
        *,
        alpha: float = 1.0,
        features: Features | None = None,
        fit_intercept: bool = True,
        adjusted: Columns | None = None,
        n_outputs: int = 1,
        total_weight: float | None = None,
        null_value: float | None = None,
        spans: bool | None = None,
        seed: int = 0,
        ridge: float | None = None,
    ):
        if kernel.indefinite:
            raise ValueError(
                f"{kernel!r} is not positive semi-definite: a model on centers has no minimum."
            )
        self.rows, self.columns, self.centers = rows, columns, centers
        self.kernel, self.loss, self.alpha = kernel, loss, float(alpha)
        self.features = features or Features(columns.n_seen, squared=not kernel.linear_in_weights)
        self.fit_intercept, self.n_outputs, self.seed = fit_intercept, n_outputs, seed
        self.adjusted = adjusted
        self.n_unpenalized = fit_intercept + (0 if adjusted is None else len(adjusted.index))
        self.n_rows = rows.shape[0]
        self.total_weight = float(self.n_rows) if total_weight is None else total_weight
        if spans is None:
            spans = len(centers) >= spanning_centers(self.n_columns, rows)
        self._spans, self._null_value = spans, null_value
        if ridge is not None:
            self._ridge = ridge
        self._shared: tuple[bytes, Array] | None = None

    @property
    def convex(self) -> bool:
        """Whether the kernel is linear in the weights and the centers span all columns."""
        return self.kernel.convex and self._spans

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shared": None}

    # -- other problems on the same data ------------------------------------------------

    def with_alpha(self, alpha: float) -> "NystromProblem":
        """Return the same problem with another ``alpha``."""
        return self._variant(alpha=alpha)

    def with_centers(self, centers: np.ndarray) -> "NystromProblem":
        """Return the same problem with other centers."""
        return self._variant(centers=centers)

    def restricted(self, kept: np.ndarray) -> "NystromProblem":
        """Return the problem that has only the weights ``kept``, an increasing index."""
        features, columns = self.features.restricted(kept)
        return self._variant(
            features=features,
            columns=self.columns.restricted(columns),
            centers=self.centers.take(columns, axis=1),
        )

    def _options(self, **changes: Any) -> dict[str, Any]:
        """Return what a problem is made of besides its rows and columns, with some changes."""
        options = {
            "centers": self.centers,
            "kernel": self.kernel,
            "loss": self.loss,
            "alpha": self.alpha,
            "features": self.features,
            "fit_intercept": self.fit_intercept,
            "adjusted": self.adjusted,
            "n_outputs": self.n_outputs,
            "total_weight": self.total_weight,
            "null_value": self._null_value,
            "spans": self._spans,
            "seed": self.seed,
        }
        return options | changes

    def _variant(self, columns: Columns | None = None, **changes: Any) -> "NystromProblem":
        """Return the same problem with some changes, which leave the constant model as it is."""
        return NystromProblem(self.rows, columns or self.columns, **self._options(**changes))

    def subsample(
        self,
        most_rows: int,
        seed: int | None = None,
        *,
        kernel: Kernel | None = None,
        linear: bool | None = None,
        single: bool = False,
    ) -> ExactProblem:
        """Return the exact problem on some of the rows, perhaps with another kernel."""
        index = self.rows.numbers(rows_of_sample(self.rows.n_counted, most_rows, seed))
        sample = self.rows.fetch(self.rows.sample(index))
        counted = sample.counted()
        X = self.columns.take(sample.X[counted])
        kernel = kernel or self.kernel
        return ExactProblem(
            single_precision(X) if single else X,
            sample.y[counted],
            kernel,
            self.loss,
            alpha=self.alpha,
            sample_weight=np.asarray(sample.s[counted], dtype=float),
            features=self.features.for_kernel(kernel, linear),
            fit_intercept=self.fit_intercept,
            adjusted=None if self.adjusted is None else self.adjusted.take(sample.X[counted]),
            n_outputs=self.n_outputs,
        )

    @property
    def sample_rows(self) -> int:
        """Number of rows of the sample that decides where to begin."""
        return max(SAMPLE_ROWS, SAMPLE_ROWS_PER_CENTER * len(self.centers))

    def run_on_sample(self, function: Callable[..., Result], *arguments: Any) -> Result | None:
        """Run ``function(problem on some of the rows, ...)`` where the rows are."""
        n = self.rows.n_counted
        if n <= WORTH_A_SAMPLE * self.sample_rows:
            return None
        index = self.rows.numbers(rows_of_sample(n, self.sample_rows, self.seed))
        sample = self.rows.sample(index)
        place = self.rows.place if self.rows.on_device else None
        result: Result | None = self.rows.apply(
            _run_small, sample, self.columns, self._options(), place, function, arguments
        )
        return self.rows.fetch(result)

    # -- where things are ---------------------------------------------------------------

    def _setting(self, w: np.ndarray, subset: Subset) -> Setting:
        columns = self.columns.restricted(subset.columns)
        v = subset.form_weights(w)
        return Setting(self.kernel, self.loss, columns, v, self.n_outputs, self.adjusted)

    @property
    def _n_coefficients(self) -> int:
        """Number of coefficients of one column of scores that are solved for."""
        return len(self.centers) + self.n_unpenalized

    def _own_centers(self, subset: Subset) -> Array:
        """Return the centers' columns for the matrix among centers, where that is computed."""
        return self.rows.place(self.centers.take(subset.columns, axis=1))

    def _shared_centers(self, subset: Subset) -> Array:
        """Return the centers' columns where the blocks are, the last choice remembered."""
        key = subset.columns.tobytes()
        if self._shared is None or self._shared[0] != key:
            columns = self.centers.take(subset.columns, axis=1)
            self._shared = (key, self.rows.share(columns))
        return self._shared[1]

    def _total(self, function: Callable[..., Sums], subset: Subset, *arguments: Any) -> Sums:
        """Return a sum over the blocks, each given the centers' columns of some weights."""
        Z = self._shared_centers(subset)
        return self.rows.total(function, Z, *arguments, width=len(self.centers))

    def _nonzero(self, w: np.ndarray) -> Subset:
        return self.features.select(np.flatnonzero(w))

    @cached_property
    def _ridge(self) -> float:
        """Ridge on the coefficients, from the size of the kernel at the scaled start."""
        p = self.centers.shape[1]
        size = float(np.mean(self.kernel.diag(self.centers, np.full(p, 0.5 / p)) ** 2))
        return RIDGE * usual_curvature(self.loss) * self.total_weight * max(size, 1e-300)

    # -- values -------------------------------------------------------------------------

    @property
    def null_value(self) -> float:
        """Objective of the best constant model, from some of the rows: a scale."""
        if self._null_value is None:
            self._null_value = self.null_of(self.loss)
        return self._null_value

    def null_of(self, loss: Loss) -> float:
        """Return the objective of the best constant model under another loss."""
        sample = self.rows.sample(rows_to_look_at(self.rows, NULL_ROWS))
        model = (loss, self.n_outputs, self.fit_intercept, self.adjusted)
        value = self.rows.apply(null_of, sample, *model, self.total_weight)
        return float(self.rows.fetch(value))

    def refit(self, loss: Loss, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return the coefficients for a loss with a corner, and whether they are accurate.

        The corner is a parabola that becomes narrower and narrower.
        """
        warm = None
        for width in NARROWER:
            narrower = self._variant(loss=loss.smoothed(width))
            state = narrower.solve(w, warm)
            warm = state.warm
        return state.inner.C, state.inner.b, state.inner.residual <= REFIT_ACCURACY

    def solve(
        self, w: np.ndarray, warm: np.ndarray | None = None, tol: float = 1e-9
    ) -> NystromState:
        """Minimize over the coefficients at the weights ``w``, from coefficients nearby."""
        subset = self._nonzero(w)
        setting = self._setting(w, subset)
        # Made where the sums are: an m x m matrix does not travel.
        shared = self._shared_centers(subset)
        M = self.rows.apply(norm_matrix, shared, setting, self._ridge / self.alpha)
        m, constant = len(self.centers), self.loss.constant_curvature
        pivots = enough_pivots(M, self._enough)
        if pivots is not None:
            return self._solve_by_few(w, warm, tol, pivots, M)
        if warm is None or constant:
            warm = np.zeros((m + setting.n_unpenalized, self.n_outputs))
        # A step of the weights that promises little stands out from noise, and its gradient is
        # right, only where the coefficients are far more accurate: as the next step is to this one.
        enough = max(10.0 * tol * tol, 1e-12)
        descent = CoefficientDescent(
            self.rows,
            lambda function, *arguments: self._total(function, subset, *arguments),
            setting,
            M,
            self.alpha,
            self.fit_intercept,
            self.total_weight,
            warm,
        )
        step, end, residual = descent.run(enough)
        c = descent.c
        fit = Fit(c[:m], c[m:], end.loss, end.value, descent.factorizations, residual)
        return NystromState(w, fit, step, setting)

    @cached_property
    def _enough(self) -> float:
        """What few centers may leave of another's kernel with itself, 0 where all are needed.

        As :attr:`ExactProblem._enough`, but what it leaves of the rows is not measured: no bound.
        """
        bound = self.loss.curvature_bound
        if self.convex or self.loss.couples_rows or not 0.0 < bound < np.inf:
            return 0.0
        # The matrix has a ridge on its diagonal.
        return (
            SURE * 2.0 * self.alpha / (bound * self.total_weight) + 2.0 * self._ridge / self.alpha
        )

    def _solve_by_few(
        self, w: np.ndarray, warm: np.ndarray | None, tol: float, pivots: np.ndarray, M: np.ndarray
    ) -> NystromState:
        """Solve with those centers that span the others at these weights."""
        m = len(M)
        few = self._variant(centers=self.centers[pivots], ridge=self._ridge)
        few._enough = 0.0
        if warm is not None:
            # The function is the same, as far as these centers have it.
            function = np.linalg.solve(M[np.ix_(pivots, pivots)], M[pivots] @ warm[:m])
            warm = np.vstack([function, warm[m:]])
        state = few.solve(w, warm, tol)
        C = np.zeros((m, self.n_outputs))
        C[pivots] = state.inner.C
        index = np.append(pivots, np.arange(m, m + len(state.inner.b)))
        inner = replace(state.inner, C=C)
        return NystromState(w, inner, state.step, state.setting, Few(few, state, index))

    def polish(self, state: NystromState, tol: float) -> NystromState:
        """Go on minimizing over the coefficients of a state; its value never rises."""
        polished = self.solve(state.w, state.warm, tol)
        if polished.smooth <= state.smooth:
            return polished
        return replace(
            state, inner=replace(state.inner, factorizations=polished.inner.factorizations)
        )

    def value(
        self, w: np.ndarray, C: np.ndarray, b: np.ndarray, sparsity: float, loss: Loss | None = None
    ) -> float:
        """Return the objective at ``(w, C, b)``, computed from nothing else."""
        subset = self._nonzero(w)
        setting = self._setting(w, subset)
        if loss is not None:
            setting = replace(setting, loss=loss)
        Z = self.centers.take(subset.columns, axis=1)
        M = norm_matrix(Z, setting, self._ridge / self.alpha)
        (total,) = self.rows.fetch(self._total(loss_sums, subset, setting, C, b))
        norm = self.alpha * float(np.vdot(C, M @ C))
        return float(total) + norm + sparsity * float(self.costs @ w)

    # -- derivatives --------------------------------------------------------------------

    def gradient(self, state: NystromState) -> np.ndarray:
        """Return the gradient in all weights, without the curvature."""
        if state.few is not None:
            return state.few.problem.gradient(state.few.state)
        if self.convex:
            return self._primal_gradient(self._primal_slopes(state))
        subset, setting, chain = self._differentiable(state)
        C, b = state.inner.C, state.inner.b
        (in_v,) = self.rows.fetch(self._total(gradient_sums, subset, setting, C, b))
        full = np.zeros(self.n_weights)
        full[subset.active] = chain(to_host(in_v) + self._norm_gradient(state, subset, setting))
        return full

    def potential(self, state: NystromState) -> np.ndarray:
        """Return how fast the objective falls as ``v`` of each feature grows."""
        if self.convex:
            return -self._primal_gradient(self._primal_slopes(state))
        subset = self.features.everything
        setting = self._setting(state.w, subset)
        C, b = state.inner.C, state.inner.b
        (in_v,) = self.rows.fetch(self._total(gradient_sums, subset, setting, C, b))
        in_v = to_host(in_v) + self._norm_gradient(state, subset, setting)
        return np.asarray(-Chain(None, subset.first)(in_v))

    def linearize(self, state: NystromState, penalty: np.ndarray | None = None) -> Linearization:
        """Return gradient and Gauss-Newton factor at ``state``, by one pass over the rows."""
        if state.few is not None:
            return state.few.problem.linearize(state.few.state, penalty)
        if self.convex:
            return self._linearize_primal(state, penalty)
        if state.derived.linearization is not None:
            return state.derived.linearization
        subset, setting, chain = self._differentiable(state)
        C, b = state.inner.C, state.inner.b
        sums = self._total(model_sums, subset, setting, C, b, chain)
        reduced = self.rows.apply(reduced_model, sums, state.step, self._n_coefficients)
        gradient, Q = self.rows.fetch(reduced)
        gradient = gradient + chain(self._norm_gradient(state, subset, setting))
        most = HESSIAN_WEIGHTS if subset.first is None else HESSIAN_GROUPS
        few = 0 < len(subset.active) <= most
        H = None
        if self.absorbing and few and self.kernel.twice_differentiable:
            H = self._exact_hessian(state, subset, setting, chain, sums, gradient)
        model = Linearization(subset.active, gradient, root_of(Q), H)
        state.derived.linearization = model
        return model

    def _differentiable(self, state: NystromState) -> tuple[Subset, Setting, Chain]:
        """Return the features that have a derivative, their setting and their chain rule."""
        if self.absorbing:
            subset = self._nonzero(state.w)
            return subset, state.setting, subset.chain(state.w)
        subset = self.features.everything
        return subset, self._setting(state.w, subset), subset.chain(state.w)

    def _norm_gradient(self, state: NystromState, subset: Subset, setting: Setting) -> np.ndarray:
        """Return the derivative of ``alpha tr(C' K(Z, Z) C)`` in the form's ``v``."""
        own = self._own_centers(subset)
        S, M = self.kernel.evaluate(own, own, like(setting.v, own))
        C = like(state.inner.C, own)
        return np.asarray(self.alpha * to_host(self.kernel.gradient(own, own, S, M, C, C)))

    def _exact_hessian(
        self,
        state: NystromState,
        subset: Subset,
        setting: Setting,
        chain: Chain,
        sums: Sums,
        gradient: np.ndarray,
    ) -> np.ndarray:
        """Return the Hessian, by one more pass over the rows."""
        C, b = state.inner.C, state.inner.b
        seconds = self._total(second_sums, subset, setting, C, b, chain)
        Z = self._own_centers(subset)
        S, M = self.kernel.evaluate(Z, Z, like(setting.v, Z))
        c = like(C, Z)
        own = [
            2.0 * self.alpha * to_host(chain(self.kernel.jacobian(Z, Z, S, M, c[:, q])))
            for q in range(c.shape[1])
        ]
        parts = self.rows.apply(exact_model, sums, seconds, own, state.step, self._n_coefficients)
        in_v, Q = self.rows.fetch(self.rows.apply(first_two, parts))
        state.derived.response = parts
        w = state.w[subset.active]
        if subset.first is None:
            own_v = self.kernel.hessian(Z, Z, S, M, c, c)
        else:
            own_v = self.kernel.grouped_hessian(Z, Z, S, M, c, c, subset.first)
        in_v = in_v + self.alpha * own_v
        H = Q + 4.0 * np.multiply.outer(w, w) * in_v
        H.flat[:: len(H) + 1] += gradient / w
        return np.asarray(0.5 * (H + H.T))

    def predict_warm(
        self, state: NystromState, model: Linearization, step: np.ndarray
    ) -> np.ndarray:
        """Return coefficients to start from after a small ``step`` of the weights."""
        if state.few is not None:
            few, warm = state.few, state.warm.copy()
            warm[few.index] = few.problem.predict_warm(few.state, model, step)
            return warm
        if state.derived.response is None:
            return state.warm
        change = self.rows.fetch(self.rows.apply(respond, state.derived.response, step))
        warm = state.warm.copy()
        warm[: len(change)] -= change
        return warm

    # -- the linear kernel, whose derivatives are those of the primal problem -------------

    def _primal_slopes(self, state: NystromState) -> np.ndarray:
        """Return ``t_j = -x_j' g / (2 alpha)``, the coefficient of a column per unit of weight.

        It does not follow from the coefficients of the centers for weights at zero, whose columns
        the kernel does not see; with it the derivative in a weight is ``-alpha t_j**2`` everywhere.
        """
        columns = self.columns.restricted(self.features.everything.columns)
        C, b = state.inner.C, state.inner.b
        sums = self._total(slope_sums, self._nonzero(state.w), state.setting, C, b, columns)
        (slopes,) = self.rows.fetch(sums)
        return np.asarray(-to_host(slopes) / (2.0 * self.alpha))

    def _primal_gradient(self, T: np.ndarray) -> np.ndarray:
        chain = Chain(None, self.features.everything.first)
        return np.asarray(chain(-self.alpha * (T * T).sum(axis=1)))

    def _linearize_primal(self, state: NystromState, penalty: np.ndarray | None) -> Linearization:
        T = self._primal_slopes(state)
        gradient = self._primal_gradient(T)
        active = np.arange(self.n_weights)
        if penalty is not None:
            active = np.flatnonzero((state.w > 0) | (gradient + penalty < 0))
        subset = self.features.select(active)
        T = T[np.isin(self.features.everything.columns, subset.columns)]
        sums = self._total(
            primal_sums,
            self._nonzero(state.w),
            state.setting,
            state.inner.C,
            state.inner.b,
            self.columns.restricted(subset.columns),
            T,
            Chain(None, subset.first),
        )
        reduced = self.rows.apply(reduced_model, sums, state.step, self._n_coefficients)
        _, Q = self.rows.fetch(reduced)
        return Linearization(active, gradient[active], root_of(Q))


def _run_small(
    sample: Sample,
    columns: Columns,
    options: dict[str, Any],
    place: Callable[[np.ndarray], Array] | None,
    function: Callable[..., Result],
    arguments: tuple[Any, ...],
) -> Result | None:
    """Run a function on the problem of a sample whose rows stand for all rows.

    ``place`` brings the sample back to the device that all rows are on, None where there is none.
    """
    Y, s = sample.y, np.asarray(sample.s, dtype=float)
    if options["loss"].task == "classification" and (np.ptp(Y[s > 0], axis=0) == 0).any():
        return None  # a class is so rare that these rows do not have it
    s = s * (options["total_weight"] / s.sum())
    own: Rows = ArrayRows(sample.X, Y, s) if place is None else DeviceRows(place(sample.X), Y, s)
    if options["loss"].couples_rows:
        own = own.as_one_block()
    own, columns, adjusted = seen_once(own, columns, options["adjusted"])
    problem = NystromProblem(own, columns, **{**options, "adjusted": adjusted})
    return function(problem, *arguments)
