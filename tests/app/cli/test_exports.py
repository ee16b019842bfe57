"""What can be taken away: tables and figures, whatever the names in them."""

import csv
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from kernelknife import KnifeKnockoffs, KnifeRegressor, KnifeStability, select_features
from kernelknife.app.exploration import explore_table, relate_tables
from kernelknife.app.tables import table_bytes

FAST = ["--kernel=rbf", "--alpha=0.3", "--folds=3", "--permutations=0", "--jobs=1"]
HOSTILE = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-x",
    "@SUM(A1)",
    "<script>",
    "\u202eright",
    "\U0001f40d",
    "n" * 3000,
]


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, len(HOSTILE))), columns=HOSTILE)
    frame["y"] = np.sin(2 * frame[HOSTILE[0]]) + 0.2 * rng.normal(size=80)
    frame["id"] = [f"=A{i}" for i in range(80)]
    return frame


@pytest.fixture(scope="module")
def selection(hostile):
    options = {"kernel": "rbf", "alpha": 0.3, "folds": 3, "n_permutations": 0}
    return select_features(hostile, "y", ids=["id"], **options)


def test_a_table_of_the_columns_comes_in_three_formats(call, hostile, selection, tmp_path):
    data = tmp_path / "data.csv"
    hostile.to_csv(data, index=False)
    frames = {}
    for ending, read in ((".csv", pd.read_csv), (".xlsx", pd.read_excel), (".parquet", None)):
        path = tmp_path / f"columns{ending}"
        if ending == ".csv":
            flags = ["-t", "y", "--id", "id", *FAST, "--table", path]
            assert call("select", data, *flags)[0] == 0
        else:
            path.write_bytes(table_bytes(selection.to_frame(), path))
        frames[ending] = (read or pd.read_parquet)(path)
    exact, plain = frames[".parquet"], frames[".csv"]
    assert sorted(exact["column"]) == sorted(HOSTILE)
    pd.testing.assert_frame_equal(exact, selection.to_frame(), check_dtype=False)
    numbers = ["weight", "frequency", "rank", "p_value", "q_value", "share"]
    np.testing.assert_allclose(plain[numbers], exact[numbers], rtol=1e-6, atol=1e-9)
    assert frames[".xlsx"]["column"].tolist() == exact["column"].tolist()
    quoted = [name for name in plain["column"] if name.startswith("'")]
    assert sorted(quoted) == sorted(f"'{name}" for name in HOSTILE[:4])


def test_nothing_in_csv_or_excel_is_a_formula(hostile, selection, tmp_path):
    wide = hostile.drop(columns=["id"]).head(3).assign(text=["=1+1", "-5", "@x"])
    path = tmp_path / "t.csv"
    path.write_bytes(table_bytes(wide, path))
    with path.open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    for cell in cells:
        if cell[:1] in "=+-@" and cell:
            float(cell)  # a number is no formula
    book = tmp_path / "t.xlsx"
    book.write_bytes(table_bytes(wide, book))
    sheet = openpyxl.load_workbook(book).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    assert sheet.cell(1, 1).value == HOSTILE[0]
    with zipfile.ZipFile(book) as archive:
        assert "<f>" not in archive.read("xl/worksheets/sheet1.xml").decode()


def test_figures_are_written_in_three_formats(call, hostile, tmp_path):
    data, folder = tmp_path / "data.csv", tmp_path / "figures"
    hostile.to_csv(data, index=False)
    call("select", data, "-t", "y", "--id", "id", *FAST, "--figures", folder)
    names = {path.stem for path in folder.iterdir()}
    assert {"errors", "path", "effect_1"} <= names
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{ending}" for name in names for ending in ("pdf", "svg", "png")
    }
    assert (folder / "path.pdf").read_bytes()[:5] == b"%PDF-"
    assert (folder / "path.png").read_bytes()[1:4] == b"PNG"
    for path in folder.glob("*.svg"):
        assert "<script" not in path.read_text(encoding="utf-8")


def test_a_folder_for_figures_that_is_a_file_is_refused(call, table):
    code, _, err = call("select", table, "-t", "y", "--figures", table)
    assert code == 2
    assert "is a file: name a folder" in err


def test_a_selection_names_its_columns_and_has_tables_and_figures(selection):
    assert repr(HOSTILE[0]) in repr(selection)
    assert "mean squared error" in repr(selection)
    frame = selection.to_frame()
    assert frame["column"].tolist() == [feature.name for feature in selection.features]
    assert selection.to_frame("errors")["mean"].iloc[0] == selection.error.mean
    with pytest.raises(ValueError, match="There is no table 'nothing': there are 'errors'"):
        selection.to_frame("nothing")
    assert {"errors", "path"} <= set(selection.figures())


def test_scores_keep_the_identifiers_of_their_rows(call, hostile, tmp_path):
    data, scores = tmp_path / "data.csv", tmp_path / "scores.csv"
    gaps = hostile.copy()
    gaps.loc[[3, 7], "y"] = np.nan
    gaps.to_csv(data, index=False)
    flags = ["--id", "id", "--drop-missing", "--sparsity", "0.2", "--scores", scores]
    _, _, err = call("explore", data, *flags, "--components", "1")
    found = pd.read_csv(scores)
    assert found.columns.tolist() == ["id", "component_1"]
    assert found["id"].tolist() == [f"=A{i}" for i in range(80) if i not in (3, 7)]
    assert "a spreadsheet would run '=A0' as a formula" in err


def test_explorations_and_relations_have_tables_and_figures(hostile):
    numbers = hostile.drop(columns=["id"])
    found = explore_table(numbers, sparsity=0.2, n_components=1)
    assert found.to_frame()["weight"].tolist() == list(found.weights.values())
    assert found.to_frame("scores").shape == (80, 1)
    assert "scores" in found.figures()
    pair = relate_tables(numbers.iloc[:, :3], numbers[["y", "@SUM(A1)"]], n_components=1)
    assert set(pair.to_frame()["table"]) == {1, 2}
    assert "pair_1" in pair.figures()


def test_selectors_with_an_error_rate_have_a_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    y = 2 * frame["c"] + rng.normal(size=120)
    linear = KnifeRegressor("linear")
    for selector in (KnifeStability(linear, n_pairs=10), KnifeKnockoffs(linear, fdr=0.5)):
        table = selector.fit(frame, y).to_frame()
        assert "c" in table["feature"][:2].tolist()
        assert table["q_values"].is_monotonic_increasing
        kept = set(table.loc[table["selected"], "feature"])
        assert kept == set(selector.get_feature_names_out())


def test_half_samples_of_counts_know_their_exposure():
    rng = np.random.default_rng(0)
    X, years = rng.normal(size=(200, 5)), np.exp(rng.normal(size=200))
    X[:, 4] = np.log(years)  # says much about a count, and nothing about a rate
    visits = rng.poisson(years * np.exp(0.7 * X[:, 1]))
    counts = KnifeRegressor("linear", loss="poisson")
    plain = KnifeStability(counts, n_pairs=10).fit(X, visits)
    known = KnifeStability(counts, n_pairs=10).fit(X, visits, exposure=years)
    assert plain.selection_probabilities_[4] == 1.0
    assert known.selection_probabilities_[1] == 1.0
    assert known.selection_probabilities_[4] < 0.9
