"""A picture of a solver's progress."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection.displays.style import (
    LineDisplay,
    best_estimator,
    hide_frame,
    line_style,
)

__all__ = ["ConvergenceDisplay"]


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
