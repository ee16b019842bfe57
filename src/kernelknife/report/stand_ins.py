"""The piece of a report on columns that say the same: what could replace each selected column."""

from html import escape

from kernelknife.stand_ins import percent

__all__ = ["best_stand_in", "stand_ins_piece"]

MOST_STAND_INS = 5  # named per column; the rest is counted
MOST_PLACES = 40  # selected columns in the table; the rest is counted


def best_stand_in(stand_ins, name) -> str:
    """Return what could best take the place of a selected column, in a few words.

    Parameters
    ----------
    stand_ins : StandIns
    name : str
        Nothing is returned for a column that was not looked at.
    """
    if name not in stand_ins:
        return ""
    place = stand_ins[name]
    if place.stand_ins:
        best = place.stand_ins[0]
        return f"{best.name} ({percent(best.cost)})"
    if place.needed:
        return "nothing"
    return "hardly needed" if place.hardly_needed else "not clear"


def stand_ins_piece(stand_ins) -> str:
    """Return the table of selected columns with what could replace them.

    Parameters
    ----------
    stand_ins : StandIns
        Nothing is returned if it is empty.
    """
    if not len(stand_ins):
        return ""
    rows = [
        f'<tr><th scope="row">{escape(place.name)}</th><td>{escape(percent(place.cost))}</td>'
        f"<td>{_replaced_by(place)}</td></tr>"
        for place in stand_ins.places[:MOST_PLACES]
    ]
    n_hidden = len(stand_ins) - len(rows)
    note = f"<p>{n_hidden} more columns are not shown.</p>" if n_hidden else ""
    others = [name for name in stand_ins.names if name not in {p.name for p in stand_ins}]
    more = ""
    if others:
        more = (
            "<p>So the fewest columns that suffice are the selected ones, and everything that was "
            f"found to matter is these and {escape(_listed(others))}.</p>"
        )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Columns that say the same">'
        '<table><thead><tr><th scope="col">selected column</th><th scope="col">held-out loss '
        'without it</th><th scope="col">held-out loss with another in its place</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}{more}"
    )


def _replaced_by(place):
    """Return the stand-ins of one column as text of a cell."""
    if not place.stand_ins:
        return place.need_in_words
    named = [
        f"{escape(one.name)} {escape(percent(one.cost))}{' (selected too)' if one.selected else ''}"
        for one in place.stand_ins[:MOST_STAND_INS]
    ]
    n_more = len(place.stand_ins) - len(named)
    return ", ".join(named) + (f" and {n_more} more" if n_more else "")


def _listed(names):
    """Return some names as words, the rest counted."""
    shown = [str(name) for name in names[: 2 * MOST_STAND_INS]]
    n_more = len(names) - len(shown)
    if n_more:
        return ", ".join(shown) + f" and {n_more} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
