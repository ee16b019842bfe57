"""Draw the picture of what error rates guarantee: ``python docs/images/draw_error_rates.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeKnockoffs, KnifeRegressor, KnifeStability

HERE = Path(__file__).parent
STABILITY, KNOCKOFFS = "#0072B2", "#D55E00"
ROWS, COLUMNS, TRUE = 300, 40, 14
FEW, MANY = 4, 12  # true columns where each of both methods is at home


def make(sizes, n=ROWS, copy=0.0):
    """Return columns and a target with effects of these sizes in the first columns.

    The last column is correlated with the first one, as much as ``copy`` says.
    """
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, COLUMNS))
    X[:, -1] = copy * X[:, 0] + np.sqrt(1 - copy**2) * X[:, -1]
    effects = np.cos(2 * X[:, : len(sizes)]) @ np.asarray(sizes)
    return X, effects + 0.5 * rng.normal(size=n)


def vote(X, y):
    """Return fitted stability selection with the additive kernel."""
    model = KnifeRegressor("additive", tol=1e-2)
    return KnifeStability(model, n_pairs=25, threshold=0.75).fit(X, y)


def knockoffs(X, y):
    """Return fitted knockoffs."""
    return KnifeKnockoffs(n_draws=10).fit(X, y)


def draw_sizes(ax):
    """Weak effects are missed by both."""
    sizes = np.geomspace(1.0, 0.08, TRUE)
    table = make(sizes)
    votes, wins = vote(*table), knockoffs(*table)
    ax.axvspan(TRUE + 0.5, COLUMNS + 0.5, color="#f0f0f0", zorder=0)
    place = np.arange(1, COLUMNS + 1)
    for model, shares, color, shift, label in (
        (votes, votes.selection_probabilities_, STABILITY, -0.15, "stability: share of halves"),
        (wins, wins.selection_frequency_, KNOCKOFFS, 0.15, "knockoffs: share of draws"),
    ):
        filled = model.support_
        ax.plot(place[filled] + shift, shares[filled], "o", color=color, ms=5, label=label)
        ax.plot(place[~filled] + shift, shares[~filled], "o", color=color, ms=5, mfc="white")
    ax.axhline(votes.threshold_, color=STABILITY, lw=1, ls="--")
    ax.set_title("effects from strong to weak, then useless columns", fontsize="medium")
    ax.set_xlabel("column (gray: useless)")
    ax.set_ylabel("share")
    ax.legend(frameon=False, fontsize="small", loc="upper right", bbox_to_anchor=(1.0, 0.92))


def draw_counts(ax):
    """Knockoffs are silent about fewer than ten; votes run out where there are many."""
    counts = (4, 8, 12, 16)
    found = []
    for count in counts:
        table = make(np.ones(count))
        found.append([model.support_[:count].mean() for model in (vote(*table), knockoffs(*table))])
    for i, (color, label) in enumerate(((STABILITY, "stability"), (KNOCKOFFS, "knockoffs"))):
        ax.plot(counts, [row[i] for row in found], "o-", color=color, label=label)
    ax.axvline(10, color="#444444", lw=1, ls=":")
    ax.annotate("1 / fdr", (10, 0.02), xytext=(4, 0), textcoords="offset points", fontsize="small")
    ax.set_title("few or many true columns", fontsize="medium")
    ax.set_xlabel("true columns of equal strength")
    ax.set_ylabel("share of them that is found")
    ax.set_ylim(-0.04, 1.06)


def draw_rows(ax):
    """Both need rows."""
    rows = (40, 80, 150, 300)
    for fit, n_true, color, label in (
        (vote, FEW, STABILITY, f"stability, {FEW} true columns"),
        (knockoffs, MANY, KNOCKOFFS, f"knockoffs, {MANY} true columns"),
    ):
        found = [fit(*make(np.ones(n_true), n)).support_[:n_true].mean() for n in rows]
        ax.plot(rows, found, "o-", color=color, label=label)
    ax.set_title("few or many rows", fontsize="medium")
    ax.set_xlabel("rows")
    ax.set_ylabel("share of true columns that is found")
    ax.set_ylim(-0.04, 1.06)
    ax.legend(frameon=False, fontsize="small", loc="lower right")


def draw_copies(ax):
    """The closer a copy is, the more votes and draws it takes from its original."""
    copies = (0.0, 0.7, 0.9, 0.99)
    shares = []
    for copy in copies:
        votes = vote(*make(np.ones(FEW), copy=copy)).selection_probabilities_
        wins = knockoffs(*make(np.ones(MANY), copy=copy)).selection_frequency_
        shares.append([votes[0], votes[-1], wins[0], wins[-1]])
    place = np.arange(len(copies))
    for i, (color, style, label) in enumerate(
        (
            (STABILITY, "o-", "true column, votes"),
            (STABILITY, "o--", "its copy, votes"),
            (KNOCKOFFS, "o-", "true column, knockoffs"),
            (KNOCKOFFS, "o--", "its copy, knockoffs"),
        )
    ):
        ax.plot(place, [row[i] for row in shares], style, color=color, label=label)
    ax.set_xticks(place, [str(copy) for copy in copies])
    ax.set_title("a useless copy of a true column", fontsize="medium")
    ax.set_xlabel("correlation with the true column")
    ax.set_ylabel("share of halves or draws")
    ax.set_ylim(-0.04, 1.06)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(0.0, 0.45))


def main():
    """Write the picture next to this file."""
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.6), layout="constrained")
    for ax, draw in zip(axes.flat, (draw_sizes, draw_counts, draw_rows, draw_copies), strict=True):
        draw(ax)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "error_rates.png", dpi=100)


if __name__ == "__main__":
    main()
