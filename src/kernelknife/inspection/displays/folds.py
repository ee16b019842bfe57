"""Displays of cross-validation: the error by penalty, and by number of columns."""

import numpy as np

from kernelknife.inspection.curves import as_errors, cv_curves, rows_of_path
from kernelknife.inspection.displays import style as st
from kernelknife.inspection.displays.charts import best_by_count, draw_counts, draw_curves

__all__ = ["CVDisplay", "CountDisplay"]


class CVDisplay(st.Display):
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

    needs = "cv_results_"

    def __init__(self, results, *, choices, chosen, name="score"):
        self.results = results
        self.choices = choices
        self.chosen = chosen
        self.name = name

    @classmethod
    def _of_estimator(cls, estimator):
        return cls(
            estimator.cv_results_,
            choices=estimator.choices_,
            chosen=estimator.best_index_,
            name=estimator.score_name_,
        )

    def _draw(self, ax, style):
        results = self.results
        name, mean = as_errors(self.name, results["mean_test_score"])
        curves = [
            {
                "label": curve.label,
                "sparsity": results["sparsity"][curve.rows],
                "error": mean[curve.rows],
                "standard_error": results["standard_error"][curve.rows],
                "chosen": curve.chosen,
            }
            for curve in cv_curves(results, self.chosen)
        ]
        x = st.log_positions(results["sparsity"])
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

    needs = "cv_results_"

    def __init__(self, counts, errors, spread, name="error"):
        self.counts = np.asarray(counts)
        self.errors = np.asarray(errors, dtype=float)
        self.spread = np.asarray(spread, dtype=float)
        self.name = name

    @classmethod
    def _of_estimator(cls, estimator):
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

    def _draw(self, ax, style):
        best = best_by_count(self.counts, self.errors)
        self.counts_, points = np.array(list(best)), list(best.values())
        self.errors_ = self.errors[points]
        data = (self.counts_, self.errors_, self.spread[points])
        self.line_, least, fewest = draw_counts(
            ax, *data, f"cross-validated {self.name}", style=style
        )
        self.least_, self.fewest_ = int(self.counts_[least]), int(self.counts_[fewest])
