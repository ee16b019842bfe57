"""Progress over folds, half-samples and draws of knockoffs: a bar, or lines elsewhere."""

import os
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

from kernelknife.cli.console import errors, say

__all__ = ["fold_bar"]


# Tasks whose parts are counted, and the parts.
COUNTED, PARTS = ("comparing", "halves", "draws"), ("fold", "half", "draw")
REFRESH_SECONDS = 0.2  # often enough for a bar to move smoothly


class FoldCounter:
    """Callback of scikit-learn that counts finished folds, halves and draws.

    They may run in other processes. Each appends one byte to a file when it has finished, so that
    the size of the file is the count.

    Parameters
    ----------
    path : str
        The file that holds one byte per finished fold.
    """

    def __init__(self, path):
        self.path = path
        self.total = 0

    def setup(self, estimator, context):
        """Do nothing; scikit-learn asks callbacks to have this method."""

    def on_fit_task_begin(self, estimator, context):
        """Add folds, halves or draws to what is expected."""
        if context.task_name in COUNTED:
            self.total += context.max_subtasks or 0

    def on_fit_task_end(self, estimator, context):
        """Count a finished part."""
        if context.task_name in PARTS:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            os.write(file, b".")
            os.close(file)

    def teardown(self, estimator, context):
        """Do nothing; scikit-learn asks callbacks to have this method."""


@contextmanager
def fold_bar():
    """Yield the callbacks to fit with: they move a bar on a terminal, and print lines elsewhere."""
    shown = _bar if errors.is_terminal else _lines
    with tempfile.TemporaryDirectory() as folder, shown() as show:
        path = Path(folder) / "folds"
        path.touch()
        counter = FoldCounter(str(path))
        done = threading.Event()

        def watch():
            while not done.wait(REFRESH_SECONDS):
                show(path.stat().st_size, counter.total)
            show(path.stat().st_size, counter.total)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield (counter,)
        finally:
            done.set()
            watcher.join()


@contextmanager
def _bar():
    """Yield ``show(done, total)``, which moves a bar."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("cross-validating"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("folds", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


@contextmanager
def _lines():
    """Yield ``show(done, total)``, which prints a line after every round of fits."""
    printed = 0

    def show(done, total):
        nonlocal printed
        if total and done == total > printed:
            printed = total
            say(f"cross-validating: {done} fits are done")

    yield show
