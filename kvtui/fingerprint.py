"""What must be equal for two engines to share KV, read from their own logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kvtui.findings import Finding, Level
from kvtui.loglines import parse_line
from kvtui.plan import Tier, TierKind, Topology

_NONE_HASH = re.compile(r"^Initialized NONE_HASH=(-?\d+)")
_ALGORITHM = re.compile(r"^Using hash algorithm: (\S+)")
_METADATA = re.compile(
    r"cache_engine metadata: LMCacheMetadata\(model_name='(?P<model>[^']*)', world_size=(?P<world>\d+),"
    r".*?kv_dtype=(?P<dtype>[\w.]+), kv_shape=\((?P<shape>[\d, ]+)\)"
)
# Printed as a dictionary (LMCache 0.5.x v1/manager.py); values without a comma or brace are enough here.
_CONFIG = re.compile(r"^Creating LMCacheEngine with config: \{(?P<fields>.*)")
_FIELD = re.compile(r"'(?P<name>\w+)': (?P<value>'[^']*'|[^,{}\[\]]+)")
# What decides whether a chunk that one engine stored can be found and read by another.
SHARED_SETTINGS = (
    "chunk_size",
    "pre_caching_hash_algorithm",
    "save_unfull_chunk",
    "remote_serde",
    "remote_url",
    "use_layerwise",
    "enable_blending",
)
UNSET = "unset"
_CONFIG_REMEDY = (
    "Take LMCACHE_ variables out of the engines' environment, and install one version of LMCache."
)
_SEED_REMEDY = 'Set one number for every node in the plan: seed = "0" below [hash].'


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One engine's part in every key, ``()`` or empty where its log did not say.

    Attributes:
        none_hashes: The root of the hash chain, each value once; without a seed every role has its own.
        algorithm: Name of the hash.
        model: Model string in the keys.
        world_size: Ranks that share a prompt's KV.
        dtype: Type of the KV.
        kv_shape: Layers, K and V, tokens a chunk, heads, head size.
        seeds: ``PYTHONHASHSEED`` in the environment of its processes, each value once.
        config: Of the configuration that LMCache printed, the settings that sharing depends on.
    """

    none_hashes: tuple[str, ...] = ()
    algorithm: str = ""
    model: str = ""
    world_size: str = ""
    dtype: str = ""
    kv_shape: str = ""
    seeds: tuple[str, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes_per_token(self) -> int | None:
        """Bytes of KV a token over all ranks by the engine's own shape; ``None`` when its log did not say.

        The shape is that of one rank. Latent KV, one side instead of K and V, is stored by the first alone.
        """
        sizes = {"torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.uint8": 1}
        parts = [int(part) for part in self.kv_shape.split(",") if part.strip()]
        if len(parts) != 5 or self.dtype not in sizes or not self.world_size.isdecimal():
            return None
        layers, pair, _, heads, head_size = parts
        ranks = int(self.world_size) if pair > 1 else 1
        return ranks * layers * pair * heads * head_size * sizes[self.dtype]

    def to_json(self) -> dict[str, Any]:
        """The fingerprint as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_fingerprint(log_lines: Iterable[str], seeds: Iterable[str | None]) -> Fingerprint:
    """Read an engine's fingerprint.

    Args:
        log_lines: The engine's log so far.
        seeds: ``PYTHONHASHSEED`` of each of its processes, ``None`` for unset.
    """
    hashes: dict[str, None] = {}
    algorithm = model = world = dtype = shape = ""
    config: dict[str, str] = {}
    for raw in log_lines:
        message = parse_line(raw).message
        if match := _NONE_HASH.match(message):
            hashes[match[1]] = None
        elif match := _ALGORITHM.match(message):
            algorithm = match[1]
        elif match := _METADATA.search(message):
            model, world, dtype, shape = match["model"], match["world"], match["dtype"], match["shape"]
        elif match := _CONFIG.match(message):
            config = _settings(match["fields"])
    distinct = dict.fromkeys(UNSET if seed is None else seed for seed in seeds)
    return Fingerprint(tuple(hashes), algorithm, model, world, dtype, shape, tuple(distinct), config)


def _settings(fields: str) -> dict[str, str]:
    """The settings that sharing depends on, of a printed dictionary."""
    found: dict[str, str] = {}
    for match in _FIELD.finditer(fields):
        # Inner dictionaries, which stand behind what they extend, may repeat a name.
        found.setdefault(match["name"], match["value"].strip("'"))
    return {name: found[name] for name in SHARED_SETTINGS if name in found}


_PARTS = {
    "none_hashes": "NONE_HASH",
    "algorithm": "hash algorithm",
    "model": "model string",
    "world_size": "world size",
    "dtype": "KV type",
    "kv_shape": "KV shape",
}


def differences(fingerprints: Mapping[str, Fingerprint]) -> tuple[str, ...]:
    """What differs between nodes, each with every node's value, in words."""
    parts = {
        name: {node: _show(getattr(print_, part)) for node, print_ in fingerprints.items()}
        for part, name in _PARTS.items()
    }
    return _unequal(parts)


def config_differences(fingerprints: Mapping[str, Fingerprint]) -> tuple[str, ...]:
    """Settings of LMCache that differ between nodes, each with every node's value, in words."""
    settings = {
        name: {node: _show(print_.config.get(name, "")) for node, print_ in fingerprints.items()}
        for name in SHARED_SETTINGS
    }
    return _unequal(settings)


def _unequal(values: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(
        f"{name}: {', '.join(f'{node} {value}' for node, value in by_node.items())}"
        for name, by_node in values.items()
        if len(set(by_node.values())) > 1
    )


def _show(value: str | tuple[str, ...]) -> str:
    return (" and ".join(value) if isinstance(value, tuple) else value) or "not in the log"


def fingerprint_findings(
    tier: Tier,
    topologies: Iterable[Topology],
    wanted: Mapping[str, str | None],
    found: Mapping[str, Fingerprint],
    *,
    accepted: bool = False,
) -> tuple[Finding, ...]:
    """What the started engines' fingerprints mean for a tier, before its first request.

    Args:
        tier: The tier under test.
        topologies: What will be measured on these engines.
        wanted: ``PYTHONHASHSEED`` by node, as the plan says.
        found: Fingerprint by node.
        accepted: Whether the run is to go on with engines that cannot share.
    """
    if tier.kind is TierKind.NONE:
        return ()
    findings = []
    for node, print_ in found.items():
        want = UNSET if wanted[node] is None else str(wanted[node])
        if set(print_.seeds) - {want}:
            text = (
                f"PYTHONHASHSEED is {_show(print_.seeds)} in the engine's processes; the plan wants {want}."
            )
            findings.append(Finding(Level.BLOCKING, "hash-seed-lost", text, "", node))
        if not print_.seeds:
            text = "The environment of the engine's processes cannot be read, so its seed is not confirmed."
            findings.append(Finding(Level.INFO, "hash-seed-unread", text, "", node))
        if not print_.none_hashes:
            text = "The engine's log names no NONE_HASH, so nobody can tell whether its keys fit."
            findings.append(Finding(Level.WARNING, "fingerprint-unknown", text, "", node))
    if tier.kind is TierKind.VALKEY and Topology.FLEET in topologies:
        told = [(difference, _SEED_REMEDY) for difference in differences(found)]
        told += [(difference, _CONFIG_REMEDY) for difference in config_differences(found)]
        for difference, remedy in told:
            text = f"The engines cannot share KV. They differ in {difference}."
            if accepted:
                text += " The plan accepts this, so its fleet measures misses."
            level = Level.WARNING if accepted else Level.BLOCKING
            findings.append(Finding(level, "fingerprint-differs", text, remedy, tier.name))
    return tuple(findings)
