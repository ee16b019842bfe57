"""The summary of a run: our figures beside those of the paper, and a verdict on every claim."""

import io
import json
import os
from pathlib import Path

import matplotlib as mpl
from document import Heading, Picture, Table, Text, to_html, to_markdown
from item import Item
from matplotlib import pyplot
from runner import read_tables

from kernelknife._utils.files import write_file

__all__ = ["draw_figures", "summarize", "write_summary"]

TITLE = "The paper's results, reproduced"


def draw_figures(item: Item, tables, output):
    """Write the figures of an item as PNG and SVG."""
    if not item.captions:
        return
    # The same tables must give the same files: SVG has no date, and its identifiers a fixed salt.
    settings = {"backend": "Agg", "svg.hashsalt": "kernelknife", "svg.fonttype": "none"}
    with mpl.rc_context(settings):
        for name, figure in item.draw(tables).items():
            for ending, options in (("png", {"dpi": 130}), ("svg", {"metadata": {"Date": None}})):
                buffer = io.BytesIO()
                figure.savefig(buffer, format=ending, **options)
                write_file(Path(output) / f"{name}.{ending}", buffer.getvalue())
            pyplot.close(figure)


def summarize(items, output, pictures=""):
    """Return the elements of the summary, made from the files of a folder.

    Parameters
    ----------
    items : list of Item
        Those without files in the folder are left out.
    output : path
    pictures : str, default=""
        Path from the summary to the folder of the pictures, with a slash at its end.
    """
    output = Path(output)
    sections, verdicts = [], []
    record = None
    for item in items:
        file = output / f"{item.name}.json"
        if not file.is_file():
            continue
        record = json.loads(file.read_text(encoding="utf-8"))
        tables = read_tables(item, output)
        judged = [(c.text, c.ours, _verdict(c)) for c in item.claims(tables)]
        verdicts += [(item.title, *row) for row in judged]
        sections += [
            Heading(f"{item.title} [{', '.join(item.labels)}]"),
            Text(item.protocol + _quick_note(item, record)),
            *item.report(tables),
            *(Picture(f"{pictures}{name}.png", alt) for name, alt in item.captions.items()),
            Table(("claim", "ours", "verdict"), tuple(judged)),
        ]
    if record is None:
        raise FileNotFoundError(f"{output} has no finished item.")
    used = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    held = sum(verdict == "holds" for *_, verdict in verdicts)
    return [
        Heading(TITLE, 1),
        Text(
            "This page reproduces the results of G. I. Allen, KNIFE: Kernel Iterative Feature "
            "Extraction (arXiv:0906.4391). It is written by `python benchmarks/paper/run.py`; "
            "every figure and every verdict is computed from the tables beside this file. Each "
            "section says how its numbers are computed and where that differs from the paper. "
            f"Methods marked [ours] are not in the paper. Versions: {used}."
        ),
        Heading("In short"),
        Text(f"{held} of {len(verdicts)} claims hold. By part of the paper:"),
        Table(("part", "claims", "hold", "what does not hold"), tuple(_by_part(verdicts))),
        Heading("Verdicts"),
        Table(("part", "claim", "ours", "verdict"), tuple(verdicts)),
        *sections,
    ]


def _by_part(verdicts):
    """Yield one row per part of the paper: how many claims it has, and which do not hold."""
    parts: dict[str, list] = {}
    for part, claim, _, verdict in verdicts:
        parts.setdefault(part, []).append((claim, verdict == "holds"))
    for part, judged in parts.items():
        failed = " ".join(claim for claim, holds in judged if not holds)
        yield part, str(len(judged)), str(sum(holds for _, holds in judged)), failed


def _quick_note(item, record):
    """Return a sentence about a quick run, nothing about a full one."""
    if not record["quick"]:
        return ""
    made, planned = record["repetitions"], item.repetitions
    return f" Quick run: only {made} of the paper's {planned} repetitions were made."


def write_summary(items, output, markdown=None):
    """Write the summary as Markdown and HTML, and return the path of the Markdown.

    Parameters
    ----------
    items : list of Item
    output : path
        Folder of the tables, and of ``summary.html``.
    markdown : path, default=None
        File for the Markdown; None is ``summary.md`` in the folder.
    """
    output = Path(output)
    page = output / "summary.md" if markdown is None else Path(markdown)
    relative = os.path.relpath(output, page.parent)
    prefix = "" if relative == "." else Path(relative).as_posix() + "/"
    write_file(page, to_markdown(summarize(items, output, prefix)))
    write_file(output / "summary.html", to_html(summarize(items, output), TITLE))
    return page


def _verdict(claim):
    return "holds" if claim.holds else "does not hold"
