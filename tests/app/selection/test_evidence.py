"""What permutations and tests of single columns say beside a selection."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.report import build_report
from kernelknife.app.selection import headline, select_features


@pytest.fixture(scope="module")
def genes():
    """Four columns that tell two groups apart, of which one is enough, among 60."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 60))
    ill = rng.permutation(60) < 30
    X[:, :4] += 3.0 * ill[:, None]
    frame = pd.DataFrame(X).add_prefix("g")
    frame["town"] = rng.choice(["a", "b", "c"], size=60)
    return frame.assign(state=np.where(ill, "ill", "well"))


@pytest.fixture(scope="module")
def answer(genes):
    return select_features(genes, "state", kernel="additive", alpha=1.0, folds=3, n_jobs=1)


def test_every_gene_that_tells_the_groups_apart_is_listed(answer):
    listed = answer.verdict.informative
    assert set(listed[:4]) == {"g0", "g1", "g2", "g3"}
    assert set(answer.information) == {*(f"g{j}" for j in range(60)), "town"}
    one = answer.information["g0"]
    assert one.q_value < 0.001
    assert one.class_means["ill"] > one.class_means["well"] + 2
    assert one.shape == "higher for ill"
    assert answer.information["town"].class_means == {}
    sentence = headline(answer)
    for name in ("g0", "g1", "g2", "g3"):
        assert name in sentence


def test_the_selection_is_compared_with_noise(answer):
    noise = answer.against_noise
    assert noise.p_value == pytest.approx(1 / 21)
    assert noise.selected
    assert set(noise.selected) <= {"g0", "g1", "g2", "g3"}
    assert set(noise.p_values) == set(answer.information)
    assert all(noise.p_values[name] <= noise.level for name in noise.selected)


def test_all_of_it_is_in_json(answer):
    found = json.loads(json.dumps(answer.to_json()))
    assert found["against_noise"]["p_value"] == answer.against_noise.p_value
    assert found["verdict"]["stronger_than_noise"] == list(answer.against_noise.selected)
    assert found["verdict"]["carry_information"] == list(answer.verdict.informative)
    assert set(found["information"]["g1"]) == {
        *("p_value", "q_value", "share", "shape", "class_means")
    }


def test_the_headline_is_one_wherever_it_is_read(answer):
    sentence = headline(answer)
    assert answer.to_json()["verdict"]["sentence"] == sentence
    page = html.unescape(re.sub(r"<[^>]+>", "", build_report(answer)))
    assert sentence.split(". ")[0] in page
    assert "noise (p = 0.0476, 20 permutations of state)" in page
    # Every gene that is listed has been named, and no other.
    assert set(re.findall(r"\bg\d+\b", sentence)) >= set(answer.verdict.informative)


@pytest.mark.parametrize("options", [{"n_permutations": 0}, {"quick": True}])
def test_nothing_is_permuted_where_that_is_not_wanted(genes, options):
    few = genes[["g0", "g9", "state"]]
    plain = select_features(few, "state", kernel="linear", alpha=1.0, folds=3, n_jobs=1, **options)
    assert plain.against_noise is None
    assert plain.verdict.p_value is None
    assert "permutations" not in headline(plain)
    assert plain.information["g0"].listed


def test_too_few_permutations_are_refused_before_the_work_begins(genes):
    with pytest.raises(ValueError, match="5 permutations of the target cannot show"):
        select_features(genes, "state", n_permutations=5)
