"""Write docs/benchmarks.md and its pictures from the tables in benchmarks/results.

    python benchmarks/races/page.py

Nothing is measured here. The verdicts are computed from the rows of the tables; the text around
them is in page.md beside this file.
"""

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import peers
import problems

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "images"
OURS, OURS_CV = "kernelknife path", "kernelknife CV"
# The default path is compared with peers; the other methods of ours are shown, and are no peers.
ALSO_OURS = (OURS_CV, "kernelknife path, ANOVA")
NEAR = 0.05  # methods whose recall is within this of the best count as equally good
SOLVED = 0.9  # recall from which on a problem counts as solved
GOOD = 0.6  # a problem counts as solvable where some method's recall is above this
TEMPLATE = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
FLOOR = "fifty kernel matrices and factorizations"  # as benchmarks/small.py names its row


def read(name):
    """Return the rows of a table in benchmarks/results."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class Races:
    """The rows of races.csv, looked up by method and problem."""

    def __init__(self, rows):
        self.rows = rows
        self.cells = defaultdict(list)
        for row in rows:
            self.cells[row["method"], row["problem"], row["n"], row["threads"]].append(row)
        self.problems = [
            (p.name, str(p.n), p.synthetic) for p in problems.PROBLEMS + problems.SIZES
        ]
        raced = {row["method"] for row in rows}
        self.methods = [name for name in peers.METHODS if name in raced]

    def cell(self, method, problem, threads="1"):
        """Return the rows of a method on a problem, one per seed."""
        return self.cells[method, problem[0], problem[1], threads]

    def values(self, method, problem, field, threads="1"):
        """Return a field by seed, of the runs that ended without an error."""
        rows = self.cell(method, problem, threads)
        return {
            int(row["seed"]): float(row[field])
            for row in rows
            if row["status"] == "ok" and row[field] != ""
        }

    def mean(self, method, problem, field):
        """Return the mean of a field over the seeds, None where there is no value."""
        values = list(self.values(method, problem, field).values())
        return np.mean(values) if values else None

    def seconds(self, method, problem, threads="1"):
        """Return the median time of a run, None where there is none."""
        values = list(self.values(method, problem, "seconds", threads).values())
        return np.median(values) if values else None

    def on_our_seeds(self, method, problem):
        """Return the mean recall of a method and of ours on the seeds that both have."""
        theirs = self.values(method, problem, "recall")
        ours = self.values(OURS, problem, "recall")
        common = sorted(theirs.keys() & ours.keys())
        if not common:
            return None
        return tuple(np.mean([values[s] for s in common]) for values in (theirs, ours))

    def named(self, name):
        """Return the first problem of a name."""
        return next(problem for problem in self.problems if problem[0] == name)

    def leaders(self, problem):
        """Return the methods whose recall is within NEAR of the best, with their median times."""
        recalls = {m: self.mean(m, problem, "recall") for m in self.methods if m not in ALSO_OURS}
        recalls = {m: value for m, value in recalls.items() if value is not None}
        best = max(recalls.values())
        return {m: self.seconds(m, problem) for m, v in recalls.items() if v >= best - NEAR}


def title(problem):
    """Return the name of a problem with its number of rows."""
    name, n, _ = problem
    return f"{name}, n = {n}" if n != "0" else name


def number(value, digits=2):
    """Return a number as text, nothing for None."""
    return "" if value is None else f"{value:.{digits}f}"


def short_time(seconds):
    """Return seconds with three decimals below one second and one above, nothing for None."""
    if seconds is None:
        return ""
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"


def table(head, rows):
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(map(str, head)) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


# -- verdicts -------------------------------------------------------------------------------------


def behind(races):
    """Return solvable problems, each with the methods that find more than ours on equal seeds."""
    compared = []
    for problem in races.problems:
        if not problem[2]:
            continue
        others = [m for m in races.methods if m not in (OURS, *ALSO_OURS)]
        if max(races.mean(m, problem, "recall") or 0.0 for m in others) <= GOOD:
            continue
        better = []
        for method in others:
            pair = races.on_our_seeds(method, problem)
            if pair and pair[0] > pair[1] + 1e-9:
                better.append(f"{method} {pair[0]:.2f} against {pair[1]:.2f}")
        compared.append((problem, better))
    return compared


def speed(races):
    """Return our time and the quickest equally good method with its time, by solvable problem."""
    rows = []
    for problem in races.problems:
        raced = [m for m in races.methods if m not in ALSO_OURS]
        recalls = [races.mean(m, problem, "recall") or 0.0 for m in raced]
        if max(recalls) <= GOOD:
            continue
        leaders = races.leaders(problem)
        ours = leaders.pop(OURS, None)
        rival = min(leaders, key=leaders.get) if leaders else None
        rows.append((problem, ours, rival, leaders.get(rival)))
    return rows


def floor_sentence(races, small):
    """Return a sentence on the least cost of fifty models beside that of the quickest methods."""
    least = {r["n"]: float(r["seconds"]) for r in small if r["what"] == FLOOR}
    lost = [
        (problem, theirs)
        for problem, ours, rival, theirs in speed(races)
        if rival is not None and (ours is None or theirs <= ours)
    ]
    above = [p for p, theirs in lost if p[1] in least and least[p[1]] > theirs]
    costs = ", ".join(f"{1000 * seconds:.0f} ms at {n} rows" for n, seconds in least.items())
    return (
        f"Fifty kernel matrices and factorizations alone take {costs}. On {len(above)} of the "
        f"{len(lost)} problems where another method is faster, this is more than its whole time."
    )


def verdicts(races, small):
    """Return the table of claims: what was measured, and whether the claim holds."""
    claims = (
        recall_of_peers_claim(races),
        full_recall_claim(races),
        fastest_claim(races),
        gpytorch_claim(races),
        path_cost_claim(small),
    )
    held = {True: "holds", False: "does not hold"}
    rows = [(claim, measured, held[bool(holds)]) for claim, measured, holds in claims]
    return table(("claim", "measured", "verdict"), rows)


def recall_of_peers_claim(races):
    """Return a claim, what was measured, and whether it holds; so do the functions below."""
    compared = behind(races)
    level = [problem for problem, better in compared if not better]
    return (
        f"Our recall is at least that of every peer, on the same seeds, if any peer exceeds {GOOD}",
        f"true on {len(level)} of {len(compared)} such problems",
        len(level) == len(compared),
    )


def full_recall_claim(races):
    names = ("orange, 6 noise", "orange, 46 noise", "sinusoidal, 5 noise")
    recalls = [races.mean(OURS, races.named(name), "recall") for name in names]
    return (
        "Our recall is 1.00 on orange with 6 and 46 and on sinusoidal with 5 noise features",
        ", ".join(f"{recall:.2f}" for recall in recalls),
        all(recall == 1.0 for recall in recalls),
    )


def fastest_claim(races):
    times = speed(races)
    first = [row for row in times if row[1] is not None and (row[2] is None or row[1] < row[3])]
    return (
        f"Among methods within {NEAR} of the best recall, our path is the fastest on two thirds of "
        "the problems",
        f"true on {len(first)} of {len(times)}",
        len(first) >= 2 * len(times) / 3,
    )


def gpytorch_claim(races):
    converged, stopped = "GPyTorch ARD", "GPyTorch ARD, 50 steps"
    ratios, stopped_ratios = [], []
    for name in ("orange, 46 noise", "sinusoidal, 95 noise"):
        problem = races.named(name)
        ours = races.seconds(OURS, problem)
        ratios.append(races.seconds(converged, problem) / ours)
        recall = races.mean(stopped, problem, "recall")
        ratio = races.seconds(stopped, problem) / ours
        stopped_ratios.append(f"{ratio:.1f} (recall {recall:.2f})")
    return (
        "Our path is at least 10 times faster than GPyTorch ARD on orange 46 and sinusoidal 95",
        " and ".join(f"{ratio:.1f}" for ratio in ratios)
        + " times against the fit to convergence; against the one stopped after 50 steps "
        + " and ".join(stopped_ratios),
        min(ratios) >= 10,
    )


def path_cost_claim(small):
    ratios = [float(row["ratio"]) for row in small if row["against"].startswith("KernelRidge")]
    return (
        "A 50-point path at 100 x 50 takes at most 60 KernelRidge fits and predictions",
        ", ".join(f"{ratio:.0f}" for ratio in ratios) + " on three draws",
        max(ratios) <= 60,
    )


def short_sentences(races, small):
    """Return the verdicts as a list of sentences."""
    lines = []
    for claim, measured, holds in (
        recall_of_peers_claim(races),
        fastest_claim(races),
        gpytorch_claim(races),
        path_cost_claim(small),
    ):
        verdict = "This holds" if holds else "This does not hold"
        lines.append(f"- {claim}. {verdict}: {measured}.")
    return "\n".join(lines)


def summary_table(races, most=10):
    """Return the table of the methods that solve most problems, with their times."""
    shown = [problem for problem in races.problems if problem[2]]
    lines = []
    for method in races.methods:
        if method == OURS_CV:
            continue
        recalls = [races.mean(method, problem, "recall") for problem in shown]
        known = [value for value in recalls if value is not None]
        if not known:
            continue
        seconds = [races.seconds(method, problem) for problem in shown]
        solved = sum(value >= SOLVED for value in known)
        tried = sum(bool(races.cell(method, problem)) for problem in shown)
        unfinished = tried - len(known)
        middle = np.median([value for value in seconds if value is not None])
        lines.append((method, solved, unfinished, middle))
    lines.sort(key=lambda line: (-line[1], line[3]))
    return table(
        ("method", "problems solved", "not finished, or failed", "median seconds"),
        [(m, solved, late or "", short_time(middle)) for m, solved, late, middle in lines[:most]],
    )


# -- tables ---------------------------------------------------------------------------------------


def recall_table(races):
    """Return the table of recalls, and the list that explains its numbered columns."""
    shown = [problem for problem in races.problems if problem[2]]
    head = ("method", *(str(i + 1) for i in range(len(shown))))
    body = []
    for method in races.methods:
        cells = []
        for problem in shown:
            value = races.mean(method, problem, "recall")
            cells.append(status(races, method, problem) if value is None else f"{value:.2f}")
        name = f"**{method}**" if method == OURS else method
        body.append((name, *cells))
    legend = "\n".join(f"{i + 1}. {title(problem)}" for i, problem in enumerate(shown))
    return table(head, body), legend


def status(races, method, problem):
    """Return why a cell has no figure."""
    rows = races.cell(method, problem)
    return {"timeout": "time", "error": "fails"}.get(rows[0]["status"], "") if rows else ""


def speed_table(races):
    """Return our times beside those of the quickest equally good method."""
    rows = []
    for problem, ours, rival, theirs in speed(races):
        leaders = len(races.leaders(problem)) - (ours is not None)
        rows.append(
            (
                title(problem),
                number(races.mean(OURS, problem, "recall")),
                short_time(races.seconds(OURS, problem)),
                with_recall(races, rival, problem),
                short_time(theirs),
                leaders,
            )
        )
    return table(
        ("problem", "our recall", "seconds", "fastest equal", "seconds", "number of equals"),
        rows,
    )


def with_recall(races, method, problem):
    """Return the name of a method with its recall, nothing for None."""
    return "" if method is None else f"{method} ({races.mean(method, problem, 'recall'):.2f})"


def error_table(races):
    """Return test errors and F1 of all methods, the best of every column in bold."""
    blocks = []
    for field, words in (
        ("own_error", "Test error of each method's own predictor"),
        ("common_error", "Test error of one Gaussian SVM on each method's top k"),
        ("f1", "F1 of the method's own selection"),
    ):
        shown = [
            problem
            for problem in races.problems
            if any(races.mean(m, problem, field) is not None for m in races.methods)
        ]
        body = []
        for method in races.methods:
            means = [races.mean(method, problem, field) for problem in shown]
            if any(value is not None for value in means):
                body.append([method, *means])
        for i in range(1, len(shown) + 1):
            known = [line[i] for line in body if line[i] is not None]
            best = max(known) if field == "f1" else min(known)
            for line in body:
                if line[i] is not None:
                    text = f"{line[i]:.2f}"
                    line[i] = f"**{text}**" if text == f"{best:.2f}" else text
                else:
                    line[i] = ""
        numbers = [races.problems.index(problem) + 1 for problem in shown]
        blocks.append(f"### {words}\n\n" + table(("method", *numbers), body))
    return "\n\n".join(blocks)


def cost_table(races):
    """Return times and memory over all problems, and how two threads compare with one."""
    rows = []
    shown = races.problems
    for method in races.methods:
        pairs = []
        for problem in shown:
            one = races.values(method, problem, "seconds", "1")
            two = races.values(method, problem, "seconds", "2")
            common = one.keys() & two.keys()
            if common:
                ratio = np.median([two[s] for s in common]) / np.median([one[s] for s in common])
                pairs.append(ratio)
        memory = [
            value
            for problem in shown
            for value in races.values(method, problem, "peak_mib").values()
        ]
        seconds = [races.seconds(method, problem) for problem in shown]
        seconds = [value for value in seconds if value is not None]
        runs = sum(len(races.cell(method, problem)) for problem in shown)
        late = sum(row["status"] == "timeout" for p in shown for row in races.cell(method, p))
        rows.append(
            (
                method,
                runs,
                late or "",
                short_time(np.median(seconds)) if seconds else "",
                short_time(max(seconds)) if seconds else "",
                f"{max(memory):.0f}" if memory else "",
                f"{np.median(pairs):.2f}" if pairs else "",
            )
        )
    return table(
        (
            "method",
            "runs",
            "not finished in time",
            "median s",
            "slowest problem s",
            "peak MiB",
            "2 threads / 1",
        ),
        rows,
    )


def failures(races):
    """Return a list of the errors that methods ended with, and on which problems."""
    seen = {}
    for row in races.rows:
        if row["status"] == "error":
            seen.setdefault((row["method"], row["message"]), []).append(row["problem"])
    lines = []
    for (method, message), where in seen.items():
        places = sorted(set(where))
        on = "every problem" if len(places) > 15 else ", ".join(places)
        lines.append(f"- **{method}** on {on}: `{message}`")
    return "\n".join(lines) or "None."


def settings():
    """Return the table of methods and their settings."""
    return table(
        ("method", "package", "what it is", "parameters and reasons"),
        [
            (m.name, m.package, m.run.__doc__.split("\n")[0], m.settings)
            for m in peers.METHODS.values()
        ],
    )


def own_section(small):
    """Return the table of costs of small problems."""
    lines = []
    for row in small:
        if row["against"] == "":
            continue
        what = row["what"] + (f" ({row['n']} x {row['p']})" if row["n"] != "0" else "")
        lines.append((what, f"{float(row['seconds']):.4f}", row["against"], row["ratio"]))
    return table(("what", "seconds", "against", "ratio or exponent"), lines)


def grid_section():
    """Return the comparison of the two solvers, by kernel and loss."""
    rows = read("solver_grid")
    groups = defaultdict(list)
    for row in rows:
        groups[row["kernel"], row["loss"]].append(row)
    lines = []
    for (kernel, loss), members in groups.items():
        ours = np.array([float(r["factorizations_eliminate"]) for r in members])
        theirs = np.array([float(r["factorizations_alternate"]) for r in members])
        a = np.array([float(r["objective_eliminate"]) for r in members])
        b = np.array([float(r["objective_alternate"]) for r in members])
        lines.append(
            (
                kernel,
                loss,
                len(members),
                f"{ours.mean():.1f}",
                f"{theirs.mean():.1f}",
                f"{theirs.sum() / ours.sum():.1f}",
                f"{np.mean(a <= 1.001 * b):.0%}",
                f"{np.mean(a < 0.999 * b):.0%}",
            )
        )
    head = (
        "kernel",
        "loss",
        "fits",
        "eliminate",
        "alternate",
        "ratio",
        "as low or lower",
        "lower by 0.1 %",
    )
    return table(head, lines)


def evaluation_section():
    """Return sentences on the cost of one value and gradient, one for each kernel."""
    names = {"rbf": "the Gaussian kernel", "anova": "the ANOVA kernel"}
    sentences = []
    for kernel, name in names.items():
        rows = [r for r in read("evaluation_cost") if r["kernel"] == kernel]
        rows = [r for r in rows if r["what"].startswith("value and gradient")]
        bare, ours = (np.median([float(r[key]) for r in rows]) for key in ("bare_s", "ours_s"))
        sentences.append(
            f"One value and gradient with {name} at {rows[0]['n']} x {rows[0]['p']} takes "
            f"{ours:.3f} s. Its bare BLAS and LAPACK calls take {bare:.3f} s in the same run, so "
            f"the ratio is {ours / bare:.2f}."
        )
    return " ".join(sentences) + " These numbers are from `benchmarks/evaluation_cost.py`."


def found_afresh(problem):
    """Return how often all features are found on draws that were not used to choose settings."""
    rows = [row for row in read("recovery") if row["problem"] == problem]
    return f"{sum(row['all_found'] == '1' for row in rows)} of {len(rows)}"


# -- pictures -------------------------------------------------------------------------------------


def draw(races):
    """Draw recall by method and problem, and recall against time."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "kernelknife", "font.size": 9})
    draw_recalls(races)
    draw_times(races)


