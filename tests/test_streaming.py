"""Two scans find what all rows in memory find, whatever the blocks, the order and the workers."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path, select_stream, streaming
from kernelknife._engine.data import RowsError
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._streaming import newton, noise
from kernelknife._streaming import scan as scanning
from kernelknife.export import to_tables
from kernelknife.kernels import Additive
from kernelknife.losses import HuberLoss
from kernelknife.sources import FrameSource, Source

QUICK = {"cv": 3, "n_pairs": 2, "sparsities": 12}


def table(rng, n=1500):
    """Return columns of many values, of few, of two, heavy-tailed, and a target of three."""
    columns = {f"x{j}": rng.normal(size=n) for j in range(4)}
    columns["few"] = rng.integers(0, 5, n)
    columns["two"] = rng.integers(0, 2, n) == 1
    columns["heavy"] = np.exp(2.0 * rng.normal(size=n))
    columns["same"] = np.ones(n)
    signal = np.sin(2 * columns["x1"]) + columns["few"] * 0.5 + np.log(columns["heavy"]) / 2
    return columns | {"y": signal + 0.5 * rng.normal(size=n)}


def matrix(columns):
    return np.column_stack([columns[name] for name in columns if name != "y"]).astype(float)


@pytest.mark.parametrize("kernel", ["additive", "linear"])
def test_the_path_is_that_of_the_rows_in_memory(kernel, rng):
    columns = table(rng)
    penalties = np.geomspace(1e3, 3e5, 8)
    found = select_stream(
        columns, "y", kernel=kernel, alphas=1.0, sparsities=penalties, cv=3, n_pairs=0
    )
    path = knife_path(matrix(columns), columns["y"], kernel=kernel, alpha=1.0, sparsities=penalties)
    assert_allclose(found.path, path.weights, atol=1e-6)
    assert 0 < np.count_nonzero(found.path[-1]) < np.count_nonzero(found.path[0])


def test_texts_are_a_group_of_indicators(rng):
    n = 900
    colors = rng.choice(["blue", "green", "red", "white"], n, p=[0.1, 0.2, 0.3, 0.4])
    columns = {"x": rng.normal(size=n), "color": colors, "z": rng.normal(size=n)}
    columns["y"] = columns["x"] + 2.0 * (colors == "red") + 0.5 * rng.normal(size=n)
    penalties = np.geomspace(1e2, 1e5, 6)
    options = {"alphas": 1.0, "sparsities": penalties, "cv": 3, "n_pairs": 0, "relax": False}
    found = select_stream(columns, "y", **options)
    X = np.column_stack([columns["x"], colors[:, None] == np.unique(colors), columns["z"]])
    # In memory a group costs what its columns cost; here a column is a column.
    path = knife_path(
        X.astype(float),
        columns["y"],
        kernel="additive",
        sparsities=penalties,
        feature_groups=[0, 1, 1, 1, 1, 2],
        feature_costs=[1.0, *[0.25] * 4, 1.0],
    )
    assert_allclose(found.path, path.weights[:, [0, 1, 5]], atol=1e-6)
    other = found.predict({"x": [0.0, 0.0], "color": ["mauve", "red"], "z": [0.0, 0.0]})
    assert np.isfinite(other).all()
    assert other[1] - other[0] > 1.0


def same_selections(one, two):
    assert one.selected == two.selected
    assert (one.alpha, one.weighting) == (two.alpha, two.weighting)
    assert_allclose(two.sparsity, one.sparsity, rtol=1e-9)
    assert_allclose(two.weights, one.weights, atol=1e-9)
    assert_allclose(two.path, one.path, atol=1e-9)
    assert_array_equal(two.frequency, one.frequency)
    for name in ("error", "standard_error", "baseline_error"):
        assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-9)


@pytest.mark.parametrize("block_rows", [100, 7001])
@pytest.mark.parametrize("n_workers", [1, 3])
def test_blocks_workers_and_the_order_of_rows_change_nothing(block_rows, n_workers, rng):
    columns = table(rng, 7000)
    columns["color"] = rng.choice(["blue", "green", "red"], 7000)
    columns["s"] = rng.uniform(0.5, 2.0, 7000)
    options = {"sample_weight": "s", **QUICK}
    found = select_stream(FrameSource(columns, 1000), "y", **options)
    order = rng.permutation(7000)
    shuffled = FrameSource({name: values[order] for name, values in columns.items()}, block_rows)
    again = select_stream(shuffled, "y", n_workers=n_workers, **options)
    same_selections(found, again)
    assert_allclose(again.predict(columns), found.predict(columns), atol=1e-8)


def test_a_row_of_weight_zero_is_no_row(rng):
    columns = table(rng)
    columns["s"] = rng.integers(0, 2, 1500)
    kept = columns["s"] > 0
    options = {"sample_weight": "s", **QUICK}
    without = {name: values[kept] for name, values in columns.items()}
    same_selections(select_stream(without, "y", **options), select_stream(columns, "y", **options))


def truth(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.15 * X[:, 2]


def test_weak_effects_are_found_and_the_error_is_honest(rng):
    n = 60_000
    X = rng.normal(size=(n, 12))
    y = truth(X) + rng.normal(size=n)
    columns = {f"x{j}": X[:, j] for j in range(12)}
    found = select_stream(columns | {"y": y}, "y", n_pairs=5)
    assert set(found.selected) == {"x0", "x1", "x2"}
    assert (found.frequency[:3] == 1.0).all()
    assert found.frequency[3:].max() < 0.5
    fresh = rng.normal(size=(n, 12))
    predicted = found.predict({f"x{j}": fresh[:, j] for j in range(12)})
    errors = (predicted - truth(fresh) - rng.normal(size=n)) ** 2
    assert abs(found.error - errors.mean()) < 4.0 * np.sqrt(2.0 * errors.var() / n)
    assert found.error < 1.1
    assert found.n_scans == 2
    shares = {effect.names[0]: effect.share for effect in found.estimator.effects()}
    assert_allclose(sum(shares.values()), 1.0)
    assert shares["x1"] > shares["x2"] < shares["x0"]


def test_moments_of_effects_are_those_of_a_pass_over_the_rows(rng):
    columns = table(rng)
    found = select_stream(columns, "y", **QUICK)
    rows = ArrayRows(matrix(columns), names=np.array(found.names, dtype=object))
    constant, effects = found.estimator.effect_values(rows)
    total = constant + sum(effects.values())
    assert_allclose(total[:, 0], found.predict(columns))
    for effect in found.estimator.effects():
        values = effects[effect.names]
        assert_allclose(values.mean(), 0.0, atol=1e-9)
        share = np.mean(values * (total - total.mean())) / total.var()
        assert_allclose(effect.share, share, rtol=1e-9)


def test_rows_of_a_group_stay_together(rng):
    """Rows of one subject share a shift; folds that split subjects would reward knowing it."""
    n_subjects, each = 40, 30
    subject = np.repeat(np.arange(n_subjects), each)
    place = rng.normal(size=n_subjects)
    columns = {"place": place[subject], "x": rng.normal(size=len(subject))}
    columns["y"] = 3.0 * rng.normal(size=n_subjects)[subject] + columns["x"]
    columns["subject"] = subject.astype(str)
    kernel = Additive(gamma=30.0, n_functions=15)
    options = {"kernel": kernel, "alphas": 0.01, "n_pairs": 0}
    split = select_stream(columns, "y", drop=["subject"], **options)
    whole = select_stream(columns, "y", groups="subject", **options)
    assert whole.error > 1.2 * split.error


# -- interruptions --------------------------------------------------------------------------------


class Breaking(Source):
    """A source that ends at some block of some scan."""

    n_rows, label = None, "a source that breaks"

    def __init__(self, inner, breaks=None):
        self.inner, self.breaks, self.n_scans, self.read = inner, breaks, 0, 0
        self.names, self.dtypes = inner.names, inner.dtypes

    def blocks(self, columns):
        self.n_scans += 1
        for number, block in enumerate(self.inner.blocks(columns)):
            if (self.n_scans, number) == self.breaks:
                raise OSError("the disk is gone")
            self.read += 1
            yield block


@pytest.mark.parametrize("breaks", [(1, 5), (2, 3)])
def test_a_scan_that_was_interrupted_goes_on_where_it_was(breaks, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "SECONDS", 0.0)
    inner = FrameSource(table(rng), 100)
    file = tmp_path / "checkpoint"
    whole = select_stream(Breaking(inner), "y", **QUICK)
    with pytest.raises(RowsError, match=r"breaks cannot be read on: the disk is gone"):
        select_stream(Breaking(inner, breaks), "y", checkpoint=file, n_workers=1, **QUICK)
    assert file.exists()
    told = []
    again = Breaking(inner)
    resumed = select_stream(again, "y", checkpoint=file, announce=told.append, **QUICK)
    same_selections(whole, resumed)
    assert any("resumed" in text for text in told)
    assert again.n_scans == (2 if breaks[0] == 1 else 1)
    assert not file.exists()


KILLED = """
import os, sys
import numpy as np
from kernelknife import select_stream
from kernelknife._streaming import scan
from kernelknife.sources import FrameSource

