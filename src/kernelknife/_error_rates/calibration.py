"""A penalty beyond which noise leaves no column active: how many columns, without folds.

The penalty at which a column leaves its path is its strength. Targets that are permuted have paths,
too, and the penalty at which the last column leaves one of them is the strength of the strongest
column of noise. Columns that are stronger than that, in all but a few permutations, are selected.

Then comes a step down. The targets vary by what the selected columns do, and noise has been given
all of that. With the columns that are selected so far in the model, and what it leaves unexplained
permuted, columns outside are compared once more, until nothing enters.

The strengths of the data and of the permutations come from the same procedure, so that the first
step is an exact permutation test, however roughly paths are followed.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import FitResult, FitSpec, Setup, finish, follow, set_up
from kernelknife._engine.data import TrainingData
from kernelknife._engine.search import (
    choose_quickly,
    find_last_penalty,
    fixed_weights,
    refit_without_penalty,
    solve_for_support,
    sparsest_state,
)
from kernelknife._engine.solvers import Solution
from kernelknife._error_rates.null_targets import (
    Draw,
    Exchange,
    draw_around_model,
    draw_without_columns,
    load_rows,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import SILENT, Progress
from kernelknife._utils.threads import limited_blas

__all__ = [
    "Calibration",
    "calibrate",
    "calibrate_jointly",
    "check_level",
    "columns_beyond",
    "fewest_permutations",
    "fit_calibrated",
    "settle",
]

ROUNDING = 1e-9


@dataclass(frozen=True)
class CalibrationConstants:
    """How paths are followed; benchmarks/how_many.py measures what they find and cost.

    Attributes
    ----------
    tol : float
        Only the penalties at which columns leave count, and they count for noise as for the data.
    early : tuple of float
        First penalties of a path upwards, as shares of the constant model's objective. Noise leaves
        at a tenth of it or beyond, so that few penalties before suffice.
    step, highest : float
        Factor between two penalties from there on, and the last one.
    convex_step, convex_lowest : float
        Factor between two penalties of a path downwards, and the last one, as a share of the first.
    lowest : float
        Where paths of a step down begin, as a share of the largest strength that is compared.
    scout : int
        Permutations of a step down that run first: as a rule they show that nothing else can enter.
    """

    tol: float = 1e-2
    early: tuple[float, ...] = (0.01, 0.02, 0.03)
    step: float = 1.07
    highest: float = 100.0
    convex_step: float = 1.05
    convex_lowest: float = 1e-5
    lowest: float = 0.5
    scout: int = 2


CALIBRATION = CalibrationConstants()


@dataclass(frozen=True, eq=False)
class Calibration:
    """What permuted targets show about the columns of a path.

    Attributes
    ----------
    selected : ndarray of bool of shape (n_weights,)
    strengths : ndarray of shape (n_weights,)
        Penalty at which each leaves the path; 0 for those that leave before its first penalty.
    nulls : ndarray of shape (n_permutations,)
        Penalty at which the last column leaves, by permutation.
    threshold : float
        The penalty beyond which no column of noise is active, that of the last step.
    p_value : float
        Of the statement that the target is independent of all columns.
    p_values : ndarray of shape (n_features,)
        Of the user's columns; NaN for those that cost nothing.
    n_steps, n_paths : int
    solution : Solution
        The model of the selected columns, at the smallest penalty of the path that has no others.
    start : str
    """

    selected: np.ndarray
    strengths: np.ndarray
    nulls: np.ndarray
    threshold: float
    p_value: float
    p_values: np.ndarray
    n_steps: int
    n_paths: int
    solution: Solution = field(repr=False)
    start: str = ""


def check_level(n_permutations: int, level: float) -> int:
    """Return how many permutations may be as strong as a selected column; raise where none can be.

    Parameters
    ----------
    n_permutations : int
    level : float
    """
    check_number(n_permutations, "n_permutations", low=1, integer=True)
    check_number(level, "level", strict=True)
    if level >= 1:
        raise ValueError(f"level must be a share between 0 and 1, got {level!r}.")
    needed = fewest_permutations(level)
    most = int(np.floor(level * (n_permutations + 1) * (1.0 + 1e-9))) - 1
    if n_permutations < needed:
        raise ValueError(
            f"With n_permutations={n_permutations} no p-value is below 1 / {n_permutations + 1}, "
            f"which is above level={level:g}: use at least {needed} permutations."
        )
    return most


def fewest_permutations(level: float) -> int:
    """Return how many permutations the smallest p-value needs to reach a level."""
    return int(np.ceil(1.0 / level * (1.0 - 1e-9))) - 1


# -- paths ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class _RisingPath:
    """The path of a problem with local minima: from no penalty until nothing is left.

    No strength is above the last penalty, which is found for permuted targets in the same way.
    """

    setup: Setup
    points: Sequence[Solution] = field(init=False)
    start: str = field(init=False)
    strengths: np.ndarray = field(init=False)
    top: float = field(init=False)

    def __post_init__(self) -> None:
        problem, spec = self.setup.problem, self.setup.spec
        self.top, last = find_last_penalty(problem, spec.solver, self.setup.start_settings)
        trace = follow(self.setup, _penalties(self.setup))
        self.points, self.start = trace.points, trace.start
        found = np.minimum(_last_active(self.points), self.top)
        self.strengths = np.where(last.w > 0, self.top, found)

    def strongest(self, outside: np.ndarray, below: float) -> float:
        """Return the largest strength of some weights."""
        return float(self.strengths[outside].max(initial=0.0))

    def strengths_to(self, penalty: float) -> np.ndarray:
        """Return the strengths where they are at least ``penalty``."""
        return self.strengths


def _penalties(setup: Setup) -> np.ndarray:
    """Return the penalties of a path upwards."""
    first = CALIBRATION.early[-1]
    count = int(np.log(CALIBRATION.highest / first) / np.log(CALIBRATION.step))
    fine = first * CALIBRATION.step ** np.arange(1, count + 1)
    return np.asarray(setup.problem.null_value * np.concatenate([CALIBRATION.early, fine]))


@dataclass(eq=False)
class _FallingPath:
    """The path of a convex problem: from where nothing is left, downwards as far as it is asked."""

    setup: Setup
    points: list[Solution] = field(default_factory=list, init=False)
    start: str = field(default="scaled", init=False)

    def __post_init__(self) -> None:
        nothing, problem = sparsest_state(self.setup.problem), self.setup.problem
        costly = problem.costs > 0
        gains = np.zeros(problem.n_weights)
        gains[costly] = -problem.gradient(nothing)[costly] / problem.costs[costly]
        # Where the first weight enters is known without a path.
        self.entry = np.maximum(gains, 0.0)
        self.top = float(self.entry.max(initial=0.0))
        self.here = Solution.at(nothing, np.inf, nothing.smooth)
        self.next = self.top

    @property
    def strengths(self) -> np.ndarray:
        """Largest penalty, of those that were solved, at which every weight is active."""
        found = _last_active(self.points) if self.points else np.zeros(len(self.entry))
        first = int(np.argmax(self.entry))
        if self.entry[first] > 0:
            found[first] = max(found[first], self.entry[first])
        return found

    def _solve(self, penalty: float) -> Solution:
        solver = self.setup.spec.solver
        self.here = solver.solve(self.setup.problem, self.here.damped_at_most(1.0), penalty)
        self.points.append(self.here.without_state())
        return self.here

    def strongest(self, outside: np.ndarray, below: float) -> float:
        """Return the largest strength of some weights, at most ``below``; solves until one is."""
        if outside[int(np.argmax(self.entry))] or not len(outside):
            return min(self.top, below)
        known = float(self.strengths[outside].max(initial=0.0))
        lowest = CALIBRATION.convex_lowest * self.top
        while not known and self.next > lowest:
            self.next = min(self.next, below) / CALIBRATION.convex_step
            if self._solve(self.next).w[outside].any():
                known = self.next * CALIBRATION.convex_step  # it enters between the two
        return min(known, below)

    def strengths_to(self, penalty: float) -> np.ndarray:
        """Return the strengths, after all of those that are at least ``penalty`` are known."""
        while self.next > penalty > 0:
            self.next = max(self.next / CALIBRATION.convex_step, penalty)
            self._solve(self.next)
        return self.strengths


_Path = _RisingPath | _FallingPath


def _last_active(points: Sequence[Solution]) -> np.ndarray:
    """Return the largest penalty at which every weight is active."""
    active = np.array([point.w > 0 for point in points])
    penalties = np.array([point.sparsity for point in points])
    return np.asarray((active * penalties[:, None]).max(axis=0))


def _follow(setup: Setup) -> _Path:
    return _FallingPath(setup) if setup.problem.convex else _RisingPath(setup)


# -- calibration ----------------------------------------------------------------------------------


def calibrate(setup: Setup, progress: Progress = SILENT, **options: object) -> Calibration:
    """Return the columns of one path that are stronger than noise.

    Parameters
    ----------
    setup : Setup
    progress : Progress
    **options
        See :func:`calibrate_jointly`.
    """
    return calibrate_jointly([setup], progress=progress, **options)[0]  # type: ignore[arg-type]


def calibrate_jointly(
    setups: Sequence[Setup],
    *,
    n_permutations: int = 20,
    level: float = 0.05,
    strata: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    blocks: int | None = None,
    n_jobs: int | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> list[Calibration]:
    """Return the columns of every path that are stronger than noise on any of them.

    The level is that of all paths together, so that one of them may be chosen afterwards: penalties
    are measured in units of their median under noise, and the strongest of all paths counts.

    Parameters
    ----------
    setups : sequence of Setup
        Of the same rows, with other kernels or another ``alpha``.
    n_permutations : int, default=20
    level : float, default=0.05
    strata : ndarray of shape (n,), default=None
        Rows exchange their targets with others of their stratum.
    groups : ndarray of shape (n,), default=None
        Rows that belong together: see :meth:`Exchange.of`.
    blocks : int, default=None
        Of rows in the order of time: targets move by at least as many rows.
    n_jobs : int, default=None
        Permutations run in parallel through joblib.
    seed : int, default=None
    progress : Progress
    """
    most = check_level(n_permutations, level)
    setups = [_rough(setup) for setup in setups]
    rows = load_rows(setups[0].data)
    exchange = Exchange.of(rows, strata, groups, blocks)
    if blocks is not None:
        groups = np.arange(len(rows.y)) // blocks  # neighbors are in one fold
    runs = []
    for setup in setups:
        with limited_blas(setup.problem.n_rows):
            path = _follow(setup)
        draw = draw_without_columns(setup, exchange, groups)
        everything = setup.problem.costs > 0
        run = _Run(setup, path, everything, most, n_permutations, seed or 0, n_jobs, progress)
        runs.append((run, run.nulls(draw, everything, np.inf, step=1)))
    units = np.array([np.median([run.path.top, *nulls]) for run, nulls in runs])
    units = np.where((units > 0) & (len(runs) > 1), units, 1.0)
    largest = np.max([nulls / unit for (_, nulls), unit in zip(runs, units, strict=True)], axis=0)
    return [
        run.calibrated(largest * unit, nulls, exchange, groups)
        for (run, nulls), unit in zip(runs, units, strict=True)
    ]


def _rough(setup: Setup) -> Setup:
    return setup.with_spec(solver=setup.spec.solver.with_tolerance(CALIBRATION.tol))


@dataclass(eq=False)
class _Run:
    """The calibration of one path."""

    setup: Setup
    path: _Path
    costly: np.ndarray
    most: int
    n_permutations: int
    seed: int
    n_jobs: int | None
    progress: Progress
    n_paths: int = field(default=1, init=False)

    def nulls(
        self,
        draw: Draw,
        outside: np.ndarray,
        ceiling: float,
        *,
        step: int,
        stops: bool = False,
    ) -> np.ndarray:
        """Return the strongest of some weights for every draw of the targets.

        With ``stops`` it ends where more of the first draws reach the ceiling than a column may
        have above it.
        """
        scouts = max(CALIBRATION.scout, self.most + 1) if stops else 0
        found = np.zeros(0)
        for first, last in ((0, scouts), (scouts, self.n_permutations)):
            numbers = range(first, min(last, self.n_permutations))
            with self.progress.child("permutations", len(numbers), ordered=False) as parent:
                calls = [
                    delayed(_null)(
                        self.setup,
                        draw(np.random.default_rng([self.seed, step, number])),
                        step,
                        outside,
                        ceiling,
                        parent.child("permutation", None, number=number),
                    )
                    for number in numbers
                ]
                found = np.concatenate([found, Parallel(n_jobs=self.n_jobs)(calls)])
            # Where the first weight of a convex problem enters is known without a path.
            self.n_paths += 0 if step == 1 and self.setup.problem.convex else len(numbers)
            if stops and (found >= ceiling).sum() > self.most:
                break
        return found

    def calibrated(
        self,
        nulls: np.ndarray,
        own_nulls: np.ndarray,
        exchange: Exchange,
        groups: np.ndarray | None,
    ) -> Calibration:
        """Return the calibration, step by step."""
        selected = np.zeros(len(self.costly), dtype=bool)
        p_values = np.ones(len(selected))
        threshold, reached, n_steps = np.inf, 0.0, 0
        while True:
            n_steps += 1
            threshold = min(threshold, float(np.sort(nulls)[-1 - self.most]))
            outside = self.costly & ~selected
            strengths = self.path.strengths_to(float(nulls.min()))
            p = self._p_values(strengths, nulls)
            p_values[outside] = np.maximum(p, reached)[outside]
            new = outside & (p_values <= self._level)
            if n_steps == 1:
                p_value = float(p[self.costly].min(initial=1.0))
            selected |= new
            reached = max(reached, float(p_values[selected].max(initial=0.0)))
            outside = self.costly & ~selected
            strongest = self.path.strongest(outside, threshold) if outside.any() else 0.0
            if not new.any() or not strongest:
                break
            kept = selected | ~self.costly
            draw = draw_around_model(self.setup, kept, exchange, groups)
            if draw is None:
                break
            nulls = self.nulls(draw, outside, strongest, step=n_steps + 1, stops=True)
            if len(nulls) < self.n_permutations:
                n_steps += 1
                break
        strengths = self.path.strengths
        return Calibration(
            selected=selected,
            strengths=strengths,
            nulls=own_nulls,
            threshold=threshold,
            p_value=p_value,
            p_values=self.setup.data.user_values(
                np.where(self.costly, p_values, np.nan), constant=1.0
            ),
            n_steps=n_steps,
            n_paths=self.n_paths,
            solution=self._solution(selected, strengths, threshold),
            start=self.path.start,
        )

    @property
    def _level(self) -> float:
        """The largest p-value that selects."""
        return (self.most + 1.5) / (self.n_permutations + 1)

    def _p_values(self, strengths: np.ndarray, nulls: np.ndarray) -> np.ndarray:
        """Return the share of targets, the data's own included, that reach every strength."""
        # A tie counts against a column, also where two computations differ by rounding.
        least = strengths * (1.0 - ROUNDING)
        above = len(nulls) - np.searchsorted(np.sort(nulls), least, side="left")
        return np.asarray((1.0 + above) / (len(nulls) + 1.0))

    def _solution(self, selected: np.ndarray, strengths: np.ndarray, threshold: float) -> Solution:
        """Return the model of the selected columns."""
        problem, solver = self.setup.problem, self.setup.spec.solver
        free = ~self.costly
        if not selected.any():
            return replace(fixed_weights(problem, free.astype(float)), sparsity=threshold)
        penalty = float(strengths[selected].min())
        points = [point for point in self.path.points if point.sparsity <= penalty]
        point = max(points, key=lambda one: one.sparsity, default=None)
        if point is None or not np.array_equal((point.w > 0) | free, selected | free):
            # A weight that had left has come back, or the last one has entered a little later.
            start = np.where(selected | free, 1.0, 0.0) if point is None else point.w
            start = np.where(selected | free, np.maximum(start, 1e-2), 0.0)
            return solve_for_support(problem, solver, start, penalty)
        return point


