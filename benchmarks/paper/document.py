"""A document as a list of elements that can be written as Markdown and as HTML.

Both are made from the same elements, so their content is the same.
"""

from dataclasses import dataclass
from html import escape

__all__ = ["Element", "Heading", "Picture", "Table", "Text", "to_html", "to_markdown"]

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto;
  padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: .3rem .7rem; text-align: left; }
td { font-variant-numeric: tabular-nums; }
img { max-width: 100%; background: #fff; }
"""


@dataclass(frozen=True)
class Heading:
    """A heading; the title of the document has level 1."""

    text: str
    level: int = 2

    def markdown(self):
        """Return the element as Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self):
        """Return the element as HTML."""
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def markdown(self):
        """Return the element as Markdown."""
        return self.text

    def html(self):
        """Return the element as HTML."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True)
class Table:
    """A table whose cells are text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self):
        """Return the element as Markdown."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )

    def html(self):
        """Return the element as HTML."""
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.header)
        rows = (
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


@dataclass(frozen=True)
class Picture:
    """An image file beside the document, with a description of what it shows."""

    file: str
    alt: str

    def markdown(self):
        """Return the element as Markdown."""
        return f"![{self.alt}]({self.file})"

    def html(self):
        """Return the element as HTML."""
        return f'<img src="{escape(self.file)}" alt="{escape(self.alt)}">'


Element = Heading | Text | Table | Picture


def to_markdown(elements):
    """Return the elements as Markdown."""
    return "\n\n".join(element.markdown() for element in elements) + "\n"


def to_html(elements, title):
    """Return the elements as one HTML page."""
    body = "\n".join(element.html() for element in elements)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n"
        "</main>\n</body>\n</html>\n"
    )
