"""Data: the paper's simulated problems, separate effects, genes, and loaders of measured data.

The paper's generators put the true features first and return ``X, y``. The others return a
``sklearn.utils.Bunch``, the loaders with data frames. They read files that we may not distribute;
:func:`load_vowel` says where they look for them.
"""

from kernelknife.datasets._measured import (
    DataFileError,
    load_colon,
    load_parkinsons,
    load_vowel,
)
from kernelknife.datasets._simulated import (
    make_genes,
    make_linear,
    make_separate_effects,
    make_sinusoidal,
    make_skin_of_orange,
)

__all__ = [
    "DataFileError",
    "load_colon",
    "load_parkinsons",
    "load_vowel",
    "make_genes",
    "make_linear",
    "make_separate_effects",
    "make_sinusoidal",
    "make_skin_of_orange",
]
