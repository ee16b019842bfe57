"""From data frames without a target to an answer: one table explored, two tables related."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelknife._utils.versions import versions
from kernelknife.app.half_samples import column_frequencies, column_tiers
from kernelknife.app.options import ExploreOptions, RelateOptions, printed
from kernelknife.app.selection.record import (
    as_plain,
    describe_colors,
    describe_path,
    frame_of,
)
from kernelknife.app.tables import TableEncoder
from kernelknife.app.tables.unlabeled import read_features, read_pair
from kernelknife.canonical import KnifeCCA
from kernelknife.decomposition import KnifePCA

__all__ = ["Exploration", "Relation", "UnlabeledResult", "explore_table", "relate_tables"]

LEVEL = 0.05  # of the p-value of a finding


@dataclass(frozen=True, kw_only=True)
class UnlabeledResult:
    """What an exploration and a relation have in common: how they were made.

    Attributes
    ----------
    notes : tuple of str
        What was guessed or left out, for the user to read.
    settings : ExploreOptions or RelateOptions
        The arguments.
    versions : dict
        The versions of the software.
    seconds : float
        How long it took.
    """

    notes: tuple[str, ...]
    settings: Any
    versions: dict[str, str] = field(default_factory=versions)
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        raise NotImplementedError

    def to_frame(self, table: str = "columns") -> Any:
        """Return one of the tables of the answer as a pandas data frame.

        Parameters
        ----------
        table : str, default="columns"
            "columns" are the columns with weights, shares of the half-samples and tiers; see the
            key "tables" of ``to_json`` for others.

        Returns
        -------
        DataFrame
            The same numbers as in the report.
        """
        return frame_of(self.to_json()["tables"], table)

    def figures(self) -> dict[str, Any]:
        """Return the figures of the report by their names, drawn by matplotlib.

        Returns
        -------
        dict of Figure
            ``savefig`` writes one to a file.
        """
        from kernelknife.app.report import draw_figures

        return draw_figures(self.to_json())

    def _common_json(self, kind: str) -> dict[str, Any]:
        """Return what the plain data of both kinds of results have in common."""
        return {
            "schema": f"kernelknife.{kind}/1",
            "notes": list(self.notes),
            "kernel": str(self.model.kernel),  # type: ignore[attr-defined]
            "settings": {name: as_plain(value) for name, value in printed(self.settings).items()},
            "versions": self.versions,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True)
class Exploration(UnlabeledResult):
    """What the principal components of a table are made of.

    Attributes
    ----------
    model : KnifePCA
        The fitted components.
    encoder : TableEncoder
        From the columns of the table to those of the model.
    scores : ndarray of shape (n_rows, n_components)
        Scores of the rows.
    weights : dict of str to float
        Weight of every column of the table, the largest first.
    frequencies : dict of str to float
        Share of random half-samples of the rows in which a column has a weight.
    color : ndarray or None
        Value of the column that a picture is colored by, for every row.
    identifiers : DataFrame
        The columns of ``ids``, of the rows with scores.
    notes : tuple of str
        What was guessed or left out, for the user to read.
    settings, versions : ExploreOptions, dict
        The arguments, and the versions of the software.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import explore_table
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    >>> exploration = explore_table(frame, sparsity=0.1)
    >>> exploration.scores.shape
    (60, 2)
    """

    model: KnifePCA
    encoder: TableEncoder = field(repr=False)
    scores: np.ndarray = field(repr=False)
    weights: dict[str, float]
    frequencies: dict[str, float] = field(repr=False)
    color: np.ndarray | None = field(repr=False)
    identifiers: Any = field(repr=False)

    @property
    def selected(self) -> list[str]:
        """Names of the columns with a weight, the heaviest first."""
        return [name for name, weight in self.weights.items() if weight > 0]

    @property
    def sure(self) -> bool:
        """Whether the columns share more than independent columns would, as far as it was tested.

        It is tested where the penalty is chosen automatically.
        """
        return bool(getattr(self.model, "beyond_chance_", False))

    @property
    def tiers(self) -> dict[str, str]:
        """How sure the columns are, by their share of the half-samples; none without a finding."""
        return column_tiers(self.weights, self.frequencies) if self.sure else {}

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain data.

        Returns
        -------
        dict
            What ``json.dumps`` accepts.
        """
        model, path = self.model, None
        if hasattr(model, "path_"):
            found, firsts = model.path_, self.encoder.first_columns
            weights, ranking = found.weights[:, firsts], found.ranking[firsts]
            chosen = int(np.argmin(np.abs(found.sparsities - model.sparsity_)))
            path = describe_path(self.encoder.columns_, found.sparsities, weights, ranking, chosen)
        keys = ("columns", "lead", "spread")
        gap = [dict(zip(keys, map(float, row), strict=True)) for row in getattr(model, "gap_", ())]
        rows = [
            {"column": name, "weight": weight, "frequency": self.frequencies[name]}
            | {"tier": self.tiers.get(name, "")}
            for name, weight in self.weights.items()
        ]
        heads = [f"component_{i + 1}" for i in range(self.scores.shape[1])]
        scores = [dict(zip(heads, row, strict=True)) for row in self.scores.tolist()]
        tables = {"columns": rows, "scores": scores, "gap": gap}
        return {
            **self._common_json("exploration"),
            "path": path,
            "gap": gap,
            "tables": tables if path is None else {**tables, "path": path["points"]},
            "color": describe_colors(self.color),
            "beyond_chance": bool(getattr(model, "beyond_chance_", True)),
            "selected": self.selected,
            "finding": self.sure,
            "tiers": self.tiers,
            "frequencies": self.frequencies,
            "weights": self.weights,
            "explained_variance_ratio": model.explained_variance_ratio_.tolist(),
            "sparsity": float(model.sparsity_),
            "scores": self.scores.tolist(),
        }


