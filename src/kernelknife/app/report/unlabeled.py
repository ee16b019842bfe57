"""The reports on tables without a target: one table explored, two tables related."""

from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np

from kernelknife._engine.policy import infer_task
from kernelknife._utils.messages import number
from kernelknife.app.exploration import Exploration, Relation, UnlabeledResult
from kernelknife.app.messages import as_code, in_python
from kernelknife.app.options import as_arguments, in_command
from kernelknife.app.report.elements import figure, percent, shorten, tier_pill
from kernelknife.app.report.page import html_page
from kernelknife.app.report.paths import path_piece
from kernelknife.app.report.pieces import target_kinds
from kernelknife.app.report.question import common_terms, notes_in_words, terms_piece
from kernelknife.app.report.svg import Axis, Chart

__all__ = ["build_exploration", "build_relation"]

MOST_ROWS = 40  # rows of a table of columns; the rest is counted
MOST_NAMED = 12  # columns that a sentence can name and still be read
MOST_DOTS = 1500  # more dots make the file large and the chart no clearer
ROUND_COUNTS = [k * 10**e for e in range(6) for k in (1, 2, 5)]  # ticks of an axis of counts
ROOM = 0.04  # at the ends of an axis, as a share of the range of the values
ABOUT_SCORES = (
    "Every dot is a row of the table, at its scores on the first two components. Rows that lie "
    "close together are alike in the selected columns."
)
ABOUT_ONE = "Every dot is a row of the table; the height is drawn by chance, to keep dots apart."
ABOUT_WEIGHTS = (
    "The weight is how much of a column the components use, between 0 and 1. A column stays "
    "because it shares something with other columns: one that only varies by itself leaves."
)
ABOUT_GAP = (
    "How much more of the variance the components explain than those of columns with the same "
    "values in random order. The fewest columns within one standard deviation of the best are "
    "taken."
)
ABOUT_PATHS = (
    "Raising the penalty drives columns out, the least useful first. Move the slider to see which "
    "are left."
)
ABOUT_PAIR = (
    "Every dot is a row: its score by the columns of the first table, and by those of the second. "
    "These rows were used to find the columns; the held-out figures above were not."
)


def build_exploration(
    exploration: Exploration, source: str | None = None, *, command: bool = False
) -> str:
    """Return the report on one table as an HTML page.

    Parameters
    ----------
    exploration : Exploration
        What :func:`kernelknife.app.exploration.explore_table` returned.
    source : str, default=None
        Where the data came from.
    command : bool, default=False
        Whether the page is for a user of the command, so that hints name its flags.

    Returns
    -------
    str
        A whole HTML page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import explore_table
    >>> from kernelknife.app.report import build_exploration
    >>> rng = np.random.default_rng(0)
    >>> side = rng.choice([-3.0, 3.0], size=60)
    >>> frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    >>> frame["a"] += side
    >>> frame["b"] += side
    >>> build_exploration(explore_table(frame, sparsity=1.0))[:15]
    '<!doctype html>'
    """
    model = exploration.model
    explained = [
        (percent(share), f"of the variance, component {i + 1}")
        for i, share in enumerate(model.explained_variance_ratio_)
    ]
    n_columns = len(exploration.weights)
    terms = {
        "data": source or "a data frame",
        "rows and columns": f"{len(exploration.scores)} rows, {n_columns} columns",
        "guessed or left out": _notes(exploration, command),
        "kernel": str(model.kernel),
        "sparsity": f"{number(float(model.sparsity_))} ({model.sparsity})",
        **common_terms(exploration),
    }
    code = (
        "from kernelknife.app.exploration import explore_table\n"
        "from kernelknife.app.tables import read_table\n\n"
        f"frame = read_table({as_code(source or 'data.csv')})\n"
        f"found = explore_table({', '.join(['frame', *as_arguments(exploration.settings)])})\n"
        "found.selected\n"
    )
    lead = _sentence(exploration.selected, "carry the components")
    if not getattr(model, "beyond_chance_", True):
        lead = "Nothing beyond chance: independent columns could share as much."
    body = _body(
        lead,
        [(f"{len(exploration.selected)} of {n_columns}", "columns carry them"), *explained],
        _exploration_sections(exploration),
        terms,
        code,
    )
    return html_page("What the columns have in common", body)


def _exploration_sections(exploration: Exploration) -> list[tuple[str, str]]:
    """Return headings and pieces of the report on one table."""
    model = exploration.model
    sections = [
        ("The rows by their components", _scores_chart(exploration)),
        (
            "The columns",
            f"<p>{ABOUT_WEIGHTS}</p>{_weights_table(exploration.weights, exploration.tiers)}",
        ),
    ]
    if hasattr(model, "gap_"):
        sections.append(("How many columns", f"<p>{ABOUT_GAP}</p>{_gap_chart(model.gap_)}"))
    if hasattr(model, "path_"):
        path, first = model.path_, exploration.encoder.first_columns
        piece = path_piece(
            exploration.encoder.columns_,
            path.sparsities,
            path.weights[:, first],
            path.ranking[first],
            chosen=int(np.argmin(np.abs(path.sparsities - model.sparsity_))),
        )
        sections.append(("Feature paths", f"<p>{ABOUT_PATHS}</p>{piece}"))
    return sections


