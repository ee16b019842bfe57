"""The report: complete, escaped, and in a browser that it works, alone and for everyone."""

import os
import re
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from kernelknife import knife_path
from kernelknife.app.report import build_report, draw_figures
from kernelknife.app.selection import select_features
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.inspection.displays.style import DIVERGING, THEME

HOSTILE = "<script>window.hacked=1</script>\"'&|\\u2028</style>"


AXE = Path(os.environ.get("KERNELKNIFE_AXE", "node_modules/axe-core/axe.min.js"))


@pytest.fixture(scope="module")
def selection():
    X, y = make_skin_of_orange(100, 6, random_state=0)
    columns = [HOSTILE, *(f"x{j}" for j in range(1, 10))]
    frame = pd.DataFrame(X, columns=columns)
    frame["fruit"] = np.where(y, "<img src=x onerror=window.hacked=1>", "flesh")
    return select_features(frame, "fruit", alpha=1.0, folds=3)


@pytest.fixture(scope="module")
def page_file(selection, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(build_report(selection, "<data>.csv"), encoding="utf-8")
    return path


def test_everything_is_in_one_small_file(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert len(text) < 3_000_000
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)
    headings = [
        *("How sure", "Feature paths", "Choosing the penalties", "What each column does"),
        *("Pairs of the columns with the largest weights", "What was asked", "To do it again"),
        "Columns with the same information",
    ]
    for heading in headings:
        assert f"<h2>{heading}" in text


def test_names_and_values_are_escaped(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert "<script>window.hacked" not in text
    assert "<img src=x" not in text
    assert text.count("</style>") == 1


def test_the_snippet_gives_the_same_answer(tmp_path, monkeypatch):
    X, y = make_sinusoidal(60, 2, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(y=y)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("data.csv", index=False)
    selection = select_features(frame, "y", alpha=0.3, folds=3, drop=("g",))
    page = build_report(selection, "data.csv")
    code = re.search(r"<code>(from kernelknife.*?)</code></pre>", page, re.DOTALL).group(1)
    code = unescape(code)
    namespace = {}
    exec(compile(code, "snippet", "exec"), namespace)
    assert namespace["selection"].selected == selection.selected


def test_nothing_selected_is_said():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcy"))
    page = build_report(select_features(frame, "y", alpha=1.0, folds=3, rule="1se"))
    assert "Nothing here predicts y: no column helps" in page


def test_tables_with_gaps_have_a_report(rng):
    X = rng.normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=list("abc")).round(1).assign(y=X[:, 0] + X[:, 1])
    frame["a"] = (10 * frame["a"]).astype("Int64")
    frame["kind"] = pd.Categorical(["u", "v", "w"] * 20)
    frame.loc[[3, 4], ["a", "b", "kind"]] = pd.NA
    page = build_report(select_features(frame, "y", impute="median", alpha=0.3, n_features=4))
    assert "Pairs of the columns with the largest weights" in page


@pytest.fixture(scope="module")
def together():
    """A product of two columns, one of them with a name that is code."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    frame = pd.DataFrame(X, columns=[HOSTILE, "right", "wave", "noise"])
    frame["y"] = 2 * X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
    return select_features(frame, "y", kernel="anova", alpha=0.1, folds=2, sparsity=2.0)


def test_what_acts_together_is_named_and_drawn(together):
    page = build_report(together)
    assert "<script>window.hacked" not in page
    assert "what a column on its own adds to the prediction; its average is zero" in page
    section = page.split("<h2>What acts together")[1].split("</section>")[0]
    shown = escape(HOSTILE[:39] + "\N{HORIZONTAL ELLIPSIS}").replace("&quot;", "&#34;")
    assert f"{shown.replace('&#x27;', '&#39;')}</span> and right" in section
    assert f"{100 * together.interactions[0].share:.1f} %" in section
    assert 1 <= section.count("<svg") <= 4
    assert "red raises the output" in section
    assert len(section) < 200_000
    # Both parts of the picture are well-formed.
    for svg in re.findall(r"<svg.*?</svg>", section, re.DOTALL):
        ElementTree.fromstring(svg)


def test_every_color_of_the_charts_is_in_the_style_sheet(together):
    page = build_report(together)
    for name, color in THEME.items():
        if name != "rule":
            light, dark = re.findall(rf"--{name}: (#[0-9a-f]{{6}})", page)[:2]
            assert light == color
            assert name == "gray" or dark != light
    assert f"var(--h0,{DIVERGING[0]})" in page


def test_columns_that_act_alone_are_said_to(together, selection):
    alone = build_report(replace(together, interactions=()))
    assert "No two columns have more than 0.5 % of the variance together." in alone
    assert "What acts together" not in build_report(selection), "a joint function cannot say"


def test_there_is_no_color_where_there_are_no_rows(together):
    (first, *_) = (one for one in together.to_json()["interactions"] if one["surface"])
    values = np.array(first["surface"]["values"], dtype=float)
    edges, points = first["surface"]["edges"], np.array(first["surface"]["points"])
    assert 0.1 < np.isnan(values).mean() < 0.9
    cells = [np.searchsorted(e, p, side="right") - 1 for e, p in zip(edges, points.T, strict=True)]
    inside = np.all([(c >= 0) & (c < 24) for c in cells], axis=0)
    assert not np.isnan(values[tuple(c[inside] for c in cells)]).any(), "every row has a color"


def test_curves_of_many_classes_have_colors_of_their_own_or_gray():
    curves = {f"score of {i}": [0.0, float(i)] for i in range(12)}
    effect = {"column": "a", "values": [0.0, 1.0], "curves": curves, "rug": [], "separate": False}
    figures = draw_figures({"schema": "", "effects": [effect, {**effect, "column": "b"}]})
    one, other = (
        {
            tuple(line.get_ydata()): line.get_color()
            for line in figure.axes[0].lines
            if line.get_lw() > 0.8 or line.get_marker() == "o"
        }
        for figure in figures.values()
    )
    assert one == other, "a color means one class in all charts"
    colors = [color for color in one.values() if color != THEME["gray"]]
    assert len(colors) == len(set(colors)) == 8
    assert all(one[0.0, float(i)] == THEME["gray"] for i in range(4)), "they vary least"


def test_columns_of_few_values_are_jittered():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"stars": [1.0, 2.0, 3.0] * 30, "x": rng.normal(size=90)})
    frame["y"] = frame["stars"] + frame["x"]
    record = select_features(
        frame, "y", kernel="linear", alpha=0.1, folds=3, n_features=2
    ).to_json()
    (ax, *_) = draw_figures(record)["scatter"].axes
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    names = [one["column"] for one in record["scatter"]["columns"]]
    of_stars, of_x = drawn[:, names.index("stars")], drawn[:, names.index("x")]
    assert len(set(of_stars)) > 20, "three values would make three lines of dots"
    assert np.abs(of_stars - of_stars.round()).max() < 0.2
    assert set(of_x) <= set(frame["x"])


def test_heavy_tails_have_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": np.exp(rng.normal(9, 1.5, 120)), "age": rng.normal(size=120)})
    frame["y"] = np.log(frame["income"]) + frame["age"]
    record = select_features(
        frame, "y", kernel="additive", alpha=0.1, folds=3, sparsity=0.5
    ).to_json()
    logs = {one["column"]: one["log"] for one in record["effects"]}
    assert logs == {"income": True, "age": False}
    axes = {name: figure.axes[0] for name, figure in draw_figures(record).items()}
    scales = {ax.get_xlabel(): ax.get_xscale() for name, ax in axes.items() if "effect" in name}
    assert scales == {"income": "log", "age": "linear"}


def test_weights_of_zero_are_folded_away(selection):
    page = build_report(selection)
    main, _, folded = page.partition("columns of weight 0</summary>")
    out = [one.name for one in selection.features if one.name not in selection.verdict.tiers]
    assert out
    for name in out:
        assert f'<th scope="row">{name}</th>' not in main
        assert f'<th scope="row">{name}</th>' in folded


def test_notebooks_show_the_same_pieces(selection):
    assert 'class="kk-path"' in selection._repr_html_()
    path = knife_path(*make_sinusoidal(40, 1, random_state=0), sparsities=5)
    html = path._repr_html_()
    assert 'type="range"' in html
    assert html != path._repr_html_()  # identifiers of their own, twice on one page


@pytest.fixture
def page(browser, page_file):
    """The report, open; ``page.noise`` collects console messages, errors and requests."""
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.noise = []
    page.on("console", lambda message: page.noise.append(message.text))
    page.on("pageerror", lambda error: page.noise.append(str(error)))
    page.on("request", lambda request: page.noise.append(request.url))
    page.goto(page_file.as_uri())
    page.noise.remove(page_file.as_uri())
    yield page
    page.close()


def test_it_opens_without_error_or_request(page):
    assert page.noise == []
    assert page.evaluate("window.hacked") is None


def test_a_hostile_name_stays_text(page):
    assert page.locator("tbody th", has_text="<script>window.hacked=1</script>").count() >= 3
    assert page.locator("img").count() == 0


def test_the_slider_moves_and_the_numbers_change(page, selection):
    slider = page.locator("input[type=range]")
    state, value = page.locator(".state"), page.locator("output")
    assert "(selected)" in value.inner_text()
    before = (state.inner_text(), page.locator("[data-kk=rule]").get_attribute("transform"))
    slider.focus()
    page.keyboard.press("Home")
    first = int(selection.search.path_.n_selected[0])
    assert state.inner_text().startswith(f"{first} columns selected")
    assert page.locator(".chips li").count() == first
    page.keyboard.press("End")
    assert state.inner_text().startswith("0 columns selected")
    assert (state.inner_text(), page.locator("[data-kk=rule]").get_attribute("transform")) != before
    assert "0 columns" in slider.get_attribute("aria-valuetext")
    assert page.noise == []


@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(browser, page_file, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.close()


# Rules that notebooks have for tables and lists in their output.
NOTEBOOK = """
.out table { color: #000; table-layout: fixed; margin-left: auto; }
.out td, .out th, .out tr { text-align: right; }
.out tbody tr:nth-child(odd) { background: #eee; }
.out ul:not(.list-inline) { list-style: disc; }
"""


def test_styles_of_a_notebook_do_not_show(browser, selection, tmp_path):
    """The same cell has the same look in a page of its own and inside a notebook."""
    looks = []
    for style in ("", NOTEBOOK):
        path = tmp_path / "notebook.html"
        cell = f'<div class="out">{selection._repr_html_()}</div>'
        path.write_text(f"<!doctype html><style>{style}</style>{cell}", encoding="utf-8")
        page = browser.new_page(viewport={"width": 900, "height": 800}, color_scheme="dark")
        page.goto(path.as_uri())
        looks.append(
            page.evaluate(
                """[...document.querySelectorAll("table, tr, th, td, ul")].map(e => {
                const s = getComputedStyle(e);
                return [s.color, s.backgroundColor, s.textAlign, s.listStyleType, s.tableLayout];
                })"""
            )
        )
        page.close()
    assert looks[0] == looks[1]


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm install axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_violation(browser, page_file, scheme):
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run()")
    serious = [v for v in result["violations"] if v["impact"] in ("serious", "critical")]
    assert not serious, [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in serious]
    assert len(result["passes"]) > 10
    context.close()
