"""Pictures of paths, stand-ins, folds, convergence, weights, scores, kernels and effects.

The classes follow scikit-learn's Display convention: the constructor takes data, ``from_...`` reads
them from a result, and ``plot`` draws. matplotlib is imported only when something is drawn.
"""

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._choice import as_errors, cv_curves, rows_of_path
from kernelknife._support.checks import check_number
from kernelknife._support.optional import import_optional
from kernelknife.effects import GRID_POINTS
from kernelknife.path import rank_features
from kernelknife.stand_ins import percent

__all__ = [
    "CVDisplay",
    "ConvergenceDisplay",
    "CountDisplay",
    "EffectsDisplay",
    "KernelDisplay",
    "ScoresDisplay",
    "StandInsDisplay",
    "WeightPathDisplay",
    "WeightsDisplay",
    "best_by_count",
    "fewest_within_error",
    "log_positions",
    "spread_labels",
]

# Okabe and Ito's palette, which colour-blind readers can tell apart. When the colours are used up
# they are repeated with the next kind of dash.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
GREY = "#b8b8b8"  # lines in the background
DARK_GREY = "#777777"  # text that belongs to such lines
ACCENT = "#444444"  # marks and their text
CHOSEN_DASH = (0, (4, 3))  # of the vertical lines at chosen penalties
MOST_LABELS = 15  # as many names fit into the margin of a figure of the default height
MOST_COLOURED = 10  # lines that are coloured when no penalty is chosen
LABEL_GAP = 0.062  # height of a line of small text, as a share of that figure's axes
HEADROOM = 1.04  # axes end this much above the largest weight
MOST_BARS = 30  # a taller chart does not fit on a screen
MOST_ACROSS = 3  # panels beside each other, as many as fit on a page
PANEL = (3.3, 2.8)  # width and height of one of them, in inches
# Share of the points of an effect's grid at either end, and how much of the whole range these may
# take up: beyond, a few far values squeeze all others into a corner.
OUTER_POINTS, MOST_OUTER_RANGE = 0.1, 0.6


def _axes_or_new(ax, figsize=(7.0, 4.2)):
    """Return the given axes, or those of a new figure."""
    pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
    if ax is None:
        _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return ax


