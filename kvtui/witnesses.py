"""Do the witnesses of a pass agree? What does not is a finding with both figures; none outvotes another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kvtui.attribution import Verdict, contradict
from kvtui.findings import Finding, Level
from kvtui.pass_counts import EngineTimes, StoreCounts
from kvtui.plan import TierKind
from kvtui.samples import Sample
from kvtui.served import Server, known_bytes, moved_of, served_of
from kvtui.units import megabytes

# Counts of the same bytes differ by no more than this, times by no more than one of these.
BYTES_WITHIN = 0.02
TIME_WITHIN, TIME_WITHIN_MS = 0.05, 5.0
# What may be spent of a TTFT between the probe and the API server before that itself is a finding.
WAY_WITHIN = 0.2
# Beside the KV of a request: frames of answers and questions for keys, or the prompt and heads of files.
BESIDE_BYTES = 32 * 1024
# kvtui itself asks the store for INFO once a second, and around a pass.
INFO_BYTES, INFO_AROUND = 32 * 1024, 4
# Of what could be reused, so much has come in although LMCache says that it read nothing.
CAME = 0.5
_EXPECTED = {
    TierKind.VALKEY: (Server.VALKEY,),
    TierKind.DISK: (Server.DISK, Server.PAGE_CACHE, Server.DISK_AND_PAGE_CACHE),
    TierKind.DRAM: (Server.DRAM,),
}


@dataclass(frozen=True, slots=True)
class PassFacts:
    """A pass with what was counted over it.

    Attributes:
        kind: Kind of the tier.
        where: Tier, topology and pass in words.
        samples: Its judged requests.
        chunk_tokens: Tokens of a chunk.
        bytes_per_token: KV bytes a token; ``None`` when not known.
        external_hit_tokens: Tokens from outside by the engine's counter.
        times: The engine's times; ``None`` when not known, or where they are no results.
        total_ms: Sum over the requests from being sent to the end of their answers, by the probe; ``None``
            when not known of all.
        store: The store's counts; ``None`` when not known, or where the tier has no store.
    """

    kind: TierKind
    where: str
    samples: Sequence[Sample]
    chunk_tokens: int
    bytes_per_token: int | None = None
    external_hit_tokens: int | None = None
    times: EngineTimes | None = None
    total_ms: float | None = None
    store: StoreCounts | None = None


def witness_findings(facts: PassFacts) -> tuple[Finding, ...]:
    """Everything in which the witnesses of a pass do not agree."""
    found = [
        *(("witnesses-disagree", text) for text in _disagreeing(facts)),
        *(("bytes-disagree", text) for text in _bytes(facts)),
        *(("parts-do-not-add-up", text) for text in _parts(facts)),
    ]
    return tuple(Finding(Level.WARNING, code, text, "", facts.where) for code, text in found)


def _disagreeing(facts: PassFacts) -> Iterator[str]:
    yield from _of_requests(facts, _contradiction)
    yield from _of_requests(facts, _other_server)
    yield from _of_requests(facts, _unread)
    known = [sample.reused_tokens for sample in facts.samples if sample.reused_tokens is not None]
    hits, total = facts.external_hit_tokens, sum(known)
    if hits is not None and len(known) == len(facts.samples) and abs(hits - total) > len(facts.samples):
        yield f"The engine counted {hits} tokens from outside, the requests' evidence says {total}."
    chunks = _chunks(facts)
    if facts.store is not None and chunks is not None and facts.store.get_calls < chunks:
        yield f"LMCache read {chunks} chunks, the store counted {facts.store.get_calls} calls of GET."


def _of_requests(facts: PassFacts, of: Callable[[PassFacts, Sample], str]) -> Iterator[str]:
    """One sentence for all requests of which something is told."""
    found = [(sample, text) for sample in facts.samples if (text := of(facts, sample))]
    if found:
        first, text = found[0]
        yield f"{len(found)} of {len(facts.samples)} requests, first {first.document}: {text}."


def _contradiction(facts: PassFacts, sample: Sample) -> str:
    seen = sample.evidence
    cached, retrieved, found = (seen.get(f"{what}_tokens") for what in ("cached", "retrieved", "hit"))
    if (retrieved is None and found is None) or seen.get("recovered"):
        return ""
    if not contradict(cached, retrieved or 0, sample.reusable_tokens):
        return ""
    return f"LMCache read {retrieved or 0} tokens, the engine told the client {cached} cached"


def _other_server(facts: PassFacts, sample: Sample) -> str:
    served = served_of(sample)
    if served is None or served.by in (Server.UNKNOWN, *_EXPECTED.get(facts.kind, ())):
        return ""
    size = known_bytes(sample) or 0
    read = f"LMCache read {megabytes(size)} of KV in tier {sample.tier}"
    return f"{read}, the counts say {served.by}: {served.words}"


def _unread(facts: PassFacts, sample: Sample) -> str:
    """KV that came in for a request of which LMCache says that it read nothing."""
    if sample.verdict is not Verdict.NONE or facts.bytes_per_token is None or sample.ttft_ms is None:
        return ""
    moved, could = moved_of(sample), sample.reusable_tokens * facts.bytes_per_token
    came = moved.store_rx_bytes if facts.kind is TierKind.VALKEY else moved.engine_rchar_bytes
    if came is None or came < max(CAME * could, BESIDE_BYTES):
        return ""
    return f"LMCache read nothing, {megabytes(came)} came in where its KV is {megabytes(could)}"


def _chunks(facts: PassFacts) -> int | None:
    """Chunks that LMCache says it read, whole ones; ``None`` unless that is known of every request."""
    tokens: list[int] = [sample.evidence.get("retrieved_tokens", 0) for sample in facts.samples]
    if any(sample.verdict is Verdict.UNKNOWN for sample in facts.samples):
        return None
    return sum((one + 1) // facts.chunk_tokens for one in tokens)


def _bytes(facts: PassFacts) -> Iterator[str]:
    """Bytes of KV that were read in the pass, held against each count of the same bytes.

    What the engine sends to be stored goes out after the answer, so it belongs to no request and is not held
    against anything here. Counts of the whole node (interfaces, disks) hold what others do: they are kept,
    and judge nothing. The device may give less than was read, when the page cache has the rest: that is a
    finding of its own.
    """
    sizes = [known_bytes(sample) for sample in facts.samples]
    read = sum(size or 0 for size in sizes)
    if None in sizes or read == 0:
        return
    beside = BESIDE_BYTES * len(facts.samples)
    if facts.kind is TierKind.VALKEY:
        came = _sum([moved_of(sample).store_rx_bytes for sample in facts.samples])
        if came is not None and _apart(read, came, beside):
            yield f"LMCache read {megabytes(read)} of KV, its connections to the store got {megabytes(came)}."
        if facts.store is not None:
            info = round(INFO_BYTES * (facts.store.seconds + INFO_AROUND))
            if _apart(read, facts.store.net_out_bytes, beside + info):
                sent = megabytes(facts.store.net_out_bytes)
                yield f"LMCache read {megabytes(read)} of KV, the store sent {sent} to all its clients."
    if facts.kind is TierKind.DISK:
        files = _sum([moved_of(sample).engine_rchar_bytes for sample in facts.samples])
        device = _sum([moved_of(sample).engine_read_bytes for sample in facts.samples])
        # A read that is no call of read(), by io_uring or a mapping, is in the device's count alone.
        seen = None if files is None else max(files, device or 0)
        if seen is not None and _apart(read, seen, beside):
            yield f"LMCache read {megabytes(read)} of KV, the engine read {megabytes(seen)} from files."
        if device is not None and device > read * (1 + BYTES_WITHIN) + beside:
            got = megabytes(device)
            yield f"LMCache read {megabytes(read)} of KV, the engine read {got} from the device."


def _apart(read: int, counted: int, beside: int) -> bool:
    """Whether a count is not that of the bytes that were read, and at most so many beside."""
    return counted < read * (1 - BYTES_WITHIN) or counted > read * (1 + BYTES_WITHIN) + beside


def _parts(facts: PassFacts) -> Iterator[str]:
    """TTFT = way + HTTP + hops + queue + lookup + retrieve + compute, by clocks that do not know each other.

    vLLM's ``prefill`` holds lookup, retrieve and compute; LMCache times the retrieve itself (a lookup has no
    time of its own in its lines). The API server's time outside the engine's clock, and what the probe waited
    longer than the API server worked (the way: a busy machine lets a request wait in its sockets), are spent
    on both ends of an answer, and only the first end is in a TTFT. So what must hold, in the mean of a pass
    and within 5 ms or 5 %: the retrieve fits into the prefill, queue and prefill into the engine's TTFT, and
    the probe's TTFT lies between the engine's and the engine's with all of HTTP and the way. A way that is
    more than a fifth of the TTFT is told by itself.
    """
    ttfts = [sample.ttft_ms for sample in facts.samples]
    if facts.times is None or facts.total_ms is None or not ttfts or None in ttfts:
        return
    count, times = len(ttfts), facts.times
    probe, engine = sum(one or 0.0 for one in ttfts) / count, times.ttft_ms / count
    way = max(0.0, facts.total_ms - times.http_ms) / count
    within = max(TIME_WITHIN_MS, TIME_WITHIN * probe)
    inside, most = (times.queue_ms + times.prefill_ms) / count, engine + times.front_ms / count + way
    retrieves = [sample.evidence.get("retrieve_ms", 0.0) for sample in facts.samples]
    retrieve, prefill = sum(retrieves) / count, times.prefill_ms / count
    if not engine - within <= probe <= most + within:
        yield (
            f"The probe's TTFT is {probe:,.1f} ms in the mean, the engine's {engine:,.1f} ms, "
            f"and {most:,.1f} ms with all of HTTP and the way."
        )
    elif way > max(TIME_WITHIN_MS, WAY_WITHIN * probe):
        yield (
            f"Between the probe and the engine's server {way:,.1f} ms are spent in the mean, "
            f"of a TTFT of {probe:,.1f} ms."
        )
    if inside > engine + within:
        yield f"Queue and prefill are {inside:,.1f} ms in the mean, the engine's TTFT {engine:,.1f} ms."
    if retrieve > prefill + within:
        yield (
            f"LMCache's retrieve is {retrieve:,.1f} ms in the mean, the engine's prefill that holds it "
            f"{prefill:,.1f} ms."
        )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
