"""The logs of a run that is over, whole, as pieces of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kvtui.errors import RecordError
from kvtui.feed import LogPiece
from kvtui.line_reader import LineReader


def process_of(path: Path) -> tuple[str, str]:
    """Node and process that a log's file name tells, as in ``gpu-a.valkey-single.1.engine.log``."""
    node, _, process = path.name.removesuffix(".log").partition(".")
    return node, process


def log_pieces(directory: Path) -> Iterator[LogPiece]:
    """All whole lines of the logs in a directory, a log after the other; none where there is no directory.

    Raises:
        RecordError: A log cannot be read.
    """
    for path in sorted(directory.glob("*.log")):
        try:
            yield from _pieces_of(path)
        except OSError as error:
            raise RecordError(f"The log {path} cannot be read: {error.strerror}.") from error


def _pieces_of(path: Path) -> Iterator[LogPiece]:
    node, process = process_of(path)
    reader, left = LineReader(path), -1
    # What stays the same is the start of a line that was never ended.
    while left != (left := reader.size_left()):
        found = reader.read()
        if found is not None:
            yield LogPiece(node, process, found.first, found.lines)
