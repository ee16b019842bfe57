"""What the models of a search could reach if somebody with more rows chose among them.

A search compares some hundred models and chooses by the folds of its training rows. Here all
models of the kernels and alphas that it has followed to the end are fitted to all training rows,
and chosen by half of the rows that the draw has left; the other half judges, then the halves change
places. Only draws count in which each of these halves has at least as many rows as the training
rows, so that a rule of choice that sees the training rows alone can hardly do better, neither with
at most half of the columns nor with all of them. The draws are those of ``joint.py`` from the half
of the tables that our defaults were chosen on.

    python benchmarks/ceiling.py --draws 5 --jobs 2
    python benchmarks/ceiling.py --summary
"""

import argparse
import csv
import sys
import warnings

import numpy as np
import tables
from _common import RESULTS, write
from joblib import Parallel, delayed
from joint import draw, draws

from kernelknife import KnifeClassifier, KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV
from kernelknife._base import scored_at
from kernelknife._engine import FitSpec, follow, prepare_arrays, set_up
from kernelknife._engine.search import equal_weights, refit_without_penalty
from kernelknife._tuning.candidates import GRID
from kernelknife._tuning.folds import FOLD_TOL, model_at

NAME = "ceiling"
LIMITS = {"half": 0.5, "all": 1.0}  # largest share of the columns that a model may have
HALVINGS = 5


def finished_lines(search):
    """Return kernel, alpha and penalties of what a search has followed to the end."""
    table = search.cv_results_
    mine = table["followed"] & (table["weighting"] == "relaxed")
    keys = dict.fromkeys(zip(table["kernel"][mine], table["alpha"][mine], strict=True))
    return [
        (kernel, alpha, table["sparsity"][mine & same])
        for kernel, alpha in keys
        for same in [(table["kernel"] == kernel) & (table["alpha"] == alpha)]
    ]


def models(A, y, kernel, alpha, penalties, classes):
    """Yield the fitted models of a path: penalized, refitted without it, all columns alike."""
    template = (KnifeClassifier if classes else KnifeRegressor)(kernel, alpha=alpha, tol=FOLD_TOL)
    spec = FitSpec.from_estimator(template)
    setup = set_up(spec, prepare_arrays(spec, A, y))
    points = follow(setup, penalties).points
    relaxed = {(point.w > 0).tobytes(): point.w for point in points}
    few = [w for w in relaxed.values() if 0 < np.count_nonzero(w) <= GRID.most_relaxed]
    refits = (refit_without_penalty(setup.problem, spec.solver, w) for w in few)
    for solution in [*points, *refits, equal_weights(setup.problem)]:
        yield scored_at(template, setup, solution, model_at(setup, solution))


def crossed(guesses, target, classes, seed):
    """Return the error, on the half of the rows that did not choose, of what the other chose."""
    rng, errors = np.random.default_rng(seed), []
    variance = 1.0 if classes else np.var(target)
    for _ in range(HALVINGS):
        halves = np.array_split(rng.permutation(len(target)), 2)
        for chooser, judge in (halves, halves[::-1]):
            seen = [_error(guess[chooser], target[chooser], classes) for guess in guesses]
            best = guesses[int(np.argmin(seen))]
            errors.append(_error(best[judge], target[judge], classes) / variance)
    return float(np.mean(errors))


def _error(guess, target, classes):
    """Return the balanced error, or the mean square."""
    if classes:
        return tables.judge(target, guess, classes)
    return float(np.mean((guess - target) ** 2))


def run(source, name, seed):
    """Return the errors of one draw, None where too few rows are left to choose and to judge."""
    warnings.simplefilter("ignore")
    A, y, B, target, classes = draw(source, name, seed)
    if len(target) < 2 * len(y):
        return None
    search = (KnifeClassifierCV if classes else KnifeRegressorCV)().fit(A, y)
    models = [model for line in finished_lines(search) for model in models(A, y, *line, classes)]
    shares = np.array([model.get_support().mean() for model in models])
    guesses = np.array([model.predict(B) for model in models])
    row = {"source": source, "table": name, "seed": seed, "models": len(models)}
    row["kernelknife"] = tables.judge(target, search.predict(B), classes)
    for limit, share in LIMITS.items():
        # A single column is always allowed.
        allowed = shares <= max(share, 1.0 / A.shape[1])
        row[f"chosen by other rows, {limit}"] = crossed(guesses[allowed], target, classes, seed)
    for peer in ("RBF SVM", "random forest"):
        model = tables.methods(classes)[peer](A.shape[1]).fit(A, y)
        row[peer] = tables.judge(target, model.predict(B), classes)
    return {key: f"{v:.4f}" if isinstance(v, float) else v for key, v in row.items()}


def summarize(rows):
    """Print every error over that of the better of SVM and forest."""
    print(f"{len(rows)} draws of {len({(row['source'], row['table']) for row in rows})} tables")
    peers = [min(float(row["RBF SVM"]), float(row["random forest"])) for row in rows]
    kinds = ["kernelknife", *(f"chosen by other rows, {limit}" for limit in LIMITS)]
    for kind in [*kinds, "RBF SVM", "random forest"]:
        ratios = tables.floored([float(row[kind]) for row in rows]) / tables.floored(peers)
        print(
            f"{kind}: over the better of SVM and forest {np.median(ratios):.3f} in the median, "
            f"{np.exp(np.log(ratios).mean()):.3f} in the geometric mean"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5, help="of every table of the choosing half")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="print what is recorded")
    given = parser.parse_args()
    if not given.summary:
        rows = []
        calls = (delayed(run)(*job) for job in draws(given.draws) if job[0] != "many_tables")
        for row in Parallel(n_jobs=given.jobs, return_as="generator")(calls):
            if row is not None:
                rows.append(row)
                print(*row.values(), file=sys.stderr, flush=True)
        write(NAME, rows)
    with (RESULTS / f"{NAME}.csv").open(newline="") as file:
        summarize(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
