"""Other work on the processors, the disk and the network of a node while a pass went on there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kvtui.findings import Finding, Level
from kvtui.plan import TierKind
from kvtui.samples import Pass

# A system's own services use some hundredths of a core; from here on an engine may have had to wait.
_CORES_FROM = 0.2
_CORES_SHARE = 0.1
# On a machine with many cores so much is worth telling, though there was room for it.
_CORES_NOTED = 0.5
# Reads of the system itself, such as a library that is loaded late, are far less than documents.
_DISK_FROM_BYTES = 16 * 1024**2
_NETWORK_FROM_BYTES = 16 * 1024**2
_SHARE = 0.1
_MOST_COUNTS = 3


@dataclass(frozen=True, slots=True)
class PassUse:
    """What was used on a node while a pass went on; ``None`` where unknown.

    Attributes:
        where: Tier, topology and pass in words.
        node: The node that served the pass.
        kind: Kind of the tier.
        step: Which pass.
        cores: Cores of the node.
        others_cores: Cores that processes kept busy which are none of the run's.
        others_cpu: Name of the one that used most.
        others_disk_bytes: What they read from disks and wrote.
        others_disk: Name of the one that moved most.
        disk_read_bytes: What all disks of the node read while requests were served.
        engine_read_bytes: What the engine read from them.
        nic_rx_bytes: What the node received from others while requests were served.
        store_rx_bytes: What the engine received from the store.
    """

    where: str
    node: str
    kind: TierKind
    step: Pass
    cores: int | None = None
    others_cores: float | None = None
    others_cpu: str = ""
    others_disk_bytes: float | None = None
    others_disk: str = ""
    disk_read_bytes: float | None = None
    engine_read_bytes: float | None = None
    nic_rx_bytes: float | None = None
    store_rx_bytes: float | None = None


def neighbour_findings(uses: Sequence[PassUse]) -> Iterator[Finding]:
    """What others did while passes went on, as far as it could have touched them."""
    for node in dict.fromkeys(use.node for use in uses):
        yield from _processors([use for use in uses if use.node == node])
    for use in uses:
        if use.kind is TierKind.DISK:
            yield from _disk(use)
        if use.kind is TierKind.VALKEY:
            yield from _network(use)


def _processors(uses: Sequence[PassUse]) -> Iterator[Finding]:
    """One finding of a node, about the pass in which others did most."""
    touched = [use for use in uses if _cores(use) >= max(_CORES_FROM, (use.cores or 0) * _CORES_SHARE)]
    noted = touched or [use for use in uses if _cores(use) >= _CORES_NOTED]
    if noted:
        worst = max(noted, key=_cores)
        who = f", most of it by {worst.others_cpu}" if worst.others_cpu else ""
        text = (
            f"Other processes kept {_cores(worst):.1f} of {worst.node}'s {worst.cores} cores busy{who}; "
            f"there was such work in {len(noted)} of {len(uses)} passes."
        )
        remedy = "End it, or measure when there is none: an engine that waits for a core looks slow."
        level = Level.WARNING if touched else Level.INFO
        yield Finding(level, "processor-shared", text, remedy, worst.where)


def _cores(use: PassUse) -> float:
    """Cores that others kept busy, 0 where that or the number of cores is unknown."""
    return use.others_cores or 0.0 if use.cores is not None else 0.0


def _disk(use: PassUse) -> Iterator[Finding]:
    seen = [
        size for size in (use.others_disk_bytes, _rest(use.disk_read_bytes, use.engine_read_bytes)) if size
    ]
    others = max(seen, default=0.0)
    if others < max(_DISK_FROM_BYTES, (use.engine_read_bytes or 0.0) * _SHARE):
        return
    who = use.others_disk if use.others_disk and use.others_disk_bytes else "Others"
    text = f"{who} moved {others / 1e9:,.2f} GB on {use.node}'s disks while the pass went on."
    remedy = "End it, or measure when the disk is idle: what it serves others it does not serve the tier."
    yield Finding(Level.WARNING, "disk-shared", text, remedy, use.where)


def _network(use: PassUse) -> Iterator[Finding]:
    others = _beside_store(use.nic_rx_bytes, use.store_rx_bytes)
    if others is None or others < max(_NETWORK_FROM_BYTES, (use.store_rx_bytes or 0.0) * _SHARE):
        return
    text = (
        f"{use.node} received {others / 1e9:,.2f} GB beside the {(use.store_rx_bytes or 0.0) / 1e9:,.2f} GB "
        "from the store while requests were served."
    )
    remedy = "End what loads it, or measure when the network is idle."
    yield Finding(Level.WARNING, "network-shared", text, remedy, use.where)


def _beside_store(of_all: float | None, own: float | None) -> float | None:
    """What came in beside the store's bytes; a bond and its members, or a bridge, count each byte again."""
    if of_all is None or own is None:
        return None
    times = min(_MOST_COUNTS, max(1, int(of_all / own + _SHARE))) if own else 1
    return max(0.0, of_all - times * own)


def _rest(of_all: float | None, own: float | None) -> float | None:
    return None if of_all is None or own is None else max(0.0, of_all - own)
