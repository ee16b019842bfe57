"""Fitted models in files: written whole or not at all, read without running what is in them.

A file holds the encoder and the chosen machine in the format of skops, which rebuilds objects of
types that it trusts and runs no code. Trusted here are our own types, by name.
"""

import io
import json
import zipfile

from kernelknife import __version__, kernels, losses
from kernelknife._prepare import Columns, TargetEncoder
from kernelknife._support.files import write_file
from kernelknife._support.optional import import_optional
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.machine import Machine
from kernelknife.tables import TableEncoder

__all__ = ["ModelFileError", "load_model", "save_model"]

FORMAT = "kernelknife model"
FACTS = "kernelknife.json"
TYPES = (
    KnifeClassifier,
    KnifeRegressor,
    Columns,
    Machine,
    TableEncoder,
    TargetEncoder,
    *kernels.KERNELS.values(),
    *losses.LOSSES.values(),
)


class ModelFileError(ValueError):
    """A file is no model of this version of kernelknife."""


def save_model(path, selection):
    """Write what a selection needs to predict.

    Parameters
    ----------
    path : path
    selection : Selection
    """
    skops = import_optional("skops.io", "kernelknife[cli]", "Saving a model")
    model = selection.model
    content = {"encoder": selection.encoder, "model": model}
    facts = {
        "format": FORMAT,
        "version": __version__,
        "target": selection.table.target_name,
        "task": selection.table.task,
        "selected": selection.selected,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, json.dumps(facts))
        archive.writestr("model.skops", skops.dumps(content))
    write_file(path, buffer.getvalue())


def load_model(path):
    """Read a model.

    Parameters
    ----------
    path : path

    Returns
    -------
    encoder : TableEncoder
    model : KnifeRegressor or KnifeClassifier
    facts : dict
        Version, target, task and selected columns.
    """
    skops = import_optional("skops.io", "kernelknife[cli]", "Reading a model")
    try:
        with zipfile.ZipFile(path) as archive:
            facts = json.loads(archive.read(FACTS))
            content = archive.read("model.skops")
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFileError(
            f"{path} is no model of kernelknife: `kernelknife select --save` writes one."
        ) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model of kernelknife.")
    if facts.get("version") != __version__:
        raise ModelFileError(
            f"{path} was saved by kernelknife {facts.get('version')}, this is {__version__}: "
            "install that version, or save the model again with this one."
        )
    trusted = [f"{kind.__module__}.{kind.__qualname__}" for kind in TYPES]
    try:
        unknown = set(skops.get_untrusted_types(data=content)) - set(trusted)
        if unknown:
            raise ModelFileError(
                f"{path} holds objects of types that are not ours ({', '.join(sorted(unknown))}) "
                "and is not opened."
            )
        found = skops.loads(content, trusted=trusted)
    except ModelFileError:
        raise
    # skops raises many kinds of errors on a damaged file.
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {type(error).__name__}.") from error
    return found["encoder"], found["model"], facts
