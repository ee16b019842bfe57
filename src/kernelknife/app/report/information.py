"""The piece of a report on columns that carry information on their own."""

from html import escape

from kernelknife._utils.messages import number
from kernelknife.app.report.elements import percent

__all__ = ["information_piece"]

OPEN_ROWS = 20  # rows that are shown at once; the others are folded away
MOST_CLASSES = 6  # whose means fit side by side


def information_piece(selection) -> str:
    """Return the table of columns that carry information, nothing where none does.

    Parameters
    ----------
    selection : Selection
    """
    names = selection.verdict.informative
    if not names:
        return ""
    table = _table(selection, names[:OPEN_ROWS])
    rest = names[OPEN_ROWS:]
    if not rest:
        return table
    more = (
        f"<details><summary>{len(rest)} more columns</summary>{_table(selection, rest)}</details>"
    )
    return table + more


def _table(selection, names):
    """Return tests, effects, shapes and means by class of some columns."""
    known = selection.information
    classes = sorted({label for name in names for label in known[name].class_means})
    classes = classes if len(classes) <= MOST_CLASSES else []
    heads = ["p-value", "q-value", "explains", "shape", *(f"mean of {label}" for label in classes)]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    rows = []
    for name in names:
        one = known[name]
        cells = [number(one.p_value), number(one.q_value), percent(one.share), one.shape]
        means = one.class_means
        cells += [number(means[label]) if label in means else "" for label in classes]
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{row}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Columns that carry information">'
        f'<table><thead><tr><th scope="col">column</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
