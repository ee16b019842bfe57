"""One model: what a page shows and draws is what the plain data and the tables hold."""

import ast
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife._utils.messages import number
from kernelknife.app.report import build_report, draw_figures
from kernelknife.app.selection import select_features
from kernelknife.app.selection.record import SCHEMA, tables_of
from kernelknife.inspection.displays import to_svg

SOURCE = Path(__file__).parents[3] / "src" / "kernelknife"


class Tables(HTMLParser):
    """The texts of the cells of all tables of a page, by the label of the table."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.label, self.cell = {}, None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div" and attrs.get("class") == "scroll":
            self.label = attrs["aria-label"]
            self.tables[self.label] = []
        elif tag == "tr" and self.label:
            self.tables[self.label].append([])
        elif tag in ("td", "th") and self.label:
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.tables[self.label][-1].append(" ".join(self.cell.split()))
            self.cell = None
        elif tag == "table":
            self.label = None


@pytest.fixture(scope="module")
def selections():
    """Two classes, numbers with a product, counts."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 6))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["f"] = frame["a"] + 0.3 * rng.normal(size=120)
    frame.loc[:9, "b"] = np.nan
    classes = frame.assign(y=np.where(X[:, 0] ** 2 + X[:, 1] > 1, "sick", "well"))
    numbers = frame.assign(y=2 * X[:, 2] * X[:, 3] + np.sin(2 * X[:, 0]))
    counts = frame.assign(y=rng.poisson(np.exp(0.5 + X[:, 0])))
    options = {"folds": 3, "alpha": 0.3}
    return {
        "classes": select_features(classes, "y", kernel="rbf", **options),
        "numbers": select_features(numbers, "y", kernel="anova", sparsity=2.0, **options),
        "counts": select_features(counts, "y", kernel="additive", loss="poisson", **options),
    }


@pytest.fixture(params=["classes", "numbers", "counts"])
def selection(request, selections):
    return selections[request.param]


def test_the_data_are_json_with_a_schema_that_the_guide_documents(selection):
    record = json.loads(json.dumps(selection.to_json(), allow_nan=False))
    assert record["schema"] == SCHEMA
    guide = (SOURCE.parents[1] / "docs" / "guide" / "json.md").read_text(encoding="utf-8")
    assert SCHEMA in guide
    heads = re.findall(r"^\| (`.*?) \|", guide, re.MULTILINE)
    documented = set(re.findall(r"`(\w+)`", " ".join(heads)))
    assert set(record) <= documented, sorted(set(record) - documented)


def test_every_table_of_the_page_is_that_of_the_data(selection):
    record = selection.to_json()
    page = build_report(selection)
    shown, known = Tables(page).tables, tables_of(record)
    rows = {row["column"]: row for row in known["columns"]}
    for label in ("Table of columns", "Columns of weight 0"):
        heads, *body = shown.get(label, [[]])
        for cells in body:
            row = rows[cells[0]]
            assert number(row["weight"]) == cells[heads.index("weight")]
            folds = next(i for i, head in enumerate(heads) if head.startswith("in folds"))
            assert f"{100 * row['frequency']:.0f} %" == cells[folds]
            assert str(row["rank"]) == cells[heads.index("elimination order")]
            if "how sure" in heads:
                assert row["tier"] == cells[heads.index("how sure")]
    listed = [
        cells[0]
        for label in ("Table of columns", "Columns of weight 0")
        for cells in shown.get(label, [[]])[1:]
    ]
    assert sorted(listed) == sorted(rows), "every column is in one of both"
    heads, *body = shown["Columns that carry information"]
    assert [cells[0] for cells in body] == record["verdict"]["carry_information"]
    for cells in body:
        row = rows[cells[0]]
        q = "< 1e-12" if row["q_value"] < 1e-12 else number(row["q_value"])
        assert q == cells[heads.index("q-value")]
        assert row["shape"] == cells[heads.index("shape")]
    if record["classes"]:
        _, *body = shown["Errors of the classes"]
        assert [int(cells[1]) for cells in body] == [
            sum(r) for r in record["classes"]["rows_by_class"]
        ]


def test_what_a_page_lets_take_away_is_the_tables(selection):
    page, known = build_report(selection), tables_of(selection.to_json())
    text = re.search(r'<script type="application/json" class="tables">(.*?)</script>', page)[1]
    saved = json.loads(text)
    assert set(saved) == set(known)
    for name, table in saved.items():
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        assert [{k: v for k, v in row.items() if v is not None} for row in rows] == [
            {k: v for k, v in row.items() if v is not None} for row in known[name]
        ]


