"""Displays of lines: paths of weights, of votes, and of the objective of a fit."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import column_names
from kernelknife._engine.search import rank_features
from kernelknife.inspection.curves import log_positions
from kernelknife.inspection.displays import style as st
from kernelknife.inspection.displays.charts import draw_legend, draw_paths

__all__ = ["CCAPathDisplay", "ConvergenceDisplay", "StabilityDisplay", "WeightPathDisplay"]

MOST_COUNTS = 60  # numbers of votes along the axis


class WeightPathDisplay(st.Display):
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
        remain.
    sparsity : float, default=None
        A chosen penalty, which is marked. Features selected there are colored, at most eight, all
        others gray. None colors the features that remain longest.

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
    >>> data = path.sparsities, path.weights, path.feature_names
    >>> display = WeightPathDisplay(*data, ranking=path.ranking).plot()
    >>> display.ax_.get_ylabel()
    'weight'
    """

    def __init__(self, sparsities, weights, feature_names, ranking=None, sparsity=None):
        self.sparsities = sparsities
        self.weights = weights
        self.feature_names = feature_names
        self.ranking = ranking
        self.sparsity = sparsity

    @classmethod
    def _shown(cls, estimator):
        check_is_fitted(estimator, "path_")
        path = estimator.path_
        return path.sparsities, path.weights, path.feature_names, path.ranking, estimator.sparsity_

    def _draw(self, ax, style):
        ranking = rank_features(self.weights) if self.ranking is None else self.ranking
        order = np.argsort(ranking, kind="stable")
        names = [self.feature_names[j] for j in order]
        weights = np.asarray(self.weights)[:, order]
        self.lines_ = draw_paths(
            ax, self.sparsities, weights, names, chosen=self.sparsity, style=style
        )


class CCAPathDisplay(st.Display):
    """Weights of two tables and the correlation of their scores, against the penalty.

    Parameters
    ----------
    path : CCAPathResult
        What :func:`kernelknife.knife_cca_path` returned.
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
    >>> display = CCAPathDisplay(knife_cca_path(X, Y, sparsities=6)).plot()
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['weight in X', 'weight in Y', 'correlation']
    """

    size, n_axes = (7.0, 9.0), 3

    def __init__(self, path, *, sparsity=None):
        self.path = path
        self.sparsity = sparsity

    def _split(self, figure):
        return figure.subplots(3, gridspec_kw={"height_ratios": (2.2, 2.2, 1.0)})

    def _draw(self, axes, style):
        path, displays = self.path, []
        for ax, side in zip(axes, "xy", strict=False):
            weights, names, ranking = (
                getattr(path, f"{side}_{part}") for part in ("weights", "names", "ranking")
            )
            data = (path.sparsities, weights, names)
            display = WeightPathDisplay(*data, ranking=ranking, sparsity=self.sparsity)
            displays.append(display.plot(ax=ax, style=style))
            ax.set(ylabel=f"weight in {side.upper()}", xlabel="")
        self.x_display_, self.y_display_ = displays
        ax, x = axes[2], log_positions(path.sparsities)
        style = {"color": st.COLORS[0], "linewidth": 1.8, **style}
        (self.line_,) = ax.plot(x, path.correlations, **style)
        ax.set_xscale("log")
        if x[0] < x[-1]:
            ax.set_xlim(x[0], x[-1])
        ax.set_ylim(0.0, 1.04)
        st.name_axes(ax, "sparsity", "correlation")
        st.round_ticks(ax.xaxis, log=True)
        st.label_zero(ax, path.sparsities, x)
        ax.spines[["top", "right"]].set_visible(False)
        if self.sparsity is not None:
            st.mark_penalty(ax, max(float(self.sparsity), x[0]), "")


