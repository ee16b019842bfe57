"""The page of a report, and the same pieces for a notebook: plain data through templates."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import date
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any

from kernelknife._utils.messages import import_optional, number, share
from kernelknife.app.messages import as_code, in_python
from kernelknife.app.options import ReadOptions, as_arguments, command_line, in_command
from kernelknife.app.report.figures import draw_figures, draw_sparks
from kernelknife.app.selection.record import describe, describe_path, tables_of
from kernelknife.app.selection.verdict import KEPT, TIERS, headline
from kernelknife.inspection.curves import log_positions
from kernelknife.inspection.displays import to_svg
from kernelknife.inspection.displays.style import printable, shorten
from kernelknife.inspection.substitutes import percent as change

__all__ = ["Page", "build_fragment", "build_report", "path_fragment"]

MOST_SAVED = 1000  # rows of a table that a page carries for CSV
MOST_LISTED = 20  # columns that the slider lists by name at one point
_numbers = count(1)


def build_report(selection, source=None, reading=None, *, command=False) -> str:
    """Return the report as an HTML page.

    Parameters
    ----------
    selection : Selection
        What :func:`kernelknife.app.selection.select_features` returned.
    source : str, default=None
        Where the data came from; the page and its Python code name it.
    reading : ReadOptions, default=None
        How the data were read from a file; None is as ``read_table`` does by default.
    command : bool, default=False
        Whether the page is for a user of the command: its hints then name flags, and the command
        line that gives the same answer stands beside the Python code.

    Returns
    -------
    str
        A whole HTML page, to be written to a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.report import build_report
    >>> from kernelknife.app.selection import select_features
    >>> X, y = make_sinusoidal(60, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> page = build_report(select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3))
    >>> page[:15], "Which columns matter for y" in page
    ('<!doctype html>', True)
    """
    page = _selection_page(selection, source, reading, command)
    return page.whole(f"Which columns matter for {selection.table.target_name}")


def build_fragment(selection) -> str | None:
    """Return the report as a fragment of HTML for a notebook."""
    return _selection_page(selection, None, None, False).fragment()


def path_fragment(path) -> str | None:
    """Return a path with its slider as a fragment of HTML for a notebook."""
    data = (path.feature_names, path.sparsities, path.weights, path.ranking)
    return Page(
        "path.html", {"schema": "kernelknife.path/1", "path": describe_path(*data)}, {}
    ).fragment()


@cache
def _templates():
    """Return the environment of the templates, which escape everything that they are given."""
    jinja2 = import_optional("jinja2", "kernelknife[cli]", "A report")
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("kernelknife.app.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {
        "number": lambda value: number(float(value)),
        "percent": lambda value: f"{100 * value:.0f} %",
        "share": share,
        "change": change,
        "short": shorten,
        "printable": printable,
        "sign": lambda text: str(text).replace(" +- ", " \u00b1 "),
    }
    return templates


def _safe(text):
    """Return text that is HTML already."""
    return import_optional("markupsafe", "kernelknife[cli]", "A report").Markup(text)


def _json(data):
    """Return JSON for a ``script`` element, which no text inside the data can end."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    return _safe(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


class Page:
    """A record with its tables, what a template needs beside them, and the HTML of all."""

    def __init__(self, template: str, record: Mapping[str, Any], tables, **context):
        # A notebook shows several reports on one page, on which an identifier occurs once.
        self.id = f"kk{next(_numbers)}"
        self.template, self.record, self.tables, self.context = template, record, tables, context

    def whole(self, title: str) -> str:
        """Return a page of its own with a title, the style sheet and the script."""
        script = _asset("script.js")
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        # The policy forbids every request, so that nobody can notice that a page was opened.
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
            "img-src data:"
        )
        self.id = "kk"
        parts = {"style": _safe(_asset("style.css")), "script": _safe(script), "body": self.body()}
        return (
            _templates()
            .get_template("base.html")
            .render(title=printable(title), policy=_safe(policy), **parts)
        )

    def fragment(self) -> str | None:
        """Return HTML with the style sheet and the script that it needs.

        None where the extra is missing that draws it: a notebook then shows the text.
        """
        try:
            body = self.body()
        except ImportError:
            return None
        cell = f'<div class="kk"><div>{body}</div></div>'
        return f"<style>{_asset('style.css')}</style>{cell}<script>{_asset('script.js')}</script>"

    def body(self):
        """Return the body as safe HTML."""
        figures = draw_figures(self.record)
        drawn = {
            name: _safe(to_svg(figure, f"{self.id}-{name}", figure.get_label()))
            for name, figure in figures.items()
        }
        points, start = _slider(self.record, figures.get("path"))
        saved = {name: _flat(rows[:MOST_SAVED]) for name, rows in self.tables.items()}
        return _safe(
            _templates()
            .get_template(self.template)
            .render(
                r=self.record,
                id=self.id,
                figures=drawn,
                points=_json(points),
                start=start,
                embedded=_json(saved),
                today=date.today().isoformat(),
                **self.context,
            )
        )


