"""The pieces of a report about error rates: the sentence, and two columns of the table."""

from html import escape

from kernelknife._utils.formatting import number
from kernelknife.app.report.elements import percent

__all__ = ["rate_cells", "rate_heads", "rate_piece"]

SAMPLES = {"stability": "halves", "knockoffs": "draws of knockoffs"}
PROMISES = {
    "stability": (
        "Random halves of the rows voted, each for the columns that stayed longest on its path. A "
        "false column is one that a half would not choose more often than a blind draw; one that "
        "is only correlated with a true column is not false in this sense."
    ),
    "knockoffs": (
        "Every column raced against forged copies of itself. A false column is one that adds "
        "nothing to what all others say. The promise holds as far as the forged columns resemble "
        "the true ones."
    ),
}


def rate_piece(rates) -> str:
    """Return the sentence about errors and what it promises, nothing where no rate was asked for.

    Parameters
    ----------
    rates : ErrorRate or None
    """
    if rates is None:
        return ""
    return (
        f'<p class="lead">{escape(rates.sentence)}</p><p class="quiet">{PROMISES[rates.method]}</p>'
    )


def rate_heads(rates) -> str:
    """Return the heads of the two columns that a rate adds to the table of columns."""
    if rates is None:
        return ""
    samples = f"selected in {SAMPLES[rates.method]} (of {rates.n_samples})"
    return f'<th scope="col">{samples}</th><th scope="col">q-value</th>'


def rate_cells(rates, name: str) -> str:
    """Return the two cells of one column of the table."""
    if rates is None:
        return ""
    column = rates.columns[name]
    return f"<td>{percent(column.share)}</td><td>{number(column.q_value)}</td>"
