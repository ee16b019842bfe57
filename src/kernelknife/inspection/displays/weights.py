"""A picture of the weights of a fitted model."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection.displays.style import (
    ACCENT,
    COLORS,
    MOST_BARS,
    axes_or_new,
    hide_frame,
    shorten,
)

__all__ = ["WeightsDisplay"]


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
    >>> from kernelknife.inspection.displays import WeightsDisplay
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
        ax = axes_or_new(ax, (6.0, 1.0 + 0.26 * max(3, len(shown))))
        places = np.arange(len(shown))
        style = {"color": COLORS[0], "height": 0.7, **(bar_kwargs or {})}
        self.bars_ = ax.barh(places, self.weights[shown], **style)
        ax.set_yticks(places, [shorten(self.feature_names[j], 32) for j in shown])
        ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        ax.bar_label(self.bars_, fmt="%.2g", padding=3, fontsize="small", color=ACCENT)
        ax.margins(x=0.12)
        ax.set_xlabel("weight")
        ax.tick_params(axis="y", length=0)
        hide_frame(ax)
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
