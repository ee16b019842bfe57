"""The reports on tables without a target: one table explored, two tables related."""

from typing import Any

from kernelknife.app.exploration import Exploration, Relation
from kernelknife.app.messages import as_code, in_python, spelled
from kernelknife.app.options import as_arguments, in_command
from kernelknife.app.report.page import Page

__all__ = ["build_exploration", "build_relation"]


def build_exploration(
    exploration: Exploration, source: str | None = None, *, command: bool = False
) -> str:
    """Return the report on one table as an HTML page.

    Parameters
    ----------
    exploration : Exploration
        What :func:`kernelknife.app.exploration.explore_table` returned.
    source : str, default=None
        Where the data came from.
    command : bool, default=False
        Whether the page is for a user of the command, so that hints name its flags.

    Returns
    -------
    str
        A whole HTML page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import explore_table
    >>> from kernelknife.app.report import build_exploration
    >>> rng = np.random.default_rng(0)
    >>> side = rng.choice([-3.0, 3.0], size=60)
    >>> frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    >>> frame["a"] += side
    >>> frame["b"] += side
    >>> build_exploration(explore_table(frame, sparsity=1.0))[:15]
    '<!doctype html>'
    """
    files = (as_code(source or "data.csv"),)
    page = _page("exploration.html", exploration, source or "a data frame", files, command)
    return page.whole("What the columns have in common")


def build_relation(
    relation: Relation, sources: tuple[str, str] | None = None, *, command: bool = False
) -> str:
    """Return the report on two tables as an HTML page.

    Parameters
    ----------
    relation : Relation
        What :func:`kernelknife.app.exploration.relate_tables` returned.
    sources : pair of str, default=None
        Where the data came from.
    command : bool, default=False
        Whether the page is for a user of the command, so that hints name its flags.

    Returns
    -------
    str
        A whole HTML page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import relate_tables
    >>> from kernelknife.app.report import build_relation
    >>> rng = np.random.default_rng(0)
    >>> first = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    >>> second = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("xyz"))
    >>> second["x"] += 3 * first["a"]
    >>> build_relation(relate_tables(first, second, n_components=1))[:15]
    '<!doctype html>'
    """
    on = relation.settings.on
    files = tuple(map(as_code, sources or ("a.csv", "b.csv")))
    files = tuple(f"{file}, texts=[{as_code(on)}]" if on else file for file in files)
    names = sources or ("the first table", "the second table")
    page = _page("relation.html", relation, names, files, command)
    return page.whole("What two tables have in common")


def _page(template: str, found: Any, source: Any, files: tuple[str, ...], command: bool) -> Page:
    """Return the page of a result without a target."""
    spell = in_command if command else in_python
    record = {**found.to_json(), "notes": [spelled(note, spell) for note in found.notes]}
    arguments = "".join(f", {one}" for one in as_arguments(found.settings))
    context = {"source": source, "files": files, "arguments": arguments}
    return Page(template, record, record["tables"], **context)