def _null(
    setup: Setup,
    targets: tuple[np.ndarray, np.ndarray],
    step: int,
    outside: np.ndarray,
    ceiling: float,
    progress: Progress,
) -> float:
    """Return the largest strength of some weights for targets of noise, at most the ceiling."""
    with limited_blas(), progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may converge badly
        penalties = _penalties(setup)  # those of the data
        setup = _with_targets(setup, *targets)
        if setup.problem.convex:
            return _FallingPath(setup).strongest(outside, ceiling)
        if step == 1:
            return find_last_penalty(setup.problem, setup.spec.solver, setup.start_settings)[0]
        return _strongest_outside(setup, penalties, outside, ceiling)


def _with_targets(setup: Setup, Y: np.ndarray, s: np.ndarray) -> Setup:
    """Return the setup with other encoded targets and weights of the rows."""
    data = replace(setup.data, rows=setup.data.rows.with_targets(Y, s))
    problem = setup.problem.with_targets(Y, s, setup.center_rows)
    if problem is None:
        return set_up(setup.spec, data)
    return replace(setup, data=data, problem=problem)


def _strongest_outside(
    setup: Setup, penalties: np.ndarray, outside: np.ndarray, ceiling: float
) -> float:
    """Return the last penalty, up to the ceiling, at which one of some weights is active.

    The path begins at a part of the ceiling; what leaves before counts as if it left there. It
    ends where none is left: where zero is absorbing none comes back.
    """
    problem, solver = setup.problem, setup.spec.solver
    penalties = penalties[(penalties >= CALIBRATION.lowest * ceiling) & (penalties <= ceiling)]
    if not len(penalties):
        return 0.0
    known = float(penalties[0])
    here = choose_quickly(problem, solver, setup.start_settings).first.without_memory()
    for penalty in penalties:
        here = solver.solve(problem, here.damped_at_most(1.0), float(penalty))
        left = here.w[outside].any()
        known = float(penalty) if left else known
        worth = (problem.costs == 0).any() or here.objective < problem.null_value
        if not (worth and (left or not problem.absorbing)):
            break
    return known


