"""Display of separate effects: curves of columns and surfaces of pairs."""

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.checks import check_number
from kernelknife.inspection.displays import style as st
from kernelknife.inspection.displays.charts import draw_effect, draw_surface
from kernelknife.inspection.effects import GRID_POINTS

__all__ = ["EffectsDisplay"]

PANEL = (3.3, 2.8)  # width and height of one of them, in inches
# Share of the points of an effect's grid at either end, and how much of the whole range these may
# take up: beyond, a few far values squeeze all others into a corner.
OUTER_POINTS, MOST_OUTER_RANGE = 0.1, 0.6


class EffectsDisplay(st.Display):
    """What columns do alone, as curves, and what pairs do together, as colored surfaces.

    All curves have one vertical scale and all surfaces one color scale, so that a large effect
    looks large. Both are centered: zero is an average row. Effects of three columns are not drawn.
    Of a column with a few far values only the range is shown that most of its values lie in.

    Parameters
    ----------
    estimator : any fitted estimator of this package
        Additive or ANOVA; of a cross-validated one the chosen model is taken.
    most : int, default=6
        Number of effects to draw at most, the largest shares first, curves before surfaces.
    output : int, default=0
        Which output of a regressor with several, or which entry of ``classes_`` of a classifier
        with more than two. Two classes have one score, which is that of the second class.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One for every effect, in the order drawn.
    figure_ : Figure
        The figure.
    lines_ : list of Line2D
        The curves of the main effects.
    largest_ : float
        The size of an effect of a pair that has the strongest color.

    See Also
    --------
    kernelknife.KnifeRegressor.effects : The shares of all effects, as a table.

    Examples
    --------
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.inspection.displays import EffectsDisplay
    >>> X, y = make_sinusoidal(80, 3, random_state=0)
    >>> model = KnifeRegressor(kernel="additive", sparsity=30.0).fit(X, y)
    >>> display = EffectsDisplay.from_estimator(model, most=3)
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['x0', 'x1', 'x2']
    """

    def __init__(self, estimator, *, most=6, output=0):
        estimator = st.best_estimator(estimator)
        check_is_fitted(estimator, "weights_")
        check_number(most, "most", low=1, integer=True)
        drawable = [effect for effect in estimator.effects() if len(effect.names) < 3][:most]
        if not drawable:
            raise ValueError("No column is selected, so that there is no effect to draw.")
        # A column is asked for by its place: names need not be different.
        self.effects = [_one_output(estimator.effect(*one.columns), output) for one in drawable]
        self.shares = [effect.share for effect in drawable]
        self.label = _output_in_words(estimator, output)
        self.n_axes = n = len(drawable)
        self.size = PANEL[0] * min(n, st.MOST_ACROSS), PANEL[1] * -(-n // st.MOST_ACROSS)

    def _draw(self, axes, style):
        pairs = sorted(
            zip(self.effects, self.shares, strict=True), key=lambda pair: len(pair[0].names)
        )
        curves = [e.values for e in self.effects if len(e.names) == 1]
        low = min((curve.min() for curve in curves), default=0.0)
        high = max((curve.max() for curve in curves), default=0.0)
        room = 0.06 * (high - low) or 1.0
        surfaces = [np.abs(e.values).max() for e in self.effects if len(e.names) == 2]
        self.largest_ = float(max(surfaces, default=0.0)) or 1.0
        self.lines_ = []
        for ax, (effect, share) in zip(axes, pairs, strict=True):
            ax.spines[["top", "right"]].set_visible(False)
            if len(effect.names) == 1:
                self._draw_curve(ax, effect, (low - room, high + room), style)
            else:
                edges = [_edges(grid) for grid in effect.grids]
                draw_surface(ax, edges, effect.values, effect.names, largest=self.largest_, key="")
                for side, grid in zip("xy", effect.grids, strict=True):
                    if _squeezed(grid):
                        ax.set(**{f"{side}lim": _most_of(grid)})
            title = f"{_percent(share)} of the variance"
            ax.set_title(title, loc="left", y=1.2 if len(effect.names) == 2 else 1.0)

    def _draw_curve(self, ax, effect, heights, style):
        """Draw what one column does alone; levels are dots."""
        (grid,) = effect.grids
        first = ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col()
        one = {"column": effect.names[0], "values": grid, "curves": {"": effect.values}}
        if len(grid) < GRID_POINTS:
            style = {"marker": "o", "linewidth": 0.8, "linestyle": ":", **style}
        self.lines_ += draw_effect(
            ax, one, heights=heights, label=self.label if first else "", style=style
        )
        if _squeezed(grid):
            ax.set_xlim(_most_of(grid))


def _edges(grid):
    """Return where the cells around the values of a grid begin and end."""
    middles = (grid[1:] + grid[:-1]) / 2
    return np.array([2 * grid[0] - middles[0], *middles, 2 * grid[-1] - middles[-1]])


def _percent(share):
    """Return a share in percent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if abs(share) >= 0.095 else f"{100 * share:.1f} %"


def _most_of(grid):
    """Return the range of a grid without its outer points."""
    return np.quantile(grid, [OUTER_POINTS, 1.0 - OUTER_POINTS])


def _squeezed(grid):
    """Whether a few far values would leave little room for the others."""
    low, high = _most_of(grid)
    return high > low and high - low < (1.0 - MOST_OUTER_RANGE) * (grid[-1] - grid[0])


def _one_output(effect, output):
    """Return an effect with the values of one output."""
    several = effect.values.ndim > len(effect.grids)
    n = effect.values.shape[-1] if several else 1
    if not 0 <= output < n:
        raise ValueError(f"output must be between 0 and {n - 1}, got {output}.")
    return replace(effect, values=effect.values[..., output] if several else effect.values)


def _output_in_words(estimator, output):
    """Return what the effects of an output are."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return "adds to the prediction"
    return (
        f"adds to the score of {st.shorten(classes[1] if len(classes) == 2 else classes[output])}"
    )