def build_relation(
    relation: Relation, sources: tuple[str, str] | None = None, *, command: bool = False
) -> str:
    """Return the report on two tables as an HTML page.

    Parameters
    ----------
    relation : Relation
        What :func:`kernelknife.app.exploration.relate_tables` returned.
    sources : pair of str, default=None
        Where the data came from.
    command : bool, default=False
        Whether the page is for a user of the command, so that hints name its flags.

    Returns
    -------
    str
        A whole HTML page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernelknife.app.exploration import relate_tables
    >>> from kernelknife.app.report import build_relation
    >>> rng = np.random.default_rng(0)
    >>> first = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    >>> second = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("xyz"))
    >>> second["x"] += 3 * first["a"]
    >>> build_relation(relate_tables(first, second, n_components=1))[:15]
    '<!doctype html>'
    """
    model, correlations = relation.model, relation.model.correlations_
    names = sources or ("the first table", "the second table")
    sections = []
    for i in range(len(correlations)):
        tables = "".join(
            f"<h3>{escape(names[k])}</h3>"
            f"{_weights_table(relation.weights[k][i], relation.tiers(k, i))}"
            for k in (0, 1)
        )
        heading = "The pair of scores" if len(correlations) == 1 else f"Pair {i + 1}"
        chart = _pair_chart(relation, names, i)
        sections.append((heading, f"<p>{ABOUT_PAIR}</p>{chart}{tables}"))
    terms = {
        "data": f"{names[0]} and {names[1]}",
        "rows": str(relation.n_rows),
        "guessed or left out": _notes(relation, command),
        "kernel": str(model.kernel),
        "sparsity": ", ".join(number(float(s)) for s in model.sparsities_.ravel()),
        **common_terms(relation),
    }
    left, right = map(as_code, sources or ("a.csv", "b.csv"))
    on = relation.settings.on
    left, right = (f"{source}, texts=[{as_code(on)}]" if on else source for source in (left, right))
    arguments = ", ".join(["left", "right", *as_arguments(relation.settings)])
    code = (
        "from kernelknife.app.exploration import relate_tables\n"
        "from kernelknife.app.tables import read_table\n\n"
        f"left, right = read_table({left}), read_table({right})\n"
        f"found = relate_tables({arguments})\n"
        "found.selected(0), found.selected(1)\n"
    )
    cards = [(number(float(correlations[0])), "correlation on the rows of the fit")]
    if hasattr(model, "p_values_"):
        cards = [
            (number(float(model.held_out_correlations_[0])), "correlation on held-out rows"),
            (number(float(model.p_values_[0])), "p-value: chance of as much without a relation"),
            *cards,
        ]
    lead = _lead_of_relation(relation, names)
    return html_page("What two tables have in common", _body(lead, cards, sections, terms, code))


def _lead_of_relation(relation: Relation, names: tuple[str, str]) -> str:
    """Return the answer in a sentence, which claims stable columns alone."""
    tiers = [relation.tiers(k) for k in (0, 1)]
    stable = [[name for name, tier in mine.items() if tier == "stable"] for mine in tiers]
    sure = relation.sure and all(stable)
    claimed = stable if sure else [relation.selected(k) for k in (0, 1)]
    left, right = map(_listed, claimed)
    lead = f"{left} of {escape(names[0])} and {right} of {escape(names[1])} go together."
    if sure:
        return lead
    if relation.sure:
        return f"The tables go together, but which columns do is not sure. The best guess: {lead}"
    return f"No sure finding. The best guess: {lead}"


def _notes(result: UnlabeledResult, command: bool) -> str:
    """Return the notes of a result, spelled for the command or for Python."""
    return notes_in_words(result.notes, in_command if command else in_python)


def _body(lead: str, cards: Any, sections: Any, terms: dict[str, str], code: str) -> str:
    """Return the pieces of a page, each under its heading."""
    shown = "".join(
        f'<div class="card"><b>{escape(value)}</b><span>{escape(words)}</span></div>'
        for value, words in cards
    )
    sections = [
        *sections,
        ("What was asked", terms_piece(terms)),
        ("To do it again", f"<pre><code>{escape(code)}</code></pre>"),
    ]
    parts = [f'<p class="lead">{lead}</p><div class="cards">{shown}</div>']
    parts += [f"<h2>{escape(heading)}</h2>\n{piece}" for heading, piece in sections]
    return "\n".join(parts)


def _listed(names: list[str]) -> str:
    """Return names for a sentence, in bold."""
    words = ", ".join(f"<b>{escape(name)}</b>" for name in names[:MOST_NAMED])
    return words + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")


def _sentence(names: list[str], verb: str) -> str:
    count = "1 column" if len(names) == 1 else f"{len(names)} columns"
    if len(names) == 1:
        verb = verb.replace("carry", "carries")
    return f"{count} {verb}: {_listed(names)}."


