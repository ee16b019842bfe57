"""The target of a table: what kind it is, its values, and what stands beside it."""

from typing import Any

import numpy as np

from kernelknife._engine.data.survival import check_survival, survival_columns
from kernelknife._engine.policy import infer_task, task_of_loss
from kernelknife.app.messages import Hint, Message
from kernelknife.app.tables.columns import TableError, is_text

__all__ = ["exposure_values", "guess_task", "target_values", "times_and_events"]


def guess_task(values: Any, options: Any, notes: list[str]) -> str:
    """Return the task that the target suggests, with a note; a loss of numbers decides theirs.

    Parameters
    ----------
    values : Series
    options : TableOptions
    notes : list of str
        Takes what was guessed.
    """
    name, of_loss = options.target, task_of_loss(getattr(options, "loss", None))
    if getattr(options, "quantile", None) is not None:
        of_loss = "regression"
    if of_loss == "regression" and not is_text(values):
        return of_loss
    if is_text(values):
        notes.append(f"took the target {name} for {values.nunique()} classes")
        return "classification"
    task = infer_task(values.to_numpy(dtype=float))
    if task == "classification":
        kind, text, other = f"{values.nunique()} classes", "if it is a number", "regression"
    else:
        kind, text, other = "a number", "if its values are classes", "classification"
    hints = [Hint(f"{text}, use {{}}", {"task": other})]
    if _may_count(values):
        hints.append(Hint("if it counts something, use {}", {"loss": "poisson"}))
    notes.append(Message(f"took the target {name} for {kind}", *hints))
    return task


def _may_count(values: Any) -> bool:
    """Return whether a target of numbers may hold counts: whole, none negative, more than two."""
    numbers = values.to_numpy(dtype=float)
    return bool((numbers >= 0).all() and (numbers % 1 == 0).all() and len(np.unique(numbers)) > 2)


def target_values(values: Any, name: str, task: str) -> np.ndarray:
    """Return the target as an array; a target that the task cannot use is refused.

    Parameters
    ----------
    values : Series
    name : str
    task : {"regression", "classification"}
    """
    n_distinct = values.nunique()
    if n_distinct < 2:
        raise TableError(
            f"The target {name} has one value only ({values.iloc[0]}).",
            Hint("name another column to predict"),
        )
    if task == "regression":
        if is_text(values):
            raise TableError(
                f"The target {name} holds texts, which is no number to predict.",
                Hint("use {} if these are classes", {"task": "classification"}),
                Hint("name another column to predict"),
            )
        numbers: np.ndarray = values.to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            raise TableError(
                f"The target {name} has infinite values.", Hint("leave out or correct these rows")
            )
        return numbers
    if n_distinct > len(values) / 2:
        hints = [Hint("name another column if it is an identifier")]
        if not is_text(values):
            hints.insert(0, Hint("use {} if it is a number", {"task": "regression"}))
        raise TableError(
            f"The target {name} has {n_distinct} different values in {len(values)} rows, too many "
            "classes.",
            *hints,
        )
    return values.astype(str).to_numpy(dtype=str) if is_text(values) else values.to_numpy()


def exposure_values(column: Any, name: str) -> np.ndarray:
    """Return an exposure as numbers; one that is missing, not positive or a text is refused.

    Parameters
    ----------
    column : Series
    name : str
    """
    if is_text(column):
        raise TableError(
            f"The exposure {name} holds texts, and it is a positive number such as years.",
            Hint("name another column"),
        )
    values: np.ndarray = column.to_numpy(dtype=float, na_value=np.nan)
    for what, bad in (("missing", np.isnan(values)), ("infinite", np.isinf(values))):
        if bad.any():
            raise TableError(
                f"The exposure {name} is {what} in {_rows(bad)}.",
                Hint("fill it in"),
                Hint("leave these rows out of the table"),
            )
    bad = values <= 0
    if bad.any():
        raise TableError(
            f"The exposure {name} is zero or negative in {_rows(bad)}, and must be positive.",
            Hint("leave out rows that were not observed"),
        )
    return values


def _rows(marked: np.ndarray) -> str:
    """Return how many rows are marked, in words."""
    return _count(int(marked.sum()))


def _count(n: int) -> str:
    return f"{n} {'row' if n == 1 else 'rows'}"


def times_and_events(values: Any, events: Any, options: Any, notes: list[str]) -> np.ndarray:
    """Return times and events as the target of a survival model, with a note on how many.

    Parameters
    ----------
    values, events : Series
    options : TableOptions
    notes : list of str
        Takes how many events there are.
    """
    for name, column in ((options.target, values), (options.event, events)):
        if is_text(column):
            raise TableError(
                f"The column {name} holds texts: a time is a number, and an event is 1 where it "
                "was observed and 0 where the row is censored."
            )
    known = events.dropna()
    wrong, negative = known[~known.isin([0, 1])], values[values < 0]
    if len(wrong):
        raise TableError(
            f"The event {options.event} is neither 0 (censored) nor 1 (observed) in "
            f"{_count(len(wrong))}, such as {wrong.iloc[0]:g}.",
            Hint("name a column that is 0 or 1"),
        )
    if len(negative):
        raise TableError(
            f"The time {options.target} is negative in {_count(len(negative))} (the least is "
            f"{negative.min():g}), and times are counted from a beginning, 0.",
            Hint("name another column"),
            Hint("leave these rows out of the table"),
        )
    try:
        target = survival_columns(np.column_stack([values, events]).astype(float))
        check_survival(target, np.ones(len(target)))
    except ValueError as error:
        raise TableError(str(error)) from None
    n_events = int(target[:, 1].sum())
    notes.append(
        f"took {options.target} for the time until {options.event}, which was observed in "
        f"{n_events} of {len(target)} rows"
    )
    return target
