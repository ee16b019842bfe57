"""
Two vowels, new speakers
========================

The vowels in *heed* and *hid* differ in their resonances, the formants. But people differ, too: a
short vocal tract raises all formants of a speaker. A model is fitted to ten speakers and tested
on eight others. The data are simulated around published averages of the first three formants, with
six measurements that are unrelated to the vowel.
"""

# %%
# There are twelve utterances of every speaker, six of each vowel, on a logarithmic scale.

import numpy as np
import pandas as pd

from kernelknife import KnifeClassifierCV
from kernelknife.inspection import KernelDisplay, WeightPathDisplay

rng = np.random.default_rng(0)
FORMANTS = {"heed": (270, 2290, 3010), "hid": (390, 1990, 2550)}  # Hz, of a long vocal tract
rows = []
for speaker in range(18):
    tract = rng.uniform(0.0, 0.4)  # raises the logarithm of every formant
    for vowel, formants in FORMANTS.items():
        for _ in range(6):
            heard = np.log(formants) + tract + 0.1 * rng.normal(size=3)
            rows.append([speaker, vowel, *heard, *rng.normal(size=6)])
names = ["F1", "F2", "F3", "pitch", "loudness", "length", "tilt", "jitter", "shimmer"]
table = pd.DataFrame(rows, columns=["speaker", "vowel", *names])
train, test = table[table.speaker < 10], table[table.speaker >= 10]

# %%
# Utterances of one speaker are not independent, so they stay in one fold.

search = KnifeClassifierCV(rule="1se", random_state=0)
search.fit(train[names], train.vowel, groups=train.speaker)
print("selected:", ", ".join(search.get_feature_names_out()))
errors = np.sum(search.predict(test[names]) != test.vowel)
print(f"{errors} of {len(test)} utterances of new speakers misclassified")

# %%
# The path shows which measurements are eliminated last; the selected penalty is marked.

WeightPathDisplay.from_estimator(search)

# %%
# This is the kernel matrix, its rows ordered by vowel: with equal weights on the left, with the
# learned weights on the right, where utterances of the same vowel are more similar to each other.

KernelDisplay.from_estimator(search.best_estimator_, train[names], train.vowel)
