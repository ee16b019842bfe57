"""Writing a file whole or not at all."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import IO

__all__ = ["check_writable", "is_stream", "write_file"]


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text or bytes to a file; a write that is interrupted leaves the file as it was.

    The content goes to a temporary file in the same folder, which then takes the name of the file.
    An existing file keeps its permissions, and a symbolic link keeps pointing where it did: the
    file that it points to is replaced. A pipe or a device is written to.

    Parameters
    ----------
    path : path
    content : str or bytes
        Text is written as UTF-8.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    if is_stream(path):
        # Where a shell has redirected /dev/stdout to a file, appending keeps what is there.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
            stream.write(data)
        return
    check_writable(path)
    destination = Path(os.path.realpath(path))
    # The name does not repeat that of the file, which may be as long as the system allows.
    temporary = destination.with_name(f".kernelknife-{secrets.token_hex(8)}.tmp")
    try:
        with _create(temporary, like=destination) as file:
            file.write(data)
        temporary.replace(destination)
    finally:
        temporary.unlink(missing_ok=True)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path names a pipe, a device or an open file of this process.

    Such a path can be written to, but not replaced. ``/dev/stdout`` is one even where a shell has
    redirected it to a file.
    """
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    if folder == "/dev" or folder.startswith(("/dev/", "/proc/")):
        return os.path.exists(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError where :func:`write_file` could not write, without changing anything.

    Parameters
    ----------
    path : path
    """
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return
    destination = Path(os.path.realpath(path))
    if destination.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not destination.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {destination.parent}", str(path))
    # A file may be write-protected in a folder that is not: it is to be kept.
    for place in (destination, destination.parent):
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))


def _create(temporary: Path, like: Path) -> IO[bytes]:
    """Open a new file with the permissions of an existing one, or with the usual ones."""
    model: os.stat_result | None
    try:
        model = os.stat(like)
    except FileNotFoundError:
        model = None
    # From the beginning others must not read what the existing file would not let them read.
    mode = 0o666 if model is None else stat.S_IMODE(model.st_mode) & 0o600
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    file = os.fdopen(descriptor, "wb")
    if model is not None:
        # Giving a file to another owner or group is the administrator's right. Where it is
        # refused, the new file belongs to the user who writes it.
        with contextlib.suppress(OSError, AttributeError):
            os.chown(temporary, model.st_uid, model.st_gid)
        os.chmod(temporary, stat.S_IMODE(model.st_mode))
    return file
