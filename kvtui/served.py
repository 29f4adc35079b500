"""Which tier served a request, said only when a count of bytes says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from kvtui.attribution import Evidence, Verdict
from kvtui.plan import TierKind
from kvtui.samples import Pass, Sample
from kvtui.units import DASH, megabytes, ms

# All that was read, less what roundings take; and less than this part of it is the engine's other reading.
ALL, NONE = 0.98, 0.02
# More than this part of it, and something else than the read was counted.
TOO_MUCH = 1.25


class Server(StrEnum):
    """Where the bytes of a reused KV came from."""

    VALKEY = "valkey"
    DISK = "disk"
    PAGE_CACHE = "page cache"
    DISK_AND_PAGE_CACHE = "disk and page cache"
    DRAM = "dram"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Moved:
    """What moved on the serving node from just before a request was sent until just after its end.

    Counts of the kernel; ``None`` where one is absent, began anew, or lost a part of what it is made of.

    Attributes:
        engine_read_bytes: What the engine's processes had read from devices (``read_bytes``, proc(5)).
        engine_rchar_bytes: What they read from files, the page cache included (``rchar``); what comes in over
            a socket is mostly not in it.
        store_rx_bytes: What came in over their own connections to the store's port (``tcpi_bytes_received``);
            ``None`` too where the tier has no store.
        nic_rx_bytes: What every process of the node received over all interfaces but the loopback.
        loopback_rx_bytes: What they all received over the loopback.
        disk_read_bytes: What they all had read from the node's disks.
        took_ms: What reading the counts took, both times together.
    """

    engine_read_bytes: int | None = None
    engine_rchar_bytes: int | None = None
    store_rx_bytes: int | None = None
    nic_rx_bytes: int | None = None
    loopback_rx_bytes: int | None = None
    disk_read_bytes: int | None = None
    took_ms: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The counts as a JSON object, without the unknown ones."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def moved_from(data: object) -> Moved:
    """The counts of a ``done`` event or a sample; what is no such number is unknown."""
    if not isinstance(data, Mapping):
        return Moved()
    kinds = {field.name: (int, float) if field.name == "took_ms" else (int,) for field in fields(Moved)}
    sound = {
        name: data[name]
        for name, kind in kinds.items()
        if isinstance(data.get(name), kind) and not isinstance(data[name], bool) and data[name] >= 0
    }
    return Moved(**sound)


def retrieved_bytes(seen: Evidence, chunk_tokens: int, bytes_per_token: int | None) -> int | None:
    """Bytes of KV that LMCache read by its own line; ``None`` when not known.

    Where a prompt is of whole chunks its last token is computed, but its chunk is read whole all the same.

    Args:
        seen: What was seen of the request.
        chunk_tokens: Tokens of a chunk.
        bytes_per_token: Bytes of KV a token, over all ranks.
    """
    if seen.hit_tokens == 0 and not seen.retrieved_tokens:
        return 0
    if seen.retrieved_tokens is None or bytes_per_token is None:
        return None
    tokens = seen.retrieved_tokens
    return (tokens + 1 if (tokens + 1) % chunk_tokens == 0 else tokens) * bytes_per_token


@dataclass(frozen=True, slots=True)
class Served:
    """What the counts of bytes say of a request.

    Attributes:
        by: Where its KV came from.
        words: The count that says so.
    """

    by: Server
    words: str


def served_by(kind: TierKind, payload_bytes: int | None, moved: Moved) -> Served:
    """Where the KV that a request reused came from.

    Only counts of the engine itself decide: what others on the node read or receive is in those of the node.

    Args:
        kind: Kind of the tier; only the engine of a ``valkey`` tier knows a store.
        payload_bytes: Bytes of KV that LMCache says it read.
        moved: What moved meanwhile.
    """
    if not payload_bytes:
        return Served(Server.UNKNOWN, "nothing is known to have been read")
    device = _share(moved.engine_read_bytes, payload_bytes)
    files = _share(moved.engine_rchar_bytes, payload_bytes)
    store = _share(moved.store_rx_bytes, payload_bytes) if kind is TierKind.VALKEY else 0.0
    figures = f"{_two(store)} over the network, {_two(files)} from files, {_two(device)} from the device"
    whole = [share is not None and ALL <= share <= TOO_MUCH for share in (store, device)]
    if all(whole):
        return Served(Server.UNKNOWN, f"more came than was read: {figures}")
    if whole[0]:
        return Served(Server.VALKEY, f"{_two(store)} of the bytes arrived over the network")
    if whole[1]:
        return Served(Server.DISK, f"{_two(device)} of the bytes were read from the device")
    if store is None or store >= NONE or files is None or device is None:
        return Served(Server.UNKNOWN, figures)
    if ALL <= files <= TOO_MUCH:
        if device < NONE:
            return Served(
                Server.PAGE_CACHE,
                f"{_two(files)} of the bytes were read from files, {_two(device)} from the device",
            )
        if device < ALL:
            return Served(
                Server.DISK_AND_PAGE_CACHE,
                f"{_two(device)} of the bytes were read from the device, the rest from the page cache",
            )
    if files < NONE and device < NONE:
        return Served(Server.DRAM, f"no bytes came from outside ({figures})")
    return Served(Server.UNKNOWN, figures)


def evidence_of_bytes(
    kind: TierKind, verdict: Verdict, moved: Moved, payload_bytes: int | None, floor_ms: float | None
) -> dict[str, Any]:
    """What a sample keeps of the bytes of its request, without what is not known.

    Args:
        kind: Kind of the tier.
        verdict: How much was reused.
        moved: What moved meanwhile.
        payload_bytes: Bytes of KV that LMCache says it read.
        floor_ms: The least time that these bytes take on their way.
    """
    kept: dict[str, Any] = {"moved": moved.to_json()} if moved.to_json() else {}
    if payload_bytes is not None:
        kept["retrieved_bytes"] = payload_bytes
    if payload_bytes and floor_ms is not None:
        kept["floor_ms"] = floor_ms
    if kind is not TierKind.NONE and verdict in (Verdict.FULL, Verdict.PARTIAL):
        served = served_by(kind, payload_bytes, moved)
        kept |= {"served_by": served.by.value, "served_words": served.words}
    return kept


def served_of(sample: Sample) -> Served | None:
    """Where the KV of a sample came from; ``None`` when none was reused, or nothing was said of it."""
    by, words = sample.evidence.get("served_by"), sample.evidence.get("served_words")
    if by not in list(Server) or not isinstance(words, str):
        return None
    return Served(Server(by), words)


def served_words(samples: Iterable[Sample]) -> str:
    """What served the cached requests of a tier, with counts; empty where nothing is said of any."""
    counts = Counter(
        served.by for one in samples if one.step is Pass.CACHED and (served := served_of(one)) is not None
    )
    return ", ".join(f"{server.value} {counts[server]}" for server in Server if counts[server])


def evidence_lines(sample: Sample) -> tuple[str, ...]:
    """What the counts of bytes say of a request, in words; nothing where the record has none."""
    lines, moved, size = [], moved_of(sample), known_bytes(sample)
    served, floor_ms = served_of(sample), sample.evidence.get("floor_ms")
    if served is not None:
        lines.append(f"Served by {served.by}: {served.words}.")
    if moved.to_json():
        lines.append(
            f"KV read {megabytes(size)}; engine: device {megabytes(moved.engine_read_bytes)}, "
            f"files {megabytes(moved.engine_rchar_bytes)}, store {megabytes(moved.store_rx_bytes)}; "
            f"node: disks {megabytes(moved.disk_read_bytes)}, network {megabytes(moved.nic_rx_bytes)}, "
            f"loopback {megabytes(moved.loopback_rx_bytes)}."
        )
    if isinstance(floor_ms, float) and sample.ttft_ms is not None:
        lines.append(f"TTFT {ms(sample.ttft_ms)}; by its ceiling the read takes at least {ms(floor_ms)}.")
    return tuple(lines)


def known_bytes(sample: Sample) -> int | None:
    """Bytes of KV that LMCache says it read for a request; ``None`` when not known."""
    size = sample.evidence.get("retrieved_bytes")
    return size if isinstance(size, int) and not isinstance(size, bool) else None


def moved_of(sample: Sample) -> Moved:
    """What moved while a request was served."""
    return moved_from(sample.evidence.get("moved"))


def _share(size_bytes: int | None, of_bytes: int) -> float | None:
    return None if size_bytes is None else size_bytes / of_bytes


def _two(share: float | None) -> str:
    return DASH if share is None else f"{share:.2f}"
