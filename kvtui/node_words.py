"""A node in words: the cells of its row, and the lines of its details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kvtui.ceilings import Ceiling
from kvtui.findings import SIGNS, Finding
from kvtui.nodefacts import Gpu, Mount, NodeFacts
from kvtui.storefacts import StoreFacts
from kvtui.units import DASH, age, gib, line_rate, rate

Line = tuple[str, str]
_LOCAL = ("nvme", "ssd", "rotational", "unknown")


def gpu_words(gpus: tuple[Gpu, ...] | None) -> str:
    """The GPUs, counted by model: ``8×H200``."""
    if gpus is None:
        return "?"
    counts = Counter(gpu.name.removeprefix("NVIDIA ") for gpu in gpus)
    return " + ".join(f"{count}×{name}" for name, count in counts.items()) or DASH


def gpu_memory(gpus: tuple[Gpu, ...] | None) -> str:
    """Memory of one GPU, the smallest where they differ."""
    sizes = [gpu.memory_total_bytes for gpu in gpus or () if gpu.memory_total_bytes is not None]
    return gib(min(sizes)) if sizes else DASH


def largest_disk(mounts: tuple[Mount, ...] | None) -> Mount | None:
    """The local disk with the most free space, NVMe before others."""
    local = [mount for mount in mounts or () if mount.kind in _LOCAL and mount.free_bytes is not None]
    return max(local, key=lambda mount: (mount.kind == "nvme", mount.free_bytes or 0), default=None)


def row_cells(facts: NodeFacts) -> tuple[str, str, str, str, str]:
    """GPU, memory of a GPU, RAM, free disk, fastest NIC."""
    disk = largest_disk(facts.mounts)
    speeds = [nic.speed_mbit for nic in facts.nics or () if nic.up is not False and nic.speed_mbit]
    return (
        gpu_words(facts.gpus),
        gpu_memory(facts.gpus),
        gib(facts.ram_total_bytes),
        gib(disk.free_bytes) if disk else DASH,
        line_rate(max(speeds)) if speeds else DASH,
    )


def _join(parts: Iterable[str]) -> str:
    return " · ".join(part for part in parts if part)


def _host(facts: NodeFacts) -> str:
    cores = f"{facts.cores} cores" if facts.cores is not None else ""
    numa = f"{facts.numa_nodes} NUMA nodes" if (facts.numa_nodes or 0) > 1 else ""
    kernel = f"Linux {facts.kernel}" if facts.kernel else ""
    return _join((facts.cpu_model or "", cores, numa, kernel, "container" if facts.in_container else ""))


def _memory(facts: NodeFacts) -> str:
    swap = f"swap in use {gib(facts.swap_used_bytes)}" if facts.swap_used_bytes else ""
    huge = f"huge pages {facts.thp}" if facts.thp else ""
    free = f"{gib(facts.ram_available_bytes)} free of {gib(facts.ram_total_bytes)}"
    return _join((free, swap, huge))


def _clock(facts: NodeFacts) -> str:
    if facts.clock_skew_s is None:
        return DASH
    half = (facts.rtt_ms or 0) / 2
    round_trip = f"round trip {facts.rtt_ms:.1f} ms" if facts.rtt_ms is not None else ""
    return _join((f"{facts.clock_skew_s * 1000:+.0f} ms (±{half:.1f})", round_trip))


def _gpu_lines(gpus: tuple[Gpu, ...] | None) -> list[Line]:
    if gpus is None:
        return [("gpu", "a driver is loaded, but nvidia-smi does not answer")]
    numbers: dict[str, list[str]] = {}
    for gpu in gpus:
        used = f"{gib(gpu.memory_used_bytes)} of {gib(gpu.memory_total_bytes)} used"
        busy = f"{gpu.utilisation_percent} % busy" if gpu.utilisation_percent is not None else ""
        if gpu.foreign is None:
            others = "other processes unknown"
        else:
            names = ", ".join(f"{process.name} ({process.pid})" for process in gpu.foreign)
            others = f"held by {names}" if names else "no other process"
        driver = f"driver {gpu.driver_version}" if gpu.driver_version else ""
        number = DASH if gpu.index is None else str(gpu.index)
        numbers.setdefault(_join((used, busy, others, driver)), []).append(number)
    return [(f"gpu {_range(alike)}", text) for text, alike in numbers.items()]


def _range(numbers: list[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]} ({len(numbers)})"


def _engine(facts: NodeFacts) -> str:
    if not facts.versions:
        return facts.engine_problem or "not asked"
    return _join(f"{name} {version}" for name, version in facts.versions.items())


def details(facts: NodeFacts) -> tuple[Line, ...]:
    """Everything known of a node, a line a subject."""
    lines: list[Line] = [("host", _host(facts) or DASH), *_gpu_lines(facts.gpus)]
    lines.append(("memory", _memory(facts)))
    for mount in facts.mounts or ():
        text = f"{gib(mount.free_bytes)} free of {gib(mount.size_bytes)} · {mount.fstype} on {mount.kind}"
        lines.append(("disk", f"{mount.path}  {text}"))
    for nic in facts.nics or ():
        state = {True: "up", False: "down", None: "state unknown"}[nic.up]
        lines.append(("nic", f"{nic.name}  {line_rate(nic.speed_mbit)} · {state}"))
    lines.append(("engine", _engine(facts)))
    for model in facts.models or ():
        size = f"{model.kv_bytes_per_token:,} B a token" if model.kv_bytes_per_token else model.why_unknown
        lines.append(("model", f"{model.name}  {size}"))
    caches = {True: "may be dropped", False: "only own files can be made cold", None: DASH}
    lines.append(("page cache", caches[facts.can_drop_caches]))
    lines.append(("clock", _clock(facts)))
    return tuple(lines)


def ceiling_lines(ceilings: Iterable[Ceiling], now_wall_s: float) -> tuple[Line, ...]:
    """The measured ceilings, each with its spread, its way and its age."""
    return tuple(
        (
            ceiling.what,
            _join(
                (
                    f"{rate(ceiling.bytes_s)} ({rate(ceiling.low_bytes_s)}–{rate(ceiling.high_bytes_s)})",
                    ceiling.how,
                    ceiling.tool,
                    ceiling.target,
                    age(ceiling.age_s(now_wall_s)),
                )
            ),
        )
        for ceiling in ceilings
    )


def store_lines(store: StoreFacts) -> tuple[Line, ...]:
    """The store that a plan has on a node."""
    limit = "no limit" if store.maxmemory_bytes == 0 else gib(store.maxmemory_bytes)
    saves = {None: "", "": "no RDB"}.get(store.rdb_saves, "writes RDB")
    log = {None: "", True: "AOF on", False: "no AOF"}[store.aof]
    threads = f"{store.io_threads} io-threads" if store.io_threads else ""
    keys = f"{store.keys:,} keys" if store.keys is not None else ""
    own = (
        f"{store.lmcache_keys} of {store.sampled_keys} looked at are LMCache's" if store.sampled_keys else ""
    )
    return (
        ("store", _join((f"Valkey {store.version or DASH}", store.mode or "", store.address))),
        (
            "",
            _join(
                (f"{gib(store.used_memory_bytes)} used of {limit}", store.policy or "", saves, log, threads)
            ),
        ),
        ("", _join((keys, own, f"TLS {store.tls}" if store.tls else ""))),
    )


def finding_lines(findings: Iterable[Finding]) -> tuple[Line, ...]:
    """What about a node would spoil a run."""
    return tuple((SIGNS[finding.level], f"{finding.text} {finding.remedy}".rstrip()) for finding in findings)
