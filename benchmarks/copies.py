"""Columns with the same information: substitutes, groups of them, and a ranking with both.

    python benchmarks/copies.py substitutes     # three noisy copies of every true column
    python benchmarks/copies.py groups        # feature_groups="correlated" on the same data
    python benchmarks/copies.py relevance     # the races' simulated problems, by both rankings
    python benchmarks/copies.py genes         # colon and shipp: time, and two halves of the rows

``--replicates`` is the number of data sets per problem (in ``genes``: of splits into halves). The
thresholds of the search were set on draws with seeds from 100 on; these begin at 0.
"""

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import _common
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif

from kernelknife import CorrelatedGroups, knife_path
from kernelknife.datasets import load_colon, make_skin_of_orange

N, N_NOISE, N_COPIES, CORRELATION = 200, 46, 3, 0.95
# The copies are correlated by 0.95 with the true column and by 0.90 with each other.
GROUP_THRESHOLDS = (0.9, 0.8)
GROUP_KERNELS = ("rbf", "anova")
GENES = (4, 10)  # features of the models of genes
MOST_COLUMNS = 1000  # problems with more are raced elsewhere


def _orange(seed):
    return *make_skin_of_orange(N, N_NOISE, random_state=seed), 4


def _friedman(seed):
    return *make_friedman1(N, n_features=5 + N_NOISE, noise=1.0, random_state=seed), 5


def _sign(seed):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(N, 2 + N_NOISE))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), 2


PROBLEMS = {"orange": _orange, "Friedman 1": _friedman, "sign of 2": _sign}


def draw(name, seed):
    """Return rows, target, and the true column that each column copies, -1 for noise.

    The true columns come first, then their copies, then noise, in a shuffled order.
    """
    X, y, n_true = PROBLEMS[name](seed)
    rng = np.random.default_rng([seed, 7])
    true = (X[:, :n_true] - X[:, :n_true].mean(axis=0)) / X[:, :n_true].std(axis=0)
    rest = np.sqrt(1.0 - CORRELATION**2)
    copies = [CORRELATION * true + rest * rng.normal(size=true.shape) for _ in range(N_COPIES)]
    says = np.r_[np.tile(np.arange(n_true), 1 + N_COPIES), np.full(N_NOISE, -1)]
    X = np.concatenate([X[:, :n_true], *copies, X[:, n_true:]], axis=1)
    order = rng.permutation(X.shape[1])
    return X[:, order], y, says[order]


def point_of(path, n_features):
    """Return the first point of a path with at most that number of features."""
    return int(np.flatnonzero(path.n_selected <= n_features)[0])


def substitutes(replicates):
    """Substitutes at the first point of the path with as many columns as are true."""
    rows = []
    for name in PROBLEMS:
        for seed in range(replicates):
            X, y, says = draw(name, seed)
            n_true = int(says.max()) + 1
            paths = []
            path_time = _common.timed(lambda X=X, y=y, p=paths: p.append(knife_path(X, y)))
            path, found = paths[0], []
            i = point_of(path, n_true)
            time = _common.timed(lambda path=path, i=i, f=found: f.append(path.substitutes(i)))
            selected = {place.name for place in found[0]}
            named = set(found[0].names) - selected
            index = {j: int(name[1:]) for j, name in enumerate(path.feature_names)}
            known = selected | named
            # One column of every family is selected: the others are what there is to name.
            families = {k: [f"x{j}" for j in index if says[j] == k] for k in range(n_true)}
            to_name = [f"x{j}" for j in index if says[j] >= 0]
            rows.append(
                {
                    "problem": name,
                    "seed": seed,
                    "selected": len(selected),
                    "families": sum(bool(set(f) & selected) for f in families.values()),
                    "to_name": len(to_name) - n_true,
                    "copies_named": sum(max(len(set(f) & known) - 1, 0) for f in families.values()),
                    "named": len(named),
                    "noise_named": sum(says[int(name[1:])] < 0 for name in named),
                    "path_seconds": f"{path_time:.3f}",
                    "seconds": f"{time:.3f}",
                }
            )
            _tell(rows[-1])
    _common.write("copies_substitutes", rows)
    for name in PROBLEMS:
        mine = [row for row in rows if row["problem"] == name]
        copies = sum(r["copies_named"] for r in mine) / sum(r["to_name"] for r in mine)
        noise = sum(r["noise_named"] for r in mine) / sum(r["named"] for r in mine)
        ratio = sum(float(r["seconds"]) for r in mine) / sum(float(r["path_seconds"]) for r in mine)
        print(f"{name}: {copies:.3f} of the copies, {noise:.3f} noise, {ratio:.2f} of the path")


