"""The weights of kernel principal components.

The components are taken once, at weights that favor columns which depend on each other, and are the
targets of a regression whose penalty drives columns out. What is left has components of its own.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernelknife._components.dependence import dependence_weights, structure_gap
from kernelknife._components.eigenproblems import Components, leading_components, seen_columns
from kernelknife._engine import (
    Model,
    Setup,
    build_model,
    check_count,
    follow,
    or_empty,
    solve_count,
)
from kernelknife._engine.search import Start, Trace, fixed_weights, scaled_weights
from kernelknife._engine.search.starts import best_of_starts
from kernelknife._engine.solvers import Solution
from kernelknife._utils.progress import Progress
from kernelknife._utils.row_units import RowUnits

__all__ = ["PrincipalFit", "begin", "components_at", "fit_components", "fixed_components"]

AUTO_POINTS = 40  # of the path that an automatic penalty is chosen from
CLEAR_GAP = 3.0  # standard deviations over the permutations that make a gap more than chance


@dataclass(frozen=True)
class PrincipalFit:
    """Weights of the columns, and the components at these weights.

    Attributes
    ----------
    setup : Setup
        With the components at the starting weights as targets.
    solution : Solution
    components : Components
    trace : Trace or None
        The path that the weights were chosen from.
    gaps : ndarray of shape (n_supports, 3) or None
        Number of columns, gap and its standard deviation over the permutations.
    chance : bool
        Whether no gap was clear, so that the weights are those without a penalty.
    """

    setup: Setup
    solution: Solution
    components: Components
    trace: Trace | None = None
    gaps: np.ndarray | None = None
    chance: bool = False

    @property
    def model(self) -> Model:
        """What gives the scores of rows."""
        setup, found = self.setup, self.components
        return build_model(
            setup.data,
            setup.problem,
            setup.center_rows,
            self.solution.w,
            found.coef,
            found.intercept,
        )


def begin(setup: Setup, start: str, k: int, units: RowUnits | None = None) -> tuple[Setup, bool]:
    """Return the regression of the k leading components at the starting weights.

    The second value is whether the columns depend on each other, as far as the start looks for it.
    """
    if start == "dependence":
        w, dependent = dependence_weights(setup, units)
    else:
        w, dependent = scaled_weights(setup.problem), True
    setup = _with_components(setup, w, k)
    # Constant columns have no weight, and the 1 that stands for theirs is not looked at.
    return setup.with_spec(start=setup.data.user_values(w, constant=1.0)), dependent


def _with_components(setup: Setup, w: np.ndarray, k: int) -> Setup:
    """Return the setup whose targets are its k leading components at some weights."""
    found = leading_components(setup, w, k)
    rank = len(found.eigenvalues)
    if rank < k:
        raise ValueError(
            f"n_components={k}, but the centered kernel matrix has rank {rank}: ask for at most "
            f"{rank} components."
        )
    return setup.with_targets(found.targets)


def components_at(setup: Setup, solution: Solution, k: int) -> PrincipalFit:
    """Return the components at the weights of a solution."""
    if not solution.w.any():
        raise ValueError(
            f"sparsity={solution.sparsity:g} drives every column out, and nothing is left to "
            "have components: lower it, or leave sparsity='auto'."
        )
    return PrincipalFit(setup, solution, leading_components(setup, solution.w, k))


def fixed_components(setup: Setup, w: np.ndarray, k: int) -> PrincipalFit:
    """Return the components at given weights."""
    setup = _with_components(setup, w, k)
    return components_at(setup, fixed_weights(setup.problem, w), k)


def fit_components(
    setup: Setup,
    k: int,
    *,
    start: str,
    n_permutations: int,
    units: RowUnits | None = None,
    progress: Progress,
) -> PrincipalFit:
    """Find the weights that the specification asks for, and the components at these weights.

    Parameters
    ----------
    setup : Setup
        Without a target.
    start : {"dependence", "scaled"}
        Weights at which the components are taken that the weights have to explain.
    n_permutations : int
        Permutations of the columns that an automatic penalty is compared with.
    units : RowUnits, default=None
        Rows that belong together, and are permuted together.
    """
    spec = setup.spec
    setup, dependent = begin(setup, start, k, units)
    if spec.n_features_to_select is None and not isinstance(spec.sparsity, str):
        solution, _ = best_of_starts(
            setup.problem,
            spec.solver,
            [Start(start, np.asarray(setup.start_settings.start))],
            float(spec.sparsity),
            callback=progress.watch("iteration"),
        )
        return components_at(setup, or_empty(setup, solution, solution.objective), k)
    check_count(spec.n_features_to_select, setup.problem)
    trace = follow(setup, AUTO_POINTS, progress=progress)
    if spec.n_features_to_select is not None:
        return replace(components_at(setup, solve_count(setup, trace), k), trace=trace)
    X, points = seen_columns(setup), _ends_of_each_support(trace)
    measured = [structure_gap(setup, X, point.w, k, n_permutations, units) for point in points]
    gap, spread = np.array(measured).T
    best = int(np.argmax(gap))
    # Weights that were learned from the same rows have some lead by chance alone: where the start
    # has looked for columns that depend on each other, it must have found some.
    chance = not dependent or bool(gap[best] <= CLEAR_GAP * spread[best])
    fewest = int(np.flatnonzero(gap >= gap[best] - spread[best])[-1])
    counts = [np.count_nonzero(point.w) for point in points]
    gaps = np.column_stack([counts, gap, spread])
    found = components_at(setup, points[0 if chance else fewest], k)
    return replace(found, trace=trace, gaps=gaps, chance=chance)


def _ends_of_each_support(trace: Trace) -> list[Solution]:
    """Return the points that have a column: the first and the last one of each set of columns."""
    active = [point for point in trace.points if point.w.any()]
    supports = [(point.w > 0).tobytes() for point in active]
    return [
        point
        for i, point in enumerate(active)
        if i in (0, len(active) - 1) or len({*supports[i - 1 : i + 2]}) > 1
    ]
