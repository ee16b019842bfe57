"""Every Python snippet in the documents runs, and the README's commands are what CI runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = ["README.md", "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    snippets = SNIPPET.findall(text)
    assert snippets
    for code in snippets:
        exec(compile(code, page, "exec"), {})


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
            assert (ROOT / target).is_file(), target


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
