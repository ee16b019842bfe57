"""Displays of cross-validation: the error by penalty, and by number of columns."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection import curves as cv
from kernelknife.inspection.displays import style as st
from kernelknife.inspection.displays.charts import draw_counts, draw_curves

__all__ = ["CVDisplay", "CountDisplay"]


class CVDisplay(st.Display):
    """Cross-validated score against the penalty, one line per kernel, or per alpha of one kernel.

    Parameters
    ----------
    estimator : any cross-validated estimator of this package
        Fitted. Scores of which a larger one is better are drawn as errors where their name says how
        to convert them.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
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

    def __init__(self, estimator):
        check_is_fitted(estimator, "cv_results_")
        self.results, self.choices = estimator.cv_results_, estimator.choices_
        self.chosen, self.name = estimator.best_index_, estimator.score_name_

    def _draw(self, ax, style):
        results = self.results
        name, mean = cv.as_errors(self.name, results["mean_test_score"])
        curves = cv.curve_points(results, self.chosen, mean)
        x = cv.log_positions(results["sparsity"])
        rules_at: dict[float, list[str]] = {}  # both rules may choose the same penalty
        for rule, i in self.choices.items():
            rules_at.setdefault(float(x[i]), []).append(rule)
        marks = [(", ".join(rules), place) for place, rules in rules_at.items()]
        self.lines_ = draw_curves(ax, curves, f"cross-validated {name}", marks, style)
        ax.plot(x[self.chosen], mean[self.chosen], "o", color=st.INK, markersize=6, zorder=5)


class CountDisplay(st.Display):
    """Cross-validated error against the number of features.

    The least error is marked, and so are the fewest features whose error is within one standard
    error of it.

    Parameters
    ----------
    estimator : any cross-validated estimator of this package
        Fitted.

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

    def __init__(self, estimator):
        check_is_fitted(estimator, "cv_results_")
        results, path = estimator.cv_results_, estimator.path_
        rows = cv.rows_of_path(results, estimator.best_index_)
        if estimator.n_features_to_select is not None:
            raise ValueError(
                "The folds were asked for one number of features: there is nothing to compare. Fit "
                "without n_features_to_select."
            )
        # The path ends where the last feature leaves. The folds end before, where errors have
        # turned, or go on to the end of the grid.
        shown = min(len(rows), len(path))
        rows = rows[:shown]
        name, errors = cv.as_errors(estimator.score_name_, results["mean_test_score"][rows])
        if name == estimator.score_name_:
            name, errors = f"-{name}", -errors  # not an error; less is better all the same
        self.counts, self.name = path.n_selected[:shown], name
        self.errors, self.spread = errors, results["standard_error"][rows]

    def _draw(self, ax, style):
        best = cv.best_by_count(self.counts, self.errors)
        self.counts_, points = np.array(list(best)), list(best.values())
        self.errors_ = self.errors[points]
        data = (self.counts_, self.errors_, self.spread[points])
        self.line_, least, fewest = draw_counts(
            ax, *data, f"cross-validated {self.name}", style=style
        )
        self.least_, self.fewest_ = int(self.counts_[least]), int(self.counts_[fewest])
