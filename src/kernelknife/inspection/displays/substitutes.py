"""A picture of what could take the place of the selected columns."""

import numpy as np

from kernelknife._utils.checks import check_number
from kernelknife.inspection.displays.style import (
    ACCENT,
    CHOSEN_DASH,
    COLORS,
    DARK_GRAY,
    MOST_BARS,
    axes_or_new,
    hide_frame,
    shorten,
)
from kernelknife.inspection.substitutes import percent

__all__ = ["SubstitutesDisplay"]


class SubstitutesDisplay:
    """What could take the place of each selected column.

    One line per selected column and column in its place. A bar ends at the share of what is lost
    without the selected column that the other one makes up for: at 100 % it is as good. The thin
    line across the end is one standard error to both sides, and the number beside it the rise of
    the held-out loss by the exchange.

    Parameters
    ----------
    substitutes : Substitutes
        What to draw.
    most : int, default=4
        Substitutes drawn per selected column.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    bars_ : list of BarContainer
        The bars.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.inspection.displays import SubstitutesDisplay
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> X[:, 3] = X[:, 0] + 0.1 * X[:, 3]  # nearly a copy
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, np.sin(2 * X[:, 0]))
    >>> display = SubstitutesDisplay(model.substitutes(X, np.sin(2 * X[:, 0]))).plot()
    >>> len(display.figure_.axes) > 0
    True
    """

    def __init__(self, substitutes, *, most=4):
        check_number(most, "most", low=1, integer=True)
        self.substitutes = substitutes
        self.most = most

    @classmethod
    def from_path(cls, path, i, *, most=4, ax=None, bar_kwargs=None, **options):
        """Draw the substitutes of one point of a path.

        Parameters
        ----------
        path : PathResult
            What :func:`kernelknife.knife_path` returned.
        i : int
            Index of a point of the path.
        most, ax, bar_kwargs : as in the constructor and plot
            See the constructor and :meth:`plot`.
        **options
            Of :meth:`kernelknife.PathResult.substitutes`.

        Returns
        -------
        SubstitutesDisplay
            The display, already drawn.
        """
        return cls(path.substitutes(i, **options), most=most).plot(ax=ax, bar_kwargs=bar_kwargs)

    def plot(self, *, ax=None, bar_kwargs=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        bar_kwargs : dict, default=None
            Style of the bars.

        Returns
        -------
        SubstitutesDisplay
            The display, with what was drawn as attributes.
        """
        places = self.substitutes.places[:MOST_BARS]
        lines = sum(1 + max(len(place.substitutes[: self.most]), 1) for place in places)
        ax = axes_or_new(ax, figsize=(7.0, max(2.0, 0.27 * lines + 0.9)))
        style = {"height": 0.68, **(bar_kwargs or {})}
        self.ax_, self.figure_, self.bars_ = ax, ax.figure, []
        ticks, names, y = [], [], 0
        for i, place in enumerate(places):
            self._write(place.name, y, x=0.01, weight="bold")
            note = f"without it {percent(place.cost)}"
            self._write(note, y, x=0.985, ha="right", color=DARK_GRAY, fontsize=8)
            y += 1
            for one in place.substitutes[: self.most]:
                self._bar(one, y, {"color": COLORS[i % len(COLORS)], **style})
                ticks.append(y)
                names.append(shorten(one.name))
                y += 1
            if not place.substitutes:
                self._write(place.need_in_words, y, x=0.01, style="italic", color=DARK_GRAY)
                y += 1
        if places:
            self._write("held-out loss", 0, x=1.14, color=DARK_GRAY, fontsize=8)
        ax.set_ylim(y - 0.4, -0.7)
        ax.set_xlim(0.0, 1.35)
        ax.set_yticks(ticks, names)
        ax.tick_params(axis="y", length=0)
        shares = np.linspace(0.0, 1.0, 5)
        ax.set_xticks(shares, [f"{100 * share:.0f} %" for share in shares])
        ax.axvline(1.0, color=ACCENT, linewidth=1.0, linestyle=CHOSEN_DASH, zorder=0)
        ax.set_xlabel("share of the loss that the column makes up for")
        hide_frame(ax)
        return self

    def _bar(self, one, y, style):
        share = 1.0 if np.isnan(one.makes_up) else float(np.clip(one.makes_up, 0.0, 1.1))
        spread = 0.0 if np.isnan(one.standard_error) else one.standard_error
        self.bars_.append(self.ax_.barh(y, share, alpha=0.85, **style))
        self.ax_.plot([share - spread, min(share + spread, 1.12)], [y, y], color=ACCENT, lw=1.0)
        text = percent(one.cost) + (", selected too" if one.selected else "")
        self._write(text, y, x=1.14, fontsize=8)

    def _write(self, text, y, *, x, ha="left", **style):
        self.ax_.text(x, y, shorten(text, 40), ha=ha, va="center", **style)
