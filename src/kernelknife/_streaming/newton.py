"""The same selection under any smooth loss of single rows: one scan per Newton step.

At the scores of a model a loss is close to a quadratic, and what a quadratic needs are sums of
products, as those of squared errors are. So the candidates are compared, and the next model is
found, in the sums at the last one. When a step has nothing left to gain, one more scan measures the
true losses of all candidates on the rows that they have not seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernelknife._engine import Setup, follow
from kernelknife._engine.data import RowsError, TrainingData
from kernelknife._engine.objective import Problem, features_of
from kernelknife._engine.objective.coefficients import best_constant
from kernelknife._engine.objective.primal import PrimalSums
from kernelknife._engine.search import refit_without_penalty
from kernelknife._engine.solvers import Solution
from kernelknife._streaming.scan import Scans
from kernelknife._streaming.search import (
    Chosen,
    Found,
    SumSearch,
    cells_of_fold,
    coefficients,
    conclude,
    fit_folds,
    fit_selected,
    set_up_sums,
    squared_losses,
)
from kernelknife._streaming.sketch import Sketch
from kernelknife._streaming.source import Columnar, Layout, Part, read_part
from kernelknife._streaming.sums import CellSums, Expansion, cells_of, chunks, coded, join_products
from kernelknife._tuning.candidates import PENALIZED, RELAXED, Candidate, CandidatePath
from kernelknife._tuning.choose import ScoreTable, Selected, select_candidates
from kernelknife._utils.threads import limited_blas
from kernelknife.losses import Loss

__all__ = ["search_by_newton"]

MOST_STEPS = 25  # scans for one model; four or five are usual
# Share of the baseline's loss that another step may still gain: where candidates are compared, and
# for the model that is returned.
ROUGHLY, FULLY = 1e-3, 1e-8
ROUNDING = 1e-10
FINE_TOL = 1e-10  # of the solver: what a step gains is compared with less than that
# After the first scan of products, those columns go on that a penalty of this share of the selected
# one would let in: a quarter of what a coefficient must reach. Whether others would have come in is
# looked at when the model has been found.
KEPT_BELOW = 1.0 / 16.0
SHORTER = 0.25  # what is left of a step that did not lower the objective
MOST_ROUNDS = 3  # of the search for columns that were left out


@dataclass(frozen=True, eq=False)
class Point:
    """A model by its weights, the coefficients of its functions and its intercept."""

    w: np.ndarray
    v: np.ndarray
    beta: np.ndarray
    level: float

    @classmethod
    def of(cls, problem: Problem, solution: Solution) -> "Point":
        """Return the model of a solution."""
        beta, v = coefficients(problem, solution)[:, 0], solution.C[:, 0]
        v = np.divide(beta, v, out=np.zeros_like(beta), where=v != 0.0)
        return cls(solution.w, v, beta, float(solution.b[-1, 0]))

    def toward(self, other: "Point", share: float) -> "Point":
        """Return the model that is a share of the way to another one."""
        return Point(
            self.w + share * (other.w - self.w),
            self.v + share * (other.v - self.v),
            self.beta + share * (other.beta - self.beta),
            self.level + share * (other.level - self.level),
        )

    def penalty(self, problem: Problem, alpha: float, sparsity: float) -> float:
        """Return what is added to the loss: the norm, and the cost of the weights."""
        used = self.v > 0.0
        norm = float((self.beta[used] ** 2 / self.v[used]).sum())
        return alpha * norm + sparsity * float(problem.costs @ self.w)


# -- what a scan does with a block ----------------------------------------------------------------


def block_quadratics(
    block: Columnar,
    number: int,
    layout: Layout,
    expansion: Expansion,
    loss: Loss,
    beta: np.ndarray,
    level: float,
) -> tuple[np.ndarray, ...]:
    """Return the products of a block that make the quadratic of its loss at some scores, by cell.

    With slope g and curvature h, a row loses ``h/2 F^2 - (h f - g) F`` at the score ``F``, and a
    constant. Behind the products come weights, numbers of rows, and the true loss.
    """
    part = read_part(block, number, layout)
    _check_target(part, number, layout, loss)
    n_cells, width = expansion.n_cells, expansion.width
    products, losses = np.zeros((n_cells, width, width)), np.zeros(n_cells)
    cells = cells_of(part, n_cells)
    X, y = coded(part, layout, expansion.levels), expansion.encoded(part, layout.target)
    for rows in chunks(cells, width):
        A = expansion.fill(X, y, rows)
        f = beta @ A[:-2] + level
        Y = np.column_stack([A[-1], part.offset[rows]])
        ends = np.searchsorted(cells[rows], np.arange(n_cells + 1))
        for cell in np.flatnonzero(np.diff(ends)):
            own = slice(ends[cell], ends[cell + 1])
            risk = loss.bind(Y[own], part.s[rows[own]], 1)
            F, some = f[own, None], A[:-1, own]
            with np.errstate(over="ignore", invalid="ignore"):
                g, h = 0.5 * risk.gradient(F)[:, 0], 0.5 * risk.curvature(F)[:, 0]
                value = risk.value(F)
                products[cell, :-1, :-1] += (some * h) @ some.T
                products[cell, -1, :-1] += some @ (h * f[own] - g)
                products[cell, -1, -1] += value + float(f[own] @ (h * f[own] - 2.0 * g))
            losses[cell] += value
    products[:, :-1, -1] = products[:, -1, :-1]
    weight = np.bincount(cells, part.s, n_cells).astype(float)
    return products, weight, np.bincount(cells, minlength=n_cells), losses


def _check_target(part: Part, number: int, layout: Layout, loss: Loss) -> None:
    """Raise where the target of a block is none of the loss's."""
    if loss.task == "classification" or not len(part.y):
        return
    try:
        loss.check_target(part.y)
    except ValueError as error:
        raise RowsError(f"In block {number} of {layout.label}: {error}") from None


