"""Pictures of rows: how much alike they are to a kernel, and their scores."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.style import (
    COLORS,
    axes_or_new,
    best_estimator,
    hide_frame,
    shorten,
)

__all__ = [
    "KernelDisplay",
    "ScoresDisplay",
]


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
    >>> from kernelknife.inspection.displays import KernelDisplay
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
        estimator = best_estimator(estimator)
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
            # The diagonal of ones and a few outliers would take most of the color scale.
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
            ax.set_yticks(middles, [shorten(name, 12) for name, _ in self.groups])
            ax.tick_params(length=0)


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
