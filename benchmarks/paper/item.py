"""The interface between a table or figure of the paper, the runner and the summary."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from document import Element, Table

__all__ = ["Claim", "Item", "format_mean", "mean_and_error", "method_table"]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or one of ours, and what the tables say about it.

    Attributes
    ----------
    text : str
        The claim as a sentence.
    ours : str
        Our figures that decide it.
    holds : bool
    """

    text: str
    ours: str
    holds: bool


class Item(ABC):
    """One part of the paper's results.

    A subclass runs the repetitions, and turns their tables into text, verdicts and figures. Text,
    verdicts and figures are made from the tables alone, so they can be written again without a run.

    Attributes
    ----------
    name : str
        Name of the part on the command line.
    title : str
        Heading of the part in the summary.
    labels : tuple of str
        Labels of the tables and figures in the paper's source.
    repetitions, quick_repetitions : int
        Number of repetitions of a full run and of a quick one.
    captions : dict of str
        What each figure shows, by file name without ending.
    protocol : str
        How the numbers are computed, and where that differs from the paper.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    repetitions: int
    quick_repetitions: int = 2
    captions: dict[str, str] = {}  # noqa: RUF012 - a constant of the class
    protocol: str

    def check(self):  # noqa: B027 - most items need nothing
        """Raise an error before the first repetition if, for example, data files are missing."""

    @abstractmethod
    def repeat(self, seed, quick):
        """Run one repetition.

        Parameters
        ----------
        seed : int
            Number of the repetition, counted from 0.
        quick : bool
            Whether to use coarse settings.

        Returns
        -------
        dict of list of dict
            The rows of every table, by name of table.
        """

    @abstractmethod
    def report(self, tables) -> list[Element]:
        """Return the elements of the summary, given the tables (data frames by name)."""

    @abstractmethod
    def claims(self, tables) -> list[Claim]:
        """Return the claims with their verdicts, given the tables."""

    def draw(self, tables):
        """Return the figures by name, given the tables."""
        return {}


def mean_and_error(values):
    """Return the mean and its standard error, which is NaN for a single value."""
    values = np.asarray(values, dtype=float)
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(spread)


def format_mean(values, digits=4):
    """Return "mean (standard error)" as text."""
    mean, spread = mean_and_error(values)
    return f"{mean:.{digits}f}" + ("" if np.isnan(spread) else f" ({spread:.{digits}f})")


def method_table(frame, published, columns, digits=4):
    """Return a table of methods with our figures and those of the paper side by side.

    Parameters
    ----------
    frame : DataFrame
        It has the column ``method`` and those that ``columns`` names.
    published : dict
        The paper's figures by method, one per column. Other methods are marked as ours.
    columns : dict of str
        Heading of every column, by its name in ``frame``.
    digits : int, default=4
        Decimals of our figures.
    """
    rows = []
    for method in dict.fromkeys(frame["method"]):
        part = frame[frame["method"] == method]
        cells = [method if method in published else f"{method} [ours]"]
        paper = published.get(method, [""] * len(columns))
        for column, value in zip(columns, paper, strict=True):
            cells += [format_mean(part[column], digits), value or "not in the paper"]
        rows.append(tuple(cells))
    header = ["method"]
    for heading in columns.values():
        header += [heading, "paper"]
    return Table(tuple(header), tuple(rows))
