"""Fits of random problems, each checked by code that shares nothing with the package.

    python benchmarks/audit.py --fits 5000 --seed 0 --jobs 1
    python benchmarks/audit.py --seed 0 --show 17

A problem is a draw of kernel, loss, task, sizes, groups, levels, costs, sample weights, penalties,
scales, tails, ties, copies, constants, and of the exact method or centers; draw ``k`` of a seed is
always the same (``_draws.py``). Every fit is then judged by ``_oracle.py``, which knows the
formulas and not the package:

objective       the objective recomputed from the published attributes is ``objective_``
ridge           with centers, ``objective_`` has the ridge on the coefficients that the guide
                names, and nothing else
empty           the fit is no worse than the model with all weights zero
history         the fit is no worse than its own history, which never rises
kkt             the KKT residual is not larger than ``kkt_residual_`` says
silent          without a warning, weights and coefficients are stationary
deserved        with a warning, weights or coefficients are not, or a descent is near
descent         L-BFGS-B from the end point finds nothing lower by more than 0.1 %
copies          moving the weight of copies to one of them lowers nothing (v = w**2)
prediction      predictions recomputed, on the rows and on new ones
subsets         predictions of single rows, of some rows and of rows in another order are the same
functions       what additive, ANOVA and joint kernels see of a column has mean 0 and mean square 1
                over the rows, is one increasing function for the joint one, and is the same for
                values that are equal but for rounding
effects         effects add up, have the average 0, and the shares that they have over the rows
starts          every start is reported, and the fit is no worse than the best of them
weights         weights lie in [0, 1], are equal in a group and zero for constant columns
crash           the fit does not raise, and warns of nothing but convergence

Two kernels and losses need a word. The sigmoid kernel is indefinite, so its coefficients have no
minimum, only a stationary point: their gradient is checked, and ``descent`` is not; a fit may be
refused. With the hinge loss weights come from a Huberized hinge and coefficients from a support
vector machine: ``objective``, ``empty`` and ``prediction`` are those of the hinge, ``history``,
``kkt`` and ``descent`` those of the Huberized hinge at the same weights, and the model's
coefficients are judged by their duality gap; a model that is no better by the hinge than the
empty one is replaced by it, whose weights the Huberized hinge then need not like. With both,
weights and coefficients go unjudged. The functions that a kernel sees columns through are taken
from the package, tabulated, and interpolated here.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from _common import write
from _draws import KERNEL_SHARES, Draw, draw
from _oracle import (
    EXPANDING,
    FORM_OF,
    LINEAR_IN_WEIGHTS,
    Oracle,
    make_loss,
    pairs,
    profile,
    standardize_rows,
    standardize_targets,
)
from joblib import Parallel, delayed
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernelknife import kernels

CHECKS = (
    "objective", "ridge", "empty", "history", "kkt", "silent", "deserved", "descent", "copies",
    "prediction", "subsets", "functions", "effects", "starts", "weights", "crash",
)  # fmt: skip
TOL = 1e-4  # the estimators' default accuracy of the objective
SAME = 1e-6  # relative difference of two computations of one number
DESCENT = 1e-3  # relative decrease that counts as a descent
# The loosest residual at which the solver's documentation calls weights stationary, and the one
# at which no exact Newton step has to vouch for them.
STATIONARY, SURELY = 3.0 * np.sqrt(TOL), 0.3 * np.sqrt(TOL)
# Relative decrease that moving weight between copies may leave: it is free, so less than TOL.
MERGED = 0.1 * TOL
# Share of the constant model's objective that rounding may change in the value of a step on
# centers, whose normal equations square the condition of the kernel matrix.
CENTERED_ROUNDING = 1e-9
# Residuals are reported from coefficients of a step's accuracy, so they are only about right.
KKT_SLACK = (1.1, 1e-3)
# With centers the objective has a ridge on the coefficients: RIDGE times the largest second
# derivative of the loss, the sum of the sample weights, and the mean squared diagonal of the
# centers' kernel matrix at equal weights. That diagonal is 1 for kernels of a distance; for the
# others the ridge is measured, and may be no larger than the rows allow.
RIDGE = 1e-11
# With v = w on centers, weights at zero can leave the coefficients undetermined, and with them
# the derivative: the linear kernel always, the Laplace kernel where all are zero. A descent then
# begins this far inside.
LIFT = 1e-4
DESCENT_STEPS = 12
# Standard deviations by which values differ that are taken for equal, and how far the functions of
# such values may be apart: as steep as a step between two of them would be.
EQUAL, APART = 1e-9, 1e-5
# What a rounding error in a column may have become in what the kernel sees of it, at most.
SEEN = 1e-6


# -- judging ------------------------------------------------------------------------------


@dataclass
class Verdict:
    """What was found: per check, how bad it is and whether that is too bad."""

    index: int
    kernel: str
    exact: bool
    warned: bool = False
    refused: bool = False
    failed: dict = field(default_factory=dict)
    worst: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    def note(self, check: str, size: float, limit: float) -> None:
        """Record the size of an error, which fails beyond the limit or where it is no number."""
        self.failed[check] = bool(not size <= limit)
        self.worst[check] = float(size)


@dataclass(frozen=True)
class Prepared:
    """The rows that count, standardized by the audit."""

    X: np.ndarray  # what the kernel sees of the columns that vary
    Y: np.ndarray
    s: np.ndarray
    rows: np.ndarray  # of the user's, those with a weight
    varying: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    target_center: np.ndarray
    target_scale: np.ndarray
    groups: np.ndarray  # of the columns that vary
    costs: np.ndarray
    curves: tuple | None = None  # of each column that varies: positions, and functions there
    sources: np.ndarray | None = None  # which of these columns each function is of

    def standardized(self, X):
        """Return a user's columns that vary, standardized."""
        return (X[:, self.varying] - self.center) / self.scale

    def seen(self, X):
        """Return a user's rows as the kernel sees them."""
        Z = self.standardized(X)
        return Z if self.curves is None else interpolated(Z, self.curves)

    def functions_of(self, columns):
        """Return which of what the kernel sees comes from some of the columns that vary."""
        return columns if self.curves is None else np.flatnonzero(np.isin(self.sources, columns))


