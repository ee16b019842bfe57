"""From names of items to their tables and figures and the summary."""

from pathlib import Path

from items import ITEMS
from runner import run
from summary import draw_figures, write_summary

__all__ = ["reproduce"]


def reproduce(
    names, output, *, quick=False, jobs=1, page=None, report=lambda item, done, total: None
):
    """Run items of the paper and write their tables, figures and the summary.

    Every finished repetition is kept, so that a run that was interrupted can be continued.

    Parameters
    ----------
    names : list of str
        Keys of :data:`items.ITEMS`; an empty list runs all of them.
    output : path
        Folder for the results; it is created if it does not exist.
    quick : bool, default=False
        Whether to use few repetitions and coarse settings.
    jobs : int, default=1
        Number of repetitions that run at the same time, through joblib.
    page : path, default=None
        Where to write the summary in Markdown; None is ``summary.md`` in the folder.
    report : callable
        Called as ``report(item, done, total)`` whenever a repetition has finished.

    Returns
    -------
    Path
        The file with the summary in Markdown.
    """
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        raise ValueError(f"Unknown item {unknown[0]!r}. Known items: {', '.join(ITEMS)}.")
    items = [ITEMS[name] for name in names] if names else list(ITEMS.values())
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    tables_by_item = run(items, output, quick=quick, jobs=jobs, report=report)
    for item in items:
        draw_figures(item, tables_by_item[item.name], output)
    return write_summary(list(ITEMS.values()), output, page)