@dataclass(frozen=True, eq=False)
class Trial:
    """Models of one fold, as rows: coefficients of the functions that go on, and intercepts."""

    beta: np.ndarray
    level: np.ndarray


def block_trials(
    block: Columnar,
    number: int,
    layout: Layout,
    expansion: Expansion,
    loss: Loss,
    functions: np.ndarray,
    trials: Sequence[Trial],
    point: Point,
) -> tuple[np.ndarray, ...]:
    """Return the losses of models on the rows that they have not seen, and more of the same rows.

    Behind the losses, one row per fold, come the slopes of the loss of the model ``point`` along
    all functions, and the products of those functions that go on.
    """
    part = read_part(block, number, layout)
    n_cells, n_folds = expansion.n_cells, len(trials)
    losses = np.zeros((n_folds, max(len(trial.level) for trial in trials)))
    slopes, products = np.zeros(expansion.width - 2), np.zeros((len(functions) + 2,) * 2)
    cells = cells_of(part, n_cells)
    X, y = coded(part, layout, expansion.levels), expansion.encoded(part, layout.target)
    for rows in chunks(cells % n_folds, expansion.width):
        A = expansion.fill(X, y, rows)
        offset, s = part.offset[rows], part.s[rows]
        Y = np.column_stack([A[-1], offset])
        F = (point.beta @ A[:-2] + point.level)[:, None]
        risk = loss.bind(Y, s, 1)
        slopes += A[:-2] @ risk.gradient(F)[:, 0]
        kept = A[np.concatenate([functions, [-2, -1]])]
        products += (kept * s) @ kept.T
        ends = np.searchsorted(cells[rows] % n_folds, np.arange(n_folds + 1))
        for fold in np.flatnonzero(np.diff(ends)):
            own, trial = slice(ends[fold], ends[fold + 1]), trials[int(fold)]
            scores = trial.beta @ kept[:-2, own] + trial.level[:, None]
            values = loss.value(np.broadcast_to(A[-1, own], scores.shape), scores + offset[own])
            # What rows lose at best is no matter of the model.
            one = loss.bind(Y[own], s[own], 1)
            least = float(s[own] @ one.values(F[own])[:, 0]) - one.value(F[own])
            losses[fold, : len(trial.level)] += values @ s[own] - least
    return losses, slopes, products


