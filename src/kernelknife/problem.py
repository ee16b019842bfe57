"""One problem: data, a kernel and a loss make a function of the feature weights.

With the rows ``X``, weights ``w``, coefficients ``C`` and intercepts ``b``, the scores are
``F = K_w C + 1 b'`` and the objective is

    sum_i s_i loss(y_i, F_i) + alpha tr(C' K_w C) + sparsity sum_j u_j w_j.

:class:`Problem` eliminates the coefficients: ``solve(w)`` minimises over ``C`` and ``b``, and
``linearize`` differentiates that minimum. The penalty on the weights is added by the
solvers, because a path changes it and nothing else.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.optimize import minimize_scalar

from kernelknife.coefficients import InnerFit, solve_columns
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss

__all__ = [
    "Linearization",
    "Problem",
    "State",
    "kkt_residual",
    "null_objective",
    "single_precision",
]

REMEMBER_ROWS = 2000  # most rows for which the model of an earlier state is kept
EXACT_LIMIT = 32  # most weights for which the exact Hessian is computed


@dataclass(frozen=True)
class Columns:
    """The columns of the weights ``active``; ``first`` marks where each weight's begin."""

    active: np.ndarray
    X: np.ndarray
    owner: np.ndarray | None  # index of each column's weight, None: one column per weight
    first: np.ndarray | None


@dataclass(frozen=True)
class State:
    """The machine at the weights ``w``: coefficients minimised, factorisations kept."""

    w: np.ndarray
    columns: Columns  # those with weight
    S: np.ndarray | None  # the kernel's form, where derivatives need it
    K: np.ndarray
    inner: InnerFit

    @property
    def warm(self):
        """What the next solve starts from: the scores."""
        return self.inner.F

    @property
    def smooth(self):
        """Loss plus ``alpha`` times the squared norm, without the weight penalty."""
        return self.inner.value


@dataclass(frozen=True)
class Linearization:
    """How the eliminated objective changes with the weights ``active``.

    ``gradient`` is exact; ``V'V`` is the Gauss-Newton model of the curvature. Where it is
    cheap, ``H`` is the exact Hessian, which may be indefinite.
    """

    active: np.ndarray
    gradient: np.ndarray
    V: np.ndarray
    H: np.ndarray | None = None

    # A path asks for these again under every penalty that it tries at a state.

    @cached_property
    def largest_curvature(self):
        """The largest diagonal entry of ``V'V``."""
        return float(np.einsum("ij,ij->j", self.V, self.V).max(initial=0.0))

    @property
    def positive(self):
        """Whether the exact Hessian is known and positive definite."""
        return self.H is not None and self.gram is self.H

    @cached_property
    def gram(self):
        """The curvature as a positive definite matrix, None where only ``V`` is small.

        ``H`` with its negative eigenvalues turned around, or ``V'V``.
        """
        if self.H is not None:
            return _convexified(self.H)
        return self.V.T @ self.V if len(self.V) >= len(self.active) else None


