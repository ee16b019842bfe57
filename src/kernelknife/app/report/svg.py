"""Small charts as inline SVG, colored by the page's style sheet, without a drawing library.

Every text that comes from a user is escaped where it is written.
"""

import math
from html import escape
from itertools import groupby, pairwise
from operator import itemgetter

from kernelknife._utils.messages import number

__all__ = ["COLORS", "SHADES", "Axis", "Chart", "bottom_of_errors"]

COLORS = 8  # number of colors in the style sheet, the classes c0 to c7
SHADES = 9  # number of colors from low to high, the classes h0 to h8; the middle one is zero
TICKS = 5  # about this number of ticks on a linear axis
POWERS = 6  # at most about this number of powers of ten on a logarithmic axis
LETTER = 6.5  # width of a letter below an axis, in pixels
ROUNDING = 1e-9  # a tick at the end of an axis must not be lost by a rounding error


def bottom_of_errors(low: float, high: float) -> float:
    """Return where an axis of errors begins: not below zero, unless that is where they are.

    Errors are positive, but what test rows add to a partial likelihood need not be.
    """
    return max(0.0, low) if high > 0.0 else low


class Axis:
    """A range of values with ticks at round numbers.

    Parameters
    ----------
    low, high : float
        Ends of the range; equal ends are moved apart.
    log : bool, default=False
        Whether the axis is logarithmic.
    label : str, default=""
    ticks : list of (float, str), default=None
        Places and texts of the ticks. None chooses round numbers.
    """

    def __init__(self, low, high, *, log=False, label="", ticks=None):
        if not high > low:
            margin = abs(low) * 0.05 or 0.5
            low, high = (low / 1.5, high * 1.5) if log else (low - margin, high + margin)
        self.low, self.high, self.log, self.label = float(low), float(high), log, label
        self.ticks = self._round_ticks() if ticks is None else ticks

    def share(self, value):
        """Return where a value lies: 0 at the low end, 1 at the high end."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return (math.log(max(value, self.low)) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def _round_ticks(self):
        """Return ticks at powers of ten, or at multiples of 1, 2 or 5 times a power of ten."""
        if self.log:
            least, most = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            powers = range(least, most + 1, max(1, (most - least) // POWERS + 1))
            return [(10.0**k, number(10.0**k)) for k in powers]
        least_step = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(least_step))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least_step)
        first = math.ceil(self.low / step - ROUNDING)
        last = math.floor(self.high / step + ROUNDING)
        return [(k * step, number(round(k * step, 12))) for k in range(first, last + 1)]


class Chart:
    """A chart: marks are added one after the other, and ``render`` returns the SVG.

    Parameters
    ----------
    x, y : Axis
    title : str
        What the chart shows, for those who cannot see it.
    width, height : int, default=(640, 340)
        Size in pixels.
    right : int, default=16
        Room for labels at the right.
    """

    def __init__(self, x, y, title, *, width=640, height=340, right=16):
        self.x, self.y, self.title = x, y, title
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 54, right, 12, 44
        self._marks = []

    @property
    def inner_height(self):
        """Height of the area between the axes, in pixels."""
        return self.height - self.top - self.bottom

    def px(self, value):
        """Return the horizontal place of a value, in pixels from the left."""
        return self.left + self.x.share(value) * (self.width - self.left - self.right)

    def py(self, value):
        """Return the vertical place of a value, in pixels from the top."""
        return self.top + (1.0 - self.y.share(value)) * self.inner_height

    def _points(self, xs, ys):
        """Return points in the form that SVG expects."""
        return " ".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(xs, ys, strict=True))

    def line(self, xs, ys, kind, name=""):
        """Draw a line; ``kind`` is its class of the style sheet, ``name`` its tooltip."""
        title = f"<title>{escape(name)}</title>" if name else ""
        points = self._points(xs, ys)
        self._marks.append(f'<polyline class="{kind}" points="{points}">{title}</polyline>')

    def band(self, xs, low, high, kind):
        """Fill between two lines."""
        there = self._points(xs, low)
        back = self._points(list(xs)[::-1], list(high)[::-1])
        self._marks.append(f'<polygon class="{kind}" points="{there} {back}"/>')

    def dots(self, xs, ys, kinds, radius=3.0):
        """Draw dots; ``kinds`` holds the class of the style sheet of each."""
        for a, b, kind in zip(xs, ys, kinds, strict=True):
            self._marks.append(
                f'<circle class="{kind}" cx="{self.px(a):.1f}" cy="{self.py(b):.1f}" r="{radius}"/>'
            )

    def cells(self, xs, ys, steps):
        """Fill a grid of cells with shades.

        Parameters
        ----------
        xs, ys : ndarray
            Edges of the cells.
        steps : ndarray of int of shape (len(xs) - 1, len(ys) - 1)
            Number of the shade of every cell.
        """
        shapes: dict[int, list[str]] = {}
        for j, (low, high) in enumerate(pairwise(ys)):
            # Neighbors of one shade are one rectangle, which shortens the page.
            for step, run in groupby(enumerate(steps[:, j]), key=itemgetter(1)):
                along = [i for i, _ in run]
                left, right = self.px(xs[along[0]]), self.px(xs[along[-1] + 1])
                corner = f"M{left:.1f} {self.py(high):.1f}"
                rectangle = f"{corner}H{right:.1f}V{self.py(low):.1f}H{left:.1f}z"
                shapes.setdefault(step, []).append(rectangle)
        for step, parts in sorted(shapes.items()):
            self._marks.append(f'<path class="cell h{step}" d="{"".join(parts)}"/>')

    def rug(self, xs):
        """Mark values by short strokes on the horizontal axis."""
        foot = self.height - self.bottom
        strokes = "".join(f"M{self.px(value):.1f} {foot}v-6" for value in xs)
        self._marks.append(f'<path class="rug" d="{strokes}"/>')

    def rule(self, value, kind, key="", label=""):
        """Draw a vertical line; the page's script finds it by its ``key``."""
        where = self.px(value)
        mark = f' data-kk="{key}"' if key else ""
        self._marks.append(
            f'<line class="{kind}"{mark} x1="{where:.1f}" x2="{where:.1f}" y1="{self.top}" '
            f'y2="{self.height - self.bottom}"/>'
        )
        if label:
            self.text(where + 4, self.top + 10, label)

    def text(self, x, y, text, anchor="start", kind="label"):
        """Write a text at a place in pixels."""
        self._marks.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}'
            "</text>"
        )

    def label(self, x, y, place, text, kind):
        """Write a text at the right margin, at the height ``place``, and join it to a point."""
        edge = self.width - self.right
        self._marks.append(
            f'<polyline class="{kind} leader" points="{self.px(x):.1f},{self.py(y):.1f} '
            f'{edge + 6:.1f},{place:.1f}"/><rect class="{kind} key" x="{edge + 8}" '
            f'y="{place - 4:.1f}" width="8" height="8"/>'
        )
        self.text(edge + 20, place + 4, text)

    def render(self):
        """Return the chart as an SVG element."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}">{self._frame()}{"".join(self._marks)}</svg>'
        )

    def _frame(self):
        """Return axes, ticks, grid lines and labels."""
        foot, edge = self.height - self.bottom, self.width - self.right
        frame = [f'<path class="axis" d="M{self.left} {self.top}V{foot}H{edge}"/>']
        written = -math.inf  # where the last name ends
        for value, name in self.x.ticks:
            where, half = self.px(value), 0.5 * LETTER * len(name)
            frame.append(f'<path class="axis" d="M{where:.1f} {foot}v4"/>')
            if where - half >= written:
                frame.append(_small(where, foot + 17, name, "middle"))
                written = where + half + LETTER
        for value, name in self.y.ticks:
            where = self.py(value)
            frame.append(f'<path class="grid" d="M{self.left} {where:.1f}H{edge}"/>')
            frame.append(_small(self.left - 6, where + 4, name, "end"))
        middle = (self.left + edge) / 2
        frame.append(_small(middle, self.height - 8, self.x.label, "middle", "axis-label"))
        height = (self.top + foot) / 2
        frame.append(
            f'<text class="axis-label" text-anchor="middle" transform="translate(13 {height:.1f}) '
            f'rotate(-90)">{escape(self.y.label)}</text>'
        )
        return "".join(frame)


def _small(x, y, text, anchor, kind="tick"):
    """Return a small text."""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )
