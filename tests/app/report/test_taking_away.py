"""What a reader takes away from a page, and what hostile names can do there: nothing."""

import csv
import io
import re
from xml.etree import ElementTree

import pytest

from kernelknife.app.selection.record import tables_of
from kernelknife.inspection.displays.style import COLORS


@pytest.fixture
def opened(browser, attack_file):
    context = browser.new_context(viewport={"width": 1300, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.noise = []
    page.on("console", lambda message: page.noise.append(message.text))
    page.on("pageerror", lambda error: page.noise.append(str(error)))
    page.goto(attack_file.as_uri())
    yield page
    assert page.noise == []
    assert page.evaluate("window.hacked") is None
    context.close()


def taken(page, selector):
    """Return the name and the content of what a button saves."""
    button = page.locator(selector).first
    with page.expect_download() as download:
        button.evaluate("button => button.click()")  # also where it is folded away
    with open(download.value.path(), "rb") as file:
        return download.value.suggested_filename, file.read()


def test_every_table_comes_as_csv_and_no_cell_is_a_formula(opened, attack):
    tables = tables_of(attack.to_json())
    buttons = opened.eval_on_selector_all("[data-csv]", "all => all.map(b => b.dataset.csv)")
    assert {"columns", "confusion", "path", "effects", "cross_validation"} <= set(buttons)
    for name in set(buttons) & set(tables):
        file, content = taken(opened, f"[data-csv={name}]")
        assert file == f"{name}.csv"
        text = content.decode("utf-8-sig")
        heads, *rows = csv.reader(io.StringIO(text, newline=""))
        cells = [cell for row in (heads, *rows) for cell in row]
        for cell in cells:
            assert not re.match(r"[=+@\t\r]|-(?!\d)", cell), cell
        assert len(rows) == len(tables[name])
        for row, known in zip(rows, tables[name], strict=True):
            for head, cell in zip(heads, row, strict=True):
                value = known.get(head.removeprefix("'"))
                if isinstance(value, float):
                    assert float(cell) == value
                elif isinstance(value, str):
                    assert cell.removeprefix("'") == value.removeprefix("'")


def test_every_figure_comes_as_svg_and_png_of_its_own(opened):
    name, content = taken(opened, "figure [data-svg]")
    root = ElementTree.fromstring(content)
    assert name == "errors.svg"
    assert root.get("width")
    assert b"var(" not in content
    assert COLORS[0].encode() in content
    name, content = taken(opened, "figure[data-figure=path] [data-png]")
    assert name == "path.png"
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000
    figures = opened.locator("figure").count()
    assert opened.locator("[data-svg]").count() == opened.locator("[data-png]").count() == figures


def test_the_copy_buttons_copy(browser, attack_file):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(attack_file.as_uri())
    texts = []
    for button in page.locator(".copy").all():
        button.evaluate("button => button.click()")
        page.wait_for_timeout(50)
        texts.append(page.evaluate("navigator.clipboard.readText()"))
    context.close()
    methods, citation, command, python = texts
    assert "KNIFE (Allen 2009)" in methods
    assert "were selected among 9 in 90 rows" in methods
    assert "arXiv:0906.4391" in citation
    assert command.startswith("kernelknife select ")
    assert "select_features(" in python


@pytest.mark.parametrize("width", [400, 1300, 1900])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_whatever_it_is_called(browser, attack_file, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(attack_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 40_000
    assert page.evaluate("window.hacked") is None
    page.close()


def test_the_print_fits_on_a4(browser, attack_file):
    page = browser.new_page(viewport={"width": 688, "height": 1000})  # the text of an A4 page
    page.emulate_media(media="print")
    page.goto(attack_file.as_uri())
    wide = page.evaluate(
        """[...document.querySelectorAll("main *")].filter(e => {
        const box = e.getBoundingClientRect();
        return box.width > 0 && box.right > 690 && getComputedStyle(e).overflow !== "hidden";
        }).map(e => e.outerHTML.slice(0, 100))"""
    )
    assert wide == []
    assert page.locator(".take:visible").count() == 0
    page.close()
