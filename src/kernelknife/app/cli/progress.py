"""Progress over paths, half-samples and draws of knockoffs: a bar on a terminal, or lines."""

import os
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

from kernelknife.app.cli.console import errors, print_note

__all__ = ["fold_bar"]


# Steps of a fit whose parts are counted, and the parts.
COUNTED, PARTS = ("halves", "draws"), ("path", "half", "draw")
REFRESH_SECONDS = 0.2  # often enough for a bar to move smoothly


class FoldCounter:
    """Callback of scikit-learn that counts finished paths, half-samples and draws.

    They may run in other processes. Each appends one byte to a file when it has finished, so that
    the size of the file is the count.

    Parameters
    ----------
    path : str
        The file that holds one byte per finished part.
    """

    def __init__(self, path):
        self.path = path
        self._paths = 0
        self._others = 0

    @property
    def total(self):
        """About how many parts there will be.

        The number of paths of a cross-validation is an estimate: its search for alpha may go on for
        longer or end early.
        """
        return self._paths + self._others

    def setup(self, estimator, context):
        """Do nothing; scikit-learn asks callbacks to have this method."""

    def expect(self, n_paths):
        """Take over how many paths a cross-validation is expected to follow."""
        self._paths = n_paths

    def on_fit_task_begin(self, estimator, context):
        """Take over how many half-samples or draws are expected."""
        if context.task_name in COUNTED:
            self._others += context.max_subtasks or 0

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
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("selecting"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("paths", total=None)

        def show(done, total):
            # The total is an estimate: something is left until all is done.
            bar.update(task, completed=done, total=max(total, done + 1) if total else None)

        yield show


@contextmanager
def _lines():
    """Yield ``show(done, total)``, which prints a line after every quarter of the work."""
    printed = 0

    def show(done, total):
        nonlocal printed
        quarter = min(4 * done // total, 4) if total else 0
        if quarter > printed:
            printed = quarter
            print_note(f"{done} of about {max(total, done)} paths are followed")

    yield show
