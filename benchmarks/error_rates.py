"""Do the error rates of stability selection and of knockoffs hold, and how much do they find?

    python benchmarks/error_rates.py --part stability --replicates 100 --jobs 2

Each part adds rows to a table in ``results`` and skips replicates that the table already has, so
that a run can be stopped and continued. ``--part summary`` prints the means of all tables.

stability  ``KnifeStability(max_false=1)``: true and false features found on the skin of the orange
           (200 rows, 4 of 200 columns), Friedman's problem (400 rows, 5 of 50), the sign of a
           product (400 rows, 2 of 200), separate effects (400 rows, 6 of 66), noise (200 x 100)
knockoffs  ``KnifeKnockoffs`` at a false discovery rate of 0.1, one draw, on the non-linear
           simulations of Spector and Janson (500 rows, 20 of 200 columns): the knockoffs are
           written to a file, so that ``error_rates_peers.py`` judges other statistics on the same
draws      the same with 20 draws joined by e-values
linear     a linear model (1,000 rows, 80 of 800 columns, correlation 0.5 between neighbors)
null       pure noise (200 x 100): how often anything is selected
speed      stability at 500 x 500, 60 x 20,000 and 100 x 10,000: seconds of wall and processor time
"""

import argparse
import csv
import sys
import time

import numpy as np
from _common import RESULTS, provenance
from sklearn.datasets import make_friedman1

from kernelknife import KnifeKnockoffs, KnifeRegressor, KnifeStability
from kernelknife._engine import FitSpec
from kernelknife._error_rates import (
    GaussianKnockoffs,
    distribution_given_sample,
    knockoff_threshold,
    least_reconstructable,
    path_statistics,
)
from kernelknife.datasets import make_separate_effects, make_skin_of_orange

FDR = 0.1


# -- problems: X, y and which columns are true -----------------------------------------------------


def orange(seed):
    return (*make_skin_of_orange(200, 196, random_state=seed), np.arange(4))


def friedman(seed):
    return (*make_friedman1(400, 50, noise=1.0, random_state=seed), np.arange(5))


def product_sign(seed):
    X = np.random.default_rng(seed).standard_normal((400, 200))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), np.arange(2)


def separate(seed):
    table = make_separate_effects(400, 60, random_state=seed)
    return table.data, table.target, table.relevant


