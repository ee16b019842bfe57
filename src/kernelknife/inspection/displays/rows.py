"""Displays of rows: how much alike they are to a kernel, and their scores."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife.inspection.displays import style as st
from kernelknife.inspection.displays.charts import color_rows, draw_dots, draw_legend

__all__ = ["KernelDisplay", "ScoresDisplay"]


class KernelDisplay(st.Display):
    """The kernel matrix with equal and with fitted weights, rows ordered by the target.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Rows to compare with each other.
    y : array-like of shape (n_samples,)
        Classes, or numbers to order the rows by.

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

    size, n_axes = (8.0, 4.0), 2

    def __init__(self, estimator, X, y):
        estimator = st.best_estimator(estimator)
        check_is_fitted(estimator, "weights_")
        before, after = estimator.kernel_matrices(X)
        y = np.asarray(y).reshape(len(before), -1)[:, 0]
        order = np.argsort(y, kind="stable")
        self.groups = []
        if hasattr(estimator, "classes_"):
            self.groups = [(str(c), int(np.sum(y == c))) for c in estimator.classes_]
        ordered = np.ix_(order, order)
        self.before, self.after = before[ordered], after[ordered]

    def _draw(self, axes, style):
        self.images_ = []
        titles, matrices = ("all features", "weighted features"), (self.before, self.after)
        for ax, matrix, title in zip(axes, matrices, titles, strict=True):
            # The diagonal of ones and a few outliers would take most of the color scale.
            low, high = np.percentile(matrix, [1, 99])
            look = {"cmap": "viridis", "vmin": low, "vmax": max(high, low + 1e-12), **style}
            self.images_.append(ax.imshow(matrix, **look))
            ax.set(title=title, xticks=[], yticks=[])
            ax.figure.colorbar(self.images_[-1], ax=ax, shrink=0.75)
            edges = np.cumsum([0, *(size for _, size in self.groups)]) - 0.5
            for edge in edges[1:-1]:
                ax.axhline(edge, color="white", linewidth=1.0)
                ax.axvline(edge, color="white", linewidth=1.0)
            if len(self.groups):
                middles = (edges[:-1] + edges[1:]) / 2
                ax.set_yticks(middles, [st.shorten(name, 12) for name, _ in self.groups])
                ax.tick_params(length=0)


class ScoresDisplay(st.Display):
    """Rows at two of their scores: principal components, discriminants or canonical scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
        Two scores per row.
    labels : array-like of shape (n_samples,), default=None
        Values that color the rows: texts and at most eight different values get a color each,
        other numbers a scale.
    axis_names : pair of str, default=("score 1", "score 2")
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    dots_ : matplotlib artists
        The dots: lines without a line, one per class, or a collection with a scale of colors.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.inspection.displays import ScoresDisplay
    >>> scores = np.random.default_rng(0).normal(size=(20, 2))
    >>> ScoresDisplay(scores).plot().ax_.get_xlabel()
    'score 1'
    """

    size = (5.6, 4.4)

    def __init__(self, scores, labels=None, axis_names=("score 1", "score 2")):
        self.scores = scores
        self.labels = labels
        self.axis_names = axis_names

    @classmethod
    def from_estimator(  # type: ignore[override]
        cls, estimator, X, y=None, *, labels=None, ax=None, style=None
    ):
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
        ax, style : as in plot
            See :meth:`plot`.

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
        return display.plot(ax=ax, style=style)

    def _draw(self, ax, style):
        x, y = np.transpose(self.scores)
        labels = None if self.labels is None else np.asarray(self.labels)
        if labels is not None and labels.dtype.kind == "f" and len(set(labels)) > len(st.COLORS):
            self.dots_ = [ax.scatter(x, y, c=labels, **{"s": 16, "alpha": 0.8, **style})]
            ax.figure.colorbar(self.dots_[0], ax=ax)
            ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
            return
        colors, legend = [st.COLORS[0]] * len(x), []
        if labels is not None:
            colors, legend = color_rows(labels, "classification")
        draw_dots(ax, x, y, colors, names=self.axis_names)
        self.dots_ = list(ax.lines)
        for line in self.dots_:
            line.set(**style)
        if legend:
            draw_legend(ax, min(4, len(legend)), legend)
