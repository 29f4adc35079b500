"""The gate's refusal names the cause that the requests' own figures give."""

from __future__ import annotations

from typing import Any

from kvtui.attribution import Verdict
from kvtui.findings import Level
from kvtui.gate_findings import gate_findings
from kvtui.samples import Pass, Sample


def sample(step: Pass, verdict: Verdict, **evidence: Any) -> Sample:
    return Sample(
        request_id="r",
        tier="dram",
        block="dram-single",
        attempt=1,
        topology="single",
        step=step,
        document="legal-007",
        place=1,
        node="gpu-a",
        ttft_ms=80.0,
        prompt_tokens=1040,
        reusable_tokens=1024,
        reused_tokens=None,
        verdict=verdict,
        reason="as it was seen",
        evidence=evidence,
    )


STORED = [sample(Pass.GATE_COLD, Verdict.NONE, hit_tokens=0, stored_tokens=1024)]


def codes(cold: list[Sample], cached: list[Sample]) -> list[tuple[str, Level]]:
    return [(one.code, one.level) for one in gate_findings("dram", "gpu-a", cold, cached)]


def test_a_document_that_came_back_is_no_finding() -> None:
    back = sample(Pass.GATE_CACHED, Verdict.FULL, hit_tokens=1024, retrieved_tokens=1024, cached_tokens=1024)
    assert codes(STORED, [back]) == []


def test_a_miss_without_a_known_cause_is_the_refusal_alone() -> None:
    missed = sample(Pass.GATE_CACHED, Verdict.NONE, hit_tokens=0, cached_tokens=0)
    assert codes(STORED, [missed]) == [("gate-no-reuse", Level.BLOCKING)]
    unknown = sample(Pass.GATE_CACHED, Verdict.UNKNOWN)
    assert codes([sample(Pass.GATE_COLD, Verdict.NONE)], [unknown]) == [("gate-no-reuse", Level.BLOCKING)]


def test_an_engine_that_had_the_tokens_itself_has_its_prefix_cache_on() -> None:
    # As a real engine said it: LMCache had all of it, and was not asked to read any.
    own = sample(Pass.GATE_CACHED, Verdict.UNKNOWN, hit_tokens=1024, cached_tokens=1024, recovered=False)
    assert codes(STORED, [own, own]) == [
        ("gate-no-reuse", Level.BLOCKING),
        ("prefix-cache-on", Level.BLOCKING),
    ]
    (_, finding) = gate_findings("dram", "gpu-a", STORED, [own, own])
    assert "2,048 tokens that LMCache did not read" in finding.text


def test_documents_that_were_stored_in_part_are_named() -> None:
    short = sample(Pass.GATE_COLD, Verdict.NONE, hit_tokens=0, stored_tokens=512)
    part = sample(Pass.GATE_CACHED, Verdict.PARTIAL, hit_tokens=512, retrieved_tokens=512, cached_tokens=512)
    assert codes([short], [part]) == [
        ("gate-no-reuse", Level.BLOCKING),
        ("stored-in-part", Level.WARNING),
    ]
    assert "legal-007: 512 of 1,024 tokens" in gate_findings("dram", "gpu-a", [short], [part])[1].text