def _line_style(i):
    """Return colour and dash of line number ``i``."""
    dash = DASHES[i // len(COLOURS) % len(DASHES)]
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": dash}


def _best_estimator(estimator):
    """Return the model that a cross-validated estimator has chosen, or the model itself."""
    return getattr(estimator, "best_estimator_", estimator)


def _hide_frame(ax):
    """Hide the sides of the frame that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def _mark_penalty(ax, position, text):
    """Draw a vertical line at a penalty and write beside its upper end what it means."""
    ax.axvline(position, color=ACCENT, linewidth=1.0, linestyle=CHOSEN_DASH, zorder=2)
    ax.annotate(
        text,
        (position, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -2),
        textcoords="offset points",
        va="top",
        fontsize="small",
        color=ACCENT,
    )


def _shorten(name, limit=24):
    """Return a name of at most ``limit`` characters, with an ellipsis where it was cut."""
    name = str(name)
    return name if len(name) <= limit else name[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def spread_labels(heights, gap):
    """Return positions near ``heights``, in the same order, at least ``gap`` apart.

    Heights and positions are shares of the height of the axes. Labels that would reach above 1
    push those below them down.
    """
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights, dtype=float)[order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    excess = placed[-1] - 1.0 if len(placed) else 0.0
    if excess > 0:
        placed -= excess
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = np.empty_like(placed)
    result[order] = placed
    return result


def log_positions(sparsities):
    """Return positions of penalties on a logarithmic axis.

    A logarithm has no place for a penalty of zero: it is put one step to the left of the smallest
    positive penalty.
    """
    x = np.array(sparsities, dtype=float)
    positive = np.unique(x[x > 0])
    if not len(positive):
        return np.ones_like(x)
    step = positive[1] / positive[0] if len(positive) > 1 else 2.0
    x[x == 0] = positive[0] / max(step, 1.5)
    return x


class WeightPathDisplay:
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
        A chosen penalty, which is marked. Features selected there are coloured, all others grey.
        None colours the features that survive longest.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        The coloured lines, in order of rank.

    Examples
    --------
    >>> from kernelknife import knife_path
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.display import WeightPathDisplay
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
            Passed to every coloured line.

        Returns
        -------
        WeightPathDisplay
            The display, already drawn.
        """
        display = cls(
            path.sparsities,
            path.weights,
            path.feature_names,
            ranking=path.ranking,
            sparsity=sparsity,
        )
        return display.plot(ax=ax, line_kwargs=line_kwargs)

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, line_kwargs=None):
        """Draw the path of a cross-validated estimator and mark the penalty that it has chosen.

        Parameters
        ----------
        estimator : KnifeRegressorCV or KnifeClassifierCV
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        WeightPathDisplay
            The display, already drawn.
        """
        check_is_fitted(estimator, "path_")
        return cls.from_path(
            estimator.path_, sparsity=estimator.sparsity_, ax=ax, line_kwargs=line_kwargs
        )

    def plot(self, *, ax=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every coloured line.

        Returns
        -------
        self : WeightPathDisplay
            The display, with what was drawn as attributes.
        """
        ax = _axes_or_new(ax, (7.0, 4.4))
        x = log_positions(self.sparsities)
        coloured = self._coloured_features()
        self._draw_grey_lines(ax, x, coloured)
        self.lines_ = []
        for i, j in enumerate(coloured):
            style = {"linewidth": 1.8, "zorder": 3, **_line_style(i), **(line_kwargs or {})}
            self.lines_ += ax.plot(x, self.weights[:, j], label=str(self.feature_names[j]), **style)
        top = HEADROOM * max(1e-3, float(self.weights.max(initial=0.0)))
        ax.set_ylim(0.0, top)
        ax.set_xscale("log")
        if x[0] < x[-1]:
            ax.set_xlim(x[0], x[-1])
        ax.set_xlabel("sparsity")
        ax.set_ylabel("weight")
        _hide_frame(ax)
        self._label_zero(ax, x)
        self._label_lines(ax, x, coloured, top)
        if self.sparsity is not None:
            _mark_penalty(ax, max(float(self.sparsity), x[0]), "chosen")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _coloured_features(self):
        """Return the features selected at the chosen penalty, else those that survive longest."""
        ranking = rank_features(self.weights) if self.ranking is None else self.ranking
        order = np.argsort(ranking, kind="stable")
        if self.sparsity is not None:
            i = int(np.argmin(np.abs(self.sparsities - self.sparsity)))
            chosen = [j for j in order if self.weights[i, j] > 0]
            if chosen:
                return chosen[:MOST_LABELS]
        return [j for j in order if self.weights[:, j].any()][:MOST_COLOURED]

    def _draw_grey_lines(self, ax, x, coloured):
        """Draw the features that are not coloured, without those that are zero everywhere."""
        others = np.setdiff1d(np.flatnonzero(self.weights.any(axis=0)), coloured)
        if len(others):
            # Rasterised, because thousands of lines would make a vector file very large.
            style = {"color": GREY, "linewidth": 0.7, "zorder": 1, "rasterized": True}
            ax.plot(x, self.weights[:, others], **style)

    def _label_zero(self, ax, x):
        """Write "0" below the leftmost point where that stands for a penalty of zero."""
        if self.sparsities[0] == 0 and len(x) > 1:
            ax.annotate(
                "0",
                (x[0], 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -14),
                textcoords="offset points",
                ha="center",
                fontsize="small",
                color=ACCENT,
            )

    def _label_lines(self, ax, x, coloured, top):
        """Write the names of the coloured lines into the right margin.

        A thin leader joins each name to the last point where its line has half its largest weight.
        """
        if not coloured:
            return
        anchors = []
        for j in coloured:
            weights = self.weights[:, j]
            anchors.append(int(np.flatnonzero(weights >= 0.5 * weights.max())[-1]))
        places = spread_labels(self.weights[anchors, coloured] / top, LABEL_GAP)
        for line, j, i, place in zip(self.lines_, coloured, anchors, places, strict=True):
            colour = line.get_color()
            ax.annotate(
                _shorten(self.feature_names[j]),
                (x[i], self.weights[i, j]),
                xytext=(1.02, place),
                textcoords="axes fraction",
                va="center",
                fontsize="small",
                color=colour,
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.45},
            )


class StandInsDisplay:
    """What could take the place of each selected column.

    One line per selected column and column in its place. A bar ends at the share of what is lost
    without the selected column that the other one makes up for: at 100 % it is as good. The thin
    line across the end is one standard error to both sides, and the number beside it the rise of
    the held-out loss by the exchange.

    Parameters
    ----------
    stand_ins : StandIns
        What to draw.
    most : int, default=4
        Stand-ins drawn per selected column.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    bars_ : list of BarContainer
        The bars.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.display import StandInsDisplay
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> X[:, 3] = X[:, 0] + 0.1 * X[:, 3]  # nearly a copy
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, np.sin(2 * X[:, 0]))
    >>> display = StandInsDisplay(model.stand_ins(X, np.sin(2 * X[:, 0]))).plot()
    >>> len(display.figure_.axes) > 0
    True
    """

    def __init__(self, stand_ins, *, most=4):
        check_number(most, "most", low=1, integer=True)
        self.stand_ins = stand_ins
        self.most = most

    @classmethod
    def from_path(cls, path, i, *, most=4, ax=None, bar_kwargs=None, **options):
        """Draw the stand-ins of one point of a path.

        Parameters
        ----------
        path : PathResult
            What :func:`kernelknife.knife_path` returned.
        i : int
            Index of a point of the path.
        most, ax, bar_kwargs : as in the constructor and plot
            See the constructor and :meth:`plot`.
        **options
            Of :meth:`kernelknife.PathResult.stand_ins`.

        Returns
        -------
        StandInsDisplay
            The display, already drawn.
        """
        return cls(path.stand_ins(i, **options), most=most).plot(ax=ax, bar_kwargs=bar_kwargs)

    def plot(self, *, ax=None, bar_kwargs=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        bar_kwargs : dict, default=None
            Style of the bars.

        Returns
        -------
        StandInsDisplay
            The display, with what was drawn as attributes.
        """
        places = self.stand_ins.places[:MOST_BARS]
        lines = sum(1 + max(len(place.stand_ins[: self.most]), 1) for place in places)
        ax = _axes_or_new(ax, figsize=(7.0, max(2.0, 0.27 * lines + 0.9)))
        style = {"height": 0.68, **(bar_kwargs or {})}
        self.ax_, self.figure_, self.bars_ = ax, ax.figure, []
        ticks, names, y = [], [], 0
        for i, place in enumerate(places):
            self._write(place.name, y, x=0.01, weight="bold")
            note = f"without it {percent(place.cost)}"
            self._write(note, y, x=0.985, ha="right", color=DARK_GREY, fontsize=8)
            y += 1
            for one in place.stand_ins[: self.most]:
                self._bar(one, y, {"color": COLOURS[i % len(COLOURS)], **style})
                ticks.append(y)
                names.append(_shorten(one.name))
                y += 1
            if not place.stand_ins:
                why = "nothing replaces it" if place.needed else "it is hardly needed"
                self._write(why, y, x=0.01, style="italic", color=DARK_GREY)
                y += 1
        if places:
            self._write("held-out loss", 0, x=1.14, color=DARK_GREY, fontsize=8)
        ax.set_ylim(y - 0.4, -0.7)
        ax.set_xlim(0.0, 1.35)
        ax.set_yticks(ticks, names)
        ax.tick_params(axis="y", length=0)
        shares = np.linspace(0.0, 1.0, 5)
        ax.set_xticks(shares, [f"{100 * share:.0f} %" for share in shares])
        ax.axvline(1.0, color=ACCENT, linewidth=1.0, linestyle=CHOSEN_DASH, zorder=0)
        ax.set_xlabel("share of the loss that the column makes up for")
        _hide_frame(ax)
        return self

    def _bar(self, one, y, style):
        share = 1.0 if np.isnan(one.makes_up) else float(np.clip(one.makes_up, 0.0, 1.1))
        spread = 0.0 if np.isnan(one.standard_error) else one.standard_error
        self.bars_.append(self.ax_.barh(y, share, alpha=0.85, **style))
        self.ax_.plot([share - spread, min(share + spread, 1.12)], [y, y], color=ACCENT, lw=1.0)
        text = percent(one.cost) + (", selected too" if one.selected else "")
        self._write(text, y, x=1.14, fontsize=8)

    def _write(self, text, y, *, x, ha="left", **style):
        self.ax_.text(x, y, _shorten(text, 40), ha=ha, va="center", **style)


