"""What may be called a finding, decided once, and the answer in words.

The headline, the tiers of the columns, JSON and the exit status of the command all read the
:class:`Verdict` that :func:`decide` returns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from kernelknife._tuning.halving import is_last_alpha
from kernelknife._utils.messages import listed, number, share
from kernelknife.app.messages import Hint, Message

if TYPE_CHECKING:
    from kernelknife.app.selection.quality import Score
    from kernelknife.app.selection.result import Selection

__all__ = ["KEPT", "TIERS", "Verdict", "decide", "find_warnings", "headline", "tier_of"]

# A finding must be better than the baseline so clearly that chance alone would produce it in one
# table of forty.
CONFIDENCE = 0.975
MOST_STANDARD_ERRORS = 3.0  # required of two or three folds, whose scatter is hardly known
# A smaller share of the baseline's error is rounding and no advantage.
ROUNDING = 1e-9
# Shares of the folds that select a column: of five folds one may miss a stable column. Fewer than
# two of five folds are not enough to call a column even uncertain.
STABLE, UNCERTAIN = 0.8, 0.4
TIERS = ("stable", "uncertain", "unstable")
KEPT = "kept"  # the tier of a column that the error rate keeps that was asked for
MOST_NAMED = 12  # columns that a sentence can name and still be read
# In standard errors. At the end of a flat grid, going on would gain nothing.
NOTABLE_GAIN = 0.5
AT_BOUND = 0.9995  # weights from here on are shown as 1
MOSTLY_MISSED = 0.5  # share of the rows of a class that are taken for another one
# A class with less than this part of an even share of the rows is rare: of two classes, one with
# less than three rows in ten. On 22 measured tables with such a class, selecting by the balanced
# error lowered it by 6 % (+- 4 %); on others it changed nothing.
RARE = 0.6


@dataclass(frozen=True)
class Verdict:
    """What may be said about a selection.

    Attributes
    ----------
    decided_by : {"prediction", "stability", "knockoffs"}
        The error rate that was asked for, and otherwise whether the selected columns predict.
    finding : bool
        Whether there is a finding: the rate keeps a column, or the selected model is clearly better
        than the baseline. It is the exit status of the command.
    better : bool
        Whether the selected model is clearly better than the baseline.
    all_better : bool
        Whether a model of all columns with equal weights is.
    tiers : mapping of str to str
        How sure single columns are, by their names; empty where there is no finding, or where all
        columns have the same weight.
    p_value : float or None
        Of the statement that the target is independent of all columns, by permutations; None where
        there were none.
    stronger_than_noise : tuple of str
        Columns that are stronger than the strongest of permuted targets, the strongest first.
    informative : tuple of str
        All columns that carry information on their own, at a false discovery rate of 5 %, the
        surest first: those that are selected, and those that are not needed beside them.

    Examples
    --------
    >>> from kernelknife.app.selection import Verdict
    >>> Verdict("prediction", finding=False, better=False, all_better=False).tiers
    mappingproxy({})
    """

    decided_by: str
    finding: bool
    better: bool
    all_better: bool
    tiers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    p_value: float | None = None
    stronger_than_noise: tuple[str, ...] = ()
    informative: tuple[str, ...] = ()

    def in_tier(self, tier: str) -> list[str]:
        """Return the names of the columns of one tier.

        Parameters
        ----------
        tier : {"stable", "uncertain", "unstable", "kept"}

        Returns
        -------
        list of str
            Their names, those first that the folds or samples select most frequently.
        """
        return [name for name, mine in self.tiers.items() if mine == tier]


def decide(selection: "Selection") -> Verdict:
    """Return the verdict on a selection.

    Parameters
    ----------
    selection : Selection
        What :func:`select_features` returned.

    Returns
    -------
    Verdict
        What may be called a finding, and how sure its columns are.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import decide, select_features
    >>> X, y = make_sinusoidal(80, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> verdict = decide(select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3))
    >>> verdict.finding, sorted(verdict.in_tier("stable"))
    (True, ['a', 'b', 'c', 'd', 'e'])
    """
    n_folds, held_out = len(selection.search.splits_), selection.held_out
    better = bool(selection.selected) and _is_clear(selection.advantage, n_folds)
    better = better and (held_out is None or held_out.error < held_out.baseline)
    all_better = _is_clear(selection.full_advantage, n_folds) or (better and selection.keeps_all)
    noise, known = selection.against_noise, selection.information
    listed = [name for name, one in known.items() if one.listed]
    method, finding = "prediction", better
    tiers = _tiers(selection) if better and not selection.keeps_all else {}
    if selection.rates is not None:
        tiers = dict.fromkeys(selection.rates.selected, KEPT)
        method, finding = selection.rates.method, bool(tiers)
    return Verdict(
        method,
        finding,
        better,
        all_better,
        MappingProxyType(tiers),
        p_value=None if noise is None else noise.p_value,
        stronger_than_noise=() if noise is None else noise.selected,
        informative=tuple(sorted(listed, key=lambda name: known[name].p_value)),
    )


def _is_clear(advantage: "Score", n_folds: int) -> bool:
    """Return whether an advantage over the baseline is more than the scatter of the folds.

    It is a paired t test over the folds, whose standard error allows for training sets that share
    most of their rows: see ``advantage_over``. The more folds, the better their scatter is known:
    2.8 standard errors are required of five folds, 2.3 of ten.
    """
    quantile = min(float(student.ppf(CONFIDENCE, n_folds - 1)), MOST_STANDARD_ERRORS)
    return bool(advantage.mean > quantile * advantage.spread + ROUNDING)


def tier_of(selected: bool, frequency: float) -> str:
    """Return how sure a column is: "stable", "uncertain", "unstable", or "" for no sign of use.

    A stable column is selected, in at least four of five folds as well. An uncertain one is
    selected in at least two of five, whether or not the selected model uses it. An unstable column
    is used by the selected model, but fewer folds select it.

    Parameters
    ----------
    selected : bool
        Whether the model of all rows uses the column.
    frequency : float
        Share of the folds, or of other parts of the rows, that select it.
    """
    if selected and frequency >= STABLE:
        return "stable"
    if frequency >= UNCERTAIN:
        return "uncertain"
    return "unstable" if selected else ""


def _tiers(selection: "Selection") -> dict[str, str]:
    """Return the tiers of the columns by the folds, the most frequently selected column first."""
    features = sorted(selection.features, key=lambda f: (-f.frequency, -f.weight, f.rank))
    tiers = {feature.name: tier_of(feature.selected, feature.frequency) for feature in features}
    return {name: tier for name, tier in tiers.items() if tier}


def headline(
    selection: "Selection",
    mark: Callable[[str], str] = str,
    quote: Callable[[str], str] = str,
) -> str:
    """Return which columns are enough to predict, how surely, and how many more carry information.

    Only columns that most folds select are called findings. Where an error rate was asked for, it
    decides, and how well the columns predict is evidence beside it. Behind the answer stand the
    errors, what permutations of the target say, and which other columns carry information on their
    own.

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
        A few sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import headline, select_features
    >>> X, y = make_sinusoidal(80, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
    >>> headline(selection).split(":")[0]
    '5 of 6 columns are enough to predict y'
    """
    parts = (
        _answer(selection, mark, quote),
        _performance(selection),
        _beside_noise(selection, mark, quote),
        _more_information(selection, mark),
    )
    return " ".join(filter(None, parts))


def _answer(selection, mark, quote):
    """Return which columns are enough, or that none are known to be."""
    verdict = selection.verdict
    target, total = (
        quote(selection.table.target_name),
        selection.table.in_words(len(selection.features)),
    )
    if selection.rates is not None:
        names = selection.rates.selected
        answer = selection.rates.in_words(_names(names, mark), target, total)
        return f"{answer} {_evidence(selection)}"
    if not verdict.finding:
        return _nothing_found(selection, mark, target)
    if selection.keeps_all:
        return (
            f"No selection: all {total} with equal weights predict {target} better than "
            "any shorter list."
        )
    stable, uncertain, unstable = map(verdict.in_tier, TIERS)
    if stable:
        verb = "is" if len(stable) == 1 else "are"
        names = _names(stable, mark)
        first = f"{len(stable)} of {total} {verb} enough to predict {target}: {names}."
    else:
        first = (
            f"The selected columns predict {target} better than the baseline, but none of the "
            f"{total} is selected in most folds."
        )
    if uncertain:
        verb = "is" if len(uncertain) == 1 else "are"
        more = "more " if stable else ""
        first += f" {len(uncertain)} {more}{verb} uncertain: {_names(uncertain, mark)}."
    return first + _unstable(unstable, mark)


def _performance(selection):
    """Return how well the selected columns predict, where that is what makes them a finding."""
    verdict = selection.verdict
    if selection.rates is not None or not verdict.finding or selection.keeps_all:
        return ""
    error, others = selection.error, (selection.baseline_error, selection.full_error)
    baseline, full = (number(score.mean) for score in others)
    return (
        f"The {selection.error_name} is {number(error.mean)} +- {number(error.spread)}; that of "
        f"the baseline is {baseline}, and that of all columns {full}."
    )


def _beside_noise(selection, mark, quote):
    """Return which columns are stronger than noise, with the p-value of the whole selection."""
    verdict, noise = selection.verdict, selection.against_noise
    if noise is None:
        return ""
    found = verdict.stronger_than_noise
    target = quote(selection.table.target_name)
    sure = f"p = {number(noise.p_value)}, {noise.n_permutations} permutations of {target}"
    if not found:
        if not verdict.finding:
            return ""
        return f"No single column is known to be stronger than the strongest of noise ({sure})."
    if not verdict.finding:
        return f"But stronger than the strongest column of noise ({sure}): {_names(found, mark)}."
    if set(found) == set(verdict.tiers):
        which = "It is" if len(found) == 1 else "All of them are"
        return f"{which} stronger than the strongest column of noise ({sure})."
    stronger = f"stronger than the strongest column of noise ({sure})"
    if set(found) < set(verdict.tiers):
        verb = "is" if len(found) == 1 else "are"
        one = len(verdict.tiers) == len(found) + 1
        others = "the other one helps" if one else "the others help"
        return (
            f"Of these only {_names(found, mark)} {verb} {stronger}: {others} to predict, but "
            "noise can be as strong."
        )
    return f"Surely {stronger}: {_names(found, mark)}."


def _more_information(selection, mark):
    """Return which columns carry information that have not been named."""
    verdict = selection.verdict
    named = {*verdict.tiers, *verdict.stronger_than_noise}
    more = [name for name in verdict.informative if name not in named]
    if not more or (selection.keeps_all and verdict.finding):
        return ""
    word = "more " if named else ""
    if len(more) == 1:
        return f"1 {word}column carries information on its own: {_names(more, mark)}."
    return f"{len(more)} {word}columns carry information on their own: {_names(more, mark)}."


def _nothing_found(selection, mark, target):
    """Return the headline where the selected columns are not clearly better than the baseline."""
    total = selection.table.in_words(len(selection.features))
    if not selection.selected and selection.settings.sparsity is not None:
        return f"No column is left at the penalty that was given for {target}."
    if selection.verdict.all_better:
        return (
            f"No selection: all {total} with equal weights predict {target} better than "
            "the baseline, and no shorter list was found that does."
        )
    if not selection.selected or selection.advantage.mean <= ROUNDING:
        if selection.verdict.informative or selection.verdict.stronger_than_noise:
            return f"No list of columns is known to predict {target} better than the baseline."
        return f"Nothing here predicts {target}: no column helps more than chance would."
    guess = ""
    if not selection.keeps_all:
        # Other columns that folds select are not what was asked for.
        tiers = {n: t for n, t in _tiers(selection).items() if t != "unstable"}
        names = [n for n in tiers if not selection.asked or n in selection.selected]
        if names:
            guess = f" The best guess is {_names(names, mark)} of {total}."
    what = "no list of columns" if selection.verdict.informative else "nothing here"
    return f"No sure finding: {what} clearly predicts {target}.{guess}"


def _evidence(selection):
    """Return how well the selected columns predict, beside an error rate that decides."""
    if not selection.selected:
        return "Beside it, cross-validation selects no column."
    gain, spread = selection.advantage.mean, share(selection.advantage.spread)
    columns = "all columns" if selection.keeps_all else "the columns that it selects"
    if abs(gain) <= ROUNDING:
        return f"Beside it, in cross-validation {columns} predict as well as the baseline."
    change = "lower" if gain > 0 else "higher"
    return (
        f"Beside it, in cross-validation {columns} have an error that is {share(abs(gain))} +- "
        f"{spread} {change} than that of the baseline."
    )


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


def find_warnings(selection: "Selection") -> list[str]:
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
    if selection.selected and not selection.verdict.better and selection.rates is None:
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
