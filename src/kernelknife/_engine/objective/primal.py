"""The problem of sums: a linear or additive model with squared loss, without its rows.

Where the kernel is an inner product of columns ``Phi`` with weights ``v`` that enter linearly, the
scores are ``Phi beta + U b`` and the penalty on the norm is ``alpha sum_c beta_c**2 / v_c``. With
squared loss everything that a path, its penalties and its alphas need is then in the products of
the columns ``[Phi U Y]``, a matrix that is summed over the rows once. The rows of a test fold are
subtracted from it, and no number of rows makes a point of a path slower.

A model of it is one with centers: with the unit vectors of the columns for centers, the
coefficients are ``t = beta / v``.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelknife._engine.data import Block
from kernelknife._engine.data.columns import Columns
from kernelknife._engine.data.rows import Rows, Sums
from kernelknife._engine.objective.base import (
    Fit,
    Linearization,
    Problem,
    State,
    block_sums,
    rows_of_sample,
    single_precision,
)
from kernelknife._engine.objective.exact import ExactProblem
from kernelknife._engine.objective.features import Features
from kernelknife._utils.arrays import like, namespace, to_host
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss, SquaredLoss

__all__ = ["PrimalProblem", "PrimalState", "PrimalSums", "has_primal", "measure_sums"]

ROUNDING = 1e-15  # share of a sum of squares that a sum over its terms cannot be trusted with


def has_primal(kernel: Kernel, loss: Loss) -> bool:
    """Whether a model is determined by sums of products of its columns."""
    squared = isinstance(loss, SquaredLoss) and type(loss).value is SquaredLoss.value
    return squared and kernel.convex and kernel.identity and kernel.form == "dot"


@dataclass(frozen=True)
class PrimalSums:
    """Products of columns, unpenalized columns and targets, summed over rows.

    Attributes
    ----------
    products : ndarray of shape (d + r + k, d + r + k)
        ``[Phi U Y]' S [Phi U Y]``.
    n_columns, n_outputs : int
        The numbers d and k.
    total_weight : float
    n_rows : int
        Rows of positive weight.
    """

    products: np.ndarray
    n_columns: int
    n_outputs: int
    total_weight: float
    n_rows: int

    def __add__(self, other: "PrimalSums") -> "PrimalSums":
        return self._joined(other, 1)

    def __sub__(self, other: "PrimalSums") -> "PrimalSums":
        """Return the sums without some of the rows."""
        return self._joined(other, -1)

    def _joined(self, other: "PrimalSums", sign: int) -> "PrimalSums":
        return replace(
            self,
            products=self.products + sign * other.products,
            total_weight=self.total_weight + sign * other.total_weight,
            n_rows=self.n_rows + sign * other.n_rows,
        )

    def restricted(self, columns: np.ndarray) -> "PrimalSums":
        """Return the sums of some columns."""
        kept = np.concatenate([columns, np.arange(self.n_columns, len(self.products))])
        return replace(self, products=self.products[np.ix_(kept, kept)], n_columns=len(columns))


def measure_sums(
    rows: Rows, columns: Columns, adjusted: Columns | None, n_outputs: int, fit_intercept: bool
) -> PrimalSums:
    """Return the sums over rows of any kind, their targets encoded, by one pass."""
    width = columns.n_seen + (0 if adjusted is None else adjusted.n_seen) + n_outputs + 1
    products, weight, n_rows = rows.fetch(
        rows.total(_block_products, columns, adjusted, n_outputs, fit_intercept, width=width)
    )
    return PrimalSums(to_host(products), columns.n_seen, n_outputs, float(weight), int(n_rows))


def _block_products(
    block: Block, columns: Columns, adjusted: Columns | None, n_outputs: int, fit_intercept: bool
) -> Sums:
    """Return the products of a block, its weight and its number of rows of positive weight."""
    seen, s = columns.of_block(block), to_host(block.s).astype(float)
    xp, parts = namespace(seen), [seen]
    if adjusted is not None:
        parts.append(adjusted.of_block(block))
    if fit_intercept:
        parts.append(xp.ones_like(seen[:, :1]))
    Y = to_host(block.y).astype(float)
    if Y.shape[1] > n_outputs:
        # An offset is a part of the scores that is known: it is taken off the targets.
        Y = Y[:, :n_outputs] - Y[:, n_outputs:]
    A = xp.concat([*parts, like(Y, seen)], axis=1)
    if not (s == 1.0).all():
        A = A * like(np.sqrt(s), A)[:, None]
    return A.T @ A, s.sum(), np.count_nonzero(s)


@dataclass(frozen=True)
class PrimalState(State):
    """The model at the weights ``w``, with what its coefficients were solved with."""

    columns: np.ndarray  # those with weight
    root: np.ndarray  # the square roots of their v
    lower: np.ndarray  # Cholesky's factor of V^1/2 G V^1/2 + alpha I
    T: np.ndarray  # of all columns: how well each is correlated with what the model leaves

    @property
    def warm(self) -> np.ndarray:
        """Nothing that a solve needs: it is one linear system."""
        return self.inner.b


class PrimalProblem(Problem):
    """A linear or additive model with squared loss as a function of its weights, from sums.

    Parameters
    ----------
    sums : PrimalSums
        Of the columns that the kernel sees and the encoded targets.
    kernel : Kernel
        An inner product of its columns, linear in the weights.
    loss : Loss
        The squared loss.
    alpha : float, default=1.0
    features : Features, default=None
        None gives every column a weight of its own and all the same cost.
    fit_intercept : bool, default=True
        Whether the sums have a column of ones.
    origin : (Rows, Columns, Columns or None), default=None
        Rows, columns and columns adjusted for that were summed, for what needs some of the rows.
    """

    exact = False
    of_rows = False

    def __init__(
        self,
        sums: PrimalSums,
        kernel: Kernel,
        loss: Loss,
        *,
        alpha: float = 1.0,
        features: Features | None = None,
        fit_intercept: bool = True,
        origin: tuple[Rows, Columns, Columns | None] | None = None,
    ):
        if not has_primal(kernel, loss):
            raise ValueError(
                f"{kernel!r} with {loss!r} is not determined by sums of products of columns."
            )
        self.sums, self.kernel, self.loss, self.alpha = sums, kernel, loss, float(alpha)
        self.features = features or Features(sums.n_columns, squared=False)
        self.fit_intercept, self.n_outputs = fit_intercept, sums.n_outputs
        self.n_rows, self.total_weight = sums.n_rows, sums.total_weight
        self.n_unpenalized = len(sums.products) - sums.n_columns - sums.n_outputs
        self.origin = origin

    # -- other problems on the same data ------------------------------------------------

    def with_alpha(self, alpha: float) -> "PrimalProblem":
        """Return the same problem with another ``alpha``."""
        other = PrimalProblem(
            self.sums,
            self.kernel,
            self.loss,
            alpha=alpha,
            features=self.features,
            fit_intercept=self.fit_intercept,
            origin=self.origin,
        )
        vars(other)["_eliminated"] = self._eliminated  # which is of the sums alone
        return other

    def centered(self) -> "PrimalProblem":
        """Return the problem with its unpenalized columns taken out of all others."""
        G, g, squares, _ = self._eliminated
        sums = replace(self.sums, products=np.block([[G, g], [g.T, np.diag(squares)]]))
        return PrimalProblem(
            sums,
            self.kernel,
            self.loss,
            alpha=self.alpha,
            features=self.features,
            fit_intercept=False,
        )

    def restricted(self, kept: np.ndarray) -> "PrimalProblem":
        """Return the problem that has only the weights ``kept``, an increasing index."""
        features, columns = self.features.restricted(kept)
        return PrimalProblem(
            self.sums.restricted(columns),
            self.kernel,
            self.loss,
            alpha=self.alpha,
            features=features,
            fit_intercept=self.fit_intercept,
            origin=self.origin
            and (self.origin[0], self.origin[1].restricted(columns), self.origin[2]),
        )

    def subsample(
        self,
        most_rows: int,
        seed: int | None = None,
        *,
        kernel: Kernel | None = None,
        linear: bool | None = None,
        single: bool = False,
    ) -> ExactProblem:
        """Return the exact problem on some of the rows, where these are still at hand."""
        if self.origin is None:
            raise ValueError("A problem of sums over rows has no rows to take some of.")
        rows, columns, adjusted = self.origin
        index = rows.numbers(rows_of_sample(rows.n_counted, most_rows, seed))
        sample = rows.fetch(rows.sample(index))
        counted = sample.counted()
        X = columns.take(sample.X[counted])
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
            adjusted=None if adjusted is None else adjusted.take(sample.X[counted]),
            n_outputs=self.n_outputs,
        )

    # -- what follows from the sums -----------------------------------------------------

    @property
    def centers(self) -> np.ndarray:  # type: ignore[override]
        """The unit vectors of the columns: a model has a coefficient for every column."""
        return np.eye(self.n_columns)

    @cached_property
    def _eliminated(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """``Phi'Phi``, ``Phi'Y`` and ``y'y`` with unpenalized columns taken out, and how.

        What takes them out are the coefficients of ``[Phi Y]`` on ``U``.
        """
        P, d, k = self.sums.products, self.n_columns, self.n_outputs
        free, rest = slice(d, len(P) - k), np.r_[0:d, len(P) - k : len(P)]
        onto = P[free][:, rest]
        if len(onto):
            onto = np.linalg.lstsq(P[free, free], onto, rcond=None)[0]
        left = P[np.ix_(rest, rest)] - P[rest][:, free] @ onto
        squares = np.maximum(left[d:, d:].diagonal(), ROUNDING * P.diagonal()[len(P) - k :])
        return left[:d, :d], left[:d, d:], squares, onto

    def _intercepts(self, beta: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the coefficients of the unpenalized columns, given those of some others."""
        onto = self._eliminated[3]
        b = onto[:, self.n_columns :] - onto[:, columns] @ beta
        none = np.zeros((0 if self.fit_intercept else 1, self.n_outputs))
        return np.concatenate([b, none])

    @property
    def null_value(self) -> float:
        """Objective of the best constant model: the scale of gradients and penalties."""
        return float(self._eliminated[2].sum())

    # -- values -------------------------------------------------------------------------

    def solve(
        self, w: np.ndarray, warm: np.ndarray | None = None, tol: float = 1e-9
    ) -> PrimalState:
        """Minimize over the coefficients at the weights ``w``: one linear system."""
        G, g, squares, _ = self._eliminated
        subset = self.features.select(np.flatnonzero(w))
        columns, root = subset.columns, np.sqrt(subset.form_weights(w))
        inner = G[np.ix_(columns, columns)]
        M = inner * root * root[:, None]
        M.flat[:: len(M) + 1] += self.alpha
        lower = dpotrf(M, lower=1, overwrite_a=1)[0] if len(M) else M
        target = root[:, None] * g[columns]
        theta = dpotrs(lower, target, lower=1)[0] if len(M) else target
        beta = root[:, None] * theta
        left = squares - np.einsum("cq,cq->q", beta, 2.0 * g[columns] - inner @ beta)
        loss = float(np.maximum(left, 0.0).sum())
        T = (g - G[:, columns] @ beta) / self.alpha
        # The same for columns with weight, with fewer roundings.
        T[columns] = theta / root[:, None]
        C = np.zeros_like(T)
        C[columns] = T[columns]
        b = self._intercepts(beta, columns)
        value = loss + self.alpha * float(np.vdot(theta, theta))
        return PrimalState(w, Fit(C, b, loss, value, 1, 0.0), columns, root, lower, T)

    def null_of(self, loss: Loss) -> float:
        """Refuse another loss, which sums of products know nothing of."""
        raise ValueError(f"A problem of sums has the squared loss and no other, got {loss!r}.")

    def refit(self, loss: Loss, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Refuse a loss with a corner, which is never determined by sums of products."""
        raise ValueError(f"A problem of sums has the squared loss and no other, got {loss!r}.")

    def polish(self, state: PrimalState, tol: float) -> PrimalState:
        """Return the state: its coefficients are at their minimum."""
        return replace(state, inner=replace(state.inner, factorizations=0))

    def value(
        self, w: np.ndarray, C: np.ndarray, b: np.ndarray, sparsity: float, loss: Loss | None = None
    ) -> float:
        """Return the objective at ``(w, C, b)``, computed from nothing else."""
        beta = self._form_weights(w)[:, None] * C
        norm = self.alpha * float(np.vdot(beta, C))
        return squared_error(self.sums, beta, b) + norm + sparsity * float(self.costs @ w)

    def _form_weights(self, w: np.ndarray) -> np.ndarray:
        everything = self.features.everything
        v = np.empty(self.n_columns)
        v[everything.columns] = everything.form_weights(w)
        return v

    # -- derivatives ----------------------------------------------------------------------

    def potential(self, state: PrimalState) -> np.ndarray:
        """Return ``alpha t_c**2``, the sum over the columns of each feature."""
        return np.asarray(self.alpha * self._summed((state.T**2).sum(axis=1)))

    def gradient(self, state: PrimalState) -> np.ndarray:
        """Return the gradient of the eliminated objective, of which the weights are a factor."""
        return -self.potential(state)

    def _summed(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the columns of every weight."""
        owner = self.features.owner
        return values if owner is None else np.bincount(owner, values, self.n_weights)

    def linearize(self, state: PrimalState, penalty: np.ndarray | None = None) -> Linearization:
        """Return gradient and curvature at ``state`` in the weights that may move.

        With ``A_j = Phi_j t_j`` the curvature is ``2 A' (I + Phi V Phi' / alpha)^-1 A``, which is
        ``2 T' (G - G V^1/2 M^-1 V^1/2 G) T``.
        """
        gradient = self.gradient(state)
        movable = np.ones(len(gradient), dtype=bool)
        if penalty is not None:
            movable = (state.w > 0) | (gradient + penalty < 0)
        subset = self.features.select(np.flatnonzero(movable))
        G, columns = self._eliminated[0], subset.columns
        W = G[np.ix_(columns, columns)]
        if len(state.columns):
            across = state.root[:, None] * G[np.ix_(state.columns, columns)]
            across = dtrsm(1.0, state.lower, across, lower=1)
            W -= across.T @ across
        Q = np.zeros((len(subset.active),) * 2)
        for t in state.T[columns].T:
            if len(t):
                Q += block_sums(W * t * t[:, None], subset.first, subset.first)
        return Linearization(subset.active, gradient[subset.active], _root(2.0 * Q))

    def predict_warm(
        self, state: PrimalState, model: Linearization, step: np.ndarray
    ) -> np.ndarray:
        """Return what a solve may start from, which it does not need."""
        return state.warm

    # -- columns that are alike -----------------------------------------------------------

    def _compare(self, active: np.ndarray) -> np.ndarray:
        subset, G = self.features.select(active), self._eliminated[0]
        cross = G[np.ix_(subset.columns, subset.columns)] ** 2
        cross = block_sums(cross, subset.first, subset.first)
        size = np.sqrt(np.maximum(cross.diagonal(), 1e-300))
        return np.asarray(cross / np.multiply.outer(size, size))

    def similarity_to_all(self, active: np.ndarray) -> np.ndarray:
        """Return how similar the columns of some weights are to those of every weight."""
        return np.asarray(self._compare(np.arange(self.n_weights))[active])


def squared_error(sums: PrimalSums, beta: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of squared errors of a model over the rows of some sums.

    Parameters
    ----------
    sums : PrimalSums
    beta : ndarray of shape (d, k)
        Coefficients of the columns.
    b : ndarray of shape (r, k)
        Those of the unpenalized columns, the intercept last.
    """
    P, k = sums.products, sums.n_outputs
    beta = np.concatenate([beta, b[: len(P) - sums.n_columns - k], -np.eye(k)])
    return float(max(np.einsum("cq,cq->", beta, P @ beta), 0.0))


def _root(Q: np.ndarray) -> np.ndarray:
    """Return V with ``V'V = Q``, a positive semi-definite matrix up to rounding."""
    upper, info = dpotrf(Q, lower=0, clean=1)
    if info == 0:
        return np.asarray(upper)
    values, vectors = np.linalg.eigh(Q)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
