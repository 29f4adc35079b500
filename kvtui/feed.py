"""What a screen reads of a run: events, log lines and what happens now, a piece at a time."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.journal import Event


@dataclass(frozen=True, slots=True)
class LogPiece:
    """Some lines of a process's log, without a gap to those that came before.

    Attributes:
        node: Where it runs.
        process: What it is, as in ``valkey-single.1.engine``.
        first_line: Number of the first line in the whole file, from 1.
        lines: The lines as they came: not cleaned of escapes.
    """

    node: str
    process: str
    first_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeedBatch:
    """What is new in a run.

    Attributes:
        events: New events, in order.
        logs: New log lines; those of one process are in order.
        now: What happens this second, in words, or empty.
        now_wall_s: The moment up to which the run is read: the present, or a replay's own time.
        follower_alive: A process carries the run on; of a replay always true.
        more: There is more to read at once.
    """

    events: tuple[Event, ...]
    logs: tuple[LogPiece, ...]
    now: str
    now_wall_s: float
    follower_alive: bool
    more: bool = False
