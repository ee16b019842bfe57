"""What a table or figure of the paper is to the runner and to the summary."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kernelknife.paper.document import Block, Table

__all__ = ["Claim", "Item", "compare", "mean_error", "method_table"]


@dataclass(frozen=True)
class Claim:
    """A statement and what the run says about it."""

    text: str
    ours: str
    holds: bool


class Item(ABC):
    """One part of the paper's results.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
    labels : tuple of str
        The paper's own labels.
    repetitions, quick_repetitions : int
    captions : dict of str
        What each picture shows, by file name without ending.
    protocol : str
        How the figures come about, and where that differs from the paper.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    repetitions: int
    quick_repetitions: int = 2
    captions: dict[str, str] = {}  # noqa: RUF012 - a constant of the class
    protocol: str

    def check(self):  # noqa: B027 - most items need nothing
        """Raise at once what would stop every repetition, such as missing data."""

    @abstractmethod
    def repeat(self, seed, quick):
        """Run one repetition and return its rows, a list of dicts by name of table.

        Parameters
        ----------
        seed : int
            Number of the repetition, from 0.
        quick : bool
            Whether coarse settings will do.
        """

    @abstractmethod
    def report(self, tables) -> list[Block]:
        """Return what the summary shows, from the tables (data frames by name)."""

    @abstractmethod
    def claims(self, tables) -> list[Claim]:
        """Judge the paper's claims, from the tables."""

    def draw(self, tables):
        """Return the figures by name, from the tables."""
        return {}


def mean_error(values):
    """Return the mean and its standard error, not a number for a single value."""
    values = np.asarray(values, dtype=float)
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(spread)


def compare(values, digits=4):
    """Return ``mean (standard error)`` as a string."""
    mean, spread = mean_error(values)
    return f"{mean:.{digits}f}" + ("" if np.isnan(spread) else f" ({spread:.{digits}f})")


def method_table(frame, published, columns, digits=4):
    """Return a table of methods: ours and the paper's figure beside each other.

    Parameters
    ----------
    frame : DataFrame
        Rows with ``method`` and the columns.
    published : dict
        The paper's figures by method, one per column; methods not in it are marked as ours.
    columns : dict of str
        Headings by column.
    digits : int, default=4
    """
    rows = []
    for method in dict.fromkeys(frame["method"]):
        part = frame[frame["method"] == method]
        cells = [method if method in published else f"{method} [ours]"]
        paper = published.get(method, [""] * len(columns))
        for column, value in zip(columns, paper, strict=True):
            cells += [compare(part[column], digits), value or "not in the paper"]
        rows.append(tuple(cells))
    header = ["method"]
    for heading in columns.values():
        header += [heading, "paper"]
    return Table(tuple(header), tuple(rows))
