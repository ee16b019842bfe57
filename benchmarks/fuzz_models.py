"""Mutated model files: each is refused in a sentence, or gives a model that predicts numbers.

    python benchmarks/fuzz_models.py --files 500 --seed 0
    python benchmarks/fuzz_models.py --seed 0 --show 17

A few models of different kernels are saved, and each file is changed in one of the ways of
``MUTATIONS``: bytes, length, parts, facts, the tree of objects, arrays and what they claim to be.
What a file that is still read does then is tried as ``kernelknife predict`` does it. No other error
than a sentence of ours may come up, no prediction may be NaN or infinite, and reading may not take
more memory than twice the size of the file, beside what reading any model takes.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
import traceback
import tracemalloc
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import _common  # noqa: F401  # one thread
import numpy as np
import pandas as pd

from kernelknife.app.messages import InputError
from kernelknife.app.selection import select_features
from kernelknife.app.storage import FACTS, MODEL, load_model, save_model
from kernelknife.app.tables import expand_dates, outside_range, unseen_levels

MEMORY = 8e6  # bytes that reading takes beside the file: modules, small objects
ODD = (
    None, True, -1, 0, 7, 10**30, 0.5, -2.5, 1e308, float("nan"), float("inf"), "", "days", "x", [],
    ["a", "a"], {}, {"array": 0}, {"array": 99}, {"tuple": [1, 2]}, {"tuple": [2.0, 1.0]},
    {"tuple": []}, {"dict": [["a", 1]]}, {"dict": [[[], 1]]}, {"RBF": {"gamma": -1.0}}, {"RBF": {}},
    {"Popen": {}}, [[[[[[]]]]]], "2020-13-45", "9999-01-01", "nan",
)  # fmt: skip


def make_table(seed=0):
    """Return a table with numbers, texts and dates."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["red", "blue", "green"], 60)
    frame["when"] = pd.date_range("2020-01-01", periods=60).astype(str)
    frame["y"] = np.sin(2 * frame.a) + frame.b + 2.0 * (frame.kind == "red")
    frame["group"] = np.where(frame.y > frame.y.median(), "high", "low")
    return frame


def save_models(folder, frame):
    """Save models of several kernels, losses and tasks; return their paths."""
    paths = []
    for target, kernel, loss in (
        ("y", "rbf", None),
        ("y", "anova", "huber"),
        ("group", "additive", "logistic"),
        ("group", "joint", "hinge"),
        ("y", "linear", None),
    ):
        other = "group" if target == "y" else "y"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selection = select_features(
                frame.drop(columns=other), target, kernel=kernel, loss=loss, alpha=0.3, folds=2,
                sparsity=1.0, dates=["days"], impute="median",
            )  # fmt: skip
        paths.append(Path(folder) / f"{kernel}.kk")
        save_model(paths[-1], selection)
    return paths


# -- mutations: of bytes, or of the parts of an archive ---------------------------------------


