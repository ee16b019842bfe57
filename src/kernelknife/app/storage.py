"""Saving a fitted model to a file, and loading it without running any code from the file.

A file is a zip archive that is not compressed: it never unpacks to more than its own size. It holds
a few facts about the model as JSON, the encoder and the selected model as JSON that is described in
:mod:`kernelknife.app.packing`, and one file per array in NumPy's format. Objects of this package's
types alone are rebuilt, and a model is returned after :mod:`kernelknife.app.model_checks` has found
it to be what a fit makes.
"""

import io
import json
import math
import os
import zipfile
import zlib

import numpy as np

from kernelknife import __version__, kernels, losses
from kernelknife._engine.data import Columns, TargetEncoder
from kernelknife._engine.data.targets import SurvivalEncoder
from kernelknife._engine.effects import EffectMoments
from kernelknife._engine.model import Model
from kernelknife._engine.solvers import SOLVERS
from kernelknife._tuning.probabilities import ProbabilityMap
from kernelknife._utils.files import write_file
from kernelknife.app.messages import Hint, InputError
from kernelknife.app.model_checks import check_content
from kernelknife.app.packing import ARRAY_KINDS, PackingError, pack, unpack
from kernelknife.app.tables import TableEncoder
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.kernels.basis import Basis
from kernelknife.losses.survival import Baseline
from kernelknife.survival import KnifeSurvival

__all__ = ["ModelFileError", "load_model", "save_model"]

FORMAT = "kernelknife model"  # what the facts of a model file call it
FORMAT_VERSION = 5  # raised whenever the types in a file, or their attributes, change
SAVE = Hint("write one with {}", function="save_model")
SAVE_AGAIN = Hint("save the model again with {}", function="save_model")
FACTS, MODEL, ARRAY = "kernelknife.json", "model.json", "{}.npy"  # names of the archive's parts
LONGEST_REASON = 150  # characters of what a check says of an unknown file
MOST_FACTS = 2**24  # bytes; the names of 100,000 selected columns are about 2 MB
TYPES = {
    kind.__name__: kind
    for kind in (
        KnifeClassifier,
        KnifeRegressor,
        KnifeSurvival,
        Baseline,
        Basis,
        Columns,
        EffectMoments,
        Model,
        ProbabilityMap,
        TableEncoder,
        SurvivalEncoder,
        TargetEncoder,
        *SOLVERS.values(),
        *kernels.KERNELS.values(),
        *losses.LOSSES.values(),
    )
}
# What zipfile raises for archives that are damaged, encrypted or unusual, and json for texts that
# are no JSON or nested too deeply.
NO_ARCHIVE = (
    OSError,
    KeyError,
    ValueError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
)


class ModelFileError(InputError):
    """A file is not a model that this version of kernelknife can use."""


def save_model(path, selection) -> None:
    """Write what is needed to predict as a selection does.

    Parameters
    ----------
    path : path
        The file to write.
    selection : Selection
        What :func:`kernelknife.app.selection.select_features` returned.

    See Also
    --------
    load_model : Reads the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import select_features
    >>> from kernelknife.app.storage import load_model, save_model
    >>> X, y = make_sinusoidal(60, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(os.path.join(folder, "model.kk"), selection)
    ...     encoder, model, facts = load_model(os.path.join(folder, "model.kk"))
    >>> facts["target"], model.predict(encoder.transform(frame)).shape
    ('y', (60,))
    """
    facts = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "target": selection.table.target_name,
        "task": selection.table.task,
        "selected": [n for one in selection.features if one.selected for n in one.columns],
        "exposure": selection.table.exposure_name,
        "adjusted": list(selection.table.adjusted),
        "dates": selection.table.dates,
    }
    arrays: list[np.ndarray] = []
    try:
        content = {"encoder": selection.encoder, "model": selection.model}
        tree = pack(content, TYPES, arrays)
    except PackingError as error:
        raise ModelFileError(f"The model cannot be saved: {error}.") from error
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(FACTS, json.dumps(facts))
        archive.writestr(MODEL, json.dumps(tree, separators=(",", ":")))
        for i, array in enumerate(arrays):
            part = io.BytesIO()
            np.lib.format.write_array(part, array, version=(1, 0), allow_pickle=False)
            archive.writestr(ARRAY.format(i), part.getvalue())
    write_file(path, buffer.getvalue())


