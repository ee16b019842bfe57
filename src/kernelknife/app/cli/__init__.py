"""The command line. A command parses its options, calls one library function, and prints.

Results go to standard output, progress and warnings to standard error. The exit status is 0 if
the command has done what was asked, 1 if it ran and the answer is no, and 2 if something in the
request was wrong.
"""

import sys

__all__ = [
    "main",
    "run_bare",
    "version_line",
]

# What the command can do without the packages of the extra ``cli``: NumPy, SciPy and scikit-learn
# are always there, and enough to print the version and to run the demonstration.
NEEDS_MORE = (
    "The kernelknife command needs packages that are not installed: pip install 'kernelknife[cli]'"
)
HELP = (
    "Without further packages there are `kernelknife demo`, a selection among simulated columns, "
    "and `kernelknife --version`."
)


def main():
    """Run the ``kernelknife`` command, or what there is of it without its packages."""
    try:
        import typer  # noqa: F401 - imported only to see whether it is installed
    except ModuleNotFoundError:
        raise SystemExit(run_bare(sys.argv[1:])) from None
    from kernelknife.app.cli.app import run

    run()


def version_line():
    """Return the version of the package, and of what it stands on, in one line."""
    from kernelknife._utils.versions import versions

    others = versions()
    own = others.pop("kernelknife")
    return f"kernelknife {own} ({', '.join(f'{name} {v}' for name, v in others.items())})"


def run_bare(arguments):
    """Run the command with the core dependencies alone, and return its exit status."""
    if arguments == ["--version"]:
        print(version_line())
        return 0
    if arguments == ["demo"]:
        demo()
        return 0
    print(f"{NEEDS_MORE}\n{HELP}", file=sys.stderr)
    return 2


def demo():
    """Select among twenty columns of simulated data and print which matter."""
    import numpy as np

    from kernelknife import KnifeClassifierCV
    from kernelknife.datasets import make_skin_of_orange

    print(
        "Skin of the orange: 150 rows, 20 columns, two classes, one around the other like a peel.\n"
        "Only x0 to x3 matter, and none of them shows it on its own.\n",
        flush=True,
    )
    X, y = make_skin_of_orange(150, 16, random_state=0)
    search = KnifeClassifierCV(rule="1se", cv=5).fit(X, y)
    selected = search.get_support(indices=True)
    names = ", ".join(f"x{j}" for j in selected)
    error = 1.0 - search.cv_results_["mean_test_score"][search.best_index_]
    baseline = 1.0 - np.bincount(y).max() / len(y)
    print(f"{len(selected)} of {X.shape[1]} columns selected: {names}")
    print(f"Misclassification rate over five folds: {error:.2f}; of the baseline: {baseline:.2f}.")
    print("\nFor the report, and for tables of your own: pip install 'kernelknife[cli]'")