def read_parts(data):
    """Return the parts of an archive by their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(parts, how=zipfile.ZIP_STORED):
    """Return an archive of parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def flip(data, rng):
    """Change some bits."""
    changed = bytearray(data)
    for place in rng.integers(len(data), size=int(rng.integers(1, 20))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def truncate(data, rng):
    """Leave out the end, or something in the middle."""
    a, b = np.sort(rng.integers(len(data), size=2))
    return data[:a] if rng.random() < 0.5 else data[:a] + data[b:]


def swap(data, rng):
    """Exchange the contents of two parts, or leave one out."""
    parts = read_parts(data)
    one, other = rng.choice(list(parts), 2, replace=False)
    if rng.random() < 0.3:
        del parts[one]
    else:
        parts[one], parts[other] = parts[other], parts[one]
    return write_parts(parts)


def change_json(data, rng, part):
    """Change, remove or rename something in a tree of JSON."""
    parts = read_parts(data)
    tree = json.loads(parts[part])
    places = []

    def collect(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                collect(node[key])

    collect(tree)
    for _ in range(int(rng.integers(1, 3))):
        node, key = places[rng.integers(len(places))]
        what = rng.random()
        if key not in (node if isinstance(node, dict) else range(len(node))):
            continue
        if what < 0.15:
            del node[key]
        elif what < 0.25 and isinstance(node, dict):
            node[str(key) + "_"] = node.pop(key)
        elif what < 0.35 and isinstance(node, list):
            node.append(node[key])
        elif what < 0.6 and isinstance(node[key], int | float):
            node[key] = type(node[key])(node[key] * rng.choice([-1.0, 0.0, 3.0]))
        else:
            node[key] = ODD[rng.integers(len(ODD))]
    parts[part] = json.dumps(tree).encode()
    return write_parts(parts)


def change_facts(data, rng):
    """Change the facts."""
    return change_json(data, rng, FACTS)


def change_tree(data, rng):
    """Change the tree of encoder and model."""
    return change_json(data, rng, MODEL)


def change_array(data, rng):
    """Give an array another shape, another type or other values."""
    parts = read_parts(data)
    name = str(rng.choice([name for name in parts if name.endswith(".npy")]))
    array = np.load(io.BytesIO(parts[name]), allow_pickle=False)
    kind = int(rng.integers(8))
    if kind == 0:
        array = array.T[..., None]
    elif kind == 1:
        array = array[:-1]
    elif kind == 2:
        array = np.concatenate([array, array])
    elif kind == 3:
        other = ["i4", "f4", "bool", "complex128"] if array.dtype.kind != "U" else ["U1"]
        array = array.astype(str(rng.choice(["U5", *other])))
    elif kind == 4:
        array = array.ravel()
    elif array.size and array.dtype.kind in "iuf":
        array = np.array(array)
        odd = [0, 1, -1, 10**9] if array.dtype.kind != "f" else [np.nan, np.inf, 1e308, -1.0, 0.0]
        array.flat[rng.integers(array.size)] = odd[rng.integers(len(odd))]
    buffer = io.BytesIO()
    np.save(buffer, array)
    parts[name] = buffer.getvalue()
    return write_parts(parts)


def claim(data, rng):
    """Let an array's header claim a size that the array does not have."""
    parts = read_parts(data)
    name = str(rng.choice([name for name in parts if name.endswith(".npy")]))
    form, buffer = np.lib.format, io.BytesIO()
    shape = tuple(int(n) for n in rng.choice([0, 3, 10**6, 10**12], int(rng.integers(1, 3))))
    kind = str(rng.choice(["<f8", "|O", "<U9", "|V8"]))
    form.write_array_header_1_0(buffer, {"descr": kind, "fortran_order": False, "shape": shape})
    parts[name] = buffer.getvalue() + parts[name][-64:]
    return write_parts(parts)


def bomb(data, rng):
    """Compress parts that unpack to far more than the file."""
    parts = read_parts(data)
    name = str(rng.choice(list(parts)))
    parts[name] = parts[name].rstrip() + b" " * int(rng.integers(10**7, 10**8))
    return write_parts(parts, zipfile.ZIP_DEFLATED)


MUTATIONS = {
    flip: 0.15, truncate: 0.1, swap: 0.1, change_facts: 0.12, change_tree: 0.28,
    change_array: 0.18, claim: 0.05, bomb: 0.02,
}  # fmt: skip


# -- what a file does -------------------------------------------------------------------------


def use(path, frame):
    """Read a model and do what ``kernelknife predict`` does; return the predictions."""
    encoder, model, facts = load_model(path)
    numbers = expand_dates(frame, facts["dates"], facts["selected"])
    X = encoder.transform(numbers, facts["selected"])
    unseen_levels(encoder, numbers, facts["selected"])
    outside_range(encoder, numbers, facts["selected"])
    if model._model.kernel.order:
        list(model.effects())
        model.effect_values(X)
    if hasattr(model, "classes_"):
        (model.predict_proba if hasattr(model, "predict_proba") else model.decision_function)(X)
    return np.asarray(model.predict(X))


def judge(path, frame):
    """Return what a file does: "refused", "read", or what is wrong with it."""
    tracemalloc.start()
    try:
        # What goes wrong is reported below, by its own name.
        with contextlib.suppress(Exception):
            load_model(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > MEMORY + 2 * path.stat().st_size:
        return f"memory: {peak / 1e6:.0f} MB for a file of {path.stat().st_size / 1e6:.2f} MB"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = use(path, frame)
    except InputError as error:
        return "refused" if "\n" not in str(error) else f"several lines: {error}"
    # Whatever else comes up is a finding.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finite = answer.dtype.kind != "f" or np.isfinite(answer).all()
    return "read" if finite else "a prediction that is no number"


def mutated(originals, seed, index):
    """Return file ``index`` of a seed, and the name of what was done to it."""
    rng = np.random.default_rng([seed, index])
    mutations = list(MUTATIONS)
    mutate = mutations[rng.choice(len(mutations), p=list(MUTATIONS.values()))]
    return mutate(originals[rng.integers(len(originals))], rng), mutate.__name__


def run(n_files, seed=0):
    """Return what each of the mutated files was and did."""
    frame, found = make_table(), []
    with tempfile.TemporaryDirectory() as folder:
        originals = [path.read_bytes() for path in save_models(folder, frame)]
        path = Path(folder) / "mutated.kk"
        for index in range(n_files):
            data, name = mutated(originals, seed, index)
            path.write_bytes(data)
            found.append((index, name, judge(path, frame)))
    return found


def show(seed, index):
    """Print what one file does."""
    frame = make_table()
    with tempfile.TemporaryDirectory() as folder:
        originals = [path.read_bytes() for path in save_models(folder, frame)]
        path = Path(folder) / "mutated.kk"
        data, name = mutated(originals, seed, index)
        path.write_bytes(data)
        print(name, judge(path, frame))
        try:
            use(path, frame)
        except Exception:  # all of it is to be seen
            traceback.print_exc()


def main():
    """Read the arguments, and print what the files did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="K", help="print what file K does")
    given = parser.parse_args()
    if given.show is not None:
        show(given.seed, given.show)
        return
    found = run(given.files, given.seed)
    for name in sorted({name for _, name, _ in found}):
        mine = [what for _, mutation, what in found if mutation == name]
        counts = Counter(what if what in ("refused", "read") else "wrong" for what in mine)
        print(f"{name:14s}", dict(counts))
    wrong = [row for row in found if row[2] not in ("refused", "read")]
    print(f"{len(wrong)} of {len(found)} files are neither refused in a sentence nor a model")
    for row in wrong:
        print(*row)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