def groups(replicates):
    """Groups of correlated columns on the same data, and which of them a path keeps."""
    rows = []
    for name in PROBLEMS:
        for seed in range(replicates):
            X, y, says = draw(name, seed)
            n_true = int(says.max()) + 1
            for threshold, kernel in product(GROUP_THRESHOLDS, GROUP_KERNELS):
                groups_found = CorrelatedGroups(threshold)
                path = knife_path(X, y, kernel=kernel, feature_groups=groups_found)
                model = path.at(n_features=n_true)
                members = [
                    [int(name[1:]) for name in group] for group in model.feature_groups_.values()
                ]
                right = sum(
                    sorted(np.flatnonzero(says == k).tolist()) in map(sorted, members)
                    for k in range(n_true)
                )
                mixed = sum(len(set(says[g])) > 1 or (says[g[0]] < 0 < len(g) - 1) for g in members)
                chosen = model.get_support(indices=True)
                rows.append(
                    {
                        "problem": name,
                        "seed": seed,
                        "threshold": threshold,
                        "kernel": kernel,
                        "clusters": n_true,
                        "clusters_right": right,
                        "groups_mixed": mixed,
                        "selection_exact": int(set(chosen) == set(np.flatnonzero(says >= 0))),
                    }
                )
                _tell(rows[-1])
    _common.write("copies_groups", rows)
    for name, threshold, kernel in product(PROBLEMS, GROUP_THRESHOLDS, GROUP_KERNELS):
        key = (name, threshold, kernel)
        mine = [r for r in rows if (r["problem"], r["threshold"], r["kernel"]) == key]
        right = np.mean([r["clusters_right"] == r["clusters"] for r in mine])
        exact = np.mean([r["selection_exact"] for r in mine])
        shown = ", ".join(map(str, key))
        print(f"{shown}: clusters right {right:.2f}, selection exact {exact:.2f}")


def relevance(replicates):
    """Share of true columns on top of both rankings, on the races' simulated problems."""
    sys.path.insert(0, str(Path(__file__).parent / "races"))
    import problems

    rows = []
    for problem in problems.PROBLEMS:
        for seed in range(replicates if problem.synthetic else 0):
            race = problem.draw(problem.n, seed)
            if race.X.shape[1] > MOST_COLUMNS:
                break
            path = knife_path(race.X, race.y)
            shares = {
                word: np.isin(np.argsort(ranks)[: race.k], race.true).mean()
                for word, ranks in (("elimination", path.ranking), ("relevance", path.relevance))
            }
            rows.append({"problem": problem.name, "n": problem.n, "seed": seed, **shares})
            _tell(rows[-1])
    _common.write("copies_relevance", rows)
    for name in dict.fromkeys(row["problem"] for row in rows):
        mine = [row for row in rows if row["problem"] == name]
        elimination, relevance = (
            np.mean([row[word] for row in mine]) for word in ("elimination", "relevance")
        )
        print(f"{name}: elimination {elimination:.3f}, relevance {relevance:.3f}")


