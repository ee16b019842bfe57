"""Files that a command writes: checked before the work begins, and failures in one sentence."""

import contextlib
from pathlib import Path

from kernelknife.cli.console import Failure

__all__ = ["check_outputs", "writing"]


@contextlib.contextmanager
def writing(path):
    """Turn a failed write into a sentence that names the file."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}.") from error


def check_outputs(*paths, inputs=()):
    """Raise where a result could not be written, or would replace an input or another result.

    A command calls this before it begins to work, which may take minutes.

    Parameters
    ----------
    *paths : path or None
        Files to write; None is skipped.
    inputs : sequence of path, default=()
        Files that the command reads; "-" is standard input.
    """
    taken = [Path(path).resolve() for path in inputs if str(path) != "-"]
    for path in paths:
        if path is None:
            continue
        if Path(path).resolve() in taken:
            raise Failure(f"{path} is the table itself or another result: name another file.")
        taken.append(Path(path).resolve())
        folder = Path(path).resolve().parent
        if not folder.is_dir():
            raise Failure(f"{path} cannot be written: there is no folder {folder}.")
        if Path(path).is_dir():
            raise Failure(f"{path} cannot be written: it is a folder.")
        with writing(path):
            probe = folder / f".{Path(path).name}.probe"
            probe.touch()
            probe.unlink()