class Problem:
    """A weighted kernel machine as a function of its weights.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        In single precision the kernel's derivatives may be as well.
    Y : ndarray of shape (n, k)
        Targets; -1 and +1 for classification.
    kernel : Kernel
    loss : Loss
        A smooth loss.
    alpha : float, default=1.0
        Penalty on the squared norm of the machine.
    sample_weight : ndarray of shape (n,), default=None
        Positive; None means ones.
    groups : ndarray of int of shape (p,), default=None
        Index of the weight of each column; None gives each column its own.
    costs : ndarray of shape (p,), default=None
        Factors ``u`` of the weight penalty; None means ones.
    fit_intercept : bool, default=True
    """

    def __init__(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        kernel: Kernel,
        loss: Loss,
        *,
        alpha: float = 1.0,
        sample_weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        costs: np.ndarray | None = None,
        fit_intercept: bool = True,
    ):
        n, p = X.shape
        self.data, self.groups, self.column_costs = X, groups, costs
        self.Y = np.asarray(Y, dtype=float)
        self.n_rows, self.n_columns = n, p
        self.kernel = kernel
        self.loss = loss
        self.alpha = float(alpha)
        self.sample_weight = np.ones(n) if sample_weight is None else sample_weight
        self.fit_intercept = fit_intercept
        costs = np.ones(p) if costs is None else np.asarray(costs, dtype=float)
        precision = np.float32 if X.dtype == np.float32 else float
        if groups is None:
            self.X, self.owner = np.ascontiguousarray(X, dtype=precision), None
            self.n_weights, self.costs = p, costs
        else:
            # Columns of one group stand together, so that sums over a group are slices.
            order = np.argsort(groups, kind="stable")
            self.X, self.owner = np.ascontiguousarray(X[:, order], dtype=precision), groups[order]
            self.n_weights = int(groups.max()) + 1
            self.costs = np.bincount(groups, costs, minlength=self.n_weights)
        # With v = w**2 a weight at zero has no gradient and never returns.
        self.sticky = not kernel.linear_in_weights
        self._everything = self._select(np.arange(self.n_weights))
        self._last = self._everything
        self._linearized: tuple[tuple[State, Linearization], ...] = ()

    @property
    def n_outputs(self):
        """Number of columns of scores."""
        return self.Y.shape[1]

    @property
    def total_weight(self):
        """Sum of the sample weights: the number of rows where all are one."""
        return float(self.sample_weight.sum())

    def forget(self):
        """Let go of remembered matrices; results that keep the problem need none of them."""
        self._last = self._everything
        self._linearized = ()

    def __getstate__(self):
        return {**self.__dict__, "_last": self._everything, "_linearized": ()}

    def with_alpha(self, alpha):
        """Return the same problem with another ``alpha``."""
        return self._variant(alpha=alpha)

    def with_kernel(self, kernel, rows=slice(None), *, single=False):
        """Return the same problem with another kernel, on some of the rows.

        ``single`` is for a kernel that does not notice a shift: the features are centred, and
        in single precision where their range allows it.
        """
        return self._variant(kernel=kernel, rows=rows, single=single)

    def with_weights(self, kept):
        """Return the problem that has only the weights ``kept``, an increasing index."""
        owner = np.arange(self.n_weights) if self.groups is None else self.groups
        return self._variant(columns=np.isin(owner, kept))

    def _variant(
        self, *, kernel=None, alpha=None, rows=slice(None), columns=slice(None), single=False
    ):
        X = self.data[rows][:, columns]
        groups, costs = self.groups, self.column_costs
        if groups is not None:
            groups = np.unique(groups[columns], return_inverse=True)[1]
        return Problem(
            single_precision(X) if single else X,
            self.Y[rows],
            kernel or self.kernel,
            self.loss,
            alpha=alpha or self.alpha,
            sample_weight=self.sample_weight[rows],
            groups=groups,
            costs=None if costs is None else costs[columns],
            fit_intercept=self.fit_intercept,
        )

    # -- columns ----------------------------------------------------------------------

    def _select(self, active):
        if self.owner is None:
            X = self.X if len(active) == self.n_weights else np.ascontiguousarray(self.X[:, active])
            return Columns(active, X, None, None)
        columns = np.isin(self.owner, active)
        owner = np.searchsorted(active, self.owner[columns])
        first = np.searchsorted(owner, np.arange(len(active)))
        return Columns(active, np.ascontiguousarray(self.X[:, columns]), owner, first)

    def _nonzero(self, w):
        """Columns with weight, the last choice remembered."""
        active = w.nonzero()[0]
        if len(active) == self.n_weights:
            return self._everything
        # Read and written once each: starts may share a problem between threads.
        columns = self._last
        if len(active) != len(columns.active) or (active != columns.active).any():
            self._last = columns = self._select(active)
        return columns

    def _differentiable(self, state):
        """Columns with a gradient: those with weight where zero is sticky, else all."""
        return state.columns if self.sticky else self._everything

    def _movable(self, state, penalty):
        """Columns whose weights may move: at zero, only those that the gradient pulls away.

        The others satisfy their optimality conditions as they are; they are looked at again
        at the next state, so nothing is lost.
        """
        if penalty is None or not self.kernel.convex:
            return self._differentiable(state)
        pulled = self.gradient(state) + penalty < 0
        return self._select(np.flatnonzero((state.w > 0) | pulled))

    def _spread(self, w, columns):
        """Return the weight of every column."""
        w = w[columns.active]
        return w if columns.owner is None else w[columns.owner]

    def kernel_matrix(self, w, columns=None):
        """Return what :meth:`kernelknife.kernels.Kernel.evaluate` does at the weights ``w``.

        ``columns`` are those with weight, where they are known.
        """
        columns = self._nonzero(w) if columns is None else columns
        spread = self._spread(w, columns)
        v = spread if self.kernel.linear_in_weights else spread * spread
        return self.kernel.evaluate(columns.X, columns.X, v)

    def _chain(self, in_v, w, columns):
        """Turn derivatives in the form's ``v`` (last axis) into derivatives in ``w``."""
        if not self.kernel.linear_in_weights:
            in_v *= 2.0 * self._spread(w, columns)
        if columns.owner is None:
            return in_v
        if not len(columns.first):
            return in_v[..., :0]
        return np.add.reduceat(in_v, columns.first, axis=-1)

    # -- values -----------------------------------------------------------------------

    @cached_property
    def null_value(self):
        """Objective of the best constant machine: the scale of gradients and penalties."""
        return null_objective(self.loss, self.Y, self.sample_weight, self.fit_intercept)

    def solve(self, w, warm=None, tol: float = 1e-9) -> State:
        """Minimise over the coefficients at the weights ``w``, from scores nearby.

        Raises ``IndefiniteKernelError`` where the kernel matrix is too far from positive
        semi-definite for the minimum to exist.
        """
        columns = self._nonzero(w)
        S, K = self.kernel_matrix(w, columns)
        inner = solve_columns(
            K,
            self.Y,
            self.sample_weight,
            self.loss,
            self.alpha,
            self.fit_intercept,
            scores=warm,
            tol=tol,
        )
        return State(w, columns, S, K, inner)

    def value(self, w, C, b, sparsity, loss=None):
        """Return the objective at ``(w, C, b)``, computed from nothing else.

        ``loss`` replaces the problem's own, for a machine refitted with another one.
        """
        loss = loss or self.loss
        _, K = self.kernel_matrix(w)
        KC = K @ C
        total = (self.sample_weight @ loss.value(self.Y, KC + b)).sum()
        return float(total + self.alpha * np.vdot(C, KC) + sparsity * (self.costs @ w))

    # -- derivatives ------------------------------------------------------------------

    def gradient(self, state: State):
        """Return the gradient of the eliminated objective, by one product of K's size.

        By the envelope theorem it is ``-alpha tr(C' (dK/dw_j) C)``, for every loss.
        """
        columns = self._differentiable(state)
        C = state.inner.C
        in_v = self.kernel.gradient(columns.X, columns.X, state.S, state.K, C, C)
        full = np.zeros(self.n_weights)
        full[columns.active] = -self.alpha * self._chain(in_v, state.w, columns)
        return full

    def jacobian(self, state: State, column, rows=slice(None), columns=None):
        """Return the derivative of ``(K_w c)[rows]`` in the weights that have one.

        Only the rows of ``c`` that are not zero enter: the support vectors. ``columns`` limits
        the weights.
        """
        columns = self._differentiable(state) if columns is None else columns
        c = state.inner.C[:, column]
        used: np.ndarray | slice = slice(None)
        if np.count_nonzero(c) < len(c):
            used = c.nonzero()[0]
        X, Z = columns.X[rows], columns.X[used]
        S, K = _part(state.S, rows, used), _part(state.K, rows, used)
        in_v = self.kernel.jacobian(X, Z, S, K, c[used])
        return self._chain(in_v, state.w, columns)

    def linearize(self, state: State, penalty=None) -> Linearization:
        """Return gradient and Gauss-Newton factor ``V`` at ``state``.

        With the ``penalty`` of each weight, those that it holds at zero are left out.

        Per score column, ``V'V = 2 alpha A' (K + 2 alpha H^-1)^-1 A`` with
        ``A_j = (dK/dw_j) c``, from the factorisation that the coefficient step has made.
        """
        if self.sticky:
            # A path asks again where it stopped, and where it was before a trial that failed.
            for known, model in self._linearized:
                if known is state:
                    return model
        columns = self._movable(state, penalty)
        active = columns.active
        gradient, blocks = np.zeros(len(active)), []
        for q, factor in enumerate(state.inner.factors):
            c = state.inner.C[:, q]
            curved = factor.rows
            if len(curved) == len(c):
                A = self.jacobian(state, q, columns=columns)
                gradient -= self.alpha * (c @ A)
            else:
                rows = c.nonzero()[0]
                if not np.array_equal(rows, curved):
                    rows = np.union1d(curved, rows)
                A = self.jacobian(state, q, rows, columns)
                gradient -= self.alpha * (c[rows] @ A)
                if len(rows) > len(curved):
                    A = A[np.isin(rows, curved)]
            blocks.append(factor.whiten(A))
        V = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        V *= np.sqrt(2.0 * self.alpha)
        exact = self._affordable(len(active))
        H = self._exact_hessian(state, columns, gradient, V) if exact else None
        model = Linearization(active, gradient, V, H)
        if self.sticky:
            # Two where the matrices that a state holds are small.
            before = self._linearized[:1] if self.n_rows <= REMEMBER_ROWS else ()
            self._linearized = ((state, model), *before)
        return model

    def _affordable(self, n_active):
        """Whether the exact Hessian, at ``(n q)**2`` steps, costs about as much as a solve.

        The limit must not depend on the number of rows, or a row of weight 2 would not be
        the same as two rows.
        """
        few = 0 < n_active <= EXACT_LIMIT
        return self.sticky and self.owner is None and few and self.kernel.twice_differentiable

    def _exact_hessian(self, state, columns, gradient, V):
        """Add to ``V'V`` what Gauss-Newton leaves out, ``-alpha tr(C' (d2K / dw2) C)``."""
        w = state.w[columns.active]
        C = state.inner.C
        X, S, K = columns.X, state.S, state.K
        used = C.any(axis=1).nonzero()[0]
        if len(used) < len(C):
            X, C = X[used], C[used]
            S, K = _part(S, used, used), _part(K, used, used)
        H = self.kernel.hessian(X, X, S, K, C, C)
        H *= -4.0 * self.alpha * np.multiply.outer(w, w)
        H += V.T @ V
        H.flat[:: len(H) + 1] += gradient / w
        return H

    def predict_warm(self, state: State, model: Linearization, step):
        """Return the scores that the coefficients would give after a small ``step``.

        Where the loss is curved its stationarity ``s loss'(F) = -2 alpha c`` ties the change
        of a score to that of its coefficient; elsewhere the score is left as it is.
        """
        F = state.inner.F.copy()
        change = model.V @ step / np.sqrt(2.0 * self.alpha)
        first = 0
        for q, factor in enumerate(state.inner.factors):
            rows = factor.rows
            dc = -factor.unwhiten(change[first : first + len(rows)])
            first += len(rows)
            h = self.sample_weight * self.loss.curvature(self.Y[:, q], F[:, q])
            h = np.maximum(h[rows], 1e-3 * self.loss.curvature_bound * self.sample_weight[rows])
            F[rows, q] -= 2.0 * self.alpha * dc / h
        return F

    def optimality(self, w, active, gradient):
        """Return the KKT residual ``max_j |w_j - clip(w_j - gradient_j / scale, 0, 1)|``.

        The scale is the objective of a constant machine, so the residual has no units.
        ``gradient`` is that of the whole objective in the weights ``active``.
        """
        return kkt_residual(w[active], gradient, self.null_value)