# -- the search -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Anchor:
    """A model, and the sums of the quadratics at its scores.

    Attributes
    ----------
    point : Point
    cells : CellSums
    loss : float
        Of the model, truly.
    shift : float
        What was added to the quadratics, so that the best constant loses what it does.
    setup : Setup
        The problem of these sums.
    """

    point: Point
    cells: CellSums
    loss: float
    shift: float
    setup: Setup

    @property
    def products(self) -> np.ndarray:
        """Of all rows."""
        return self.cells.of(np.arange(len(self.cells.weight))).products

    def quadratic(self, point: Point) -> float:
        """Return what the quadratics take the loss of another model to be."""
        a = np.concatenate([point.beta, [point.level, -1.0]])
        return float(a @ self.products @ a) - self.shift


def search_by_newton(
    scans: Scans,
    layout: Layout,
    expansion: Expansion,
    data: TrainingData,
    sketch: Sketch,
    search: SumSearch,
    check: Callable[[CellSums], None],
) -> tuple[Found, float]:
    """Compare candidates on folds of cells, select one, and fit it to all rows.

    Parameters
    ----------
    scans : Scans
        Of which the first has been made.
    layout : Layout
    expansion : Expansion
    data : TrainingData
        Without rows, and with the loss.
    sketch : Sketch
        What the first scan has found.
    search : SumSearch
        With the squared loss, for the quadratics.
    check : callable
        Looks at the first sums of products: whether they are of the rows of the first scan.

    Returns
    -------
    Found
    float
        The mean loss of the best constant.
    """
    steps = _Steps(scans, layout, expansion, data, search)
    with limited_blas():
        anchor = steps.begin(_start_level(sketch, layout, expansion, data.loss))
        check(anchor.cells)
        candidate = steps.screen(anchor)
        for _ in range(MOST_ROUNDS):
            # Roughly for the candidate that the first sums select, to compare all of them there;
            # then to the end for the one that true losses select.
            anchors = steps.anchors(anchor, candidate, search.weightings, ROUGHLY)
            table, slopes, plain, baseline = steps.judge(anchors)
            selected = select_candidates(table)[search.rule]
            candidate = fit_selected(steps.sums(anchors), steps.paths, selected).candidate
            anchors = steps.anchors(anchors[PENALIZED], candidate, (candidate.weighting,), FULLY)
            anchor = anchors[PENALIZED]
            if not steps.add_columns(slopes, candidate):
                break
            anchor = steps.scan(anchor.point)
        chosen, objective = steps.finished(anchors, candidate, selected)
        return conclude(chosen, table, anchor.cells, plain, objective, search), baseline


def _start_level(sketch: Sketch, layout: Layout, expansion: Expansion, loss: Loss) -> float:
    """Return the score of the best constant: of classes by their counts, else of the sample."""
    if expansion.classes:
        counts = sketch.counts_of_target(layout) or {}
        s = np.array([counts[value] for value in expansion.classes])
        y, offset = np.array([-1.0, 1.0]), np.zeros(2)
    else:
        y, s = (sketch.y - expansion.center) / expansion.scale, sketch.s
        offset = sketch.offset
    risk = loss.bind(np.column_stack([y, offset]), s, 1).column(0)
    return float(best_constant(risk, np.ones((len(y), 1)))[0])


