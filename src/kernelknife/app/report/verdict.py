"""The answer at the top of a report, in words and in three numbers."""

from html import escape

from kernelknife._utils.messages import number, share
from kernelknife.app.messages import spelled
from kernelknife.app.report.rates import rate_piece
from kernelknife.app.selection import find_warnings, headline

__all__ = ["verdict_piece"]


def verdict_piece(selection, spell) -> str:
    """Return the answer: what to doubt, what was selected, and how well it predicts.

    Parameters
    ----------
    spell : callable
        How the hints of a warning name options.
    """
    lead = _typeset(headline(selection, lambda name: f"<b>{escape(name)}</b>", escape))
    texts = [_typeset(escape(spelled(text, spell))) for text in find_warnings(selection)]
    warnings = ""
    if texts:
        items = "".join(f"<li>{text}</li>" for text in texts)
        warnings = f'<ul class="warnings" aria-label="Warnings">{items}</ul>'
    about = [escape(selection.model_in_words), escape(selection.products_in_words)]
    return (
        f'{warnings}<p class="lead">{lead}</p>{rate_piece(selection.rates)}'
        f"{_cards(selection)}<p>{' '.join(filter(None, about))}</p>"
        f'<p class="quiet">{_judgment(selection)}</p>'
    )


def _typeset(html):
    """Return a sentence with a sign in place of the letters +-."""
    return html.replace(" +- ", " &plusmn; ")


def _judgment(selection):
    """Return by how much the error is below the baseline's, and which rows that comes from."""
    words = ""
    if selection.verdict.better:
        gain, spread = map(share, (selection.advantage.mean, selection.advantage.spread))
        words = f"The model saves {gain} &plusmn; {spread} of the error of the baseline. "
    guess = "most frequent class" if selection.table.task == "classification" else "mean"
    which = _nested(selection)
    words += (
        f"The baseline predicts the {guess} of the training rows. Errors are means over the folds, "
        f"with their standard errors. {which} The model with all columns is "
        f"{selection.full_model_in_words}."
    )
    held_out = selection.held_out
    if held_out is not None:
        words += (
            f" On the {held_out.rows} rows held out, which were used neither for fitting nor for "
            f"selecting, the error is {number(held_out.error)}, and that of the baseline is "
            f"{number(held_out.baseline)}."
        )
    return words


def _nested(selection):
    """Return which of the errors are nested, and what optimism is left in them."""
    others = (
        "every fold tests what the other folds select. These have trained on its rows, so that a "
        "little optimism is left"
    )
    if selection.settings.nested == "full":
        return (
            "The first is of searches inside the folds: every fold tests what a whole search of "
            "its training rows selects, which leaves no optimism. The second is nested in the "
            f"penalty of its model: {others}."
        )
    which = "The second is" if selection.asked else "The first two are"
    return (
        f"{which} nested, so that selecting among many candidates does not make errors too small: "
        f"{others}."
    )


def _cards(selection):
    """Return the three errors over the folds, side by side."""
    name = escape(selection.error_name)
    cards = (
        (selection.error, f"with the selected columns ({name})"),
        (selection.full_error, f"with all columns, equal weights ({name})"),
        (selection.baseline_error, f"baseline, a constant prediction ({name})"),
    )
    shown = "".join(
        f'<div class="card"><b>{number(score.mean)}</b><span>&plusmn; {number(score.spread)}, '
        f"{words}</span></div>"
        for score, words in cards
    )
    return f'<div class="cards">{shown}</div>'
