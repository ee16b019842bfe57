"""What the pictures share: colors, axes, marks and the places of labels."""

from abc import ABC, abstractmethod

import numpy as np

from kernelknife._utils.messages import import_optional

__all__ = [
    "ACCENT",
    "CHOSEN_DASH",
    "COLORS",
    "DARK_GRAY",
    "DASHES",
    "GRAY",
    "MOST_BARS",
    "LineDisplay",
    "axes_or_new",
    "best_estimator",
    "hide_frame",
    "label_zero",
    "line_style",
    "log_positions",
    "mark_penalty",
    "shorten",
    "spread_labels",
]

# Okabe and Ito's palette, which color-blind readers can tell apart. When the colors are used up
# they are repeated with the next kind of dash.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
GRAY = "#b8b8b8"  # lines in the background
DARK_GRAY = "#777777"  # text that belongs to such lines
ACCENT = "#444444"  # marks and their text
CHOSEN_DASH = (0, (4, 3))  # of the vertical lines at chosen penalties
MOST_BARS = 30  # a taller chart does not fit on a screen


class LineDisplay(ABC):
    """What the pictures of lines over one pair of axes share.

    A subclass reads what it shows in ``_of_estimator`` and draws it in ``_draw``.
    """

    @classmethod
    @abstractmethod
    def _of_estimator(cls, estimator):
        """Return the display of a fitted estimator, not drawn yet."""

    @abstractmethod
    def _draw(self, ax, line_kwargs):
        """Draw into the axes."""

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, line_kwargs=None):
        """Draw what the picture shows of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted estimator of a kind that the class names.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot`` for the colored lines.

        Returns
        -------
        display : object
            The display, already drawn.
        """
        return cls._of_estimator(estimator).plot(ax=ax, line_kwargs=line_kwargs)

    def plot(self, *, ax=None, line_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kwargs : dict, default=None
            Passed on to ``Axes.plot`` for the colored lines.

        Returns
        -------
        self : object
            The display, with what was drawn as attributes.
        """
        ax = axes_or_new(ax, (7.0, 4.4))
        self._draw(ax, line_kwargs or {})
        self.ax_, self.figure_ = ax, ax.figure
        return self


def axes_or_new(ax, figsize=(7.0, 4.2)):
    """Return the given axes, or those of a new figure."""
    pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
    if ax is None:
        _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return ax


def line_style(i):
    """Return color and dash of line number ``i``."""
    dash = DASHES[i // len(COLORS) % len(DASHES)]
    return {"color": COLORS[i % len(COLORS)], "linestyle": dash}


def best_estimator(estimator):
    """Return the model that a cross-validated estimator has chosen, or the model itself."""
    return getattr(estimator, "best_estimator_", estimator)


def hide_frame(ax):
    """Hide the sides of the frame that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def label_zero(ax, sparsities, x):
    """Write "0" below the leftmost point of a path where that stands for a penalty of zero.

    ``x`` are the places of the penalties, as :func:`log_positions` gives them.
    """
    if sparsities[0] != 0 or len(x) < 2:
        return
    ticks = ax.get_xticks()
    if np.isclose(ticks, x[0]).any():
        # The number of that place would be read as the penalty.
        ax.set_xticks([tick for tick in ticks if x[0] < tick <= x[-1] and tick / x[0] > 1.01])
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


def mark_penalty(ax, position, text):
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


def shorten(name, limit=24):
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