def interpolated(Z, curves):
    """Return the functions of every column, side by side; beyond its ends a curve is constant."""
    parts = [
        np.column_stack([np.interp(z, positions, values) for values in table.T])
        for z, (positions, table) in zip(Z.T, curves, strict=True)
    ]
    return np.concatenate(parts, axis=1)


def prepare(problem: Draw) -> Prepared:
    """Standardize a problem as the documentation of the estimators says."""
    n, p = problem.X.shape
    s = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    rows = np.flatnonzero(s)
    X, y, s = problem.X[rows], problem.y[rows], s[rows]
    expands = problem.kernel[0] in EXPANDING
    scale = problem.options["standardize"]
    centered = FORM_OF[problem.kernel[0]] != "dot"
    varying, center, spread = standardize_rows(X, s, scale=scale or expands, center=centered)
    if problem.task == "classification":
        classes = np.unique(y)[1:] if len(np.unique(y)) == 2 else np.unique(y)
        Y = np.where(y[:, None] == classes, 1.0, -1.0)
        moments = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
    else:
        y = y.reshape(len(y), -1)
        moments = np.zeros(y.shape[1]), np.ones(y.shape[1])
        if scale:
            moments = standardize_targets(y, s, robust=problem.loss[0] == "huber")
        Y = (y - moments[0]) / moments[1]
    groups = np.asarray(problem.options.get("feature_groups", np.arange(p)))[varying]
    groups = np.unique(groups, return_inverse=True)[1]
    costs = np.asarray(problem.options.get("feature_costs", np.ones(p)))[varying]
    plain = (X[:, varying] - center) / spread
    data = Prepared(plain, Y, s, rows, varying, center, spread, *moments, groups, costs)
    if not expands:
        return data
    basis = kernels.KERNELS[problem.kernel[0]](**problem.kernel[1]).make_basis(plain, s)
    # The columns of a group are together as large as one.
    size = np.sqrt(np.bincount(groups)[groups])
    found = [basis.curve(j) for j in range(len(varying))]
    curves = tuple((c.positions, c.table / m) for c, m in zip(found, size, strict=True))
    sources = np.repeat(np.arange(len(varying)), [table.shape[1] for _, table in curves])
    return replace(data, X=interpolated(plain, curves), curves=curves, sources=sources)


