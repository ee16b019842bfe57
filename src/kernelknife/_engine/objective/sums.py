"""What a block of rows contributes to the problem with centers, and the algebra on the sums.

The functions of blocks return tuples of arrays that are added up over the blocks. They run in this
process, on a device, or on the workers of a cluster. The functions of sums are small and run where
the sums are. ``G`` and ``H`` are the first and second derivatives of the loss at the scores, times
the sample weights, and ``U`` are the unpenalized columns, that of the intercept last.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpstrf

from kernelknife._engine.data import Block, Sample
from kernelknife._engine.data.columns import Columns, as_taken, take_both
from kernelknife._engine.data.rows import Rows, Sums
from kernelknife._engine.objective.coefficients import null_objective
from kernelknife._engine.objective.factors import IndefiniteKernelError
from kernelknife._engine.objective.features import Chain
from kernelknife._utils.arrays import (
    Array,
    Factored,
    LinAlgError,
    factorize_lower,
    gram,
    like,
    mirrored,
    namespace,
    solve_factored,
    to_host,
)
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss, Risk

__all__ = [
    "Setting",
    "Step",
    "StepSummary",
    "enough_pivots",
    "exact_model",
    "first_two",
    "gradient_sums",
    "line_sums",
    "loss_sums",
    "model_sums",
    "newton_step",
    "newton_sums",
    "norm_matrix",
    "null_of",
    "primal_sums",
    "reduced_model",
    "respond",
    "root_of",
    "second_sums",
    "seen_once",
    "slope_sums",
    "spanning_centers",
    "usual_curvature",
]


# Rows whose curvature has changed, as a share of those that are curved, up to which a Gram matrix
# is updated: a row costs the same in an update and in the matrix itself.
MOST_CHANGED = 0.7
WORTH_FEWER = 0.75  # share of the centers up to which others that span them are taken instead
JITTER = 1e-14  # share of the trace that rounding may have taken from a matrix's eigenvalues
# Curvature of the intercept, as a share of what a curved loss has, below which it is none.
FLAT_CORNER = 1e-8


@dataclass(frozen=True, eq=False)
class Setting:
    """What a block needs to make its kernel matrix at some weights."""

    kernel: Kernel
    loss: Loss
    columns: Columns  # those with weight
    v: np.ndarray  # what the kernel's form takes, one number per column
    n_outputs: int
    adjusted: Columns | None = None  # columns with an unpenalized coefficient

    @property
    def n_unpenalized(self) -> int:
        """Number of unpenalized columns, that of the intercept included."""
        return 1 + (0 if self.adjusted is None else self.adjusted.n_seen)

    def evaluate(self, block: Block, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Return the block's standardized columns, the centers, the form and the kernel matrix."""
        # Several passes ask for the matrices of one setting, and only for those of the last one.
        known: dict[object, Sums] = {}
        if block.memory is not None:
            if self not in block.memory:
                block.memory.clear()
            known = block.memory.setdefault(self, known)
        if block.number not in known:
            X = self.columns.of_block(block)
            Z = like(Z, X)
            known[block.number] = (X, Z, *self.kernel.evaluate(X, Z, like(self.v, X)))
        X, Z, S, K = known[block.number]
        return X, Z, S, K

    def scores(
        self, block: Block, Z: Array, C: np.ndarray, b: np.ndarray
    ) -> tuple[Array, Array, Array, Array, Array, Risk, Array]:
        """Return what :meth:`evaluate` does, the unpenalized columns, the loss, the scores."""
        X, Z, S, K = self.evaluate(block, Z)
        y, s = block.y, block.s
        if isinstance(K, np.ndarray):
            y, s = np.asarray(y, dtype=float), np.asarray(s, dtype=float)
        U = namespace(K).ones_like(K[:, :1])
        if self.adjusted is not None:
            U = namespace(K).concat([self.adjusted.of_block(block), U], axis=1)
        risk = self.loss.bind(y, s, self.n_outputs)
        return X, Z, S, K, U, risk, K @ like(C, K) + U @ like(b, K)


