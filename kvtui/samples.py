"""One measured request, and a run's samples read from its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kvtui.answers import Answer, answer_from
from kvtui.attribution import Verdict
from kvtui.journal import Event


class Pass(StrEnum):
    """Which pass a request belongs to; only ``cold`` and ``cached`` are results."""

    WARMUP = "warmup"
    GATE_COLD = "gate-cold"
    GATE_CACHED = "gate-cached"
    COLD = "cold"
    CACHED = "cached"


@dataclass(frozen=True, slots=True)
class Sample:
    """One request with its verdict.

    Attributes:
        request_id: The id that the client sent.
        tier: Name of the tier.
        block: Name of the block: passes that share engines and a cold pass.
        attempt: Which try of the block it belongs to; only the last counts.
        topology: ``single`` or ``fleet``.
        step: ``cold``, ``cached``, or a pass that is no result.
        document: Id of the document.
        place: Its place in the order of the pass, from 1.
        node: The node that served it.
        ttft_ms: Time to first token; ``None`` when the request failed.
        prompt_tokens: Tokens of the prompt by the engine's count; ``None`` when it failed.
        reusable_tokens: Tokens that could be reused at best.
        reused_tokens: Tokens that were; ``None`` when unknown.
        verdict: How much was reused.
        reason: The evidence in words, or the failure.
        evidence: The evidence in figures.
        shared_tokens: Tokens that requests before it in the same pass have in common with it, in whole
            chunks: found again even in a cold pass.
        repeat: Which repeat of the campaign it belongs to, from 1.
        run_place: Its place among all requests of the run, in the order in which they were judged, from
            1; warm-ups, the gate and tries that do not count are among them. ``None`` where it was not
            recorded.
        answer: The first tokens of the answer with their log-probabilities; ``None`` when not known.
    """

    request_id: str
    tier: str
    block: str
    attempt: int
    topology: str
    step: Pass
    document: str
    place: int
    node: str
    ttft_ms: float | None
    prompt_tokens: int | None
    reusable_tokens: int
    reused_tokens: int | None
    verdict: Verdict
    reason: str
    evidence: dict[str, Any]
    shared_tokens: int = 0
    repeat: int = 1
    run_place: int | None = None
    answer: Answer | None = None

    @property
    def is_cold(self) -> bool:
        """Whether it reused no more than requests before it in the same pass had stored."""
        return (self.reused_tokens or 0) <= self.shared_tokens

    def to_json(self) -> dict[str, Any]:
        """The sample as a JSON object."""
        return asdict(self)


def sample_from(event: Event) -> Sample:
    """A sample from its event."""
    # Older records may lack these.
    fields = {"shared_tokens": 0, "repeat": 1, "run_place": None, "answer": None, **event}
    fields = {name: fields[name] for name in Sample.__slots__}
    fields["answer"] = answer_from(fields["answer"])
    fields["step"] = Pass(event["step"])
    fields["verdict"] = Verdict(event["verdict"])
    return Sample(**fields)


def samples_of(events: Iterable[Event]) -> tuple[Sample, ...]:
    """The samples of each block's last attempt, in the order in which they were judged."""
    samples = [sample_from(event) for event in events if event["kind"] == "sample"]
    last: dict[str, int] = {}
    for sample in samples:
        last[sample.block] = max(last.get(sample.block, 0), sample.attempt)
    return tuple(sample for sample in samples if sample.attempt == last[sample.block])
