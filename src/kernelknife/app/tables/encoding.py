"""From the columns of a data frame to columns of numbers."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelknife._utils.messages import number
from kernelknife.app.tables.columns import (
    MISSING_LEVEL,
    TableError,
    as_numbers,
    as_texts,
    check_infinite,
    check_names,
    check_positive,
    first_text,
    is_ordered,
    is_text,
    listing,
    plain_numbers,
)
from kernelknife.app.tables.dates import expand_dates
from kernelknife.app.tables.target import exposure_values

# More levels than this are counted, so that rare ones become one. Below this number of rows nothing
# can be learned of a level; the limit of levels keeps the work of the longest columns in bounds.
MANY_LEVELS, FEWEST_ROWS, MOST_LEVELS = 30, 5, 200
OTHER_LEVEL = "(other)"

__all__ = ["TableEncoder", "new_gaps", "outside_range", "rows_to_predict", "unseen_levels"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a data frame into columns of numbers.

    A column of numbers stays as it is. A text column becomes one column of zeros and ones per
    level, where a level is one of the different texts in it. These columns share one weight (pass
    ``feature_groups_`` to an estimator), and the penalty on it is that of one column of numbers
    (pass ``feature_costs``). Of more than 30 levels those with fewer than 5 rows, and those beyond
    the 200 most frequent, are one level, which texts that the fit has not seen join. Ordered
    categories of pandas become numbers in their order.

    Parameters
    ----------
    impute : {None, "median"}, default=None
        ``"median"`` replaces missing numbers by the median of their column. None leaves them as
        NaN, which the estimators take. Missing texts are a level of their own.
    log : sequence of str, default=()
        Columns of positive numbers that become their natural logarithms.
    groups : dict of list of str, default=None
        Columns that share a weight, by the name of their group.

    Attributes
    ----------
    columns_ : list of str
        Names of the columns of the data frame, in order.
    levels_ : dict of list of str
        Levels of every text column.
    gaps_ : dict of int
        Number of missing values of every column that lacks some.
    medians_ : dict of float
        Median of every column of numbers, before a logarithm is taken.
    ranges_ : dict of (float, float)
        Least and largest value of every column of numbers.
    orders_ : dict of list of str
        Categories of every column of ordered categories, from the least on; they become numbers.
    feature_groups_ : ndarray of str
        For every column that comes out, what its weight is that of: the name of its group, or of
        the column that it came from.

    Notes
    -----
    Medians and levels come from all rows of the fit.
    :func:`kernelknife.app.selection.select_features` fits the encoder once, on all rows that are
    not held out, and splits these rows into folds afterwards. So a median includes the test rows of
    every fold, but never the target. One row moves a median by no more than the distance to the
    next value, so that errors over the folds hardly change. Rows held out are not part of the
    medians: where even that little matters, hold rows out.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.app.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [31, 45, 60], "sex": ["f", "m", "f"]})
    >>> TableEncoder().fit(frame).transform(frame)
    array([[31.,  1.,  0.],
           [45.,  0.,  1.],
           [60.,  1.,  0.]])
    """

    # Saved models name this class by its public path, so that they do not depend on the file
    # that it is defined in.
    __module__ = "kernelknife.app.tables"

    def __init__(self, impute=None, log=(), groups=None):
        self.impute = impute
        self.log = log
        self.groups = groups

    def fit(self, X, y=None):
        """Learn the levels of text columns and the medians of columns of numbers.

        Parameters
        ----------
        X : DataFrame
            The table of the features.
        y : ignored
            Not looked at; scikit-learn's pipelines pass it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_names(X.columns, "The table")
        self.columns_ = [str(name) for name in X.columns]
        self.levels_, self.medians_, self.ranges_ = {}, {}, {}
        self.orders_ = {}
        self.gaps_ = {str(name): int(n) for name, n in X.isna().sum().items() if n}
        plain, numbers = plain_numbers(X)
        self._measure(np.array(self.columns_, dtype=object)[plain], numbers)
        for place in np.flatnonzero(~plain):
            name = self.columns_[place]
            column = X.iloc[:, place]
            if is_ordered(column.dtype):
                self.orders_[name] = [str(value) for value in column.cat.categories]
            if is_text(column):
                self.levels_[name] = self._find_levels(column)
            else:
                self._measure([name], as_numbers(column)[:, None])
        owners = {name: group for group, mine in (self.groups or {}).items() for name in mine}
        self.feature_groups_ = np.array([owners.get(n, n) for n in self.origins], dtype=str)
        self.n_features_in_ = len(self.columns_)
        return self

    def _measure(self, names, numbers):
        """Learn the medians and the ranges of columns of numbers, where these are finite."""
        finite = np.isfinite(numbers)
        whole = finite.all(axis=0)
        medians = np.zeros(len(whole))
        medians[whole] = np.median(numbers[:, whole], axis=0)
        for place in np.flatnonzero(~whole):
            own = numbers[finite[:, place], place]
            medians[place] = np.median(own) if len(own) else 0.0
        low = np.where(finite, numbers, np.inf).min(axis=0)
        high = np.where(finite, numbers, -np.inf).max(axis=0)
        self.medians_.update(zip(names, medians.tolist(), strict=True))
        for name, least, most in zip(names, low.tolist(), high.tolist(), strict=True):
            if least <= most:
                self.ranges_[name] = (least, most)

    def _find_levels(self, column):
        """Return the different texts of a column, sorted, a level for rare and for missing ones."""
        texts = as_texts(column[column.notna()])
        names, counts = np.unique(texts.astype(str), return_counts=True)
        levels = names.tolist()
        if len(levels) > MANY_LEVELS:
            # Of equally frequent levels the first ones by name.
            order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
            kept = np.sort(order[counts[order] >= FEWEST_ROWS])
            if len(kept) < len(levels):
                levels = [*names[kept].tolist(), OTHER_LEVEL]
        if column.isna().any() and MISSING_LEVEL not in levels:
            levels.append(MISSING_LEVEL)
        return levels

    @property
    def origins(self):
        """For every column that comes out, the column of the data frame that it came from."""
        widths = [len(self.levels_.get(name, [name])) for name in self.columns_]
        return np.repeat(np.array(self.columns_, dtype=str), widths)

    @property
    def first_columns(self):
        """For every column of the data frame, the index of the first column that it becomes."""
        widths = [len(self.levels_.get(name, [name])) for name in self.columns_]
        return np.cumsum([0, *widths[:-1]]).tolist()

    @property
    def units(self):
        """What is selected as a whole: from its name to its columns of the data frame.

        A group is one, and every column that is in no group.
        """
        found: dict[str, list[str]] = {}
        for name, j in zip(self.columns_, self.first_columns, strict=True):
            found.setdefault(str(self.feature_groups_[j]), []).append(name)
        return found

    @property
    def first_of_units(self):
        """From the name of every unit to the index of the first column that it becomes."""
        firsts = dict(zip(self.columns_, self.first_columns, strict=True))
        return {name: firsts[columns[0]] for name, columns in self.units.items()}

    def places(self, names):
        """Return the numbers of the columns that some columns of the data frame become.

        Parameters
        ----------
        names : sequence of str
            Columns of the data frame.

        Returns
        -------
        list of int or None
            None where no names are given.
        """
        return np.flatnonzero(np.isin(self.origins, list(names))).tolist() or None

    @property
    def feature_costs(self):
        """For every column that comes out, its cost, such as ``feature_costs`` expects.

        The penalty on a weight is multiplied by the sum of the costs of the columns that share it.
        Here this sum is the number of columns of the data frame. Otherwise a text column of 30
        levels would have to be worth 30 times as much as a column of numbers to be selected.
        """
        _, column, counts = np.unique(self.origins, return_inverse=True, return_counts=True)
        return 1.0 / counts[column]

    def transform(self, X, needed=None):
        """Return the columns of numbers, one row per row of the data frame.

        Parameters
        ----------
        X : DataFrame
            It holds the columns of the fit in any order; further columns are ignored.
        needed : list of str, default=None
            Columns that the caller will use. All others may be absent and are returned as
            constants. None needs every column.

        Returns
        -------
        ndarray
            Numbers only, one row per row of the table.
        """
        check_is_fitted(self)
        needed = self.columns_ if needed is None else list(needed)
        absent = [name for name in needed if name not in X.columns]
        if absent:
            raise TableError(f"The table lacks columns that the model needs: {listing(absent)}.")
        check_infinite(X[needed])
        check_positive(X, [name for name in needed if name in self.log], fitted=True)
        wanted, texts = set(needed), self.levels_.keys() | self.orders_.keys()
        plain, numbers = plain_numbers(X[needed])
        at_once = {name: i for i, name in enumerate(np.array(needed, dtype=object)[plain])}
        parts = [
            self._filled(name, numbers[:, at_once[name]])
            if name in at_once and name not in texts
            else self._encode(name, X[name])
            if name in wanted
            else self._constant(name, len(X))
            for name in self.columns_
        ]
        return np.hstack(parts) if parts else np.empty((len(X), 0))

    def _constant(self, name, n_rows):
        """Return the columns of a name that will not be used."""
        width = len(self.levels_.get(name, [name]))
        return np.full((n_rows, width), self.in_scale_of(name, self.medians_.get(name, 0.0)))

    def _encode(self, name, column):
        """Return what a column of the data frame becomes, an array of one or more columns."""
        if name in self.levels_:
            return self._indicators(self.levels_[name], as_texts(column))
        if name in self.orders_ and not is_ordered(column.dtype):
            places = {text: float(i) for i, text in enumerate(self.orders_[name])}
            return np.array([[places.get(text, np.nan)] for text in as_texts(column)])
        if is_text(column):
            column = _booleans(column)
        if is_text(column):
            raise TableError(
                f"Column {name} holds texts ({first_text(column)}), but the model expects numbers."
            )
        return self._filled(name, as_numbers(column))

    def _filled(self, name, numbers):
        """Return a column of numbers as it comes out, its gaps filled where that was asked for."""
        if self.impute is not None:
            numbers = np.where(np.isnan(numbers), self.medians_[name], numbers)
        return self.in_scale_of(name, numbers)[:, None]

    def in_scale_of(self, name, values):
        """Return values of a column of numbers as they come out.

        Parameters
        ----------
        name : str
            A column of the data frame.
        values : float or ndarray
            As the data frame has them.

        Returns
        -------
        float or ndarray
            Logarithms where they were asked for.
        """
        return np.log(values) if name in self.log else values

    def in_units_of(self, name, values):
        """Return values of a column that came out as the data frame has them.

        Parameters
        ----------
        name : str
            A column of numbers of the data frame.
        values : ndarray
            As they came out.

        Returns
        -------
        ndarray
            Exponentials where the column became its logarithm.
        """
        return np.exp(values) if name in self.log else values

    def _indicators(self, levels, texts):
        """Return one column of zeros and ones per level."""
        places = {level: i for i, level in enumerate(levels)}
        # Without a level for the others, and for what is missing, a text is none of the known ones.
        other = places.get(OTHER_LEVEL, -1)
        column = np.array([places.get(text, other if text else -1) for text in texts], dtype=int)
        result = np.zeros((len(texts), len(levels)))
        known = np.flatnonzero(column >= 0)
        result[known, column[known]] = 1.0
        return result


def rows_to_predict(encoder, frame, dates, needed, exposure=None) -> dict:
    """Return what a model's ``predict`` takes of the rows of a data frame.

    Parameters
    ----------
    encoder : TableEncoder
    frame : DataFrame
    dates : dict
        What has become of columns of dates.
    needed : list of str
        Columns that the model uses, the exposure among them.
    exposure : str, default=None
        Column that counts are proportional to.
    """
    rows, columns = {}, [name for name in needed if name != exposure]
    if exposure is not None:
        if exposure not in frame.columns:
            raise TableError(
                f"The table lacks the exposure {exposure}: the model predicts counts in proportion "
                "to it. Add the column, with ones for rates."
            )
        rows["exposure"] = exposure_values(frame[exposure], exposure)
    return {"X": encoder.transform(expand_dates(frame, dates, columns), columns), **rows}


def _booleans(column):
    """Return texts that are all true or false as numbers, as a file without gaps has them."""
    values = column.map(lambda value: str(value).casefold(), na_action="ignore")
    numbers = values.map({"true": 1.0, "false": 0.0})
    return column if (numbers.isna() & column.notna()).any() else numbers.astype(float)


def new_gaps(encoder, X, needed) -> list[str]:
    """Return a sentence for every column that lacks values though no row of the fit did.

    Parameters
    ----------
    encoder : TableEncoder
    X : DataFrame
    needed : list of str
        Columns that the model uses.
    """
    notes = []
    for name in needed:
        count = int(X[name].isna().sum()) if name in X.columns else 0
        if count and name not in encoder.gaps_:
            counted = "none of the known ones" if name in encoder.levels_ else "the mean"
            notes.append(
                f"column {name}: {count} rows lack a value, which no training row did; they count "
                f"as {counted}"
            )
    return notes


def unseen_levels(encoder, X, needed) -> list[str]:
    """Return a sentence for every text column with texts that the fit has not seen.

    Parameters
    ----------
    encoder : TableEncoder
    X : DataFrame
    needed : list of str
        Columns that the model uses.
    """
    notes = []
    for name in needed:
        if name in encoder.levels_ and name in X.columns:
            texts = X[name].dropna().map(str)
            levels = encoder.levels_[name]
            new = texts[~texts.isin(levels)]
            if len(new):
                seen = "seldom or never" if OTHER_LEVEL in levels else "never"
                counted = OTHER_LEVEL if OTHER_LEVEL in levels else "none of the known ones"
                notes.append(
                    f"column {name}: {len(new)} rows hold values that the model has {seen} seen "
                    f"({listing(new.unique())}); they count as {counted}"
                )
    return notes


def outside_range(encoder, X, needed) -> list[str]:
    """Return a sentence for every column with numbers outside the range that the fit has seen.

    Parameters
    ----------
    encoder : TableEncoder
    X : DataFrame
    needed : list of str
        Columns that the model uses.
    """
    notes = []
    for name in needed:
        low, high = encoder.ranges_.get(name, (-np.inf, np.inf))
        if name not in X.columns or is_text(X[name]):
            continue
        values = as_numbers(X[name])
        outside = values[(values < low) | (values > high)]
        if len(outside):
            farthest = outside[np.argmax(np.maximum(low - outside, outside - high))]
            notes.append(
                f"column {name}: {len(outside)} of {len(values)} rows lie outside the range of the "
                f"training rows, {number(low)} to {number(high)}, the farthest at "
                f"{number(float(farthest))}; their predictions are guesses"
            )
    return notes
