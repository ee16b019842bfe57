"""Files that a command writes: checked before the work begins, and failures in one sentence."""

import contextlib
import os

from kernelknife._utils.files import check_writable, is_stream
from kernelknife.app.cli.console import Failure, print_note

__all__ = ["check_outputs", "print_places", "writing"]


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
    taken = [(path, "is read by this command") for path in inputs if str(path) != "-"]
    for path in paths:
        if path is None:
            continue
        with writing(path):
            check_writable(path)
            streamed = is_stream(path)
        for other, reason in taken:
            if not streamed and _same_file(path, other):
                raise Failure(f"{path} {reason} and would be overwritten: name another file.")
        taken.append((path, "holds another result of this command"))


def print_places(**paths):
    """Print where each kind of result was written; None is skipped.

    A pipe or a device keeps the name that the user gave.
    """
    for kind, path in paths.items():
        if path is not None:
            print_note(f"{kind}: {path if is_stream(path) else os.path.realpath(path)}")


def _same_file(path, other):
    """Return whether two paths name the same file, which need not exist."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    # On a file system that ignores case, two names are one file.
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
