"""Which features can take the place of those that a model has.

A selected feature is forbidden, together with the selected features that say the same, and the
model is solved again from where it is, once without a replacement and once with each of a few
candidates. Candidates are features that are like the forbidden one (they need no target to be
found) and features that the gradient of the model without it asks for. Every model is fitted on
the training rows of a fold and judged on the others, and the gradient is that of the training rows,
so that the judged rows have not helped to choose a candidate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from kernelknife._engine.objective import (
    ExactProblem,
    IndefiniteKernelError,
    Problem,
    State,
    rows_of_sample,
)
from kernelknife._engine.solvers import Solution, Solver

__all__ = [
    "ExchangeSettings",
    "Removal",
    "Replacement",
    "choose_sufficient",
    "make_folds",
    "measure_exchanges",
]

# Squared correlation of two selected features beyond which they are forbidden together: with one
# of them left, the model would not miss the other, and nothing could be told about it.
SAME = 0.7
# A candidate is at least this much like the forbidden feature (squared correlation), or its
# gradient is at least this share of the forbidden one's.
LEAST_ALIKE, LEAST_PULL = 0.25, 0.25
# A candidate surely helps where it makes up for at least LEAST_HELP of the loss, by so many
# standard errors: two where the gradient, which knows the target, has picked it among many, one
# where it was picked because it is like the forbidden feature (beyond SAME). It is named as a
# substitute where it is like that feature, or makes up for at least HALF of the loss.
LEAST_HELP, SURE_ASKED, SURE_ALIKE, HALF = 0.1, 2.0, 1.0, 0.5
# A feature is needed where the loss without it rises by so many standard errors. Copies (squared
# correlation beyond COPY) can stand in for one that is not, too.
SURE_NEEDED, COPY = 2.0, 0.98
STEPS, STEPS_TOL, STEPS_DAMPING = 3, 1e-3, 1e-2  # of a model that starts close to its end
INNER_TOL = 1e-3  # accuracy of the coefficients of a first look
TINY = 1e-300
# Most rows that are looked at: the cost grows with their cube, and shares of a loss are clear by
# then.
MOST_ROWS = 600
# Most features that are forbidden, the heaviest ones: of more, none is worth a look.
MOST_PLACES = 50
# Points of a path that are compared, and features of the largest model among them.
MOST_POINTS, MOST_FEATURES = 10, 30


@dataclass(frozen=True)
class ExchangeSettings:
    """How exchanges are looked for.

    Attributes
    ----------
    n_candidates : int
        Most features that are tried in each place by either measure.
    n_folds : int
    seed : int
        Of the folds, and of the choice of rows where there are very many.
    """

    n_candidates: int = 8
    n_folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Replacement:
    """One feature in the place of others.

    Attributes
    ----------
    weight : int
        Index of the feature's weight.
    alike : float
        Largest squared correlation with a feature that it replaces.
    cost : float
        Rise of the held-out loss of the whole model, as a share of it.
    makes_up : float
        Share of what is lost without the forbidden features that it makes up for: 1 for one that
        is as good, 0 for one without use.
        NaN where nothing is lost.
    standard_error : float
        Of ``makes_up``.
    helps : bool
        Whether that is more than chance.
    stands_in : bool
        Whether it is also enough to call it a substitute.
    """

    weight: int
    alike: float
    cost: float
    makes_up: float
    standard_error: float
    helps: bool
    stands_in: bool


@dataclass(frozen=True)
class Removal:
    """What a model loses without some of its features, and what makes up for it.

    Attributes
    ----------
    members : tuple of int
        The forbidden features: one, or several that say the same.
    cost : float
        Rise of the held-out loss without them, as a share of it.
    standard_error : float
        Of ``cost``.
    replacements : tuple of Replacement
        Every candidate that was tried, the best first. Where several features were forbidden, each
        of them is a candidate too.
    """

    members: tuple[int, ...]
    cost: float
    standard_error: float
    replacements: tuple[Replacement, ...]

    @property
    def needed(self) -> bool:
        """Whether the model is worse without them by more than chance."""
        return self.cost > SURE_NEEDED * self.standard_error


def measure_exchanges(
    problem: Problem,
    solver: Solver,
    w: np.ndarray,
    sparsity: float,
    settings: ExchangeSettings | None = None,
    labels: np.ndarray | None = None,
) -> tuple[Removal, ...]:
    """Forbid every feature of a model in turn and look for others in its place.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    w : ndarray of shape (n_weights,)
        Weights of the model.
    sparsity : float
        Penalty that they were found with.
    settings : ExchangeSettings, default=None
    labels : ndarray of int of shape (n_rows,), default=None
        Fold of every row; None deals the rows out so that all folds have the same targets.
    """
    settings = settings or ExchangeSettings()
    if not w.any():
        return ()
    sample, labels = _sample(problem, settings, labels)
    sparsity *= _share(sample, problem)
    return _Search(sample, solver, w, sparsity, settings, labels).run()


def choose_sufficient(
    problem: Problem,
    solver: Solver,
    points: Sequence[Solution],
    settings: ExchangeSettings | None = None,
) -> int:
    """Return the point of a path with the fewest features that suffice.

    Its held-out loss is within one standard error of the least one. Of points with the same number
    of features the one of the lowest penalty is looked at, and of many numbers about ten.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    points : sequence of Solution
        Of one path, by rising penalty.
    settings : ExchangeSettings, default=None
    """
    settings = settings or ExchangeSettings()
    first: dict[int, int] = {}
    for i, point in enumerate(points):
        first.setdefault(int(np.count_nonzero(point.w)), i)
    counts = sorted(count for count in first if count > 0)
    if not counts:
        return 0
    few = [count for count in counts if count <= MOST_FEATURES] or counts[:1]
    spread = np.unique(np.geomspace(1, len(few), min(len(few), MOST_POINTS)).round().astype(int))
    looked_at = [first[few[k - 1]] for k in spread]
    sample, labels = _sample(problem, settings, None)
    share = _share(sample, problem)
    losses = np.empty((len(looked_at), sample.n_rows))
    for label in np.unique(labels):
        test = labels == label
        for row, i in enumerate(looked_at):
            w = points[i].w
            small = sample.restricted(np.flatnonzero(w))
            fold = _Fold(small, test, solver, points[i].sparsity * share)
            losses[row, test] = fold.judge(fold.settle(fold.problem.solve(w[w > 0])))
    losses *= sample.sample_weight
    best = losses[int(np.argmin(losses.sum(axis=1)))]
    enough = [(loss - best).sum() <= _spread(loss - best) for loss in losses]
    return looked_at[int(np.argmax(enough))]  # they are in order of their number of features


def _sample(
    problem: Problem, settings: ExchangeSettings, labels: np.ndarray | None
) -> tuple[ExactProblem, np.ndarray]:
    """Return the problem on at most MOST_ROWS rows, and the fold of each of them."""
    sample = problem.subsample(MOST_ROWS, settings.seed)
    if labels is None:
        return sample, make_folds(sample.Y, settings.n_folds, settings.seed)
    labels = labels[rows_of_sample(len(labels), MOST_ROWS, settings.seed)]
    if len(labels) != sample.n_rows:
        raise ValueError("Leave out the rows of weight zero, or give a number of folds.")
    if len(np.unique(labels)) < 2:
        raise ValueError("The rows must lie in two or more folds.")
    return sample, labels


def _share(sample: Problem, problem: Problem) -> float:
    """Return how much of the weight of all rows those of a sample have.

    The penalty goes with it, whatever the kernel. At that of all rows, which outweighs the loss of
    few, features leave that all rows need. Between a sample and a fold of it, which has nearly as
    many rows, the rule is that of cross-validation.
    """
    return sample.total_weight / problem.total_weight


def make_folds(Y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of every row; targets are spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(Y)), *Y.T))
    labels = np.empty(len(Y), dtype=int)
    for begin in range(0, len(Y), n_folds):
        block = order[begin : begin + n_folds]
        labels[block] = rng.permutation(n_folds)[: len(block)]
    return labels


@dataclass
class _Place:
    """Features that are forbidden together, the candidates, and the held-out losses."""

    members: np.ndarray
    alike: np.ndarray  # largest squared correlation of every feature with a member
    candidates: list[int]  # to be tried in every fold
    without: np.ndarray  # held-out loss of every row with nothing in the place
    asked: dict[int, list[int]] = field(default_factory=dict)  # by gradients, with their folds
    starts: list[np.ndarray] = field(default_factory=list)  # weights without the members, by fold
    losses: dict[int, np.ndarray] = field(default_factory=dict)  # NaN where a fold did not try

    def tried_in(self, number: int) -> list[int]:
        """Return the candidates of one fold."""
        return [*self.candidates, *(k for k, folds in self.asked.items() if number in folds)]


class _Fold:
    """A problem on training rows, and the rows to judge its models on."""

    def __init__(self, problem: ExactProblem, test: np.ndarray, solver: Solver, sparsity: float):
        self.problem = problem.at_rows(np.flatnonzero(~test))
        self.X, self.Y = problem.centers[test], problem.Y[test]
        self.quick = solver.loosened(STEPS_TOL, STEPS)
        # As in cross-validation, a convex kernel's penalty goes with the number of rows.
        share = self.problem.total_weight / problem.total_weight if problem.convex else 1.0
        self.sparsity = sparsity * share

    def look(self, w: np.ndarray) -> State | None:
        """Return the model at given weights, None where there is none."""
        try:
            return self.problem.solve(w, tol=INNER_TOL)
        except IndefiniteKernelError:
            return None

    def settle(self, state: State) -> State:
        """Return the model after a few steps of its weights; those at zero stay there."""
        problem, w = self.problem, state.w
        kept = np.flatnonzero(w)
        if not len(kept):
            return state
        if not problem.absorbing:
            # Zero is not absorbing: the others have to be left out.
            problem = problem.restricted(kept)
            state = problem.solve(w[kept])
        objective = state.smooth + self.sparsity * float(problem.costs @ state.w)
        begun = Solution.at(state, self.sparsity, objective, damping=STEPS_DAMPING)
        after = self.quick.solve(problem, begun, self.sparsity)
        if problem is self.problem:
            return after.state
        settled = np.zeros_like(w)
        settled[kept] = after.w
        return self.problem.solve(settled)

    def judge(self, state: State) -> np.ndarray:
        """Return the loss of every held-out row."""
        problem, subset = self.problem, self.problem.features.select(np.flatnonzero(state.w))
        Z, X = problem.centers[:, subset.columns], self.X[:, subset.columns]
        K = problem.kernel(X, Z, subset.form_weights(state.w))
        return problem.loss.value(self.Y, K @ state.inner.C + state.inner.b).sum(axis=1)


class _Search:
    """The folds, and what is looked for in each of them."""

    def __init__(
        self,
        problem: ExactProblem,
        solver: Solver,
        w: np.ndarray,
        sparsity: float,
        settings: ExchangeSettings,
        labels: np.ndarray,
    ):
        self.problem, self.solver, self.w, self.sparsity = problem, solver, w, sparsity
        self.most, self.survivors = settings.n_candidates, np.flatnonzero(w)
        self.tests = [labels == label for label in np.unique(labels)]
        self.base = np.empty(problem.n_rows)  # held-out loss of every row with all features
        self.places = self._make_places()

    def _make_places(self) -> list[_Place]:
        """Return the selected features, those together that say the same, and what is like them."""
        survivors = self.survivors
        alike = self.problem.similarity_to_all(survivors)
        # Chains of features of which each says the same as the next are one family.
        n_families, family = connected_components(alike[:, survivors] >= SAME, directed=False)
        heaviest = np.array(
            [self.w[survivors[family == label]].max() for label in range(n_families)]
        )
        places = []
        for label in np.sort(np.argsort(-heaviest, kind="stable")[:MOST_PLACES]):
            members, likeness = survivors[family == label], alike[family == label].max(axis=0)
            others = np.setdiff1d(np.flatnonzero(likeness >= LEAST_ALIKE), survivors)
            best = others[np.argsort(-likeness[others], kind="stable")][: self.most]
            several = members.tolist() if len(members) > 1 else []
            empty = np.empty(self.problem.n_rows)
            places.append(_Place(members, likeness, [*several, *best.tolist()], empty))
        return places

    def run(self) -> tuple[Removal, ...]:
        """Return what every place loses and what makes up for it."""
        for number, test in enumerate(self.tests):
            self._forbid(number, test)
        for place in self.places:
            # One fold alone may ask for noise.
            often = {k: f for k, f in place.asked.items() if 2 * len(f) >= len(self.tests)}
            place.asked = {k: often[k] for k in sorted(often) if k not in place.candidates}
            for k in (*place.candidates, *place.asked):
                place.losses[k] = np.full(self.problem.n_rows, np.nan)
        tried = [k for place in self.places for k in place.losses]
        pool = np.unique([*self.survivors, *tried]).astype(int)
        small = self.problem.restricted(pool)
        for number, test in enumerate(self.tests):
            self._exchange(number, _Fold(small, test, self.solver, self.sparsity), test, pool)
        return tuple(self._summary(place) for place in self.places)

    def _forbid(self, number: int, test: np.ndarray) -> None:
        """Judge the model with all its features and without each, and ask its gradient."""
        fold = _Fold(self.problem, test, self.solver, self.sparsity)
        whole = fold.settle(fold.problem.solve(self.w))
        self.base[test] = fold.judge(whole)
        for place in self.places:
            w = whole.w.copy()
            w[place.members] = 0.0
            bare = fold.problem.solve(w, whole.warm)
            place.without[test] = fold.judge(fold.settle(bare))
            # The other weights are kept as they were: those that act only together with a member
            # are of no use until something takes its place, and would soon be gone.
            place.starts.append(w)
            pull = fold.problem.potential(bare)
            own = pull[place.members].max()
            pull[self.survivors] = -np.inf
            if own > 0:
                strong = np.flatnonzero(pull >= LEAST_PULL * own)
                for k in strong[np.argsort(-pull[strong], kind="stable")][: self.most]:
                    place.asked.setdefault(int(k), []).append(number)

    def _exchange(self, number: int, fold: _Fold, test: np.ndarray, pool: np.ndarray) -> None:
        """Judge every candidate in its place, in one fold, after a few steps of the weights."""
        squared = self.problem.features.squared
        for place in self.places:
            size = float(np.linalg.norm(self.w[place.members], 2 if squared else 1))
            start = place.starts[number][pool]
            for k in place.tried_in(number):
                w = start.copy()
                w[np.searchsorted(pool, k)] = min(size, 1.0)
                state = fold.look(w)
                if state is not None:
                    place.losses[k][test] = fold.judge(fold.settle(state))

    def _summary(self, place: _Place) -> Removal:
        """Turn held-out losses of rows into costs and shares."""
        s = self.problem.sample_weight
        base, lost = self.base * s, (place.without - self.base) * s
        removal = Removal(
            members=tuple(int(j) for j in place.members),
            cost=float(lost.sum() / max(base.sum(), TINY)),
            standard_error=_spread(lost) / max(float(base.sum()), TINY),
            replacements=(),
        )
        found = []
        for k, losses in place.losses.items():
            known = np.isfinite(losses)
            if not known.any():
                continue
            won, missing = (place.without - losses)[known] * s[known], float(lost[known].sum())
            share = float(won.sum()) / missing if missing > 0 else np.nan
            spread = _spread(won) / missing if missing > 0 else np.nan
            alike = float(place.alike[k])
            sure = SURE_ALIKE if alike >= SAME else SURE_ASKED
            helps = alike >= COPY or (removal.needed and share >= max(LEAST_HELP, sure * spread))
            found.append(
                Replacement(
                    weight=k,
                    alike=alike,
                    cost=float((lost[known] - won).sum() / max(base[known].sum(), TINY)),
                    makes_up=share,
                    standard_error=spread,
                    helps=helps,
                    stands_in=helps and (alike >= SAME or share >= HALF),
                )
            )
        found.sort(key=lambda replacement: (replacement.cost, replacement.weight))
        return replace(removal, replacements=tuple(found))


def _spread(values: np.ndarray) -> float:
    """Return the standard error of a sum over rows."""
    return float(np.linalg.norm(values - values.mean()))
