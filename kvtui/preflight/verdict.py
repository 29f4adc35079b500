"""What all rows together mean for the launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kvtui.preflight.row import CheckRow, State


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the launch may go on.

    Attributes:
        blocking: The failed rows.
        warnings: Rows that spoil something, and stop nothing.
        running: How many are not answered yet.
        ok: How many are well.
        unknown: How many nobody can tell.
    """

    blocking: tuple[CheckRow, ...]
    warnings: tuple[CheckRow, ...]
    running: int
    ok: int
    unknown: int

    def counts(self) -> str:
        """How many of each, in words; what there is none of is left out."""
        parts = (
            (self.ok, "ok"),
            (len(self.warnings), "warning" if len(self.warnings) == 1 else "warnings"),
            (len(self.blocking), "failed"),
            (self.unknown, "unknown"),
            (self.running, "running"),
        )
        return " · ".join(f"{count} {word}" for count, word in parts if count)

    def sentence(self) -> str:
        """Whether the launch is blocked, and by what."""
        if self.blocking:
            first = self.blocking[0]
            where = f" on {first.node}" if first.node else ""
            more = f" and {len(self.blocking) - 1} more" if len(self.blocking) > 1 else ""
            return f"Launch is blocked by: {first.title}{where}{more}."
        if self.running:
            return "Checks are running."
        if self.warnings:
            count = len(self.warnings)
            return f"Nothing blocks the launch; {count} warning{'s' if count > 1 else ''} to read."
        return "Nothing blocks the launch."


def verdict(rows: Iterable[CheckRow]) -> Verdict:
    """The verdict over all rows."""
    all_ = tuple(rows)
    return Verdict(
        blocking=tuple(row for row in all_ if row.state is State.FAILED),
        warnings=tuple(row for row in all_ if row.state is State.WARNING),
        running=sum(1 for row in all_ if row.state in (State.RUNNING, State.WAITING)),
        ok=sum(1 for row in all_ if row.state is State.OK),
        unknown=sum(1 for row in all_ if row.state is State.UNKNOWN),
    )
