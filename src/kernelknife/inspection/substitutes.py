"""Which columns could take the place of the selected ones.

A sparse model keeps one of several columns with the same information and drops the others.
Substitutes are the dropped columns that it could have kept instead, each with its cost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._engine.search.exchange import (
    ExchangeSettings,
    Removal,
    choose_sufficient,
    measure_exchanges,
)
from kernelknife._engine.solvers import Solution, Solver
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import import_optional
from kernelknife._utils.threads import limited_blas

__all__ = [
    "Place",
    "Substitute",
    "Substitutes",
    "find_substitutes",
    "fold_of_rows",
    "percent",
    "rank_relevance",
]

MOST_NAMED = 3  # substitutes that a sentence names
SMALL_COST = 0.05  # rise of the held-out loss, as a share, up to which a column is hardly needed


@dataclass(frozen=True)
class Substitute:
    """A column in the place of a selected one.

    Attributes
    ----------
    name : str
        Name of the column.
    correlation : float
        Size of its correlation with the selected column, or with one of its partners.
    cost : float
        Rise of the held-out loss by the exchange, as a share: 0.02 is two per cent more.
    makes_up : float
        How much of what is lost without the selected column it makes up for: 1 for one that is as
        good, 0 for one without use. NaN where nothing is lost.
    standard_error : float
        Of ``makes_up``, from the differences between rows.
    selected : bool
        Whether the model has this column as well; it is then one of the partners.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> X[:, 3] = X[:, 0] + 0.1 * X[:, 3]  # nearly a copy
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, np.sin(2 * X[:, 0]))
    >>> found = model.substitutes(X, np.sin(2 * X[:, 0]))
    >>> sorted({one.name for place in found for one in place.substitutes})
    ['x3']
    """

    name: str
    correlation: float
    cost: float
    makes_up: float
    standard_error: float
    selected: bool


@dataclass(frozen=True)
class Place:
    """A selected column, and what could take its place.

    Attributes
    ----------
    name : str
        Name of the selected column.
    partners : tuple of str
        Other selected columns with the same information. They were removed together with this
        one, because with one of them left the model would not need the others.
    cost : float
        Rise of the held-out loss with nothing in its place, as a share.
    standard_error : float
        Of ``cost``, from the differences between rows.
    needed : bool
        Whether that rise is more than two standard errors. Otherwise only copies are named.
    substitutes : tuple of Substitute
        The best first.
    tried : tuple of Substitute
        Columns that were tried as well and are of no use here.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> X[:, 3] = X[:, 0] + 0.1 * X[:, 3]  # nearly a copy
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, np.sin(2 * X[:, 0]))
    >>> found = model.substitutes(X, np.sin(2 * X[:, 0]))
    >>> found[0].name, found[0].needed
    ('x0', True)
    """

    name: str
    partners: tuple[str, ...]
    cost: float
    standard_error: float
    needed: bool
    substitutes: tuple[Substitute, ...]
    tried: tuple[Substitute, ...]

    @property
    def hardly_needed(self) -> bool:
        """Whether the model does about as well without the column.

        A rise that is large but differs so much between rows that it may be chance does not count.
        """
        return not self.needed and self.cost < SMALL_COST

    @property
    def need_in_words(self) -> str:
        """Whether the column is needed, in words, for one without a substitute."""
        if self.needed:
            return "nothing replaces it"
        return "it is hardly needed" if self.hardly_needed else "not clear if it is needed"

    def __str__(self) -> str:
        who = self.name
        if self.partners:
            who = f"{who} (with the same information: {', '.join(self.partners)})"
        if self.substitutes:
            named = [
                f"{one.name}{' alone' if one.selected else ''} ({percent(one.cost)})"
                for one in self.substitutes[:MOST_NAMED]
            ]
            if len(self.substitutes) > MOST_NAMED:
                named.append(f"{len(self.substitutes) - MOST_NAMED} more")
            *first, last = named
            return f"{who} can be replaced by {', '.join(first)}{' or ' if first else ''}{last}"
        if self.hardly_needed:
            return f"{who} is hardly needed ({percent(self.cost)} without it)"
        if not self.needed:
            return f"whether {who} is needed is not clear ({percent(self.cost)} without it)"
        return f"nothing replaces {who} ({percent(self.cost)} without it)"


@dataclass(frozen=True)
class Substitutes:
    """What could take the place of each selected column, as a sequence of :class:`Place`.

    Attributes
    ----------
    places : tuple of Place
        The column that is missed most comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> X[:, 3] = X[:, 0] + 0.1 * X[:, 3]  # nearly a copy
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, np.sin(2 * X[:, 0]))
    >>> found = model.substitutes(X, np.sin(2 * X[:, 0]))
    >>> [place.name for place in found]
    ['x0']
    """

    places: tuple[Place, ...]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.places)

    def __getitem__(self, key: Any) -> Place:
        """Return the place of a selected column, by its name or by its position."""
        if not isinstance(key, str):
            return self.places[key]
        for place in self.places:
            if place.name == key:
                return place
        known = ", ".join(place.name for place in self.places) or "none"
        raise KeyError(f"{key!r} is not a selected column; these are: {known}.")

    def __contains__(self, name: object) -> bool:
        """Whether a selected column was looked at, by its name."""
        return any(place.name == name for place in self.places)

    def __str__(self) -> str:
        return "\n".join(map(str, self.places)) or "There is no column to replace."

    @property
    def names(self) -> list[str]:
        """Every column that is selected or is a substitute of one that is."""
        found = [place.name for place in self.places]
        found += [one.name for place in self.places for one in place.substitutes]
        return list(dict.fromkeys(found))

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row per selected column and column tried in its place.

        Returns
        -------
        DataFrame
            Costs, correlations and what each makes up for.
        """
        pandas = import_optional("pandas", "pandas", "Substitutes.to_frame")
        rows = [
            {
                "column": place.name,
                "without": place.cost,
                "substitute": one.name,
                "named": named,
                "correlation": one.correlation,
                "cost": one.cost,
                "makes_up": one.makes_up,
                "standard_error": one.standard_error,
                "selected": one.selected,
            }
            for place in self.places
            for ones, named in ((place.substitutes, True), (place.tried, False))
            for one in ones
        ]
        head = ["column", "without", "substitute", "named", "correlation", "cost", "makes_up"]
        return pandas.DataFrame(rows, columns=[*head, "standard_error", "selected"])

    def plot(self, *, ax: Any = None, style: Any = None) -> Any:
        """Draw the costs; see :class:`kernelknife.inspection.displays.SubstitutesDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        style : dict, default=None
            Passed on to ``Axes.barh``.

        Returns
        -------
        SubstitutesDisplay
            The picture.
        """
        from kernelknife.inspection.displays import SubstitutesDisplay

        return SubstitutesDisplay(self).plot(ax=ax, style=style)


