"""Models that other programs compute: curves as tables, a formula of SQL, predictions of files.

A linear or additive model is a constant and a sum of one curve per selected column, and each curve
is a line or straight between few points. :func:`to_tables` returns these curves on the scales of
the user, and :func:`to_sql` writes them as one expression that any database computes.
:func:`predict_batches` writes the predictions of any model, block by block.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.grouping import column_names
from kernelknife._streaming.source import column_of, numbers_of
from kernelknife._utils.files import check_writable
from kernelknife._utils.messages import import_optional
from kernelknife.sources import open_source

__all__ = [
    "CurveTables",
    "predict_batches",
    "to_polars",
    "to_sql",
    "to_tables",
    "trusted_types",
]

_TYPES = {
    "_base": ("fitted_at",),
    "_components.principal": ("components_at",),
    "_engine.data.arrays": ("ArrayRows",),
    "_engine.data.columns": ("Columns",),
    "_engine.data.grouping": ("Grouping",),
    "_engine.data.prepare": ("TrainingData",),
    "_engine.data.targets": ("SurvivalEncoder", "TargetEncoder"),
    "_engine.effects": ("EffectMoments",),
    "_engine.fit": ("Setup",),
    "_engine.model": ("Model",),
    "_engine.objective.coefficients": ("Quadratic",),
    "_engine.objective.exact": ("ExactProblem",),
    "_engine.objective.features": ("Features", "Subset"),
    "_engine.objective.nystrom": ("NystromProblem",),
    "_engine.objective.primal": ("PrimalProblem", "PrimalSums"),
    "_engine.search.path": ("Trace",),
    "_engine.search.starts": ("Start",),
    "_engine.solvers.alternate": ("Alternate",),
    "_engine.solvers.base": ("Outcome", "Solution"),
    "_engine.solvers.eliminate": ("Eliminate",),
    "_engine.spec": ("FitSpec",),
    "_table_base": ("fitted_at",),
    "_tuning.candidates": ("Candidate", "CandidatePath"),
    "_tuning.probabilities": ("ProbabilityMap",),
    "canonical": ("KnifeCCA",),
    "cross_validation": ("KnifeClassifierCV", "KnifeRegressorCV"),
    "decomposition": ("KnifePCA",),
    "discriminant": ("KnifeDiscriminant",),
    "estimators": ("KnifeClassifier", "KnifeRegressor"),
    "kernels": (
        *("Additive", "Anova", "Joint", "Laplace", "Linear", "Matern", "Polynomial", "RBF"),
        *("RationalQuadratic", "Sigmoid"),
    ),
    "kernels.basis": ("Basis",),
    "knockoffs": ("KnifeKnockoffs",),
    "losses.base": ("PointwiseRisk",),
    "losses.classes": ("Hinge", "HuberizedHinge", "LogisticLoss", "SquaredHinge"),
    "losses.counts": ("GammaLoss", "NegativeBinomialLoss", "PoissonLoss", "TweedieLoss"),
    "losses.numbers": ("HuberLoss", "SquaredLoss"),
    "losses.quantiles": ("ExpectileLoss", "QuantileLoss", "SmoothQuantileLoss"),
    "losses.survival": ("Baseline", "CoxLoss", "CoxRisk", "_Moments"),
    "path": ("PathResult",),
    "stability": ("KnifeStability",),
    "survival": ("KnifeSurvival",),
    "survival_cv": ("KnifeSurvivalCV",),
}


def trusted_types() -> list[str]:
    """Return what files of skops with fitted estimators of this package hold, by name.

    Saved are parameters and arrays, and none of these types runs code of a file. One of them is not
    ours, ``functools.partial``; what it calls has to be on the list, too.

    Returns
    -------
    list of str
        The argument ``trusted`` of ``skops.io.load``. Own kernels and losses are added to it.

    Examples
    --------
    >>> import numpy as np
    >>> import skops.io
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.export import trusted_types
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = KnifeRegressor("linear", sparsity=1.0).fit(X, X[:, 1])
    >>> again = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    names = (f"kernelknife.{module}.{name}" for module in _TYPES for name in _TYPES[module])
    return ["functools.partial", *names]


