"""Loaders: the published files or nothing, the download checked, every refusal a sentence."""

import gzip
import hashlib
import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.datasets import _openml

from kernelknife.datasets import (
    DataFileError,
    load_colon,
    load_parkinsons,
    load_vowel,
    make_genes,
    make_skin_of_orange,
)
from kernelknife.datasets._measured import COLON, PARKINSONS, VOWEL, fingerprint

LOADERS = {"vowel": load_vowel, "parkinsons": load_parkinsons, "colon": load_colon}
SOURCES = {"vowel": VOWEL, "parkinsons": PARKINSONS, "colon": COLON}


@pytest.fixture
def copies(paper_data, tmp_path):
    """A folder of the user's own with copies of the published files."""
    folder = tmp_path / "data"
    folder.mkdir()
    for source in SOURCES.values():
        for name in source.files:
            # Not shutil.copy: the originals may be read-only.
            shutil.copyfile(paper_data / name, folder / name)
    return folder


@pytest.mark.parametrize("name", LOADERS)
def test_what_a_loader_returns(name, paper_data):
    bunch = LOADERS[name](data_home=paper_data, download=False)
    source = SOURCES[name]
    assert bunch.data.shape == source.shape
    assert len(bunch.target) == len(bunch.groups) == source.shape[0]
    assert list(bunch.data.columns) == bunch.feature_names
    assert np.isclose(fingerprint(bunch.data.to_numpy()), source.fingerprint, rtol=1e-10)
    assert np.isfinite(bunch.data.to_numpy()).all()
    assert bunch.DESCR


def test_published_counts(paper_data):
    vowel = load_vowel(data_home=paper_data)
    assert vowel.train.sum() == 528
    assert vowel.groups.nunique() == 15
    assert not set(vowel.groups[vowel.train]) & set(vowel.groups[~vowel.train])
    assert (vowel.target[vowel.train].value_counts() == 48).all()
    parkinsons = load_parkinsons(data_home=paper_data)
    assert list(parkinsons.target.value_counts().sort_index()) == [48, 147]
    assert parkinsons.groups.nunique() == 32
    colon = load_colon(data_home=paper_data)
    assert dict(colon.target.value_counts()) == {"tumor": 40, "normal": 22}
    assert colon.groups.nunique() == 40


def test_the_environment_names_the_folder(paper_data, monkeypatch):
    monkeypatch.setenv("KERNELKNIFE_DATA", str(paper_data))
    assert load_parkinsons(download=False).data.shape == (195, 22)


def test_nothing_there(tmp_path, monkeypatch):
    monkeypatch.delenv("KERNELKNIFE_DATA", raising=False)
    with pytest.raises(DataFileError, match=r"Put parkinsons\.csv into a folder named by KERNEL"):
        load_parkinsons(download=False)
    with pytest.raises(DataFileError, match=re.escape(f"Put parkinsons.csv into {tmp_path}")):
        load_parkinsons(data_home=tmp_path, download=False)
    with pytest.raises(DataFileError, match="does not exist"):
        load_parkinsons(data_home=tmp_path / "nowhere")


def test_half_of_the_files(copies):
    (copies / "vowel_test.csv").unlink()
    with pytest.raises(DataFileError, match=r"put vowel_test\.csv there too"):
        load_vowel(data_home=copies)


@pytest.mark.parametrize(("name", "file"), [("colon", "colon.csv.gz"), ("vowel", "vowel_test.csv")])
def test_truncated_or_altered_files_are_refused(name, file, copies):
    path = copies / file
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(DataFileError, match="cut short or altered"):
        LOADERS[name](data_home=copies)
    path.write_bytes(whole[:500] + bytes([whole[500] ^ 1]) + whole[501:])
    with pytest.raises(DataFileError, match="cut short or altered"):
        LOADERS[name](data_home=copies)


# -- the download, against a local server that speaks OpenML's interface --------------------------


def as_openml(name, paper_data):
    """Return a published table in OpenML's columns, as a list of (column, type, values)."""
    bunch = LOADERS[name](data_home=paper_data)
    X = bunch.data.to_numpy()
    if name == "vowel":
        split = np.where(bunch.train, "Train", "Test")
        return [
            ("Train_or_Test", ["Train", "Test"], split),
            *((f"Feature_{j}", "NUMERIC", X[:, j]) for j in range(10)),
            ("Class", [f"h{code}d" for code in range(11)], [f"h{i % 11}d" for i in range(990)]),
        ]
    columns = [(f"V{j + 1}", "NUMERIC", X[:, j]) for j in range(X.shape[1])]
    if name == "parkinsons":
        return [*columns, ("Class", ["1", "2"], [str(code + 1) for code in bunch.target])]
    return [*columns, ("Class", ["normal", "tumor"], list(bunch.target))]


