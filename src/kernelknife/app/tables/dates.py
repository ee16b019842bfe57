"""Columns of dates: recognizing them, and turning them into numbers.

Only the user knows which numbers are meant: days since the first date show a trend, the month shows
a season. A plan has an entry for every column of dates; it is plain data, so that a saved model
keeps it and new rows are turned into numbers in the same way.
"""

import numpy as np

from kernelknife._utils.messages import import_optional
from kernelknife.app.messages import Hint
from kernelknife.app.tables.columns import TableError, first_text, is_text, leave_out, listing

__all__ = ["PARTS", "expand_dates", "has_dates", "looks_like_dates", "plan_dates", "row_order"]

PARTS = ("days", "year", "month")
ROWS_FOR_DATES = 50  # enough rows to recognize dates, and quick in long tables
# How dates are written as text: 2024-12-31, 31.12.2024, 12/31/2024 or 31/12/2024, 31 Dec 2024 or
# 31-December-2024, with or without a time of the day after a blank or a T.
ISO = r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T].*)?$"
DAY_FIRST = r"^\d{1,2}\.\d{1,2}\.\d{2,4}([ T].*)?$"
SLASHED = r"^(\d{1,2})/(\d{1,2})/\d{2,4}([ T].*)?$"
MONTHS = (
    "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|"
    "nov(ember)?|dec(ember)?"
)
NAMED = rf"(?i)^\d{{1,2}}[ -]({MONTHS})[ -]\d{{4}}([ T].*)?$"
FORMS = (ISO, DAY_FIRST, SLASHED, NAMED)
LAST_MONTH = 12
SECONDS_OF_A_DAY = 86400.0


def looks_like_dates(column) -> bool:
    """Return whether a column holds dates or times, or texts that are written like dates."""
    if column.dtype.kind in "Mm":
        return True
    if column.dtype.kind in "biufc":
        return False
    texts = column.dropna().astype(str).head(ROWS_FOR_DATES)
    return len(texts) > 0 and any(bool(texts.str.match(form).all()) for form in FORMS)


def plan_dates(frame, parts) -> dict:
    """Return what becomes of every column of dates.

    Parameters
    ----------
    frame : DataFrame
    parts : sequence of {"days", "year", "month"}
        Each gives a column of its own.

    Returns
    -------
    dict
        From the name of a column to its parts, the day from which days are counted, and whether
        the day stands before the month in dates with slashes.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise TableError(f"Dates can become {', '.join(PARTS)}, got {unknown[0]!r}.")
    plan = {}
    for name in frame.columns:
        if not looks_like_dates(frame[name]):
            continue
        day_first = _day_first(frame[name], name)
        moments, first = _moments(frame[name], name, day_first, leave_out(name)), None
        if moments.dtype.kind == "M":
            first = str(moments.min())
        plan[name] = {"parts": list(dict.fromkeys(parts)), "first": first, "day_first": day_first}
    if not plan:
        raise TableError(
            f"Dates are to become {', '.join(parts)}, but no column holds dates: "
            f"{listing(frame.columns)}."
        )
    return plan


def has_dates(frame) -> bool:
    """Return whether some column of a data frame holds dates."""
    return any(looks_like_dates(frame[name]) for name in frame.columns)


def expand_dates(frame, plan, selected=None):
    """Return a data frame in which columns of dates have become numbers, with new names.

    Parameters
    ----------
    frame : DataFrame
    plan : dict
        What :func:`plan_dates` has returned. Columns that are absent are skipped.
    selected : list of str, default=None
        New names that are wanted; dates that none of them comes from stay as they are, also where
        they cannot be read. None takes all dates.
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading dates")
    for name, what in plan.items():
        unused = selected is not None and not any(new.startswith(f"{name} (") for new in selected)
        if name not in frame.columns or unused:
            continue
        moments = _moments(frame[name], name, what["day_first"])
        place = list(frame.columns).index(name)
        frame = frame.drop(columns=[name])
        for part in what["parts"]:
            if moments.dtype.kind == "m":
                part, values = "days", moments.dt.total_seconds() / SECONDS_OF_A_DAY
            elif part == "days":
                first = pandas.Timestamp(what["first"])
                values = (moments - first).dt.total_seconds() / SECONDS_OF_A_DAY
            else:
                values = getattr(moments.dt, part).astype(float)
            new = f"{name} ({part})"
            if new not in frame.columns:
                frame.insert(place, new, values)
                place += 1
    return frame


def row_order(column, name) -> np.ndarray:
    """Return the order of rows in time; rows of the same time keep theirs.

    Parameters
    ----------
    column : Series
        Dates, or numbers such as years.
    name : str
    """
    gaps = int(column.isna().sum())
    if gaps:
        raise TableError(
            f"The time of the rows, {name}, is missing in {gaps} {'row' if gaps == 1 else 'rows'}.",
            Hint("fill it in"),
            Hint("leave these rows out of the table"),
        )
    if looks_like_dates(column):
        column = _moments(column, name, _day_first(column, name))
    elif is_text(column):
        raise TableError(
            f"The column {name} does not show the order of the rows: it holds texts "
            f"({first_text(column)}).",
            Hint("name a column of dates, such as 2024-12-31, or of numbers"),
        )
    return column.argsort(kind="stable").to_numpy()


def _moments(column, name, day_first, *hints):
    """Return a column of dates as pandas' times; durations stay durations.

    Every cell is read by its own form. Only of dates with slashes is the order of day and month
    that of the column the plan was made for, or that of this column where the plan had none.
    """
    pandas = import_optional("pandas", "kernelknife[cli]", "Reading dates")
    if column.dtype.kind == "m":
        return column
    if column.dtype.kind != "M":
        texts = column.astype("string")
        if day_first is None:
            day_first = _day_first(column, name)
        day_leads = texts.str.match(DAY_FIRST, na=False)
        if day_first:
            day_leads |= texts.str.match(SLASHED, na=False)
        try:
            column = pandas.to_datetime(texts.where(~day_leads), format="mixed")
            if day_leads.any():
                others = pandas.to_datetime(texts[day_leads], dayfirst=True, format="mixed")
                column = column.where(~day_leads, others.reindex(column.index))
        except (ValueError, OverflowError) as error:
            first = _first_that_fails(texts, pandas)
            raise TableError(
                f"Column {name} holds texts that are no dates ({first}).",
                Hint("correct them"),
                *hints,
            ) from error
    zone = getattr(column.dt, "tz", None)
    return column if zone is None else column.dt.tz_localize(None)


def _first_that_fails(texts, pandas):
    """Return the first text that is no date."""
    moments = pandas.to_datetime(texts, errors="coerce", format="mixed")
    wrong = texts[moments.isna() & texts.notna()]
    return repr(wrong.iloc[0]) if len(wrong) else "out of range"


def _day_first(column, name):
    """Return whether the day stands before the month in dates with slashes, None without such.

    A column where that cannot be known is refused.
    """
    if column.dtype.kind in "mM":
        return None
    texts = column.dropna().astype("string")
    slashed = texts.str.extract(SLASHED)[[0, 1]].dropna().astype(int)
    if not len(slashed):
        return None
    first, second = (slashed[i].max() > LAST_MONTH for i in (0, 1))
    if first == second:
        raise TableError(
            f"Column {name} holds dates such as {texts.iloc[0]!r}, which do not show whether the "
            "day or the month comes first. Write them as 2024-12-31."
        )
    return bool(first)
