"""A picture of the scores of rows: components, discriminants, canonical pairs."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection.displays.style import (
    COLORS,
    axes_or_new,
    hide_frame,
    shorten,
)

__all__ = ["ScoresDisplay"]


class ScoresDisplay:
    """Rows at two of their scores: principal components, discriminants or canonical scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
        Two scores per row.
    labels : array-like of shape (n_samples,), default=None
        Values that color the rows: texts and at most seven different values get a color each,
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
    >>> from kernelknife.inspection.displays import ScoresDisplay
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
            Classes or numbers that color the rows.
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
        ax = axes_or_new(ax, (5.6, 4.4))
        style = {"s": 16, "alpha": 0.8, **(scatter_kwargs or {})}
        x, y = self.scores.T
        labels = None if self.labels is None else np.asarray(self.labels)
        if labels is None:
            self.dots_ = [ax.scatter(x, y, **{"color": COLORS[0], **style})]
        elif labels.dtype.kind == "f" and len(np.unique(labels)) > len(COLORS):
            self.dots_ = [ax.scatter(x, y, c=labels, **style)]
            ax.figure.colorbar(self.dots_[0], ax=ax)
        else:
            self.dots_ = [
                ax.scatter(
                    x[labels == value],
                    y[labels == value],
                    **{"color": COLORS[i % len(COLORS)], **style},
                    label=shorten(value),
                )
                for i, value in enumerate(np.unique(labels))
            ]
            ax.legend(frameon=False, fontsize="small")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        hide_frame(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
