"""Writing files whole or not at all."""

import os
from pathlib import Path

__all__ = ["write_file"]


def write_file(path, content):
    """Write text or bytes under a temporary name in the same folder, then rename.

    A write that is interrupted leaves the file as it was, or no file.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