@dataclass(frozen=True)
class Published:
    """The fitted model as its attributes describe it."""

    oracle: Oracle
    w: np.ndarray  # of the selected columns
    C: np.ndarray
    b: np.ndarray
    selected: np.ndarray  # among the columns that vary
    seen: np.ndarray  # what the kernel sees of these, among all that it sees
    value: float
    rounding: float


def published_model(problem: Draw, model, data: Prepared) -> Published:
    """Return the model of ``weights_``, ``support_vectors_``, ``dual_coef_``, ``intercept_``."""
    weights = model.weights_[data.varying]
    selected = np.flatnonzero(weights)
    seen = data.functions_of(selected)
    w, C, b = weights[selected], model.dual_coef_, model.intercept_
    owner = np.arange(len(selected))
    if data.curves is not None:
        owner = np.searchsorted(selected, data.sources[seen])
    oracle = Oracle(
        data.X[:, seen],
        model.support_vectors_,
        data.Y,
        data.s,
        *problem.kernel,
        make_loss(problem.loss[0], next(iter(problem.loss[1].values()), None)),
        problem.options["alpha"],
        problem.options["sparsity"] * data.costs[selected],
        owner,
        problem.options["fit_intercept"],
    )
    # Rows far from the origin lose digits when they are centered.
    lost = 1.0 + np.max(np.abs(data.center / data.scale), initial=0.0)
    return Published(
        oracle,
        w,
        C,
        b,
        selected,
        seen,
        oracle.value(w, C, b),
        50.0 * lost * oracle.rounding(w, C, b),
    )


def full_problem(problem: Draw, model, data: Prepared, published: Published):
    """Return the oracle whose weights can move, the fitted weights and coefficients in its terms.

    Where ``v = w**2`` a weight at zero stays there, so the selected columns are all; the others
    are all columns, unless centers were chosen by the package and cannot be told from what it
    publishes.
    """
    Z, C = full_centers(problem, model, data, published)
    every = problem.kernel[0] in LINEAR_IN_WEIGHTS and Z.shape[1] == data.X.shape[1]
    used = np.arange(len(data.varying)) if every else published.selected
    seen = data.functions_of(used)
    X, weights = data.X[:, seen], model.weights_[data.varying][used]
    Z = X if "centers" not in problem.options else Z if every else Z[:, : len(seen)]
    kept, owner = np.unique(data.groups[used], return_inverse=True)
    costs = np.bincount(data.groups, data.costs)[kept]
    w = np.zeros(len(kept))
    w[owner] = weights
    if data.curves is not None:
        owner = owner[np.searchsorted(used, data.sources[seen])]
    name, given = problem.loss[0], next(iter(problem.loss[1].values()), None)
    loss = make_loss("huberized_hinge" if name == "hinge" else name, given)
    options = problem.options
    oracle = Oracle(
        X, Z, data.Y, data.s, *problem.kernel, loss, options["alpha"],
        options["sparsity"] * costs, owner, options["fit_intercept"],
    )  # fmt: skip
    return oracle, w, (C, published.b)


def full_centers(problem, model, data, published):
    """Return the centers, in all columns where they are known, and their coefficients."""
    if "centers" not in problem.options:
        C = np.zeros((len(data.rows), published.C.shape[1]))
        C[np.searchsorted(data.rows, model.support_vectors_rows_)] = published.C
        return data.X, C
    given = problem.options["centers"]
    if not isinstance(given, str):
        Z = data.seen(given)
        C = np.zeros((len(Z), published.C.shape[1]))
        C[model.support_vectors_rows_] = published.C
        return Z if problem.kernel[0] in LINEAR_IN_WEIGHTS else Z[:, published.seen], C
    # Chosen centers are rows: find them by the selected columns, where those identify them.
    Z, X = model.support_vectors_, data.X[:, published.seen]
    same = (np.abs(Z[:, None, :] - X[None, :, :]) <= 1e-9 * (1.0 + np.abs(X))).all(axis=2)
    told = len(Z) > 0 and Z.shape[1] > 0 and bool((same.sum(axis=1) == 1).all())
    if told and problem.kernel[0] in LINEAR_IN_WEIGHTS:
        Z = data.X[same.argmax(axis=1)]
    return Z, published.C