@dataclass(frozen=True, eq=False)
class CurveTables:
    """A linear or additive model as a constant and tables of curves.

    Attributes
    ----------
    constant : float
    columns : list of str
        The selected columns.
    positions : list of ndarray, or of list of str
        By column: increasing values, or the texts that a column may hold. Two values are a line,
        which goes on beyond them where the model is linear.
    values : list of ndarray
        By column: what it adds to the prediction at these values; straight lines lie between them.
    linear : bool
        Whether curves go on beyond their ends; else they stay at their last value.
    others : list of float
        By column: what a text adds that is not in the table; unused for numbers.
    logarithm : bool
        Whether constant and curves add up to the logarithm of the prediction, as for counts.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.export import to_tables
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> tables = to_tables(KnifeRegressor(kernel="linear", sparsity=5.0).fit(X, X[:, 1]))
    >>> tables.columns
    ['x1']
    >>> tables.predict({"x1": [0.0, 1.0]}).round(1)
    array([0., 1.])
    """

    constant: float
    columns: list[str]
    positions: list[Any]
    values: list[np.ndarray]
    linear: bool
    others: list[float]
    logarithm: bool = False

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions: the constant and the curves, added up, or the exponential of that.

        Parameters
        ----------
        X : DataFrame or dict
            From names to columns.

        Returns
        -------
        ndarray of shape (n_rows,)
            For a classifier of two classes the scores, positive for the second class; for counts
            those of an exposure of 1.
        """
        total: Any = self.constant
        for name, at, values, other in zip(
            self.columns, self.positions, self.values, self.others, strict=True
        ):
            column = np.asarray(X[name])
            if isinstance(at, list):
                known = dict(zip(at, values.tolist(), strict=True))
                total = total + np.array([known.get(str(text), other) for text in column])
            elif self.linear:
                slope = (values[1] - values[0]) / (at[1] - at[0])
                total = total + values[0] + (column - at[0]) * slope
            else:
                total = total + np.interp(column, at, values)
        return np.asarray(np.exp(total) if self.logarithm else total)

    def to_sql(self) -> str:
        """Return the model as one expression of SQL.

        Returns
        -------
        str
            It uses ``CASE``, comparisons and arithmetic alone, for counts and amounts ``EXP``, too.
            A missing value gives NULL.
        """
        terms = [_number(self.constant)]
        for name, at, values, other in zip(
            self.columns, self.positions, self.values, self.others, strict=True
        ):
            column = '"' + name.replace('"', '""') + '"'
            if isinstance(at, list):
                cases = [
                    f"WHEN {_text(text)} THEN {_number(value)}"
                    for text, value in zip(at, values, strict=True)
                ]
                missing = f"WHEN {column} IS NULL THEN NULL"
                inner = f"CASE {column} {' '.join(cases)} ELSE {_number(other)} END"
                terms.append(f"CASE {missing} ELSE {inner} END")
            elif self.linear:
                slope = (values[1] - values[0]) / (at[1] - at[0])
                line = f"({column} - ({_number(at[0])})) * ({_number(slope)})"
                terms.append(f"({_number(values[0])} + {line})")
            else:
                terms.append(_piecewise(column, at, values))
        total = "\n + ".join(terms)
        return f"EXP({total})" if self.logarithm else total

    def to_frame(self) -> Any:
        """Return all tables one below the other.

        Returns
        -------
        DataFrame
            Columns ``column``, ``position`` and ``value``; the constant has no column's name.
        """
        pandas = import_optional("pandas", "kernelknife[data]", "A data frame of curves")
        rows: list[tuple[str, Any, float]] = [("", None, self.constant)]
        for name, at, values in zip(self.columns, self.positions, self.values, strict=True):
            rows += [(name, p, float(v)) for p, v in zip(at, values, strict=True)]
        return pandas.DataFrame(rows, columns=["column", "position", "value"])


def _number(value: float) -> str:
    """Return a number of SQL that is a DOUBLE and has all digits."""
    text = f"{float(value):.17e}"
    return text if value >= 0 else f"({text})"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _piecewise(column: str, at: np.ndarray, values: np.ndarray) -> str:
    """Return a curve of straight lines, by bisection: a database compares a handful of times."""

    def between(low: int, high: int) -> str:
        if high - low == 1:
            slope = (values[high] - values[low]) / (at[high] - at[low])
            step = f"({column} - {_number(at[low])}) * {_number(slope)}"
            return f"{_number(values[low])} + {step}"
        middle = (low + high) // 2
        left, right = between(low, middle), between(middle, high)
        return f"CASE WHEN {column} <= {_number(at[middle])} THEN {left} ELSE {right} END"

    inside = between(0, len(at) - 1)
    return (
        f"CASE WHEN {column} <= {_number(at[0])} THEN {_number(values[0])} "
        f"WHEN {column} >= {_number(at[-1])} THEN {_number(values[-1])} "
        f"WHEN {column} IS NULL THEN NULL ELSE {inside} END"
    )


def to_tables(model: Any) -> CurveTables:
    """Return the curves of a linear or additive model, on the scales of the user.

    Parameters
    ----------
    model : fitted estimator or StreamSelection
        With one output, or two classes.

    Returns
    -------
    CurveTables
        Curves that add up to the prediction of a regressor, or to the scores of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.export import to_tables
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 6))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 3] ** 2
    >>> model = KnifeRegressor(kernel="additive", sparsity=15.0).fit(X, y)
    >>> tables = to_tables(model)
    >>> tables.columns
    ['x0', 'x3']
    >>> new = {f"x{j}": X[:, j] for j in range(6)}
    >>> bool(np.allclose(tables.predict(new), model.predict(X)))
    True
    """
    levels = getattr(model, "levels", {})
    model = getattr(model, "estimator", model)
    model = getattr(model, "best_estimator_", model)
    check_is_fitted(model)
    curves = model.sum_of_curves()
    if curves is None:
        raise TypeError(
            f"{model!r} is no sum of curves of single columns: only models with the kernel "
            "'linear' or 'additive', one output, and no link but the logarithm are sums of curves."
        )
    names = column_names(getattr(model, "feature_names_in_", None), model.n_features_in_)
    tables = CurveTables(curves.constant, [], [], [], curves.linear, [], curves.logarithm)
    for j, at, values in zip(curves.columns, curves.positions, curves.values, strict=True):
        name = str(names[j])
        texts = levels.get(name)
        tables.columns.append(name)
        if texts is None:
            kept = np.concatenate([[True], np.diff(at) > 0])
            tables.positions.append(at[kept])
            tables.values.append(values[kept])
            tables.others.append(np.nan)
        else:
            tables.positions.append(list(texts))
            tables.values.append(values[1:])
            tables.others.append(float(values[0]))
    return tables


def to_sql(model: Any) -> str:
    """Return a linear or additive model as one expression of SQL.

    Parameters
    ----------
    model : fitted estimator or StreamSelection
        See :func:`to_tables`.

    Returns
    -------
    str
        To stand in a ``SELECT``; names of columns are in double quotes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> from kernelknife.export import to_sql
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> sql = to_sql(KnifeRegressor(kernel="linear", sparsity=5.0).fit(X, X[:, 1]))
    >>> '"x1" - ' in sql, '"x0"' in sql
    (True, False)
    """
    return to_tables(model).to_sql()


def to_polars(model: Any) -> Any:
    """Return an expression of polars that predicts.

    Parameters
    ----------
    model : fitted estimator or StreamSelection
        Of any kernel; its columns have names.

    Returns
    -------
    polars.Expr
        For ``with_columns`` of a frame or of a lazy frame.

    Examples
    --------
    >>> frame.with_columns(y=to_polars(model))  # doctest: +SKIP
    """
    polars = import_optional("polars", "kernelknife[sources]", "An expression of polars")
    names = _names_of(model)

    def predict(columns: Any) -> Any:
        frame = columns.struct.unnest()
        return polars.Series(_predicted(model, {name: frame[name] for name in names}))

    struct = polars.struct(names)
    return struct.map_batches(predict, return_dtype=polars.Float64, is_elementwise=True)


def predict_batches(
    model: Any,
    source: Any,
    output: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    name: str = "prediction",
) -> int:
    """Write the predictions for all rows of a source to a Parquet file, block by block.

    The file is there when all of it is written, or not at all.

    Parameters
    ----------
    model : fitted estimator or StreamSelection
        Of any kernel; its columns have names.
    source : Source or what :func:`kernelknife.sources.open_source` takes
        Rows with the columns of the model.
    output : path
        Of the Parquet file.
    keep : sequence of str, default=()
        Columns of the source to write beside the predictions.
    name : str, default="prediction"
        Of the column of predictions.

    Returns
    -------
    int
        Number of rows.

    Examples
    --------
    >>> predict_batches(model, "new/*.parquet", "scored.parquet", keep=["id"])  # doctest: +SKIP
    1000000
    """
    arrow = import_optional("pyarrow", "pyarrow", "A Parquet file")
    parquet = import_optional("pyarrow.parquet", "pyarrow", "A Parquet file")
    check_writable(output)
    source, names = open_source(source), _names_of(model)
    absent = [column for column in [*names, *keep] if column not in source.names]
    if absent:
        raise ValueError(f"{source.label} lacks the column {absent[0]!r}.")
    destination = Path(os.path.realpath(output))
    temporary = destination.with_name(f".kernelknife-{secrets.token_hex(8)}.tmp")
    writer, n_rows = None, 0
    try:
        for block in source.checked_blocks(list(dict.fromkeys([*names, *keep]))):
            columns = {column: column_of(block, column) for column in names}
            predicted = _predicted(model, columns)
            kept = {column: column_of(block, column) for column in keep}
            table = arrow.table({**kept, name: predicted})
            writer = writer or parquet.ParquetWriter(temporary, table.schema)
            writer.write_table(table)
            n_rows += len(predicted)
        if writer is None:
            raise ValueError(f"{source.label} has no rows.")
        writer.close()
        temporary.replace(destination)
    finally:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)
    return n_rows


def _names_of(model: Any) -> list[str]:
    inner = getattr(model, "estimator", model)
    check_is_fitted(inner)
    if not hasattr(inner, "feature_names_in_"):
        raise ValueError("The model was fitted on columns without names: fit it on a data frame.")
    return [str(name) for name in inner.feature_names_in_]


def _predicted(model: Any, columns: dict[str, Any]) -> np.ndarray:
    """Return the predictions for columns of any library."""
    if hasattr(model, "estimator"):
        return np.asarray(model.predict(columns))
    X = np.column_stack([numbers_of(columns[name], name, "the rows") for name in columns])
    return np.asarray(model.predict(ArrayRows(X, names=np.array(list(columns), dtype=object))))
