"""Saving a fitted model to a file, and loading it without running any code from the file.

A file is a zip archive. It holds the encoder and the selected model in the format of skops, which
rebuilds objects of types that the reader names as trusted and runs no code. Trusted are the types
of this package that a model can consist of. Beside them stand a few facts about the model as JSON.
"""

import io
import json
import zipfile
import zlib

import numpy as np

from kernelknife import __version__, kernels, losses
from kernelknife._engine.data import Columns, TargetEncoder
from kernelknife._engine.effects import EffectMoments
from kernelknife._engine.model import Model
from kernelknife._utils.files import write_file
from kernelknife._utils.optional import import_optional
from kernelknife.app.messages import Hint, InputError
from kernelknife.app.tables import TableEncoder
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.kernels.basis import Basis

__all__ = ["ModelFileError", "load_model", "save_model"]

FORMAT = "kernelknife model"  # what the facts of a model file call it
FORMAT_VERSION = 2  # raised whenever the types in a file, or their attributes, change
SAVE = Hint("write one with {}", function="save_model")
SAVE_AGAIN = Hint("save the model again with {}", function="save_model")
FACTS, MODEL = "kernelknife.json", "model.skops"  # names of the two parts of the archive
TYPES = (
    KnifeClassifier,
    KnifeRegressor,
    Basis,
    Columns,
    EffectMoments,
    Model,
    TableEncoder,
    TargetEncoder,
    *kernels.KERNELS.values(),
    *losses.LOSSES.values(),
)
TASKS = {"regression": KnifeRegressor, "classification": KnifeClassifier}


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
    skops = import_optional("skops.io", "kernelknife[cli]", "Saving a model")
    content = {"encoder": selection.encoder, "model": selection.model}
    facts = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "target": selection.table.target_name,
        "task": selection.table.task,
        "selected": selection.selected,
        "dates": selection.table.dates,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, json.dumps(facts))
        archive.writestr(MODEL, skops.dumps(content))
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
    model : KnifeRegressor or KnifeClassifier
        The fitted model.
    facts : dict
        Version, target, task, selected columns, and what becomes of columns of dates.

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
    facts, data = _read_archive(path)
    _check_version(path, facts)
    content = _rebuild(path, data)
    try:
        _check_content(content, facts)
    # A file that somebody has put together may hold anything. Whatever error a check meets, the
    # file is not one of ours.
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged: its parts do not make a model ({error}).", SAVE_AGAIN
        ) from error
    return content["encoder"], content["model"], facts


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


def _read_archive(path):
    """Return the facts of a model file, and the encoder and the model as bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            facts, data = json.loads(archive.read(FACTS)), archive.read(MODEL)
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except PermissionError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from error
    # zipfile raises the others for encrypted or unusual archives and for damaged data.
    except (
        OSError,
        KeyError,
        ValueError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ModelFileError(f"{path} is no model of kernelknife.", SAVE) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model of kernelknife.", SAVE)
    return facts, data


def _rebuild(path, data):
    """Return the objects in a model file; objects of other types than ours are refused."""
    skops = import_optional("skops.io", "kernelknife[cli]", "Reading a model")
    trusted = [f"{kind.__module__}.{kind.__qualname__}" for kind in TYPES]
    try:
        unknown = set(skops.get_untrusted_types(data=data)) - set(trusted)
        if not unknown:
            return skops.loads(data, trusted=trusted)
    # skops raises errors of many types for a damaged file.
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {type(error).__name__}.", SAVE_AGAIN) from error
    raise ModelFileError(
        f"{path} holds objects of types that are not ours ({', '.join(sorted(unknown))}) and is "
        "not opened."
    )


def _check_content(content, facts):
    """Raise where the parts of a file do not fit each other, by trying them out."""
    encoder, model = content["encoder"], content["model"]
    if not isinstance(encoder, TableEncoder) or not isinstance(model, TASKS[facts["task"]]):
        raise TypeError(f"got {type(encoder).__name__} and {type(model).__name__}")
    if not isinstance(facts["target"], str):
        raise TypeError("the name of the target is no text")
    if not set(facts["selected"]) <= set(encoder.columns_):
        raise ValueError("the encoder lacks selected columns")
    widths = [len(encoder.levels_.get(name, [name])) for name in encoder.columns_]
    expected = np.repeat(np.array(encoder.columns_, dtype=str), widths)
    if list(expected) != list(encoder.feature_groups_):
        raise ValueError("the columns of the encoder contradict each other")
    medians = [encoder.medians_.get(name, 0.0) for name in encoder.columns_]
    if np.shape(model.predict(np.repeat(np.array(medians, dtype=float), widths)[None, :])) != (1,):
        raise ValueError("the model does not predict one value per row")