def _part(matrix, rows, columns):
    """Return some rows and columns of a matrix, None of None."""
    if matrix is None or (isinstance(rows, slice) and isinstance(columns, slice)):
        return matrix
    # One after the other, which is three times as fast as both at once.
    return matrix[rows][:, columns]


def _convexified(H):
    """Return H with its negative eigenvalues turned around, and none close to zero.

    Along negative curvature the step then goes downhill as far as it would uphill.
    """
    shifted = H.copy()
    shifted.flat[:: len(H) + 1] -= 1e-6 * np.trace(H)  # the trace bounds the largest eigenvalue
    if dpotrf(shifted, lower=1, overwrite_a=1)[1] == 0:
        return H
    values, vectors = np.linalg.eigh(H)
    largest = np.abs(values).max()
    return (vectors * np.maximum(np.abs(values), 1e-3 * largest)) @ vectors.T


def kkt_residual(w, gradient, scale):
    """Return how far a scaled projected gradient step would move a weight."""
    if not len(w):
        return 0.0
    # A step down ends at 0 at the latest, one up at 1.
    moved = np.maximum(np.minimum(gradient / max(scale, 1e-300), w), w - 1.0)
    return float(max(moved.max(), -moved.min()))


def single_precision(X):
    """Return the columns centred, in single precision unless that would overflow."""
    X = X - X.mean(axis=0)
    return X.astype(np.float32) if np.abs(X).max(initial=0.0) < 1e15 else X


def null_objective(loss, Y, s, fit_intercept):
    """Return the loss of the best constant scores."""

    def total(y, b):
        return float(s @ loss.value(y, np.full(len(y), b)))

    if not fit_intercept:
        return sum(total(y, 0.0) for y in Y.T)
    span = 30.0 * max(1.0, np.abs(Y).max())
    return sum(
        minimize_scalar(lambda b, y=y: total(y, b), bounds=(-span, span), method="bounded").fun
        for y in Y.T
    )