class _Steps:
    """The scans of a search: which functions they sum, and what the candidates are."""

    def __init__(
        self,
        scans: Scans,
        layout: Layout,
        expansion: Expansion,
        data: TrainingData,
        search: SumSearch,
    ):
        self.scans, self.layout, self.all, self.data = scans, layout, expansion, data
        self.search, self.loss = search, data.smooth_loss
        self.fine = search.spec.solver.with_tolerance(FINE_TOL)
        self.functions = np.arange(expansion.width - 2)
        self.n_weights = len(data.columns.index)
        owner = features_of(data).owner
        self.owner = self.functions if owner is None else owner
        self.constants: np.ndarray | None = None
        self.n_scans = 1  # with those that a checkpoint has
        self.paths: list[CandidatePath] = []

    # -- scans ----------------------------------------------------------------------------

    def begin(self, level: float) -> Anchor:
        """Scan the products of all functions at the best constant."""
        zeros = np.zeros(len(self.functions))
        anchor = self.scan(Point(np.zeros(self.n_weights), zeros, zeros, level))
        # Of constants, by cell: the quadratics at other models are to agree on the best of them.
        self.constants = anchor.cells.products[:, -2:, -2:].copy()
        whole = self.constants.sum(axis=0)
        self.constant = float(whole[1, 0] / whole[0, 0])
        self.null_value = float(_least_of(self.constants).sum())
        return anchor

    def scan(self, point: Point) -> Anchor:
        """Sum the quadratics at a model."""
        function = partial(
            block_quadratics,
            layout=self.layout,
            expansion=self.all.restricted(self.functions),
            loss=self.loss,
            beta=point.beta[self.functions],
            level=point.level,
        )
        products, weight, n_rows, losses = self._run("Newton step", function)
        if not np.isfinite(products).all():
            losses = np.full_like(losses, np.inf)  # a step went too far
        shift = np.zeros(len(weight))
        if self.constants is not None:
            shift = _least_of(self.constants) - _least_of(products[:, -2:, -2:])
            products = products.copy()  # a checkpoint keeps what the scan has found
            products[:, -1, -1] += shift
        cells = CellSums(products, weight, n_rows, self.functions, self.all.width - 2)
        setup = set_up_sums(cells, self.data, self.search.spec)
        return Anchor(point, cells, float(losses.sum()), float(shift.sum()), setup)

    def _run(self, what: str, function: Callable[..., Any]) -> Any:
        self.n_scans += 1
        name = f"scan {self.n_scans} ({what})"
        return self.scans.run(name, function, self.layout.columns, join_products)

    # -- which candidates and columns -----------------------------------------------------

    def screen(self, anchor: Anchor) -> Candidate:
        """Return the candidate that the first sums select; go on with columns that are near it."""
        whole, search = anchor.setup, self.search
        paths = search.paths(whole)
        sums = dict.fromkeys(search.weightings, anchor.setup)
        cells = dict.fromkeys(search.weightings, anchor.cells)
        fits = fit_folds(sums, paths, cells, search.n_folds)
        table = search.table(paths, fits, squared_losses(fits, anchor.cells, 1.0))
        selected = select_candidates(table)[search.rule]
        candidate = fit_selected(sums, paths, selected).candidate
        kept = np.zeros(self.n_weights, dtype=bool)
        for path in paths:
            # Of its two penalties a linear model shows the product.
            least = KEPT_BELOW * candidate.sparsity * candidate.alpha / path.alpha
            path = path.between(min(least, path.penalties[-1]), np.inf)
            kept |= follow(whole.with_alpha(path.alpha), path.penalties).points[0].w > 0
            self.paths.append(path)
        self.functions = np.flatnonzero(kept[self.owner])
        return candidate

    def add_columns(self, slopes: np.ndarray, candidate: Candidate) -> bool:
        """Take up columns that the penalty of the model would let in; return whether any did."""
        squares = np.bincount(self.owner, (0.5 * slopes) ** 2, self.n_weights)
        costs = features_of(self.data).costs
        enters = squares / candidate.alpha > candidate.sparsity * costs
        before = np.zeros(self.n_weights, dtype=bool)
        before[self.owner[self.functions]] = True
        self.functions = np.flatnonzero((before | enters)[self.owner])
        return bool((enters & ~before).any())

    # -- Newton's method ------------------------------------------------------------------

    def anchors(
        self, begin: Anchor, candidate: Candidate, weightings: Sequence[str], tol: float
    ) -> dict[str, Anchor]:
        """Return where the models of a candidate with its weights penalized and refitted are."""
        penalty = candidate.alpha, candidate.sparsity

        def penalized(setup: Setup, point: Point) -> Solution:
            return self.fine.solve(setup.problem, point.w, candidate.sparsity)

        found = {PENALIZED: self._descend(begin, penalized, *penalty, tol)}
        if RELAXED in weightings:
            setup = found[PENALIZED].setup.with_alpha(candidate.alpha)
            w = penalized(setup, found[PENALIZED].point).w

            def relaxed(setup: Setup, point: Point) -> Solution:
                return refit_without_penalty(setup.problem, self.fine, w)

            found[RELAXED] = self._descend(found[PENALIZED], relaxed, candidate.alpha, 0.0, tol)
        return found

    def _descend(
        self,
        anchor: Anchor,
        solve: Callable[[Setup, Point], Solution],
        alpha: float,
        sparsity: float,
        tol: float,
    ) -> Anchor:
        """Take Newton steps until another one has little to gain."""
        before: tuple[Anchor, float] | None = None
        for _ in range(MOST_STEPS):
            setup = anchor.setup.with_alpha(alpha)
            problem = setup.problem
            here = anchor.loss + anchor.point.penalty(problem, alpha, sparsity)
            if before is not None and not here <= before[1] + ROUNDING * self.null_value:
                # The quadratic had promised too much: go back most of the way.
                anchor = self.scan(before[0].point.toward(anchor.point, SHORTER))
                continue
            after = Point.of(problem, solve(setup, anchor.point))
            promised = anchor.quadratic(after) + after.penalty(problem, alpha, sparsity)
            if here - promised <= tol * self.null_value:
                return anchor
            before = anchor, here
            anchor = self.scan(after)
        raise RowsError(
            f"{self.loss!r} has not converged after {MOST_STEPS} scans: raise alpha, or leave out "
            "columns with a few extreme values."
        )

    # -- the choice -----------------------------------------------------------------------

    def sums(self, anchors: dict[str, Anchor]) -> dict[str, Setup]:
        """Return the problems of all rows, by weighting."""
        return {weighting: anchor.setup for weighting, anchor in anchors.items()}

    def judge(self, anchors: dict[str, Anchor]) -> tuple[ScoreTable, np.ndarray, PrimalSums, float]:
        """Measure the losses of all candidates on rows that they have not seen, by one scan.

        Behind their table come the slopes of the loss along all functions at the penalized model,
        the plain products of all rows, and the mean loss of the best constant.
        """
        search, point = self.search, anchors[PENALIZED].point
        cells = {weighting: anchor.cells for weighting, anchor in anchors.items()}
        fits = fit_folds(self.sums(anchors), self.paths, cells, search.n_folds)
        trials, places = [], []
        for fit in fits:
            different = {id(model): model for model in fit.models}
            order = {key: i + 1 for i, key in enumerate(different)}
            rows = [coefficients(fit.problem, model)[:, 0] for model in different.values()]
            beta = np.vstack([np.zeros(len(rows[0])), *rows])[:, self.functions]
            levels = [self.constant, *(float(model.b[-1, 0]) for model in different.values())]
            trials.append(Trial(beta, np.array(levels)))
            places.append(np.array([order[id(model)] for model in fit.models]))
        function = partial(
            block_trials,
            layout=self.layout,
            expansion=self.all,
            loss=self.loss,
            functions=self.functions,
            trials=trials,
            point=point,
        )
        losses, slopes, products = self._run("held-out losses", function)
        own = cells[PENALIZED]
        weights = [
            own.weight[cells_of_fold(len(own.weight), len(fits), fold)].sum()
            for fold in range(len(fits))
        ]
        means = [
            of_fold[place] / weight
            for of_fold, place, weight in zip(losses, places, weights, strict=True)
        ]
        everything = np.arange(len(own.weight))
        plain = replace(own.of(everything), products=own.embedded(products))
        baseline = float(losses[:, 0].sum() / np.sum(weights))
        return search.table(self.paths, fits, means), slopes, plain, baseline

    def finished(
        self, anchors: dict[str, Anchor], candidate: Candidate, selected: Selected
    ) -> tuple[Chosen, float]:
        """Return the candidate at the end of its steps, and its objective."""
        sums = self.sums(anchors)
        only = Selected(candidate, (candidate,), selected.n_features)
        chosen = fit_selected(sums, self.paths, only)
        last = anchors[candidate.weighting]
        setup = last.setup.with_alpha(candidate.alpha)
        if candidate.weighting == RELAXED:
            solution = refit_without_penalty(setup.problem, self.fine, last.point.w)
        else:
            solution = self.fine.solve(setup.problem, last.point.w, candidate.sparsity)
        solution = replace(solution, sparsity=candidate.sparsity)
        penalty = last.point.penalty(setup.problem, candidate.alpha, candidate.sparsity)
        chosen = replace(chosen, candidate=candidate, setup=setup, solution=solution)
        return chosen, last.loss + penalty


def _least_of(corner: np.ndarray) -> np.ndarray:
    """Return what quadratics of a constant alone are at their least, by cell."""
    square, product = corner[:, 0, 0], corner[:, 0, 1]
    gain = np.divide(product**2, square, out=np.zeros_like(square), where=square > 0.0)
    return np.asarray(corner[:, 1, 1] - gain)
