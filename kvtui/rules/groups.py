"""Findings while they grow: counted, bounded in number, in the order of their first lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kvtui.findings import Level
from kvtui.rules.finding import LineFinding, LineRef, Unlisted

UNKNOWN = "unknown-line"
KINDS = 200
COUNTED_KINDS = 10_000

_MASKED = re.compile(r"\b[A-Za-z_]*+\d[\w-]*+")
_MASKED_WIDTH = 200
_RANK = {Level.BLOCKING: 0, Level.WARNING: 1, Level.INFO: 2}

Key = tuple[str, ...]


def masked(message: str) -> str:
    """A message without what differs between two of its kind: words that hold a digit."""
    return _MASKED.sub("#", message[:_MASKED_WIDTH])


@dataclass(slots=True)
class _Group:
    """A finding and its last line; ``root`` once a line of the cause itself was seen."""

    finding: LineFinding
    root: bool
    count: int
    last: LineRef
    last_at: str


class Groups:
    """Findings by key; unknown kinds beyond the cap are counted, not kept."""

    def __init__(self) -> None:
        self._groups: dict[Key, _Group] = {}
        self._unknown = 0
        self._more: set[int] = set()
        self._more_lines = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._groups

    def count(self, key: Key) -> None:
        """One line more of a finding."""
        self._groups[key].count += 1

    def needs_root(self, key: Key) -> bool:
        """Whether a finding has only lines that follow from its cause."""
        return not self._groups[key].root

    def add(self, key: Key, finding: LineFinding, root: bool = True) -> bool:
        """A new finding, or the root line of one whose followers came first.

        Returns:
            Whether it is listed; an unknown kind beyond the cap is not.
        """
        old = self._groups.get(key)
        if old is not None:
            old.finding = replace(
                old.finding,
                text=finding.text,
                remedy=finding.remedy,
                command=finding.command,
                line=finding.line,
            )
            old.root = True
            old.count += 1
            return True
        if finding.code == UNKNOWN:
            if self._unknown >= KINDS:
                self._more_lines += 1
                if len(self._more) < COUNTED_KINDS:
                    self._more.add(hash(key))
                return False
            self._unknown += 1
        self._groups[key] = _Group(finding, root, 1, finding.last, finding.last_at)
        return True

    def last(self, key: Key, ref: LineRef, at: str) -> None:
        """Where and when the last line of a finding came."""
        group = self._groups[key]
        group.last, group.last_at = ref, at

    def detail(self, key: Key, exception: str) -> None:
        """The exception that belongs to a finding; the first one stays."""
        group = self._groups[key]
        if exception and not group.finding.detail:
            group.finding = replace(group.finding, detail=exception)

    def findings(self, more: Iterable[LineFinding] = ()) -> tuple[LineFinding, ...]:
        """All findings and ``more``, the graver first, then in the order in which they came."""
        grown = (
            replace(group.finding, count=group.count, last=group.last, last_at=group.last_at)
            for group in self._groups.values()
        )
        return tuple(sorted((*grown, *more), key=lambda one: _RANK[one.level]))

    @property
    def unlisted(self) -> Unlisted:
        """Unknown lines of the kinds beyond the cap."""
        return Unlisted(len(self._more), self._more_lines, len(self._more) < COUNTED_KINDS)
