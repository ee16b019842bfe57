"""Other tools on the problems of ``error_rates.py``: knockpy, ipss and Boruta.

    python -m venv peers && peers/bin/pip install -e . knockpy ipss Boruta torch
    peers/bin/python benchmarks/error_rates_peers.py --part knockoffs --replicates 10

knockoffs  knockpy's statistics (lasso, random forest and, with torch, DeepPINK) on the knockoffs
           that ``error_rates.py --part knockoffs`` has written, with the same filter
stability  ipss with gradient boosting and with a random forest at a target of one false feature,
           and Boruta, on the problems of ``error_rates.py --part stability``
"""

import argparse
import contextlib
import sys
import time
import warnings

import numpy as np
from _common import RESULTS
from error_rates import RESPONSES, STABILITY_PROBLEMS, add, add_knockoffs, judge, known
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor


def knockpy_statistics():
    """Return the names and makers of knockpy's statistics that can run here."""
    from knockpy import knockoff_stats

    statistics = {
        "knockpy lasso": knockoff_stats.LassoStatistic,
        "knockpy forest": knockoff_stats.RandomForestStatistic,
    }
    try:
        import torch  # noqa: F401
    except ImportError:
        print("DeepPINK is left out: there is no torch.", file=sys.stderr)
    else:
        statistics["knockpy DeepPINK"] = knockoff_stats.DeepPinkStatistic
    return statistics


def run_knockoffs(replicates):
    done = known("error_rates_knockoffs", ("problem", "method", "covariance", "seed"))
    statistics = knockpy_statistics()
    for seed in range(replicates):
        for kind in RESPONSES:
            for kept in ("known", "unknown"):
                path = RESULTS.parent / "knockoffs" / f"{kind}_{kept}_{seed}.npz"
                if not path.exists():
                    continue
                data = np.load(path)
                for method, statistic in statistics.items():
                    if (kind, method, kept, str(seed)) in done:
                        continue
                    np.random.seed(seed)  # noqa: NPY002, knockpy draws from it
                    begin = time.process_time()
                    W = statistic().fit(X=data["X"], Xk=data["K"], y=data["y"])
                    spent = time.process_time() - begin
                    add_knockoffs(method, kind, kept, seed, np.asarray(W), data["true"], spent)


def by_ipss(selector):
    def select(X, y, classes):
        from ipss import ipss

        with contextlib.redirect_stdout(sys.stderr):
            result = ipss(X.copy(), y.astype(float), selector=selector, target_fp=1, n_jobs=1)
        return np.array(result["selected_features"], dtype=int)

    return select


def by_boruta(X, y, classes):
    from boruta import BorutaPy

    forest = (RandomForestClassifier if classes else RandomForestRegressor)(max_depth=5)
    chosen = BorutaPy(forest, n_estimators="auto", random_state=0).fit(X, y)
    return np.flatnonzero(chosen.support_)


SELECTORS = {"ipss, boosting": by_ipss("gb"), "ipss, forest": by_ipss("rf"), "Boruta": by_boruta}


def run_stability(replicates):
    done = known("error_rates_stability", ("problem", "method", "seed"))
    for seed in range(replicates):
        for name, make in STABILITY_PROBLEMS.items():
            for method, select in SELECTORS.items():
                if (name, method, str(seed)) in done:
                    continue
                X, y, true = make(seed)
                np.random.seed(seed)  # noqa: NPY002, ipss draws from it
                begin, spent = time.perf_counter(), time.process_time()
                selected = select(X, y, y.dtype.kind == "i")
                add(
                    "error_rates_stability",
                    {
                        "problem": name,
                        "method": method,
                        "seed": seed,
                        **judge(selected, true),
                        "bound": "",
                        "found_by_q": "",
                        "false_by_q": "",
                        "seconds": round(time.perf_counter() - begin, 1),
                        "processor_seconds": round(time.process_time() - spent, 1),
                    },
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=["knockoffs", "stability"], required=True)
    parser.add_argument("--replicates", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run = run_knockoffs if options.part == "knockoffs" else run_stability
    run(options.replicates)


if __name__ == "__main__":
    sys.exit(main())
