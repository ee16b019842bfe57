"""Small parts of HTML that several pieces of a report share."""

import json
from html import escape
from itertools import count

from kernelknife.inspection.displays import spread_labels

__all__ = ["figure", "json_text", "label_places", "percent", "shorten", "tier_pill", "unique_id"]

_numbers = count(1)


def unique_id(prefix: str = "kk") -> str:
    """Return an identifier that nothing else has that this process writes.

    A notebook shows several reports on one page, so that a fixed identifier would occur twice.
    """
    return f"{prefix}{next(_numbers)}"


def percent(share: float) -> str:
    """Return a share as a whole number of percent."""
    return f"{100 * share:.0f} %"


def shorten(name: object, limit: int = 22) -> str:
    """Return a name of at most ``limit`` characters; an ellipsis stands for the rest."""
    text = str(name)
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def tier_pill(tier: str) -> str:
    """Return how sure a column is as a pill, nothing for a column without a tier."""
    return f'<span class="tier {tier}">{tier}</span>' if tier else ""


def figure(svg: str, caption: str) -> str:
    """Return a chart with a caption; a chart wider than the page scrolls, by keyboard as well."""
    return (
        f'<figure><div class="plot" tabindex="0" role="group" aria-label="Chart">{svg}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def json_text(data) -> str:
    """Return JSON for a ``script`` element, which no text inside the data can end.

    Every ``<`` is written as an escape. Some browsers take the separators U+2028 and U+2029 for
    ends of lines, so they are left out.
    """
    return json.dumps(data).replace("<", "\\u003c").replace("\u2028", "").replace("\u2029", "")


def label_places(chart, values, gap: float) -> list[float]:
    """Return where to write the labels of values, so that none covers another.

    Parameters
    ----------
    values : list of float
        Values on the vertical axis.
    gap : float
        Least distance of two labels, as a share of the chart's height.
    """
    shares = spread_labels([chart.y.share(value) for value in values], gap)
    return [chart.top + (1.0 - share) * chart.inner_height for share in shares]
