"""A browser, and a selection whose names and values attack the page."""

import shutil

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.datasets import make_skin_of_orange

HOSTILE = "<script>window.hacked=1</script>\"'&|\\u2028</style>"
NAMES = (
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "n" * 3000,
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627",
    "\U0001f9ec\U0001f52a gene",
    "a$\\frac{1}{0}$ and $",
    "two\nlines\tand\x00more",
    "]]></svg><b>",
)


@pytest.fixture(scope="session")
def attack():
    """A selection in which every name and value is hostile."""
    X, y = make_skin_of_orange(90, 6, random_state=0)
    frame = pd.DataFrame(X[:, : 1 + len(NAMES)], columns=[HOSTILE, *NAMES])
    frame["+target"] = np.where(y, "=1+1<img src=x onerror=window.hacked=1>", "m" * 500)
    return select_features(frame, "+target", kernel="rbf", alpha=1.0, folds=3, n_permutations=0)


@pytest.fixture(scope="session")
def attack_file(attack, tmp_path_factory):
    path = tmp_path_factory.mktemp("attack") / "report.html"
    path.write_text(build_report(attack, "=data<b>.csv", command=True), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