class OpenML:
    """A server of one data set."""

    def __init__(self, columns):
        self.columns = columns
        self.url = ""

    def arff(self):
        lines = ["@RELATION data"]
        for name, kind, _ in self.columns:
            lines.append(
                f"@ATTRIBUTE {name} {kind if kind == 'NUMERIC' else '{' + ','.join(kind) + '}'}"
            )
        lines.append("@DATA")
        lines += [
            ",".join(map(str, row)) for row in zip(*(c[2] for c in self.columns), strict=True)
        ]
        return "\n".join(lines) + "\n"

    def answer(self, path):
        if "/features/" in path:
            features = [
                {
                    "index": str(j),
                    "name": name,
                    "data_type": "numeric" if kind == "NUMERIC" else "nominal",
                    "is_target": "true" if name == "Class" else "false",
                    "is_ignore": "false",
                    "number_of_missing_values": "0",
                    "is_row_identifier": "false",
                }
                for j, (name, kind, _) in enumerate(self.columns)
            ]
            return json.dumps({"data_features": {"feature": features}})
        if "/qualities/" in path:
            quality = [{"name": "NumberOfInstances", "value": str(len(self.columns[0][2]))}]
            return json.dumps({"data_qualities": {"quality": quality}})
        if "/download/" in path:
            return self.arff()
        facts = {"id": "1", "name": "data", "version": "1", "format": "ARFF", "status": "active"}
        facts |= {
            "description": "",
            "file_id": "7",
            "url": self.url,
            "default_target_attribute": "Class",
        }
        facts["md5_checksum"] = hashlib.md5(self.arff().encode()).hexdigest()
        return json.dumps({"data_set_description": facts})


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """Return a function that serves a table in OpenML's place."""
    monkeypatch.delenv("KERNELKNIFE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    servers = []

    def serve(columns):
        site = OpenML(columns)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = gzip.compress(site.answer(self.path).encode())
                self.send_response(200)
                self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        address = f"http://127.0.0.1:{server.server_port}/"
        site.url = f"{address}data/v1/download/7/data.arff"
        for constant in [c for c in vars(_openml) if c.isupper() and c.startswith("_")]:
            value = getattr(_openml, constant)
            if isinstance(value, str) and "openml.org" in value:
                replaced = re.sub(r"https://[a-z.]*openml\.org/", address, value)
                monkeypatch.setattr(_openml, constant, replaced)

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("name", LOADERS)
def test_a_download_gives_the_same_data(name, openml, paper_data):
    openml(as_openml(name, paper_data))
    fetched, read = LOADERS[name](), LOADERS[name](data_home=paper_data)
    np.testing.assert_allclose(fetched.data.to_numpy(), read.data.to_numpy())
    assert list(fetched.target) == list(read.target)
    assert list(fetched.groups) == list(read.groups)
    if name != "colon":  # OpenML's columns carry no names of genes
        assert fetched.feature_names == read.feature_names


@pytest.mark.parametrize("name", ["vowel", "parkinsons"])
def test_an_altered_download_is_refused(name, openml, paper_data):
    columns = as_openml(name, paper_data)
    changed = np.array(columns[3][2], dtype=float)
    changed[100] += 0.001
    openml([*columns[:3], (*columns[3][:2], changed), *columns[4:]])
    with pytest.raises(DataFileError, match=r"is not the .* data as published"):
        LOADERS[name]()


def test_a_download_of_another_size_is_refused(openml, paper_data):
    columns = as_openml("parkinsons", paper_data)
    openml([(name, kind, list(values)[:150]) for name, kind, values in columns])
    with pytest.raises(DataFileError, match=r"has 150 rows .* Put parkinsons\.csv"):
        load_parkinsons()


def test_no_network(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.delenv("KERNELKNIFE_DATA", raising=False)

    def refuse(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr("kernelknife.datasets._measured.fetch_openml", refuse)
    with pytest.raises(DataFileError, match=r"no route to host.*Put colon\.csv\.gz and colon_samp"):
        load_colon()


def test_skin_of_the_orange_is_the_papers():
    X, y = make_skin_of_orange(500, 3, random_state=0)
    radius = (X[y == 1, :4] ** 2).sum(axis=1)
    assert radius.min() >= 9
    assert radius.max() <= 16
    assert X.shape == (500, 7)
    assert y.sum() == 250


def test_genes_come_in_modules_and_few_of_them_differ():
    genes = make_genes(400, 60, 3, shift=2.0, random_state=0)
    tumor = genes.target == "tumor"
    assert genes.data.shape == (800, 60)
    assert list(genes.relevant) == [0, 10, 20]
    difference = genes.data[tumor].mean(axis=0) - genes.data[~tumor].mean(axis=0)
    # Differences of 400 pairs of deviation 1 have standard errors of about 0.07.
    assert np.allclose(difference[genes.relevant], [2.0, -2.0, 2.0], atol=0.3)
    assert (abs(np.delete(difference, genes.relevant)) < 0.3).all()
    correlation = np.corrcoef(genes.data[~tumor].T)
    inside = correlation[:10, :10][~np.eye(10, dtype=bool)]
    assert inside.min() > 0.3
    assert abs(correlation[:10, 10:]).max() < 0.25
    # Both tissues of a patient are there, and they resemble each other.
    assert (np.bincount(genes.groups) == 2).all()
    pairs = genes.data[genes.groups.argsort(kind="stable")].reshape(400, 2, 60)
    assert np.corrcoef(pairs[:, 0, 25], pairs[:, 1, 25])[0, 1] > 0.0
    assert genes.feature_names[59] == "g059"


def test_genes_are_refused_where_modules_do_not_suffice():
    with pytest.raises(ValueError, match="more than the 2 modules"):
        make_genes(10, 20, n_relevant=3)
