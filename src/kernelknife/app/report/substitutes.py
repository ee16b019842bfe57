"""The piece of a report on substitutes: which columns could replace each selected column."""

from html import escape

from kernelknife.inspection.substitutes import percent

__all__ = ["best_substitute", "substitutes_piece"]

MOST_SUBSTITUTES = 5  # named per column; the rest is counted
MOST_PLACES = 40  # selected columns in the table; the rest is counted


def best_substitute(substitutes, name) -> str:
    """Return what could best take the place of a selected column, in a few words.

    Parameters
    ----------
    name : str
        Nothing is returned for a column without an analysis.
    """
    if name not in substitutes:
        return ""
    place = substitutes[name]
    if place.substitutes:
        best = place.substitutes[0]
        return f"{best.name} ({percent(best.cost)})"
    if place.needed:
        return "nothing"
    return "hardly needed" if place.hardly_needed else "not clear"


def substitutes_piece(substitutes) -> str:
    """Return the table of selected columns with what could replace them.

    Parameters
    ----------
    substitutes : Substitutes
        Nothing is returned if it is empty.
    """
    if not len(substitutes):
        return ""
    rows = [
        f'<tr><th scope="row">{escape(place.name)}</th><td>{escape(percent(place.cost))}</td>'
        f"<td>{_replaced_by(place)}</td></tr>"
        for place in substitutes.places[:MOST_PLACES]
    ]
    n_hidden = len(substitutes) - len(rows)
    note = f"<p>{n_hidden} more columns are not shown.</p>" if n_hidden else ""
    others = [name for name in substitutes.names if name not in {p.name for p in substitutes}]
    more = ""
    if others:
        more = (
            "<p>So the fewest columns that suffice are the selected ones, and everything that was "
            f"found to matter is these and {escape(_listed(others))}.</p>"
        )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="What could replace a column">'
        '<table><thead><tr><th scope="col">selected column</th><th scope="col">held-out loss '
        'without it</th><th scope="col">held-out loss with another in its place</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}{more}"
    )


def _replaced_by(place):
    """Return the substitutes of one column as text of a cell."""
    if not place.substitutes:
        return place.need_in_words
    named = [
        f"{escape(one.name)} {escape(percent(one.cost))}{' (selected too)' if one.selected else ''}"
        for one in place.substitutes[:MOST_SUBSTITUTES]
    ]
    n_more = len(place.substitutes) - len(named)
    return ", ".join(named) + (f" and {n_more} more" if n_more else "")


def _listed(names):
    """Return some names as words, the rest counted."""
    shown = [str(name) for name in names[: 2 * MOST_SUBSTITUTES]]
    n_more = len(names) - len(shown)
    if n_more:
        return ", ".join(shown) + f" and {n_more} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
