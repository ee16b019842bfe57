"""What the command can do where the packages of the extra ``cli`` are not installed.

NumPy, SciPy and scikit-learn are always there, and they are enough to print the version and to run
the demonstration, without its report. Everything else ends in a sentence that names what to
install.
"""

import sys

__all__ = ["run_bare", "version_line"]

NEEDS_MORE = (
    "The kernelknife command needs packages that are not installed: pip install 'kernelknife[cli]'"
)
HELP = (
    "Without further packages there are `kernelknife demo`, a selection among simulated columns, "
    "and `kernelknife --version`."
)


def version_line():
    """Return the version of the package, and of what it stands on, in one line."""
    from kernelknife._utils.versions import versions

    others = versions()
    own = others.pop("kernelknife")
    return f"kernelknife {own} ({', '.join(f'{name} {v}' for name, v in others.items())})"


def run_bare(arguments):
    """Run the command with the core dependencies alone.

    Parameters
    ----------
    arguments : list of str
        What the user wrote behind the name of the command.

    Returns
    -------
    int
        The exit status.
    """
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
