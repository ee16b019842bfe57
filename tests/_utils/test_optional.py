"""Packages that need not be installed."""

import json
import sys

import pytest

from kernelknife._utils.messages import import_optional


def test_what_is_there_is_imported():
    assert import_optional("json", "json", "A test") is json


def test_what_is_missing_is_named_with_the_way_to_get_it():
    with pytest.raises(ImportError, match=r"^A test needs no_such_thing: pip install 'kk\[x\]'\.$"):
        import_optional("no_such_thing.part", "kk[x]", "A test")


def test_a_broken_package_is_not_called_missing(tmp_path, monkeypatch):
    """One that is there and lacks another one fails with its own error."""
    (tmp_path / "broken_package.py").write_text("import another_that_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="another_that_is_missing"):
        import_optional("broken_package", "kk", "A test")
    assert "broken_package" not in sys.modules