def newton_sums(
    block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray, assumed: float = 0.0
) -> Sums:
    """Return loss, ``[K U]' g`` and ``[K U]' H [K U]`` of a block, per column of scores.

    ``assumed`` is the least curvature of a row, as a share of the loss's bound.
    """
    _, _, _, K, U, risk, F = setting.scores(block, Z, C, b)
    xp, loss = namespace(K), setting.loss
    total = risk.value(F)
    G, H = risk.gradient(F), risk.curvature(F)
    if risk.coupled and not assumed:
        both = xp.concat([K, U], axis=1)
        coupled = both.T @ risk.hessian_product(F, both)
        return total, both.T @ G, coupled[None, ...]
    if assumed:
        H = xp.maximum(H, assumed * risk.reference(H) * risk.s[:, None] * xp.ones_like(H))
    slopes = xp.concat([K.T @ G, U.T @ G], axis=0)
    curvatures = []
    for q in range(1 if loss.constant_curvature else H.shape[1]):
        h = H[:, q]
        inner = _weighted_gram(setting, block, q, K, h)
        weighted = U * h[:, None]
        edge = weighted.T @ K
        bottom = xp.concat([edge, weighted.T @ U], axis=1)
        right = xp.zeros_like(edge.T)
        curvatures.append(xp.concat([xp.concat([inner, right], axis=1), bottom], axis=0))
    return total, slopes, xp.stack(curvatures)


def _weighted_gram(setting: Setting, block: Block, q: int, K: Array, h: Array) -> Array:
    """Return the lower triangle of ``K' diag(h) K`` of a block.

    The steps of one solve share the kernel matrix, and between two of them few rows of a hinge
    change sides: only these are added to what the last step had, or taken away.
    """
    xp = namespace(K)
    known = block.memory.get(setting) if block.memory is not None else None
    here = isinstance(K, np.ndarray) and known is not None
    before = known.get((block.number, q)) if here and known is not None else None
    inner = None
    if before is not None:
        change = h - before[0]
        more, less = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
        if len(more) + len(less) <= MOST_CHANGED * np.count_nonzero(h):
            inner = before[1]
            for rows, sign in ((more, 1.0), (less, -1.0)):
                part = K[rows] * np.sqrt(np.abs(change[rows]))[:, None]
                if len(rows):
                    inner = dsyrk(sign, part.T, beta=1.0, c=inner, lower=1)
    if inner is None:
        A = K
        least, most = float(xp.min(h)), float(xp.max(h))
        if least == 0.0 < most:
            # A hinge is flat beyond the margin: those rows have no part in the curvature.
            rows = xp.nonzero(h)[0]
            A, h_of_rows = xp.take(K, rows, axis=0), xp.take(h, rows, axis=0)
            least = float(xp.min(h_of_rows))
        else:
            h_of_rows = h
        inner = most * gram(A) if least == most else gram(A * xp.sqrt(h_of_rows)[:, None])
    if here and known is not None:
        known[block.number, q] = (h, inner)
    return inner


def model_sums(
    block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray, chain: Chain
) -> Sums:
    """Return ``g' A``, ``A' H A`` and ``[K U]' H A`` of a block, per column of scores."""
    X, Z, S, K, U, risk, F = setting.scores(block, Z, C, b)
    xp, C = namespace(K), like(C, K)
    G, H = risk.gradient(F), risk.curvature(F)
    gradient, squares, crosses = 0.0, [], []
    for q in range(F.shape[1]):
        A = chain(setting.kernel.jacobian(X, Z, S, K, C[:, q]))
        gradient = gradient + G[:, q] @ A
        weighted = risk.hessian_product(F, A) if risk.coupled else A * H[:, q][:, None]
        squares.append(A.T @ weighted)
        crosses.append(xp.concat([K.T @ weighted, U.T @ weighted], axis=0))
    return gradient, xp.stack(squares), xp.stack(crosses)


def slope_sums(
    block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray, columns: Columns
) -> Sums:
    """Return ``X' G`` of a block, over columns that need not have a weight."""
    *_, risk, F = setting.scores(block, Z, C, b)
    return (columns.of_block(block).T @ risk.gradient(F),)


