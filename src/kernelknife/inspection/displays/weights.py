"""Displays of selected columns: their weights, and what could take their place."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.checks import check_number
from kernelknife.inspection.displays import style as st
from kernelknife.inspection.substitutes import percent

__all__ = ["SubstitutesDisplay", "WeightsDisplay"]

MOST_BARS = 30  # a taller chart does not fit on a screen


class WeightsDisplay(st.Display):
    """Bar chart of the selected features' weights, at most 30 of them.

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
        self.weights, self.feature_names = weights, feature_names
        n = min(MOST_BARS, int(np.count_nonzero(weights)))
        self.size = (6.0, 1.0 + 0.26 * max(3, n))

    @classmethod
    def _shown(cls, estimator):
        check_is_fitted(estimator, "weights_")
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(len(estimator.weights_))]
        return estimator.weights_, names

    def _draw(self, ax, style):
        order = np.argsort(-self.weights, kind="stable")
        order = order[self.weights[order] > 0]
        shown = order[:MOST_BARS]
        places = np.arange(len(shown))
        style = {"color": st.COLORS[0], "height": 0.7, **style}
        self.bars_ = ax.barh(places, self.weights[shown], **style)
        ax.set_yticks(places, [st.shorten(self.feature_names[j], 32) for j in shown])
        ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        ax.bar_label(self.bars_, fmt="%.2g", padding=3, fontsize="small", color=st.QUIET)
        ax.margins(x=0.12)
        st.name_axes(ax, "weight")
        st.round_ticks(ax.xaxis)
        ax.tick_params(axis="y", length=0)
        title = f"{len(order) or 'none'} of {len(self.weights)} features selected"
        if len(shown) < len(order):
            title += f", the largest {len(shown)} shown"
        ax.set_title(title, loc="left")


class SubstitutesDisplay(st.Display):
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
        self.substitutes, self.most = substitutes, most
        places = substitutes.places[:MOST_BARS]
        lines = sum(1 + max(len(place.substitutes[:most]), 1) for place in places)
        self.size = (7.0, max(2.0, 0.27 * lines + 0.9))

    def _draw(self, ax, style):
        places = self.substitutes.places[:MOST_BARS]
        style = {"height": 0.68, "color": st.COLORS[0], **style}
        self.bars_ = []
        ticks, names, y = [], [], 0
        for place in places:
            self._write(place.name, y, x=0.01, weight="bold")
            note = f"without it {percent(place.cost)}"
            self._write(note, y, x=0.985, ha="right", color=st.QUIET, fontsize=8)
            y += 1
            for one in place.substitutes[: self.most]:
                self._bar(one, y, style)
                ticks.append(y)
                names.append(st.shorten(one.name))
                y += 1
            if not place.substitutes:
                self._write(place.need_in_words, y, x=0.01, style="italic", color=st.QUIET)
                y += 1
        if places:
            self._write("held-out loss", 0, x=1.14, color=st.QUIET, fontsize=8)
        ax.set_ylim(y - 0.4, -0.7)
        ax.set_xlim(0.0, 1.35)
        ax.set_yticks(ticks, names)
        ax.tick_params(axis="y", length=0)
        shares = np.linspace(0.0, 1.0, 5)
        ax.set_xticks(shares, [f"{100 * share:.0f} %" for share in shares])
        ax.axvline(1.0, color=st.INK, linewidth=1.0, linestyle=st.CHOSEN_DASH, zorder=0)
        ax.set_xlabel("share of the loss that the column makes up for")

    def _bar(self, one, y, style):
        share = 1.0 if np.isnan(one.makes_up) else float(np.clip(one.makes_up, 0.0, 1.1))
        spread = 0.0 if np.isnan(one.standard_error) else one.standard_error
        self.bars_.append(self.ax_.barh(y, share, alpha=0.85, **style))
        self.ax_.plot([share - spread, min(share + spread, 1.12)], [y, y], color=st.INK, lw=1.0)
        text = percent(one.cost) + (", selected too" if one.selected else "")
        self._write(text, y, x=1.14, fontsize=8)

    def _write(self, text, y, *, x, ha="left", **style):
        self.ax_.text(x, y, st.shorten(text, 40), ha=ha, va="center", **style)