def find_substitutes(
    setup: Any,
    w: np.ndarray,
    sparsity: float,
    *,
    n_candidates: int = 8,
    folds: Any = 5,
    random_state: int = 0,
) -> Substitutes:
    """Look for substitutes of the features of a model.

    Parameters
    ----------
    setup : Setup
    w : ndarray of shape (n_weights,)
    sparsity : float
    n_candidates, folds, random_state : see :meth:`kernelknife.KnifeRegressor.substitutes`
    """
    check_number(n_candidates, "n_candidates", low=1, integer=True)
    check_number(random_state, "random_state", integer=True)
    labels = None
    if np.ndim(folds):
        labels, folds = _labels_of_counted_rows(np.asarray(folds), setup.data.rows), 2
    check_number(folds, "folds", low=2, integer=True)
    settings = ExchangeSettings(n_candidates, int(folds), int(random_state))
    problem, names = setup.problem, setup.data.weight_names
    with limited_blas(problem.n_rows):
        removals = measure_exchanges(problem, setup.spec.solver, w, sparsity, settings, labels)
    places = [
        _place(removal, member, names, w) for removal in removals for member in removal.members
    ]
    return Substitutes(tuple(sorted(places, key=lambda place: -place.cost)))


def _labels_of_counted_rows(labels: np.ndarray, rows: Any) -> np.ndarray:
    """Return the fold of every row of positive weight, given that of each of the user's rows."""
    n = rows.shape[0]
    if labels.shape != (n,):
        raise ValueError(
            f"folds must be a number or the fold of each of the {n} rows, got shape {labels.shape}."
        )
    # Problems have, or sample from, the rows of positive weight only.
    return labels[rows.numbers(np.arange(rows.n_counted))]


