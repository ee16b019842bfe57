"""A picture of a feature path: every weight as the penalty rises."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.search import rank_features
from kernelknife.inspection.displays.style import (
    GRAY,
    LineDisplay,
    hide_frame,
    label_zero,
    line_style,
    log_positions,
    mark_penalty,
    shorten,
    spread_labels,
)

__all__ = ["WeightPathDisplay"]

MOST_LABELS = 15  # as many names fit into the margin of a figure of the default height
MOST_COLORED = 10  # lines that are colored when no penalty is chosen
LABEL_GAP = 0.062  # height of a line of small text, as a share of that figure's axes
HEADROOM = 1.04  # axes end this much above the largest weight


class WeightPathDisplay(LineDisplay):
    """Weights against the penalty, one line per feature.

    Parameters
    ----------
    sparsities : ndarray of shape (n_points,)
        Penalties of the points, increasing.
    weights : ndarray of shape (n_points, n_features)
        Weights of the features at every penalty.
    feature_names : array-like of str
        Names for the labels.
    ranking : ndarray of int, default=None
        Rank of every feature, 1 for the one to label first. None ranks features by how long they
        survive.
    sparsity : float, default=None
        A chosen penalty, which is marked. Features selected there are colored, all others gray.
        None colors the features that survive longest.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        The colored lines, in order of rank.

    Examples
    --------
    >>> from kernelknife import knife_path
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.inspection.displays import WeightPathDisplay
    >>> path = knife_path(*make_skin_of_orange(80, 6, random_state=0), sparsities=10)
    >>> display = WeightPathDisplay.from_path(path)
    >>> display.ax_.get_ylabel()
    'weight'
    """

    def __init__(self, sparsities, weights, feature_names, *, ranking=None, sparsity=None):
        self.sparsities = sparsities
        self.weights = weights
        self.feature_names = feature_names
        self.ranking = ranking
        self.sparsity = sparsity

    @classmethod
    def from_path(cls, path, *, sparsity=None, ax=None, line_kwargs=None):
        """Draw a :class:`kernelknife.PathResult`.

        Parameters
        ----------
        path : PathResult
            What :func:`kernelknife.knife_path` returned.
        sparsity : float, default=None
            A chosen penalty, which is marked.
        ax : matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every colored line.

        Returns
        -------
        WeightPathDisplay
            The display, already drawn.
        """
        return cls._of_path(path, sparsity).plot(ax=ax, line_kwargs=line_kwargs)

    @classmethod
    def _of_estimator(cls, estimator):
        """Return the path of a cross-validated estimator, with the penalty that it has chosen."""
        check_is_fitted(estimator, "path_")
        return cls._of_path(estimator.path_, estimator.sparsity_)

    @classmethod
    def _of_path(cls, path, sparsity):
        return cls(
            path.sparsities,
            path.weights,
            path.feature_names,
            ranking=path.ranking,
            sparsity=sparsity,
        )

    def _draw(self, ax, line_kwargs):
        x = log_positions(self.sparsities)
        colored = self._colored_features()
        self._draw_gray_lines(ax, x, colored)
        self.lines_ = []
        for i, j in enumerate(colored):
            style = {"linewidth": 1.8, "zorder": 3, **line_style(i), **line_kwargs}
            self.lines_ += ax.plot(x, self.weights[:, j], label=str(self.feature_names[j]), **style)
        top = HEADROOM * max(1e-3, float(self.weights.max(initial=0.0)))
        ax.set_ylim(0.0, top)
        ax.set_xscale("log")
        if x[0] < x[-1]:
            ax.set_xlim(x[0], x[-1])
        ax.set_xlabel("sparsity")
        ax.set_ylabel("weight")
        hide_frame(ax)
        label_zero(ax, self.sparsities, x)
        self._label_lines(ax, x, colored, top)
        if self.sparsity is not None:
            mark_penalty(ax, max(float(self.sparsity), x[0]), "chosen")

    def _colored_features(self):
        """Return the features selected at the chosen penalty, else those that survive longest."""
        ranking = rank_features(self.weights) if self.ranking is None else self.ranking
        order = np.argsort(ranking, kind="stable")
        if self.sparsity is not None:
            i = int(np.argmin(np.abs(self.sparsities - self.sparsity)))
            chosen = [j for j in order if self.weights[i, j] > 0]
            if chosen:
                return chosen[:MOST_LABELS]
        return [j for j in order if self.weights[:, j].any()][:MOST_COLORED]

    def _draw_gray_lines(self, ax, x, colored):
        """Draw the features that are not colored, without those that are zero everywhere."""
        others = np.setdiff1d(np.flatnonzero(self.weights.any(axis=0)), colored)
        if len(others):
            # Rasterized, because thousands of lines would make a vector file very large.
            style = {"color": GRAY, "linewidth": 0.7, "zorder": 1, "rasterized": True}
            ax.plot(x, self.weights[:, others], **style)

    def _label_lines(self, ax, x, colored, top):
        """Write the names of the colored lines into the right margin.

        A thin leader joins each name to the last point where its line has half its largest weight.
        """
        if not colored:
            return
        anchors = []
        for j in colored:
            weights = self.weights[:, j]
            anchors.append(int(np.flatnonzero(weights >= 0.5 * weights.max())[-1]))
        places = spread_labels(self.weights[anchors, colored] / top, LABEL_GAP)
        for line, j, i, place in zip(self.lines_, colored, anchors, places, strict=True):
            color = line.get_color()
            ax.annotate(
                shorten(self.feature_names[j]),
                (x[i], self.weights[i, j]),
                xytext=(1.02, place),
                textcoords="axes fraction",
                va="center",
                fontsize="small",
                color=color,
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.45},
            )
