"""What all pictures share: the palette, axes, names and marks, and the base of the displays.

The colors are a theme: a page has them as variables of its style sheet (:mod:`.svg`), so that one
drawing serves paper, light and dark. Texts are drawn as they are: a ``$`` in a name is no formula.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kernelknife._utils.messages import import_optional
from kernelknife.inspection.curves import spread_labels

# Colors on white paper. Readers of every kind of color vision can tell the eight apart, and no two
# lines of a picture share one: what has none left is gray.
COLORS = (
    *("#007fc1", "#c75107", "#0c6f4d", "#af1b7a"),
    *("#6f6930", "#564ca9", "#013c3f", "#20004c"),
)
ORDERED = ("#2c5aa0", "#6fa1c9", "#9a9a9a", "#e08f5a", "#b5361c")  # fifths, from low to high
DIVERGING = (
    *("#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f4f4f4"),
    *("#fddbc7", "#f4a582", "#d6604d", "#b2182b"),
)  # from low to high, the middle is zero
INK, QUIET, RULE, GRAY = "#1c2126", "#55606b", "#d5dae0", "#b4bcc4"
THEME = {
    **{"ink": INK, "quiet": QUIET, "rule": RULE, "gray": GRAY, "paper": "#ffffff"},
    **{f"c{i}": color for i, color in enumerate(COLORS)},
    **{f"q{i}": color for i, color in enumerate(ORDERED)},
    **{f"h{i}": color for i, color in enumerate(DIVERGING)},
}
LOOK = {
    **{"font.size": 11.0, "axes.titlesize": 11.0, "axes.labelsize": 11.0},
    **{"xtick.labelsize": 10.0, "ytick.labelsize": 10.0, "legend.fontsize": 10.0},
    **{"text.color": INK, "axes.labelcolor": QUIET, "axes.edgecolor": QUIET},
    **{"xtick.color": QUIET, "ytick.color": QUIET, "axes.linewidth": 0.8},
    **{"text.parse_math": False, "legend.frameon": False, "path.simplify": False},
}
MOST_ACROSS = 3  # panels beside each other, as many as fit on a page
CHOSEN_DASH = (0, (4, 3))  # of the lines at chosen penalties
LABEL_GAP = 0.07  # height of a line of text, as a share of the height of usual axes
SHORT_TICKS = 1e5  # numbers from here on, and below its inverse times 100, have an exponent


class Display(ABC):
    """What the displays share: data in the constructor, drawing in :meth:`plot`.

    A subclass draws in ``_draw``, into one pair of axes or, where ``n_axes`` says so, into several.
    """

    size: Any = (7.0, 4.4)
    n_axes = 0  # the number of axes where there are several

    @abstractmethod
    def _draw(self, ax, style):
        """Draw into the axes."""

    @classmethod
    def from_estimator(cls, estimator, *data, ax=None, style=None, **options):
        """Draw what the picture shows of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted estimator of a kind that the class names.
        *data
            Further arguments of the class.
        ax, style : as in plot
            See :meth:`plot`.
        **options
            Further arguments of the class, by name.

        Returns
        -------
        display : object
            The display, already drawn.
        """
        display: Any = cls
        return display(*cls._shown(estimator), *data, **options).plot(ax=ax, style=style)

    @classmethod
    def _shown(cls, estimator):
        """Return what the class takes in the place of an estimator."""
        return (estimator,)

    def plot(self, *, ax=None, style=None):
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            Where to draw; None makes a new figure.
        style : dict, default=None
            Passed on to matplotlib for the colored lines, bars or dots.

        Returns
        -------
        self : object
            The display, with what was drawn as attributes.
        """
        with in_look():
            if not self.n_axes:
                self.ax_ = axes_or_new(ax, self.size)
                self.figure_ = self.ax_.figure
                self._draw(self.ax_, style or {})
            else:
                self.axes_ = self._several(ax)
                self.figure_ = self.axes_[0].figure
                self._draw(self.axes_, style or {})
        return self

    def _several(self, axes):
        """Return the axes that were given, which must be enough, or those of a new figure."""
        if axes is None:
            pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
            return self._split(pyplot.figure(figsize=self.size, layout="constrained"))
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) < self.n_axes:
            raise ValueError(f"{self.n_axes} axes are needed, got {len(axes)}.")
        return axes[: self.n_axes]

    def _split(self, figure):
        """Return the axes of a new figure, at most three side by side."""
        across = min(self.n_axes, MOST_ACROSS)
        axes = figure.subplots(-(-self.n_axes // across), across, squeeze=False).ravel()
        for ax in axes[self.n_axes :]:
            figure.delaxes(ax)
        return axes[: self.n_axes]


def axes_or_new(ax, size=(7.0, 4.4)):
    """Return the given axes, or those of a new figure of pyplot, without a frame."""
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def in_look():
    """Return the context that figures are drawn in."""
    return import_optional("matplotlib", "kernelknife[plot]", "Drawing").rc_context(LOOK)


def new_axes(width=520, height=300, *, left=60, right=14, top=16, bottom=46, shape=(1, 1)):
    """Return axes of a figure without pyplot, in pixels; an array of them for several."""
    figure_module = import_optional("matplotlib.figure", "kernelknife[plot]", "Drawing")
    figure = figure_module.Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")
    sides = {"left": left / width, "right": 1 - right / width}
    figure.subplots_adjust(**sides, bottom=bottom / height, top=1 - top / height)
    axes = figure.subplots(*shape, squeeze=False)
    for ax in axes.ravel():
        ax.set_facecolor("none")
        ax.spines[["top", "right"]].set_visible(False)
    return axes[0, 0] if shape == (1, 1) else axes


def fit_left(ax, least=44):
    """Give the names of the vertical axis as much room as they need, in a figure of pixels."""
    low, high = sorted(ax.get_ylim())
    names = [ax.yaxis.get_major_formatter()(t) for t in ax.get_yticks() if low <= t <= high]
    width = ax.figure.get_figwidth() * 72
    ax.figure.subplots_adjust(left=max(least, 32 + 6.4 * max(map(len, names), default=0)) / width)


def printable(text):
    """Return a text as a picture can hold it: on one line, without characters of control."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def shorten(name, limit=24):
    """Return a name of at most ``limit`` characters, with an ellipsis where it was cut."""
    name = printable(name)
    return name if len(name) <= limit else name[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def tip(text):
    """Return the name of an artist that a page shows as the artist's tooltip."""
    return f"tip:{printable(text)}"


def tick(value, _=None):
    """Return the name of a tick."""
    size = abs(value)
    if size < 1e-300:
        return "0"
    text = f"{value:.6g}" if 100 / SHORT_TICKS <= size < SHORT_TICKS else f"{value:.2g}"
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-").replace("-", "\u2212")


def round_ticks(axis, *, log=False, whole=False):
    """Give an axis plain names of round numbers, and no small ticks."""
    ticker = import_optional("matplotlib.ticker", "kernelknife[plot]", "Drawing")
    if log:
        low, high = np.log10(axis.get_view_interval())
        subs = (1.0,) if high - low > 2.0 else (1.0, 2.0, 5.0)
        axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    elif axis.get_scale() == "linear":
        axis.set_major_locator(ticker.MaxNLocator(5, integer=whole, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(ticker.FuncFormatter(tick))
    axis.set_minor_locator(ticker.NullLocator())


def name_axes(ax, x=None, y=None, limit=40):
    """Write names along the axes, long ones cut and with the whole name as a tooltip."""
    for axis, name in ((ax.xaxis, x), (ax.yaxis, y)):
        if name is not None:
            axis.label.set_parse_math(False)
            axis.set_label_text(shorten(name, limit))
            if len(str(name)) > limit:
                axis.label.set_gid(tip(name))


def color_lines(n):
    """Return the colors of ``n`` lines; those beyond the palette are gray."""
    return [COLORS[i] if i < len(COLORS) else GRAY for i in range(n)]


def best_estimator(estimator):
    """Return the model that a cross-validated estimator has chosen, or the model itself."""
    return getattr(estimator, "best_estimator_", estimator)


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
    style = {"xytext": (0, -14), "textcoords": "offset points", "ha": "center", "color": QUIET}
    ax.annotate("0", (x[0], 0), xycoords=("data", "axes fraction"), fontsize="small", **style)


def mark_penalty(ax, position, text, gid=None):
    """Draw a vertical line at a penalty and write beside its upper end what it means."""
    ax.axvline(position, color=INK, linewidth=1.0, linestyle=CHOSEN_DASH, zorder=2, gid=gid)
    style = {"xytext": (3, 2), "textcoords": "offset points", "va": "bottom", "color": INK}
    where = ("data", "axes fraction")
    ax.annotate(text, (position, 1.0), xycoords=where, fontsize="small", **style)


def label_lines(ax, points, names, colors, limit=20):
    """Write names into the right margin, each joined to a point of its line by a thin leader."""
    if not points:
        return
    shares = ax.transAxes.inverted().transform(ax.transData.transform(points))[:, 1]
    for point, name, color, place in zip(
        points, names, colors, spread_labels(shares, LABEL_GAP), strict=True
    ):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.6, "alpha": 0.5}
        style = {"va": "center", "fontsize": "small", "color": INK if color == GRAY else color}
        text = ax.annotate(
            shorten(name, limit),
            point,
            xytext=(1.02, place),
            textcoords="axes fraction",
            annotation_clip=False,
            parse_math=False,
            arrowprops=line,
            **style,
        )
        if len(str(name)) > limit:
            text.set_gid(tip(name))
