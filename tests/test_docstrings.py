"""Every public name describes what it takes and returns, with an example that runs.

The public names are those of ``docs/api.rst``. The examples are run as doctests: pytest collects
them from ``src``.
"""

import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from doctest import DocTestFinder
from pathlib import Path

import pytest

import kernelknife

validate = pytest.importorskip("numpydoc.validate").validate
NumpyDocString = pytest.importorskip("numpydoc.docscrape").NumpyDocString

ROOT = Path(__file__).parents[1]
LISTED = re.findall(r"^   ([A-Za-z_.]+)$", (ROOT / "docs" / "api.rst").read_text("utf-8"), re.M)

# What numpydoc asks for and we do not: a longer summary and other places to look where the first
# line says it all, and a bare type where the name of what is returned helps.
NOT_ASKED = {"ES01", "SA01", "RT02"}
# An example stands at the class, or at the function, and not at each of its methods.
NOT_ASKED_OF_METHODS = NOT_ASKED | {"EX01"}


def find(name):
    """Return the object that a dotted name below the package stands for."""
    home, _, last = f"kernelknife.{name}".rpartition(".")
    return getattr(importlib.import_module(home), last)


NAMES = [name for name in LISTED if callable(find(name))]  # a list has no docstring of its own


def public_methods(cls):
    """Return the names of the methods and properties that the package itself gives to a class."""
    names = []
    for name, member in inspect.getmembers(cls):
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        home = next(base for base in cls.__mro__ if name in vars(base))
        # scikit-learn writes methods such as set_fit_request, with their texts.
        if home.__module__.startswith("kernelknife") and not name.endswith("_request"):
            names.append(name)
    return names


def complaints(name, ignored):
    """Return what numpydoc finds wrong with the text of a name."""
    found = validate(name)
    return [f"{code} {message}" for code, message in found["errors"] if code not in ignored]


def class_complaints(name, cls):
    """Return what is wrong with the text of a class.

    Users get result objects, which are data classes, from functions and do not make them: their
    fields are described as attributes.
    """
    if not is_dataclass(cls):
        return complaints(f"kernelknife.{name}", NOT_ASKED)
    described = {
        word
        for attribute in NumpyDocString(cls.__doc__)["Attributes"]
        for word in attribute.name.split(", ")
    }
    missing = {field.name for field in fields(cls) if not field.name.startswith("_")} - described
    return complaints(f"kernelknife.{name}", NOT_ASKED | {"PR01"}) + sorted(missing)


def inherited_text(cls, name):
    """Whether a class above describes a method, at the method or among its attributes."""
    return any(f"{name} : " in (base.__doc__ or "") for base in cls.__mro__)


@pytest.mark.parametrize("name", NAMES)
def test_numpydoc_has_nothing_to_complain_about(name):
    public = find(name)
    if inspect.isclass(public):
        found = {name: class_complaints(name, public)}
        for method in public_methods(public):
            member, where = getattr(public, method), f"{name}.{method}"
            if (member.__doc__ or "").strip():
                found[where] = complaints(f"kernelknife.{where}", NOT_ASKED_OF_METHODS)
            elif not inspect.getdoc(member) and not inherited_text(public, method):
                found[where] = ["no text, neither its own nor inherited"]
    else:
        found = {name: complaints(f"kernelknife.{name}", NOT_ASKED)}
    found = {where: errors for where, errors in found.items() if errors}
    assert not found, "\n".join(f"{where}: {error}" for where in found for error in found[where])


@pytest.mark.parametrize("name", NAMES)
def test_there_is_an_example_that_runs(name):
    """The doctest itself is collected from the module; here it must have something to run."""
    examples = DocTestFinder(recurse=False).find(find(name), name)
    assert any(example.examples for example in examples), f"{name} shows no example"
    assert find(name).__module__.startswith("kernelknife.")


def test_every_name_of_the_package_is_in_the_interface():
    assert set(kernelknife.__all__) - {"__version__"} <= set(NAMES)
    for module in (
        "kernels",
        "losses",
        "inspection",
        "datasets",
        "app.storage",
        "app.report",
    ):
        public = set(importlib.import_module(f"kernelknife.{module}").__all__)
        classes = {name for name in public if inspect.isclass(find(f"{module}.{name}"))}
        listed = {name.rpartition(".")[2] for name in NAMES if name.startswith(f"{module}.")}
        missing = {name for name in classes if not issubclass(find(f"{module}.{name}"), Exception)}
        assert missing <= listed, f"{module}: {sorted(missing - listed)} are not in docs/api.rst"