def relative(size, value, scale):
    """Return an error relative to a value, which tiny alphas can bring down to rounding."""
    return size / max(abs(value), 1e-9 * scale)


def kkt_of(w, gradient, scale):
    """Return how far a projected gradient step, scaled to have no units, moves a weight."""
    return float(np.max(np.abs(w - np.clip(w - gradient / scale, 0.0, 1.0)), initial=0.0))


def audit(seed: int, index: int) -> Verdict:
    """Draw, fit and judge one problem."""
    problem = draw(seed, index)
    verdict = Verdict(index, problem.kernel[0], "centers" not in problem.options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = problem.fit()
        except Exception as error:  # whatever a fit raises is a finding
            # A sigmoid kernel may be refused, in words, and so may too few centers of a linear one.
            few = problem.kernel[0] in ("linear", "additive") and "needs at least" in str(error)
            sigmoid = problem.kernel[0] == "sigmoid"
            verdict.refused = (sigmoid or few) and isinstance(error, ValueError)
            verdict.note("crash", 0.0 if verdict.refused else np.inf, 0.0)
            verdict.notes.append(f"{type(error).__name__}: {error}")
            return verdict
    others = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    verdict.warned = len(others) < len(caught)
    verdict.note("crash", float(len(others)), 0.0)
    verdict.notes.extend(str(w.message) for w in caught)
    with np.errstate(all="ignore"):
        judge(problem, model, verdict)
    return verdict


def judge(problem: Draw, model, verdict: Verdict) -> None:
    """Run every check on a fitted model."""
    data = prepare(problem)
    check_weights(problem, model, data, verdict)
    published = published_model(problem, model, data)
    empty = published.oracle.empty_value()
    ridge = check_objective(problem, model, published, empty, verdict)
    slack = published.rounding / max(abs(published.value), 1e-9 * empty)
    verdict.note("empty", relative(published.value - empty, empty, empty), SAME + slack)
    check_prediction(problem, model, data, published, verdict)
    check_functions(problem, data, verdict)
    check_effects(problem, model, data, verdict)
    check_starts(problem, model, empty, verdict)
    check_copies(data, published, verdict)
    if problem.kernel[0] == "sigmoid":
        stationarity, reached = sigmoid_stationarity(problem, model, data, published)
    else:
        stationarity, reached = check_descent(problem, model, data, published, ridge, verdict)
    history = np.append(model.history_, reached)
    rise = relative(np.max(history - np.minimum.accumulate(history)), reached, empty)
    if not verdict.exact:
        # On centers the value of a step is a difference of sums of the constant model's size.
        slack += CENTERED_ROUNDING * empty / max(abs(reached), 1e-9 * empty)
    verdict.note("history", rise, SAME + slack)
    residual, left, descent = stationarity
    verdict.worst.update(residual=residual, left=left)
    factor, allowance = KKT_SLACK
    if not verdict.warned or left <= TOL:
        # The derivative in the weights is that of a minimum over the coefficients. A sigmoid kernel
        # may have none, and the fit says so.
        verdict.note("kkt", residual - factor * model.kkt_residual_, allowance)
    if problem.kernel[0] == "sigmoid" and problem.loss[0] == "hinge":
        return
    if verdict.warned:
        fine = residual <= SURELY and left <= SAME and descent <= TOL
        verdict.note("deserved", float(fine), 0.0)
    else:
        verdict.note("silent", max(residual / STATIONARY, left / TOL), 1.0)


def check_weights(problem, model, data, verdict):
    """Weights lie in the box, groups share them, constant columns have none."""
    w = model.weights_
    bad = not ((w >= 0.0) & (w <= 1.0)).all()
    bad |= bool(np.delete(w, data.varying).any())
    for group in range(data.groups.max() + 1):
        bad |= bool(np.ptp(w[data.varying][data.groups == group]) > 0.0)
    verdict.note("weights", float(bad), 0.0)


def check_objective(problem, model, published, empty, verdict):
    """Compare ``objective_`` with the recomputed one; return the ridge on the coefficients."""
    off, ridge = model.objective_ - published.value, 0.0
    if not verdict.exact:
        squares = max(float(np.sum(published.C**2)), 1e-300)
        bound = {"logistic": 0.25, "huberized_hinge": 1.0 / problem.loss[1].get("width", 1.0)}
        ridge = RIDGE * bound.get(problem.loss[0], 2.0) * np.sum(published.oracle.s)
        if FORM_OF[problem.kernel[0]] == "dot":
            ridge = float(np.clip(off / squares, 0.0, ridge * largest_diagonal(problem)))
        off -= ridge * squares
    slack = published.rounding / max(abs(published.value), 1e-9 * empty)
    wrong = relative(abs(off), published.value, empty)
    verdict.note("objective" if verdict.exact else "ridge", wrong, SAME + slack)
    return ridge


def largest_diagonal(problem):
    """Return a bound of the squared kernel of a row with itself, at the scaled start."""
    if FORM_OF[problem.kernel[0]] != "dot":
        return 1.0
    data = prepare(problem)
    rows = data.X
    if not isinstance(problem.options["centers"], str):
        rows = np.vstack([rows, data.seen(problem.options["centers"])])
    count = rows.shape[1] if data.curves is None else data.groups.max() + 1
    form = 0.5 * np.max(np.sum(rows**2, axis=1)) / count
    return float(profile(*problem.kernel, np.array(form)) ** 2)


def check_prediction(problem, model, data, published, verdict):
    """Recompute scores and predictions of the rows and of new ones."""
    rows = np.vstack([problem.X, problem.new_rows])
    X = data.seen(rows)[:, published.seen]
    oracle, C, b = published.oracle, published.C, published.b
    v = published.w[oracle.owner]
    v = v if oracle.kernel in LINEAR_IN_WEIGHTS else v**2
    K = profile(*problem.kernel, pairs(FORM_OF[oracle.kernel], X, model.support_vectors_) @ v)
    scores = K @ C + b
    # A number of rounding errors of the sum's terms, and what a score needs of digits.
    lost = 1.0 + np.max(np.abs(data.center / data.scale), initial=0.0)
    rounding = 1e4 * np.finfo(float).eps * lost * (np.abs(K) @ np.abs(C) + np.abs(b))
    limit = 1e-9 * max(np.max(np.abs(scores)), np.max(np.abs(data.Y))) + rounding
    if data.curves is not None:
        # A quantile between two rows may be either, and its curve is then another by rounding.
        limit = limit + SEEN * (np.abs(K) @ np.abs(C))
    if problem.task == "regression":
        found = model.predict(rows).reshape(len(rows), -1)
        found = (found - data.target_center) / data.target_scale
        wrong = 0.0
    else:
        found = model.decision_function(rows).reshape(len(rows), -1)
        two = scores.shape[1] == 1
        codes = (scores[:, 0] > 0).astype(int) if two else scores.argmax(axis=1)
        ranked = np.sort(np.column_stack([scores, 0 * scores]) if two else scores, axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 2.0 * limit.max()
        wrong = float((model.predict(rows) != model.classes_[codes])[clear].any())
    verdict.note("prediction", max(np.max(np.abs(found - scores) / limit), 2.0 * wrong), 1.0)
    check_subsets(problem, model, rows, 1e-10 * np.max(np.abs(scores)) + rounding, verdict)


def check_subsets(problem, model, rows, limit, verdict):
    """Predict single rows, some rows, and all rows in another order: each is what it was."""
    whole = scores_of(problem, model, rows)
    rng = np.random.default_rng(len(rows))
    one = rng.integers(len(rows))
    some = np.flatnonzero(rng.random(len(rows)) < 0.5)
    worst = 0.0
    for index in ([one], some[:2], some, rng.permutation(len(rows))):
        if len(index):
            off = np.abs(scores_of(problem, model, rows[index]) - whole[index])
            worst = max(worst, float(np.max(off / limit[index])))
    verdict.note("subsets", worst, 1.0)


def scores_of(problem, model, rows):
    """Return the predictions for rows, numbers in standard deviations of the target."""
    if problem.task == "classification":
        return model.decision_function(rows).reshape(len(rows), -1)
    targets = model._model.targets
    return (model.predict(rows).reshape(len(rows), -1) - targets.center) / targets.scale


def check_functions(problem, data, verdict):
    """Centered, of unit size, increasing where they must be, equal for values that are equal."""
    if data.curves is None:
        return
    share = data.s / data.s.sum()
    Z = data.standardized(problem.X[data.rows])
    worst = 0.0
    for j, (positions, table) in enumerate(data.curves):
        unit = 1.0 / np.sqrt(np.bincount(data.groups)[data.groups[j]])
        phi = data.X[:, data.sources == j] / unit
        wrong = max(np.max(np.abs(share @ phi)), abs(share @ np.sum(phi**2, axis=1) - 1.0))
        if problem.kernel[0] == "joint":
            wrong = max(wrong, np.max(-np.diff(table[:, 0]), initial=0.0))
        wrong = max(wrong, np.max(-np.diff(positions), initial=0.0))
        order = np.argsort(Z[:, j])
        gap, step = np.diff(Z[order, j]), np.abs(np.diff(phi[order], axis=0)).max(axis=1)
        tied = (gap > 0) & (gap <= EQUAL)
        wrong = max(wrong, 1e-7 / APART * np.max(step[tied], initial=0.0))
        worst = np.nan if not np.isfinite(table).all() else max(worst, wrong)
    verdict.note("functions", worst, 1e-7)


def check_effects(problem, model, data, verdict):
    """Compare effects and shares with their definition over the rows, by the rows' weights."""
    if problem.kernel[0] not in ("additive", "anova") or not model.weights_.any():
        return
    rows = problem.X[data.rows]
    constant, effects = model.effect_values(rows)
    shares = {e.names: e.share for e in model.effects()}
    share = data.s / data.s.sum()
    scale = np.maximum(data.target_scale, 1e-300)
    total = constant + sum(effects.values())
    scores = scores_of(problem, model, rows) * scale + data.target_center
    deviations = (scores - share @ scores) / scale
    variance = np.sum(share @ deviations**2)
    size = np.sqrt(variance) + max(np.max(np.abs(v / scale)) for v in effects.values())
    wrong = np.max(np.abs((total - scores) / scale)) / size
    for names, values in effects.items():
        wrong = max(wrong, np.max(np.abs(share @ values / scale)) / size)
        if variance > 1e-12 * size**2:
            direct = np.sum(share @ (values / scale * deviations)) / variance
            off = abs(direct - shares[names]) / max(1.0, (size**2) / variance)
            wrong = max(wrong, off)
    if variance > 1e-12 * size**2:
        wrong = max(wrong, abs(sum(shares.values()) - 1.0) / max(1.0, size**2 / variance))
    verdict.note("effects", wrong, 1e-7)


def check_starts(problem, model, empty, verdict):
    """Every start has a name and a course, and none of them ended below the fit."""
    names = [name for name, _ in model.starts_]
    wrong = float(not names or len(set(names)) < len(names))
    ends = [history[-1] for _, history in model.starts_ if len(history)]
    wrong = max(wrong, float(len(ends) < len(names)))
    if problem.loss[0] != "hinge" and ends:
        # A model that is no better than the empty one is replaced by it.
        wrong = max(wrong, relative(model.objective_ - min(ends), model.objective_, empty))
    verdict.note("starts", wrong, SAME)


def check_copies(data, published, verdict):
    """Move the weight of two equal columns to the cheaper one: the kernel does not change."""
    oracle, w = published.oracle, published.w
    if not oracle.squared or len(w) < 2:
        return
    alone = np.bincount(data.groups)[data.groups[published.selected]] == 1
    gains, across = [0.0], oracle.across @ np.eye(len(w))[oracle.owner]
    for i in np.flatnonzero(alone):
        for j in np.flatnonzero(alone[:i]):
            gap = np.abs(across[:, :, i] - across[:, :, j])
            if np.max(gap, initial=0.0) > 1e-9 * (1.0 + np.max(np.abs(across), initial=0)):
                continue
            radius = np.hypot(w[i], w[j])
            most = min(radius, 1.0)
            rest = np.sqrt(max(radius**2 - most**2, 0.0))
            cheap, dear = np.sort(oracle.penalty[[i, j]])
            before = oracle.penalty[i] * w[i] + oracle.penalty[j] * w[j]
            gains.append(before - cheap * most - dear * rest)
    verdict.note("copies", max(gains) / max(abs(published.value), 1e-300), MERGED)


def sigmoid_stationarity(problem, model, data, published):
    """Return what :func:`check_descent` does, from the gradients alone.

    With the hinge loss there is nothing to compare: neither have its coefficients a minimum,
    nor are those published that the weights were found with.
    """
    if problem.loss[0] == "hinge":
        return (0.0, 0.0, 0.0), model.history_[-1]
    oracle, w, (C, b) = full_problem(problem, model, data, published)
    G = oracle.slopes(w, C, b)
    residual = kkt_of(w, oracle.gradient(w, C, b), oracle.constant_value())
    size = np.maximum(np.max(np.abs(G), axis=0), 1e-300)
    left = np.max(np.abs(G + 2.0 * oracle.alpha * C) / size)
    if oracle.fit_intercept:
        left = max(left, np.max(np.abs(G.sum(axis=0)) / np.abs(G).sum(axis=0)))
    return (residual, float(left), 0.0), model.objective_


def check_descent(problem, model, data, published, ridge, verdict):
    """Descend from where the fit ended.

    Returns what is left: the KKT residual, the share of the objective that better coefficients
    would gain, and that better weights would gain; and the objective to compare the history with.
    """
    oracle, w, warm = full_problem(problem, model, data, published)
    scale = oracle.constant_value()
    if problem.loss[0] == "hinge" and not w.any():
        # The empty fitted, which the hinge prefers to that of the Huberized hinge.
        gap = relative(duality_gap(published) - published.rounding, published.value, scale)
        return (0.0, gap, 0.0), model.history_[-1]
    if problem.loss[0] == "hinge":
        *fitted, base = oracle.minimize(w, warm)
        # Neither the model nor the one that the weights were found with should be improvable.
        left, reached = max(duality_gap(published), model.history_[-1] - base), base
    else:
        *fitted, best = oracle.minimize(w, warm, ridge)
        base, reached = published.value + ridge * float(np.sum(published.C**2)), model.objective_
        left = base - best
    left = relative(left - published.rounding, base, scale)
    # Of several minimizers one gives a bound of the derivative at a weight of zero: if that
    # goes down, so does the objective.
    residual = kkt_of(w, oracle.gradient(w, *fitted), scale)
    if (
        not verdict.exact
        and not oracle.squared
        and (oracle.kernel in ("linear", "additive") or not w.any())
    ):
        w = np.maximum(w, LIFT)
    lowest = descend(oracle, w, fitted, ridge, base, scale)
    descent = relative(base - lowest - published.rounding, base, scale)
    verdict.note("descent", descent, DESCENT)
    return (residual, left, descent), reached


def descend(oracle, w, fitted, ridge, base, scale):
    """Return the lowest objective that a few steps of L-BFGS-B find."""
    warm = list(fitted)

    def eliminated(w):
        warm[0], warm[1], value = oracle.minimize(w, warm, ridge)
        return value / scale, oracle.gradient(w, warm[0], warm[1]) / scale

    # Divided by the scale, a first step is as long as the KKT residual: it stays near. Steps
    # that gain a hundredth of what counts as a descent are not worth their time.
    share = abs(base) / scale
    options = {
        "maxiter": DESCENT_STEPS,
        "maxfun": 2 * DESCENT_STEPS,
        "ftol": 0.01 * DESCENT * share,
        "gtol": 1e-2 * DESCENT * share,
    }
    if not len(w):
        return np.inf
    bounds = [(0.0, 1.0)] * len(w)
    found = minimize(eliminated, w, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return found.fun * scale


def duality_gap(published):
    """Return how far a hinge model is from its minimum, at most.

    With ``u = 2 alpha y c`` in ``[0, s]`` and ``y'u = 0`` the dual is ``sum u - alpha c'K c``.
    """
    oracle, C = published.oracle, published.C
    _, M = oracle.matrices(published.w)
    total = np.sum(2.0 * oracle.alpha * np.abs(C)) - oracle.alpha * np.sum(C * (M @ C))
    primal = published.value - oracle.penalty @ published.w
    # What the constraints miss is paid for at the price of the intercept.
    missed = 2.0 * oracle.alpha * np.abs(C.sum(axis=0)) @ np.abs(published.b)
    return float(primal - total + missed)


# -- the table ----------------------------------------------------------------------------


def table(verdicts: list[Verdict], seed: int) -> list[dict]:
    """Return rates per check: of all fits, of exact ones and centers, and of each kernel."""
    parts = {"all": verdicts}
    parts["exact"] = [v for v in verdicts if v.exact]
    parts["centers"] = [v for v in verdicts if not v.exact]
    for kernel in KERNEL_SHARES:
        parts[kernel] = [v for v in verdicts if v.kernel == kernel]
    rows = []
    for check in CHECKS:
        for part, chosen in parts.items():
            judged = [v for v in chosen if check in v.failed]
            failed = [v for v in judged if v.failed[check]]
            rows.append(
                {
                    "check": check,
                    "fits": part,
                    "checked": len(judged),
                    "failed": len(failed),
                    "share": f"{len(failed) / max(len(judged), 1):.5f}",
                    "worst": f"{max((v.worst[check] for v in judged), default=0.0):.1e}",
                    "examples": " ".join(str(v.index) for v in failed[:5]),
                    "seed": seed,
                }
            )
    return rows


def show(seed: int, index: int) -> None:
    """Print a draw, what was found, and how to have it again."""
    problem, verdict = draw(seed, index), audit(seed, index)
    n, p = problem.X.shape
    print(f"{problem.task}, {n} x {p}, kernel {problem.kernel}, loss {problem.loss}")
    weights = "none" if problem.sample_weight is None else "given"
    print(f"targets {problem.y.shape}, sample weights {weights}")
    for name, value in problem.options.items():
        shown = f"array {value.shape}" if isinstance(value, np.ndarray) else value
        print(f"  {name} = {shown}")
    for check in CHECKS:
        if check in verdict.failed:
            mark = "FAILED" if verdict.failed[check] else "ok"
            print(f"{check:12s} {mark:6s} {verdict.worst[check]:.2e}")
    print(*verdict.notes, sep="\n")
    print("again, from benchmarks/:")
    print(f"  from audit import draw; problem = draw({seed}, {index}); model = problem.fit()")


def run(n_fits: int, seed: int = 0, n_jobs: int = 1) -> list[Verdict]:
    """Return the verdicts of the first draws of a seed."""
    if n_jobs == 1:
        return [audit(seed, index) for index in range(n_fits)]
    return Parallel(n_jobs=n_jobs)(delayed(audit)(seed, index) for index in range(n_fits))


def main() -> None:
    """Read the arguments, audit, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="K", help="print draw K and how to repeat it")
    given = parser.parse_args()
    if given.show is not None:
        show(given.seed, given.show)
        return
    begin = time.perf_counter()
    verdicts = run(given.fits, given.seed, given.jobs)
    seconds = time.perf_counter() - begin
    rows = table(verdicts, given.seed)
    write("audit", rows)
    for row in rows:
        if row["fits"] == "all" or row["failed"]:
            print(
                f"{row['check']:12s} {row['fits']:20s} {row['failed']:6d} of {row['checked']:6d}"
                f"  {row['share']}  worst {row['worst']}  {row['examples']}"
            )
    warned, refused = sum(v.warned for v in verdicts), sum(v.refused for v in verdicts)
    print(
        f"{warned} fits warned, {refused} were refused; {len(verdicts) / seconds:.1f} a second",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
