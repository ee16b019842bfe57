"""The one place that speaks scikit-learn's callback API.

A fit is a tree of tasks: ``fit > start > iteration``, ``path > point``, ``cv > alpha > fold >
point``. :class:`Task` is a node of that tree, and costs nothing when nobody listens. Attach
``sklearn.callback.ProgressBar()`` to any estimator with ``set_callbacks`` to see it move.
"""

from contextlib import contextmanager

__all__ = ["SILENT", "Task", "root_task"]


class Task:
    """A node of the task tree; ``context`` is None where nobody listens."""

    def __init__(self, estimator=None, context=None):
        self._estimator = estimator
        self._context = context
        self.stopped = False

    def child(self, name, total=0, *, number=None, ordered=True):
        """Return a child, not yet begun.

        Parameters
        ----------
        name : str
        total : int or None, default=0
            How many children it will have itself, None if that is not known.
        number : int, default=None
            Its number among the children of a task that is not ``ordered``.
        ordered : bool, default=True
            False if its own children carry numbers and may run in any order, in other
            processes too.
        """
        if self._context is None:
            return self
        context = self._context.subcontext(
            name, task_id=number, max_subtasks=total, sequential_subtasks=ordered
        )
        return Task(self._estimator, context)

    def __enter__(self):
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __exit__(self, *failure):
        if self._context is not None:
            self.stopped |= self._context.call_on_fit_task_end(estimator=self._estimator)

    @contextmanager
    def subtask(self, name, total=0):
        """Run a child task; one that asks to stop stops this one."""
        with self.child(name, total) as child:
            yield child
        self.stopped |= child.stopped

    def watch(self, name):
        """Return a solver callback that reports each iteration as a child task."""

        def report(iteration, objective):
            with self.subtask(name):
                pass
            return self.stopped

        return report


SILENT = Task()


@contextmanager
def root_task(estimator, name="fit", total=0):
    """Run an estimator's root task; its ``fit`` is decorated with ``with_callbacks``."""
    context = estimator._init_callback_context(task_name=name, max_subtasks=total)
    if not getattr(estimator, "_skl_callbacks", None):
        yield SILENT
        return
    context.call_on_fit_task_begin(estimator=estimator)
    yield Task(estimator, context)
    context.call_on_fit_task_end(estimator=estimator)
