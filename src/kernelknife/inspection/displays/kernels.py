"""A picture of a kernel matrix."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.style import best_estimator, shorten

__all__ = ["KernelDisplay"]


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