def columns_beyond(setup: Setup, threshold: float) -> Solution:
    """Return the model of the columns of a path that are stronger than a threshold.

    Parameters
    ----------
    setup : Setup
    threshold : float
        The penalty beyond which no column of noise is active on these rows.
    """
    nothing = (setup.problem.costs == 0).astype(float)
    if setup.problem.convex:
        path = _FallingPath(setup)
        path.strengths_to(threshold)
        return path.points[-1] if path.points else fixed_weights(setup.problem, nothing)
    penalties = _penalties(setup)
    threshold = max(threshold, float(penalties[0]))
    if threshold < penalties[-1]:
        points = follow(setup, np.append(penalties[penalties < threshold], threshold)).points
        if points[-1].sparsity == threshold:
            return points[-1]
    return fixed_weights(setup.problem, nothing)


# -- a fit ----------------------------------------------------------------------------------------


def fit_calibrated(spec: FitSpec, data: TrainingData, progress: Progress = SILENT) -> FitResult:
    """Find the columns that are stronger than noise, and the model of them.

    It takes the place of :func:`kernelknife._engine.fit` for ``sparsity="calibrated"``.
    """
    setup = set_up(spec, data)
    found = calibrate(
        setup,
        n_permutations=spec.n_permutations,
        level=spec.level,
        n_jobs=spec.n_jobs,
        seed=spec.seed,
        progress=progress,
    )
    solution = settle(setup, found.solution)
    if spec.relax and solution.w.any():
        relaxed = refit_without_penalty(setup.problem, spec.solver, solution.w)
        solution = replace(relaxed, sparsity=solution.sparsity)
    result = finish(setup, solution, [(found.start, solution)])
    return replace(result, calibration=found)


def settle(setup: Setup, rough: Solution) -> Solution:
    """Return the solution to the tolerance of the specification, with the same columns."""
    if not rough.w.any():
        return rough
    exact = setup.spec.solver.solve(setup.problem, rough.w, rough.sparsity)
    return exact if np.array_equal(exact.w > 0, rough.w > 0) else rough
