"""A picture of a solver's progress."""

from kernelknife import (
    KnifeRegressor,
)
from kernelknife.datasets import make_sinusoidal
from kernelknife.inspection.displays import (
    ConvergenceDisplay,
)


def test_convergence_shows_every_start():
    X, y = make_sinusoidal(60, 3, random_state=0)
    model = KnifeRegressor(n_starts=3, random_state=0, sparsity=2.0).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model)
    assert len(display.lines_) == 5
    text = [entry.get_text() for entry in display.ax_.get_legend().get_texts()]
    assert sum("(kept)" in entry for entry in text) == 1
