"""The answer at the top of a report, in words and in three numbers."""

from html import escape

from kernelknife._utils.formatting import number, share
from kernelknife.app.selection import find_warnings, headline

__all__ = ["verdict_piece"]


def verdict_piece(selection) -> str:
    """Return the answer: what to doubt, what was selected, and how well it predicts."""
    return (
        f'{_warnings(selection)}<p class="lead">{headline(selection, _bold, escape)}</p>'
        f"{_cards(selection)}<p>{escape(selection.model_in_words)}</p>"
        f'<p class="quiet">{_judgment(selection)}</p>'
    )


def _bold(name):
    """Return a name as it is shown in a sentence."""
    return f"<b>{escape(name)}</b>"


def _warnings(selection):
    """Return a box with what keeps a reader from taking a selection for more than it is."""
    items = "".join(f"<li>{_typeset(warning)}</li>" for warning in find_warnings(selection))
    return f'<ul class="warnings" aria-label="Warnings">{items}</ul>' if items else ""


def _typeset(sentence):
    """Return a sentence as HTML, with a sign in place of the letters +-."""
    return escape(sentence).replace("+-", "&plusmn;")


def _judgment(selection):
    """Say by how much the model errs less than a constant, and which rows that comes from."""
    words = ""
    if selection.better:
        gain, spread = map(share, (selection.advantage.mean, selection.advantage.spread))
        words = f"The model saves {gain} &plusmn; {spread} of the error of a constant guess. "
    words += (
        "Errors are means over the folds, with their standard errors. For "
        f"{'the second' if selection.asked else 'the first two'}, every fold judges what the other "
        "folds have chosen, so that choosing among many settings does not flatter "
        f"{'it' if selection.asked else 'them'}. The model with all columns is scikit-learn's "
        f"{selection.full_model}."
    )
    held_out = selection.held_out
    if held_out is not None:
        words += (
            f" On the {held_out.rows} rows held out, which were used neither for fitting nor for "
            f"choosing, the error is {number(held_out.error)}, and that of a constant is "
            f"{number(held_out.constant)}."
        )
    return words


def _cards(selection):
    """Return the three errors over the folds, side by side."""
    name = escape(selection.error_name)
    cards = (
        (selection.error, f"with the selected columns ({name})"),
        (selection.full_error, f"with all columns, equal weights ({name})"),
        (selection.constant_error, f"a constant guess ({name})"),
    )
    shown = "".join(
        f'<div class="card"><b>{number(score.mean)}</b><span>&plusmn; {number(score.spread)}, '
        f"{words}</span></div>"
        for score, words in cards
    )
    return f'<div class="cards">{shown}</div>'
