"""Every Python snippet in the documents runs, and the README's commands are what CI runs."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(r"```python\n(.*?)```", re.DOTALL)
DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
DOCS = [page for page in DOCS if not page.startswith(("docs/_build", "docs/reproduction/"))]
PAGES = ["README.md", "CONTRIBUTING.md", *DOCS]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.fixture
def no_windows():
    """Pictures are drawn without a window and closed."""
    import matplotlib as mpl
    from matplotlib import pyplot

    with mpl.rc_context({"backend": "Agg"}):
        yield
        pyplot.close("all")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("no_windows")
def test_snippets_run(page):
    """Snippets of a page follow on each other."""
    namespace = {}
    for code in SNIPPET.findall((ROOT / page).read_text(encoding="utf-8")):
        exec(compile(code, page, "exec"), namespace)


def test_there_is_a_gallery():
    """Building it runs every example, so that the tests need not: see docs/conf.py."""
    assert len(EXAMPLES) >= 8


def test_snippets_say_what_comes_out():
    namespace = {}
    code = SNIPPET.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    exec(compile(code, "README.md", "exec"), namespace)
    assert list(namespace["model"].get_support(indices=True)) == [0, 1, 2, 3]
    assert namespace["path"].at(n_features=4).get_support().sum() == 4
    assert {0, 1, 2, 3} <= set(namespace["best"].get_support(indices=True))


def test_ci_runs_the_test_line_of_the_readme():
    line = next(
        line.strip()
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.strip().endswith("-m pytest")
    )
    assert line in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_pictures_exist():
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / page).read_text("utf-8")):
            assert ((ROOT / page).parent / target).is_file(), target


LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page):
    """Return the anchors of a page's headings, as they are made from their words."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, "CODE_OF_CONDUCT.md", "SECURITY.md"])
def test_no_link_is_dead(page):
    """Links to files and to headings; what sphinx makes is looked at by sphinx."""
    here = ROOT / page
    for link in LINK.findall(here.read_text(encoding="utf-8")):
        if "://" in link or link.startswith(("mailto:", "gallery/", "../gallery/")):
            continue
        place, _, anchor = link.partition("#")
        target = (here.parent / place).resolve() if place else here
        assert target.exists(), f"{page} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{page} links to {link}"


def test_the_paper_has_its_parts_and_its_references():
    text = (ROOT / "docs" / "paper" / "paper.md").read_text(encoding="utf-8")
    references = (ROOT / "docs" / "paper" / "paper.bib").read_text(encoding="utf-8")
    for part in ("Summary", "Statement of need", "State of the field", "Functionality"):
        assert f"\n# {part}\n" in text
    body = text.split("---", 2)[2]
    assert 250 <= len(body.split()) <= 1750, "the journal's limits"
    cited = set(re.findall(r"@(\w+)", body))
    known = set(re.findall(r"^@\w+\{(\w+),", references, re.MULTILINE))
    assert cited == known
    figures = set(re.findall(r"\\autoref\{([\w:]+)\}", body))
    assert figures == set(re.findall(r"\\label\{([\w:]+)\}", body))
    # The figure of claims is that of the reproduction.
    claims = re.search(
        r"(\d+) of (\d+) claims hold", (ROOT / "docs" / "reproduction.md").read_text()
    )
    assert f"{claims[1]} of the {claims[2]} claims" in " ".join(body.split())


def test_the_command_page_is_made_from_the_command(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    commands = importlib.import_module("commands")
    monkeypatch.setattr(commands, "OUTPUT", tmp_path / "generated" / "commands.md")
    commands.write_reference()
    text = commands.OUTPUT.read_text(encoding="utf-8")
    for name in ("select", "report", "path", "predict", "demo"):
        assert f"## kernelknife {name}\n" in text
    assert "--target" in text
    assert "Usage: kernelknife select" in text


def test_a_kernel_of_your_own_from_the_guide(rng):
    """The guide's kernel and loss fit a model together."""
    import numpy as np

    from kernelknife import KnifeRegressor

    namespace = {}
    for code in SNIPPET.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        exec(compile(code, "CONTRIBUTING.md", "exec"), namespace)
    X = rng.normal(size=(80, 6))
    model = KnifeRegressor(
        kernel=namespace["Cauchy"](gamma=0.5), loss=namespace["LogCosh"](), sparsity=1.0, alpha=0.1
    )
    model.fit(X, np.sin(2 * X[:, 2]))
    assert list(model.get_support(indices=True)) == [2]


def test_a_kind_of_rows_of_your_own_from_the_guide():
    """The guide's class is short, reads a block at a time, and gives the answer of an array."""
    import numpy as np

    from kernelknife import KnifeClassifier, KnifeRegressor

    page = ROOT / "docs" / "guide" / "extending.md"
    snippets = SNIPPET.findall(page.read_text(encoding="utf-8"))
    (code,) = (code for code in snippets if "LocalRows" in code)
    assert len(code.splitlines()) < 40
    namespace = {}
    for snippet in snippets:
        exec(compile(snippet, str(page), "exec"), namespace)
    rows, dataset = namespace["DatasetRows"], namespace["Dataset"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6))
    y = np.sin(2 * X[:, 1]) + X[:, 4] * X[:, 2]
    read = []

    class Watched(dataset):
        def __getitem__(self, index):
            read.append(len(range(self.shape[0])[index]))
            return super().__getitem__(index)

    options = {"centers": X[::35], "sparsity": 5.0}
    here = KnifeRegressor(**options).fit(X, y)
    there = KnifeRegressor(**options).fit(rows(Watched(X), y), None)
    np.testing.assert_allclose(there.weights_, here.weights_, atol=1e-8)
    np.testing.assert_allclose(there.predict(rows(Watched(X))), here.predict(X), atol=1e-8)
    assert list(there.get_support(indices=True)) == [1, 2, 4]
    assert sum(read) > 10 * 700, "it is read again for every pass, and never kept"
    labels = np.where(y > 0, "up", "down")
    model = KnifeClassifier(**options).fit(rows(dataset(X), labels), None)
    assert (model.predict(rows(dataset(X))) == labels).mean() > 0.95
    assert [block.n_rows for block in rows(dataset(X)).blocks(2**20)] == [256, 256, 188]
