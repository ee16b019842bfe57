"""What is announced before a search begins."""

import re

import numpy as np
import pytest

from kernelknife import KnifeClassifierCV, KnifeRegressorCV
from kernelknife._tuning.candidates import SearchSpec
from kernelknife._tuning.halving import plan_search
from kernelknife.app.messages import spelled
from kernelknife.app.options import in_command
from kernelknife.app.selection.planning import announce_search, in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "a few seconds"),
        (42, "about 40 seconds"),
        (100, "about 2 minutes"),
        (600, "about 10 minutes"),
        (20_000, "about 6 hours"),
    ],
)
def test_times_are_said_as_a_person_would(seconds, words):
    assert in_words(seconds) == words


def announced(search, X, y, **options):
    spec = SearchSpec.from_estimator(search)
    return announce_search(spec, plan_search(spec, len(X)), X, y, **options)


def test_what_is_compared_is_what_is_run(rng):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    search = KnifeRegressorCV(["linear", "rbf"], alphas=[0.1, 1.0], cv=3)
    line = announced(search, X, y)
    assert line.startswith("comparing linear and rbf on 3 folds of 60 rows, about 18 paths: ")
    assert search.fit(X, y).n_paths_ == 18


def test_long_tables_are_searched_on_some_rows(rng):
    X = rng.normal(size=(5000, 3))
    line = announced(KnifeClassifierCV(), X, X[:, 0] > 0)
    assert re.match("comparing linear, additive, anova and rbf on 5 folds of 3000 rows", line)


def test_an_estimate_does_not_end_a_search():
    """A number that is seldom other than zero: the rows that are timed may have nothing else."""
    X = np.random.default_rng(0).normal(size=(2000, 2))
    y = np.zeros(2000)
    y[:3] = 1.0
    line = announced(KnifeRegressorCV("linear", alphas=1.0), X, y)
    assert line.startswith("comparing linear on 5 folds of 2000 rows")


def test_a_long_search_names_the_quick_one(rng, monkeypatch):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    search = KnifeRegressorCV(["linear", "rbf"], alphas=[0.1, 1.0], cv=3)
    assert "quick" not in announced(search, X, y)
    monkeypatch.setattr("kernelknife.app.selection.planning.LEAST_SECONDS_PER_PATH", 60.0)
    line = announced(search, X, y)
    assert line.endswith("18 minutes (for a first answer in about ten seconds, use quick=True)")
    assert spelled(line, in_command).endswith("in about ten seconds, use --quick)")
    assert "quick" not in announced(search, X, y, quick=True)