def _weights_table(weights: dict[str, float], tiers: dict[str, str]) -> str:
    """Return the table of columns, those with a weight first; tiers where there is a finding."""
    shown = list(weights.items())[:MOST_ROWS]
    rows = []
    for name, weight in shown:
        kind = "" if weight > 0 else ' class="out"'
        bar = f'<span class="bar" style="width:{100 * min(weight, 1.0):.1f}%"></span>'
        rows.append(
            f'<tr{kind}><th scope="row">{escape(name)}</th><td class="weight">'
            f'<span class="track">{bar}</span> {number(weight)}</td>'
            + (f"<td>{tier_pill(tiers.get(name, ''))}</td>" if tiers else "")
            + "</tr>"
        )
    n_hidden = len(weights) - len(shown)
    sure = '<th scope="col">how sure</th>' if tiers else ""
    note = f"<p>{n_hidden} more columns are not shown.</p>" if n_hidden else ""
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table of columns"><table>'
        '<thead><tr><th scope="col">column</th><th scope="col">weight</th>'
        f"{sure}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _axis(values: np.ndarray, label: str) -> Axis:
    low, high = float(values.min()), float(values.max())
    room = ROOM * (high - low)
    return Axis(low - room, high + room, label=label)


def _dots(n: int) -> np.ndarray:
    """Return the rows that are drawn."""
    if n <= MOST_DOTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_DOTS, replace=False))


def _scores_chart(exploration: Exploration) -> str:
    """Return the rows at their scores, colored by the column that the options name."""
    scores = exploration.scores
    rows = _dots(len(scores))
    two = scores.shape[1] > 1
    x, about = scores[rows, 0], ABOUT_SCORES if two else ABOUT_ONE
    y = scores[rows, 1] if two else np.random.default_rng(0).uniform(size=len(rows))
    kinds, legend = ["dot c0"] * len(rows), ""
    title = "Rows at their scores on the first components"
    if exploration.color is not None:
        kinds, legend = _colors(exploration, rows)
        title += f", colored by {exploration.settings.color}"
    chart = Chart(
        _axis(x, "component 1"), _axis(y, "component 2" if two else ""), f"{title}.", height=420
    )
    chart.dots(x, y, kinds)
    return legend + figure(chart.render(), about)


def _colors(exploration: Exploration, rows: np.ndarray) -> tuple[list[str], str]:
    """Return the class of the style sheet of every row, and the legend."""
    values = np.asarray(exploration.color)
    missing = np.array([value is None or value != value for value in values])
    present, task = values[~missing], "classification"
    if infer_task(present) == "classification":
        names = [str(value) for value in present]
    elif missing.any():
        names = _in_parts(present.astype(float))
    else:
        names, task = present.astype(float), "regression"
    if missing.any():
        values = np.full(len(values), "missing", dtype=object)
        values[~missing] = names
        values = values.astype(str)
    else:
        values = np.asarray(names)
    named = SimpleNamespace(target=values, task=task, target_name=exploration.settings.color)
    return target_kinds(named, rows)


def _in_parts(values: np.ndarray) -> list[str]:
    """Return which of five parts of equal size each number is in, by its bounds."""
    bounds = np.quantile(values, np.linspace(0.0, 1.0, 6))
    codes = np.searchsorted(bounds[1:-1], values)
    return [f"{number(bounds[i])} to {number(bounds[i + 1])}" for i in codes]


def _gap_chart(gap: np.ndarray) -> str:
    """Return the lead over permuted columns against the number of columns."""
    counts, lead, spread = gap.T
    low, high = float((lead - spread).min()), float((lead + spread).max())
    ticks = [(float(k), str(k)) for k in ROUND_COUNTS if k <= counts.max()]
    chart = Chart(
        Axis(0.9, 1.1 * counts.max(), log=True, label="columns", ticks=ticks),
        Axis(min(low, 0.0), high, label="lead in explained variance"),
        "Lead in explained variance over permuted columns, by the number of columns.",
        height=260,
    )
    order = np.argsort(counts, kind="stable")
    counts, lead, spread = counts[order], lead[order], spread[order]
    for count, value, width in zip(counts, lead, spread, strict=True):
        chart.line([count, count], [value - width, value + width], "line gray")
    chart.dots(counts, lead, ["dot c0"] * len(counts), radius=4.0)
    return figure(chart.render(), "The bars are one standard deviation over the permutations.")


def _pair_chart(relation: Relation, names: tuple[str, str], component: int) -> str:
    """Return the two scores of every row against each other."""
    rows = _dots(relation.n_rows)
    x, y = (scores[rows, component] for scores in relation.scores)
    correlation = number(float(relation.model.correlations_[component]))
    chart = Chart(
        _axis(x, f"score by {shorten(names[0], 34)}"),
        _axis(y, f"score by {shorten(names[1], 30)}"),
        f"Scores of the second table against those of the first, correlation {correlation}.",
        height=420,
    )
    chart.dots(x, y, ["dot c0"] * len(rows))
    return figure(chart.render(), f"Correlation {correlation} over these rows.")