class Killed(FrameSource):
    def blocks(self, names):
        for number, block in enumerate(super().blocks(names)):
            if number == 9 and "kill" in sys.argv:
                os._exit(9)
            yield block

scan.SECONDS = 0.0
X = np.random.default_rng(0).normal(size=(1500, 3))
table = {"a": X[:, 0], "b": X[:, 1], "y": np.sin(X[:, 0]) + 0.1 * X[:, 2]}
found = select_stream(
    Killed(table, 100), "y", cv=3, n_pairs=0, sparsities=8, checkpoint=sys.argv[1], announce=print
)
print(repr(found.error))
"""


def test_a_killed_process_loses_nothing_but_time(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-c", KILLED, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    file = tmp_path / "checkpoint"
    assert run(file, "kill").returncode == 9
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoint"]
    resumed = run(file).stdout.splitlines()
    assert any("resumed after" in line for line in resumed)
    assert_allclose(float(resumed[-1]), float(run(file).stdout.splitlines()[-1]), rtol=1e-12)


def test_a_checkpoint_of_another_question_is_refused(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "SECONDS", 0.0)
    file = tmp_path / "checkpoint"
    inner = FrameSource(table(rng), 100)
    with pytest.raises(RowsError):
        select_stream(Breaking(inner, (2, 3)), "y", checkpoint=file, **QUICK)
    with pytest.raises(RowsError, match="belongs to another selection"):
        select_stream(Breaking(inner), "y", drop=["few"], checkpoint=file, **QUICK)
    file.write_bytes(b"something else")
    with pytest.raises(RowsError, match="is not a checkpoint"):
        select_stream(Breaking(inner), "y", checkpoint=file, **QUICK)


def test_a_checkpoint_cannot_run_anything(rng, tmp_path):
    import os
    import pickle

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    file = tmp_path / "checkpoint"
    file.write_bytes(pickle.dumps(("", {}, Evil())))
    with pytest.raises(RowsError, match="is not a checkpoint"):
        select_stream(table(rng), "y", checkpoint=file, **QUICK)
    assert not (tmp_path / "made").exists()


# -- what is refused ------------------------------------------------------------------------------


class Blocks(Source):
    """Blocks as they are given."""

    names, label = ["x", "y"], "the blocks"
    dtypes = {"x": "number", "y": "number"}  # noqa: RUF012

    def __init__(self, *blocks):
        self.given = blocks

    def blocks(self, columns):
        yield from self.given


def block(n=50, **changes):
    x = np.linspace(0.0, 1.0, n)
    return {"x": x, "y": x + np.sin(20.0 * x)} | changes


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([block(), {"y": np.ones(5)}], r"Column 'x' is missing in block 1 of the blocks\."),
        ([block(), block(2, x=np.array(["a", "b"]))], r"'x' holds texts, not numbers, in block 1"),
        ([block(2, x=np.array([1.0, np.nan]))], r"'x' has 1 missing or infinite values in block 0"),
        ([block(2, y=np.array([np.inf, 1.0]))], r"'y' has 1 missing or infinite values"),
        ([], r"the blocks has no rows\."),
        ([block(0)], r"has 0 row\(s\)"),
        ([block(y=np.ones(50))], r"The target 'y' is constant"),
        ([block(x=np.ones(50))], r"All columns of the blocks are constant"),
        ([block(3), block(3)], r"are too few, or too many of them are copies"),
    ],
)
def test_broken_rows_are_refused_in_one_sentence(blocks, message):
    with pytest.raises(RowsError, match=message):
        select_stream(Blocks(*blocks), "y", **QUICK)


def test_an_empty_block_among_others_is_nothing(rng):
    columns = table(rng, 400)
    parts = [
        {name: values[rows] for name, values in columns.items()}
        for rows in (slice(0, 0), slice(0, 250), slice(250, 250), slice(250, 400))
    ]
    source = Blocks(*parts)
    source.names, source.dtypes = list(columns), dict.fromkeys(columns, "number")
    same_selections(select_stream(columns, "y", **QUICK), select_stream(source, "y", **QUICK))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, r"has no column 'z', the target"),
        ({"features": ["x1", "q"]}, r"has no column 'q'"),
        ({"drop": ["q"]}, r"has no column 'q'"),
        ({"kernel": "rbf"}, r"needs the kernel 'additive' or 'linear'"),
        ({"memory_budget": 1e3}, r"over the budget"),
        ({"cv": 1}, r"cv must be"),
        ({"rule": "best"}, r"rule must be"),
        ({"relax": "no"}, r"relax must be"),
        ({"features": []}, r"no column left"),
    ],
)
def test_options_are_checked_before_a_row_is_read(options, message, rng):
    source = Breaking(FrameSource(table(rng, 100)))
    with pytest.raises(ValueError, match=message):
        select_stream(source, **{"target": "y", **options})
    assert not source.read


def test_rows_that_change_between_the_scans_are_refused(rng):
    columns = table(rng, 300)

    class Growing(FrameSource):
        def blocks(self, names):
            self.block_rows -= 50
            return iter([next(super().blocks(names))])

    with pytest.raises(RowsError, match=r"250 rows in the first scan and 200 in the second"):
        select_stream(Growing(columns, 300), "y", **QUICK)


def test_a_column_of_names_is_refused(rng):
    columns = table(rng, 300) | {"id": [f"row {i}" for i in range(300)]}
    with pytest.raises(RowsError, match=r"'id' has more than 100 different texts"):
        select_stream(columns, "y", **QUICK)


def test_a_small_budget_means_fewer_cells_and_workers_and_the_same_folds(rng):
    columns = table(rng)
    told = []
    found = select_stream(columns, "y", **QUICK)
    small = select_stream(
        columns, "y", n_workers=8, memory_budget=9.78e7, announce=told.append, **QUICK
    )
    assert "by 1 workers" in told[0]
    assert small.memory <= 9.78e7
    assert_allclose(small.path, found.path, atol=1e-9)
    assert_allclose(small.error, found.error, rtol=1e-9)


def test_what_will_be_done_is_told_before(rng):
    told = []
    found = select_stream(table(rng), "y", announce=told.append, **QUICK)
    assert told[0].startswith("1,500 rows x 8 columns of the table: 2 scans by")
    assert found.memory > 0


# -- other losses ---------------------------------------------------------------------------------


def classes(rng, n=1500, p=7):
    """Return columns, of which two matter, and a target of two texts."""
    X = rng.normal(size=(n, p))
    odds = 1.5 * np.sin(2 * X[:, 1]) + X[:, 4] ** 2 - 1.0
    columns = {f"x{j}": X[:, j] for j in range(p)}
    return columns | {"y": np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-odds)), "yes", "no")}


def target_of(loss, scores, rng):
    """Return targets that fit a loss."""
    if loss in ("logistic", "squared_hinge"):
        return rng.random(len(scores)) < 1.0 / (1.0 + np.exp(-2.0 * scores))
    if loss == "poisson":
        return rng.poisson(np.exp(0.5 * scores)).astype(float)
    if loss == "gamma":
        return np.exp(0.5 * scores) * rng.gamma(2.0, size=len(scores))
    return scores + rng.standard_t(2, size=len(scores))


@pytest.mark.parametrize("kernel", ["additive", "linear"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "poisson", "gamma"])
@pytest.mark.parametrize("relax", [False, True])
def test_the_model_of_any_loss_is_that_of_the_rows_in_memory(loss, kernel, relax, rng):
    X = rng.normal(size=(800, 5))
    scores = X[:, 1] + (X[:, 3] ** 2 - 1.0 if kernel == "additive" else X[:, 3])
    y = target_of(loss, scores, rng)
    columns = {f"x{j}": X[:, j] for j in range(5)} | {"y": y}
    found = select_stream(columns, "y", kernel=kernel, loss=loss, relax=relax, **QUICK)
    kind = KnifeClassifier if y.dtype == bool else KnifeRegressor
    options = {"alpha": found.alpha, "sparsity": found.sparsity, "relax": relax, "tol": 1e-9}
    model = kind(kernel, loss=loss, **options).fit(X, y)
    assert_allclose(found.weights, model.weights_, atol=1e-3)
    if y.dtype == bool:
        scores = to_tables(found).predict(columns)
        assert_allclose(scores, model.decision_function(X), atol=1e-3)
        assert_array_equal(found.predict(columns), scores > 0)
    else:
        assert_allclose(found.predict(columns), model.predict(X), rtol=1e-4)
    assert_allclose(found.estimator.objective_, model.objective_, rtol=1e-6)
    assert "x3" in found.selected
    assert found.error < found.baseline_error


def test_a_robust_loss_is_hardly_moved_by_outliers(rng):
    X = rng.normal(size=(3000, 4))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=3000)
    y[:60] += 50.0
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"y": y}
    robust = select_stream(columns, "y", loss=HuberLoss(0.1), **QUICK)
    assert robust.selected == ["x0"]
    assert np.abs(robust.predict(columns) - np.sin(X[:, 0])).mean() < 0.25


def test_counts_have_an_exposure(rng):
    X, years = rng.normal(size=(900, 5)), rng.uniform(0.5, 3.0, 900)
    y = rng.poisson(years * np.exp(X[:, 1]))
    columns = {f"x{j}": X[:, j] for j in range(5)} | {"years": years, "y": y}
    found = select_stream(columns, "y", loss="poisson", exposure="years", **QUICK)
    assert found.selected == ["x1"]
    options = {"alpha": found.alpha, "sparsity": found.sparsity, "tol": 1e-9}
    relax = found.weighting == "relaxed"
    model = KnifeRegressor("additive", loss="poisson", relax=relax, **options)
    model.fit(X, y, exposure=years)
    assert_allclose(found.predict(columns), model.predict(X), rtol=1e-4)
    assert_allclose(found.predict(columns, years), years * model.predict(X), rtol=1e-4)
    with pytest.raises(ValueError, match=r"exposure must have shape \(900,\)"):
        found.predict(columns, years[:3])


@pytest.mark.parametrize("n_workers", [1, 3])
def test_classes_of_texts_and_of_numbers_are_the_same_however_rows_come(n_workers, rng):
    columns = classes(rng)
    options = {"loss": "logistic", **QUICK}
    found = select_stream(FrameSource(columns, 400), "y", **options)
    order = rng.permutation(len(columns["y"]))
    shuffled = {name: values[order] for name, values in columns.items()}
    again = select_stream(FrameSource(shuffled, 77), "y", n_workers=n_workers, **options)
    assert found.selected == again.selected
    assert set(found.selected) == {"x1", "x4"}
    for name in ("error", "standard_error", "baseline_error", "sparsity"):
        assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-6)
    assert_allclose(again.weights, found.weights, atol=1e-6)
    assert set(found.predict(columns)) == {"no", "yes"}
    assert_allclose(again.predict_proba(columns), found.predict_proba(columns), atol=1e-5)
    # Rows are told apart by what they hold, so that numbers in the place of texts make other folds.
    numbers = select_stream(columns | {"y": columns["y"] == "yes"}, "y", **options)
    assert set(numbers.selected) == {"x1", "x4"}


def test_the_held_out_loss_is_honest(rng):
    columns, fresh = classes(rng, 20_000), classes(rng, 20_000)
    found = select_stream(columns, "y", loss="logistic", cv=5, n_pairs=0, sparsities=12)
    right = np.where(fresh["y"] == "yes", *found.predict_proba(fresh).T[::-1])
    losses = -np.log(right)
    assert abs(found.error - losses.mean()) < 4.0 * losses.std() * np.sqrt(2.0 / len(losses))
    assert_allclose(found.baseline_error, np.log(2.0), rtol=0.05)


def test_columns_that_the_first_sums_leave_out_come_back(rng, monkeypatch):
    columns, options = classes(rng), {"loss": "logistic", "alphas": 1.0, **QUICK}
    found = select_stream(columns, "y", **options)
    # Penalties far above the selected one let in the strongest column alone.
    monkeypatch.setattr(newton, "KEPT_BELOW", 1e9)
    blind = select_stream(columns, "y", **options)
    assert set(blind.selected) == set(found.selected) == {"x1", "x4"}
    assert blind.n_scans > found.n_scans


@pytest.mark.parametrize("scan", [3, 5])
def test_a_newton_step_that_was_interrupted_goes_on_where_it_was(scan, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "SECONDS", 0.0)
    inner, options = FrameSource(classes(rng), 100), {"loss": "logistic", **QUICK}
    whole = select_stream(Breaking(inner), "y", **options)
    file = tmp_path / "checkpoint"
    with pytest.raises(RowsError, match="the disk is gone"):
        select_stream(Breaking(inner, (scan, 3)), "y", checkpoint=file, n_workers=1, **options)
    again = Breaking(inner)
    resumed = select_stream(again, "y", checkpoint=file, **options)
    same_selections(whole, resumed)
    assert again.n_scans == whole.n_scans - scan + 1


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        ({"loss": "hinge"}, {}, r"needs a smooth loss, and Hinge"),
        ({"loss": "quantile"}, {}, r"needs a smooth loss, and Quantile"),
        ({"loss": "cox"}, {}, r"times until an event couple all rows"),
        ({"loss": "unknown"}, {}, r"needs a loss of numbers or of two classes, got 'unknown'"),
        ({"loss": "logistic"}, {}, r"'y' has many different values: a streamed selection of"),
        ({"loss": "poisson"}, {}, r"In block 0 of the table: .*negative"),
        ({"loss": "squared", "exposure": "x0"}, {}, r"losses with a logarithmic link"),
        ({"loss": "poisson", "exposure": "x0"}, {"y": 2.0}, r"'x0' is not positive in block 0"),
    ],
)
def test_losses_and_targets_that_do_not_go_together_are_refused(options, changes, message, rng):
    columns = table(rng, 200)
    columns |= {name: np.abs(columns[name]).round() for name in changes}
    with pytest.raises(ValueError, match=message):
        select_stream(columns, "y", **options, **QUICK)


# -- noise ----------------------------------------------------------------------------------------


def test_the_noise_that_is_drawn_is_that_of_permuted_targets(rng):
    """Their strongest columns have the same distribution, whatever that of the target is."""
    n = 800
    X = np.column_stack([rng.normal(size=(n, 6)), rng.integers(0, 4, n)])
    columns = {f"x{j}": X[:, j] for j in range(7)}
    y = rng.exponential(size=n)
    options = {"alphas": 1.0, "cv": 2, "n_pairs": 0, "sparsities": 2, "n_permutations": 0}
    permuted = []
    for _ in range(80):
        found = select_stream(columns | {"y": rng.permutation(y)}, "y", **options)
        permuted.append(found.sparsities[-1])  # where the last column leaves the path
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "compare_with_noise", lambda setup, *_: kept.append(setup))
        select_stream(columns | {"y": y}, "y", **{**options, "n_permutations": 1})
    drawn = noise.noise_of(kept[0], 400, 0)[1]
    assert scipy.stats.ks_2samp(permuted, drawn).pvalue > 0.01


def test_p_values_of_noise_are_uniform_and_signals_have_small_ones(rng):
    p_values = []
    for _ in range(60):
        columns = {f"x{j}": rng.normal(size=600) for j in range(10)}
        columns["x1"] = 0.8 * columns["x0"] + 0.6 * columns["x1"]
        columns["y"] = rng.standard_t(5, size=600)
        options = {"cv": 2, "n_pairs": 0, "sparsities": 3, "n_permutations": 60}
        p_values.append(select_stream(columns, "y", **options).p_value)
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 0.01
    columns["y"] = columns["y"] + np.sin(2 * columns["x2"]) + 0.35 * columns["x5"]
    found = select_stream(columns, "y", **QUICK)
    assert found.p_value < 0.02
    assert found.adjusted_p_values[[2, 5]].max() < 0.05
    assert np.delete(found.adjusted_p_values, [2, 5]).min() > 0.05
    assert select_stream(columns, "y", n_permutations=0, **QUICK).p_value is None


# -- pairs ----------------------------------------------------------------------------------------


def acting_together(rng, n):
    """Return columns of which two act together and two others only add up."""
    columns = {f"x{j}": rng.normal(size=n) for j in range(6)}
    columns["kind"] = rng.choice(["a", "b", "c"], n)
    x = columns
    signal = x["x0"] + np.sin(x["x1"]) + x["x0"] * x["x1"] + x["x2"] ** 2 + (x["kind"] == "b")
    return columns | {"y": signal + rng.normal(size=n)}


def test_pairs_that_act_together_are_named(rng):
    found = select_stream(acting_together(rng, 4000), "y", pairs=4, **QUICK)
    assert found.n_scans == 3
    assert found.pairs[0].names == ("x0", "x1")
    assert found.pairs[0].p_value < 1e-6
    assert 0.3 < found.pairs[0].share < 0.6  # a variance of one beside noise of one
    assert min(pair.p_value for pair in found.pairs[1:]) > 0.05
    assert len(found.pairs) == 6


def test_a_pair_is_tested_by_what_it_explains_beyond_single_columns(rng):
    """Regress the product and what the model leaves on the columns, with White's variance."""
    columns = acting_together(rng, 700)
    asked = [("x3", "x4"), ("x0", "x5")]
    found = select_stream(columns, "y", kernel="linear", drop=["kind"], pairs=asked, **QUICK)
    names = sorted({*found.selected, *(name for pair in asked for name in pair)})
    singles = np.column_stack([np.ones(700), *(columns[name] for name in names)])
    for pair in found.pairs:
        product = columns[pair.names[0]] * columns[pair.names[1]]
        left, beyond = (
            z - singles @ np.linalg.lstsq(singles, z)[0] for z in (columns["y"], product)
        )
        statistic = (beyond @ left) ** 2 / np.sum(beyond**2 * left**2)
        p_value = min(2.0 * scipy.stats.chi2.sf(statistic, 1), 1.0)
        # The fitted model is not quite least squares: its penalty leaves a little more.
        assert_allclose(pair.p_value, p_value, rtol=0.05, atol=1e-3)


def test_pairs_of_independent_columns_have_uniform_p_values(rng):
    p_values = []
    for _ in range(60):
        columns = classes(rng, 600, 5)
        found = select_stream(columns, "y", loss="logistic", pairs=[("x0", "x2")], **QUICK)
        p_values.append(found.pairs[0].p_value)
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 0.01


def test_pairs_of_classes_are_found_and_unknown_ones_refused(rng):
    X = rng.normal(size=(4000, 4))
    odds = X[:, 0] + 2.0 * X[:, 1] * X[:, 2]
    columns = {f"x{j}": X[:, j] for j in range(4)}
    columns["y"] = rng.random(4000) < 1.0 / (1.0 + np.exp(-odds))
    found = select_stream(columns, "y", loss="logistic", pairs=4, **QUICK)
    assert found.pairs[0].names == ("x1", "x2")
    for wrong in ([("x0", "q")], [("x0", "x0")], ["x0"]):
        with pytest.raises(ValueError, match="A pair is the names of two features, got"):
            select_stream(columns, "y", loss="logistic", pairs=wrong, **QUICK)
