"""Selection from any number of rows in a few scans: additive and linear models."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernelknife._base import fitted_with
from kernelknife._engine.data import RowsError
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.policy import task_of_loss
from kernelknife._engine.spec import FitSpec, check_sparsities
from kernelknife._streaming.newton import search_by_newton
from kernelknife._streaming.noise import NoiseLevels, compare_with_noise
from kernelknife._streaming.pairs import PairTest, search_pairs
from kernelknife._streaming.scan import Scans
from kernelknife._streaming.search import (
    CELLS_PER_FOLD,
    Found,
    SumSearch,
    prepare,
    search_sums,
)
from kernelknife._streaming.sketch import Sketch, block_sketch, join_sketches
from kernelknife._streaming.source import NO_LEVEL, Layout, Source, column_of, numbers_of
from kernelknife._streaming.sums import (
    CellSums,
    Expansion,
    block_products,
    join_products,
    products_memory,
)
from kernelknife._tuning.candidates import PENALIZED, RELAXED, RULES
from kernelknife._utils.checks import check_number
from kernelknife._utils.messages import import_optional, number
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.kernels import Kernel, check_kernel
from kernelknife.losses import Loss, check_loss
from kernelknife.sources import open_source

__all__ = ["StreamSelection", "select_stream"]

ALPHAS = (0.1, 10.0)
LEVEL = 0.05  # at which a feature stays in the model while others are compared with noise
POINTS = 40  # of a path: with many rows it spans more orders of magnitude


@dataclass(frozen=True, eq=False)
class StreamSelection:
    """What two scans of the rows have found.

    Attributes
    ----------
    names : list of str
        The features, in the order of the source.
    weights : ndarray of shape (n_features,)
        Most of them zero.
    frequency : ndarray of shape (n_features,)
        Share of random half-samples that select a feature at the same penalty.
    estimator : KnifeRegressor or KnifeClassifier
        The model. Texts are numbers to it; :meth:`predict` takes texts.
    error_name : str
        What error is measured: the mean squared error, or the mean loss.
    error, baseline_error : float
        Of what the other folds select, on every fold in turn, and of the best constant.
    standard_error : float
        Of the error, over folds.
    cv_results : dict of ndarray
        Scores of all candidates, as ``cv_results_`` of :class:`KnifeRegressorCV`.
    alpha, sparsity : float
        The penalties of the model.
    weighting : {"penalized", "relaxed"}
        Whether the model is refitted without the penalty on the weights.
    sparsities : ndarray of shape (n_points,)
        Penalties of the path on all rows.
    path : ndarray of shape (n_points, n_features)
        Weights along it.
    levels : dict of dict
        By feature of texts: the number of every text.
    n_rows, n_scans, memory : int
        Rows of positive weight, scans of the source, and bytes that were announced.
    seconds : dict of float
        By step.
    p_value : float or None
        Of the statement that the target is independent of all features. None, as for the next one,
        where the loss is not squared.
    adjusted_p_values : ndarray of shape (n_features,) or None
        Share of the targets, permuted ones and the given one, whose strongest feature of noise is
        at least as strong as this one. It claims that there is something, and that the feature is
        stronger than the strongest of noise: weak control of the family-wise error.
    pairs : list of PairTest
        Which features act together beyond their curves, the strongest pair first: ``names``, the
        ``share`` of the variance that the model leaves, and a ``p_value``. The model does not have
        them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import select_stream
    >>> x = np.linspace(-2, 2, 500)
    >>> table = {"x": x, "other": np.cos(50 * x), "y": 2 * x + 1}
    >>> found = select_stream(table, "y", kernel="linear", cv=2, n_pairs=1)
    >>> found.selected
    ['x']
    >>> found.predict({"x": [0.0, 1.0], "other": [0.0, 0.0]}).round(1)
    array([1., 3.])
    """

    names: list[str]
    weights: np.ndarray
    frequency: np.ndarray
    estimator: KnifeRegressor | KnifeClassifier = field(repr=False)
    error_name: str
    error: float
    standard_error: float
    baseline_error: float
    cv_results: dict[str, np.ndarray] = field(repr=False)
    alpha: float
    sparsity: float
    weighting: str
    sparsities: np.ndarray = field(repr=False)
    path: np.ndarray = field(repr=False)
    levels: dict[str, dict[str, int]] = field(repr=False)
    n_rows: int
    n_scans: int
    memory: int
    seconds: dict[str, float]
    p_value: float | None = None
    adjusted_p_values: np.ndarray | None = field(default=None, repr=False)
    pairs: list[PairTest] = field(default_factory=list, repr=False)

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, the most important ones first."""
        order = np.argsort(-self.importance, kind="stable")
        return [self.names[j] for j in order if self.weights[j] > 0]

    @property
    def importance(self) -> np.ndarray:
        """Share of the fitted variance of every feature; of a linear model, the weights."""
        if not self.estimator.kernel.order or not self.weights.any():
            return self.weights
        shares = {effect.names[0]: effect.share for effect in self.estimator.effects()}
        return np.array([shares.get(name, 0.0) for name in self.names])

    def predict(self, X: Any, exposure: Any = None) -> np.ndarray:
        """Return predictions.

        Parameters
        ----------
        X : DataFrame or dict
            With the features, texts as texts. A text that training has not seen is none of them.
        exposure : array-like of shape (n_rows,), default=None
            For a loss with a logarithmic link; None is one for every row.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted numbers or classes.
        """
        rows = self._rows(X)
        if exposure is None:
            return np.asarray(self.estimator.predict(rows))
        rates = self.estimator.predict(rows)
        exposure = numbers_of(exposure, "exposure", "the rows")
        if exposure.shape != rates.shape:
            raise ValueError(f"exposure must have shape {rates.shape}, got {exposure.shape}.")
        return np.asarray(rates * exposure)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes, of a model with the logistic loss.

        Parameters
        ----------
        X : DataFrame or dict
            See :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            In the order of ``estimator.classes_``.
        """
        return np.asarray(self.estimator.predict_proba(self._rows(X)))

    def _rows(self, X: Any) -> ArrayRows:
        """Return rows as the estimator takes them, texts as their numbers."""
        columns: list[np.ndarray | None] = []
        for name, weight in zip(self.names, self.weights, strict=True):
            if not weight:
                # The model does not look at it.
                columns.append(None)
                continue
            column = column_of(X, name)
            if name in self.levels:
                known = self.levels[name]
                texts = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
                columns.append(np.array([known.get(str(t), NO_LEVEL) for t in texts], dtype=float))
            else:
                columns.append(numbers_of(column, name, "the rows"))
        n = next((len(c) for c in columns if c is not None), len(column_of(X, self.names[0])))
        matrix = np.column_stack([np.zeros(n) if c is None else c for c in columns])
        return ArrayRows(matrix, names=np.array(self.names, dtype=object))

    def to_frame(self) -> Any:
        """Return a table of the features: weight, frequency and share of the fitted variance.

        Returns
        -------
        DataFrame
            The most important features first.
        """
        pandas = import_optional("pandas", "kernelknife[data]", "A table of the features")
        table = pandas.DataFrame(
            {"weight": self.weights, "frequency": self.frequency, "importance": self.importance},
            index=self.names,
        )
        if self.adjusted_p_values is not None:
            table["adjusted p-value"] = self.adjusted_p_values
        return table.sort_values(["importance", "frequency"], ascending=False, kind="stable")


def select_stream(
    source: Any,
    target: str,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    sample_weight: str | None = None,
    groups: str | None = None,
    exposure: str | None = None,
    kernel: str | Kernel = "additive",
    loss: str | Loss = "squared",
    alphas: float | Sequence[float] = ALPHAS,
    sparsities: int | Sequence[float] = POINTS,
    rule: str = "min",
    relax: bool | str = "auto",
    cv: int = 5,
    n_pairs: int = 25,
    n_permutations: int = 100,
    pairs: int | Sequence[tuple[str, str]] = 0,
    n_workers: int | None = None,
    memory_budget: float = 2**31,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    announce: Callable[[str], Any] | None = None,
) -> StreamSelection:
    """Select features from rows that need not fit into memory, in a few scans of them.

    The first scan measures the columns, the second one sums products of their functions. Paths,
    folds, penalties and half-samples are then computed from these sums. With squared loss the rows
    are not read again. Any other loss takes one more scan per Newton step, four or five as a rule,
    of the columns that the second scan has left, and one that measures the losses of all candidates
    on the rows that they have not seen. The answer depends on what the rows hold, and neither on
    their order nor on blocks, workers or the engine that yields them: a row's fold follows from a
    hash of the row.

    Parameters
    ----------
    source : Source or what :func:`kernelknife.sources.open_source` takes
        Files, globs, relations of DuckDB, lazy frames of polars, queries, frames of Dask.
    target : str
        A column of numbers; for a loss of classes one of two values, numbers or texts.
    features : sequence of str, default=None
        None takes every column but the target, ``sample_weight``, ``groups`` and ``drop``.
    drop : sequence of str, default=()
        Columns to leave out.
    sample_weight : str, default=None
        A column with the weights of the rows.
    groups : str, default=None
        A column; rows with one value of it stay in one fold. Without it rows that are copies of
        each other do.
    exposure : str, default=None
        A column: for how long or how much a row was observed, for losses with a logarithmic link.
    kernel : {"additive", "linear"} or Kernel, default="additive"
        A kernel whose models are sums of curves, or lines, of single columns.
    loss : str or Loss, default="squared"
        A smooth loss of numbers or of two classes: "logistic", "squared_hinge", "poisson", "gamma",
        or any other from :mod:`kernelknife.losses`.
    alphas : float or sequence of float, default=(0.1, 10.0)
        Penalties on the norm of the model to compare.
    sparsities : int or sequence of float, default=40
        Number of penalties of a path, or the penalties themselves.
    rule : {"min", "1se"}, default="min"
        See :class:`KnifeRegressorCV`.
    relax : bool or "auto", default="auto"
        Whether models are refitted without the penalty on the weights; "auto" compares both.
    cv : int, default=5
        Number of folds.
    n_pairs : int, default=25
        Complementary pairs of half-samples that give the frequency of every feature.
    n_permutations : int, default=100
        Permuted targets that the strength of every feature is compared with, of a squared loss: the
        products that such targets would have are drawn. 0 compares nothing.
    pairs : int or sequence of (str, str), default=0
        Of how many features pairs are tested in one more scan: the selected ones, and then those
        that leave the path last; or which pairs.
    n_workers : int, default=None
        Blocks that are worked on at a time, fewer where memory_budget asks for it; None is one per
        processor.
    memory_budget : float, default=2**31
        Most bytes of the sums and of the blocks that are worked on.
    checkpoint : path, default=None
        A file that a killed run leaves and that the same call goes on from. It is removed when the
        selection is done.
    random_state : int, default=0
        Draws the half-samples.
    announce : callable, default=None
        What is told what will be done and where it is, such as ``print``.

    Returns
    -------
    StreamSelection
        The selected features, the model and how both were found.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import select_stream
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(2000, 8))
    >>> table = {f"x{j}": X[:, j] for j in range(8)}
    >>> table["y"] = np.sin(2 * X[:, 1]) + X[:, 4] ** 2
    >>> found = select_stream(table, "y", cv=3, n_pairs=3)
    >>> sorted(found.selected), found.n_scans
    (['x1', 'x4'], 2)
    """
    clock = [time.perf_counter()]
    source, kernel, loss = open_source(source), _check_kernel(kernel), _check_loss(loss, exposure)
    weightings = _check_options(rule, relax, cv, n_pairs, n_workers, memory_budget)
    check_number(n_permutations, "n_permutations", integer=True)
    grid = check_sparsities(sparsities)
    layout = _layout(source, target, features, drop, sample_weight, groups, exposure, kernel, loss)
    _check_pairs(pairs, layout)
    n_workers = n_workers or os.cpu_count() or 1
    n_cells, n_workers, memory = _plan(layout, kernel, cv, n_workers, memory_budget)
    _tell_plan(announce, source, layout, memory, n_workers, loss)
    question = repr((source.label, source.n_rows, layout, repr(kernel), n_cells))
    once = loss.constant_curvature and layout.exposure is None
    if not once:  # later scans depend on what the search has found in the ones before
        question += repr((loss, np.atleast_1d(alphas), grid, weightings, rule, cv))
    file = None if checkpoint is None else Path(checkpoint)
    scans = Scans(source, n_workers, announce, file, question)
    measured = partial(block_sketch, layout=layout)
    sketch: Sketch = scans.run("scan 1", measured, layout.columns, join_sketches)[0]
    data, expansion = prepare(sketch, layout, kernel, loss, n_cells)
    clock.append(time.perf_counter())
    search = SumSearch(
        spec=FitSpec.from_estimator(KnifeRegressor(kernel=kernel, random_state=random_state)),
        kernel_name=kernel if isinstance(kernel, str) else repr(kernel),
        alphas=[float(alpha) for alpha in np.atleast_1d(alphas)],
        sparsities=grid,
        weightings=weightings,
        rule=rule,
        n_folds=cv,
        n_pairs=n_pairs,
    )
    noise = None
    checked = partial(_check_cells, sketch=sketch, layout=layout, n_folds=cv)
    if once:
        summed = partial(block_products, layout=layout, expansion=expansion)
        cells = CellSums(*scans.run("scan 2", summed, layout.columns, join_products))
        checked(cells)
        clock.append(time.perf_counter())
        found = search_sums(cells, data, search)
        baseline = float(sketch.deviation[-1] ** 2)
        if n_permutations:
            noise = compare_with_noise(found.setup, n_permutations, LEVEL, random_state)
    else:
        found, baseline = search_by_newton(scans, layout, expansion, data, sketch, search, checked)
    clock.append(time.perf_counter())
    tested = search_pairs(pairs, scans, layout, expansion, found)
    scans.finish()
    names = ("scan 1", "scan 2", "search") if once else ("scan 1", "scans and search")
    seconds = dict(zip(names, np.diff(clock).tolist(), strict=True))
    facts = {"seconds": seconds, "n_scans": scans.n_scans, "memory": memory, "pairs": tested}
    return _as_selection(found, noise, baseline, layout, expansion, facts)


# -- before the first scan ------------------------------------------------------------------------


def _check_kernel(kernel: str | Kernel) -> Kernel:
    found = check_kernel(kernel)
    if not (found.convex and found.identity and found.form == "dot"):
        raise ValueError(
            f"A streamed selection needs the kernel 'additive' or 'linear', got {found!r}: other "
            "models are not determined by sums over the rows."
        )
    return found


def _check_loss(loss: Any, exposure: str | None) -> Loss:
    task = task_of_loss(loss)
    if task not in ("regression", "classification"):
        raise ValueError(
            f"A streamed selection needs a loss of numbers or of two classes, got {loss!r}: times "
            "until an event couple all rows."
        )
    loss = check_loss(loss, task)
    if loss.surrogate is not None or loss.needs_rows or loss.n_levels > 1:
        raise ValueError(
            f"A streamed selection needs a smooth loss, and {loss!r} has a corner: choose "
            "'squared_hinge' or 'logistic' for classes, 'huber' for numbers."
        )
    if exposure is not None and not loss.has_log_link:
        raise ValueError(
            f"An exposure is for losses with a logarithmic link, such as 'poisson', got {loss!r}."
        )
    return loss


def _check_options(
    rule: str, relax: Any, cv: Any, n_pairs: Any, n_workers: Any, memory_budget: Any
) -> tuple[str, ...]:
    """Return the weightings that are compared; raise where an option is out of range."""
    if rule not in RULES:
        raise ValueError(f"rule must be 'min' or '1se', got {rule!r}.")
    kinds = {False: (PENALIZED,), True: (RELAXED,), "auto": (PENALIZED, RELAXED)}
    if relax not in ("auto", True, False):
        raise ValueError(f"relax must be 'auto', True or False, got {relax!r}.")
    check_number(cv, "cv", low=2, integer=True)
    check_number(n_pairs, "n_pairs", integer=True)
    if n_workers is not None:
        check_number(n_workers, "n_workers", low=1, integer=True)
    check_number(memory_budget, "memory_budget", strict=True)
    return kinds[relax]


def _layout(
    source: Source,
    target: str,
    features: Sequence[str] | None,
    drop: Sequence[str],
    weight: str | None,
    groups: str | None,
    exposure: str | None,
    kernel: Kernel,
    loss: Loss,
) -> Layout:
    """Return which columns are read, and as what."""
    roles = {"the target": target, "the sample weight": weight, "the groups": groups}
    roles["the exposure"] = exposure
    roles |= {"a feature": None} | {f"feature {i + 1}": f for i, f in enumerate(features or ())}
    roles |= {f"column {i + 1} to drop": name for i, name in enumerate(drop)}
    for role, name in roles.items():
        if name is not None and name not in source.dtypes:
            raise RowsError(f"{source.label} has no column {name!r}, {role}.")
    if features is None:
        others = {target, weight, groups, exposure, *drop}
        features = [name for name in source.names if name not in others]
    if not features:
        raise RowsError(f"{source.label} has no column left to select from.")
    of_texts = loss.task == "classification" and source.dtypes[target] == "text"
    for name in (None if of_texts else target, weight, exposure):
        if name is not None and source.dtypes[name] != "number":
            raise RowsError(f"Column {name!r} holds {source.dtypes[name]}, not numbers.")
    for name in features:
        kind = source.dtypes[name]
        if kind == "text" and not kernel.expands:
            raise RowsError(
                f"Column {name!r} holds texts, which a linear model cannot take: drop it, or use "
                "kernel='additive'."
            )
        if kind not in ("number", "text"):
            raise RowsError(f"Column {name!r} holds {kind}, neither numbers nor texts: drop it.")
    texts = tuple(name for name in features if source.dtypes[name] == "text")
    return Layout(source.label, tuple(features), texts, target, weight, groups, exposure, of_texts)


def _check_pairs(pairs: Any, layout: Layout) -> None:
    if np.ndim(pairs) == 0:
        check_number(pairs, "pairs", integer=True)
        return
    for pair in pairs:
        if len(pair) != 2 or len(set(pair)) != 2 or not set(pair) <= set(layout.features):
            raise ValueError(f"A pair is the names of two features, got {pair!r}.")


def _plan(
    layout: Layout, kernel: Kernel, n_folds: int, n_workers: int, memory_budget: float
) -> tuple[int, int, int]:
    """Return the numbers of cells and of workers, and the bytes that they will take at most.

    A row's fold does not depend on how many cells a fold has: wide tables have fewer, and then
    fewer workers. Whether there are enough bytes is known before a row is read.
    """
    functions = int(getattr(kernel, "n_functions", 1)) if kernel.expands else 1
    width, n_columns = functions * len(layout.features) + 2, len(layout.columns)
    cells = [n_folds * CELLS_PER_FOLD >> halved for halved in range(CELLS_PER_FOLD.bit_length())]
    plans = [(n_cells, 1) for n_cells in cells]
    fitting = [p for p in plans if products_memory(n_columns, width, *p) <= memory_budget]
    n_cells = (fitting or plans[-1:])[0][0]
    while n_workers > 1 and products_memory(n_columns, width, n_cells, n_workers) > memory_budget:
        n_workers -= 1
    memory = products_memory(n_columns, width, n_cells, n_workers)
    if memory > memory_budget:
        raise ValueError(
            f"Blocks of rows and the sums of {width} functions take {number(memory / 2**30)} GiB, "
            f"over the budget of {number(memory_budget / 2**30)} GiB: raise memory_budget, lower "
            "n_functions of the kernel, or drop columns."
        )
    return n_cells, n_workers, memory


def _tell_plan(
    announce: Callable[[str], Any] | None,
    source: Source,
    layout: Layout,
    memory: int,
    n_workers: int,
    loss: Loss,
) -> None:
    if announce is not None:
        rows = "rows of unknown number" if source.n_rows is None else f"{source.n_rows:,} rows"
        scans = "2 scans" if loss.constant_curvature else "about 8 scans, one per Newton step,"
        announce(
            f"{rows} x {len(layout.features)} columns of {source.label}: {scans} by {n_workers} "
            f"workers, {number(memory / 2**20)} MiB for blocks and sums."
        )


# -- between the scans, and after them ------------------------------------------------------------


def _check_cells(cells: CellSums, *, sketch: Sketch, layout: Layout, n_folds: int) -> None:
    """Raise where the rows have changed between the scans, or make no folds."""
    if int(cells.n_rows.sum()) != sketch.n_rows:
        raise RowsError(
            f"{layout.label} had {sketch.n_rows:,} rows in the first scan and "
            f"{int(cells.n_rows.sum()):,} in the second: it has changed in between."
        )
    weights = np.bincount(np.arange(len(cells.weight)) % n_folds, cells.weight)
    if not weights.all():
        raise RowsError(
            f"Rows of {layout.label} are too few, or too many of them are copies, for {n_folds} "
            "folds: lower cv, or name a column that tells rows apart as groups."
        )


def _as_selection(
    found: Found,
    noise: NoiseLevels | None,
    baseline: float,
    layout: Layout,
    expansion: Expansion,
    facts: Mapping[str, Any],
) -> StreamSelection:
    result, data = found.result, found.setup.data
    kind = KnifeClassifier if expansion.classes else KnifeRegressor
    estimator = kind(
        kernel=found.setup.spec.kernel,
        loss=data.loss,
        alpha=found.candidate.alpha,
        sparsity=found.candidate.sparsity,
        relax=found.candidate.weighting == RELAXED,
    )
    nested = -found.nested_scores
    squared = data.loss.constant_curvature
    return StreamSelection(
        names=list(layout.features),
        weights=result.weights,
        frequency=data.user_values(found.frequency),
        estimator=fitted_with(estimator, result),
        error_name="mean squared error" if squared else f"mean loss, {data.loss!r}",
        error=float(nested.mean()),
        standard_error=float(nested.std(ddof=1) / np.sqrt(len(nested))),
        baseline_error=baseline,
        cv_results=found.table.as_results(),
        alpha=found.candidate.alpha,
        sparsity=found.candidate.sparsity,
        weighting=found.candidate.weighting,
        sparsities=np.array([point.sparsity for point in found.trace.points]),
        path=np.array([data.user_values(point.w) for point in found.trace.points]),
        levels=expansion.levels,
        n_rows=data.rows.shape[0],
        p_value=None if noise is None else noise.p_value,
        adjusted_p_values=None if noise is None else data.user_values(noise.p_values, 1.0),
        **facts,
    )
