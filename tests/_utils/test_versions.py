"""Versions: what stands in for newer ones, and that the oldest are named and tested."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from kernelknife._utils import versions
from kernelknife._utils.progress import SILENT, root_progress

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kernelknife"


@pytest.fixture
def before_callbacks(monkeypatch):
    """The module as it is where scikit-learn has no callbacks."""
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    yield importlib.reload(versions)
    monkeypatch.undo()
    importlib.reload(versions)


def test_without_callbacks_everything_is_silent(before_callbacks):
    class Walker(before_callbacks.CallbackSupportMixin, BaseEstimator):
        @before_callbacks.with_callbacks
        def fit(self):
            with root_progress(self, "fit", 1) as task, task.subtask("iteration") as child:
                self.task_, self.stops_ = task, child.watch("step")(0, 1.0)
            return self

    assert not before_callbacks.HAS_CALLBACKS
    model = Walker().set_callbacks(object()).fit()
    assert model.task_ is SILENT
    assert not model.stops_


def test_versions_are_told_by_name():
    found = versions.versions()
    assert list(found) == ["kernelknife", "python", "numpy", "scipy", "sklearn"]
    assert found["numpy"] == np.__version__


def requirements():
    """Return the oldest version of every requirement that users get, by name."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    lines = project["dependencies"] + [
        line
        for name, lines in extras.items()
        if name not in ("test", "docs", "dev")
        for line in lines
    ]
    named = (re.fullmatch(r"([a-z][a-z0-9-]*)(?:\[[a-z,]+\])?>=([\d.]+)", line) for line in lines)
    return {match[1]: match[2] for match in named if match}  # None for kernelknife[cli]


def test_the_oldest_versions_are_those_of_the_project():
    """CI installs exactly the oldest versions that are declared, release by release."""
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    declared = requirements()
    for_tests_alone = {"adbc-driver-sqlite", "skops"}
    assert set(pinned) - for_tests_alone == set(declared)
    for name, version in declared.items():
        assert f"{pinned[name]}.".startswith(f"{version}."), f"{name}: {pinned[name]}, {version}"
    assert "://" not in "".join(lines), "the constraints name no place to install from"


def test_versions_are_asked_for_in_one_module():
    """No other module looks at a version of a dependency or tries an import of scikit-learn."""
    asked = re.compile(
        r"(numpy|np|scipy|sklearn)\.__version__|sklearn\.callback import|parse_version"
    )
    asking = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if asked.search(path.read_text(encoding="utf-8"))
    }
    assert asking == {"_utils/versions.py"}
