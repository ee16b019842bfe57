"""How often independent tables are said to go together where their rows depend on each other.

Two tables of 100 x 3 know nothing of each other, and the columns of a table are independent, too.
Their rows are those of a series (autoregressive with 0.9, or a random walk), or 20 groups of five.
Counted are p-values of ``KnifeCCA`` of at most 0.05, and tables of six such columns in which
``KnifePCA`` finds a component beyond chance, with ``blocks`` or ``groups`` and without. The last
lines are tables that do go together, where the more is found the better.
"""

import argparse
import warnings

import numpy as np
from _common import write

from kernelknife import KnifeCCA, KnifePCA

N_ROWS, N_COLUMNS, N_GROUPS = 100, 3, 20
CORRELATION = {"autoregressive": 0.9, "random walk": 1.0}
# Of the test a block is short, so that some are held out; a shift in time has to be long.
BLOCKS, SHIFT = 5, 20


def series(rng, correlation):
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    if correlation < 1.0:
        X[0] /= np.sqrt(1.0 - correlation**2)
    for i in range(1, N_ROWS):
        X[i] += correlation * X[i - 1]
    return X


def grouped(rng):
    each = N_ROWS // N_GROUPS
    X = np.repeat(rng.normal(size=(N_GROUPS, N_COLUMNS)), each, axis=0)
    return X + 0.3 * rng.normal(size=X.shape)


def draw(kind, rng):
    return series(rng, CORRELATION[kind]) if kind in CORRELATION else grouped(rng)


def run(kind, related, option, seed):
    """Return whether a pair and a component are found in one draw."""
    rng = np.random.default_rng([seed, len(kind), related])
    A, B = draw(kind, rng), draw(kind, rng)
    if related:
        B[:, 0] = A[:, 0] + 0.3 * A[:, 0].std() * rng.normal(size=N_ROWS)
    groups = np.repeat(np.arange(N_GROUPS), N_ROWS // N_GROUPS)
    groups = groups if option and kind == "groups" else None
    blocks = (BLOCKS, SHIFT) if option and kind != "groups" else (None, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KnifePCA(blocks=blocks[1], random_state=seed).fit(np.hstack([A, B]), groups=groups)
    component = not any("share no component" in str(one.message) for one in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = KnifeCCA(blocks=blocks[0], random_state=seed).fit(A, B, groups=groups)
    return {
        "rows": kind,
        "related": int(related),
        "option": int(option),
        "seed": seed,
        "p_value": f"{pair.p_values_[0]:.4f}",
        "component": int(component),
    }


def summarize(rows):
    """Print the shares of every kind of rows, with standard errors."""
    keys = dict.fromkeys((row["rows"], row["related"], row["option"]) for row in rows)
    for key in keys:
        mine = [row for row in rows if (row["rows"], row["related"], row["option"]) == key]
        words = [f"{key[0]}, {'related' if key[1] else 'independent'}, "]
        words[0] += "option" if key[2] else "no option"
        for name, hits in (
            ("p <= 0.05", [float(row["p_value"]) <= 0.05 for row in mine]),
            ("component", [bool(row["component"]) for row in mine]),
        ):
            share = np.mean(hits)
            error = np.sqrt(share * (1.0 - share) / len(hits))
            words.append(f"{name} {share:.3f} +- {error:.3f}")
        print(*words, f"({len(mine)} draws)", sep="; ", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200, help="independent draws with the option")
    options = parser.parse_args()
    rows = []
    for kind in (*CORRELATION, "groups"):
        for related, option, share in ((0, 1, 1.0), (0, 0, 0.1), (1, 1, 0.2)):
            draws = max(round(share * options.draws), 2)
            rows += [run(kind, bool(related), bool(option), seed) for seed in range(draws)]
    write("dependent_rows", rows)
    summarize(rows)


if __name__ == "__main__":
    main()