def rank_relevance(
    problem: Any, solver: Solver, points: Sequence[Solution], ranking: np.ndarray
) -> np.ndarray:
    """Rank the features of a path by how much each of them could do for the target.

    The strength of a feature is the penalty at which it leaves the path. One that helps in the
    place of a selected one has at least the strength of that one, times the share that it makes up
    for. Selected are those of the point with the fewest features that suffice.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    points : sequence of Solution
        Of the path, by rising penalty.
    ranking : ndarray of int of shape (n_weights,)
        The elimination order; it decides between features of the same strength.

    Returns
    -------
    ndarray of int of shape (n_weights,)
    """
    alive = np.array([point.w > 0 for point in points])
    sparsities = np.array([point.sparsity for point in points])
    last = np.where(alive.any(axis=0), len(points) - 1 - np.argmax(alive[::-1], axis=0), -1)
    leaves = np.where(last >= 0, sparsities[np.minimum(last + 1, len(points) - 1)], 0.0)
    strength = leaves.copy()
    point = points[choose_sufficient(problem, solver, points)]
    for removal in measure_exchanges(problem, solver, point.w, point.sparsity):
        removed = leaves[list(removal.members)].max()
        for found in removal.replacements:
            if found.helps:
                # A copy of a feature that is not missed makes up for a loss that is not there.
                share = 1.0 if np.isnan(found.makes_up) else min(found.makes_up, 1.0)
                strength[found.weight] = max(strength[found.weight], share * removed)
    ranks = np.empty(len(ranking), dtype=int)
    ranks[np.lexsort((ranking, -strength))] = np.arange(1, len(ranking) + 1)
    return ranks


def _place(removal: Removal, member: int, names: Sequence[str], w: np.ndarray) -> Place:
    """Return what can take the place of one member of a removal."""
    ones: dict[bool, list[Substitute]] = {True: [], False: []}
    for found in removal.replacements:
        if found.weight == member:
            continue
        ones[found.is_substitute].append(
            Substitute(
                name=str(names[found.weight]),
                correlation=float(np.sqrt(found.alike)),
                cost=found.cost,
                makes_up=found.makes_up,
                standard_error=found.standard_error,
                selected=bool(w[found.weight] > 0),
            )
        )
    return Place(
        name=str(names[member]),
        partners=tuple(str(names[j]) for j in removal.members if j != member),
        cost=removal.cost,
        standard_error=removal.standard_error,
        needed=removal.needed,
        substitutes=tuple(ones[True]),
        tried=tuple(ones[False]),
    )


def fold_of_rows(splits: Sequence[tuple[np.ndarray, np.ndarray]], rows: np.ndarray) -> np.ndarray:
    """Return the fold of some rows, from splits into training and test rows.

    A row belongs to the first split that judges it; of repeated splits the first repetition counts.
    Rows that no split judges are dealt out among the folds.
    """
    labels = np.full(1 + int(np.max(rows)), -1)
    for number, (_, test) in enumerate(splits):
        test = np.asarray(test)
        labels[test[labels[test] < 0]] = number
    labels = labels[rows]
    missing = np.flatnonzero(labels < 0)
    labels[missing] = np.resize(np.unique(labels[labels >= 0]), len(missing))
    return labels


def percent(share: float) -> str:
    """Return a change as text: its sign, and one decimal below ten per cent."""
    return f"{100 * share:+.1f} %" if abs(share) < 0.0995 else f"{100 * share:+.0f} %"
