"""The committed full run."""

import json
from pathlib import Path

import pytest
from document import to_markdown
from items import ITEMS
from summary import summarize

ROOT = Path(__file__).parents[2]


FULL_RUN = ROOT / "docs" / "reproduction"


def test_the_page_is_what_the_committed_tables_say():
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page == to_markdown(summarize(ITEMS.values(), FULL_RUN, "reproduction/"))


@pytest.mark.parametrize("name", ITEMS)
def test_the_committed_run_is_a_full_one(name):
    facts = json.loads((FULL_RUN / f"{name}.json").read_text(encoding="utf-8"))
    assert not facts["quick"]
    assert facts["repetitions"] == ITEMS[name].repetitions
