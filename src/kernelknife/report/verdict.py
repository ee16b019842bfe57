"""The answer at the top of a report, in words and in three numbers."""

from html import escape

from kernelknife._support.formatting import number

__all__ = ["verdict_piece"]

MOST_NAMED = 12  # columns that a sentence can name and still be read


def verdict_piece(selection) -> str:
    """Return the answer: what was selected, how well it predicts, and how that was judged."""
    return (
        f'<p class="lead">{_finding(selection)}</p>{_cards(selection)}'
        f"<p>{_comparison(selection)} {escape(selection.machine_in_words)}</p>"
        f'<p class="quiet">{_judgement(selection)}</p>'
    )


def _finding(selection):
    """Say which columns matter, as surely as the errors allow."""
    names, total = selection.selected, len(selection.features)
    target = escape(selection.table.target_name)
    if not names:
        return f"No column helps to predict <b>{target}</b>: none is left at the chosen penalty."
    listed = ", ".join(f"<b>{escape(name)}</b>" for name in names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        listed += f" and {len(names) - MOST_NAMED} more"
    if not selection.better:
        return (
            f"No sure finding for {target}. The best guess is {len(names)} of {total} columns: "
            f"{listed}."
        )
    verb = "matters" if len(names) == 1 else "matter"
    return f"{len(names)} of {total} columns {verb} for {target}: {listed}."


def _comparison(selection):
    """Compare the error of the selected columns with that of a constant."""
    gain = selection.advantage.mean
    amount = f"{number(abs(gain))} &plusmn; {number(selection.advantage.spread)}"
    if selection.better:
        words = f"The machine errs less than a constant guess, by {amount}."
    else:
        reason = (
            f"its error is larger by {amount}"
            if gain <= 0
            else f"its error is smaller by {amount}, not clearly more than the folds scatter"
        )
        words = (
            f"The machine does not clearly err less than a constant guess: {reason}. Read the "
            "selection as a hint, not as a finding."
        )
    if selection.selected and selection.loses_to_all:
        words += " A machine with all columns predicts better than one with the selected columns."
    return words


def _judgement(selection):
    """Say which rows the errors come from."""
    words = (
        "Errors are means over the folds. For the first, every fold judges what the other folds "
        "have chosen, so that choosing among many settings does not flatter it."
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
