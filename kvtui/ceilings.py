"""The best that a disk, a network or a memory was measured to do; never a figure from a data sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

What = Literal["disk-read", "disk-write", "network", "line", "memory"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One way of measuring, repeated.

    Attributes:
        node: The node that it was measured on.
        what: ``network`` reads values from the store, as a cached pass does; ``line`` is the same way
            without a store: where that is faster, the store is what limits.
        how: The way, in words: ``direct, 4 threads``.
        bytes_s: Median of the repeats, in bytes a second.
        low_bytes_s: The slowest repeat.
        high_bytes_s: The fastest one.
        repeats: How many there were.
        chunk_bytes: Bytes of each file, value or copy.
        threads: How many at once.
        tool: What measured: ``kvtui``, or another program and its version.
        target: The directory, or ``host:port`` of the store; empty for memory.
        measured_wall_s: When.
    """

    node: str
    what: What
    how: str
    bytes_s: float
    low_bytes_s: float
    high_bytes_s: float
    repeats: int
    chunk_bytes: int
    threads: int
    tool: str
    target: str
    measured_wall_s: float

    @property
    def spread(self) -> float:
        """Fastest minus slowest repeat, as a part of the median."""
        return (self.high_bytes_s - self.low_bytes_s) / self.bytes_s

    def age_s(self, now_wall_s: float) -> float:
        """Seconds since it was measured; 0 where the clock was set back."""
        return max(0.0, now_wall_s - self.measured_wall_s)

    def floor_s(self, size_bytes: int) -> float:
        """The shortest time in which so many bytes can be had."""
        return size_bytes / self.bytes_s

    def to_json(self) -> dict[str, Any]:
        """The ceiling as a JSON object."""
        found: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return found


_ADAPTER = TypeAdapter(Ceiling)


def from_json(data: Mapping[str, Any]) -> Ceiling:
    """A ceiling from its JSON object, whatever else that holds.

    Raises:
        ValueError: It is not one.
    """
    return _ADAPTER.validate_python(data)


def best(ceilings: Iterable[Ceiling], node: str, what: What, target: str | None = None) -> Ceiling | None:
    """The way with the highest median: readahead may beat direct I/O, and no single way is the ceiling.

    Args:
        ceilings: Everything measured.
        node: The node.
        what: What is looked for.
        target: Of this directory or peer alone; any when not given.
    """
    fitting = (c for c in ceilings if c.node == node and c.what == what and target in (None, c.target))
    return max(fitting, key=lambda c: c.bytes_s, default=None)
