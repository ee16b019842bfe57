"""Pictures of cross-validation: the error by penalty, and by number of columns."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection.curves import as_errors, cv_curves, rows_of_path
from kernelknife.inspection.displays.style import (
    ACCENT,
    COLORS,
    DARK_GRAY,
    GRAY,
    MOST_BARS,
    LineDisplay,
    hide_frame,
    line_style,
    log_positions,
    mark_penalty,
)

__all__ = ["CVDisplay", "CountDisplay", "best_by_count", "fewest_within_error"]


class CVDisplay(LineDisplay):
    """Cross-validated score against the penalty, one line per kernel, or per alpha of one kernel.

    Parameters
    ----------
    results : dict of ndarray
        ``cv_results_`` of a cross-validated estimator.
    choices : dict of int
        For the rules "min" and "1se", the index into ``results`` that each would choose.
    chosen : int
        Index into ``results`` of the selected candidate.
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
    >>> from kernelknife.inspection.displays import CVDisplay
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
    def _of_estimator(cls, estimator):
        check_is_fitted(estimator, "cv_results_")
        return cls(
            estimator.cv_results_,
            choices=estimator.choices_,
            chosen=estimator.best_index_,
            name=estimator.score_name_,
        )

    def _draw(self, ax, line_kwargs):
        results = self.results
        name, mean = as_errors(self.name, results["mean_test_score"])
        self.lines_ = []
        for i, curve in enumerate(cv_curves(results, self.chosen)):
            rows, label = curve.rows, curve.label
            x = log_positions(results["sparsity"][rows])
            style = {**line_style(i), "linewidth": 1.4, **line_kwargs}
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

    def _draw_count(self, ax, x, count):
        """Draw the number of features on a second vertical axis, behind the errors."""
        self.count_ax_ = behind = ax.twinx()
        behind.step(x, count, where="post", color=GRAY, linewidth=1.0, zorder=0)
        behind.set_ylabel("features (mean over folds)", color=DARK_GRAY)
        behind.tick_params(axis="y", colors=DARK_GRAY)
        behind.set_ylim(0, 1.05 * max(1.0, count.max()))
        behind.spines["top"].set_visible(False)
        # matplotlib draws the newer axes on top; the order is reversed, and the upper axes must
        # not hide the lower ones with their background.
        ax.set_zorder(behind.get_zorder() + 1)
        ax.patch.set_visible(False)

    def _mark_choices(self, ax, mean):
        """Mark the penalty that each rule would select, and the selected candidate."""
        x = log_positions(self.results["sparsity"])
        rules_at: dict[float, list[str]] = {}  # both rules may choose the same penalty
        for rule, i in self.choices.items():
            rules_at.setdefault(float(x[i]), []).append(rule)
        for position, rules in rules_at.items():
            mark_penalty(ax, position, ", ".join(rules))
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


class CountDisplay(LineDisplay):
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
    >>> from kernelknife.inspection.displays import CountDisplay
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
    def _of_estimator(cls, estimator):
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
            name, errors = f"-{name}", -errors  # not an error; less is better all the same
        spread = results["standard_error"][rows]
        return cls(path.n_selected, errors[: len(path)], spread[: len(path)], name)

    def _draw(self, ax, line_kwargs):
        best = best_by_count(self.counts, self.errors)
        points = list(best.values())
        x, y, spread = np.array(list(best)), self.errors[points], self.spread[points]
        style = {**line_style(0), "marker": "o", "markersize": 4, **line_kwargs}
        band = {"color": style["color"], "alpha": 0.18, "linewidth": 0}
        ax.fill_between(x, y - spread, y + spread, **band)
        (self.line_,) = ax.plot(x, y, **style)
        least, fewest = int(np.argmin(y)), fewest_within_error(y, spread)
        ax.axhline(y[least] + spread[least], color=GRAY, linewidth=1.0, zorder=0)
        marks = (("least error", least, "o"), ("fewest within one standard error", fewest, "D"))
        for i, (text, place, marker) in enumerate(marks, start=1):
            noun = "feature" if x[place] == 1 else "features"
            look = {"color": COLORS[i], "linestyle": "none", "markersize": 10 - 3 * (i - 1)}
            label = f"{text}: {x[place]} {noun}"
            ax.plot(x[place], y[place], marker=marker, label=label, zorder=4 + i, **look)
        ax.legend(fontsize="small", loc="best", framealpha=0.9, edgecolor="none")
        if x[-1] > MOST_BARS:
            ax.set_xscale("symlog", linthresh=1.0)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"cross-validated {self.name}")
        hide_frame(ax)
        self.counts_, self.errors_ = x, y
        self.least_, self.fewest_ = int(x[least]), int(x[fewest])
