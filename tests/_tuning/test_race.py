"""Which lines go on, told with made-up scores whose right answer is known."""

from dataclasses import dataclass

import numpy as np
import pytest

from kernelknife._tuning import FoldScores, Line, Race, expected_paths


@dataclass
class Template:
    alpha: float


def make_race(quality, extends=False, best=0.0, by_fold=False, **options):
    """Return a race in which a line's score is ``quality(kernel, alpha)`` on every fold.

    It is that at the penalty ``best``, and falls to zero six further. With ``by_fold`` it is
    ``quality(kernel, alpha, fold)``.
    """
    ran = []

    def make_line(kernel, alpha):
        return Line(kernel, Template(alpha), np.arange(7.0), ("penalized",))

    def run(batches, first_look):
        results = []
        for lines, fold in batches:
            ran.extend((line.kernel, line.alpha, fold, len(line.penalties)) for line in lines)
            results.append(
                [
                    # The worst of a line is the model without features, which scores 0.
                    FoldScores(
                        quality(line.kernel, line.alpha, *[fold] * by_fold)
                        * (1.0 - np.abs(line.penalties - best) / 6.0),
                        np.zeros((len(line.penalties), 1), np.uint8),
                        10,
                    )
                    for line in lines
                ]
            )
        return results

    return Race(make_line, run, extends, **options), ran


def test_the_best_two_lines_are_followed_to_the_end():
    quality = {"a": 0.3, "b": 0.9, "c": 0.5, "d": 0.1}
    race, ran = make_race(lambda kernel, alpha: quality[kernel])
    race.compare({kernel: [1.0] for kernel in quality}, 10, 100)
    full = {
        line.kernel
        for line, scores in zip(race.lines, race.scores, strict=True)
        if len(scores) == 10 and len(line.penalties) == 7
    }
    assert full == {race.lines[i].kernel for i in race.followed} == {"b", "c"}
    # The first look: five folds, a third of the penalties.
    assert {(fold, n) for kernel, _, fold, n in ran if kernel == "a"} == {(i, 3) for i in range(5)}
    expected = expected_paths({kernel: [1.0] for kernel in quality}, False, 10, 100)
    assert expected == (4 * 5, 2 * 10)
    assert sum(expected) == race.n_paths == len(ran)


def test_few_lines_are_not_raced():
    race, ran = make_race(lambda kernel, alpha: -alpha)
    race.compare({"a": [0.1, 1.0]}, 3, 100)
    assert len(ran) == 2 * 3
    assert all(n == 7 for *_, n in ran)


@pytest.mark.parametrize("best", [1e-3, 0.1, 1.0, 100.0])
def test_the_search_for_alpha_ends_where_the_curve_has_turned(best):
    race, _ = make_race(lambda _, alpha: 10.0 - np.log10(alpha / best) ** 2, extends=True)
    race.compare({"a": [0.1, 1.0]}, 5, 100)
    alphas = sorted(line.alpha for line in race.lines)
    assert min(alphas) < best * 1.001
    assert max(alphas) > best * 0.999
    top = max(range(len(race.lines)), key=race.best)
    assert race.lines[top].alpha == pytest.approx(best)
    # No alpha beyond the one after the turn.
    assert alphas[0] >= min(0.1, best / 10.001)
    assert alphas[-1] <= max(1.0, best * 10.001)


def test_a_flat_curve_is_not_searched():
    race, _ = make_race(lambda _, alpha: 1.0 - 1e-3 * np.log10(alpha), extends=True)
    race.compare({"a": [0.1, 1.0]}, 5, 100)
    assert sorted({line.alpha for line in race.lines}) == [0.1, 1.0]


@pytest.mark.parametrize(("luck", "searched"), [(0.0, [0.01, 0.1, 1.0]), (0.5, [0.1, 1.0])])
def test_a_gain_must_be_more_than_luck(luck, searched):
    """What the smaller alpha gains differs from fold to fold by so much."""

    def quality(_, alpha, fold):
        return 10.0 + (alpha == 0.1) * (0.1 + luck * (-1.0) ** fold)

    race, _ = make_race(quality, extends=True, by_fold=True)
    race.compare({"a": [0.1, 1.0]}, n_folds=5, n_rows=100)
    assert sorted({line.alpha for line in race.lines}) == searched


def test_a_tie_goes_to_the_simpler_kernel():
    race, _ = make_race(lambda kernel, alpha: 1.0)
    race.compare({"simple": [1.0], "second": [1.0], "third": [1.0]}, 3, 100)
    lengths = {line.kernel: len(line.penalties) for line in race.lines}
    assert lengths == {"simple": 7, "second": 7, "third": 3}


@pytest.mark.parametrize(("n_rows", "looked_at"), [(100, 5), (800, 5), (1000, 4), (5000, 2)])
def test_many_rows_need_fewer_folds_for_a_first_look(n_rows, looked_at):
    race, ran = make_race(lambda kernel, alpha: ord(kernel))
    race.compare({"a": [1.0], "b": [1.0], "c": [1.0]}, 5, n_rows)
    assert {fold for kernel, _, fold, _ in ran if kernel == "a"} == set(range(looked_at))
    assert sum(expected_paths({key: [1.0] for key in "abc"}, False, 5, n_rows)) == race.n_paths


def test_penalties_far_below_the_best_are_not_followed():
    lines = {"a": [1.0], "b": [1.0], "c": [1.0]}
    race, _ = make_race(lambda kernel, alpha: ord(kernel), best=6.0)
    race.compare(lines, 5, 100)
    # The first look has 0, 3 and 6; before the best comes 3.
    assert race.lines[-1].penalties.tolist() == [0, 3, 4, 5, 6]
    assert race.lines[0].penalties.tolist() == [0, 3, 6]
    race, _ = make_race(lambda kernel, alpha: ord(kernel), best=6.0, shortens=False)
    race.compare(lines, 5, 100)
    assert race.lines[-1].penalties.tolist() == list(range(7))


def test_lines_of_different_kernels_go_on():
    race, _ = make_race(lambda kernel, alpha: {"a": 0.9, "b": 0.5, "c": 0.1}[kernel] + 0.01 * alpha)
    race.compare({kernel: [0.1, 1.0] for kernel in "abc"}, 5, 100)
    full = {(line.kernel, line.alpha) for line in race.lines if len(line.penalties) == 7}
    assert full == {("a", 1.0), ("b", 1.0)}
