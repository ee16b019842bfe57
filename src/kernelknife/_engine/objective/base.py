"""One problem: data, a kernel and a loss make a function of the feature weights.

With rows ``X``, centers ``Z`` (all rows in the exact method), weights ``w``, coefficients ``C``,
columns ``U`` that nothing penalizes, and their coefficients ``b``, the scores are
``F = K_w(X, Z) C + U b`` and the objective is

    sum_i s_i loss(y_i, F_i) + alpha tr(C' K_w(Z, Z) C) + sparsity sum_j u_j w_j.

The last of the columns ``U`` is that of the intercept, ones; before it come the columns that a user
adjusts for. Where a row has an offset, a known part of its score, the loss knows it.

:class:`Problem` eliminates the coefficients: ``solve(w)`` minimizes over ``C`` and ``b``, and
``linearize`` differentiates that minimum. The penalty on the weights is added by the solvers,
because a path changes it and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf

from kernelknife._engine.objective.features import Features, Subset
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss

if TYPE_CHECKING:
    from kernelknife._engine.objective.exact import ExactProblem

__all__ = [
    "Derived",
    "Fit",
    "Linearization",
    "OwnState",
    "Problem",
    "State",
    "block_sums",
    "rows_of_sample",
    "single_precision",
]

Result = TypeVar("Result")
# A state that the problem itself has made: every kind of problem has a kind of state of its own.
OwnState: TypeAlias = Any

# Squares of larger values, and sums of them, would overflow in single precision.
SINGLE_RANGE = 1e15
# Most weights that are all compared with each other once, instead of some of them at a time.
MOST_COMPARED = 300


@dataclass(frozen=True)
class Fit:
    """Coefficients and intercepts at some weights.

    Attributes
    ----------
    C : ndarray of shape (m, k)
    b : ndarray of shape (r, k)
        Of the unpenalized columns, the intercept last; without an intercept its row is zero.
    loss : float
    value : float
        The loss plus ``alpha`` times the squared norm.
    factorizations : int
        Factorizations that it took.
    residual : float
        How far the coefficients are from their minimum; it has no units.
    """

    C: np.ndarray
    b: np.ndarray
    loss: float
    value: float
    factorizations: int
    residual: float


@dataclass
class Derived:
    """What has been computed from a state and may be asked for again."""

    linearization: "Linearization | None" = None
    response: Any = None  # of the coefficients to the weights; stays where the sums are


@dataclass(frozen=True)
class State(ABC):
    """The model at the weights ``w``, its coefficients minimized and factorizations kept."""

    w: np.ndarray
    inner: Fit
    derived: Derived = field(default_factory=Derived, init=False, repr=False, compare=False)

    @property
    def smooth(self) -> float:
        """Loss plus ``alpha`` times the squared norm, without the weight penalty."""
        return self.inner.value

    @property
    @abstractmethod
    def warm(self) -> np.ndarray:
        """What a solve at other weights starts from."""


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

    # These are kept because a path needs them under every penalty that it tries at a state.

    @cached_property
    def largest_curvature(self) -> float:
        """The largest diagonal entry of ``V'V``."""
        return float(np.einsum("ij,ij->j", self.V, self.V).max(initial=0.0))

    @property
    def positive(self) -> bool:
        """Whether the exact Hessian is known and positive definite."""
        return self.H is not None and self.gram is self.H

    @cached_property
    def gram(self) -> np.ndarray | None:
        """The curvature as a positive definite matrix, None where only ``V`` is small.

        It is ``H`` with the absolute values of its eigenvalues, or ``V'V``.
        """
        if self.H is not None:
            return _convexified(self.H)
        return self.V.T @ self.V if len(self.V) >= len(self.active) else None


