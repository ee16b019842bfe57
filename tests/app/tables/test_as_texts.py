"""What a model knows as texts is read as texts, whatever the cells of a file look like."""

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.options import TableOptions
from kernelknife.app.selection import select_features
from kernelknife.app.storage import load_model, save_model
from kernelknife.app.tables import TableEncoder, TableError, expand_dates, make_table, read_table
from kernelknife.app.tables.dates import plan_dates

LOOKS = {
    "padded": ["01", "02", "x", "u", "v"],
    "trailing": ["1.50", "2.5", "x", "u", "v"],
    "small": ["true", "false", "x", "u", "v"],
    "large": ["True", "False", "x", "u", "v"],
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a table, a model of it, and the model's predictions of all rows."""
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(values, 120) for name, values in LOOKS.items()})
    frame["y"] = rng.normal(0.0, 0.1, 120)
    for name, values in LOOKS.items():
        frame["y"] += frame[name] == values[0]
    frame.to_csv(folder / "all.csv", index=False)
    found = select_features(
        read_table(folder / "all.csv"), "y", kernel="additive", alpha=0.1, sparsity=1.0, folds=3
    )
    save_model(folder / "model.kk", found)
    return folder, frame


def predict(folder, path):
    encoder, model, facts = load_model(folder / "model.kk")
    frame = read_table(path, texts=[*encoder.levels_, *facts["dates"]])
    return model.predict(encoder.transform(frame, facts["selected"]))


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_a_prediction_depends_on_its_row_alone(saved, ending, tmp_path):
    folder, frame = saved
    whole = predict(folder, folder / "all.csv")
    write = {
        "csv": pd.DataFrame.to_csv,
        "xlsx": pd.DataFrame.to_excel,
        "parquet": pd.DataFrame.to_parquet,
    }[ending]
    looks_typed = np.logical_and.reduce([frame[name].isin(LOOKS[name][:2]) for name in LOOKS])
    for rows in (np.arange(120), np.flatnonzero(looks_typed), *np.arange(0, 120, 17)[:, None]):
        path = tmp_path / f"some.{ending}"
        write(frame.iloc[rows], path, index=False)
        np.testing.assert_allclose(predict(folder, path), whole[rows], atol=1e-12)


def test_identifiers_come_back_character_for_character(tmp_path):
    ids = ["00017", "1.10", "1E2", "true", "NA", "None", "null", "", "9007199254740993", "-0"]
    path = tmp_path / "ids.csv"
    path.write_text("id,x\n" + "".join(f"{one},1\n" for one in ids))
    assert read_table(path, keys=["id"])["id"].tolist() == ids
    large = pd.DataFrame({"id": pd.array([2**53 + 1, None], dtype="Int64"), "x": [1.0, 2.0]})
    large.to_parquet(tmp_path / "ids.parquet")
    assert read_table(tmp_path / "ids.parquet", keys=["id"])["id"][0] == 2**53 + 1


def test_booleans_beside_a_gap_keep_their_spelling(tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("flag,x\ntrue,1\nfalse,2\n,3\n")
    assert read_table(path)["flag"].tolist()[:2] == ["true", "false"]
    encoder = TableEncoder(impute="median").fit(pd.DataFrame({"flag": [True, False, True]}))
    assert encoder.transform(read_table(path)).ravel().tolist() == [1.0, 0.0, 1.0]


def test_padded_classes_keep_their_names(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("k,x\n" + "01,1\n02,2\n" * 9)
    assert set(read_table(path, codes=["k"])["k"]) == {"01", "02"}
    path.write_text("k,x\n" + "".join(f"{i:02d},1\n" for i in range(40)))
    assert read_table(path, codes=["k"])["k"].dtype.kind == "i"


@pytest.mark.parametrize(
    ("cell", "marks"),
    [("1.5", (".", ",")), ("2.25", (".", ",")), ("0,02", (",", ".")), ("1,2345", (",", "."))],
)
def test_marks_in_the_wrong_place_are_refused(cell, marks, tmp_path):
    thousands, decimal = marks
    path = tmp_path / "marks.csv"
    path.write_text(f"x;y\n1{thousands}000{decimal}5;1\n{cell};2\n-12{thousands}345;3\n")
    with pytest.raises(TableError, match=r"Column x holds .* groups of three digits"):
        read_table(path, thousands=thousands, decimal=decimal)
    path.write_text(f"x;y\n1{thousands}000{decimal}5;1\n12;2\n-12{thousands}345;3\n")
    assert read_table(path, thousands=thousands, decimal=decimal)["x"].tolist() == [
        1000.5, 12.0, -12345.0,
    ]  # fmt: skip


def test_the_order_of_day_and_month_is_kept_with_the_plan():
    days = pd.date_range("2020-01-01", periods=30)
    frame = pd.DataFrame({"day": days.strftime("%d/%m/%Y"), "y": np.arange(30.0)})
    table = make_table(frame, TableOptions(target="y", dates=("days",)))
    for i in range(30):
        one = expand_dates(frame[i : i + 1], table.dates)
        assert one["day (days)"].tolist() == [i]
    mixed = pd.DataFrame({"day": ["02/01/2020", "03.01.2020", "2020-01-04"]})
    assert expand_dates(mixed, table.dates)["day (days)"].tolist() == [1, 2, 3]
    iso = plan_dates(pd.DataFrame({"day": days.strftime("%Y-%m-%d")}), ["days"])
    with pytest.raises(TableError, match="day or the month comes first"):
        expand_dates(mixed, iso)


def test_cells_that_begin_with_a_hash_stay(tmp_path):
    frame = pd.DataFrame({"#WBC": [1.5, 2.5], "arm": ["#A1", "#B2"], "e": ["#N/A", "#DIV/0!"]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    read = read_table(tmp_path / "a.xlsx")
    assert read["#WBC"].tolist() == [1.5, 2.5]
    assert read["arm"].tolist() == ["#A1", "#B2"]
    assert read["e"].isna().all()


@pytest.mark.parametrize(("decimal", "thousands"), [(".", None), (",", "."), (",", None)])
def test_numbers_are_read_to_the_last_digit(decimal, thousands, tmp_path):
    """A column of 1e12 plus noise loses a ten-thousandth of its spread with the last digit."""
    values = 1e12 + np.random.default_rng(0).normal(size=300)
    text = "\n".join(["x;z", *(repr(float(v)).replace(".", decimal) + ";1" for v in values)])
    (tmp_path / "t.txt").write_text(text)
    read = read_table(tmp_path / "t.txt", decimal=decimal, thousands=thousands)
    # Behind a decimal comma pandas may be wrong in the last bit.
    np.testing.assert_allclose(read["x"], values, rtol=0.0 if decimal == "." else 2.0**-52)
