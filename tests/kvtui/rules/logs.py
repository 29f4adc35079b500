"""Logs of real engines, with what each of them ran."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from kvtui.plan import TierKind
from kvtui.rules.context import RunContext
from kvtui.samples import Pass

FOLDER = Path(__file__).parents[2] / "data" / "logs"


@dataclass(frozen=True, slots=True)
class Log:
    """A log with the run that it is of, and the codes of the findings above INFO that are right."""

    name: str
    context: RunContext
    findings: frozenset[str] = frozenset()

    def lines(self) -> list[str]:
        """Its lines."""
        path = FOLDER / self.name
        data = (
            path.read_bytes() if path.exists() else gzip.decompress((FOLDER / f"{self.name}.gz").read_bytes())
        )
        return data.decode("utf-8", errors="replace").splitlines()


def _single(kind: TierKind, same_keys: bool | None = None) -> RunContext:
    return RunContext(seeded=False, same_keys=same_keys, tier_kind=kind, step=Pass.COLD)


def _fleet(seeded: bool, same_keys: bool) -> RunContext:
    return RunContext(True, seeded, same_keys, tier_kind=TierKind.VALKEY, step=Pass.COLD)


_SHARED, _SPLIT = _fleet(True, True), _fleet(False, False)
_NO_SHARING = frozenset({"keys-sharing-unseeded", "keys-vllm-unseeded"})
_NO_BUILTIN_SHARING = frozenset(
    {"keys-builtin-hash-unseeded", "keys-sharing-unseeded", "keys-builtin-fallback"}
)

LOGS = (
    Log("disk-builtin.log", _single(TierKind.DISK)),
    Log("disk-lmcache-0.5.3.log", _single(TierKind.DISK)),
    Log("dram-builtin.log", _single(TierKind.DRAM)),
    Log("valkey-builtin.log", _single(TierKind.VALKEY)),
    Log("valkey-lmcache-0.5.3.log", _single(TierKind.VALKEY)),
    Log("mp-server-lmcache-0.5.6.log", _single(TierKind.VALKEY)),
    Log("fleet-sha-seed-0-node-a.log", _SHARED),
    Log("fleet-sha-seed-0-node-a-after-restart.log", _SHARED),
    Log("fleet-builtin-seed-0-node-a.log", _SHARED),
    Log("fleet-builtin-seed-0-node-b.log", _SHARED),
    Log("fleet-sha256_cbor_64bit-seed-0-node-a.log", _SHARED),
    Log("fleet-sha256_cbor_64bit-seed-0-node-b.log", _SHARED),
    Log("fleet-sha-seed-unset-node-a.log", _SPLIT, _NO_SHARING),
    Log("fleet-sha-seed-unset-node-b.log", _SPLIT, _NO_SHARING),
    Log("fleet-sha256_cbor_64bit-seed-unset-node-a.log", _SPLIT, _NO_SHARING),
    Log("fleet-sha256_cbor_64bit-seed-unset-node-b.log", _SPLIT, _NO_SHARING),
    Log("fleet-builtin-seed-unset-node-a.log", _SPLIT, _NO_BUILTIN_SHARING),
    Log("fleet-builtin-seed-unset-node-b.log", _SPLIT, _NO_BUILTIN_SHARING),
    Log(
        "dram-zero-hits-two-processes-builtin.log",
        _single(TierKind.DRAM, same_keys=False),
        frozenset({"keys-builtin-hash-unseeded"}),
    ),
    Log(
        "dram-eviction-lmcache-0.5.6-vllm-0.32.log",
        _single(TierKind.DRAM),
        frozenset({"memory-block-full"}),
    ),
    Log(
        "dram-20g-lmcache-0.5.4-torch-fallback.log",
        _single(TierKind.DRAM),
        frozenset({"lmcache-slow-kernels"}),
    ),
    Log(
        "valkey-outage-oom-thrash.log",
        _single(TierKind.VALKEY),
        frozenset({"store-full", "lookup-timeout"}),
    ),
    Log(
        "degraded-no-cpu-connector-lmcache-0.5.6.log",
        _single(TierKind.DRAM),
        frozenset({"lmcache-degraded"}),
    ),
    Log(
        "start-failed-gpu-memory.log",
        _single(TierKind.DRAM),
        frozenset({"start-failed", "start-gpu-taken"}),
    ),
)
