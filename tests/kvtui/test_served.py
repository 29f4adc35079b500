"""Which tier served a request: said when a count of bytes says so, and by no guess."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.attribution import Evidence, Verdict
from kvtui.plan import TierKind
from kvtui.samples import Pass, Sample
from kvtui.served import (
    ALL,
    NONE,
    Moved,
    Server,
    evidence_lines,
    evidence_of_bytes,
    moved_from,
    retrieved_bytes,
    served_by,
    served_of,
    served_words,
)

KV = 8_388_608
ENGINE_OWN = 5_500
VALKEY = Moved(engine_read_bytes=0, engine_rchar_bytes=ENGINE_OWN, store_rx_bytes=KV + 200)
COLD_DISK = Moved(engine_read_bytes=KV, engine_rchar_bytes=KV + ENGINE_OWN)
WARM_DISK = Moved(engine_read_bytes=0, engine_rchar_bytes=KV + ENGINE_OWN)
DRAM = Moved(engine_read_bytes=0, engine_rchar_bytes=ENGINE_OWN)


@pytest.mark.parametrize(
    ("kind", "moved", "by", "words"),
    [
        (TierKind.VALKEY, VALKEY, Server.VALKEY, "1.00 of the bytes arrived over the network"),
        (TierKind.DISK, COLD_DISK, Server.DISK, "1.00 of the bytes were read from the device"),
        (
            TierKind.DISK,
            WARM_DISK,
            Server.PAGE_CACHE,
            "1.00 of the bytes were read from files, 0.00 from the device",
        ),
        (
            TierKind.DISK,
            replace(COLD_DISK, engine_read_bytes=KV // 4),
            Server.DISK_AND_PAGE_CACHE,
            "0.25 of the bytes were read from the device, the rest from the page cache",
        ),
        (
            TierKind.DRAM,
            DRAM,
            Server.DRAM,
            "no bytes came from outside (0.00 over the network, 0.00 from files, 0.00 from the device)",
        ),
        # LMCache's staging memory in front of the store.
        (TierKind.VALKEY, replace(VALKEY, store_rx_bytes=200), Server.DRAM, "no bytes came from outside"),
        (TierKind.VALKEY, replace(COLD_DISK, store_rx_bytes=200), Server.DISK, "read from the device"),
        # Half of it is no tier's.
        (TierKind.VALKEY, replace(VALKEY, store_rx_bytes=KV // 2), Server.UNKNOWN, "0.50 over the network"),
        (TierKind.DRAM, replace(DRAM, engine_rchar_bytes=KV // 2), Server.UNKNOWN, "0.50 from files"),
        (TierKind.VALKEY, replace(COLD_DISK, store_rx_bytes=KV), Server.UNKNOWN, "more came than was read"),
        # What is not counted proves no absence.
        (TierKind.VALKEY, replace(DRAM, store_rx_bytes=None), Server.UNKNOWN, "– over the network"),
        (TierKind.DRAM, Moved(), Server.UNKNOWN, "– from files, – from the device"),
        (TierKind.DISK, Moved(engine_rchar_bytes=KV), Server.UNKNOWN, "– from the device"),
    ],
)
def test_a_count_of_bytes_names_the_tier(kind: TierKind, moved: Moved, by: Server, words: str) -> None:
    served = served_by(kind, KV, moved)
    assert served.by is by
    assert words in served.words


@pytest.mark.parametrize("payload", [None, 0])
def test_without_a_size_nothing_is_claimed(payload: int | None) -> None:
    assert served_by(TierKind.DRAM, payload, DRAM).by is Server.UNKNOWN


SIZE = st.none() | st.integers(0, 2 * KV)


@given(
    kind=st.sampled_from([TierKind.DRAM, TierKind.DISK, TierKind.VALKEY]),
    moved=st.builds(Moved, engine_read_bytes=SIZE, engine_rchar_bytes=SIZE, store_rx_bytes=SIZE),
)
def test_no_tier_is_named_without_a_count_that_shows_it(kind: TierKind, moved: Moved) -> None:
    by = served_by(kind, KV, moved).by
    if by is Server.VALKEY:
        assert (moved.store_rx_bytes or 0) >= ALL * KV
    if by is Server.DISK:
        assert (moved.engine_read_bytes or 0) >= ALL * KV
    if by in (Server.PAGE_CACHE, Server.DISK_AND_PAGE_CACHE):
        assert (moved.engine_rchar_bytes or 0) >= ALL * KV
        assert moved.engine_read_bytes is not None
    if by is Server.DRAM:
        counts = [moved.engine_read_bytes, moved.engine_rchar_bytes]
        counts += [moved.store_rx_bytes] if kind is TierKind.VALKEY else []
        assert all(one is not None and one < NONE * KV for one in counts)


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)


@given(data=st.none() | st.lists(JSON) | st.dictionaries(st.sampled_from(Moved.__slots__), JSON))
def test_any_record_can_be_read_and_unknown_stays_unknown(data: Any) -> None:
    moved = moved_from(data)
    assert moved_from(moved.to_json()) == moved
    for name in Moved.__slots__:
        value = getattr(moved, name)
        assert value is None or (value >= 0 and data[name] == value)


def test_size_of_a_read() -> None:
    def size(seen: Evidence) -> int | None:
        return retrieved_bytes(seen, 256, 8192)

    assert size(Evidence(hit_tokens=1024, retrieved_tokens=1024)) == KV
    # The last token is computed, its chunk is read.
    assert size(Evidence(hit_tokens=1024, retrieved_tokens=1023)) == KV
    assert size(Evidence(hit_tokens=2064, retrieved_tokens=2064)) == 2064 * 8192
    assert size(Evidence(hit_tokens=0)) == 0
    assert size(Evidence(hit_tokens=1024)) is None
    assert size(Evidence()) is None
    assert retrieved_bytes(Evidence(retrieved_tokens=1024), 256, None) is None


def sample(verdict: Verdict = Verdict.FULL, moved: Moved = VALKEY, **changes: Any) -> Sample:
    """A cached request of a tier."""
    evidence = evidence_of_bytes(TierKind.VALKEY, verdict, moved, KV, 3.25)
    fields: dict[str, Any] = {
        "request_id": "r",
        "tier": "valkey",
        "block": "valkey-single",
        "attempt": 1,
        "topology": "single",
        "step": Pass.CACHED,
        "document": "legal-001",
        "place": 1,
        "node": "gpu-a",
        "ttft_ms": 30.0,
        "prompt_tokens": 1024,
        "reusable_tokens": 1023,
        "reused_tokens": 1023,
        "verdict": verdict,
        "reason": "",
        "evidence": evidence,
    }
    return Sample(**{**fields, **changes})


def test_what_served_a_row() -> None:
    found = [sample(), sample(), sample(moved=Moved()), sample(Verdict.NONE), sample(step=Pass.COLD)]
    assert served_words(found) == "valkey 2, unknown 1"
    assert served_words([]) == ""


@pytest.mark.parametrize(
    "evidence",
    [{}, {"retrieved_tokens": 1024}, {"served_by": "moon", "served_words": "x"}, {"served_by": ["valkey"]}],
)
def test_a_record_without_counts_claims_no_tier(evidence: dict[str, Any]) -> None:
    assert served_of(sample(evidence=evidence)) is None
    assert evidence_lines(sample(evidence=evidence)) == ()


@pytest.mark.parametrize("verdict", [Verdict.NONE, Verdict.UNKNOWN])
def test_without_reuse_no_tier_served(verdict: Verdict) -> None:
    assert served_of(sample(verdict)) is None


def test_a_sample_keeps_what_is_known_of_its_bytes() -> None:
    moved = moved_from({"engine_read_bytes": 0, "store_rx_bytes": None, "engine_rchar_bytes": -1})
    kept = evidence_of_bytes(TierKind.DRAM, Verdict.NONE, moved, 0, None)
    assert kept == {"moved": {"engine_read_bytes": 0}, "retrieved_bytes": 0}
    assert evidence_of_bytes(TierKind.NONE, Verdict.FULL, Moved(), None, None) == {}
    assert evidence_of_bytes(TierKind.DRAM, Verdict.FULL, Moved(), KV, 1.5)["floor_ms"] == 1.5


def test_the_evidence_in_words() -> None:
    assert evidence_lines(sample()) == (
        "Served by valkey: 1.00 of the bytes arrived over the network.",
        "KV read 8.39 MB; engine: device 0.00 MB, files 0.01 MB, store 8.39 MB; "
        "node: disks –, network –, loopback –.",
        "TTFT 30.0 ms; by its ceiling the read takes at least 3.2 ms.",
    )
