"""What about a Valkey server would spoil a run."""

from __future__ import annotations

from collections.abc import Iterator

from kvtui.findings import Finding, Level
from kvtui.storefacts import StoreFacts

GIB = 1024**3
MIB = 1024**2
# Below this share of the machine's memory a server without a limit leaves the machine little to live on.
_SAFE_SHARE = 0.9


def store_findings(
    facts: StoreFacts, working_set_bytes: int | None = None, chunk_bytes: int | None = None
) -> tuple[Finding, ...]:
    """Findings in a stable order; what is unknown gives none.

    Args:
        facts: What the server is.
        working_set_bytes: KV of all documents; ``None`` leaves its findings out.
        chunk_bytes: Bytes of one value; ``None`` leaves its findings out.
    """
    found = [
        *_connection(facts),
        *_values(facts, chunk_bytes),
        *_room(facts, working_set_bytes),
        *_policy(facts),
        *_persistence(facts),
        *_keys(facts),
    ]
    return tuple(sorted(found, key=lambda finding: list(Level).index(finding.level)))


def _finding(facts: StoreFacts, level: Level, code: str, text: str, remedy: str = "") -> Finding:
    return Finding(level, f"store-{code}", text, remedy, facts.address)


def _connection(facts: StoreFacts) -> Iterator[Finding]:
    if facts.tls == "only":
        text = "Valkey answers to TLS alone, and the engines would ask without."
        yield _finding(facts, Level.BLOCKING, "tls-only", text, "Give it a port without TLS.")
    if facts.mode in ("cluster", "sentinel"):
        text = f"Valkey runs as a {facts.mode}; LMCache asks it as a standalone server."
        yield _finding(facts, Level.BLOCKING, "not-standalone", text, "Name a standalone server.")
    if facts.role == "slave":
        text = "Valkey is a replica, which takes no writes."
        yield _finding(facts, Level.BLOCKING, "replica", text, "Name its primary.")


def _values(facts: StoreFacts, chunk_bytes: int | None) -> Iterator[Finding]:
    limit = facts.proto_max_bulk_bytes
    if limit is not None and chunk_bytes is not None and chunk_bytes > limit:
        text = f"A chunk has {chunk_bytes / MIB:,.1f} MiB, Valkey takes values up to {limit / MIB:,.1f} MiB."
        remedy = "Raise its proto-max-bulk-len, or take smaller chunks."
        yield _finding(facts, Level.BLOCKING, "bulk-limit", text, remedy)


def _room(facts: StoreFacts, working_set_bytes: int | None) -> Iterator[Finding]:
    if working_set_bytes is None or facts.maxmemory_bytes is None or facts.used_memory_bytes is None:
        return
    need = f"the documents need {working_set_bytes / GIB:.2f} GiB"
    free = facts.free_bytes
    if free is not None:
        if free < working_set_bytes:
            text = f"Valkey has {free / GIB:.2f} GiB free, {need}."
            yield _finding(facts, Level.WARNING, "too-small", text, "Raise its maxmemory.")
    elif facts.host_memory_bytes is not None:
        limit = int(facts.host_memory_bytes * _SAFE_SHARE)
        if facts.used_memory_bytes + working_set_bytes > limit:
            has = f"its machine has {facts.host_memory_bytes / GIB:.2f} GiB"
            used = f"{facts.used_memory_bytes / GIB:.2f} GiB already there"
            text = f"Valkey has no maxmemory and {has}: {need}, beside {used}."
            remedy = "Set maxmemory, and plan fewer documents or another machine."
            yield _finding(facts, Level.WARNING, "no-limit", text, remedy)


def _policy(facts: StoreFacts) -> Iterator[Finding]:
    # Without a limit no policy ever comes to act.
    if not facts.maxmemory_bytes:
        return
    policy = facts.policy or ""
    if policy.startswith("volatile-"):
        # LMCache gives its keys no time to live unless it is told to (valkey_enable_ttl).
        text = f"maxmemory-policy {policy} spares LMCache's keys, which have no TTL: once full, writes fail."
        remedy = "Set maxmemory-policy to allkeys-lru, or noeviction to see it."
        yield _finding(facts, Level.WARNING, "volatile-policy", text, remedy)
    elif policy == "allkeys-random":
        text = "maxmemory-policy allkeys-random throws out any key: reuse cannot be forecast once it is full."
        yield _finding(facts, Level.WARNING, "random-policy", text, "Set maxmemory-policy to allkeys-lru.")
    if policy.startswith("allkeys-") and facts.foreign_keys:
        text = (
            f"Of {facts.sampled_keys} keys seen, {facts.foreign_keys} are not LMCache's, and may be evicted."
        )
        yield _finding(facts, Level.WARNING, "evicts-others", text, "Give the benchmark a server of its own.")


def _persistence(facts: StoreFacts) -> Iterator[Finding]:
    if facts.rdb_saves:
        text = f"Valkey writes snapshots (save {facts.rdb_saves}): each forks it in the middle of a pass."
        yield _finding(facts, Level.WARNING, "rdb-saves", text, 'CONFIG SET save "".')
    if facts.aof:
        text = "Valkey writes an append-only file: every chunk goes to its disk too."
        yield _finding(facts, Level.WARNING, "aof", text, "CONFIG SET appendonly no.")


def _keys(facts: StoreFacts) -> Iterator[Finding]:
    if facts.lmcache_keys:
        share = "" if facts.sampled_keys == facts.keys else f" of {facts.sampled_keys} looked at"
        text = f"{facts.lmcache_keys} keys{share} of earlier LMCache runs are there and take memory."
        yield _finding(facts, Level.INFO, "earlier-keys", text)
    if facts.io_threads == 1:
        text = "Valkey reads and writes its sockets with one thread."
        yield _finding(facts, Level.INFO, "one-io-thread", text, "Start it with io-threads 4 or more.")
    if facts.denied:
        text = f"Valkey refuses kvtui {', '.join(facts.denied)}: what they would tell is unknown."
        yield _finding(facts, Level.INFO, "denied", text)