def primal_sums(
    block: Block,
    Z: Array,
    setting: Setting,
    C: np.ndarray,
    b: np.ndarray,
    columns: Columns,
    T: np.ndarray,
    chain: Chain,
) -> Sums:
    """Return :func:`model_sums` of a linear kernel, where ``A_j = x_j t_j``."""
    _, _, _, K, U, risk, F = setting.scores(block, Z, C, b)
    xp = namespace(K)
    H = risk.curvature(F)
    X, T = columns.of_block(block), like(T, K)
    squares, crosses = [], []
    for q in range(H.shape[1]):
        A = chain(X * T[:, q])
        weighted = risk.hessian_product(F, A) if risk.coupled else A * H[:, q][:, None]
        squares.append(A.T @ weighted)
        crosses.append(xp.concat([K.T @ weighted, U.T @ weighted], axis=0))
    return 0.0 * xp.sum(squares[0], axis=0), xp.stack(squares), xp.stack(crosses)


def second_sums(
    block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray, chain: Chain
) -> Sums:
    """Return what the exact Hessian adds: second derivatives of K, and ``(dK/dw_j)' g``."""
    X, Z, S, K, _, risk, F = setting.scores(block, Z, C, b)
    xp, C = namespace(K), like(C, K)
    G = risk.gradient(F)
    kernel = setting.kernel
    St = None if S is None else S.T
    turned = [chain(kernel.jacobian(Z, X, St, K.T, G[:, q])) for q in range(G.shape[1])]
    if chain.first is None:
        return kernel.hessian(X, Z, S, K, G, C), xp.stack(turned)
    return kernel.grouped_hessian(X, Z, S, K, G, C, chain.first), xp.stack(turned)


def gradient_sums(block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray) -> Sums:
    """Return ``sum_i g_i (dK/dv_j c)_i`` of a block."""
    X, Z, S, K, _, risk, F = setting.scores(block, Z, C, b)
    return (setting.kernel.gradient(X, Z, S, K, risk.gradient(F), like(C, K)),)


def loss_sums(block: Block, Z: Array, setting: Setting, C: np.ndarray, b: np.ndarray) -> Sums:
    """Return the loss of a block."""
    *_, risk, F = setting.scores(block, Z, C, b)
    return (risk.value(F),)


def line_sums(
    block: Block,
    Z: Array,
    setting: Setting,
    c: np.ndarray,
    step: np.ndarray,
    lengths: tuple[float, ...],
) -> Sums:
    """Return the slopes of a block's loss along a step of the coefficients, at some lengths."""
    m = Z.shape[0]
    *_, K, U, risk, F = setting.scores(block, Z, c[:m], c[m:])
    xp = namespace(K)
    change = K @ like(step[:m], K) + U @ like(step[m:], K)
    slopes = [xp.sum(change * risk.gradient(F + t * change)) for t in lengths]
    return (xp.stack(slopes),)


@dataclass(frozen=True)
class StepSummary:
    """The parts of a :class:`Step` that travel to where decisions are made."""

    value: float  # loss and norm at the coefficients before the step, after it for a quadratic
    loss: float
    decrement: float  # how much the step promises, twice
    norm_slope: float  # of the norm along the step, at its beginning
    norm_square: float  # the norm of the step
    after: np.ndarray  # coefficients after the step, those of the unpenalized columns last


@dataclass(frozen=True)
class Step:
    """A Newton step of the coefficients, kept where the sums are."""

    summary: StepSummary
    factors: list[Factored]

    def factor(self, q: int) -> Factored:
        """Return the factorization of a column of scores; constant curvature has one for all."""
        return self.factors[min(q, len(self.factors) - 1)]

    def get_summary(self) -> StepSummary:
        """Return the summary; a function to run where the step is."""
        return self.summary


