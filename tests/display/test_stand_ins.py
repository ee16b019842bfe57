"""Pictures of stand-ins."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife import (
    knife_path,
)
from kernelknife.display import (
    StandInsDisplay,
)
from kernelknife.stand_ins import StandIns, percent


def test_stand_ins_are_bars_and_sentences(rng):
    """One bar per stand-in, as long as the share that it makes up for."""
    x, z = rng.normal(size=(2, 100))
    X = np.column_stack([x, z, x + 0.1 * rng.normal(size=100), rng.normal(size=(100, 3))])
    path = knife_path(X, np.sin(x) + z, alpha=0.3)
    i = int(np.flatnonzero(path.n_selected == 2)[0])
    display = StandInsDisplay.from_path(path, i)
    named = [one for place in display.stand_ins for one in place.stand_ins]
    assert len(named) == len(display.bars_) == 1
    assert_allclose(display.bars_[0].patches[0].get_width(), named[0].makes_up)
    texts = [text.get_text() for text in display.ax_.texts]
    assert "nothing replaces it" in texts
    assert percent(named[0].cost) in texts
    assert display.stand_ins.plot().ax_ is not display.ax_


def test_a_picture_of_no_stand_ins_is_empty():
    display = StandInsDisplay(StandIns(())).plot()
    assert display.bars_ == []


# -- scores ---------------------------------------------------------------------------------------