class CVDisplay:
    """Cross-validated score against the penalty, one line per kernel, or per alpha of one kernel.

    Parameters
    ----------
    results : dict of ndarray
        ``cv_results_`` of a cross-validated estimator.
    choices : dict of int
        For the rules "min" and "1se", the index into ``results`` that each would choose.
    chosen : int
        Index into ``results`` of the setting that the estimator has chosen.
    name : str, default="score"
        Name of the score, such as "accuracy" or "neg_mean_squared_error". Scores of which a larger
        one is better are drawn as errors where the name says how to convert them.

    Attributes
    ----------
    ax_, count_ax_, figure_ : matplotlib objects
        ``count_ax_`` is the second vertical axis, with the number of features.
    lines_ : list of Line2D
        One line per alpha.

    Examples
    --------
    >>> from kernelknife import KnifeClassifierCV
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.display import CVDisplay
    >>> search = KnifeClassifierCV("rbf", alphas=[0.3, 1.0], relax=False, sparsities=8, cv=3)
    >>> display = CVDisplay.from_estimator(search.fit(*make_skin_of_orange(60, 2, random_state=0)))
    >>> len(display.lines_)
    2
    """

    def __init__(self, results, *, choices, chosen, name="score"):
        self.results = results
        self.choices = choices
        self.chosen = chosen
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, line_kwargs=None):
        """Draw the cross-validation of a fitted estimator.

        Parameters
        ----------
        estimator : KnifeRegressorCV or KnifeClassifierCV
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        CVDisplay
            The display, already drawn.
        """
        check_is_fitted(estimator, "cv_results_")
        display = cls(
            estimator.cv_results_,
            choices=estimator.choices_,
            chosen=estimator.best_index_,
            name=estimator.score_name_,
        )
        return display.plot(ax=ax, line_kwargs=line_kwargs)

    def plot(self, *, ax=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every line.

        Returns
        -------
        self : CVDisplay
            The display, with what was drawn as attributes.
        """
        ax = _axes_or_new(ax, (7.0, 4.4))
        results = self.results
        name, mean = self._named_values()
        self.lines_ = []
        for i, curve in enumerate(cv_curves(results, self.chosen)):
            rows, label = curve.rows, curve.label
            x = log_positions(results["sparsity"][rows])
            style = {**_line_style(i), "linewidth": 1.4, **(line_kwargs or {})}
            if curve.chosen:
                label += " (chosen)"
                style |= {"linewidth": 2.2, "zorder": 4}
                error = results["standard_error"][rows]
                band = {"color": style["color"], "alpha": 0.18, "linewidth": 0}
                ax.fill_between(x, mean[rows] - error, mean[rows] + error, **band)
                self._draw_count(ax, x, results["mean_n_features"][rows])
            self.lines_ += ax.plot(x, mean[rows], label=label, **style)
        self._mark_choices(ax, mean)
        if (results["sparsity"] > 0).any():
            ax.set_xscale("log")
        ax.set_xlabel("sparsity")
        ax.set_ylabel(f"cross-validated {name}")
        ax.spines["top"].set_visible(False)
        ax.legend(fontsize="small", loc="best", framealpha=0.9, edgecolor="none")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _named_values(self):
        """Return a readable name and the mean scores, as errors where that is possible."""
        return as_errors(self.name, self.results["mean_test_score"])

    def _draw_count(self, ax, x, count):
        """Draw the number of features on a second vertical axis, behind the errors."""
        self.count_ax_ = twin = ax.twinx()
        twin.step(x, count, where="post", color=GREY, linewidth=1.0, zorder=0)
        twin.set_ylabel("features (mean over folds)", color=DARK_GREY)
        twin.tick_params(axis="y", colors=DARK_GREY)
        twin.set_ylim(0, 1.05 * max(1.0, count.max()))
        twin.spines["top"].set_visible(False)
        # matplotlib draws the newer axes on top; the order is reversed, and the upper axes must
        # not hide the lower ones with their background.
        ax.set_zorder(twin.get_zorder() + 1)
        ax.patch.set_visible(False)

    def _mark_choices(self, ax, mean):
        """Mark the penalty that each rule would choose, and the setting that was chosen."""
        x = log_positions(self.results["sparsity"])
        rules_at: dict[float, list[str]] = {}  # both rules may choose the same penalty
        for rule, i in self.choices.items():
            rules_at.setdefault(float(x[i]), []).append(rule)
        for position, rules in rules_at.items():
            _mark_penalty(ax, position, ", ".join(rules))
        ax.plot(x[self.chosen], mean[self.chosen], "o", color=ACCENT, markersize=6, zorder=5)


def best_by_count(counts, errors) -> dict[int, int]:
    """Return for every number of features the index of the point with the least error.

    Parameters
    ----------
    counts : ndarray of int of shape (n_points,)
        Number of features at every point of a path.
    errors : ndarray of shape (n_points,)

    Returns
    -------
    dict
        From a number of features to an index, in the order of the numbers.
    """
    best: dict[int, int] = {}
    for i, (count, error) in enumerate(zip(map(int, counts), errors, strict=True)):
        if np.isfinite(error) and (count not in best or error < errors[best[count]]):
            best[count] = i
    return dict(sorted(best.items()))


def fewest_within_error(errors, spread) -> int:
    """Return the first index whose error is within one standard error of the least.

    Parameters
    ----------
    errors, spread : ndarray
        Mean errors and their standard errors, in the order of the number of features.
    """
    least = int(np.nanargmin(errors))
    return int(np.flatnonzero(errors <= errors[least] + spread[least])[0])


class CountDisplay:
    """Cross-validated error against the number of features.

    The least error is marked, and so are the fewest features whose error is within one standard
    error of it.

    Parameters
    ----------
    counts : ndarray of int of shape (n_points,)
        Number of features at every point of a path.
    errors, spread : ndarray of shape (n_points,)
        Mean error over the folds at every point, and its standard error.
    name : str, default="error"
        What the errors are, for the axis.

    Attributes
    ----------
    counts_, errors_ : ndarray
        The numbers of features that are drawn, and the least error of each.
    least_, fewest_ : int
        Number of features with the least error, and the fewest within one standard error of it.
    ax_, figure_ : matplotlib objects
        What was drawn on.
    line_ : Line2D
        The line of the errors.

    Examples
    --------
    >>> from kernelknife import KnifeRegressorCV
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.display import CountDisplay
    >>> X, y = make_sinusoidal(80, 3, random_state=0)
    >>> search = KnifeRegressorCV(alphas=0.3, sparsities=12, cv=3).fit(X, y)
    >>> display = CountDisplay.from_estimator(search)
    >>> display.fewest_ <= display.least_
    True
    """

    def __init__(self, counts, errors, spread, name="error"):
        self.counts = np.asarray(counts)
        self.errors = np.asarray(errors, dtype=float)
        self.spread = np.asarray(spread, dtype=float)
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, line_kwargs=None):
        """Draw the cross-validation of a fitted estimator, for the alpha that it has chosen.

        Parameters
        ----------
        estimator : KnifeRegressorCV or KnifeClassifierCV
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        CountDisplay
            The display, already drawn.
        """
        check_is_fitted(estimator, "cv_results_")
        results, path = estimator.cv_results_, estimator.path_
        rows = rows_of_path(results, estimator.best_index_)
        if len(rows) < len(path):
            raise ValueError(
                "The folds were asked for one number of features: there is nothing to compare. Fit "
                "without n_features_to_select."
            )
        # The path ends where the last feature leaves; the folds go on to the end of the grid.
        name, errors = as_errors(estimator.score_name_, results["mean_test_score"][rows])
        if name == estimator.score_name_:
            name, errors = f"-{name}", -errors  # no error that we know: less is better all the same
        spread = results["standard_error"][rows]
        display = cls(path.n_selected, errors[: len(path)], spread[: len(path)], name)
        return display.plot(ax=ax, line_kwargs=line_kwargs)

    def plot(self, *, ax=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to the line.

        Returns
        -------
        self : CountDisplay
            The display itself.
        """
        ax = _axes_or_new(ax)
        best = best_by_count(self.counts, self.errors)
        points = list(best.values())
        x, y, spread = np.array(list(best)), self.errors[points], self.spread[points]
        style = {**_line_style(0), "marker": "o", "markersize": 4, **(line_kwargs or {})}
        band = {"color": style["color"], "alpha": 0.18, "linewidth": 0}
        ax.fill_between(x, y - spread, y + spread, **band)
        (self.line_,) = ax.plot(x, y, **style)
        least, fewest = int(np.argmin(y)), fewest_within_error(y, spread)
        ax.axhline(y[least] + spread[least], color=GREY, linewidth=1.0, zorder=0)
        marks = (("least error", least, "o"), ("fewest within one standard error", fewest, "D"))
        for i, (text, place, marker) in enumerate(marks, start=1):
            noun = "feature" if x[place] == 1 else "features"
            look = {"color": COLOURS[i], "linestyle": "none", "markersize": 10 - 3 * (i - 1)}
            label = f"{text}: {x[place]} {noun}"
            ax.plot(x[place], y[place], marker=marker, label=label, zorder=4 + i, **look)
        ax.legend(fontsize="small", loc="best", framealpha=0.9, edgecolor="none")
        if x[-1] > MOST_BARS:
            ax.set_xscale("symlog", linthresh=1.0)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"cross-validated {self.name}")
        _hide_frame(ax)
        self.counts_, self.errors_ = x, y
        self.least_, self.fewest_ = int(x[least]), int(x[fewest])
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ConvergenceDisplay:
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
    >>> from kernelknife.display import ConvergenceDisplay
    >>> model = KnifeClassifier(sparsity=5.0).fit(*make_skin_of_orange(80, 6, random_state=0))
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> len(display.lines_) == len(model.starts_)
    True
    """

    def __init__(self, histories):
        self.histories = histories

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, line_kwargs=None):
        """Draw the convergence of a fitted estimator.

        Parameters
        ----------
        estimator : KnifeRegressor or KnifeClassifier
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot``.

        Returns
        -------
        ConvergenceDisplay
            The display, already drawn.
        """
        estimator = _best_estimator(estimator)
        check_is_fitted(estimator, "starts_")
        return cls(estimator.starts_).plot(ax=ax, line_kwargs=line_kwargs)

    def plot(self, *, ax=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every line.

        Returns
        -------
        self : ConvergenceDisplay
            The display, with what was drawn as attributes.
        """
        ax = _axes_or_new(ax)
        best = int(np.argmin([history[-1] for _, history in self.histories]))
        self.lines_ = []
        for i, (name, history) in enumerate(self.histories):
            width = 2.2 if i == best else 1.2
            style = {**_line_style(i), "linewidth": width, **(line_kwargs or {})}
            label = f"{name} (kept)" if i == best and len(self.histories) > 1 else name
            self.lines_ += ax.plot(np.arange(len(history)), history, label=label, **style)
            ax.plot(len(history) - 1, history[-1], "o", color=style["color"], markersize=4)
        ax.set_xlabel("iteration")
        ax.set_ylabel("objective")
        ax.xaxis.get_major_locator().set_params(integer=True)
        _hide_frame(ax)
        if len(self.histories) > 1:
            ax.legend(frameon=False, fontsize="small", ncols=1 + len(self.histories) // 8)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class WeightsDisplay:
    """Bar chart of the selected features' weights.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Weights of the features.
    feature_names : array-like of str
        Names for the labels.

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib objects
        What was drawn.

    Examples
    --------
    >>> from kernelknife import KnifeClassifier
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.display import WeightsDisplay
    >>> model = KnifeClassifier(sparsity=8.0).fit(*make_skin_of_orange(100, 6, random_state=0))
    >>> display = WeightsDisplay.from_estimator(model)
    >>> len(display.bars_)
    4
    """

    def __init__(self, weights, feature_names):
        self.weights = weights
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, bar_kwargs=None):
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : any fitted estimator of this package
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        bar_kwargs : dict, default=None
            Passed on to ``Axes.barh``.

        Returns
        -------
        WeightsDisplay
            The display, already drawn.
        """
        check_is_fitted(estimator, "weights_")
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(len(estimator.weights_))]
        return cls(estimator.weights_, names).plot(ax=ax, bar_kwargs=bar_kwargs)

    def plot(self, *, ax=None, bar_kwargs=None):
        """Draw the largest weights, at most ``MOST_BARS`` (30) of them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        bar_kwargs : dict, default=None
            Passed on to ``Axes.barh``.

        Returns
        -------
        self : WeightsDisplay
            The display, with what was drawn as attributes.
        """
        order = np.argsort(-self.weights, kind="stable")
        order = order[self.weights[order] > 0]
        shown = order[:MOST_BARS]
        ax = _axes_or_new(ax, (6.0, 1.0 + 0.26 * max(3, len(shown))))
        places = np.arange(len(shown))
        style = {"color": COLOURS[0], "height": 0.7, **(bar_kwargs or {})}
        self.bars_ = ax.barh(places, self.weights[shown], **style)
        ax.set_yticks(places, [_shorten(self.feature_names[j], 32) for j in shown])
        ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        ax.bar_label(self.bars_, fmt="%.2g", padding=3, fontsize="small", color=ACCENT)
        ax.margins(x=0.12)
        ax.set_xlabel("weight")
        ax.tick_params(axis="y", length=0)
        _hide_frame(ax)
        ax.set_title(self._title(len(shown), len(order)), fontsize="medium", loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _title(self, shown, selected):
        """Return how many features are selected, and how many of them are shown."""
        total = len(self.weights)
        if not selected:
            return f"none of {total} features selected"
        text = f"{selected} of {total} features selected"
        return text if shown == selected else f"{text}, the largest {shown} shown"


class ScoresDisplay:
    """Rows at two of their scores: principal components, discriminants or canonical scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
        Two scores per row.
    labels : array-like of shape (n_samples,), default=None
        Values that colour the rows: texts and at most seven different values get a colour each,
        other numbers a scale.
    axis_names : pair of str, default=("score 1", "score 2")
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    dots_ : list of matplotlib collections
        The dots, one collection per class.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.display import ScoresDisplay
    >>> scores = np.random.default_rng(0).normal(size=(20, 2))
    >>> ScoresDisplay(scores).plot().ax_.get_xlabel()
    'score 1'
    """

    def __init__(self, scores, labels=None, axis_names=("score 1", "score 2")):
        self.scores = scores
        self.labels = labels
        self.axis_names = axis_names

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, labels=None, ax=None, scatter_kwargs=None):
        """Draw the scores of rows by a fitted estimator.

        Parameters
        ----------
        estimator : KnifePCA, KnifeDiscriminant or KnifeCCA
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Rows to compare with each other.
        y : array-like, default=None
            For canonical correlation the second table, whose first scores are then drawn against
            those of ``X``.
        labels : array-like of shape (n_samples,), default=None
            Classes or numbers that colour the rows.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        scatter_kwargs : dict, default=None
            Passed on to ``Axes.scatter``.

        Returns
        -------
        ScoresDisplay
            The display, already drawn.
        """
        check_is_fitted(estimator)
        if y is not None:
            first, second = (np.asarray(part)[:, 0] for part in estimator.transform(X, y))
            names = ("score by X", "score by y")
        else:
            scores = np.asarray(estimator.transform(X))
            # A single score is drawn against the order of the rows.
            single = scores.shape[1] == 1
            first = np.arange(len(scores)) if single else scores[:, 0]
            second = scores[:, 0] if single else scores[:, 1]
            names = ("row", "score 1") if single else ("score 1", "score 2")
        display = cls(np.column_stack([first, second]), labels, names)
        return display.plot(ax=ax, scatter_kwargs=scatter_kwargs)

    def plot(self, *, ax=None, scatter_kwargs=None):
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        scatter_kwargs : dict, default=None
            Passed on to ``Axes.scatter``.

        Returns
        -------
        self : ScoresDisplay
            The display, with what was drawn as attributes.
        """
        ax = _axes_or_new(ax, (5.6, 4.4))
        style = {"s": 16, "alpha": 0.8, **(scatter_kwargs or {})}
        x, y = self.scores.T
        labels = None if self.labels is None else np.asarray(self.labels)
        if labels is None:
            self.dots_ = [ax.scatter(x, y, **{"color": COLOURS[0], **style})]
        elif labels.dtype.kind == "f" and len(np.unique(labels)) > len(COLOURS):
            self.dots_ = [ax.scatter(x, y, c=labels, **style)]
            ax.figure.colorbar(self.dots_[0], ax=ax)
        else:
            self.dots_ = [
                ax.scatter(
                    x[labels == value],
                    y[labels == value],
                    **{"color": COLOURS[i % len(COLOURS)], **style},
                    label=_shorten(value),
                )
                for i, value in enumerate(np.unique(labels))
            ]
            ax.legend(frameon=False, fontsize="small")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        _hide_frame(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class KernelDisplay:
    """The kernel matrix with equal and with fitted weights, rows ordered by the target.

    Parameters
    ----------
    before, after : ndarray of shape (n, n)
        Kernel matrices with equal and with fitted weights, their rows in the order to be drawn.
    groups : list of (str, int), default=()
        Name and number of rows of every class, in that order.

    Attributes
    ----------
    axes_ : ndarray of two Axes
        What was drawn on.
    figure_ : Figure
        The figure.
    images_ : list of AxesImage
        The two matrices as pictures.

    Examples
    --------
    >>> from kernelknife import KnifeClassifier
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.display import KernelDisplay
    >>> X, y = make_skin_of_orange(80, 6, random_state=0)
    >>> model = KnifeClassifier(sparsity=5.0).fit(X, y)
    >>> display = KernelDisplay.from_estimator(model, X, y)
    >>> len(display.images_)
    2
    """

    def __init__(self, before, after, groups=()):
        self.before = before
        self.after = after
        self.groups = groups

    @classmethod
    def from_estimator(cls, estimator, X, y, *, axes=None):
        """Draw the kernel of a fitted estimator on the rows ``X``.

        Parameters
        ----------
        estimator : KnifeRegressor or KnifeClassifier
            A fitted estimator.
        X : array-like of shape (n_samples, n_features)
            Rows to compare with each other.
        y : array-like of shape (n_samples,)
            Classes, or numbers to order the rows by.
        axes : sequence of two matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        KernelDisplay
            The display, already drawn.
        """
        estimator = _best_estimator(estimator)
        check_is_fitted(estimator, "weights_")
        before, after = estimator.kernel_matrices(X)
        y = np.asarray(y).reshape(len(before), -1)[:, 0]
        order = np.argsort(y, kind="stable")
        groups = []
        if hasattr(estimator, "classes_"):
            groups = [(str(c), int(np.sum(y == c))) for c in estimator.classes_]
        ordered = np.ix_(order, order)
        return cls(before[ordered], after[ordered], groups).plot(axes=axes)

    def plot(self, *, axes=None):
        """Draw the two matrices side by side.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : KernelDisplay
            The display, with what was drawn as attributes.
        """
        pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
        if axes is None:
            _, axes = pyplot.subplots(1, 2, figsize=(8.0, 4.0), layout="constrained")
        self.images_ = []
        for ax, matrix, title in zip(
            axes, (self.before, self.after), ("all features", "weighted features"), strict=True
        ):
            # The diagonal of ones and a few outliers would take most of the colour scale.
            low, high = np.percentile(matrix, [1, 99])
            image = ax.imshow(matrix, cmap="viridis", vmin=low, vmax=max(high, low + 1e-12))
            self.images_.append(image)
            ax.set_title(title, fontsize="medium")
            ax.set_xticks([])
            ax.set_yticks([])
            ax.figure.colorbar(image, ax=ax, shrink=0.75)
            self._separate_classes(ax)
        self.axes_, self.figure_ = np.asarray(axes), axes[0].figure
        return self

    def _separate_classes(self, ax):
        """Draw lines between the classes and name them."""
        edges = np.cumsum([0, *(size for _, size in self.groups)]) - 0.5
        for edge in edges[1:-1]:
            ax.axhline(edge, color="white", linewidth=1.0)
            ax.axvline(edge, color="white", linewidth=1.0)
        if len(self.groups):
            middles = (edges[:-1] + edges[1:]) / 2
            ax.set_yticks(middles, [_shorten(name, 12) for name, _ in self.groups])
            ax.tick_params(length=0)


class EffectsDisplay:
    """What columns do alone, as curves, and what pairs do together, as coloured surfaces.

    All curves have one vertical scale and all surfaces one colour scale, so that a large effect
    looks large. Both are centred: zero is an average row. Effects of three columns are not drawn.
    Of a column with a few far values only the range is shown that most of its values lie in.

    Parameters
    ----------
    effects : list of kernelknife.effects.Effect
        Effects of one or two columns and of one output. Curves are drawn before surfaces, otherwise
        in this order.
    shares : list of float
        Share of the fitted variance of each.
    label : str, default="adds to the prediction"
        What the effects are.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One for every effect, in the order drawn.
    figure_ : Figure
        The figure.
    lines_ : list of Line2D
        The curves of the main effects.
    surfaces_ : list of QuadMesh
        The surfaces of the pairs.

    See Also
    --------
    kernelknife.KnifeRegressor.effects : The shares of all effects, as a table.

    Examples
    --------
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.display import EffectsDisplay
    >>> X, y = make_sinusoidal(80, 3, random_state=0)
    >>> model = KnifeRegressor(kernel="additive", sparsity=30.0).fit(X, y)
    >>> display = EffectsDisplay.from_estimator(model, most=3)
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['x0', 'x1', 'x2']
    """

    def __init__(self, effects, shares, label="adds to the prediction"):
        self.effects = effects
        self.shares = shares
        self.label = label

    @classmethod
    def from_estimator(
        cls, estimator, *, most=6, output=0, axes=None, line_kwargs=None, surface_kwargs=None
    ):
        """Draw the largest effects of a fitted additive or ANOVA machine.

        Parameters
        ----------
        estimator : any fitted estimator of this package
            Of a cross-validated one the chosen model is taken.
        most : int, default=6
            Number of effects to draw at most, the largest shares first.
        output : int, default=0
            Which output of a regressor with several, or which entry of ``classes_`` of a classifier
            with more than two. Two classes have one score, which is that of the second class.
        axes : sequence of matplotlib Axes, default=None
            At least as many as there are effects to draw. None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every curve.
        surface_kwargs : dict, default=None
            Passed to every surface.

        Returns
        -------
        EffectsDisplay
            The display, already drawn.
        """
        estimator = _best_estimator(estimator)
        check_is_fitted(estimator, "weights_")
        check_number(most, "most", low=1, integer=True)
        drawable = [effect for effect in estimator.effects() if len(effect.names) < 3][:most]
        if not drawable:
            raise ValueError("No column is selected, so that there is no effect to draw.")
        # A column is asked for by its place: names need not be different.
        effects = [estimator.effect(*effect.columns) for effect in drawable]
        effects = [_one_output(effect, output) for effect in effects]
        shares = [effect.share for effect in drawable]
        display = cls(effects, shares, _output_in_words(estimator, output))
        return display.plot(axes=axes, line_kwargs=line_kwargs, surface_kwargs=surface_kwargs)

    def plot(self, *, axes=None, line_kwargs=None, surface_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            At least one for every effect. None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every curve.
        surface_kwargs : dict, default=None
            Passed to every surface.

        Returns
        -------
        self : EffectsDisplay
            The display, with what was drawn as attributes.
        """
        axes = self._axes_or_new(axes)
        pairs = list(zip(self.effects, self.shares, strict=True))
        pairs.sort(key=lambda pair: len(pair[0].names))  # stable: otherwise the order stays
        self.lines_: list = []
        self.surfaces_: list = []
        for ax, (effect, share) in zip(axes, pairs, strict=True):
            if len(effect.names) == 1:
                self._draw_curve(ax, effect, line_kwargs)
            else:
                self._draw_surface(ax, effect, surface_kwargs)
            ax.set_title(f"{_percent(share)} of the variance", fontsize="medium", loc="left")
        self._share_heights(axes[: len(self.lines_)])
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _axes_or_new(self, axes):
        """Return one axes per effect: the first of those given, or those of a new figure."""
        pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
        n = len(self.effects)
        if axes is None:
            across = min(n, MOST_ACROSS)
            down = -(-n // across)
            size = (PANEL[0] * across, PANEL[1] * down)
            figure, axes = pyplot.subplots(
                down, across, figsize=size, squeeze=False, layout="constrained"
            )
            figure.get_layout_engine().set(h_pad=0.08, w_pad=0.08)
            for ax in axes.ravel()[n:]:
                figure.delaxes(ax)
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) < n:
            raise ValueError(f"{n} effects need {n} axes, got {len(axes)}.")
        return axes[:n]

    def _draw_curve(self, ax, effect, line_kwargs):
        """Draw what one column does alone; levels are dots."""
        (grid,) = effect.grids
        style = {"color": COLOURS[0], "linewidth": 2.0, **(line_kwargs or {})}
        if len(grid) < GRID_POINTS:
            style = {"marker": "o", "linewidth": 0.8, "linestyle": ":", **style}
        ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
        self.lines_ += ax.plot(grid, effect.values, **style)
        if _squeezed(grid):
            ax.set_xlim(_most_of(grid))
        ax.set_xlabel(_shorten(effect.names[0], 32))
        if ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col():
            ax.set_ylabel(self.label)
        _hide_frame(ax)

    def _share_heights(self, axes):
        """Give all curves the same vertical scale, with the names of the ticks at every one."""
        if len(axes):
            curves = [line.get_ydata() for line in self.lines_]
            low, high = min(c.min() for c in curves), max(c.max() for c in curves)
            room = 0.06 * (high - low) or 1.0
            for ax in axes:
                ax.set_ylim(low - room, high + room)

    def _draw_surface(self, ax, effect, surface_kwargs):
        """Draw what two columns do together; zero has the colour of the middle."""
        largest = max(np.abs(e.values).max() for e in self.effects if len(e.names) == 2) or 1.0
        style = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, "shading": "nearest"}
        x, y = effect.grids
        # Rasterised, because thousands of cells would make a vector file very large.
        style = {**style, "rasterized": True, **(surface_kwargs or {})}
        surface = ax.pcolormesh(x, y, effect.values.T, **style)
        self.surfaces_.append(surface)
        if _squeezed(x):
            ax.set_xlim(_most_of(x))
        if _squeezed(y):
            ax.set_ylim(_most_of(y))
        ax.set_xlabel(_shorten(effect.names[0], 32))
        ax.set_ylabel(_shorten(effect.names[1], 24))
        bar = ax.figure.colorbar(surface, ax=ax)
        bar.outline.set_visible(False)
        bar.set_label(self.label, fontsize="small")


def _percent(share):
    """Return a share in percent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if abs(share) >= 0.095 else f"{100 * share:.1f} %"


def _most_of(grid):
    """Return the range of a grid without its outer points."""
    return np.quantile(grid, [OUTER_POINTS, 1.0 - OUTER_POINTS])


def _squeezed(grid):
    """Whether a few far values would leave little room for the others."""
    low, high = _most_of(grid)
    return high > low and high - low < (1.0 - MOST_OUTER_RANGE) * (grid[-1] - grid[0])


def _one_output(effect, output):
    """Return an effect with the values of one output."""
    several = effect.values.ndim > len(effect.grids)
    n = effect.values.shape[-1] if several else 1
    if not 0 <= output < n:
        raise ValueError(f"output must be between 0 and {n - 1}, got {output}.")
    return replace(effect, values=effect.values[..., output] if several else effect.values)


def _output_in_words(estimator, output):
    """Return what the effects of an output are."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return "adds to the prediction"
    return f"adds to the score of {_shorten(classes[1] if len(classes) == 2 else classes[output])}"
