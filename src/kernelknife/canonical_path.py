"""The path of a canonical pair: the columns of two tables as their penalties rise together.

One number, the sparsity of a point, times a fixed ratio is the penalty of each table. The path is
begun at a moderate penalty, where the pair is found from several starts as a single fit does: with
hardly any penalty, noise can make pairs that correlate as well as the true one. From there every
point begins at its neighbor. Upwards columns can only leave; downwards they may come back in.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelknife._components.alternation import (
    AUTO_SHARE,
    MOST_HALVINGS,
    MOST_ROUNDS,
    Pair,
    Side,
    Turns,
    find_turns,
)
from kernelknife._components.eigenproblems import dependence_scores, with_targets
from kernelknife._engine.search import rank_features
from kernelknife._engine.search.grid import penalties_beyond, penalty_lower_bound
from kernelknife._utils.checks import check_number
from kernelknife._utils.optional import import_optional
from kernelknife._utils.progress import SILENT, Task

__all__ = ["CCAPathResult", "PairPoint", "follow_pairs"]

LEAST_SHARE = 0.001  # smallest penalty of a path, per row: a thirtieth of a single fit's
MOST_BOUNDS = 10  # solutions that tell where a table is left without a column; four are the rule
NEAR_THE_END = 1.05  # the end is near where the next penalty is less than this factor away


@dataclass(frozen=True)
class PairPoint:
    """A point of the path.

    Attributes
    ----------
    sparsity : float
    weights : pair of ndarray
        One weight per column, or group, of each table that is not constant.
    settled : bool
        Whether the turns between the tables ended because the columns no longer changed.
    pair : Pair or None
        None where a table has no column left, and so there is no pair.
    """

    sparsity: float
    weights: tuple[np.ndarray, np.ndarray]
    settled: bool
    pair: Pair | None


def follow_pairs(
    sides: tuple[Side, Side],
    ratio: tuple[float, float],
    sparsities: int | np.ndarray,
    seed: int | None,
    task: Task = SILENT,
) -> list[PairPoint]:
    """Return the points of a path, the smallest penalty first.

    Parameters
    ----------
    sides : pair of Side
    ratio : pair of float
        Penalty of each table, as a multiple of a point's sparsity.
    sparsities : int or ndarray
        Number of points, or increasing sparsities.
    seed : int or None
    task : Task
        Parent of the progress reports.
    """
    automatic = np.ndim(sparsities) == 0
    begun, here = _begin(sides, ratio, sparsities, seed, task)
    if begun.empty:
        if automatic:
            raise ValueError(
                f"Even sparsity={here:g} leaves a table without columns, so that there is no path: "
                "lower alpha, or pass smaller sparsities."
            )
        return [_make_point(begun, here)]
    if automatic:
        grid = _place_points(begun, here, ratio, int(sparsities))
        above = _extended(grid[grid > here], here, len(grid))
    else:
        grid = np.asarray(sparsities, dtype=float)
        above = iter(grid[grid > here])
    up = _walk(begun, ratio, above, task, warm=True)
    down = _walk(begun, ratio, iter(grid[grid < here][::-1]), task, warm=False)
    return [*down[::-1], _make_point(begun, here), *up]


def _penalties(ratio: tuple[float, float], sparsity: float) -> tuple[float, float]:
    return sparsity * ratio[0], sparsity * ratio[1]


def _begin(
    sides: tuple[Side, Side],
    ratio: tuple[float, float],
    sparsities: int | np.ndarray,
    seed: int | None,
    task: Task,
) -> tuple[Turns, float]:
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
            replace(side, sparsity=penalty)
            for side, penalty in zip(sides, _penalties(ratio, float(sparsity)), strict=True)
        )
        with task.subtask("point"):
            turns = find_turns((left, right), seed=seed)
        if not turns.empty or task.stopped:
            break
    return turns, float(sparsity)


def _walk(
    begun: Turns, ratio: tuple[float, float], sparsities: Iterator[float], task: Task, *, warm: bool
) -> list[PairPoint]:
    """Return points that begin at their neighbors, until no pair is left."""
    points: list[PairPoint] = []
    turns = begun
    for sparsity in sparsities:
        if turns.empty or task.stopped:
            break
        with task.subtask("point"):
            turns = turns.at_penalties(_penalties(ratio, float(sparsity)))
            turns.go_on(MOST_ROUNDS, warm=warm)
            points.append(_make_point(turns, sparsity))
    return points


def _make_point(turns: Turns, sparsity: float) -> PairPoint:
    x_weights, y_weights = turns.weights
    if turns.empty:
        # A table without columns has no scores that columns of the other could go with.
        nothing = np.zeros_like(x_weights), np.zeros_like(y_weights)
        return PairPoint(float(sparsity), nothing, turns.settled, None)
    # The features of every point together would take far more memory than the tables.
    pair = replace(turns.leading_pair(), features=())
    return PairPoint(float(sparsity), (x_weights, y_weights), turns.settled, pair)


def _place_points(
    begun: Turns, here: float, ratio: tuple[float, float], n_points: int
) -> np.ndarray:
    """Return sparsities that are even on a logarithmic scale, one of them ``here``."""
    if n_points == 1:
        return np.array([here])
    F, G, _ = begun.leading_pairs(1)
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
    problem = with_targets(side.job, target[:, None]).problem
    solution = side.solve(target, sparsity, w)
    end = sparsity
    for _ in range(MOST_BOUNDS):
        before, end = end, penalty_lower_bound(problem, solution, problem.null_value)
        solution = side.solve(target, end, solution.w)
        if end < NEAR_THE_END * before or not solution.w.any():
            break
    return end


def _extended(above: np.ndarray, here: float, n_points: int) -> Iterator[float]:
    """Yield the upper part of a grid, then go on where the path turns out longer."""
    yield from above
    if n_points > 1:
        yield from penalties_beyond(above[-1] if len(above) else here)


@dataclass(frozen=True)
class CCAPathResult:
    """The path of a canonical pair of two tables.

    Attributes
    ----------
    sparsities : ndarray of shape (n_points,)
        Increasing. Times ``ratio`` they are the penalties of the two tables.
    ratio : pair of float
        Penalty of each table, as a multiple of the sparsity.
    x_weights, y_weights : ndarray of shape (n_points, n_features) of each table
        Weights of the columns at every point. Where one table has no column left there is no
        pair, and the weights of both are zero.
    n_x_selected, n_y_selected : ndarray of int of shape (n_points,)
        Number of columns of each table with a weight at every point.
    correlations : ndarray of shape (n_points,)
        Correlation of the two scores over the rows of the fit, 0 where there is no pair. As all
        such figures it is too high, and the more so the more columns there are.
    settled : ndarray of bool of shape (n_points,)
        Whether the turns between the tables ended because the columns no longer changed.
    x_ranking, y_ranking : ndarray of int of shape (n_features,) of each table
        1 for the column that survives longest. Columns that no point has are ranked by how much
        they depend on single columns of the other table. Columns of a group share a rank; constant
        columns come last.
    x_names, y_names : ndarray of str
        Names of the columns, ``x0``, ``x1`` and ``y0``, ``y1`` and so on where the tables had none.

    See Also
    --------
    knife_cca_path : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import knife_cca_path
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(100, 4)), rng.normal(size=(100, 3))
    >>> Y[:, 2] = X[:, 1] ** 2 + 0.1 * rng.normal(size=100)
    >>> path = knife_cca_path(X, Y, sparsities=8)
    >>> path.x_weights.shape == (len(path), 4)
    True
    >>> model = path.at(sparsity=10.0)
    >>> model.get_support(indices=True), model.get_support(indices=True, table="y")
    (array([1]), array([2]))
    """

    sparsities: np.ndarray
    ratio: tuple[float, float]
    x_weights: np.ndarray
    y_weights: np.ndarray
    n_x_selected: np.ndarray
    n_y_selected: np.ndarray
    correlations: np.ndarray
    settled: np.ndarray
    x_ranking: np.ndarray
    y_ranking: np.ndarray
    x_names: np.ndarray
    y_names: np.ndarray
    _template: Any = field(repr=False)
    _sides: tuple[Side, Side] = field(repr=False)
    _points: list[PairPoint] = field(repr=False)
    _publish: Callable[..., None] = field(repr=False)

    @classmethod
    def from_points(
        cls,
        template: Any,
        sides: tuple[Side, Side],
        ratio: tuple[float, float],
        points: list[PairPoint],
        publish: Callable[..., None],
    ) -> "CCAPathResult":
        """Spread the weights of the points over the columns of both tables.

        Parameters
        ----------
        template : KnifeCCA
            The estimator that a point is an instance of, not fitted.
        sides : pair of Side
            Both tables.
        ratio : pair of float
            Penalty of each table, as a multiple of the sparsity.
        points : list of PairPoint
            The points, the smallest penalty first.
        publish : callable
            ``publish(model, pairs, sides)`` turns a clone of the template into the fitted model of
            a point.

        Returns
        -------
        CCAPathResult
            The path in terms of the columns of both tables.
        """
        dependence = dependence_scores(sides[0].functions, sides[1].functions)
        weights, ranking, names = [], [], []
        for i, prefix in enumerate("xy"):
            prepared = sides[i].job.prepared
            w = np.array([point.weights[i] for point in points])
            ranks = rank_features(w, dependence.max(axis=1 - i))
            weights.append(np.array([prepared.user_values(row) for row in w]))
            ranking.append(prepared.user_values(ranks, constant=len(ranks) + 1))
            own = prepared.rows.names
            if own is None:
                own = np.array([f"{prefix}{j}" for j in range(prepared.n_features)], dtype=object)
            names.append(own)
        return cls(
            sparsities=np.array([point.sparsity for point in points]),
            ratio=ratio,
            x_weights=weights[0],
            y_weights=weights[1],
            n_x_selected=np.count_nonzero(weights[0], axis=1),
            n_y_selected=np.count_nonzero(weights[1], axis=1),
            correlations=np.array(
                [0.0 if point.pair is None else point.pair.correlation for point in points]
            ),
            settled=np.array([point.settled for point in points]),
            x_ranking=ranking[0],
            y_ranking=ranking[1],
            x_names=names[0],
            y_names=names[1],
            _template=template,
            _sides=sides,
            _points=points,
            _publish=publish,
        )

    def __len__(self) -> int:
        return len(self.sparsities)

    def model(self, i: int) -> Any:
        """Return the fitted estimator at point ``i``.

        Parameters
        ----------
        i : int
            Index of a point; negative ones count from the end.

        Returns
        -------
        KnifeCCA
            Ready to give scores. It holds no correlation over held-out rows.
        """
        if not -len(self) <= i < len(self):
            raise IndexError(f"The path has {len(self)} points, there is no point {i}.")
        point = self._points[i]
        if point.pair is None:
            raise ValueError(
                f"sparsity={point.sparsity:g} leaves a table without columns, and so there is no "
                "pair: take a point with a smaller sparsity."
            )
        model = clone(self._template).set_params(sparsity=_penalties(self.ratio, point.sparsity))
        self._publish(model, [point.pair], self._sides)
        return model

    def at(self, *, sparsity: float) -> Any:
        """Return the fitted estimator of the point nearest to a sparsity.

        Parameters
        ----------
        sparsity : float
            A sparsity; the point nearest to it is taken.

        Returns
        -------
        KnifeCCA
            Ready to give scores.
        """
        check_number(sparsity, "sparsity")
        return self.model(int(np.argmin(np.abs(self.sparsities - sparsity))))

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per point.

        Returns
        -------
        DataFrame
            With columns of two levels: ``frame["path"]`` has the penalty, the numbers of columns,
            the correlation and whether the point is settled, ``frame["x"]`` and ``frame["y"]`` the
            weights of each table.
        """
        pandas = import_optional("pandas", "pandas", "CCAPathResult.to_frame")
        facts = pandas.DataFrame(
            {
                "sparsity": self.sparsities,
                "n_x_selected": self.n_x_selected,
                "n_y_selected": self.n_y_selected,
                "correlation": self.correlations,
                "settled": self.settled,
            }
        )
        # Two levels, because both tables may have a column of the same name.
        parts = {
            "path": facts,
            "x": pandas.DataFrame(self.x_weights, columns=self.x_names),
            "y": pandas.DataFrame(self.y_weights, columns=self.y_names),
        }
        return pandas.concat(parts, axis=1)

    def plot(
        self, *, sparsity: float | None = None, axes: Any = None, line_kwargs: Any = None
    ) -> Any:
        """Draw the path; see :class:`kernelknife.inspection.displays.CCAPathDisplay`.

        Parameters
        ----------
        sparsity : float, default=None
            A sparsity to mark.
        axes : sequence of three matplotlib Axes, default=None
            Where to draw the weights of both tables and the correlation; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        CCAPathDisplay
            The picture.
        """
        from kernelknife.inspection.displays import CCAPathDisplay

        return CCAPathDisplay.from_path(self, sparsity=sparsity, axes=axes, line_kwargs=line_kwargs)
