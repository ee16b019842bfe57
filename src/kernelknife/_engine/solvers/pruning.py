"""Dropping weak features where keeping and dropping are both local minima.

With ``v = w**2`` the penalty is concave in ``v``: a weak feature may be kept at a local minimum
although the model without it is better. Two nearly redundant columns may even share a weight at a
saddle. A descent cannot leave such points, a trial can. With ``v = w`` such columns share a weight
along a flat valley, in which a descent stops too early.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter

import numpy as np
from scipy.linalg.lapack import dposv

from kernelknife._engine.objective import IndefiniteKernelError, Problem
from kernelknife._engine.solvers.base import DropThresholds, Solution, Solver, StopRule, WarmStart

__all__ = ["drop_weak"]

# Dropping a feature is tried where the model predicts that the fit loses less than this share of
# the penalty saved; in 240 points of paths, one drop in forty that paid lay beyond it.
PRICE_GATE = 0.75
# The two cheapest drops are considered, whether they are tried or have to wait: a third seldom
# pays first. Six steps show whether one pays.
DROPS, DROP_STEPS = 2, 6
DROP_TOL, DROP_DAMPING = 1e-4, 1e-2  # of these steps, which start close to where they end
LEAST_GAIN = 1e-6  # share of the objective that a drop must save
INNER_TOL = 1e-3  # accuracy of the coefficients when a drop is first tried
# A drop that failed is tried again after this share of the way to where it should pay, and at
# the latest when the penalty has grown by the factor.
RETRY_SHARE, RETRY_FACTOR = 0.95, 2.0
# Two features with this squared correlation or more may share one weight between them: one takes
# the weight of both, on trial. Pairs are searched for among this many weights at most.
ALIKE, MOST_ALIKE = 0.8, 64


def drop_weak(
    problem: Problem,
    solver: Solver,
    solution: Solution,
    callback: StopRule,
) -> Solution:
    """Drop single weights while that lowers the objective after a few steps.

    Parameters
    ----------
    solver : Solver
        For the last steps of a model that has lost a weight.
    solution : Solution
        A converged one. The thresholds of drops that fail are added to its own.
    callback : callable
    """
    trials = _Trials(problem, solver, solution)
    while trials.best.w.any() and trials.improve():
        pass
    if trials.best is solution:
        if not trials.spent:
            return solution
        counts = (*solution.factorizations[:-1], solution.n_factorizations + trials.spent)
        return replace(solution, factorizations=counts)
    rest = solver.loosened(solver.tol).solve(
        problem, trials.best, solution.sparsity, callback=callback
    )
    offset = solution.n_factorizations + trials.spent
    return replace(
        rest,
        warm=WarmStart(rest.state, rest.damping, trials.thresholds),
        # The last solve begins where the last drop ended; what failed since then is counted there.
        history=(*trials.history[:-1], *rest.history),
        factorizations=(
            *trials.factorizations[:-1],
            *(offset + count for count in rest.factorizations),
        ),
        left_at=solution.left_at,
    )


class _Trials:
    """The best solution so far, and what trials of drops have cost and shown."""

    def __init__(self, problem: Problem, solver: Solver, solution: Solution):
        self.problem, self.solver, self.best = problem, solver, solution
        self.thresholds: DropThresholds = solution.warm.drop_thresholds if solution.warm else {}
        self.price = solution.sparsity * problem.costs
        self.spent, self.before = 0, solution.n_factorizations
        self.history, self.factorizations = list(solution.history), list(solution.factorizations)

    def improve(self) -> bool:
        """Try drops until one lowers the objective; return whether one did."""
        support = self.best.w.astype(bool).tobytes()
        drops = _merges(self.problem, self.best)
        if self.problem.absorbing:
            drops = chain(drops, islice(_cheap_drops(self.problem, self.best), DROPS))
        quick = self.solver.loosened(max(self.solver.tol, DROP_TOL), DROP_STEPS)
        for choices in drops:
            models = {
                j: self._without(j, start)
                for j, start in choices.items()
                if not self.problem.lowest[j]
                and self.thresholds.get((j, support), 0.0) <= self.best.sparsity
            }
            begun = {j: model for j, model in models.items() if model is not None}
            if not begun:
                continue
            # Of two near-duplicates drop the one whose removal raises the objective less.
            without = min(begun.values(), key=attrgetter("objective"))
            after = quick.solve(self.problem, without, self.best.sparsity)
            self.spent += after.n_factorizations
            if after.objective < self.best.objective * (1.0 - LEAST_GAIN):
                self.best = after
                self.history.append(after.objective)
                self.factorizations.append(self.before + self.spent)
                return True
            later = _retry_penalty(self.problem, self.best, after)
            self.thresholds.update({(j, support): later for j in begun})
        return False

    def _without(self, j: int, start: np.ndarray) -> Solution | None:
        """Return the model without the ``j``-th weight, None where that clearly cannot pay."""
        best = self.best
        try:
            trial = self.problem.solve(start, best.state.warm, tol=INNER_TOL)
        except IndefiniteKernelError:
            return None
        self.spent += trial.inner.factorizations
        objective = trial.smooth + float(self.price @ start)
        if objective >= best.objective + self.price[j] * best.w[j]:
            return None
        return Solution.at(trial, best.sparsity, objective, damping=DROP_DAMPING)


def _retry_penalty(problem: Problem, best: Solution, after: Solution) -> float:
    """Return the penalty below which a drop that has just failed cannot pay.

    The slopes of the two objectives in the penalty are their sums of weights, from which follows
    where they will meet.
    """
    latest = RETRY_FACTOR * best.sparsity
    rate = float(problem.costs @ (best.w - after.w))
    if rate <= 0.0:
        return latest
    meeting = best.sparsity + (after.objective - best.objective) / rate
    return min(best.sparsity + RETRY_SHARE * (meeting - best.sparsity), latest)


# One of a few weights may go: where to start without each of them.
Choices = dict[int, np.ndarray]


def _merges(problem: Problem, solution: Solution) -> Iterator[Choices]:
    """Yield drops of one of two similar features, the other taking the weight of both."""
    w = solution.w
    active = np.flatnonzero(w)
    if not 1 < len(active) <= MOST_ALIKE:
        return
    alike = problem.similarity(active) >= ALIKE
    if np.count_nonzero(alike) <= len(active):
        return  # each is similar to itself only
    for i, k in np.argwhere(np.triu(alike, 1)):
        # The cheaper one stays; of two at the same price the heavier one, if they do equally well.
        pair = sorted((active[i], active[k]), key=lambda j: (problem.costs[j], -w[j]))
        both = min(float(np.linalg.norm(w[pair], 2 if problem.absorbing else 1)), 1.0)
        choices = {int(pair[1]): _moved(w, pair[1], pair[0], both)}
        if problem.absorbing and problem.costs[pair[0]] == problem.costs[pair[1]]:
            choices[int(pair[0])] = _moved(w, pair[0], pair[1], both)
        yield choices


def _moved(w: np.ndarray, gone: int, stays: int, both: float) -> np.ndarray:
    """Return the weights with that of one feature moved to another."""
    start = w.copy()
    start[gone], start[stays] = 0.0, both
    return start


def _cheap_drops(problem: Problem, solution: Solution) -> Iterator[Choices]:
    """Yield drops that the model predicts to be cheap, the cheapest first."""
    model = problem.linearize(solution.state)
    active, w = model.active, solution.w
    Q = model.V.T @ model.V if model.gram is None else model.gram.copy()
    Q.flat[:: len(Q) + 1] += 1e-6 * Q.diagonal().max() + 1e-12
    inverse = dposv(Q, np.eye(len(Q)), lower=1)[1]
    gradient = model.gradient + solution.sparsity * problem.costs[active]
    price = 0.5 * w[active] ** 2 / inverse.diagonal() - gradient * w[active]
    cost = solution.sparsity * problem.costs[active] * w[active]
    for i in np.argsort(price, kind="stable"):
        if price[i] > PRICE_GATE * cost[i]:
            continue
        # The others move as the model predicts, each by a factor 2 at most.
        move = -inverse[i] / inverse[i, i] * w[active[i]]
        start = w.copy()
        start[active] += np.clip(move, -0.5 * w[active], w[active])
        start[active[i]] = 0.0
        yield {int(active[i]): np.clip(start, 0.0, 1.0)}
