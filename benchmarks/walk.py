"""How much of the package a reader has to walk through to follow one call.

Five calls are run under ``sys.setprofile``, which sees every function that is entered. Only the
package's own files are counted: different functions, their modules, and the deepest nesting.

    python benchmarks/walk.py [--list NAME]
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np


class Walk:
    """Which functions of some folders run, and how deeply they are nested."""

    def __init__(self, *roots: Path):
        self.roots = tuple(str(root) + "/" for root in roots)
        self.functions: set[tuple[str, str]] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame, event, argument):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self.roots):
            return
        # A comprehension or a generator expression is part of the function around it.
        if code.co_name.startswith("<") and code.co_name != "<lambda>":
            return
        if event == "call":
            self.functions.add((code.co_filename, code.co_qualname))
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        else:
            self.depth -= 1

    @property
    def modules(self) -> set[str]:
        """Files in which a function ran."""
        return {file for file, _ in self.functions}

    def run(self, call: Callable[[], object]) -> "Walk":
        """Run a call once to warm up, so that imports do not count, then under observation."""
        call()
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self


def calls() -> dict[str, tuple[Callable[[], object], tuple[Path, ...]]]:
    """Return the calls by name, each with the folders whose functions count."""
    import sklearn

    import kernelknife
    from kernelknife import KnifeClassifierCV, KnifeRegressor
    from kernelknife.datasets import make_sinusoidal, make_skin_of_orange

    own = (Path(kernelknife.__file__).parent,)
    X, y = make_sinusoidal(60, 5, random_state=0)
    orange, labels = make_skin_of_orange(60, n_noise=2, random_state=0)
    found = {
        "KnifeRegressor().fit": (lambda: KnifeRegressor().fit(X, y), own),
        "KnifeClassifierCV(cv=3).fit": (lambda: KnifeClassifierCV(cv=3).fit(orange, labels), own),
        "kernelknife select --quick --report": (_select_command(orange, labels), own),
    }
    from sklearn.linear_model import PoissonRegressor

    counts = np.random.default_rng(0).poisson(np.exp(0.2 * X[:, 0]))
    home = Path(sklearn.__file__).parent
    found["scikit-learn PoissonRegressor"] = (
        lambda: PoissonRegressor(solver="newton-cholesky").fit(X, counts),
        (home / "linear_model", home / "_loss"),
    )
    with contextlib.suppress(ImportError):
        import skglm
        from skglm.datafits import Quadratic
        from skglm.penalties import L1

        found["skglm GeneralizedLinearEstimator"] = (
            lambda: skglm.GeneralizedLinearEstimator(Quadratic(), L1(0.1)).fit(X, y),
            (Path(skglm.__file__).parent,),
        )
    return found


def _select_command(X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """Return a call of the command on a table in a file."""
    import pandas as pd

    from kernelknife.app.cli import main

    folder = Path(tempfile.mkdtemp())
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["y"] = np.where(y > 0, "shell", "core")
    frame.to_csv(folder / "table.csv", index=False)
    words = ["select", str(folder / "table.csv"), "--target", "y", "--quick"]
    words += ["--report", str(folder / "report.html")]

    def call():
        before = sys.argv
        sys.argv = ["kernelknife", *words]
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                main()
        except SystemExit:
            pass  # the command ends with its exit status
        finally:
            sys.argv = before

    return call


def main() -> None:
    """Print the table, or the functions of one call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", help="print the functions of the calls whose name holds this")
    wanted = parser.parse_args().list
    warnings.simplefilter("ignore")
    print(f"{'call':<40} {'functions':>9} {'modules':>8} {'depth':>6}")
    for name, (call, roots) in calls().items():
        if wanted and wanted not in name:
            continue
        walk = Walk(*roots).run(call)
        print(f"{name:<40} {len(walk.functions):>9} {len(walk.modules):>8} {walk.deepest:>6}")
        if wanted:
            for file, function in sorted(walk.functions):
                print(f"  {file.removeprefix(walk.roots[0])}: {function}")


if __name__ == "__main__":
    main()
