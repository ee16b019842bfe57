"""Pictures of separate effects: curves of columns and surfaces of pairs."""

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.style import (
    COLORS,
    GRAY,
    best_estimator,
    hide_frame,
    shorten,
)
from kernelknife.inspection.effects import GRID_POINTS

__all__ = ["EffectsDisplay"]

MOST_ACROSS = 3  # panels beside each other, as many as fit on a page
PANEL = (3.3, 2.8)  # width and height of one of them, in inches
# Share of the points of an effect's grid at either end, and how much of the whole range these may
# take up: beyond, a few far values squeeze all others into a corner.
OUTER_POINTS, MOST_OUTER_RANGE = 0.1, 0.6


class EffectsDisplay:
    """What columns do alone, as curves, and what pairs do together, as colored surfaces.

    All curves have one vertical scale and all surfaces one color scale, so that a large effect
    looks large. Both are centered: zero is an average row. Effects of three columns are not drawn.
    Of a column with a few far values only the range is shown that most of its values lie in.

    Parameters
    ----------
    effects : list of kernelknife.inspection.effects.Effect
        Effects of one or two columns and of one output. Curves are drawn before surfaces, otherwise
        in this order.
    shares : list of float
        Share of the fitted variance of each.
    label : str, default="adds to the prediction"
        What the effects are.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One for every effect, in the order drawn.
    figure_ : Figure
        The figure.
    lines_ : list of Line2D
        The curves of the main effects.
    surfaces_ : list of QuadMesh
        The surfaces of the pairs.

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

    def __init__(self, effects, shares, label="adds to the prediction"):
        self.effects = effects
        self.shares = shares
        self.label = label

    @classmethod
    def from_estimator(
        cls, estimator, *, most=6, output=0, axes=None, line_kwargs=None, surface_kwargs=None
    ):
        """Draw the largest effects of a fitted additive or ANOVA model.

        Parameters
        ----------
        estimator : any fitted estimator of this package
            Of a cross-validated one the chosen model is taken.
        most : int, default=6
            Number of effects to draw at most, the largest shares first.
        output : int, default=0
            Which output of a regressor with several, or which entry of ``classes_`` of a classifier
            with more than two. Two classes have one score, which is that of the second class.
        axes : sequence of matplotlib Axes, default=None
            At least as many as there are effects to draw. None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every curve.
        surface_kwargs : dict, default=None
            Passed to every surface.

        Returns
        -------
        EffectsDisplay
            The display, already drawn.
        """
        estimator = best_estimator(estimator)
        check_is_fitted(estimator, "weights_")
        check_number(most, "most", low=1, integer=True)
        drawable = [effect for effect in estimator.effects() if len(effect.names) < 3][:most]
        if not drawable:
            raise ValueError("No column is selected, so that there is no effect to draw.")
        # A column is asked for by its place: names need not be different.
        effects = [estimator.effect(*effect.columns) for effect in drawable]
        effects = [_one_output(effect, output) for effect in effects]
        shares = [effect.share for effect in drawable]
        display = cls(effects, shares, _output_in_words(estimator, output))
        return display.plot(axes=axes, line_kwargs=line_kwargs, surface_kwargs=surface_kwargs)

    def plot(self, *, axes=None, line_kwargs=None, surface_kwargs=None):
        """Draw the picture.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            At least one for every effect. None draws into a new figure.
        line_kwargs : dict, default=None
            Passed to every curve.
        surface_kwargs : dict, default=None
            Passed to every surface.

        Returns
        -------
        self : EffectsDisplay
            The display, with what was drawn as attributes.
        """
        axes = self._axes_or_new(axes)
        pairs = list(zip(self.effects, self.shares, strict=True))
        pairs.sort(key=lambda pair: len(pair[0].names))  # stable: otherwise the order stays
        self.lines_: list = []
        self.surfaces_: list = []
        for ax, (effect, share) in zip(axes, pairs, strict=True):
            if len(effect.names) == 1:
                self._draw_curve(ax, effect, line_kwargs)
            else:
                self._draw_surface(ax, effect, surface_kwargs)
            ax.set_title(f"{_percent(share)} of the variance", fontsize="medium", loc="left")
        self._share_heights(axes[: len(self.lines_)])
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _axes_or_new(self, axes):
        """Return one axes per effect: the first of those given, or those of a new figure."""
        pyplot = import_optional("matplotlib.pyplot", "kernelknife[plot]", "Drawing")
        n = len(self.effects)
        if axes is None:
            across = min(n, MOST_ACROSS)
            down = -(-n // across)
            size = (PANEL[0] * across, PANEL[1] * down)
            figure, axes = pyplot.subplots(
                down, across, figsize=size, squeeze=False, layout="constrained"
            )
            figure.get_layout_engine().set(h_pad=0.08, w_pad=0.08)
            for ax in axes.ravel()[n:]:
                figure.delaxes(ax)
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) < n:
            raise ValueError(f"{n} effects need {n} axes, got {len(axes)}.")
        return axes[:n]

    def _draw_curve(self, ax, effect, line_kwargs):
        """Draw what one column does alone; levels are dots."""
        (grid,) = effect.grids
        style = {"color": COLORS[0], "linewidth": 2.0, **(line_kwargs or {})}
        if len(grid) < GRID_POINTS:
            style = {"marker": "o", "linewidth": 0.8, "linestyle": ":", **style}
        ax.axhline(0.0, color=GRAY, linewidth=0.8, zorder=1)
        self.lines_ += ax.plot(grid, effect.values, **style)
        if _squeezed(grid):
            ax.set_xlim(_most_of(grid))
        ax.set_xlabel(shorten(effect.names[0], 32))
        if ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col():
            ax.set_ylabel(self.label)
        hide_frame(ax)

    def _share_heights(self, axes):
        """Give all curves the same vertical scale, with the names of the ticks at every one."""
        if len(axes):
            curves = [line.get_ydata() for line in self.lines_]
            low, high = min(c.min() for c in curves), max(c.max() for c in curves)
            room = 0.06 * (high - low) or 1.0
            for ax in axes:
                ax.set_ylim(low - room, high + room)

    def _draw_surface(self, ax, effect, surface_kwargs):
        """Draw what two columns do together; zero has the color of the middle."""
        largest = max(np.abs(e.values).max() for e in self.effects if len(e.names) == 2) or 1.0
        style = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, "shading": "nearest"}
        x, y = effect.grids
        # Rasterized, because thousands of cells would make a vector file very large.
        style = {**style, "rasterized": True, **(surface_kwargs or {})}
        surface = ax.pcolormesh(x, y, effect.values.T, **style)
        self.surfaces_.append(surface)
        if _squeezed(x):
            ax.set_xlim(_most_of(x))
        if _squeezed(y):
            ax.set_ylim(_most_of(y))
        ax.set_xlabel(shorten(effect.names[0], 32))
        ax.set_ylabel(shorten(effect.names[1], 24))
        bar = ax.figure.colorbar(surface, ax=ax)
        bar.outline.set_visible(False)
        bar.set_label(self.label, fontsize="small")


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
    return f"adds to the score of {shorten(classes[1] if len(classes) == 2 else classes[output])}"
