"""The pieces of a report on error rates: what they mean, and two columns of the table."""

from kernelknife._utils.messages import number
from kernelknife.app.report.elements import percent

__all__ = ["rate_cells", "rate_heads", "rate_piece"]

SAMPLES = {"stability": "half-samples", "knockoffs": "draws of knockoffs"}
MEANINGS = {
    "stability": (
        "Every random half-sample of the rows selects the columns that remain active longest on "
        "its path. A false column is one that a half-sample would not select more often than a "
        "blind draw; one that is only correlated with a true column is not false in this sense."
    ),
    "knockoffs": (
        "Every column is compared with its knockoffs: random columns with the same correlations to "
        "the other columns, but without an effect of their own. A false column is one that adds "
        "nothing to all the others. The rate holds as far as the knockoffs resemble the true "
        "columns."
    ),
}


def rate_piece(rates) -> str:
    """Return what the rate in the headline means, nothing where no rate was asked for."""
    if rates is None:
        return ""
    return f'<p class="quiet">{MEANINGS[rates.method]}</p>'


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
