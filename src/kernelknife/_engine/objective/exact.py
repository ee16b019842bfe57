"""The exact problem: a coefficient for every row, and a kernel matrix of all rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernelknife._engine.objective.base import (
    Linearization,
    Problem,
    State,
    rows_of_sample,
    single_precision,
)
from kernelknife._engine.objective.coefficients import (
    ExactFit,
    Quadratic,
    best_constant,
    null_objective,
    solve_columns,
)
from kernelknife._engine.objective.corner import INACCURATE_GAP, refit_corner, relative_gap
from kernelknife._engine.objective.evaluated import Evaluated, FullKernel, Index, LowRankKernel
from kernelknife._engine.objective.factors import KernelMatrix, ProductMatrix, is_thin
from kernelknife._engine.objective.features import Chain, Features, Subset
from kernelknife.kernels import Kernel
from kernelknife.kernels.forms import DotForm
from kernelknife.losses import Loss, Risk

__all__ = ["ExactProblem", "ExactState"]

# Most weights for which the exact Hessian is computed. It costs (n q)**2 steps for q weights,
# about as much as a solve. The limit must not depend on the number of rows, or a row of weight 2
# would not be the same as two rows.
HESSIAN_WEIGHTS = 32
# The same for weights of several columns each, whose Hessian is made of a matrix per weight.
HESSIAN_GROUPS = 12
# Largest share by which a kernel matrix of low rank may raise the objective; as a rule the share is
# smaller by a factor of the number of rows.
SURE = 1e-6
# Least curvature, as a share of the loss's bound, that is assumed to predict how a score moves.
LEAST_CURVATURE = 1e-3


@dataclass(frozen=True)
class ExactState(State):
    """The model at the weights ``w``, with what its kernel matrix is made of."""

    inner: ExactFit
    subset: Subset  # the features with weight
    X: np.ndarray  # their columns
    kernel: Evaluated

    @property
    def warm(self) -> np.ndarray:
        """The scores: they keep their margins when the kernel changes its scale."""
        return self.inner.F


class ExactProblem(Problem):
    """A weighted kernel model on all rows, as a function of its weights.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        In single precision the kernel's derivatives may be as well.
    Y : ndarray of shape (n, k)
        Targets, -1 and +1 for classification; after them offsets, where there are some.
    kernel : Kernel
    loss : Loss
        A smooth loss.
    alpha : float, default=1.0
        Penalty on the squared norm of the model.
    sample_weight : ndarray of shape (n,), default=None
        Positive; None means ones.
    features : Features, default=None
        None gives every column a weight of its own and all the same cost.
    fit_intercept : bool, default=True
    adjusted : ndarray of shape (n, q), default=None
        Columns with an unpenalized coefficient of their own.
    n_outputs : int, default=None
        Columns of scores; None is that of ``Y``.
    """

    exact = True

    def __init__(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        kernel: Kernel,
        loss: Loss,
        *,
        alpha: float = 1.0,
        sample_weight: np.ndarray | None = None,
        features: Features | None = None,
        fit_intercept: bool = True,
        adjusted: np.ndarray | None = None,
        n_outputs: int | None = None,
    ):
        n, p = X.shape
        precision = np.float32 if X.dtype == np.float32 else float
        self.centers = np.ascontiguousarray(X, dtype=precision)
        self.Y = np.asarray(Y, dtype=float)
        self.n_rows, self.n_outputs = n, n_outputs or self.Y.shape[1]
        self.kernel = kernel
        self.loss = loss
        self.alpha = float(alpha)
        self.sample_weight = np.ones(n) if sample_weight is None else sample_weight
        self.total_weight = float(self.sample_weight.sum())
        self.fit_intercept = fit_intercept
        self.adjusted = np.zeros((n, 0)) if adjusted is None else adjusted
        self.U = np.hstack([self.adjusted, np.ones((n, 1))])
        self.n_unpenalized = self.adjusted.shape[1] + fit_intercept
        self.features = features or Features(p, squared=not kernel.linear_in_weights)
        everything = self.features.everything
        self._everything = everything, self._take(everything)
        # The columns of the last choice of features: never more numbers than X has.
        self._last = self._everything

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": self._everything}

    def as_exact(self) -> "ExactProblem":
        """Return the problem itself."""
        return self

    def with_alpha(self, alpha: float) -> "ExactProblem":
        """Return the same problem with another ``alpha``."""
        return self._variant(alpha=alpha)

    def with_targets(
        self, Y: np.ndarray, sample_weight: np.ndarray, rows: np.ndarray
    ) -> "ExactProblem":
        """Return the same problem with other targets and weights of its rows."""
        return self._variant(Y=Y[rows], sample_weight=sample_weight[rows])

    def restricted(self, kept: np.ndarray) -> "ExactProblem":
        """Return the problem that has only the weights ``kept``, an increasing index."""
        features, columns = self.features.restricted(kept)
        return self._variant(X=self.centers.take(columns, axis=1), features=features)

    def at_rows(self, rows: np.ndarray) -> "ExactProblem":
        """Return the problem on some of its rows, given by their numbers."""
        return self._variant(X=self.centers[rows], rows=rows)

    def subsample(
        self,
        most_rows: int,
        seed: int | None = None,
        *,
        kernel: Kernel | None = None,
        linear: bool | None = None,
        single: bool = False,
    ) -> "ExactProblem":
        """Return the problem on a random subset of the rows, perhaps with another kernel."""
        rows = rows_of_sample(self.n_rows, most_rows, seed)
        X = self.centers[rows]
        kernel = kernel or self.kernel
        return self._variant(
            X=single_precision(X) if single else X,
            rows=rows,
            kernel=kernel,
            features=self.features.for_kernel(kernel, linear),
        )

    def _variant(
        self,
        *,
        X: np.ndarray | None = None,
        Y: np.ndarray | None = None,
        rows: Index = slice(None),
        kernel: Kernel | None = None,
        features: Features | None = None,
        alpha: float | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> "ExactProblem":
        return ExactProblem(
            self.centers if X is None else X,
            (self.Y if Y is None else Y)[rows],
            kernel or self.kernel,
            self.loss,
            alpha=self.alpha if alpha is None else alpha,
            sample_weight=(self.sample_weight if sample_weight is None else sample_weight)[rows],
            features=features or self.features,
            fit_intercept=self.fit_intercept,
            adjusted=self.adjusted[rows],
            n_outputs=self.n_outputs,
        )

    # -- columns ----------------------------------------------------------------------

    def _take(self, subset: Subset) -> np.ndarray:
        """Return the columns of some weights, those of one weight side by side."""
        if subset.owner is None and len(subset.active) == self.n_weights:
            return self.centers
        return self.centers.take(subset.columns, axis=1)

    def _nonzero(self, w: np.ndarray) -> tuple[Subset, np.ndarray]:
        """Return the features with weight and their columns, the last choice remembered."""
        active = w.nonzero()[0]
        if len(active) == self.n_weights:
            return self._everything
        # Read and written once each: starts may share a problem between threads.
        last = self._last
        if len(active) != len(last[0].active) or (active != last[0].active).any():
            subset = self.features.select(active)
            self._last = last = (subset, self._take(subset))
        return last

    def _differentiable(self, state: ExactState) -> tuple[Subset, np.ndarray]:
        """Return the features with a gradient: those with weight if zero is absorbing, else all."""
        return (state.subset, state.X) if self.absorbing else self._everything

    def _movable(self, state: ExactState, penalty: np.ndarray | None) -> tuple[Subset, np.ndarray]:
        """Return the features whose weights may move: at zero, those that the gradient pulls away.

        The others satisfy their optimality conditions as they are; they are checked again at
        the next state, so nothing is lost.
        """
        if penalty is None or not self.convex:
            return self._differentiable(state)
        pulled = self.gradient(state) + penalty < 0
        subset = self.features.select(np.flatnonzero((state.w > 0) | pulled))
        return subset, self._take(subset)

    def kernel_matrix(self, w: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of all rows at the weights ``w``."""
        subset, X = self._nonzero(w)
        K: np.ndarray = self.kernel(X, X, subset.form_weights(w))
        return K

    # -- values -----------------------------------------------------------------------

    @cached_property
    def risk(self) -> Risk:
        """The loss on the rows."""
        return self.loss.bind(self.Y, self.sample_weight, self.n_outputs)

    @property
    def unexplained(self) -> np.ndarray:
        """What a model without a kernel leaves of the targets, shape (n, k).

        The targets themselves, unless offsets, adjusted columns or other rows explain a part.
        """
        n_known = self.Y.shape[1] - self.n_outputs + self.adjusted.shape[1]
        if not n_known and not self.loss.couples_rows:
            return self.Y
        levels = [best_constant(self.risk.column(q), self._free) for q in range(self.n_outputs)]
        return np.asarray(-self.risk.slope(self._free @ np.transpose(levels)))

    @cached_property
    def null_value(self) -> float:
        """Objective of the best constant model: the scale of gradients and penalties."""
        return null_objective(self.risk, self.n_outputs, self._free, self.loss.constant_curvature)

    def null_of(self, loss: Loss) -> float:
        """Return the objective of the best constant model under another loss."""
        risk = loss.bind(self.Y, self.sample_weight, self.n_outputs)
        return null_objective(risk, self.n_outputs, self._free, loss.constant_curvature)

    @property
    def _free(self) -> np.ndarray:
        """The unpenalized columns that take part."""
        return self.U if self.fit_intercept else self.U[:, :-1]

    def refit(self, loss: Loss, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return the coefficients for a loss with a corner, and whether they are accurate."""
        k = self.n_outputs
        Y = self.Y[:, :k] - self.Y[:, k:] if self.Y.shape[1] > k else self.Y
        data = self.kernel_matrix(w), loss, Y, self.sample_weight, self.alpha, self._free
        C, b = refit_corner(*data)
        accurate = relative_gap(*data, C, b) <= INACCURATE_GAP
        return C, b if self.fit_intercept else np.vstack([b, np.zeros((1, k))]), accurate

    def solve(self, w: np.ndarray, warm: np.ndarray | None = None, tol: float = 1e-9) -> ExactState:
        """Minimize over the coefficients at the weights ``w``, from scores nearby."""
        subset, X = self._nonzero(w)
        v = subset.form_weights(w)
        product = self.convex and self.kernel.identity and self.kernel.form == "dot"
        evaluated: Evaluated | None = None
        if product and is_thin(*X.shape):
            evaluated = FullKernel(self.kernel, X, None, None, ProductMatrix(DotForm.root(X, v)))
        elif self._enough > 0.0 and X.dtype == float:
            n_curved = self._count_curved(warm)
            evaluated = LowRankKernel.find(self.kernel, X, v, self._enough, n_curved)
        evaluated = evaluated or FullKernel.of(self.kernel, X, v)
        inner = self._fit(evaluated.matrix, tol, scores=warm)
        return ExactState(w, inner, subset, X, evaluated)

    def polish(self, state: ExactState, tol: float) -> ExactState:
        """Go on minimizing over the coefficients of a state; its value never rises."""
        inner = self._fit(state.kernel.matrix, tol, start=state.inner)
        if inner.value > state.inner.value:
            inner = replace(state.inner, factorizations=inner.factorizations)
        return replace(state, inner=inner)

    def _fit(
        self,
        K: KernelMatrix,
        tol: float,
        *,
        scores: np.ndarray | None = None,
        start: ExactFit | None = None,
    ) -> ExactFit:
        if start is not None:
            start = replace(start, b=start.b[: self.n_unpenalized])
        inner = solve_columns(
            K,
            self.risk,
            self.n_outputs,
            self.alpha,
            self._free,
            scores=scores,
            start=start,
            constants=self._constants,
            tol=tol,
            quadratic=self._quadratic,
        )
        if self.fit_intercept:
            return inner
        return replace(inner, b=np.vstack([inner.b, np.zeros((1, self.n_outputs))]))

    def _count_curved(self, scores: np.ndarray | None) -> int:
        """Return how many rows a solve from some scores factorizes: the loss is curved there."""
        if scores is None or self.loss.constant_curvature:
            return self.n_rows
        return int(np.count_nonzero(self.risk.curvature(scores), axis=0).max())

    @cached_property
    def _enough(self) -> float:
        """Trace of the kernel matrix that a low rank may leave out, 0 where there is none.

        Derivatives with pivots are right in the columns with weight alone, and a bound of the
        objective needs one of the curvature.
        """
        bound = float(self.risk.bound)
        if not self.absorbing or self.kernel.indefinite or not 0.0 < bound < np.inf:
            return 0.0
        if self.risk.coupled:
            return 0.0
        return SURE * 2.0 * self.alpha / (bound * float(self.sample_weight.max()))

    @cached_property
    def _constants(self) -> np.ndarray | None:
        """The model without a kernel that solves begin with, None for zeros.

        Far from its minimum a loss without a bound is so steep that steps are useless.
        """
        if np.isfinite(self.risk.bound):
            return None
        outputs = range(self.n_outputs)
        return np.transpose([best_constant(self.risk.column(q), self._free) for q in outputs])

    @cached_property
    def _quadratic(self) -> Quadratic | None:
        """What every solve shares where the loss is quadratic."""
        if not self.loss.constant_curvature:
            return None
        return Quadratic.of(self.risk, self.n_outputs, self.alpha)

    def value(
        self, w: np.ndarray, C: np.ndarray, b: np.ndarray, sparsity: float, loss: Loss | None = None
    ) -> float:
        """Return the objective at ``(w, C, b)``, computed from nothing else."""
        risk = self.risk
        if loss is not None:
            risk = loss.bind(self.Y, self.sample_weight, self.n_outputs)
        KC = self.kernel_matrix(w) @ C
        total = risk.value(KC + self.U @ b)
        return float(total + self.alpha * np.vdot(C, KC) + sparsity * (self.costs @ w))

    # -- derivatives ------------------------------------------------------------------

    def gradient(self, state: ExactState) -> np.ndarray:
        """Return the gradient of the eliminated objective, by one product of K's size.

        By the envelope theorem it is ``-alpha tr(C' (dK/dw_j) C)``, for every loss.
        """
        subset, X = self._differentiable(state)
        C = state.inner.C
        in_v = state.kernel.gradient(C, X)
        full = np.zeros(self.n_weights)
        full[subset.active] = -self.alpha * subset.chain(state.w)(in_v)
        return full

    def potential(self, state: ExactState) -> np.ndarray:
        """Return ``alpha tr(C' (dK/dv_j) C)``, the sum over the columns of each feature."""
        subset, X = self._everything
        # Columns without weight do not change the kernel matrix.
        in_v = state.kernel.gradient(state.inner.C, X)
        return np.asarray(self.alpha * Chain(None, subset.first)(in_v))

    def jacobian(
        self,
        state: ExactState,
        output: int,
        rows: Index = slice(None),
        chosen: tuple[Subset, np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return the derivative of ``(K_w c)[rows]`` in the weights that have one.

        ``chosen`` limits the weights.
        """
        subset, columns = self._differentiable(state) if chosen is None else chosen
        c = state.inner.C[:, output]
        in_v = state.kernel.jacobian(c, rows, columns)
        J: np.ndarray = subset.chain(state.w)(in_v)
        return J

    def linearize(self, state: ExactState, penalty: np.ndarray | None = None) -> Linearization:
        """Return gradient and Gauss-Newton factor ``V`` at ``state``.

        Per score column, ``V'V = 2 alpha A' (K + 2 alpha H^-1)^-1 A`` with
        ``A_j = (dK/dw_j) c``, from the factorization that the coefficient step has made.
        """
        absorbing, known = self.absorbing, state.derived.linearization
        if absorbing and known is not None:
            # A path asks again where it stopped, and where it was before a trial that failed.
            return known
        chosen = self._movable(state, penalty)
        active = chosen[0].active
        gradient, blocks = np.zeros(len(active)), []
        for q, factor in enumerate(state.inner.factors):
            c = state.inner.C[:, q]
            curved = factor.rows
            if len(curved) == len(c):
                A = self.jacobian(state, q, chosen=chosen)
                gradient -= self.alpha * (c @ A)
            else:
                rows = c.nonzero()[0]
                if not np.array_equal(rows, curved):
                    rows = np.union1d(curved, rows)
                A = self.jacobian(state, q, rows, chosen)
                gradient -= self.alpha * (c[rows] @ A)
                if len(rows) > len(curved):
                    A = A[np.isin(rows, curved)]
            blocks.append(factor.whiten(A))
        V = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        V *= np.sqrt(2.0 * self.alpha)
        most = HESSIAN_WEIGHTS if self.features.owner is None else HESSIAN_GROUPS
        few = 0 < len(active) <= most
        exact = absorbing and few and self.kernel.twice_differentiable
        H = self._exact_hessian(state, gradient, V) if exact else None
        model = Linearization(active, gradient, V, H)
        if absorbing:
            state.derived.linearization = model
        return model

    def _exact_hessian(self, state: ExactState, gradient: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Add to ``V'V`` what Gauss-Newton leaves out, ``-alpha tr(C' (d2K / dw2) C)``."""
        w = state.w[state.subset.active]
        H = state.kernel.hessian(state.inner.C, state.subset.first)
        H *= -4.0 * self.alpha * np.multiply.outer(w, w)
        H += V.T @ V
        H.flat[:: len(H) + 1] += gradient / w
        return H

    def predict_warm(self, state: ExactState, model: Linearization, step: np.ndarray) -> np.ndarray:
        """Return the scores that the coefficients would give after a small ``step``.

        Where the loss is curved its stationarity ``s loss'(F) = -2 alpha c`` ties the change
        of a score to that of its coefficient; elsewhere the score is left as it is.
        """
        F = state.inner.F.copy()
        change = model.V @ step / np.sqrt(2.0 * self.alpha)
        curvature = self.risk.curvature(F)
        least = LEAST_CURVATURE * self.risk.reference(curvature) * self.sample_weight
        first = 0
        for q, factor in enumerate(state.inner.factors):
            rows = factor.rows
            dc = -factor.unwhiten(change[first : first + len(rows)])
            first += len(rows)
            h = np.maximum(curvature[rows, q], least[rows])
            F[rows, q] -= 2.0 * self.alpha * dc / h
        return F
