"""The answer in words, the same for the command and the report."""

from collections.abc import Callable

import numpy as np

from kernelknife._tuning.halving import is_last_alpha
from kernelknife._utils.formatting import listed, number, share
from kernelknife.app.messages import Hint, Message
from kernelknife.app.selection.result import ROUNDING, Selection

__all__ = ["find_warnings", "headline"]

MOST_NAMED = 12  # columns that a sentence can name and still be read
# In standard errors. At the end of a flat grid, going on would gain nothing.
NOTABLE_GAIN = 0.5
AT_BOUND = 0.9995  # weights from here on are shown as 1
MOSTLY_MISSED = 0.5  # share of the rows of a class that are taken for another one
# A class with less than this part of an even share of the rows is rare: of two classes, one with
# less than three rows in ten. On 22 measured tables with such a class, selecting by the balanced
# error lowered it by 6 % (+- 4 %); on others it changed nothing.
RARE = 0.6


def headline(
    selection: Selection,
    mark: Callable[[str], str] = str,
    quote: Callable[[str], str] = str,
) -> str:
    """Return which columns matter, as surely as the errors and the folds allow.

    Only columns that most folds select are called findings.

    Parameters
    ----------
    selection : Selection
        What :func:`select_features` returned.
    mark : callable, default=str
        Turns the name of a column into what is shown; a page makes it bold.
    quote : callable, default=str
        The same for the name of the target; a page escapes it.

    Returns
    -------
    str
        One to three sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import headline, select_features
    >>> X, y = make_sinusoidal(80, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
    >>> headline(selection).split(":")[0]
    '5 of 6 columns matter for y'
    """
    stable, uncertain, unstable = map(selection.in_tier, ("stable", "uncertain", "unstable"))
    target, total = quote(selection.table.target_name), len(selection.features)
    if not selection.selected:
        if selection.settings.sparsity is not None:
            return f"No column is left at the penalty that was given for {target}."
        return f"No column helps to predict {target}: none is left at the selected penalty."
    if selection.keeps_all:
        verb = "predict" if selection.better else "may predict"
        return (
            f"No selection: all {total} columns with equal weights {verb} {target} better than any "
            "shorter list."
        )
    if not selection.better:
        names = [*stable, *uncertain]
        if selection.asked:
            # Other columns that folds select are not what was asked for.
            names = [name for name in names if name in selection.selected]
        guess = f" The best guess is {_names(names, mark)} of {total} columns." if names else ""
        return f"No sure finding for {target}.{guess}{_unstable(unstable, mark)}"
    if stable:
        verb = "matters" if len(stable) == 1 else "matter"
        first = f"{len(stable)} of {total} columns {verb} for {target}: {_names(stable, mark)}."
    else:
        first = (
            f"The selected columns predict {target} better than the baseline, but none of the "
            f"{total} columns is selected in most folds."
        )
    if uncertain:
        verb = "is" if len(uncertain) == 1 else "are"
        more = "more " if stable else ""
        first += f" {len(uncertain)} {more}{verb} uncertain: {_names(uncertain, mark)}."
    return first + _unstable(unstable, mark)


def _unstable(names, mark):
    """Return which columns the model uses although hardly any fold selects them."""
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return (
        f" {len(names)} {verb} in the model but in few folds, and no finding: "
        f"{_names(names, mark)}."
    )


def _names(names, mark):
    """Return names separated by commas; of many names, the first and the number of others."""
    # A name with a comma would look like two.
    shown = [f'"{name}"' if "," in name else name for name in names[:MOST_NAMED]]
    n_more = len(names) - len(shown)
    return ", ".join(map(mark, shown)) + (f" and {n_more} more" if n_more else "")


def find_warnings(selection: Selection) -> list[str]:
    """Return the sentences that keep a reader from taking a selection for more than it is.

    Parameters
    ----------
    selection : Selection
        What :func:`select_features` returned.

    Returns
    -------
    list of str
        Whole sentences, spelled for Python where they name an option; none where there is nothing
        to warn of.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import find_warnings, select_features
    >>> X, y = make_sinusoidal(80, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
    >>> find_warnings(selection)
    []
    """
    warnings: list[str] = [_quick(selection)] if selection.settings.quick else []
    if selection.selected and not selection.better:
        warnings.append(_doubt(selection))
    if selection.loses_to_all and not selection.keeps_all:
        selected = "the selected ones" if selection.selected else "none"
        warnings.append(
            f"All columns together predict better than {selected}: "
            f"{selection.error_name} {number(selection.full_error.mean)} against "
            f"{number(selection.error.mean)}. Columns that help have been left out."
        )
    found = (_missed_classes(selection), _alpha_at_edge(selection), _weights_at_bound(selection))
    warnings += [warning for warning in found if warning]
    if not selection.model.converged_:
        larger = _round(10 * selection.model.alpha)
        warnings.append(
            Message(
                "The fit on all rows has not converged: its weights are approximate.",
                Hint("try a larger penalty on the model, such as {}", {"alpha": larger}),
                Hint("leave columns out"),
            )
        )
    return [*warnings, *map(_as_sentence, selection.table.doubts)]


def _as_sentence(note):
    """Return a note as a whole sentence, with the hints that it has."""
    hints = note.hints if isinstance(note, Message) else ()
    text = note.sentence if isinstance(note, Message) else note
    return Message(f"{text[0].upper()}{text[1:]}.", *hints)


def _round(value):
    """Return a number with as many digits as a sentence shows."""
    return float(number(float(value)))


