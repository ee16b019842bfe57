"""The races: true features, scores of runs, and the page that is made of the tables."""

import csv
import dataclasses
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import f_regression

from kernelknife.datasets import DataFileError

ROOT = Path(__file__).parents[1]
RACES = ROOT / "benchmarks" / "races"


@pytest.fixture(scope="module")
def races():
    """The modules of the races; none of them needs a peer to be imported."""
    pytest.importorskip("resource", reason="the races fork, which Windows cannot")
    sys.path.insert(0, str(RACES))
    try:
        import page
        import peers
        import problems
        import run
        import worker
    finally:
        sys.path.remove(str(RACES))
    return SimpleNamespace(page=page, peers=peers, problems=problems, run=run, worker=worker)


def test_true_features_are_where_a_problem_says(races):
    by_name = {(p.name, p.n): p for p in races.problems.PROBLEMS}
    race = by_name["sinusoidal, 5 noise", 100].draw(2000, 0)
    assert set(np.argsort(-f_regression(race.X, race.y)[0])[:5]) == set(race.true)
    race = by_name["sign of 2, 8 noise", 200].draw(200, 3)
    sign = np.sign(race.X[:, race.true].prod(axis=1))
    assert_allclose(sign, 2.0 * race.y - 1.0)
    race = by_name["redundant copies", 200].draw(2000, 0)
    trees = ExtraTreesClassifier(200, random_state=0).fit(race.X, race.y)
    assert set(np.argsort(-trees.feature_importances_)[:10]) == set(race.true)
    assert race.k == 5


def test_problems_differ_by_seed_and_not_by_call(races):
    for problem in races.problems.PROBLEMS:
        if problem.synthetic:
            a, b, c = (problem.draw(20, seed) for seed in (0, 0, 1))
            assert_allclose(a.X, b.X)
            assert not np.allclose(a.X, c.X)


def test_measured_problems_keep_people_apart(races, paper_data, monkeypatch):
    monkeypatch.setenv("KERNELKNIFE_DATA", str(paper_data))
    for problem in races.problems.PROBLEMS:
        if not problem.synthetic:
            race = problem.draw(0, 1)
            assert set(race.y) == set(race.y_test) == {0, 1}
            rows = {row.tobytes() for row in race.X}
            assert not any(row.tobytes() in rows for row in race.X_test)


def test_a_run_is_judged_by_its_top_k(races):
    problem = races.problems.BY_KEY["orange, 6 noise, n=100"]
    race = races.worker.standardized(problem.draw(100, 0))
    scores = np.zeros(10)
    scores[race.true] = [4, 3, 2, 1]
    selected = np.ones(10, dtype=bool)
    outcome = races.peers.Outcome(scores, selected, lambda X: np.zeros(len(X), dtype=int))
    facts = races.worker.judge(race, outcome)
    assert float(facts["recall"]) == 1.0
    assert_allclose(float(facts["f1"]), 2 * 0.4 / 1.4, atol=1e-4)
    assert_allclose(float(facts["own_error"]), np.mean(race.y_test), atol=1e-4)
    # The four true features alone leave little to a Gaussian SVM.
    assert float(facts["common_error"]) < 0.2
    facts = races.worker.judge(race, races.peers.Outcome(-scores))
    assert float(facts["recall"]) == 0.0
    assert set(facts) == {"recall", "common_error"}


@pytest.mark.parametrize("name", ["kernelknife path", "univariate F", "RFE, linear SVM"])
def test_methods_answer_in_the_same_form(races, name):
    problem = races.problems.BY_KEY["sinusoidal, 5 noise, n=100"]
    race = races.worker.standardized(problem.draw(60, 0))
    outcome = races.peers.METHODS[name].run(race, 0, 1)
    facts = races.worker.judge(race, outcome)
    assert len(outcome.scores) == 10
    assert float(facts["recall"]) >= 0.6


def test_every_method_says_what_and_why(races):
    for method in races.peers.METHODS.values():
        assert method.run.__doc__.split("\n")[0].endswith(".")
        assert method.settings.endswith(".")


def test_names_that_python_removed_are_put_back(races):
    """STG asks ``collections`` for classes that have moved to ``collections.abc``."""
    import collections
    import collections.abc

    before = set(vars(collections))
    races.peers._restore_collections()
    try:
        assert collections.Sequence is collections.abc.Sequence
        assert collections.Set is collections.abc.Set
    finally:
        for name in set(vars(collections)) - before:
            delattr(collections, name)


def test_the_page_says_who_is_not_here_and_what_is_doubtful(races):
    page = races.page.render()
    absent = page.split("## Who is not here, and why")[1].split("\n## ")[0]
    for name in ("KOS", "mixKernel", "knockpy", "botorch/issues/3360", "STG"):
        assert name in absent
    assert "botorch#3360" in races.peers.METHODS["MAP-SAAS"].settings
    assert {"ipss, boosting", "hidimstat CFI, forest"} <= set(races.peers.METHODS)
    # What is most worth knowing comes first.
    assert page.index("## In short") < page.index("## How it was done")


def test_slow_and_failed_cells_are_not_begun_again(races):
    options = SimpleNamespace(
        methods=["univariate F"], problems=["orange, 6 noise"], seeds=3, threads=1, budget=10.0
    )

    def row(seed, status="ok", seconds="1.0"):
        values = ("univariate F", "orange, 6 noise", "100", str(seed), "1", status, seconds)
        keys = ("method", "problem", "n", "seed", "threads", "status", "seconds")
        return dict(zip(keys, values, strict=True))

    def seeds(done):
        return [job["seed"] for job in races.run.jobs(options, done)]

    assert seeds([]) == [0, 1, 2]
    assert seeds([row(0)]) == [1, 2]
    assert seeds([row(0, seconds="11")]) == []
    assert seeds([row(0, "timeout", "60")]) == []
    assert seeds([row(0, "error", "")]) == []


def test_names_that_do_not_exist_are_no_results(races):
    def check(methods=None, problems=None):
        races.run.check_names(SimpleNamespace(methods=methods, problems=problems, again=None))

    check(["EBM"], ["orange"])
    with pytest.raises(SystemExit, match="no method 'LASSO'; there are kernelknife path"):
        check(["LASSO"])
    with pytest.raises(SystemExit, match="No problem has 'iris' in its name"):
        check(problems=["iris"])


def test_problems_without_their_data_are_left_out(races, capsys):
    def missing(*args):
        raise DataFileError("The vowel data are not there.")

    problem = next(p for p in races.problems.PROBLEMS if p.name.startswith("vowel"))
    absent = dataclasses.replace(problem, draw=missing)
    assert not races.run.drawable(absent)
    assert "left out, vowel i/I: The vowel data are not there." in capsys.readouterr().out


def test_the_page_is_that_of_the_tables(races):
    """Whoever changes a table or the words writes the page again."""
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == races.page.render()


def test_the_page_knows_what_fifty_models_cost(races):
    small = races.page.read("small")
    assert [row["n"] for row in small if row["what"] == races.page.FLOOR] == ["100", "200", "400"]


def test_tables_name_known_methods_and_problems(races):
    with (ROOT / "benchmarks" / "results" / "races.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    known = {(p.name, str(p.n)) for p in races.problems.BY_KEY.values()}
    assert {row["method"] for row in rows} <= set(races.peers.METHODS)
    assert {(row["problem"], row["n"]) for row in rows} <= known
    keys = [tuple(row[name] for name in races.run.KEY) for row in rows]
    assert len(keys) == len(set(keys))