def draw_recalls(races):
    """Draw the table of recalls as a colored grid."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    shown = [problem for problem in races.problems if problem[2]]
    methods = [m for m in races.methods if m != OURS_CV]
    grid = np.full((len(methods), len(shown)), np.nan)
    for i, method in enumerate(methods):
        for j, problem in enumerate(shown):
            value = races.mean(method, problem, "recall")
            grid[i, j] = np.nan if value is None else value
    figure, axes = plt.subplots(figsize=(9.5, 7.2), layout="constrained")
    colors = mpl.colormaps["YlGnBu"].with_extremes(bad="#f2f2f2")
    axes.imshow(grid, vmin=0, vmax=1, cmap=colors, aspect="auto")
    for i, j in np.ndindex(grid.shape):
        value = grid[i, j]
        text = status(races, methods[i], shown[j]) if np.isnan(value) else f"{value:.2f}"
        shade = "white" if value > 0.45 else "#444444"
        axes.text(j, i, text, ha="center", va="center", color=shade, fontsize=7)
    axes.set_xticks(range(len(shown)), [title(p) for p in shown], rotation=40, ha="right")
    axes.set_yticks(range(len(methods)), methods)
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Share of the true features among the top k, mean over seeds", loc="left")
    save(figure, "races-recall")


def draw_times(races):
    """Draw recall against time, one panel for each of six problems."""
    from matplotlib import pyplot as plt

    methods = [m for m in races.methods if m != OURS_CV]
    chosen = [p for p in races.problems if p[0] in POINTS and p[1] == POINTS[p[0]]]
    figure, panels = plt.subplots(2, 3, figsize=(9.5, 6), sharey=True, layout="constrained")
    for axes, problem in zip(panels.flat, chosen, strict=True):
        scatter(axes, races, methods, problem)
    figure.supxlabel("seconds, one thread (median)")
    figure.supylabel("recall in the top k (mean)")
    save(figure, "races-time")


# Problems of the second picture, with their number of rows.
POINTS = {
    "orange, 46 noise": "100",
    "orange, 996 noise": "200",
    "sinusoidal, 95 noise": "100",
    "Friedman 1, 50 noise": "200",
    "sign of 2, 198 noise": "200",
    "sign of 3, 8 noise": "400",
}


def scatter(axes, races, methods, problem):
    """Draw recall against time of all methods on one problem, ours in red."""
    points = []
    for method in methods:
        x, y = races.seconds(method, problem), races.mean(method, problem, "recall")
        if x is not None and y is not None:
            points.append((x, y, method))
    for x, y, method in points:
        ours = method == OURS
        axes.plot(
            x, y, "o", color="#c8102e" if ours else "#7a8793", markersize=8 if ours else 5, zorder=3
        )
    best = max(y for _, y, _ in points)
    # Only ours and the three quickest equally good methods are named; the table has all of them.
    others = sorted(p for p in points if p[1] >= best - NEAR and p[2] != OURS)[:3]
    named = [p for p in points if p[2] == OURS] + others
    for rank, (x, y, method) in enumerate(sorted(named)):
        axes.annotate(
            method,
            (x, y),
            xytext=(0, 12 + 14 * rank),
            textcoords="offset points",
            fontsize=7,
            ha="center",
            color="#c8102e" if method == OURS else "#444444",
            fontweight="bold" if method == OURS else "normal",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
            arrowprops={"arrowstyle": "-", "color": "#c9ced3", "lw": 0.6, "shrinkA": 0},
            zorder=4,
        )
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_ylim(-0.08, 1.65)
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.set_title(title(problem), fontsize=9, loc="left")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure, name):
    """Write a picture."""
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / f"{name}.png", dpi=130)


# -- the page -------------------------------------------------------------------------------------


def render():
    """Return the text of the page."""
    races, small = Races(read("races")), read("small")
    computer = {row["what"]: row["value"] for row in read("races_computer")}
    recalls, legend = recall_table(races)
    lost = [(problem, better) for problem, better in behind(races) if better]
    lost_lines = "\n".join(f"- {title(p)}: " + "; ".join(better) + "." for p, better in lost)
    plain = ("processor", "cores", "memory", "system", "python")
    versions = ", ".join(f"{name} {value}" for name, value in computer.items() if name not in plain)
    text = TEMPLATE.format(
        computer=(
            f"{computer['processor']}, {computer['cores']} cores, {computer['memory']}, "
            f"{computer['system']}, Python {computer['python']}; {versions}"
        ),
        runs=f"{len(races.rows):,}",
        n_methods=len(races.methods),
        n_problems=len(races.problems),
        short=short_sentences(races, small),
        summary=summary_table(races),
        n_synthetic=sum(problem[2] for problem in races.problems),
        verdicts=verdicts(races, small),
        recalls=recalls,
        legend=legend,
        lost=lost_lines or "None.",
        floor=floor_sentence(races, small),
        speed=speed_table(races),
        errors=error_table(races),
        all_problems="\n".join(f"{i + 1}. {title(p)}" for i, p in enumerate(races.problems)),
        cost=cost_table(races),
        failures=failures(races),
        settings=settings(),
        own=own_section(small),
        grid=grid_section(),
        evaluation=evaluation_section(),
        fresh_50=found_afresh("Friedman 1, 50 noise"),
        fresh_500=found_afresh("Friedman 1, 500 noise"),
        fresh_sign=found_afresh("sign(x1 x2 x3) among 200"),
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def main():
    """Write the page and its pictures."""
    draw(Races(read("races")))
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