def _quick(selection):
    """Return what a quick search has used, and how to use everything."""
    search, seen = selection.search, selection.rows_searched
    held_out = 0 if selection.held_out is None else selection.held_out.rows
    n_rows = len(selection.table.target) - held_out
    rows = f"all {n_rows} rows" if seen == n_rows else f"{seen} of {n_rows} rows"
    kernels = list(dict.fromkeys(search.cv_results_["kernel"]))
    word = "kernel" if len(kernels) == 1 else "kernels"
    return Message(
        f"A quick search: {rows}, {word} {listed(kernels)}, {len(search.splits_)} folds.",
        Hint("for the full comparison, select without {}", {"quick": True}),
    )


def _doubt(selection):
    """Return why a selection is no finding."""
    gain, spread = selection.advantage.mean, share(selection.advantage.spread)
    if abs(gain) <= ROUNDING:
        return "The selected columns predict as well as the baseline, and no better."
    if gain < 0:
        return (
            f"The selected columns are worse than the baseline: their error is larger by "
            f"{share(-gain)} +- {spread}."
        )
    reason = "which is not clearly more than the scatter of the folds"
    held_out = selection.held_out
    if held_out is not None and held_out.error >= held_out.baseline:
        reason = "but not on the rows held out"
    return (
        f"The selected columns save {share(gain)} +- {spread} of the error of the baseline, "
        f"{reason}. Take the selection for a hint, not for a finding."
    )


def _missed_classes(selection):
    """Return which rare classes are mostly taken for others, while every row counts the same."""
    quality = selection.quality
    if quality is None or selection.settings.class_weight is not None:
        return ""
    counts = quality.confusion.sum(axis=1)
    rare = counts < RARE * counts.mean()
    missed = np.flatnonzero(rare & (quality.class_errors > MOSTLY_MISSED))
    if not len(missed):
        return ""
    one = len(missed) == 1
    return Message(
        f"The class{'' if one else 'es'} {_names([quality.classes[i] for i in missed], repr)} "
        f"{'is' if one else 'are'} rare, and most of {'its' if one else 'their'} rows are taken "
        "for another class.",
        Hint(
            "to give every class the same influence, on the fits and on the selection, use {}",
            {"class_weight": "balanced"},
        ),
    )


def _alpha_at_edge(selection):
    """Return that the error still falls at the first or the last alpha that was tried, if so."""
    search, results = selection.search, selection.search.cv_results_
    # An alpha that a screening round has ruled out has been tried, too.
    alphas = search.alphas_
    if len(alphas) < 2 or selection.model.alpha not in (alphas[0], alphas[-1]):
        return ""
    if search.alphas is None and not is_last_alpha(selection.model.alpha):
        return ""  # the search goes on by a stricter rule than this
    place, neighbor = (0, 1) if selection.model.alpha == alphas[0] else (-1, -2)
    chosen, other = alphas[place], alphas[neighbor]
    rows = {alpha: _rows_of(search, alpha) for alpha in (chosen, other)}
    if len({int(results["n_training_rows"][mine[0]]) for mine in rows.values()}) > 1:
        return ""  # one has been fitted to more rows, which is a gain of its own
    # A screening round refits no models, so that more kinds would be compared of the alpha that
    # went on. It also has fewer penalties, which matters little: neighbors do about equally well.
    both = np.intersect1d(*(results["weighting"][mine].astype(str) for mine in rows.values()))
    rows = {alpha: mine[np.isin(results["weighting"][mine], both)] for alpha, mine in rows.items()}
    # Folds are of unequal difficulty: the two are compared on those that both were tried on.
    n_folds = min(results["n_folds"][mine].min() for mine in rows.values())
    means = {alpha: _means_on_first(results, mine, n_folds) for alpha, mine in rows.items()}
    best = rows[chosen][np.nanargmax(means[chosen])]
    gain = np.nanmax(means[chosen]) - np.nanmax(means[other])
    if gain <= NOTABLE_GAIN * results["standard_error"][best]:
        return ""
    word, direction = ("smallest", "smaller") if place == 0 else ("largest", "larger")
    return Message(
        f"The selected alpha {number(float(chosen))} is the {word} of those tried, and clearly "
        "better than the next.",
        Hint(f"try a {direction} one, such as {{}}", {"alpha": _round(chosen**2 / other)}),
    )


def _rows_of(search, alpha):
    """Return the rows of the results that have the selected kernel and an alpha."""
    results = search.cv_results_
    mine = (results["kernel"] == search.kernel_name_) & (results["alpha"] == alpha)
    return np.flatnonzero(mine)


def _means_on_first(results, rows, n_folds):
    """Return the mean scores of some candidates over the first folds."""
    return np.mean([results[f"split{i}_test_score"][rows] for i in range(n_folds)], axis=0)


def _weights_at_bound(selection):
    """Return which columns seem to matter on a finer scale than the kernel has.

    Only a kernel of distances has a scale. Equal weights have not been learned, and are no sign.
    """
    kernel = selection.search.kernel_
    names = [feature.name for feature in selection.features if feature.weight >= AT_BOUND]
    if not names or not kernel.translation_invariant or selection.weighting == "equal":
        return ""
    one = len(names) == 1
    return (
        f"The weight{'' if one else 's'} of {_names(names, str)} {'is' if one else 'are'} at the "
        f"bound 1: the kernel cannot follow finer changes of {'it' if one else 'them'}. Another "
        "kernel, or in Python one with a larger gamma, may predict better."
    )
