"""The documentation as a web site: for every width and everyone, and without a network.

The tests look at what ``sphinx-build docs docs/_build/html`` has made, and are skipped where that
has not been done, or where there is no browser.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("KERNELKNIFE_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
PAGES = [
    "index.html",
    "start.html",
    "scaling.html",
    "api.html",
    "benchmarks.html",
    "reproduction.html",
    "gallery/index.html",
    "gallery/plot_genes.html",
    "guide/index.html",
    "guide/method.html",
    "guide/command.html",
    "guide/penalties.html",
    "guide/relatives.html",
    "guide/glossary.html",
    "generated/kernelknife.KnifeRegressor.html",
]

# Pages of one kind share their colors.
ONE_OF_A_KIND = [
    "index.html",
    "start.html",
    "api.html",
    "gallery/plot_genes.html",
    "guide/penalties.html",
    "generated/kernelknife.KnifeRegressor.html",
]

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="the site is not built: sphinx-build"
)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, name, width, scheme="light"):
    """Return a page of the site, shown at a width, and what it asked the network for."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page, requests = context.new_page(), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((SITE / name).as_uri())
    return context, page, [url for url in requests if not url.startswith(("file:", "data:"))]


@pytest.mark.parametrize("width", [400, 1600])
def test_no_page_is_wider_than_its_window(browser, width):
    too_wide = {}
    for name in PAGES:
        context, page, _ = opened(browser, name, width)
        excess = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if excess > 0:
            too_wide[name] = excess
        context.close()
    assert not too_wide


def test_the_header_is_one_line_at_1280_pixels(browser):
    context, page, _ = opened(browser, "index.html", 1280)
    tops = page.evaluate(
        "[...document.querySelectorAll('.bd-header .navbar-header-items .nav-link')]"
        ".filter(e => e.offsetParent && !e.closest('.dropdown-menu'))"
        ".map(e => Math.round(e.getBoundingClientRect().top))"
    )
    assert len(tops) >= 5
    assert max(tops) - min(tops) <= 4, tops
    height = page.evaluate("document.querySelector('.bd-header').getBoundingClientRect().height")
    context.close()
    assert height <= 80


def test_nothing_is_asked_of_the_network(browser):
    for name in ("index.html", "guide/method.html", "guide/penalties.html", "gallery/index.html"):
        context, _, requests = opened(browser, name, 1280)
        context.close()
        assert not requests, name


def test_formulas_are_drawn_by_the_browser(browser):
    text = (SITE / "guide" / "method.html").read_text(encoding="utf-8")
    assert text.count("<math") >= 10
    assert "MathJax" not in text
    context, page, _ = opened(browser, "guide/method.html", 1280)
    sizes = page.evaluate(
        "[...document.querySelectorAll('div.math math')].map(e => e.getBoundingClientRect().height)"
    )
    context.close()
    assert sizes
    assert min(sizes) > 20


def test_every_card_of_the_gallery_has_a_picture():
    text = (SITE / "gallery" / "index.html").read_text(encoding="utf-8")
    cards = re.findall(r'<img alt="[^"]*" src="[^"]*_thumb\.png"', text)
    assert len(cards) == len(list((ROOT / "examples").glob("plot_*.py")))
    genes = (SITE / "gallery" / "plot_genes.html").read_text(encoding="utf-8")
    assert "genes that differ" in genes
    assert "g000" in genes, "its output is shown"


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm install axe-core")
@pytest.mark.parametrize(
    ("scheme", "pages", "rules"),
    [("light", PAGES, None), ("dark", ONE_OF_A_KIND, ["color-contrast"])],
    ids=["light", "dark"],
)
def test_no_serious_accessibility_violation(browser, scheme, pages, rules):
    """The dark scheme differs in its colors alone."""
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = []
    for name in pages:
        context, page, _ = opened(browser, name, 1280, scheme)
        page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
        violations = page.evaluate(
            "options => axe.run(options).then(result => result.violations)", options
        )
        for violation in violations:
            if violation["impact"] in ("serious", "critical"):
                nodes = [node["html"][:160] for node in violation["nodes"][:3]]
                found.append((name, violation["id"], len(violation["nodes"]), nodes))
        context.close()
    assert not found, "\n".join(map(str, found))
