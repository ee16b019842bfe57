"""Draw the picture of what error rates promise: ``python docs/images/draw_error_rates.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeKnockoffs, KnifeRegressor, KnifeStability

HERE = Path(__file__).parent
STABILITY, KNOCKOFFS = "#0072B2", "#D55E00"
ROWS, COLUMNS, TRUE = 300, 40, 14


def make(sizes, n=ROWS, copy=0.0):
    """Return columns and a target with effects of these sizes in the first columns.

    The last column is correlated with the first one, as much as ``copy`` says.
    """
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, COLUMNS))
    X[:, -1] = copy * X[:, 0] + np.sqrt(1 - copy**2) * X[:, -1]
    effects = np.cos(2 * X[:, : len(sizes)]) @ np.asarray(sizes)
    return X, effects + 0.5 * rng.normal(size=n)


def judge(X, y):
    """Return what both methods say: shares and supports."""
    model = KnifeRegressor("additive", tol=1e-2)
    votes = KnifeStability(model, n_pairs=25, n_jobs=1).fit(X, y)
    races = KnifeKnockoffs(n_draws=10, n_jobs=1).fit(X, y)
    return votes, races


def draw_sizes(ax):
    """Weak effects are missed by both."""
    sizes = np.geomspace(1.0, 0.08, TRUE)
    votes, races = judge(*make(sizes))
    ax.axvspan(TRUE + 0.5, COLUMNS + 0.5, color="#f0f0f0", zorder=0)
    place = np.arange(1, COLUMNS + 1)
    for model, shares, colour, shift, label in (
        (votes, votes.selection_probabilities_, STABILITY, -0.15, "stability: share of halves"),
        (races, races.selection_frequency_, KNOCKOFFS, 0.15, "knockoffs: share of draws"),
    ):
        filled = model.support_
        ax.plot(place[filled] + shift, shares[filled], "o", color=colour, ms=5, label=label)
        ax.plot(place[~filled] + shift, shares[~filled], "o", color=colour, ms=5, mfc="white")
    ax.axhline(votes.threshold_, color=STABILITY, lw=1, ls="--")
    ax.set_title("effects from strong to weak, then useless columns", fontsize="medium")
    ax.set_xlabel("column (grey: useless)")
    ax.set_ylabel("share")
    ax.legend(frameon=False, fontsize="small", loc="upper right", bbox_to_anchor=(1.0, 0.92))


def draw_counts(ax):
    """Knockoffs are silent about fewer than ten; votes run out where there are many."""
    counts = (4, 8, 12, 16)
    found = []
    for count in counts:
        votes, races = judge(*make(np.ones(count)))
        found.append([votes.support_[:count].mean(), races.support_[:count].mean()])
        print(count, votes.n_votes_, found[-1], votes.support_[count:].sum())
    for i, (colour, label) in enumerate(((STABILITY, "stability"), (KNOCKOFFS, "knockoffs"))):
        ax.plot(counts, [row[i] for row in found], "o-", color=colour, label=label)
    ax.axvline(10, color="#444444", lw=1, ls=":")
    ax.annotate("1 / fdr", (10, 0.02), xytext=(4, 0), textcoords="offset points", fontsize="small")
    ax.set_title("few or many true columns", fontsize="medium")
    ax.set_xlabel("true columns of equal strength")
    ax.set_ylabel("share of them that is found")
    ax.set_ylim(-0.04, 1.06)


def draw_rows(ax):
    """Both need rows."""
    rows = (60, 100, 150, 300)
    found = []
    for n in rows:
        votes, races = judge(*make(np.ones(12), n))
        found.append([votes.support_[:12].mean(), races.support_[:12].mean()])
        print(n, found[-1], votes.support_[12:].sum(), races.support_[12:].sum())
    for i, colour in enumerate((STABILITY, KNOCKOFFS)):
        ax.plot(rows, [row[i] for row in found], "o-", color=colour)
    ax.set_title("few or many rows, 12 true columns", fontsize="medium")
    ax.set_xlabel("rows")
    ax.set_ylabel("share of them that is found")
    ax.set_ylim(-0.04, 1.06)


def draw_copies(ax):
    """A copy takes votes, and wins no races that it should lose."""
    copies = (0.0, 0.7, 0.9, 0.99)
    shares = []
    for copy in copies:
        votes, races = judge(*make(np.ones(12), copy=copy))
        shares.append(
            [
                *votes.selection_probabilities_[[0, -1]],
                *races.selection_frequency_[[0, -1]],
            ]
        )
        print(copy, shares[-1])
    place = np.arange(len(copies))
    for i, (colour, style, label) in enumerate(
        (
            (STABILITY, "o-", "true column, votes"),
            (STABILITY, "o--", "its copy, votes"),
            (KNOCKOFFS, "o-", "true column, races"),
            (KNOCKOFFS, "o--", "its copy, races"),
        )
    ):
        ax.plot(place, [row[i] for row in shares], style, color=colour, label=label)
    ax.set_xticks(place, [str(copy) for copy in copies])
    ax.set_title("a useless copy of a true column", fontsize="medium")
    ax.set_xlabel("correlation with the true column")
    ax.set_ylabel("share of halves or draws")
    ax.set_ylim(-0.04, 1.06)
    ax.legend(frameon=False, fontsize="small", loc="center left")


def main():
    """Write the picture next to this file."""
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.6), layout="constrained")
    for ax, draw in zip(axes.flat, (draw_sizes, draw_counts, draw_rows, draw_copies), strict=True):
        draw(ax)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "error_rates.png", dpi=100)


if __name__ == "__main__":
    main()