class Problem(ABC):
    """A weighted kernel model as a function of its weights.

    Attributes
    ----------
    kernel : Kernel
    loss : Loss
        A smooth loss.
    alpha : float
        Penalty on the squared norm of the model.
    features : Features
    fit_intercept : bool
    n_unpenalized : int
        Number of columns ``U`` that take part: the intercept and the columns adjusted for.
    n_rows, n_outputs : int
    total_weight : float
        Sum of the sample weights: the number of rows where all are one.
    centers : ndarray of shape (m, n_columns)
        The rows that carry coefficients.
    exact : bool
        Whether these are all rows of positive weight.
    of_rows : bool
        Whether they are rows at all: the coefficients of a problem of sums belong to columns.
    """

    kernel: Kernel
    loss: Loss
    alpha: float
    features: Features
    fit_intercept: bool
    n_unpenalized: int
    n_rows: int
    n_outputs: int
    total_weight: float
    centers: np.ndarray
    exact: bool
    of_rows = True

    # -- what follows from the attributes ----------------------------------------------

    @property
    def n_weights(self) -> int:
        """Number of weights: of features, or of groups of columns."""
        return self.features.n_weights

    @property
    def n_columns(self) -> int:
        """Number of columns that the kernel sees."""
        return self.features.n_columns

    @property
    def costs(self) -> np.ndarray:
        """Factors of the weight penalty."""
        return self.features.costs

    @property
    def absorbing(self) -> bool:
        """Whether a weight at zero has no gradient and never returns, as with ``v = w**2``."""
        return self.features.squared

    @property
    def convex(self) -> bool:
        """Whether the eliminated objective is convex in the weights."""
        return self.kernel.convex

    @property
    def lowest(self) -> np.ndarray:
        """The least value of every weight."""
        return np.broadcast_to(self.features.lowest, (self.n_weights,))

    def above_least(self, w: np.ndarray) -> np.ndarray:
        """Return weights of which none is below its least value."""
        return w if self.features.kept is None else np.maximum(w, self.lowest)

    def optimality(self, w: np.ndarray, active: np.ndarray, gradient: np.ndarray) -> float:
        """Return the KKT residual ``max_j |w_j - clip(w_j - gradient_j / scale, 0, 1)|``.

        The least weight of a column that is always kept stands in the place of 0. The scale is the
        objective of a constant model, so the residual has no units. ``gradient`` is that of the
        whole objective in the weights ``active``.
        """
        if not len(active):
            return 0.0
        w, kept = w[active], self.features.kept
        room = w if kept is None else w - self.lowest[active]
        # A step down ends at 0 at the latest, one up at 1.
        step = gradient / max(self.null_value, 1e-300)
        moved = np.maximum(np.minimum(step, room), w - 1.0)
        return float(np.abs(moved, out=moved).max())

    def similarity(self, active: np.ndarray) -> np.ndarray:
        """Return how similar the columns of some weights are, 1 for copies and mirror images.

        It is the squared correlation of two columns, and for groups of columns the alignment of
        their Gram matrices.
        """
        if self.n_weights > MOST_COMPARED:
            return self._compare(active)
        some: np.ndarray = self._similarity_of_all[active[:, None], active]
        return some

    @cached_property
    def _similarity_of_all(self) -> np.ndarray:
        """The similarity of all weights: every point of a path asks for some of it."""
        return self._compare(np.arange(self.n_weights))

    def _compare(self, active: np.ndarray) -> np.ndarray:
        Z, first = self._centered_columns(self.features.select(active))
        cross = block_sums((Z.T @ Z) ** 2, first, first)
        size = np.sqrt(np.maximum(cross.diagonal(), 1e-300))
        return np.asarray(cross / np.multiply.outer(size, size))

    def similarity_to_all(self, active: np.ndarray) -> np.ndarray:
        """Return how similar the columns of some weights are to those of every weight.

        The measure is that of :meth:`similarity`, the shape (n_active, n_weights).
        """
        Z, first = self._centered_columns(self.features.everything)
        some, first_of_some = self._centered_columns(self.features.select(active))
        cross = block_sums((some.T @ Z) ** 2, first_of_some, first)
        if first is None:
            size = np.einsum("ij,ij->j", Z, Z)
        else:
            ends = [*first[1:], Z.shape[1]]
            size = np.array(
                [np.linalg.norm(Z[:, a:z].T @ Z[:, a:z]) for a, z in zip(first, ends, strict=True)]
            )
        size = np.maximum(size, 1e-150)
        return np.asarray(cross / np.multiply.outer(size[active], size))

    def _centered_columns(self, subset: Subset) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the columns of some weights, centered, and where each weight's columns begin."""
        Z = np.asarray(self.centers[:, subset.columns], dtype=float)
        return Z - Z.mean(axis=0), subset.first

    # -- values and derivatives ---------------------------------------------------------

    @property
    @abstractmethod
    def null_value(self) -> float:
        """Objective of the best constant model: the scale of gradients and penalties."""

    @abstractmethod
    def null_of(self, loss: Loss) -> float:
        """Return the objective of the best constant model under another loss."""

    @abstractmethod
    def solve(self, w: np.ndarray, warm: np.ndarray | None = None, tol: float = 1e-9) -> State:
        """Minimize over the coefficients at the weights ``w``.

        ``warm`` is that of a state nearby. Raises ``IndefiniteKernelError`` where the kernel
        matrix is too far from positive semi-definite for the minimum to exist.
        """

    @abstractmethod
    def polish(self, state: OwnState, tol: float) -> State:
        """Go on minimizing over the coefficients of a state; its value never rises.

        The fit of the returned state counts the factorizations of this call alone.
        """

    @abstractmethod
    def value(
        self, w: np.ndarray, C: np.ndarray, b: np.ndarray, sparsity: float, loss: Loss | None = None
    ) -> float:
        """Return the objective at ``(w, C, b)``, computed from nothing else.

        ``loss`` replaces the problem's own, for a model refitted with another one.
        """

    @abstractmethod
    def refit(self, loss: Loss, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return the coefficients for a loss with a corner, and whether they are accurate."""

    @abstractmethod
    def gradient(self, state: OwnState) -> np.ndarray:
        """Return the gradient of the eliminated objective in all weights."""

    @abstractmethod
    def potential(self, state: OwnState) -> np.ndarray:
        """Return how fast the objective falls as ``v`` of each feature grows, from zero too.

        For a feature that the model does not have it measures how much it would help.
        """

    @abstractmethod
    def linearize(self, state: OwnState, penalty: np.ndarray | None = None) -> Linearization:
        """Return gradient and curvature at ``state`` in the weights that may move.

        With the ``penalty`` of each weight, those that it holds at zero are left out where the
        problem is convex.
        """

    @abstractmethod
    def predict_warm(self, state: OwnState, model: Linearization, step: np.ndarray) -> np.ndarray:
        """Return what a solve after a small ``step`` of the weights should start from."""

    # -- other problems on the same data ------------------------------------------------

    @abstractmethod
    def with_alpha(self, alpha: float) -> "Problem":
        """Return the same problem with another ``alpha``."""

    def with_targets(
        self, Y: np.ndarray, sample_weight: np.ndarray, rows: np.ndarray
    ) -> "Problem | None":
        """Return the same problem with other targets and weights, given those of all rows.

        ``rows`` are the numbers of the rows that carry a coefficient. None where the problem has to
        be made anew.
        """
        return None

    @abstractmethod
    def restricted(self, kept: np.ndarray) -> "Problem":
        """Return the problem that has only the weights ``kept``, an increasing index."""

    @abstractmethod
    def subsample(
        self,
        most_rows: int,
        seed: int | None = None,
        *,
        kernel: Kernel | None = None,
        linear: bool | None = None,
        single: bool = False,
    ) -> "ExactProblem":
        """Return the exact problem on a random subset of the rows.

        Parameters
        ----------
        most_rows : int
            Size of the subset; all rows where there are no more.
        seed : int, default=None
            None is the same choice every time.
        kernel : Kernel, default=None
            Replaces the problem's own.
        linear : bool, default=None
            Whether the weights enter linearly; None is as the kernel has it.
        single : bool, default=False
            For a kernel that a shift leaves unchanged: the columns are centered, and in single
            precision where their range allows it.
        """

    def as_exact(self) -> "ExactProblem":
        """Return the problem as what it is where every row has a coefficient."""
        raise ValueError("This problem has a coefficient for every center, not for every row.")

    def with_centers(self, centers: np.ndarray) -> "Problem":
        """Return the same problem with other centers."""
        raise ValueError("The exact problem has no centers to choose.")

    def run_on_sample(self, function: Callable[..., Result], *arguments: Any) -> Result | None:
        """Return ``function(problem, *arguments)`` for the problem on some of the rows.

        None if subsampling does not pay or the sample misses a class.
        """
        return None


def block_sums(
    cross: np.ndarray, rows: np.ndarray | None, columns: np.ndarray | None
) -> np.ndarray:
    """Return the sums over blocks of a matrix that begin at some rows and columns."""
    if rows is not None:
        cross = np.add.reduceat(cross, rows, 0)
    return cross if columns is None else np.add.reduceat(cross, columns, 1)


def _convexified(H: np.ndarray) -> np.ndarray:
    """Return H with the absolute values of its eigenvalues, none of them close to zero.

    Along negative curvature the step then goes downhill as far as it would uphill.
    """
    shifted = H.copy()
    # The trace bounds the largest eigenvalue.
    shifted.flat[:: len(H) + 1] -= 1e-6 * H.diagonal().sum()
    if dpotrf(shifted, lower=1, overwrite_a=1)[1] == 0:
        return H
    values, vectors = np.linalg.eigh(H)
    largest = np.abs(values).max()
    turned: np.ndarray = (vectors * np.maximum(np.abs(values), 1e-3 * largest)) @ vectors.T
    return turned


def rows_of_sample(n_rows: int, most_rows: int, seed: int | None) -> np.ndarray:
    """Return the numbers of at most ``most_rows`` random rows, in increasing order."""
    if n_rows <= most_rows:
        return np.arange(n_rows)
    rng = np.random.default_rng(0 if seed is None else seed)
    return np.sort(rng.choice(n_rows, most_rows, replace=False))


def single_precision(X: np.ndarray) -> np.ndarray:
    """Return the columns centered, in single precision unless that would overflow."""
    X = X - X.mean(axis=0)
    return X.astype(np.float32) if np.abs(X).max(initial=0.0) < SINGLE_RANGE else X
