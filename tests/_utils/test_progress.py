"""The tree of tasks that callbacks see."""

import pytest
from sklearn.base import BaseEstimator

from kernelknife._utils.progress import SILENT, root_progress
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks


class Recorder:
    """A callback that records its calls and may ask to stop."""

    def __init__(self, stop_at=None):
        self.events, self.stop_at = [], stop_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, **_):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, **_):
        self.events.append(f"end {context.task_name}")
        return context.task_name == self.stop_at


class Walker(CallbackSupportMixin, BaseEstimator):
    """A fit of two points of three iterations each."""

    @with_callbacks
    def fit(self):
        self.seen_ = []
        with root_progress(self, "fit", 2) as task:
            self.task_ = task
            for point in range(2):
                with task.subtask("point", 3) as child:
                    watch = child.watch("iteration")
                    for i in range(3):
                        self.seen_.append((point, i))
                        if watch(i, 0.0):
                            break
                if task.stopped:
                    break
        return self


@pytest.mark.usefixtures("callbacks")
def test_tasks_begin_and_end_in_order():
    recorder = Recorder()
    Walker().set_callbacks(recorder).fit()
    iterations = ["begin iteration", "end iteration"] * 3
    points = ["begin point", *iterations, "end point"] * 2
    assert recorder.events == ["setup", "begin fit", *points, "end fit", "teardown"]


@pytest.mark.usefixtures("callbacks")
@pytest.mark.parametrize(
    ("stop_at", "seen"),
    [("iteration", [(0, 0)]), ("point", [(0, 0), (0, 1), (0, 2)])],
)
def test_a_callback_that_asks_to_stop_stops_what_is_above(stop_at, seen):
    assert Walker().set_callbacks(Recorder(stop_at)).fit().seen_ == seen


def test_without_callbacks_nothing_is_built():
    model = Walker().fit()
    assert model.task_ is SILENT
    assert model.seen_ == [(i, j) for i in range(2) for j in range(3)]
    assert SILENT.child("anything") is SILENT
    assert not SILENT.stopped