class StabilityDisplay(st.Display):
    """Share of half-samples that select a feature, against the number that each may select.

    Parameters
    ----------
    estimator : KnifeStability
        Fitted. The selected features are colored and named, at most eight.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        The lines of the selected features.
    n_votes, shares : ndarray
        Numbers of votes along the axis, and the share of the half-samples by feature at each.

    Examples
    --------
    >>> from kernelknife import KnifeStability
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.inspection.displays import StabilityDisplay
    >>> stability = KnifeStability(n_pairs=3).fit(*make_skin_of_orange(100, 6, random_state=0))
    >>> display = StabilityDisplay.from_estimator(stability)
    >>> len(display.lines_) == len(stability.get_support(indices=True))
    True
    """

    def __init__(self, estimator):
        check_is_fitted(estimator, "ranks_")
        p = estimator.n_units_
        self.n_votes = np.unique(np.round(np.geomspace(1, p, MOST_COUNTS)).astype(int))
        self.shares = np.array([estimator.vote_shares(int(count)) for count in self.n_votes])
        columns = getattr(estimator, "feature_names_in_", None)
        columns = column_names(columns, estimator.n_features_in_)
        members = [np.flatnonzero(estimator.units_ == unit) for unit in range(p)]
        self.feature_names = [" + ".join(str(columns[j]) for j in mine) for mine in members]
        self.selected = np.array([bool(estimator.support_[mine[0]]) for mine in members])
        self.chosen_votes, self.threshold = estimator.n_votes_, estimator.threshold_

    def _draw(self, ax, style):
        others = np.flatnonzero(~self.selected)
        ax.plot(self.n_votes, self.shares[:, others], color=st.GRAY, linewidth=0.7, zorder=1)
        middle = int(np.argmin(np.abs(self.n_votes - self.chosen_votes)))
        chosen = np.flatnonzero(self.selected)
        chosen = chosen[np.argsort(-self.shares[middle, chosen], kind="stable")]
        self.lines_ = []
        for j, color in zip(chosen, st.color_lines(len(chosen)), strict=True):
            look = {"color": color, "linewidth": 1.8, "zorder": 3, **style}
            name = str(self.feature_names[j])
            self.lines_ += ax.plot(self.n_votes, self.shares[:, j], label=name, **look)
        mark = {"color": st.INK, "linewidth": 1.0, "linestyle": st.CHOSEN_DASH, "zorder": 2}
        ax.axhline(self.threshold, **mark)
        ax.axvline(self.chosen_votes, **mark)
        where = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": "small"}
        ax.annotate(f"{self.chosen_votes} votes per half-sample", (self.chosen_votes, 0.0), **where)
        ax.set_xscale("log")
        if len(self.n_votes) > 1:
            ax.set_xlim(self.n_votes[0], self.n_votes[-1])
        ax.set_ylim(0.0, 1.03)
        st.name_axes(ax, "features that each half-sample votes for", "share of half-samples", 60)
        st.round_ticks(ax.xaxis, log=True)
        named = chosen[: len(st.COLORS)]
        points = [(self.n_votes[-1], self.shares[middle, j]) for j in named]
        colors = [line.get_color() for line in self.lines_[: len(named)]]
        st.label_lines(ax, points, [self.feature_names[j] for j in named], colors)
        if len(chosen) > len(named):
            ax.set_title(f"{len(chosen) - len(named)} more are not named", fontsize="small")


class ConvergenceDisplay(st.Display):
    """Objective by iteration, one line per start.

    Parameters
    ----------
    estimator : any fitted estimator of this package
        Of a cross-validated one the chosen model is taken.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        One line per start.

    Examples
    --------
    >>> from kernelknife import KnifeClassifier
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.inspection.displays import ConvergenceDisplay
    >>> model = KnifeClassifier(sparsity=5.0).fit(*make_skin_of_orange(80, 6, random_state=0))
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> len(display.lines_) == len(model.starts_)
    True
    """

    def __init__(self, estimator):
        self.histories = st.best_estimator(estimator).starts_

    def _draw(self, ax, style):
        best = int(np.argmin([history[-1] for _, history in self.histories]))
        self.lines_ = []
        colors = st.color_lines(len(self.histories))
        for i, (name, history) in enumerate(self.histories):
            look = {"color": colors[i], "linewidth": 2.2 if i == best else 1.2, **style}
            label = f"{name} (kept)" if i == best and len(self.histories) > 1 else name
            self.lines_ += ax.plot(np.arange(len(history)), history, label=label, **look)
            ax.plot(len(history) - 1, history[-1], "o", color=look["color"], markersize=4)
        st.name_axes(ax, "iteration", "objective")
        st.round_ticks(ax.xaxis, whole=True)
        if len(self.histories) > 1:
            draw_legend(ax, columns=3)
