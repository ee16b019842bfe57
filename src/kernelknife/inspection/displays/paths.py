"""Pictures of lines: paths of weights, of votes, and of the objective of a fit."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import column_names
from kernelknife._engine.search import rank_features
from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.style import (
    ACCENT,
    CHOSEN_DASH,
    COLORS,
    GRAY,
    LineDisplay,
    best_estimator,
    hide_frame,
    label_zero,
    line_style,
    log_positions,
    mark_penalty,
    shorten,
    spread_labels,
)

__all__ = [
    "CCAPathDisplay",
    "ConvergenceDisplay",
    "StabilityDisplay",
    "WeightPathDisplay",
]

MOST_LABELS = 15  # as many names fit into the margin of a figure of the default height
MOST_COLORED = 10  # lines that are colored when no penalty is chosen
LABEL_GAP = 0.062  # height of a line of small text, as a share of that figure's axes
HEADROOM = 1.04  # axes end this much above the largest weight
MOST_COUNTS = 60  # numbers of votes along the axis


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
        remain.
    sparsity : float, default=None
        A chosen penalty, which is marked. Features selected there are colored, all others gray.
        None colors the features that remain longest.

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
        gray = np.setdiff1d(np.flatnonzero(self.weights.any(axis=0)), colored)
        if len(gray):
            # Rasterized, because thousands of lines would make a vector file very large.
            style = {"color": GRAY, "linewidth": 0.7, "zorder": 1, "rasterized": True}
            ax.plot(x, self.weights[:, gray], **style)
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
        """Return the features selected at the chosen penalty, else those that remain longest."""
        ranking = rank_features(self.weights) if self.ranking is None else self.ranking
        order = np.argsort(ranking, kind="stable")
        if self.sparsity is not None:
            i = int(np.argmin(np.abs(self.sparsities - self.sparsity)))
            chosen = [j for j in order if self.weights[i, j] > 0]
            if chosen:
                return chosen[:MOST_LABELS]
        return [j for j in order if self.weights[:, j].any()][:MOST_COLORED]

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
        remain.
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


class StabilityDisplay(LineDisplay):
    """Share of half-samples that select a feature, against the number that each may select.

    Parameters
    ----------
    n_votes : ndarray of int of shape (n_points,)
        Features that each half-sample votes for.
    shares : ndarray of shape (n_points, n_features)
        Share of the half-samples that vote for a feature.
    feature_names : array-like of str
        Names for the labels.
    selected : ndarray of bool of shape (n_features,)
        Features that are colored and named.
    chosen_votes : int
        Number of votes that the error bound holds for, which is marked.
    threshold : float
        Share from which on features are selected, which is marked.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        The lines of the selected features.

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

    def __init__(self, n_votes, shares, feature_names, *, selected, chosen_votes, threshold):
        self.n_votes = n_votes
        self.shares = shares
        self.feature_names = feature_names
        self.selected = selected
        self.chosen_votes = chosen_votes
        self.threshold = threshold

    @classmethod
    def _of_estimator(cls, estimator):
        check_is_fitted(estimator, "ranks_")
        p = estimator.n_units_
        counts = np.unique(np.round(np.geomspace(1, p, MOST_COUNTS)).astype(int))
        shares = np.array([estimator.vote_shares(int(count)) for count in counts])
        columns = getattr(estimator, "feature_names_in_", None)
        columns = column_names(columns, estimator.n_features_in_)
        names, selected = [], np.zeros(p, dtype=bool)
        for unit in range(p):
            members = np.flatnonzero(estimator.units_ == unit)
            names.append(" + ".join(str(columns[j]) for j in members))
            selected[unit] = estimator.support_[members[0]]
        return cls(
            counts,
            shares,
            names,
            selected=selected,
            chosen_votes=estimator.n_votes_,
            threshold=estimator.threshold_,
        )

    def _draw(self, ax, line_kwargs):
        others = np.flatnonzero(~self.selected)
        ax.plot(self.n_votes, self.shares[:, others], color=GRAY, linewidth=0.7, zorder=1)
        middle = int(np.argmin(np.abs(self.n_votes - self.chosen_votes)))
        chosen = np.flatnonzero(self.selected)
        chosen = chosen[np.argsort(-self.shares[middle, chosen], kind="stable")]
        self.lines_ = []
        for i, j in enumerate(chosen):
            style = {**line_style(i), "linewidth": 1.8, "zorder": 3, **line_kwargs}
            self.lines_ += ax.plot(
                self.n_votes, self.shares[:, j], label=str(self.feature_names[j]), **style
            )
        mark = {"color": ACCENT, "linewidth": 1.0, "linestyle": CHOSEN_DASH, "zorder": 2}
        ax.axhline(self.threshold, **mark)
        ax.axvline(self.chosen_votes, **mark)
        ax.annotate(
            f"{self.chosen_votes} votes per half-sample",
            (self.chosen_votes, 0.0),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize="small",
            color=ACCENT,
        )
        ax.set_xscale("log")
        if len(self.n_votes) > 1:
            ax.set_xlim(self.n_votes[0], self.n_votes[-1])
        ax.set_ylim(0.0, 1.03)
        ax.set_xlabel("features that each half-sample votes for")
        ax.set_ylabel("share of half-samples")
        hide_frame(ax)
        self._name_lines(ax, chosen, middle)

    def _name_lines(self, ax, chosen, middle):
        """Write the names of the selected features beside the axes, ordered by their votes."""
        named = chosen[:MOST_LABELS]
        places = spread_labels(list(self.shares[middle, named] / 1.03), LABEL_GAP)
        for line, j, place in zip(self.lines_, named, places, strict=False):
            ax.annotate(
                shorten(self.feature_names[j]),
                (1.0, place),
                xycoords="axes fraction",
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=line.get_color(),
            )
        if len(chosen) > MOST_LABELS:
            ax.set_title(f"{len(chosen) - MOST_LABELS} more are not named", fontsize="small")


class ConvergenceDisplay(LineDisplay):
    """Objective by iteration, one line per start.

    Parameters
    ----------
    histories : list of (str, ndarray)
        Name of every start, and the objective after every iteration from it.

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

    def __init__(self, histories):
        self.histories = histories

    @classmethod
    def _of_estimator(cls, estimator):
        estimator = best_estimator(estimator)
        check_is_fitted(estimator, "starts_")
        return cls(estimator.starts_)

    def _draw(self, ax, line_kwargs):
        best = int(np.argmin([history[-1] for _, history in self.histories]))
        self.lines_ = []
        for i, (name, history) in enumerate(self.histories):
            width = 2.2 if i == best else 1.2
            style = {**line_style(i), "linewidth": width, **line_kwargs}
            label = f"{name} (kept)" if i == best and len(self.histories) > 1 else name
            self.lines_ += ax.plot(np.arange(len(history)), history, label=label, **style)
            ax.plot(len(history) - 1, history[-1], "o", color=style["color"], markersize=4)
        ax.set_xlabel("iteration")
        ax.set_ylabel("objective")
        ax.xaxis.get_major_locator().set_params(integer=True)
        hide_frame(ax)
        if len(self.histories) > 1:
            ax.legend(frameon=False, fontsize="small", ncols=1 + len(self.histories) // 8)
