"""The command that selects from rows in blocks."""

import json

import numpy as np
import pandas as pd
import pytest

from kernelknife.app.cli import _stream


@pytest.fixture
def folder(tmp_path):
    """Three Parquet files with two columns that matter, and two that do not."""
    rng = np.random.default_rng(0)
    for i in range(3):
        frame = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["a", "b", "c"])
        frame["kind"] = rng.choice(["red", "green", "blue"], 1000)
        frame["id"] = np.arange(1000) + 1000 * i
        frame["y"] = np.sin(frame["a"]) + (frame["kind"] == "red") + 0.5 * rng.normal(size=1000)
        frame.to_parquet(tmp_path / f"part-{i}.parquet", index=False)
    return tmp_path


def test_a_glob_is_read_in_two_scans(call, folder):
    code, out, err = call("select", f"{folder}/*.parquet", "-t", "y", "--id", "id", "--jobs", 1)
    assert code == 0
    assert "2 of 4 columns matter for y: 3,000 rows, 2 scans." in out
    assert {line.split("\t")[0] for line in out.splitlines()} >= {"a", "kind"}
    assert "3,000 rows x 4 columns of" in err
    assert "Traceback" not in err


def test_json_and_sql_of_a_folder(call, folder, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "out").mkdir()
    sql = tmp_path / "out" / "model.sql"
    code, out, _ = call(
        *("select", f"{folder}/*.parquet", "--target", "y", "--drop", "id", "--sql", sql),
        *("--json", "--kernel", "additive", "--folds", 3),
    )
    found = json.loads(out)
    assert code == 0
    assert found["scans"] == 2
    assert found["finding"] is True
    assert {feature["name"] for feature in found["features"]} == {"a", "kind"}
    error = duckdb.sql(
        f"select avg((y - ({sql.read_text()})) ** 2) from '{folder}/*.parquet'"
    ).fetchall()[0][0]
    assert abs(error - found["error"]["mean"]) < 0.1 * error


def test_noise_is_no_finding(call, folder):
    code, out, _ = call(
        *("select", folder, "--target", "c", "--drop", "id", "--drop", "y", "--jobs", 1)
    )
    assert code == 1
    assert "No column predicts c better than a constant does" in out


def test_texts_are_classes_and_counts_have_their_loss(call, folder):
    code, out, err = call(
        *("select", folder, "--target", "kind", "--drop", "id", "--jobs", 1, "--folds", 3)
    )
    assert code == 2
    assert "The target 'kind' has 3 different values" in err
    for i in range(3):
        frame = pd.read_parquet(folder / f"part-{i}.parquet")
        frame["died"] = np.where(frame["a"] + frame["b"] ** 2 > 1.0, "yes", "no")
        frame["years"] = np.random.default_rng(i).uniform(1.0, 3.0, 1000)
        frame["visits"] = np.random.default_rng(i).poisson(frame["years"] * np.exp(frame["c"]))
        frame.to_parquet(folder / f"part-{i}.parquet", index=False)
    drop = ("--drop", "id", "--drop", "y", "--drop", "kind", "--jobs", 1, "--folds", 3)
    code, out, err = call(
        *("select", folder, "--target", "died", "--drop", "visits", "--drop", "years", *drop),
        "--json",
    )
    found = json.loads(out)
    assert code == 0
    assert "took the texts of died for classes: --loss logistic" in err
    assert {feature["name"] for feature in found["features"]} == {"a", "b"}
    assert found["error"]["name"] == "mean loss, LogisticLoss()"
    code, out, _ = call(
        *("select", folder, "--target", "visits", "--drop", "died", *drop, "--loss", "poisson"),
        *("--exposure", "years"),
    )
    assert code == 0
    assert "1 of 3 columns matters for visits: 3,000 rows, " in out


def test_a_database_is_named_by_a_url(call, folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "file.db")) as connection:
        connection.execute(f"create table t as select * from '{folder}/*.parquet'")
    url = f"duckdb:///{folder}/file.db?table=t"
    code, out, _ = call("select", url, "--target", "y", "--drop", "id", "--json")
    assert code == 0
    assert {feature["name"] for feature in json.loads(out)["features"]} == {"a", "kind"}


def test_a_large_file_is_read_in_blocks_by_itself(call, folder, monkeypatch):
    file = str(folder / "part-0.parquet")
    assert not _stream.is_streamed(file)
    monkeypatch.setattr(_stream, "MOST_NUMBERS", 1000)
    assert _stream.is_streamed(file)
    pd.read_parquet(file).to_csv(folder / "a.csv", index=False)
    assert _stream.is_streamed(str(folder / "a.csv"))
    assert not _stream.is_streamed(str(folder / "nothing.parquet"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stability"], "--stability cannot be used with that"),
        (["--kernel", "rbf"], "--kernel cannot be used with that"),
        (["--report", "r.html"], "--report, --save, --table and --figures cannot"),
        (["--target", "z"], "has no column 'z', the target"),
        (["--target", "kind"], "'kind' has 3 different values"),
    ],
)
def test_what_blocks_cannot_answer_is_refused(call, folder, options, message):
    code, out, err = call("select", f"{folder}/*.parquet", "--target", "y", *options)
    assert code == 2
    assert message in err
    assert not out


def test_sql_and_checkpoint_are_for_blocks(call, table, tmp_path):
    code, _, err = call("select", table, "--target", "y", "--sql", tmp_path / "model.sql")
    assert code == 2
    assert "are for rows in blocks" in err
