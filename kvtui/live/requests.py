"""One request as far as it is known: from its node's events at once, from its sample once it was judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kvtui.attribution import Evidence, Verdict
from kvtui.live.numbers import number, positive, whole
from kvtui.live.sources import PassSource
from kvtui.live.standing import Sign
from kvtui.live.times import Parts
from kvtui.loglines import GIB
from kvtui.samples import Pass, Sample

_SIGNS = {
    "full": Sign.GOOD,
    "partial": Sign.WARNING,
    "none": Sign.WARNING,
    "unknown": Sign.WARNING,
    "pending": Sign.RUNNING,
    "failed": Sign.BAD,
    "": Sign.WAITING,
}


@dataclass(slots=True)
class Request:
    """What is known of a request so far; fields fill as events come in."""

    request_id: str
    source: PassSource
    document: str
    order: int
    sent_wall_s: float | None = None
    ttft_ms: float | None = None
    total_ms: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    answered: bool = False
    failure: str = ""
    sample: Sample | None = None
    logged: Evidence = field(default_factory=Evidence)
    lookup_wall_s: float | None = None

    @property
    def evidence(self) -> Evidence:
        """The judged evidence, else what the log has said so far."""
        return self.logged if self.sample is None else evidence_from(self.sample.evidence)

    @property
    def known_ttft_ms(self) -> float | None:
        """Its TTFT; ``None`` when it failed or has not come."""
        if self.sample is not None:
            return positive(self.sample.ttft_ms)
        return None if self.failure else self.ttft_ms

    @property
    def place(self) -> int:
        """Its place in the pass: by the sample, else by the order in which it was sent."""
        return self.order if self.sample is None else self.sample.place

    @property
    def verdict(self) -> str:
        """``full``, ``partial``, ``none``, ``unknown``, ``pending``, ``failed`` or empty."""
        if self.sample is not None:
            return "failed" if self.sample.ttft_ms is None else self.sample.verdict.value
        if self.failure:
            return "failed"
        return "pending" if self.ttft_ms is not None else ""

    def sign(self, *, has_cache: bool) -> Sign:
        """The verdict as a sign; that a tier without a cache reuses nothing is as it should be."""
        verdict = self.verdict
        return Sign.GOOD if verdict == Verdict.NONE and not has_cache else _SIGNS[verdict]

    @property
    def was_warm(self) -> bool:
        """Whether it is a request of a cold pass that was not cold."""
        return self.source.step is Pass.COLD and self.sample is not None and not self.sample.is_cold


@dataclass(frozen=True, slots=True)
class Counted:
    """The figures of a request that medians and sums are made of; sums are whole, so that none drifts."""

    ttft_ms: float | None = None
    lookup_ms: float | None = None
    retrieve_ms: float | None = None
    store_ms: float | None = None
    retrieved_bytes: int = 0
    retrieved_ns: int = 0
    stored_tokens: int = 0
    stored_ns: int = 0
    hit_not_read: bool = False
    stored_in_part: bool = False
    recovered: bool = False


def counted(request: Request) -> Counted:
    """The figures of a request as they stand."""
    ttft_ms = None if request.was_warm else request.known_ttft_ms
    seen = request.evidence
    retrieve_ms = retrieve_of(seen)
    judged = request.sample
    return Counted(
        ttft_ms=ttft_ms,
        lookup_ms=lookup_at_most_ms(request) if ttft_ms is not None else None,
        retrieve_ms=retrieve_ms,
        store_ms=seen.store_ms,
        retrieved_bytes=round((seen.retrieve_gib or 0.0) * GIB) if retrieve_ms else 0,
        retrieved_ns=round((retrieve_ms or 0.0) * 1e6),
        stored_tokens=(seen.stored_tokens or 0) if seen.store_ms else 0,
        stored_ns=round((seen.store_ms or 0.0) * 1e6),
        # Only a judged request has said all that it will say.
        hit_not_read=judged is not None and (seen.hit_tokens or 0) > (seen.retrieved_tokens or 0) + 1,
        stored_in_part=judged is not None
        and request.source.step is Pass.COLD
        and seen.stored_tokens is not None
        and seen.stored_tokens < judged.reusable_tokens,
        recovered=seen.recovered,
    )


def retrieve_of(seen: Evidence) -> float | None:
    """Milliseconds of reading: 0 when LMCache found nothing to read, ``None`` when it said nothing."""
    if seen.retrieve_ms is None:
        return 0.0 if seen.hit_tokens == 0 else None
    return seen.retrieve_ms


def lookup_at_most_ms(request: Request) -> float | None:
    """From sending to LMCache's answer: an upper bound of the lookup.

    LMCache gives no time of a lookup for each request: its histogram ``lmcache:time_to_lookup`` is a sum over
    requests that is refreshed every 10 s (LMCache 0.5.4 ``observability.py``). Its line ``Reqid: …`` is
    written when the lookup has answered (``integration/vllm/vllm_v1_adapter.py``), with milliseconds
    and by the clock that the probe on the same node uses. So the bound holds the lookup, the way
    of the request into the engine, and hashing its tokens.
    """
    ttft_ms, sent, answered = request.known_ttft_ms, request.sent_wall_s, request.lookup_wall_s
    if ttft_ms is None or sent is None or answered is None:
        return None
    bound_ms = (answered - sent) * 1000
    return bound_ms if 0 <= bound_ms <= ttft_ms else None


def parts_of(request: Request) -> Parts | None:
    """The TTFT taken apart: rest = TTFT − bound of the lookup − retrieve; the unknown stays in the rest."""
    ttft_ms = request.known_ttft_ms
    if ttft_ms is None:
        return None
    lookup_ms, retrieve_ms = lookup_at_most_ms(request), retrieve_of(request.evidence)
    rest_ms = max(0.0, ttft_ms - (lookup_ms or 0.0) - (retrieve_ms or 0.0))
    return Parts(ttft_ms, lookup_ms, retrieve_ms, rest_ms)


def evidence_from(data: dict[str, Any]) -> Evidence:
    """Evidence from its JSON object."""
    return Evidence(
        hit_tokens=whole(data.get("hit_tokens")),
        retrieved_tokens=whole(data.get("retrieved_tokens")),
        retrieve_ms=number(data.get("retrieve_ms")),
        retrieve_gib=number(data.get("retrieve_gib")),
        stored_tokens=whole(data.get("stored_tokens")),
        store_ms=number(data.get("store_ms")),
        cached_tokens=whole(data.get("cached_tokens")),
        recovered=data.get("recovered") is True,
    )
