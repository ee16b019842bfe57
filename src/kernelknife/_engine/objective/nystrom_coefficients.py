"""Newton's method for the coefficients of centers, a pass over the rows per step."""

from collections.abc import Callable

import numpy as np

from kernelknife._engine.data import Rows
from kernelknife._engine.data.rows import Sums
from kernelknife._engine.objective.coefficients import ASSUMED_CURVATURES
from kernelknife._engine.objective.sums import (
    Setting,
    Step,
    StepSummary,
    line_sums,
    newton_step,
    newton_sums,
)
from kernelknife._utils.arrays import Array, to_host

__all__ = ["CoefficientDescent"]

# Curvature of the intercept where no row of the loss is curved, as a share of the loss's bound: a
# step of the intercept then crosses a good part of the loss's curved piece.
GUESSED_CURVATURE = 1e-2
NEWTON_PASSES = 100  # most passes over the rows per solve; three to eight are the rule
# A step that gains this share of what it promises is taken whole. Otherwise one pass over the rows,
# without a matrix product, measures the slope at these lengths, and the best one is taken.
ENOUGH_GAIN = 0.25
STEP_LENGTHS = tuple(0.5**i for i in range(12))
LONG_STEP = 0.5  # beyond, the next step is tried whole again

# A step, which stays where the sums are, and its summary here.
Found = tuple[Step, StepSummary]


class CoefficientDescent:
    """Minimizes loss and norm over the coefficients, the weights being fixed.

    Parameters
    ----------
    rows : Rows
        Where sums over the rows are kept and what is computed from them.
    total : callable
        ``total(function, *arguments)`` returns the sum of a function of blocks over the rows.
    setting : Setting
    M : ndarray of shape (m, m)
        Matrix of the norm, where the sums are.
    alpha : float
    fit_intercept : bool
    total_weight : float
        Sum of the sample weights.
    begin : ndarray of shape (m + r, k)
        Coefficients to begin with, those of the r unpenalized columns last, the intercept at the
        end.

    Attributes
    ----------
    c : ndarray of shape (m + r, k)
        The coefficients so far.
    factorizations : int
        Factorizations so far.
    """

    def __init__(
        self,
        rows: Rows,
        total: Callable[..., Sums],
        setting: Setting,
        M: Array,
        alpha: float,
        fit_intercept: bool,
        total_weight: float,
        begin: np.ndarray,
    ):
        self.rows, self.total, self.setting, self.M = rows, total, setting, M
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.loss, self.total_weight = setting.loss, total_weight
        self.c = begin
        self.factorizations = self.caution = 0
        self.length = 1.0  # of the last step

    def run(self, enough: float) -> tuple[Step, StepSummary, float]:
        """Descend until half a decrement is below a share of the value.

        Returns
        -------
        step : Step
            The last one, which holds the factorization, where the sums are.
        summary : StepSummary
            What is known at the coefficients ``c``.
        residual : float
            How much the next step promises, as a share of the value.
        """
        if self.loss.constant_curvature:
            # The loss is a quadratic: one step is exact, and its value is known without a pass.
            step, summary = self._step(self.c)
            self.c = summary.after
            return step, summary, 0.0
        step, best = self._step(self.c)
        while self.factorizations < NEWTON_PASSES:
            if 0.5 * best.decrement <= enough * abs(best.value):
                if not self.caution:
                    break
                # A cautious step promises less than there is to gain: ask for Newton's.
                self.caution = 0
                step, best = self._step(self.c)
                continue
            moved = self._move(best)
            if moved is None:
                self.caution += 1
                if self.caution == len(ASSUMED_CURVATURES):
                    break
                step, best = self._step(self.c)
            else:
                step, best = moved
                self.caution = max(self.caution - 1, 0)
        return step, best, 0.5 * best.decrement / max(abs(best.value), 1e-300)

    def _move(self, best: StepSummary) -> Found | None:
        """Take a step, whole or shortened; return the next one, None where the value rises."""
        whole = None
        if self.length > LONG_STEP:
            whole = self._step(best.after)
            tiny = best.decrement <= 1e-9 * abs(best.value)  # too short for the value to show it
            gain = best.value - whole[1].value
            if tiny or gain >= 0.5 * ENOUGH_GAIN * best.decrement:
                return self._accept(best.after, whole, best)
        self.length = self._best_length(best)
        if whole is not None and self.length == 1.0:
            return self._accept(best.after, whole, best)
        trial = self.c + self.length * (best.after - self.c)
        return self._accept(trial, self._step(trial), best)

    def _accept(self, trial: np.ndarray, found: Found, best: StepSummary) -> Found | None:
        if found[1].value > best.value:
            self.length = 1.0
            return None
        self.c = trial
        return found

    def _best_length(self, best: StepSummary) -> float:
        """Return the length at which the slope along a step is zero, at most 1.

        The value is convex along the step. Between two lengths the slope is taken for a straight
        line, which that of a squared hinge nearly is.
        """
        direction = best.after - self.c
        sums = self.total(line_sums, self.setting, self.c, direction, STEP_LENGTHS)
        (of_loss,) = self.rows.fetch(sums)
        lengths = np.array(STEP_LENGTHS)
        slopes = to_host(of_loss) + best.norm_slope + 2.0 * lengths * best.norm_square
        lengths, slopes = np.append(lengths, 0.0), np.append(slopes, -best.decrement)
        falling = int(np.argmax(slopes <= 0.0))  # the longest at which the value still falls
        if falling == 0:
            return 1.0
        low, high = falling, falling - 1
        share = -slopes[low] / (slopes[high] - slopes[low])
        return float(lengths[low] + share * (lengths[high] - lengths[low]))

    def _step(self, c: np.ndarray) -> Found:
        """Return a step from the coefficients ``c``, and its summary here."""
        m = len(c) - self.setting.n_unpenalized
        assumed = ASSUMED_CURVATURES[self.caution]
        sums = self.total(newton_sums, self.setting, c[:m], c[m:], assumed)
        constant = self.loss.constant_curvature
        bound = self.loss.curvature_bound
        loss_scale = GUESSED_CURVATURE * (bound if bound < np.inf else 1.0) * self.total_weight
        step = self.rows.apply(
            newton_step, sums, self.M, self.alpha, c, self.fit_intercept, constant, loss_scale
        )
        self.factorizations += 1
        return step, self.rows.fetch(self.rows.apply(Step.get_summary, step))