def noise(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((200, 100)), rng.standard_normal(200), np.arange(0)


STABILITY_PROBLEMS = {
    "orange, 196 noise": orange,
    "Friedman, 45 noise": friedman,
    "sign of 2 among 200": product_sign,
    "separate effects, 60 noise": separate,
    "noise": noise,
}


def correlation_of_neighbors(p, rng):
    """Return the correlation of a chain whose neighbors have random correlations in (0, 1)."""
    # As in knockpy's simulations: beta(1, 1), with a thousandth on the diagonal for safety.
    place = np.concatenate([[0.0], np.cumsum(np.log(rng.beta(1, 1, size=p - 1)))])
    return (np.exp(-np.abs(place[:, None] - place)) + 1e-3 * np.eye(p)) / (1.0 + 1e-3)


def simulate(kind, seed, n=500, p=200, n_true=20):
    """Return X, y, the true columns and the correlation of one of knockpy's simulations."""
    rng = np.random.default_rng([seed, sorted(RESPONSES).index(kind)])
    correlation = correlation_of_neighbors(p, rng)
    X = rng.multivariate_normal(np.zeros(p), correlation, size=n, method="cholesky")
    true = np.sort(rng.choice(p, n_true, replace=False))
    signs = rng.choice([-1.0, 1.0], size=n_true)
    return X, RESPONSES[kind](X[:, true], signs) + rng.standard_normal(n), true, correlation


RESPONSES = {
    "cos": lambda X, signs: np.cos(X) @ signs,
    "quadratic": lambda X, signs: X**2 @ signs,
    "pairint": lambda X, signs: ((X * signs)[:, ::2] * (X * signs)[:, 1::2]).sum(axis=1),
}


# -- tables that grow row by row -------------------------------------------------------------------


def known(name, keys):
    """Return the values of some columns of every row that a table has."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(row[key] for key in keys) for row in csv.DictReader(file)}


def add(name, row):
    """Add one row to a table."""
    path = RESULTS / f"{name}.csv"
    row = {**row, **provenance()}
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, list(row))
        if fresh:
            table.writeheader()
        table.writerow(row)
    print(", ".join(f"{key} {value}" for key, value in list(row.items())[:-5]), flush=True)


def judge(selected, true):
    """Return how many of the true columns are selected, and how many others."""
    found = len(np.intersect1d(selected, true))
    return {"true": len(true), "found": found, "false": len(selected) - found}


# -- parts -----------------------------------------------------------------------------------------


def run_stability(replicates, jobs):
    done = known("error_rates_stability", ("problem", "method", "seed"))
    for seed in range(replicates):
        for name, make in STABILITY_PROBLEMS.items():
            if (name, "kernelknife stability", str(seed)) in done:
                continue
            X, y, true = make(seed)
            begin, spent = time.perf_counter(), time.process_time()
            model = KnifeStability(n_jobs=jobs, random_state=seed).fit(X, y)
            by_q = np.flatnonzero(model.q_values_ <= FDR)
            judged = judge(by_q, true)
            add(
                "error_rates_stability",
                {
                    "problem": name,
                    "method": "kernelknife stability",
                    "seed": seed,
                    **judge(model.get_support(indices=True), true),
                    "bound": round(model.error_bound_, 4),
                    "found_by_q": judged["found"],
                    "false_by_q": judged["false"],
                    "seconds": round(time.perf_counter() - begin, 1),
                    "processor_seconds": round(time.process_time() - spent, 1),
                },
            )


def run_knockoffs(replicates, jobs):
    done = known("error_rates_knockoffs", ("problem", "method", "covariance", "seed"))
    folder = RESULTS.parent / "knockoffs"
    folder.mkdir(exist_ok=True)
    for seed in range(replicates):
        for kind in RESPONSES:
            for kept in ("known", "unknown"):
                if (kind, "kernelknife", kept, str(seed)) in done:
                    continue
                X, y, true, correlation = simulate(kind, seed)
                knockoffs = draw_knockoffs(X, correlation if kept == "known" else None, seed)
                np.savez_compressed(
                    folder / f"{kind}_{kept}_{seed}.npz", X=X, K=knockoffs, y=y, true=true
                )
                begin = time.process_time()
                spec = FitSpec.from_estimator(KnifeRegressor("additive", tol=1e-2))
                W = path_statistics(spec, X, knockoffs, y)
                spent = time.process_time() - begin
                add_knockoffs("kernelknife", kind, kept, seed, W, true, spent)


def draw_knockoffs(X, correlation, seed):
    """Return knockoffs of normal columns of deviation 1, for a known correlation or for none."""
    rng = np.random.default_rng([seed, len(RESPONSES)])
    if correlation is not None:
        s = least_reconstructable(correlation)
        return GaussianKnockoffs.from_correlation(correlation, s).draw(X, rng)
    center, spread = X.mean(axis=0), X.std(axis=0)
    Z = (X - center) / spread
    return center + spread * distribution_given_sample(Z, least_reconstructable).draw(Z, rng)


def add_knockoffs(method, kind, kept, seed, W, true, spent):
    """Add what the knockoff+ filter selects by some statistics."""
    threshold = knockoff_threshold(W, FDR)
    selected = [j for j, w in enumerate(W) if w >= threshold]
    add(
        "error_rates_knockoffs",
        {
            "problem": kind,
            "method": method,
            "covariance": kept,
            "seed": seed,
            **judge(selected, true),
            "processor_seconds": round(spent, 1),
        },
    )


def run_draws(replicates, jobs):
    done = known("error_rates_draws", ("problem", "seed"))
    for seed in range(replicates):
        for kind in RESPONSES:
            if (kind, str(seed)) in done:
                continue
            X, y, true, _ = simulate(kind, seed)
            begin = time.process_time()
            model = KnifeKnockoffs(n_jobs=jobs, random_state=seed).fit(X, y)
            add(
                "error_rates_draws",
                {
                    "problem": kind,
                    "method": "kernelknife, 20 draws",
                    "covariance": "unknown, copula",
                    "seed": seed,
                    **judge(model.get_support(indices=True), true),
                    "processor_seconds": round(time.process_time() - begin, 1),
                },
            )


def run_linear(replicates, jobs):
    done = known("error_rates_linear", ("seed",))
    n, p, n_true, amplitude = 1000, 800, 80, 5.0
    correlation = 0.5 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    for seed in range(replicates):
        if (str(seed),) in done:
            continue
        rng = np.random.default_rng(seed)
        X = rng.multivariate_normal(np.zeros(p), correlation, size=n, method="cholesky")
        true = np.sort(rng.choice(p, n_true, replace=False))
        size = amplitude / np.sqrt(n)
        y = X[:, true] @ rng.choice([-size, size], size=n_true) + rng.standard_normal(n)
        begin = time.process_time()
        model = KnifeKnockoffs(
            KnifeRegressor("linear", alpha=100.0, tol=1e-2),
            covariance=correlation,
            n_draws=1,
            products=False,
            random_state=seed,
        ).fit(X, y)
        add(
            "error_rates_linear",
            {
                "problem": "linear",
                "method": "kernelknife, linear kernel",
                "covariance": "known",
                "seed": seed,
                **judge(model.get_support(indices=True), true),
                "processor_seconds": round(time.process_time() - begin, 1),
            },
        )


def run_null(replicates, jobs):
    done = known("error_rates_null", ("seed",))
    for seed in range(replicates):
        if (str(seed),) in done:
            continue
        X, y, true = noise(seed)
        begin = time.process_time()
        model = KnifeKnockoffs(n_draws=5, n_jobs=jobs, random_state=seed).fit(X, y)
        add(
            "error_rates_null",
            {
                "problem": "noise",
                "method": "kernelknife, 5 draws",
                "covariance": "estimated, copula",
                "seed": seed,
                **judge(model.get_support(indices=True), true),
                "draws_that_select": int(
                    sum(np.isfinite(knockoff_threshold(row, FDR)) for row in model.statistics_)
                ),
                "processor_seconds": round(time.process_time() - begin, 1),
            },
        )


def run_speed(replicates, jobs):
    done = known("error_rates_speed", ("problem",))
    for n, p in ((500, 500), (60, 20_000), (100, 10_000)):
        if (f"{n} x {p}",) in done:
            continue
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, p))
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
        begin, spent = time.perf_counter(), time.process_time()
        model = KnifeStability(n_jobs=jobs).fit(X, y)
        add(
            "error_rates_speed",
            {
                "problem": f"{n} x {p}",
                "method": "kernelknife stability",
                **judge(model.get_support(indices=True), np.arange(3)),
                "jobs": jobs,
                "seconds": round(time.perf_counter() - begin, 1),
                # With more than one job the workers' time is not in it.
                "processor_seconds": round(time.process_time() - spent, 1),
            },
        )


def summarize():
    for path in sorted(RESULTS.glob("error_rates_*.csv")):
        if path.stem == "error_rates_speed":
            continue
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        groups = {}
        for row in rows:
            kind = tuple(row[key] for key in ("problem", "method", "covariance") if key in row)
            groups.setdefault(kind, []).append(row)
        print(path.stem)
        for kind, members in groups.items():
            print(f"  {', '.join(kind)}: {summary_of(members)}")


def summary_of(rows):
    """Return power, false ones and false share of several replicates, in words."""
    true, found, false = (np.array([int(row[key]) for row in rows]) for key in KEYS)
    share = false / np.maximum(found + false, 1)
    error = share.std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.nan
    words = f"{len(rows)} replicates"
    if true.any():
        words += f", power {(found / np.maximum(true, 1)).mean():.3f}"
    words += f", false {false.mean():.2f}, false share {share.mean():.3f} +- {error:.3f}"
    if "found_by_q" in rows[0] and rows[0]["found_by_q"]:
        found, false = (np.array([int(row[key]) for row in rows]) for key in KEYS_BY_Q)
        share = false / np.maximum(found + false, 1)
        words += f"; by q-value: power {(found / np.maximum(true, 1)).mean():.3f}, "
        words += f"false share {share.mean():.3f}"
    return words


KEYS = ("true", "found", "false")
KEYS_BY_Q = ("found_by_q", "false_by_q")
PARTS = {
    "stability": run_stability,
    "knockoffs": run_knockoffs,
    "draws": run_draws,
    "linear": run_linear,
    "null": run_null,
    "speed": run_speed,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=[*PARTS, "summary"], required=True)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.part != "summary":
        PARTS[options.part](options.replicates, options.jobs)
    summarize()


if __name__ == "__main__":
    sys.exit(main())
