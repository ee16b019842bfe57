"""The one place that calls scikit-learn's callback API.

A fit is a tree of steps: ``fit > start > iteration``, ``path > point``, ``cv > alpha > fold >
point``. :class:`Progress` is a node of that tree, and costs nothing where no callback is attached.
Attach ``sklearn.callback.ProgressBar()`` to any estimator with ``set_callbacks`` to see it move.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["SILENT", "Progress", "root_progress"]


class Progress:
    """A node of the tree of a fit; ``context`` is None where no callback is attached."""

    def __init__(self, estimator: Any = None, context: Any = None) -> None:
        self._estimator = estimator
        self._context = context
        self.stopped = False

    def child(
        self, name: str, total: int | None = 0, *, number: int | None = None, ordered: bool = True
    ) -> "Progress":
        """Return a child, not yet begun.

        Parameters
        ----------
        name : str
        total : int or None, default=0
            How many children it will have itself, None if that is not known.
        number : int, default=None
            Its number among the children of a node that is not ``ordered``.
        ordered : bool, default=True
            False if its own children carry numbers and may run in any order, in other
            processes too.
        """
        if self._context is None:
            return self
        context = self._context.subcontext(
            name, task_id=number, max_subtasks=total, sequential_subtasks=ordered
        )
        return Progress(self._estimator, context)

    def __enter__(self) -> "Progress":
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._context is not None:
            self.stopped |= self._context.call_on_fit_task_end(estimator=self._estimator)

    @contextmanager
    def subtask(self, name: str, total: int | None = 0) -> Iterator["Progress"]:
        """Run a child; one that asks to stop stops this node."""
        with self.child(name, total) as child:
            yield child
        self.stopped |= child.stopped

    def watch(self, name: str) -> Callable[[int, float], bool]:
        """Return a solver callback that reports each iteration as a child."""

        def report(iteration: int, objective: float) -> bool:
            with self.subtask(name):
                pass
            return self.stopped

        return report


SILENT = Progress()


@contextmanager
def root_progress(estimator: Any, name: str = "fit", total: int | None = 0) -> Iterator[Progress]:
    """Run the root of a fit; the estimator's method is decorated with ``with_callbacks``."""
    context = estimator._init_callback_context(task_name=name, max_subtasks=total)
    if not getattr(estimator, "_skl_callbacks", None):
        yield SILENT
        return
    context.call_on_fit_task_begin(estimator=estimator)
    yield Progress(estimator, context)
    context.call_on_fit_task_end(estimator=estimator)
