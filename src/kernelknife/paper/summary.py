"""The summary of a run: our figures beside the paper's, every claim judged from the tables."""

import io
import json
import os
from pathlib import Path

from kernelknife._support.files import write_file
from kernelknife._support.optional import import_optional
from kernelknife.paper.document import Heading, Picture, Table, Text, to_html, to_markdown
from kernelknife.paper.item import Item
from kernelknife.paper.runner import read_tables

__all__ = ["draw_figures", "summarize", "write_summary"]

TITLE = "The paper's results, reproduced"


def draw_figures(item: Item, tables, output):
    """Write the item's figures as PNG and SVG."""
    if not item.captions:
        return
    matplotlib = import_optional("matplotlib", "kernelknife[cli]", "The reproduction")
    # The same run gives the same file: no date, and identifiers from a fixed salt.
    settings = {"backend": "Agg", "svg.hashsalt": "kernelknife", "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        from matplotlib import pyplot

        for name, figure in item.draw(tables).items():
            for ending, options in (("png", {"dpi": 130}), ("svg", {"metadata": {"Date": None}})):
                buffer = io.BytesIO()
                figure.savefig(buffer, format=ending, **options)
                write_file(Path(output) / f"{name}.{ending}", buffer.getvalue())
            pyplot.close(figure)


def summarize(items, output, pictures=""):
    """Return the summary's blocks, from the files in a folder.

    Parameters
    ----------
    items : list of Item
        Those without files in the folder are left out.
    output : path
    pictures : str, default=""
        Prefix of the picture files, as the summary sees them.
    """
    output = Path(output)
    sections, verdicts = [], []
    facts = None
    for item in items:
        record = output / f"{item.name}.json"
        if not record.is_file():
            continue
        facts = json.loads(record.read_text(encoding="utf-8"))
        tables = read_tables(item, output)
        claims = item.claims(tables)
        verdicts += [(item.title, c.text, c.ours, _verdict(c)) for c in claims]
        repeated = f"{facts['repetitions']} of the paper's {item.repetitions} repetitions"
        sections += [
            Heading(f"{item.title} [{', '.join(item.labels)}]"),
            Text(item.protocol + (f" Quick run: {repeated}." if facts["quick"] else "")),
            *item.report(tables),
            *(Picture(f"{pictures}{name}.png", alt) for name, alt in item.captions.items()),
            Table(
                ("claim", "ours", "verdict"),
                tuple((c.text, c.ours, _verdict(c)) for c in claims),
            ),
        ]
    if facts is None:
        raise FileNotFoundError(f"{output} has no finished item.")
    used = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    held = sum(verdict == "holds" for *_, verdict in verdicts)
    return [
        Heading(TITLE, 1),
        Text(
            "G. I. Allen, KNIFE: Kernel Iterative Feature Extraction (arXiv:0906.4391). Written by "
            "`kernelknife reproduce`; every figure and every verdict is computed from the tables "
            f"beside this file. {used}."
        ),
        Heading("Verdicts"),
        Text(f"{held} of {len(verdicts)} claims hold."),
        Table(("part", "claim", "ours", "verdict"), tuple(verdicts)),
        *sections,
    ]


def write_summary(items, output, markdown=None):
    """Write the summary as Markdown and HTML; return the path of the Markdown.

    ``markdown`` names another file than ``summary.md`` in the folder.
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