def norm_matrix(own: Array, setting: Setting, ridge: float) -> Array:
    """Return the matrix of the model's norm: ``K(Z, Z)`` and a ridge."""
    M = setting.kernel(own, own, like(setting.v, own))
    return M + ridge * namespace(M).eye(M.shape[0], dtype=M.dtype, **_device(M))


def _with_curved_border(curvature: Array, m: int, loss_scale: float) -> Array:
    """Return the curvature with some for unpenalized columns where no row of the loss is curved.

    Their step is then a rough estimate, which the descent shortens if necessary.
    """
    xp = namespace(curvature)
    flat = [
        j
        for j in range(m, curvature.shape[0])
        if float(curvature[j, j]) <= FLAT_CORNER * loss_scale
    ]
    if not flat:
        return curvature
    corner = xp.zeros_like(curvature)
    for j in flat:
        corner[j, j] = loss_scale
    return curvature + corner


def newton_step(
    sums: Sums,
    M: Array,
    alpha: float,
    coefficients: np.ndarray,
    fit_intercept: bool,
    constant: bool,
    loss_scale: float,
) -> Step:
    """Solve for the step of the coefficients from the sums at them."""
    total, slopes, curvatures = sums
    xp, m, k = namespace(slopes), M.shape[0], slopes.shape[1]
    c = like(coefficients, slopes)
    Mc = M @ c[:m, :]
    size = c.shape[0] if fit_intercept else c.shape[0] - 1
    edge = xp.zeros_like(c[m:, :])
    slope = (slopes + 2.0 * alpha * xp.concat([Mc, edge], axis=0))[:size, :]
    factors: list[Factored] = []
    steps = []
    for q in range(k):
        if q < curvatures.shape[0]:
            curvature = _with_curved_border(curvatures[q, :size, :size], m, loss_scale)
            factors.append(factorize(curvature, M, alpha))
        steps.append(solve_factored(factors[-1], -slope[:, q : q + 1]))
    step = xp.concat(steps, axis=1)
    decrement = -_dot(slope, step)
    if not fit_intercept:
        step = xp.concat([step, edge[:1, :]], axis=0)
    after, loss = c + step, float(total)
    value = loss + alpha * _dot(c[:m, :], Mc)
    if constant:
        # The loss is a quadratic: its value after the step is known without another pass.
        curvature = mirrored(curvatures[0, ...])
        loss += _dot(slopes, step) + 0.5 * _dot(step, curvature @ step)
        value = loss + alpha * _dot(after[:m, :], M @ after[:m, :])
    norm_slope = 2.0 * alpha * _dot(Mc, step[:m, :])
    norm_square = alpha * _dot(step[:m, :], M @ step[:m, :])
    summary = StepSummary(value, loss, decrement, norm_slope, norm_square, to_host(after))
    return Step(summary, factors)


def _dot(a: Array, b: Array) -> float:
    return float(namespace(a).sum(a * b))


def factorize(curvature: Array, M: Array, alpha: float) -> Factored:
    """Factorize ``[K U]' H [K U] + 2 alpha M``, given by its lower triangle."""
    xp, m, size = namespace(curvature), M.shape[0], curvature.shape[0]
    A = curvature[:m, :m] + 2.0 * alpha * M
    if size > m:
        A = xp.concat([A, curvature[m:, :m]], axis=0)
        A = xp.concat([A, curvature[:, m:]], axis=1)
    try:
        return factorize_lower(A, 0.0)
    except LinAlgError:
        pass
    try:
        # Try again with what rounding may have taken from a semi-definite matrix.
        trace = float(xp.sum(xp.linalg.diagonal(A)))
        return factorize_lower(A, JITTER * trace)
    except LinAlgError:
        raise IndefiniteKernelError(
            "The kernel matrix of the centers plus its regularization is not positive definite at "
            "these weights: raise alpha, or lower the kernel's gamma."
        ) from None


