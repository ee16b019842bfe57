"""Test error against the number of noise features [fig_svm_example_only, fig_svm_example]."""

import numpy as np
from document import Table, Text
from figures import new_figure
from item import Claim, Item, format_mean, mean_and_error
from scipy.stats import chi2
from simulations import Draw, fit_on_columns, knife_candidates, row_of_best

from items.orange import MARGINS, polynomial_svm
from kernelknife.datasets import make_skin_of_orange
from kernelknife.inspection.displays.style import COLORS, GRAY

__all__ = ["NoiseFeatures"]

PAPER_BAYES = 0.0611  # what the paper calls the Bayes error
# Class 1 lies in the shell where the squared radius is between 9 and 16. Half of all rows are of
# class 0, and the best classifier errs on those of them that fall into the shell.
BAYES = 0.5 * float(chi2(4).cdf(16.0) - chi2(4).cdf(9.0))
MOST_NOISE = 30  # noise features; the paper does not give the range of its axis


class NoiseFeatures(Item):
    """Test errors of an SVM and of KNIFE as noise features are added."""

    name = "noise"
    title = "Noise features and error"
    labels = ("fig_svm_example_only", "fig_svm_example")
    repetitions = 10
    quick_repetitions = 2
    captions = {  # noqa: RUF012 - a constant of the class
        "noise": "Test error against the number of noise features: the support vector machine's "
        "climbs, KNIFE's stays low."
    }
    protocol = (
        "The problem is the skin of the orange with 0 to 30 noise features (the paper does not "
        "give the range of its axis). For each number there are ten draws of 100 training and "
        "1,000 test rows. Both methods have a polynomial kernel of order 2. The margin C of the "
        "SVM and the sparsity of KNIFE (squared hinge, alpha = 1) are chosen on 1,000 validation "
        "rows. The paper gives 0.0611 as the Bayes error, which is the probability that the "
        "squared radius exceeds 9. With classes of equal size the Bayes error is half the "
        f"probability of the shell, {BAYES:.3f}. The figure shows both."
    )

    def repeat(self, seed, quick):
        rows = []
        for n_noise in range(0, MOST_NOISE + 1, 10 if quick else 1):
            data = Draw.of(make_skin_of_orange, n_noise, 1000 * (seed + 1) + n_noise)
            everything = np.arange(4 + n_noise)
            svms = [
                fit_on_columns(lambda c=c: polynomial_svm(c), everything, data, C=c)
                for c in MARGINS
            ]
            for method, candidates in {
                "SVM": svms,
                "KNIFE": knife_candidates(data, kernel="polynomial"),
            }.items():
                rows.append({"n_noise": n_noise, **row_of_best(method, candidates, data, 4)})
        return {"noise": rows}

    def report(self, tables):
        frame = tables["noise"]
        counts = [n for n in range(0, MOST_NOISE + 1, 5) if n in set(frame["n_noise"])]
        rows = []
        for method in ("SVM", "KNIFE"):
            part = frame[frame["method"] == method]
            cells = (format_mean(part[part["n_noise"] == n]["test_error"], 3) for n in counts)
            rows.append((method, *cells))
        header = ("method", *(f"{n} noise features" for n in counts))
        note = "The table shows test errors, with standard errors in brackets."
        return [Table(header, tuple(rows)), Text(note)]

    def claims(self, tables):
        frame = tables["noise"]
        mean = frame.pivot_table(index="n_noise", columns="method", values="test_error")
        rise = mean["KNIFE"][20] - mean["KNIFE"][0]
        factor = mean["SVM"][20] / mean["SVM"][0]
        return [
            Claim(
                "KNIFE's error rises by less than 0.05 from 0 to 20 noise features.",
                f"from {mean['KNIFE'][0]:.3f} to {mean['KNIFE'][20]:.3f}",
                bool(rise < 0.05),
            ),
            Claim(
                "The SVM's error at least doubles.",
                f"from {mean['SVM'][0]:.3f} to {mean['SVM'][20]:.3f}, {factor:.1f} times",
                bool(factor >= 2),
            ),
        ]

    def draw(self, tables):
        frame = tables["noise"]
        figure, (ax,) = new_figure(1, (6.2, 4.0))
        for color, method in zip(COLORS, ("KNIFE", "SVM"), strict=False):
            part = frame[frame["method"] == method]
            stats = [(n, *mean_and_error(g["test_error"])) for n, g in part.groupby("n_noise")]
            n, mean, spread = map(np.array, zip(*stats, strict=True))
            spread = np.nan_to_num(spread)
            ax.plot(n, mean, color=color, linewidth=1.8)
            ax.fill_between(n, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
            ax.annotate(
                method,
                (n[-1], mean[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=color,
                annotation_clip=False,
            )
        for level, text in (
            (PAPER_BAYES, "0.061, the paper's Bayes error"),
            (BAYES, f"{BAYES:.3f}, Bayes error of equal classes"),
        ):
            ax.axhline(level, color=GRAY, linewidth=1.0, linestyle="--", zorder=1)
            ax.annotate(
                text,
                (MOST_NOISE, level),
                xytext=(0, 3),
                textcoords="offset points",
                ha="right",
                fontsize="small",
                color="#666666",
            )
        ax.set_xlim(0, MOST_NOISE)
        ax.set_ylim(0, None)
        ax.set_xlabel("noise features")
        ax.set_ylabel("test error")
        return {"noise": figure}
