"""A scan that can be watched, and resumed where it was interrupted."""

import io
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelknife._engine.data.rows import RowsError
from kernelknife._streaming.source import Source
from kernelknife._utils.files import write_file

__all__ = ["Scans"]

SECONDS = 20.0  # between two checkpoints, and between two lines that say where a scan is


@dataclass
class Scans:
    """Scans of one source, counted, and kept in a file while they run.

    Attributes
    ----------
    source : Source
    n_workers : int
    announce : callable or None
        What is told where a scan is.
    checkpoint : path or None
        Holds what has been summed; a run with the same question goes on from there.
    question : str
        What is asked of the source. A file of another question is refused.
    """

    source: Source
    n_workers: int
    announce: Callable[[str], Any] | None
    checkpoint: Path | None
    question: str
    done: dict[str, Any] = field(default_factory=dict, init=False)
    partial: tuple[str, int, Any] | None = field(default=None, init=False)
    resumed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.checkpoint is None or not self.checkpoint.exists():
            return
        with open(self.checkpoint, "rb") as file:
            question, done, partial = _load(file, self.checkpoint)
        if question != self.question:
            raise RowsError(
                f"{self.checkpoint} belongs to another selection: remove it, or name another file."
            )
        self.done, self.partial, self.resumed = done, partial, True

    @property
    def n_scans(self) -> int:
        """Number of scans that are complete."""
        return len(self.done)

    def run(self, name: str, function: Callable[..., Any], columns: list[str], join: Any) -> Any:
        """Return the sum of a function over the blocks, by a scan or from the checkpoint."""
        if name in self.done:
            return self.done[name]
        begun: tuple[int, Any] = (0, None)
        if self.partial is not None and self.partial[0] == name:
            begun = self.partial[1:]
            self._say(f"{name}: resumed after {begun[0]:,} blocks")
        last = [time.monotonic()]

        def watch(n_blocks: int, total: Any) -> None:
            if time.monotonic() - last[0] < SECONDS:
                return
            last[0] = time.monotonic()
            self._say(f"{name}: {n_blocks:,} blocks")
            self._save((name, n_blocks, total))

        total = self.source.sum_over_blocks(
            function, columns, join, n_workers=self.n_workers, begun=begun, watch=watch
        )
        if total is None:
            raise RowsError(f"{self.source.label} has no rows.")
        self.done[name] = total
        self._save(None)
        return total

    def finish(self) -> None:
        """Remove the checkpoint: what it was for is done."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)

    def _say(self, text: str) -> None:
        if self.announce is not None:
            self.announce(text)

    def _save(self, partial: tuple[str, int, Any] | None) -> None:
        if self.checkpoint is not None:
            write_file(self.checkpoint, pickle.dumps((self.question, self.done, partial)))


class _Plain(pickle.Unpickler):
    """Reads arrays and sketches, and nothing that could run."""

    ALLOWED = (
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
        ("kernelknife._streaming.sketch", "Sketch"),
    )

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that a checkpoint may hold."""
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")
        return super().find_class(module, name)


def _load(file: Any, path: Path) -> Any:
    try:
        return _Plain(io.BytesIO(file.read())).load()
    except (pickle.UnpicklingError, EOFError, ValueError, AttributeError, IndexError) as error:
        raise RowsError(f"{path} is not a checkpoint of a selection: {error}.") from error
