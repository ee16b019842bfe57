"""Pictures of substitutes."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife import (
    knife_path,
)
from kernelknife.inspection.displays import (
    SubstitutesDisplay,
)
from kernelknife.inspection.substitutes import Substitutes, percent


def test_substitutes_are_bars_and_sentences(rng):
    """One bar per substitute, as long as the share that it makes up for."""
    x, z = rng.normal(size=(2, 100))
    X = np.column_stack([x, z, x + 0.1 * rng.normal(size=100), rng.normal(size=(100, 3))])
    path = knife_path(X, np.sin(x) + z, alpha=0.3)
    i = int(np.flatnonzero(path.n_selected == 2)[0])
    display = path.substitutes(i).plot()
    named = [one for place in display.substitutes for one in place.substitutes]
    assert len(named) == len(display.bars_) == 1
    assert_allclose(display.bars_[0].patches[0].get_width(), named[0].makes_up)
    texts = [text.get_text() for text in display.ax_.texts]
    assert "nothing replaces it" in texts
    assert percent(named[0].cost) in texts
    assert display.substitutes.plot().ax_ is not display.ax_


def test_a_picture_of_no_substitutes_is_empty():
    display = SubstitutesDisplay(Substitutes(())).plot()
    assert display.bars_ == []


# -- scores ---------------------------------------------------------------------------------------
