"""The reproduction of the paper's results, one module per table or figure.

:data:`ITEMS` lists the parts; :func:`reproduce` runs them and writes tables, figures and a summary.
"""

from pathlib import Path

from kernelknife.paper.colon import Colon
from kernelknife.paper.convergence import Convergence
from kernelknife.paper.item import Item
from kernelknife.paper.linear import LinearRegressions
from kernelknife.paper.noise import NoiseFeatures
from kernelknife.paper.orange import Orange
from kernelknife.paper.parkinsons import Parkinsons
from kernelknife.paper.penalties import Penalties
from kernelknife.paper.runner import run
from kernelknife.paper.sinusoidal import Sinusoidal
from kernelknife.paper.summary import draw_figures, write_summary
from kernelknife.paper.vowel import Vowel

__all__ = ["ITEMS", "Item", "reproduce"]

# In the paper's order.
ITEMS: dict[str, Item] = {
    item.name: item
    for item in (
        NoiseFeatures(),
        Convergence(),
        Penalties(),
        LinearRegressions(),
        Sinusoidal(),
        Orange(),
        Colon(),
        Vowel(),
        Parkinsons(),
    )
}


def reproduce(
    names, output, *, quick=False, jobs=1, page=None, report=lambda item, done, total: None
):
    """Run items of the paper and write their tables, figures and the summary.

    Every finished repetition is kept, so that a run that was interrupted can be continued.

    Parameters
    ----------
    names : list of str
        Keys of :data:`ITEMS`; an empty list runs all of them.
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

    Examples
    --------
    >>> from kernelknife.paper import ITEMS, reproduce
    >>> list(ITEMS)[:3]
    ['noise', 'convergence', 'penalties']
    >>> reproduce(["penalties"], "kernelknife-paper", quick=True)  # doctest: +SKIP
    PosixPath('kernelknife-paper/summary.md')
    >>> reproduce(["apple"], "kernelknife-paper")
    Traceback (most recent call last):
    ...
    ValueError: Unknown item 'apple'. Known items: noise, ...
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