def test_every_figure_of_the_page_is_drawn_from_the_data(selection):
    record = json.loads(json.dumps(selection.to_json()))
    page = build_report(selection)
    figures = draw_figures(record)
    shown = re.findall(r'<figure data-figure="(\w+)"', page)
    assert sorted(shown) == sorted(figures)
    for name, figure in figures.items():
        assert to_svg(figure, f"kk-{name}", figure.get_label()) in page, name


def test_the_lines_and_dots_of_the_figures_are_the_numbers_of_the_data(selection):
    record = selection.to_json()
    axes = {name: figure.axes[0] for name, figure in draw_figures(record).items()}
    lines = {line.get_label()[1:]: line for line in axes["path"].lines}
    sparsities = [point["sparsity"] for point in record["path"]["points"]]
    for one in record["path"]["columns"]:
        if one["column"] in lines:
            assert_allclose(lines[one["column"]].get_ydata(), one["weights"])
            assert len(one["weights"]) == len(sparsities)
    middles = [line.get_xdata()[0] for line in axes["errors"].lines if line.get_marker() == "o"]
    assert_allclose(middles, [one["mean"] for one in record["errors"]])
    for i, effect in enumerate(record["effects"], start=1):
        drawn = [tuple(np.round(line.get_ydata(), 12)) for line in axes[f"effect_{i}"].lines]
        for curve in effect["curves"].values():
            assert tuple(np.round(curve, 12)) in drawn
    (counts,) = (line for line in axes["number_of_columns"].lines if line.get_markersize() == 4)
    assert_allclose(counts.get_xdata(), [one["columns"] for one in record["counts"]])
    assert_allclose(counts.get_ydata(), [one["error"] for one in record["counts"]])


def test_numbers_of_rows_are_whole_and_complete(selections):
    selection = selections["classes"]
    rows = np.array(selection.to_json()["classes"]["rows_by_class"])
    assert rows.dtype.kind == "i"
    assert_allclose(rows.sum(axis=1), selection.quality.confusion.sum(axis=1))
    assert (rows >= 0).all()


def test_a_wide_table_has_a_page_that_can_be_mailed(selections):
    """200 selected of 20,000 columns: all of them in the data, the first thousand in the page."""
    selection = selections["numbers"]
    rng = np.random.default_rng(0)
    names = [f"gene_{j}" for j in range(20_000)]
    first, known = selection.features[0], next(iter(selection.information.values()))
    features = tuple(
        replace(first, name=name, weight=float(rng.uniform()) if j < 200 else 0.0, rank=j + 1)
        for j, name in enumerate(names)
    )
    wide = replace(
        selection,
        features=features,
        information=dict.fromkeys(names, known),
        against_noise=None,
    )
    page = build_report(wide)
    assert len(page.encode()) < 1_500_000
    assert len(tables_of(wide.to_json())["columns"]) == 20_000


# -- one chart layer ------------------------------------------------------------------------------

DRAWING = {
    *("plot", "scatter", "bar", "barh", "step", "imshow", "pcolormesh", "contourf", "fill_between"),
    *("errorbar", "vlines", "hlines", "axvline", "axhline", "axvspan", "add_patch", "annotate"),
}


def test_no_chart_is_drawn_outside_the_chart_layer():
    """Drawing calls of axes, imports of matplotlib and SVG are in inspection/displays alone."""
    home = SOURCE / "inspection" / "displays"
    for path in SOURCE.rglob("*"):
        if path.suffix in (".html", ".js", ".py") and home not in path.parents:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"<(svg|path|polyline|circle|rect)\b", text), path
        if path.suffix != ".py" or home in path.parents:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = getattr(node.func.value, "id", "")
                assert not (node.func.attr in DRAWING and owner.startswith("ax")), path
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(one.name for one in node.names)]
                assert not any(name.startswith("matplotlib") for name in names), path


def test_no_two_functions_of_the_chart_layer_draw_the_same():
    """Each chart has one function; displays and figures call it and draw nothing of its kind."""
    charts = ast.parse((SOURCE / "inspection" / "displays" / "charts.py").read_text("utf-8"))
    drawn = {f.name for f in charts.body if isinstance(f, ast.FunctionDef)}
    drawn = {name for name in drawn if name.startswith("draw_")}
    report = (SOURCE / "app" / "report" / "figures.py").read_text(encoding="utf-8")
    used = set(re.findall(r"charts\.(draw_\w+)", report))
    assert used <= drawn
    assert drawn == used, "a chart that no page shows belongs to its display"