@cache
def _asset(name):
    """Return the text of a file that is shipped beside the templates."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _flat(rows):
    """Return a table as names of columns, in the order in which rows have them, and lists."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    return {"columns": heads, "rows": [[row.get(head) for head in heads] for row in rows]}


def _slider(record, figure):
    """Return what the slider shows at every point of the path, and where it begins."""
    path = record.get("path")
    if figure is None:
        return {}, 0
    ax, points = figure.axes[0], []
    places = log_positions([point["sparsity"] for point in path["points"]])
    pixels = ax.transData.transform([(place, 0.0) for place in places])[:, 0]
    for i, (point, pixel) in enumerate(zip(path["points"], pixels, strict=True)):
        left = [(one["column"], one["weights"][i]) for one in path["columns"]]
        left = sorted((pair for pair in left if pair[1] > 0), key=lambda pair: -pair[1])
        points.append(
            {
                "x": round(float(pixel), 1),
                "sparsity": number(point["sparsity"]),
                "count": point["columns"],
                "error": None if point["error"] is None else number(point["error"]),
                "top": [[printable(n)[:200], number(w)] for n, w in left[:MOST_LISTED]],
            }
        )
    start = len(points) // 2 if path["chosen"] is None else path["chosen"]
    name = record["error"]["name"] if "error" in record else ""
    data = {"points": points, "chosen": path["chosen"], "errorName": name}
    return {**data, "x": points[start]["x"]}, start


def _selection_page(selection, source, reading, command):
    """Return the page of a selection."""
    record = {**selection.to_json(), **describe(selection, in_command if command else in_python)}
    tables = tables_of(record)
    rows = {row["column"]: row for row in tables["columns"]}
    order = {tier: i for i, tier in enumerate((KEPT, *TIERS, ""))}
    used = [row for row in rows.values() if row["selected"] or row["tier"]]
    used.sort(key=lambda row: order[row["tier"]])
    unused = [row for row in rows.values() if not (row["selected"] or row["tier"])]
    unused.sort(key=lambda row: (-row["frequency"], row["rank"]))
    informative = [rows[name] for name in record["verdict"]["carry_information"]]
    sure = [row for row in used if row["tier"] in (KEPT, "stable")]
    suffice = sure or [row for row in used if row["selected"]]
    named = {row["column"] for row in suffice}
    lead = headline(selection, lambda name: f"<b>{escape(printable(name))}</b>", escape)
    settings, reading = selection.settings, reading or ReadOptions()
    file = as_code("data.csv" if source in (None, "-") else source)
    arguments = ",\n    ".join(["frame", as_code(settings.target), *as_arguments(settings)])
    return Page(
        "selection.html",
        record,
        tables,
        source=source,
        lead=_safe(lead.replace(" +- ", " &plusmn; ")),
        **{"sure": bool(sure), "suffice": suffice, "used": used, "unused": unused},
        beside=[row for row in informative if row["column"] not in named],
        informative=informative,
        means=[key for key in next(iter(rows.values())) if key.startswith("mean of ")],
        sparks={
            name: _safe(to_svg(figure, f"spark{i}", figure.get_label()))
            for i, (name, figure) in enumerate(draw_sparks(record).items())
        },
        command=command_line(source or "data.csv", settings, reading) if command else "",
        reading=", ".join([file, *as_arguments(reading)]),
        arguments=arguments,
    )
