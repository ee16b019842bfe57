"""The path of a canonical pair, as a user sees it; see :func:`kernelknife.knife_cca_path`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelknife._components.alternation import Pair, Sides
from kernelknife._components.dependence import dependence_scores
from kernelknife._components.pair_path import PairPoint
from kernelknife._engine.search import rank_features
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import import_optional

__all__ = ["CCAPathResult"]


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
        Whether the alternation ended because the columns no longer changed.
    x_ranking, y_ranking : ndarray of int of shape (n_features,) of each table
        1 for the column that remains active longest. Columns that no point has are ranked by how
        much they depend on single columns of the other table. Columns of a group share a rank;
        constant columns come last.
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
    _points: list[PairPoint] = field(repr=False)
    _fitted: Callable[[Pair], Any] = field(repr=False)

    @classmethod
    def from_points(
        cls,
        sides: Sides,
        ratio: tuple[float, float],
        points: list[PairPoint],
        fitted: Callable[[Pair], Any],
    ) -> "CCAPathResult":
        """Spread the weights of the points over the columns of both tables.

        Parameters
        ----------
        sides : pair of Side
            Both tables.
        ratio : pair of float
            Penalty of each table, as a multiple of the sparsity.
        points : list of PairPoint
            The points, the smallest penalty first.
        fitted : callable
            ``fitted(pair)`` returns the fitted model of a point.

        Returns
        -------
        CCAPathResult
            The path in terms of the columns of both tables.
        """
        dependence = dependence_scores(sides[0].functions, sides[1].functions)
        weights, ranking, names = [], [], []
        for i, prefix in enumerate("xy"):
            data = sides[i].setup.data
            w = np.array([point.weights[i] for point in points])
            ranks = rank_features(w, dependence.max(axis=1 - i))
            weights.append(np.array([data.user_values(row) for row in w]))
            ranking.append(data.user_values(ranks, constant=len(ranks) + 1))
            own = data.rows.names
            if own is None:
                own = np.array([f"{prefix}{j}" for j in range(data.n_features)], dtype=object)
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
            _points=points,
            _fitted=fitted,
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
        return self._fitted(point.pair)

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

    def plot(self, *, sparsity: float | None = None, ax: Any = None, style: Any = None) -> Any:
        """Draw the path; see :class:`kernelknife.inspection.displays.CCAPathDisplay`.

        Parameters
        ----------
        sparsity : float, default=None
            A sparsity to mark.
        ax : sequence of three matplotlib Axes, default=None
            Where to draw the weights of both tables and the correlation; None makes a new figure.
        style : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        CCAPathDisplay
            The picture.
        """
        from kernelknife.inspection.displays import CCAPathDisplay

        return CCAPathDisplay(self, sparsity=sparsity).plot(ax=ax, style=style)
