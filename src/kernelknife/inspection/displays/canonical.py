"""A picture of the path of a canonical pair: the weights of two tables, and the correlation."""

import numpy as np

from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.paths import WeightPathDisplay
from kernelknife.inspection.displays.style import (
    COLORS,
    hide_frame,
    label_zero,
    log_positions,
    mark_penalty,
)

__all__ = ["CCAPathDisplay"]


class CCAPathDisplay:
    """Weights of two tables and the correlation of their scores, against the penalty.

    Parameters
    ----------
    sparsities : ndarray of shape (n_points,)
        Common factor of both penalties, increasing.
    weights : pair of ndarray of shape (n_points, n_features)
        Weights of the columns of each table.
    names : pair of array-like of str
        Names of the columns of each table.
    correlations : ndarray of shape (n_points,)
        Correlation of the two scores at every point.
    rankings : pair of ndarray of int, default=(None, None)
        Rank of every column, 1 for the one to label first. None ranks columns by how long they
        survive.
    sparsity : float, default=None
        A chosen sparsity, which is marked. Columns selected there are colored, all others gray.

    Attributes
    ----------
    axes_, figure_ : matplotlib objects
        What was drawn on: the axes of the first table, of the second one and of the correlation.
    x_display_, y_display_ : WeightPathDisplay
        The weights of each table.
    line_ : Line2D
        The correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import knife_cca_path
    >>> from kernelknife.inspection.displays import CCAPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = X[:, :2] ** 2 + 0.1 * rng.normal(size=(60, 2))
    >>> display = CCAPathDisplay.from_path(knife_cca_path(X, Y, sparsities=6))
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['weight in X', 'weight in Y', 'correlation']
    """

    def __init__(
        self, sparsities, weights, names, correlations, *, rankings=(None, None), sparsity=None
    ):
        self.sparsities = sparsities
        self.weights = weights
        self.names = names
        self.correlations = correlations
        self.rankings = rankings
        self.sparsity = sparsity

    @classmethod
    def from_path(cls, path, *, sparsity=None, axes=None, line_kwargs=None):
        """Draw a :class:`kernelknife.CCAPathResult`.

        Parameters
        ----------
        path : CCAPathResult
            What :func:`kernelknife.knife_cca_path` returned.
        sparsity : float, default=None
            A chosen sparsity, which is marked.
        axes : sequence of three matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every colored line.

        Returns
        -------
        CCAPathDisplay
            The display, already drawn.
        """
        display = cls(
            path.sparsities,
            (path.x_weights, path.y_weights),
            (path.x_names, path.y_names),
            path.correlations,
            rankings=(path.x_ranking, path.y_ranking),
            sparsity=sparsity,
        )
        return display.plot(axes=axes, line_kwargs=line_kwargs)

    def plot(self, *, axes=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        axes : sequence of three matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every colored line.

        Returns
        -------
        self : CCAPathDisplay
            The display, with what was drawn as attributes.
        """
        if axes is None:
            pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
            ratios = {"height_ratios": (2.2, 2.2, 1.0)}
            _, axes = pyplot.subplots(
                3, figsize=(7.0, 9.0), layout="constrained", gridspec_kw=ratios
            )
        if np.size(axes) != 3:
            raise ValueError(
                f"axes must be three, for X, for Y and for the correlation, got {np.size(axes)}."
            )
        displays = []
        for i, table in enumerate("XY"):
            display = WeightPathDisplay(
                self.sparsities,
                self.weights[i],
                self.names[i],
                ranking=self.rankings[i],
                sparsity=self.sparsity,
            ).plot(ax=axes[i], line_kwargs=line_kwargs)
            display.ax_.set(ylabel=f"weight in {table}", xlabel="")
            displays.append(display)
        self.x_display_, self.y_display_ = displays
        self._draw_correlation(axes[2], line_kwargs)
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _draw_correlation(self, ax, line_kwargs):
        x = log_positions(self.sparsities)
        style = {"color": COLORS[0], "linewidth": 1.8, **(line_kwargs or {})}
        (self.line_,) = ax.plot(x, self.correlations, **style)
        ax.set_xscale("log")
        if x[0] < x[-1]:
            ax.set_xlim(x[0], x[-1])
        ax.set_ylim(0.0, 1.04)
        ax.set(xlabel="sparsity", ylabel="correlation")
        hide_frame(ax)
        label_zero(ax, self.sparsities, x)
        if self.sparsity is not None:
            mark_penalty(ax, max(float(self.sparsity), x[0]), "")
