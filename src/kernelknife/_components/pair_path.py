"""The path of a canonical pair: the columns of two tables as their penalties rise together.

One number, the sparsity of a point, times a fixed ratio is the penalty of each table. The path is
begun at a moderate penalty, where the pair is found from several starts as a single fit does: with
hardly any penalty, noise can make pairs that correlate as well as the true one. From there every
point begins at its neighbor. Upwards columns can only leave; downwards they may come back in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernelknife._components.alternation import (
    AUTO_SHARE,
    MOST_HALVINGS,
    MOST_ROUNDS,
    Alternation,
    Pair,
    Side,
    Sides,
    find_alternation,
)
from kernelknife._engine.search.grid import penalties_beyond, penalty_lower_bound
from kernelknife._utils.progress import SILENT, Progress

__all__ = ["PairPoint", "follow_pairs"]

LEAST_SHARE = 0.001  # smallest penalty of a path, per row: a thirtieth of a single fit's
MOST_BOUNDS = 10  # solutions until the end of a table is found; four are the rule
NEAR_THE_END = 1.05  # the end is near where the next penalty is less than this factor away

Ratio = tuple[float, float]


@dataclass(frozen=True)
class PairPoint:
    """A point of the path.

    Attributes
    ----------
    sparsity : float
    weights : pair of ndarray
        One weight per column, or group, of each table that is not constant.
    settled : bool
        Whether the alternation ended because the columns no longer changed.
    pair : Pair or None
        None where a table has no column left, and so there is no pair.
    """

    sparsity: float
    weights: tuple[np.ndarray, np.ndarray]
    settled: bool
    pair: Pair | None

    @classmethod
    def of(cls, found: Alternation, sparsity: float) -> "PairPoint":
        """Return the point at which an alternation has ended."""
        x_weights, y_weights = found.weights
        if found.empty:
            # A table without columns has no scores that columns of the other could go with.
            nothing = np.zeros_like(x_weights), np.zeros_like(y_weights)
            return cls(float(sparsity), nothing, found.settled, None)
        # The features of every point together would take far more memory than the tables.
        pair = replace(found.leading_pair(), features=())
        return cls(float(sparsity), (x_weights, y_weights), found.settled, pair)


def follow_pairs(
    sides: Sides, ratio: Ratio, sparsities: int | np.ndarray, progress: Progress = SILENT
) -> list[PairPoint]:
    """Return the points of a path, the smallest penalty first.

    Parameters
    ----------
    ratio : pair of float
        Penalty of each table, as a multiple of a point's sparsity.
    sparsities : int or ndarray
        Number of points, or increasing sparsities.
    progress : Progress
        Parent of the progress reports.
    """
    automatic = np.ndim(sparsities) == 0
    begun, here = _begin(sides, ratio, sparsities, progress)
    if begun.empty:
        if automatic:
            raise ValueError(
                f"Even sparsity={here:g} leaves a table without columns, so that there is no path: "
                "lower alpha, or pass smaller sparsities."
            )
        return [PairPoint.of(begun, here)]
    if automatic:
        grid = _place_points(begun, here, ratio, int(sparsities))
        above = _extended(grid[grid > here], here, len(grid))
    else:
        grid = np.asarray(sparsities, dtype=float)
        above = iter(grid[grid > here])
    up = _walk(begun, ratio, above, progress, warm=True)
    down = _walk(begun, ratio, iter(grid[grid < here][::-1]), progress, warm=False)
    return [*down[::-1], PairPoint.of(begun, here), *up]


def _begin(
    sides: Sides, ratio: Ratio, sparsities: int | np.ndarray, progress: Progress
) -> tuple[Alternation, float]:
    """Return the pair to begin with, that of a single fit near its automatic penalty.

    The second value is its sparsity. Lower ones are tried where that leaves no pair.
    """
    usual = AUTO_SHARE * sides[0].n_rows / max(ratio)
    if np.ndim(sparsities) == 0:
        candidates = usual * 0.5 ** np.arange(MOST_HALVINGS)
    else:
        grid = np.asarray(sparsities, dtype=float)
        candidates = grid[int(np.argmin(np.abs(grid - usual))) :: -1]
    for sparsity in candidates:
        left, right = (
            side.at_penalty(float(sparsity) * share)
            for side, share in zip(sides, ratio, strict=True)
        )
        with progress.subtask("point"):
            found = find_alternation((left, right))
        if not found.empty or progress.stopped:
            break
    return found, float(sparsity)


def _walk(
    begun: Alternation,
    ratio: Ratio,
    sparsities: Iterator[float],
    progress: Progress,
    *,
    warm: bool,
) -> list[PairPoint]:
    """Return points that begin at their neighbors, until no pair is left."""
    points: list[PairPoint] = []
    here = begun
    for sparsity in sparsities:
        if here.empty or progress.stopped:
            break
        with progress.subtask("point"):
            here = here.at_penalties((float(sparsity) * ratio[0], float(sparsity) * ratio[1]))
            here.run(MOST_ROUNDS, warm=warm)
            points.append(PairPoint.of(here, sparsity))
    return points


def _place_points(begun: Alternation, here: float, ratio: Ratio, n_points: int) -> np.ndarray:
    """Return sparsities that are even on a logarithmic scale, one of them ``here``."""
    if n_points == 1:
        return np.array([here])
    F, G, _ = begun.leading_scores(1)
    ends = [
        _find_end(begun.sides[i], (G, F)[i][:, 0], begun.weights[i], begun.sparsities[i]) / ratio[i]
        for i in (0, 1)
    ]
    lowest = min(LEAST_SHARE * begun.sides[0].n_rows / max(ratio), here)
    grid = np.geomspace(lowest, min(ends), n_points)
    grid[np.argmin(np.abs(np.log(grid / here)))] = here
    return grid


def _find_end(side: Side, target: np.ndarray, w: np.ndarray, sparsity: float) -> float:
    """Return about the penalty at which the last column of a table leaves, its target fixed."""
    problem = side.setup.with_targets(target[:, None]).problem
    solution = side.solve(target, sparsity, w)
    end = sparsity
    for _ in range(MOST_BOUNDS):
        before, end = end, penalty_lower_bound(problem, solution, problem.null_value)
        solution = side.solve(target, end, solution.w)
        if end < NEAR_THE_END * before or not solution.w.any():
            break
    return end


def _extended(above: np.ndarray, here: float, n_points: int) -> Iterator[float]:
    """Yield the upper part of a grid, then go on where the path is longer."""
    yield from above
    if n_points > 1:
        yield from penalties_beyond(above[-1] if len(above) else here)