def load_model(path):
    """Read a model that :func:`save_model` has written with the same version of kernelknife.

    Parameters
    ----------
    path : path
        A file that :func:`save_model` wrote, or the command ``select`` with ``--save``.

    Returns
    -------
    encoder : TableEncoder
        Turns a table into the columns that the model takes.
    model : KnifeRegressor, KnifeClassifier or KnifeSurvival
        The fitted model.
    facts : dict
        Version, target, task, selected columns, columns that are adjusted for, that of exposures,
        and what becomes of columns of dates.

    See Also
    --------
    save_model : Writes the file; its example reads it again.

    Examples
    --------
    A file that is no model is refused with a sentence:

    >>> from kernelknife.app.storage import load_model
    >>> load_model(__file__)
    Traceback (most recent call last):
    ...
    kernelknife.app.storage.ModelFileError: ... is no model of kernelknife...
    """
    try:
        with zipfile.ZipFile(path) as archive:
            facts = _read_facts(path, archive)
            _check_version(path, facts)
            tree, arrays = _read_parts(path, archive)
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except PermissionError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from error
    except ModelFileError:
        raise
    except NO_ARCHIVE as error:
        raise ModelFileError(f"{path} is no model of kernelknife.", SAVE) from error
    try:
        content = unpack(tree, TYPES, arrays)
        check_content(content, facts)
    # A file that somebody has put together may hold anything. Whatever error a check meets, the
    # file is not one of ours.
    except Exception as error:
        reason = " ".join(str(error).split()).removesuffix(".")[:LONGEST_REASON]
        raise ModelFileError(
            f"{path} is damaged: its parts do not make a model ({reason}).", SAVE_AGAIN
        ) from error
    return content["encoder"], content["model"], facts


def _read_facts(path, archive):
    """Return the facts of a model file."""
    part = archive.getinfo(FACTS)
    # An earlier state of this package has compressed them, in this way.
    known = part.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not known or max(part.file_size, part.compress_size) > MOST_FACTS:
        raise _too_large(path)
    facts = json.loads(archive.read(FACTS))
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model of kernelknife.", SAVE)
    return facts


def _check_version(path, facts):
    """Raise where another version has saved a model."""
    if facts.get("version") != __version__:
        raise ModelFileError(
            f"{path} was saved by kernelknife {facts.get('version')}, this is {__version__}.",
            Hint("install that version"),
            SAVE_AGAIN,
        )
    if facts.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} was saved by an earlier state of kernelknife, whose models this one does not "
            "read.",
            SAVE_AGAIN,
        )


def _too_large(path):
    return ModelFileError(
        f"{path} would unpack to more than its own size, which no model does, and is not opened.",
        SAVE_AGAIN,
    )


def _read_parts(path, archive):
    """Return the tree of the encoder and the model, and the arrays; nothing is decompressed."""
    parts = archive.infolist()
    total = sum(part.file_size for part in parts)
    # zipfile reserves what a part claims to take in the archive.
    packed = any(
        part.compress_type != zipfile.ZIP_STORED or part.compress_size != part.file_size
        for part in parts
    )
    if packed or total > os.path.getsize(path):
        raise _too_large(path)
    try:
        tree = json.loads(archive.read(MODEL))
        numbers = range(len(parts) - 2)
        return tree, [_read_array(archive, ARRAY.format(i)) for i in numbers]
    except NO_ARCHIVE as error:
        raise ModelFileError(f"{path} is damaged: {type(error).__name__}.", SAVE_AGAIN) from error


def _read_array(archive, name):
    """Return an array of the archive, whose header has to agree with its size."""
    form, size = np.lib.format, archive.getinfo(name).file_size
    with archive.open(name) as part:
        if form.read_magic(part) != (1, 0):
            raise ValueError(f"{name} is in another version of NumPy's format")
        shape, by_columns, kind = form.read_array_header_1_0(part)
        if kind.kind not in ARRAY_KINDS or kind.itemsize * math.prod(shape) != size - part.tell():
            raise ValueError(f"{name} is not as large as it says")
        if not kind.itemsize:
            return np.zeros(shape, dtype=kind)
        # A copy that may be written to, as that of a fitted model.
        numbers = np.frombuffer(bytearray(part.read()), dtype=kind)
    return numbers.reshape(shape, order="F" if by_columns else "C")