def reduced_model(sums: Sums, step: Step, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and Gauss-Newton matrix with ``size`` coefficients eliminated."""
    gradient, squares, crosses = sums
    Q = np.zeros(squares.shape[1:])
    for q in range(squares.shape[0]):
        B = crosses[q, :size, :]
        Q += to_host(squares[q, ...] - B.T @ solve_factored(step.factor(q), B))
    return to_host(gradient), Q


def exact_model(
    sums: Sums, seconds: Sums, own: list[np.ndarray], step: Step, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Hessian's part that is not diagonal, and how the ``size`` coefficients respond.

    ``own`` holds ``2 alpha (dM/dw_j) c`` per column of scores, m x p.
    """
    _, squares, crosses = sums
    in_v, turned = seconds
    m = len(own[0])
    Q, responses = np.zeros(squares.shape[1:]), []
    for q in range(squares.shape[0]):
        B = np.array(to_host(crosses[q, :size, :]))
        B[:m] += to_host(turned[q, ...]) + own[q]
        response = to_host(solve_factored(step.factor(q), like(B, crosses)))
        Q += to_host(squares[q, ...]) - B.T @ response
        responses.append(response)
    return to_host(in_v), Q, np.stack(responses, axis=2)


def spanning_centers(n_columns: int, rows: Rows) -> int:
    """Return how many centers a linear model needs so that no direction is lost.

    With fewer, its columns are tied to each other by the choice of the centers, and the problem
    is no longer convex in the weights.
    """
    return min(n_columns, rows.shape[0])


def enough_pivots(M: Array, enough: float) -> np.ndarray | None:
    """Return the centers that span the others, an increasing index.

    ``enough`` is what the kernel of every other center with itself may have left. None where that
    takes most of them, or where the matrix ``M`` among the centers is not in this process.
    """
    if not enough > 0.0 or not isinstance(M, np.ndarray):
        return None
    _, order, rank, _ = dpstrf(M, enough, lower=1)
    return np.sort(order[:rank] - 1) if 0 < rank <= WORTH_FEWER * len(M) else None


def null_of(
    sample: Sample,
    loss: Loss,
    n_outputs: int,
    fit_intercept: bool,
    adjusted: Columns | None,
    total_weight: float,
) -> float:
    """Return the objective of the model without a kernel on rows that stand for all rows."""
    s = np.asarray(sample.s, dtype=float)
    s = s * (total_weight / s.sum()) if s.any() else np.full(len(s), total_weight / len(s))
    U = np.ones((len(s), int(fit_intercept)))
    if adjusted is not None:
        U = np.hstack([adjusted.take(np.asarray(sample.X, dtype=float)), U])
    risk = loss.bind(np.asarray(sample.y, dtype=float), s, n_outputs)
    return null_objective(risk, n_outputs, U, loss.constant_curvature)


def root_of(Q: np.ndarray) -> np.ndarray:
    """Return V with ``V'V`` the positive part of a symmetric matrix."""
    values, vectors = np.linalg.eigh(0.5 * (Q + Q.T))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)


def first_two(results: Sums) -> Sums:
    """Return the first two of some results."""
    return results[:2]


def respond(results: Sums, step: np.ndarray) -> np.ndarray:
    """Return how the coefficients respond to a step of the weights."""
    return np.asarray(np.einsum("mpk,p->mk", results[2], step))


def seen_once(
    rows: Rows, columns: Columns, adjusted: Columns | None
) -> tuple[Rows, Columns, Columns | None]:
    """Return rows that are what the kernel sees, where they can be kept.

    A step would otherwise spend a third of its time on the basis of an ANOVA kernel. The columns
    that are adjusted for stand behind those of the kernel.
    """
    width = columns.n_seen + (0 if adjusted is None else adjusted.n_seen)
    take = partial(take_both, columns, adjusted)
    seen = None if columns.ready else rows.transformed(take, width)
    return (rows, columns, adjusted) if seen is None else (seen, *as_taken(columns, adjusted))


def usual_curvature(loss: Loss) -> float:
    """Return the curvature that a ridge on the coefficients is small beside."""
    bound = loss.curvature_bound
    return bound if 0.0 < bound < np.inf else 1.0


def _device(x: Array) -> dict[str, Any]:
    """Return the device of an array as a keyword, none for NumPy."""
    return {} if isinstance(x, np.ndarray) else {"device": x.device}
