"""The confounds that are planted."""

from __future__ import annotations

from bench.confounds import acts
from bench.confounds.plant import CHUNK_BYTES, DOCUMENT_CHUNKS, DOCUMENTS, Plant, campaign
from kvtui.fit import GIB
from kvtui.plan import Hash, TierKind, Topology

_CONFIG = '[ -z "$LMCACHE_CONFIG_FILE" ] || sed -i "s|^{name}:.*|{name}: {value}|" "$LMCACHE_CONFIG_FILE"\n'
_ARGUMENT = 'for a do shift; [ "$a" != {old} ] || a={new}; set -- "$@" "$a"; done\n'
_FLEET = Topology.FLEET
_DISK, _DRAM = TierKind.DISK, TierKind.DRAM
_ONE_SHORT_GIB = ((DOCUMENTS - 1) * DOCUMENT_CHUNKS) * CHUNK_BYTES / GIB
_OTHER_MODEL = """\
for a do
  shift
  if [ "$before" = --model ]; then ln -sfn "$a" "$HOME/other-model"; a="$HOME/other-model"; fi
  before="$a"; set -- "$@" "$a"
done
"""


def _setting(name: str, value: str) -> str:
    """Shell that changes a setting of LMCache before the engine starts."""
    return _CONFIG.format(name=name, value=value)


def plants() -> tuple[Plant, ...]:
    """All of them, those first that are nearest to what people meet."""
    return (
        Plant(
            "seed-differing",
            "The hash seeds of two nodes differ",
            "in the plan, which accepts it: `seed_on`",
            ("hash-seed-differs", "fingerprint-differs"),
            campaign(topology=_FLEET, hashing=Hash(seed_on={"gpu-b": "1"}, accept_differing=True)),
        ),
        Plant(
            "seed-unset",
            "No hash seed is set",
            'in the plan, which accepts it: `seed = "unset"`',
            ("hash-seed-free", "fingerprint-differs"),
            campaign(topology=_FLEET, hashing=Hash(seed=None, accept_differing=True)),
        ),
        Plant(
            "algorithm-differing",
            "The hash algorithms of two nodes differ",
            "LMCache's configuration on one node is changed before its engine starts",
            ("fingerprint-differs",),
            campaign(topology=_FLEET),
            engine_faults={"gpu-b": _setting("pre_caching_hash_algorithm", "builtin")},
        ),
        Plant(
            "model-path-differing",
            "One node loads the model from another path",
            "the engine's `--model` on one node is a link to the same folder",
            ("fingerprint-differs",),
            campaign(topology=_FLEET),
            engine_faults={"gpu-b": _OTHER_MODEL},
        ),
        Plant(
            "chunk-size-differing",
            "The chunk sizes of two nodes differ",
            "LMCache's configuration on one node is changed before its engine starts",
            ("fingerprint-differs",),
            campaign(topology=_FLEET),
            engine_faults={"gpu-b": _setting("chunk_size", "128")},
        ),
        Plant(
            "prefix-cache-on",
            "The engine's own prefix cache is on",
            "the engine's option is turned round before it starts",
            ("prefix-cache-on",),
            campaign(_DRAM),
            engine_faults={
                "gpu-a": _ARGUMENT.format(old="--no-enable-prefix-caching", new="--enable-prefix-caching")
            },
        ),
        Plant(
            "page-cache-warm",
            "The page cache serves the disk tier",
            "the tier's files are read as soon as kvtui has made them cold",
            ("page-cache",),
            campaign(_DISK),
            act=acts.warm_page_cache,
        ),
        Plant(
            "disk-in-memory",
            "The disk tier lies on a tmpfs",
            "in the plan: its path is below `/dev/shm`",
            ("disk-tier-mount",),
            campaign(_DISK, path=acts.MEMORY_PATH),
            act=acts.leave_memory,
        ),
        Plant(
            "warm-up-overlaps",
            "The warm-up sends documents that are measured",
            "kvtui is run with a fault: it warms up with the first two documents",
            ("warm-up-overlaps",),
            campaign(),
            fault="warm-up-overlaps",
        ),
        Plant(
            "one-document-short",
            "The tier is one document too small",
            "in the plan: its capacity",
            ("capacity-too-small",),
            campaign(_DRAM, capacity_gib=_ONE_SHORT_GIB),
        ),
        Plant(
            "store-full",
            "The store is full in the middle of the cold pass and refuses",
            "its `maxmemory` is lowered when the cold pass begins; `noeviction`",
            ("stores-missing",),
            campaign(),
            act=acts.fill_store,
        ),
        Plant(
            "store-thrash",
            "The store gives up keys in the middle of the cold pass",
            "its `maxmemory` is lowered when the cold pass begins; `allkeys-lru`",
            ("evicted-in-cold",),
            campaign(),
            act=acts.thrash_store,
        ),
        Plant(
            "store-restarted",
            "The store dies in the middle of the cached pass and is back",
            "its process is killed, and started again after two seconds",
            ("store-lost",),
            campaign(output_tokens=32),
            act=acts.restart_store,
        ),
        Plant(
            "staging-too-small",
            "LMCache's buffer is too small for a document",
            "LMCache's configuration is changed before the engine starts",
            ("stored-in-part",),
            campaign(),
            engine_faults={"gpu-a": _setting("max_local_cpu_size", "0.006")},
        ),
        Plant(
            "engine-degraded",
            "LMCache fails to start and the engine serves without it",
            "LMCache's configuration is changed before the engine starts: a policy of no known name",
            ("engine-degraded",),
            campaign(_DRAM),
            engine_faults={"gpu-a": _setting("cache_policy", "NOSUCH")},
        ),
        Plant(
            "values-zeroed",
            "Values in the store are corrupted",
            "each is overwritten with zeros as soon as it is there",
            ("reused-kv-wrong",),
            campaign(),
            act=acts.zero_values,
        ),
        Plant(
            "store-shared",
            "Somebody else uses the store",
            "a second client reads and writes there during both passes",
            ("store-shared",),
            campaign(),
            act=acts.use_store,
        ),
        Plant(
            "processor-shared",
            "Other work runs on the engine's processors",
            "a busy process for each of them during both passes",
            ("processor-shared",),
            campaign(_DRAM, documents=12, output_tokens=16),
            act=acts.hog_processor,
        ),
        Plant(
            "disk-shared",
            "Somebody else reads from the disk",
            "another file is read without pause during both passes, past the page cache",
            ("disk-shared",),
            campaign(_DISK),
            act=acts.hog_disk,
        ),
        Plant(
            "disk-throttled",
            "The disk is throttled",
            "the engine's control group may read 8 MiB/s once the cold pass is over (needs root)",
            ("below-ceiling",),
            campaign(_DISK),
            act=acts.throttle_disk,
        ),
        Plant(
            "document-twice",
            "One document is sent twice in a pass",
            "kvtui is run with a fault: its last document is the first again",
            ("document-twice",),
            campaign(),
            fault="document-twice",
        ),
        Plant(
            "clock-stepped",
            "A node's clock steps during the run",
            "kvtui's programs on the node read a clock that jumps 30 s ahead in the cold pass; "
            "the machine's own clock stays",
            ("clock-stepped",),
            campaign(),
            fault="clock-steps",
            act=acts.step_clock,
        ),
        Plant(
            "stores-unsettled",
            "The cached pass begins before the stores have arrived",
            "the store holds back all writes from the cold pass's first answers on (`CLIENT PAUSE`)",
            ("stores-missing",),
            campaign(documents=12),
            act=acts.pause_writes,
        ),
    )