@dataclass(frozen=True, kw_only=True)
class Relation(UnlabeledResult):
    """Which columns of two tables go together.

    Attributes
    ----------
    model : KnifeCCA
        The fitted pairs of scores.
    scores : pair of ndarray of shape (n_rows, n_components)
        Scores of the rows, one array per table.
    weights : pair of list of dict
        For each table and each pair of scores the weight of every column, the largest first.
    frequencies : pair of dict
        For each table the share of random half-samples in which a column is part of a pair.
    n_rows : int
        Number of rows that both tables have.
    notes : tuple of str
        What was guessed or left out.
    settings, versions : RelateOptions, dict
        The arguments, and the versions of the software.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import relate_tables
    >>> rng = np.random.default_rng(0)
    >>> first = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    >>> second = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("xyz"))
    >>> second["x"] += 3 * first["a"]
    >>> relation = relate_tables(first, second, n_components=1)
    >>> relation.selected(0), relation.selected(1)
    (['a'], ['x'])
    """

    model: KnifeCCA
    scores: tuple[np.ndarray, np.ndarray] = field(repr=False)
    weights: tuple[list[dict[str, float]], list[dict[str, float]]]
    frequencies: tuple[dict[str, float], dict[str, float]] = field(repr=False)
    n_rows: int

    def selected(self, table: int, component: int = 0) -> list[str]:
        """Return the columns of a table in a pair of scores, the heaviest first.

        Parameters
        ----------
        table : {0, 1}
            The first or the second table.
        component : int, default=0
            Number of the pair.

        Returns
        -------
        list of str
            Names of columns.
        """
        chosen = self.weights[table][component]
        return [name for name, weight in chosen.items() if weight > 0]

    @property
    def sure(self) -> bool:
        """Whether the first correlation holds on rows that were held out, at the 5 % level."""
        chances = getattr(self.model, "p_values_", None)
        return chances is not None and bool(chances[0] < LEVEL)

    def tiers(self, table: int, component: int = 0) -> dict[str, str]:
        """Return how sure the columns of a pair are, by their share of the half-samples.

        Parameters
        ----------
        table : {0, 1}
            The first or the second table.
        component : int, default=0
            Number of the pair.

        Returns
        -------
        dict of str to str
            Empty where the pair does not hold on held-out rows at the 5 % level.
        """
        chances = getattr(self.model, "p_values_", None)
        if chances is None or chances[component] >= LEVEL:
            return {}
        return column_tiers(self.weights[table][component], self.frequencies[table])

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain data.

        Returns
        -------
        dict
            What ``json.dumps`` accepts.
        """
        model = self.model
        pairs: list[dict[str, Any]] = []
        for i, correlation in enumerate(model.correlations_):
            pair = {
                "selected": [self.selected(0, i), self.selected(1, i)],
                "weights": [self.weights[0][i], self.weights[1][i]],
                "tiers": [self.tiers(0, i), self.tiers(1, i)],
                "correlation": float(correlation),
            }
            if hasattr(model, "p_values_"):
                pair["held_out_correlation"] = float(model.held_out_correlations_[i])
                pair["p_value"] = float(model.p_values_[i])
            pairs.append(pair)
        rows = [
            {"pair": i + 1, "table": k + 1, "column": name, "weight": weight}
            | {"frequency": self.frequencies[k][name], "tier": pair["tiers"][k].get(name, "")}
            for i, pair in enumerate(pairs)
            for k in (0, 1)
            for name, weight in pair["weights"][k].items()
        ]
        return {
            **self._common_json("relation"),
            "tables": {"columns": rows},
            "scores": [scores.tolist() for scores in self.scores],
            "sparsity": model.sparsities_.ravel().tolist(),
            "pairs": pairs,
            "finding": self.sure,
            "frequencies": list(self.frequencies),
            "rows": self.n_rows,
        }


def explore_table(
    frame: Any,
    *,
    color: str | None = None,
    group: str | None = None,
    blocks: int | None = None,
    drop: Any = (),
    ids: Any = (),
    levels: Any = (),
    log: Any = (),
    impute: str | None = None,
    drop_missing: bool = False,
    dates: Any = (),
    n_components: int = 2,
    kernel: Any = "rbf",
    sparsity: Any = "auto",
    n_features: int | None = None,
    random_state: int = 0,
    callbacks: Any = (),
) -> Exploration:
    """Find the columns of a data frame that share components, without a target.

    Parameters
    ----------
    frame : DataFrame
        One row per observation, one column per variable.
    color : str, default=None
        Column that is left out and colors the picture.
    group : str, default=None
        Column that is left out, and whose equal values mark rows that belong together: they are
        permuted together, where the components are compared with those of permuted columns.
    blocks : int, default=None
        Length of blocks of neighboring rows, for rows in the order of time.
    drop, ids, levels, log, impute, drop_missing, dates : as in select_features
        See :func:`kernelknife.app.selection.select_features`.
    n_components, kernel, sparsity : as in KnifePCA
        See :class:`kernelknife.KnifePCA`.
    n_features : int, default=None
        Number of columns to select, instead of a sparsity.
    random_state : int, default=0
        Seed of everything random.
    callbacks : sequence of callbacks, default=()
        Callbacks of scikit-learn, such as a progress bar.

    Returns
    -------
    Exploration
        The columns with a weight, and the scores of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernelknife.app.exploration import explore_table
    >>> wine = load_wine(as_frame=True).frame
    >>> found = explore_table(wine, color="target", n_features=3)
    >>> len(found.selected)
    3
    """
    begin = time.perf_counter()
    options = ExploreOptions(
        color=color, group=group, blocks=blocks, drop=drop, ids=ids, levels=levels, log=log,
        impute=impute, drop_missing=drop_missing, dates=dates, n_components=n_components,
        kernel=kernel, sparsity=sparsity, n_features=n_features, random_state=random_state,
    )  # fmt: skip
    read = read_features(frame, options)
    encoder, X = read.encoder, read.X
    model = KnifePCA(
        n_components,
        kernel,
        sparsity=sparsity,
        n_features_to_select=n_features,
        feature_groups=encoder.feature_groups_,
        feature_costs=encoder.feature_costs,
        blocks=blocks,
        random_state=random_state,
    )
    if callbacks:
        model.set_callbacks(*callbacks)
    scores = model.fit(X, groups=read.groups).transform(X)
    frequencies = _component_frequencies(model, X, read.groups, options)
    return Exploration(
        model=model,
        encoder=encoder,
        scores=scores,
        weights=_ranked(encoder, model.weights_),
        frequencies=_ranked(encoder, frequencies),
        color=read.color,
        identifiers=read.identifiers,
        notes=read.notes,
        settings=options,
        seconds=time.perf_counter() - begin,
    )


def relate_tables(
    left: Any,
    right: Any,
    *,
    on: str | None = None,
    group: str | None = None,
    blocks: int | None = None,
    drop: Any = (),
    ids: Any = (),
    levels: Any = (),
    log: Any = (),
    impute: str | None = None,
    drop_missing: bool = False,
    dates: Any = (),
    n_components: int = 1,
    kernel: Any = "rbf",
    sparsity: Any = "auto",
    hold_out: float = 0.25,
    random_state: int = 0,
    callbacks: Any = (),
) -> Relation:
    """Find the columns of two data frames that go together.

    Parameters
    ----------
    left, right : DataFrame
        The same rows in the same order, unless ``on`` joins them.
    on : str, default=None
        Column of both that names the rows; rows that only one of them has are left out.
    group : str, default=None
        Column of the first that is left out, and whose equal values mark rows that belong together:
        they are held out and permuted together. The p-value is that of independent rows without.
    blocks : int, default=None
        Length of blocks of neighboring rows, for rows in the order of time; see
        :class:`kernelknife.KnifeCCA`.
    drop, ids, levels, log, impute, drop_missing, dates : as in select_features
        Columns of either table.
    n_components, kernel, sparsity, hold_out : as in KnifeCCA
        See :class:`kernelknife.KnifeCCA`.
    random_state : int, default=0
        Seed of everything random.
    callbacks : sequence of callbacks, default=()
        Callbacks of scikit-learn, such as a progress bar.

    Returns
    -------
    Relation
        The pairs of scores, and the columns that make them.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import relate_tables
    >>> rng = np.random.default_rng(0)
    >>> first = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    >>> second = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("xyz"))
    >>> second["x"] += 3 * first["a"]
    >>> relation = relate_tables(first, second, n_components=1)
    >>> relation.selected(0), relation.selected(1)
    (['a'], ['x'])
    """
    begin = time.perf_counter()
    options = RelateOptions(
        on=on, group=group, blocks=blocks, drop=drop, ids=ids, levels=levels, log=log,
        impute=impute, drop_missing=drop_missing, dates=dates, n_components=n_components,
        kernel=kernel, sparsity=sparsity, hold_out=hold_out, random_state=random_state,
    )  # fmt: skip
    read = read_pair(left, right, options)
    encoders, tables = read.encoders, read.tables
    model = KnifeCCA(
        n_components,
        kernel,
        sparsity=sparsity,
        hold_out=hold_out,
        feature_groups=tuple(encoder.feature_groups_ for encoder in encoders),
        feature_costs=tuple(encoder.feature_costs for encoder in encoders),
        blocks=blocks,
        random_state=random_state,
    )
    if callbacks:
        model.set_callbacks(*callbacks)
    scores = model.fit(*tables, groups=read.groups).transform(*tables)
    of_columns = _pair_frequencies(model, tables, read.groups, options)
    of_left, of_right = (
        [_ranked(encoder, w) for w in pairs]
        for encoder, pairs in zip(encoders, (model.x_weights_, model.y_weights_), strict=True)
    )
    return Relation(
        model=model,
        scores=scores,
        weights=(of_left, of_right),
        frequencies=(_ranked(encoders[0], of_columns[0]), _ranked(encoders[1], of_columns[1])),
        n_rows=len(tables[0]),
        notes=read.notes,
        settings=options,
        seconds=time.perf_counter() - begin,
    )


def _component_frequencies(
    model: KnifePCA, X: np.ndarray, groups: Any, options: ExploreOptions
) -> np.ndarray:
    """Return the share of half-samples in which each column carries components beyond chance."""
    if not getattr(model, "beyond_chance_", False):
        return np.zeros(X.shape[1])

    def of_rows(rows: np.ndarray, of_groups: Any) -> np.ndarray:
        again = clone(model).set_params(blocks=None).fit(X[rows], groups=of_groups)
        return np.asarray(again.weights_ * again.beyond_chance_)

    return column_frequencies(of_rows, len(X), groups, options.blocks, options.random_state)


def _pair_frequencies(
    model: KnifeCCA, tables: tuple[np.ndarray, np.ndarray], groups: Any, options: RelateOptions
) -> list[np.ndarray]:
    """Return the share of half-samples in which each column of both tables is part of a pair."""
    n, n_left = len(tables[0]), model.n_features_in_
    if not (getattr(model, "p_values_", np.ones(1)) < LEVEL).any():
        return [np.zeros(table.shape[1]) for table in tables]
    again = clone(model).set_params(hold_out=0.0, blocks=None)

    def of_rows(rows: np.ndarray, of_groups: Any) -> np.ndarray:
        if not isinstance(options.sparsity, str):
            again.set_params(sparsity=options.sparsity * len(rows) / n)
        again.fit(*(table[rows] for table in tables))
        return np.hstack([again.x_weights_, again.y_weights_]).max(axis=0)

    both = column_frequencies(of_rows, n, groups, options.blocks, options.random_state)
    return [both[:n_left], both[n_left:]]


def _ranked(encoder: TableEncoder, weights: np.ndarray) -> dict[str, float]:
    """Return the weight of every column of a table, the largest first."""
    each = zip(encoder.columns_, weights[encoder.first_columns], strict=True)
    return {name: float(weight) for name, weight in sorted(each, key=lambda pair: -pair[1])}
