"""Was the KV of a request reused? The verdict, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from kvtui.loglines import Figures, LoadRecovered, Lookup, Retrieve, Store, client_request_id


class Verdict(StrEnum):
    """How much of what could be reused was reused."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a request on the node that served it; ``None`` where nothing was seen.

    Of several ranks that read or store a request, the one with the fewest tokens decides, and the slowest.

    Attributes:
        hit_tokens: Tokens that LMCache found at its last lookup.
        retrieved_tokens: Tokens that it read into the engine.
        retrieve_ms: Time that the read took, by LMCache's own line.
        retrieve_gib: Size of the read, by the same line, over all ranks.
        stored_tokens: Tokens that it took over for storing.
        store_ms: Time that taking over took; the write to disk or store comes later.
        cached_tokens: What the engine reported to the client as not computed.
        recovered: vLLM computed the request again after a failed read.
        ranks: Ranks whose lines of the read were seen, where there are several.
    """

    hit_tokens: int | None = None
    retrieved_tokens: int | None = None
    retrieve_ms: float | None = None
    retrieve_gib: float | None = None
    stored_tokens: int | None = None
    store_ms: float | None = None
    cached_tokens: int | None = None
    recovered: bool = False
    ranks: int | None = None

    def whole(self, ranks: int = 1) -> bool:
        """Whether LMCache has said all that it will say of the request's reading.

        Args:
            ranks: How many ranks read; those that get their KV from another rank write no line (LMCache 0.5.4
                ``v1/cache_engine.py``, ``_is_passive``).
        """
        read = self.retrieved_tokens is not None and (self.ranks or 1) >= ranks
        return self.hit_tokens == 0 or read

    def to_json(self) -> dict[str, Any]:
        """The evidence as a JSON object, without what was not seen."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def reusable_tokens(prompt_tokens: int, chunk_tokens: int) -> int:
    """Tokens of a prompt that a tier can give back: its whole chunks, but never the last token.

    The engine computes at least the last token, so a prompt of whole chunks loads one token less (LMCache
    0.5.4 ``integration/vllm/vllm_v1_adapter.py``).
    """
    return min(prompt_tokens // chunk_tokens * chunk_tokens, prompt_tokens - 1)


@dataclass(slots=True)
class _Work:
    """What one rank read or stored of one request."""

    tokens: int = 0
    ms: float = 0.0
    gib: float = 0.0

    def add(self, tokens: int, ms: float, gib: float) -> None:
        self.tokens += tokens
        self.ms += ms
        self.gib += gib


class EvidenceBook:
    """Evidence by the client's request id, as an engine's log grows.

    Attributes:
        found: What was seen so far.
    """

    def __init__(self) -> None:
        self.found: dict[str, Evidence] = {}
        self._latest = ""
        self._reads: dict[str, dict[str, _Work]] = {}
        self._stores: dict[str, dict[str, _Work]] = {}

    def take(self, line: Figures) -> str:
        """Note the figures of the log's next line; the request that they are of, or empty."""
        if isinstance(line, LoadRecovered):
            # The line names no request; a pass has one at a time, so it is the last one looked up.
            if self._latest not in self.found:
                return ""
            self.found[self._latest] = replace(self.found[self._latest], recovered=True)
            return self._latest
        request_id = client_request_id(line.request_id)
        seen = self.found.get(request_id, Evidence())
        match line:
            case Lookup():
                self._latest = request_id
                seen = replace(seen, hit_tokens=line.hit_tokens)
            case Retrieve():
                ranks = self._reads.setdefault(request_id, {})
                work = ranks.setdefault(line.process, _Work())
                work.add(line.retrieved_tokens, line.cost_ms, line.size_gib)
                seen = replace(
                    seen,
                    retrieved_tokens=min(one.tokens for one in ranks.values()),
                    retrieve_ms=max(one.ms for one in ranks.values()),
                    retrieve_gib=sum(one.gib for one in ranks.values()),
                    ranks=len(ranks) if len(ranks) > 1 else None,
                )
            case Store():
                ranks = self._stores.setdefault(request_id, {})
                work = ranks.setdefault(line.process, _Work())
                work.add(line.stored_tokens, line.cost_ms, line.size_gib)
                seen = replace(
                    seen,
                    stored_tokens=min(one.tokens for one in ranks.values()),
                    store_ms=max(one.ms for one in ranks.values()),
                )
        self.found[request_id] = seen
        return request_id

    def forget(self, request_id: str) -> None:
        """Drop a request."""
        for kept in (self.found, self._reads, self._stores):
            kept.pop(request_id, None)


def collect(lines: Iterable[Figures]) -> dict[str, Evidence]:
    """Evidence by the client's request id, from the figures of one pass's log lines."""
    book = EvidenceBook()
    for line in lines:
        book.take(line)
    return book.found


@dataclass(frozen=True, slots=True)
class Reuse:
    """The verdict on a request.

    Attributes:
        verdict: How much was reused.
        reused_tokens: Tokens that were not computed; ``None`` when unknown.
        reason: The evidence in words.
    """

    verdict: Verdict
    reused_tokens: int | None
    reason: str


def _by_amount(reused: int, reusable: int, reason: str) -> Reuse:
    if reused <= 0:
        return Reuse(Verdict.NONE, 0, reason)
    # A read of whole chunks may count the one token that is computed all the same.
    verdict = Verdict.FULL if reused >= reusable else Verdict.PARTIAL
    return Reuse(verdict, min(reused, reusable), reason)


def judge(evidence: Evidence, reusable: int, *, lmcache_on: bool) -> Reuse:
    """Judge one request from what was seen of it.

    LMCache's retrieve line says what was read; a hit at lookup that was never read is no reuse; what the
    engine reported to the client alone is enough where LMCache is off or when it says that all was computed.
    Two witnesses that contradict each other make the verdict unknown.

    Args:
        evidence: What was seen on the node that served the request.
        reusable: Tokens that could be reused at best.
        lmcache_on: Whether the engine ran with LMCache.
    """
    cached = evidence.cached_tokens
    if not lmcache_on:
        if cached is None:
            return Reuse(Verdict.UNKNOWN, None, "the engine reported no cached tokens")
        return _by_amount(cached, reusable, f"LMCache off, engine reports {cached} cached")
    retrieved = evidence.retrieved_tokens
    if retrieved is None and evidence.hit_tokens is None:
        if cached == 0:
            return Reuse(Verdict.NONE, 0, "no line of LMCache, engine reports 0 cached")
        return Reuse(Verdict.UNKNOWN, None, f"no line of LMCache, engine reports {_or_dash(cached)} cached")
    hit = _or_dash(evidence.hit_tokens)
    reason = f"lookup {hit}, retrieved {_or_dash(retrieved)}, engine reports {_or_dash(cached)} cached"
    reused = retrieved or 0
    if evidence.recovered and reused:
        return Reuse(Verdict.UNKNOWN, None, f"{reason}; a failed read was recomputed")
    if contradict(cached, reused, reusable):
        return Reuse(Verdict.UNKNOWN, None, f"{reason}: they contradict each other")
    return _by_amount(reused, reusable, reason)


def contradict(cached: int | None, retrieved: int, reusable: int) -> bool:
    """Whether what the engine told the client and what LMCache read cannot both be so.

    The engine computes a prompt's last token in any case, which LMCache may count as read.
    """
    return cached is not None and abs(cached - min(retrieved, reusable)) > 1


def _or_dash(value: int | None) -> str:
    return "–" if value is None else str(value)


def with_cached_tokens(
    found: Mapping[str, Evidence], cached: Mapping[str, int | None]
) -> dict[str, Evidence]:
    """Join the log's evidence with what the engine told the client, for every request that was answered."""
    return {
        request_id: replace(found.get(request_id, Evidence()), cached_tokens=tokens)
        for request_id, tokens in cached.items()
    }