def genes(replicates, folder):
    """Time on thousands of columns, and agreement between two halves of the rows.

    The agreement is that of everything redone on either half, and that of the substitutes of one
    model, the one of all rows, looked for in either half. Beside them stands that of as many
    genes by their F statistic, a gene at a time: how much of a list the rows let come again at all.
    """
    rows = []
    for name, (X, y) in _gene_tables(folder).items():
        path = knife_path(X, y)
        for most in GENES:
            i = point_of(path, most)
            found = []
            time = _common.timed(lambda path=path, i=i, f=found: f.append(path.substitutes(i)))
            facts = {"data": name, "features": most, **_facts(found[0]), "seconds": f"{time:.1f}"}
            rows.append(facts)
            _tell(facts)
            model = path.model(i)
            for seed in range(replicates):
                halves = [_half(X, y, seed, which) for which in (0, 1)]
                paths = [knife_path(*half) for half in halves]
                tables = [redone.substitutes(point_of(redone, most)) for redone in paths]
                same = [model.substitutes(*half) for half in halves]
                chosen = [{place.name for place in table} for table in tables]
                named = [set(table.names) for table in tables]
                row = {
                    "data": name,
                    "features": most,
                    "split": seed,
                    "jaccard_selection": jaccard(*chosen),
                    "jaccard_with_substitutes": jaccard(*named),
                    "jaccard_by_f": jaccard(*_best_by_f(halves, named)),
                    "jaccard_same_model": jaccard(*(set(table.names) for table in same)),
                    "covered_selection": _covered(X, *chosen),
                    "covered_with_substitutes": _covered(X, *named),
                }
                rows.append(row)
                _tell(row)
    fields = list(dict.fromkeys(key for row in rows for key in row))
    _common.write("copies_genes", [{key: row.get(key, "") for key in fields} for row in rows])


def _facts(table):
    return {
        "selected": len(table),
        "needed": sum(place.needed for place in table),
        "named": len(table.names) - len(table),
    }


def jaccard(one, other):
    """Return the size of the intersection of two sets as a share of their union."""
    return round(len(one & other) / max(len(one | other), 1), 3)


def _covered(X, one, other, least=0.8):
    """Return the share of the columns of two lists that have one much like them in the other."""
    a, b = (X[:, [int(name[1:]) for name in names]] for names in (one, other))
    alike = np.abs(np.corrcoef(a.T, b.T)[: a.shape[1], a.shape[1] :])
    hits = (alike.max(axis=1) >= least).sum() + (alike.max(axis=0) >= least).sum()
    return round(float(hits) / sum(alike.shape), 3)


def _best_by_f(halves, named):
    """Return the genes with the largest F statistic of either half, as many as lists have names."""
    most = round(np.mean([len(names) for names in named]))
    scores = [np.nan_to_num(f_classif(X, y)[0]) for X, y in halves]
    return [set(np.argsort(-score, kind="stable")[:most].tolist()) for score in scores]


def _half(X, y, seed, which):
    """Return one of two halves of the rows, with the same share of both classes."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(y == label))[which::2] for label in np.unique(y)]
    )
    return X[rows], y[rows]


def _gene_tables(folder):
    colon = load_colon()
    tables = {"colon": (np.log(colon.data.to_numpy(float)), colon.target.to_numpy())}
    if folder is not None:
        import pandas

        shipp = pandas.read_csv(Path(folder) / "shipp.csv.gz")
        tables["shipp"] = (shipp.iloc[:, :-1].to_numpy(float), shipp.iloc[:, -1].to_numpy())
    return tables


def _tell(row):
    print(*(f"{key}={value}" for key, value in row.items()), file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["substitutes", "groups", "relevance", "genes"])
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--tables", help="folder with shipp.csv.gz, for the part 'genes'")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.part == "genes":
        genes(arguments.replicates, arguments.tables)
    else:
        parts = {"substitutes": substitutes, "groups": groups, "relevance": relevance}
        parts[arguments.part](arguments.replicates)
