"""Small charts as inline SVG: themed by the page's style sheet, sharp in print, no library.

Everything that comes from a user is escaped here, and nowhere is markup put together from
unescaped text.
"""

import math
from html import escape

from kernelknife._support.formatting import number

__all__ = ["Axis", "Chart", "number"]


class Axis:
    """A range of values, linear or logarithmic, with ticks at round numbers.

    Parameters
    ----------
    low, high : float
    log : bool, default=False
    label : str, default=""
    ticks : list of (float, str), default=None
        None finds them.
    """

    def __init__(self, low, high, *, log=False, label="", ticks=None):
        if not high > low:
            margin = abs(low) * 0.05 or 0.5
            low, high = (low / 1.5, high * 1.5) if log else (low - margin, high + margin)
        self.low, self.high, self.log, self.label = float(low), float(high), log, label
        self.ticks = self._find_ticks() if ticks is None else ticks

    def share(self, value):
        """Return where a value lies, 0 at the low end and 1 at the high end."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return (math.log(max(value, self.low)) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def _find_ticks(self):
        if self.log:
            least, most = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            powers = range(least, most + 1, max(1, (most - least) // 6 + 1))
            return [(10.0**k, number(10.0**k)) for k in powers]
        raw = (self.high - self.low) / 5
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * f for f in (1, 2, 5, 10) if size * f >= raw)
        first = math.ceil(self.low / step - 1e-9)
        ticks = []
        while first * step <= self.high + 1e-9 * step:
            ticks.append((first * step, number(round(first * step, 12))))
            first += 1
        return ticks


class Chart:
    """A chart that grows by marks and is written at the end.

    Parameters
    ----------
    x, y : Axis
    title : str
        What it shows, for those who cannot see it.
    width, height : int, default=(640, 340)
    right : int, default=16
        Room at the right, for labels.
    """

    def __init__(self, x, y, title, *, width=640, height=340, right=16):
        self.x, self.y, self.title = x, y, title
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 54, right, 12, 44
        self._marks = []

    def px(self, value):
        """Return the horizontal place of a value."""
        return self.left + self.x.share(value) * (self.width - self.left - self.right)

    def py(self, value):
        """Return the vertical place of a value."""
        inner = self.height - self.top - self.bottom
        return self.top + (1.0 - self.y.share(value)) * inner

    def _points(self, xs, ys):
        return " ".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(xs, ys, strict=True))

    def line(self, xs, ys, kind, name=""):
        """Draw a line of a class of the style sheet; a name shows where a pointer rests."""
        title = f"<title>{escape(name)}</title>" if name else ""
        points = self._points(xs, ys)
        self._marks.append(f'<polyline class="{kind}" points="{points}">{title}</polyline>')

    def band(self, xs, low, high, kind):
        """Fill between two lines."""
        there = self._points(xs, low)
        back = self._points(list(xs)[::-1], list(high)[::-1])
        self._marks.append(f'<polygon class="{kind}" points="{there} {back}"/>')

    def dots(self, xs, ys, kind, radius=3.0):
        """Draw dots, each in a class of its own."""
        for a, b, one in zip(xs, ys, kind, strict=True):
            self._marks.append(
                f'<circle class="{one}" cx="{self.px(a):.1f}" cy="{self.py(b):.1f}" r="{radius}"/>'
            )

    def rug(self, xs):
        """Mark values at the foot."""
        foot = self.height - self.bottom
        strokes = "".join(f"M{self.px(value):.1f} {foot}v-6" for value in xs)
        self._marks.append(f'<path class="rug" d="{strokes}"/>')

    def rule(self, value, kind, key="", label=""):
        """Draw a vertical line; ``key`` lets the page's script find it."""
        where = self.px(value)
        mark = f' data-kk="{key}"' if key else ""
        self._marks.append(
            f'<line class="{kind}"{mark} x1="{where:.1f}" x2="{where:.1f}" y1="{self.top}" '
            f'y2="{self.height - self.bottom}"/>'
        )
        if label:
            self.text(where + 4, self.top + 10, label)

    def text(self, x, y, text, anchor="start", kind="label"):
        """Write at a place of the picture, not of the axes."""
        self._marks.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}'
            "</text>"
        )

    def label(self, x, y, place, text, kind):
        """Write at the right margin at height ``place``, joined to a point of the chart."""
        edge = self.width - self.right
        self._marks.append(
            f'<polyline class="{kind} leader" points="{self.px(x):.1f},{self.py(y):.1f} '
            f'{edge + 6:.1f},{place:.1f}"/><rect class="{kind} key" x="{edge + 8}" '
            f'y="{place - 4:.1f}" width="8" height="8"/>'
        )
        self.text(edge + 20, place + 4, text)

    def render(self):
        """Return the SVG."""
        foot, edge = self.height - self.bottom, self.width - self.right
        frame = [f'<path class="axis" d="M{self.left} {self.top}V{foot}H{edge}"/>']
        for value, name in self.x.ticks:
            where = self.px(value)
            frame.append(f'<path class="axis" d="M{where:.1f} {foot}v4"/>')
            frame.append(_small(where, foot + 17, name, "middle"))
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
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}">{"".join(frame)}{"".join(self._marks)}</svg>'
        )


def _small(x, y, text, anchor, kind="tick"):
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )
