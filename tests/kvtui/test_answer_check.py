"""Whether reused KV is right, told from the answers: planted wrongs, quiet runs, and what cannot be told."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.answer_check import TOLERANCES, dtype_of
from kvtui.answers import Answer, Token
from kvtui.attribution import Verdict
from kvtui.findings import Finding, Level
from kvtui.journal import Event
from kvtui.results import Result, result_of
from kvtui.samples import Pass, Sample
from kvtui.tables import result_text
from tests.kvtui.plans import lab_plan

TOLERANCE = TOLERANCES["float32"]
OWN = {"v": 1, "src": "kvtui", "wall_s": 0.0}
CODES = ("reused-kv-wrong", "answers-blind")
REUSED = {Verdict.FULL: 2048, Verdict.NONE: 0, Verdict.PARTIAL: 256}


def answer_of(document: int, tokens: int = 8) -> Answer:
    """An answer as a model with trained weights gives it: another one to every document."""
    own = random.Random(document)  # noqa: S311
    found = []
    for _ in range(tokens):
        first, second = own.sample(range(8192), 2)
        high = -own.uniform(0.5, 4)
        found.append(Token(first, high, second, high - own.uniform(0.01, 1)))
    return tuple(found)


def moved(answer: Answer | None, by: float, seed: int = 0) -> Answer | None:
    """The same answer after rounding otherwise."""
    own = random.Random(seed)  # noqa: S311
    if answer is None:
        return None
    return tuple(
        token._replace(logprob=token.logprob + own.uniform(-by, by)) for token in answer if token.logprob
    )


def sample(
    document: int, step: Pass, answer: Answer | None, verdict: Verdict = Verdict.FULL, **more: Any
) -> Sample:
    verdict = Verdict.NONE if step is Pass.COLD else verdict
    fields: dict[str, Any] = {
        "request_id": f"r.{more.get('tier', 'valkey')}.{more.get('repeat', 1)}.{document}.{step}",
        "tier": "valkey",
        "block": f"{more.get('tier', 'valkey')}-single-fleet",
        "attempt": 1,
        "topology": "single",
        "step": step,
        "document": f"doc-{document}",
        "place": document + 1,
        "node": "gpu-a",
        "ttft_ms": 100.0,
        "prompt_tokens": 2064,
        "reusable_tokens": 2048,
        "reused_tokens": REUSED.get(verdict),
        "verdict": verdict,
        "reason": "",
        "evidence": {},
        "answer": answer,
    }
    return Sample(**{**fields, **more})


def passes(cached: dict[int, Answer | None], noise: float = 0.0, **more: Any) -> list[Sample]:
    """A cold and a cached pass of eight documents, with the cached answers that are given."""
    cold = [sample(n, Pass.COLD, answer_of(n), **more) for n in range(8)]
    again = [sample(n, Pass.CACHED, cached.get(n, moved(answer_of(n), noise, n)), **more) for n in range(8)]
    return cold + again


def result(samples: list[Sample], dtype_bytes: int | None = 4) -> Result:
    events: list[Event] = []
    if dtype_bytes is not None:
        record = {"dtype_bytes": dtype_bytes}
        events.append(
            {**OWN, "kind": "step_done", "step": "prepare", "step_kind": "PREPARE", "record": record}
        )
    events += [
        {**OWN, "kind": "sample", **json.loads(json.dumps(one.to_json(), allow_nan=False))} for one in samples
    ]
    events.append({**OWN, "kind": "run_done"})
    return result_of("run", lab_plan(), events)


def findings(of: Result) -> list[Finding]:
    return [one for one in of.findings if one.code in CODES]


def valkey(of: Result) -> Any:
    [found] = [row.answers for row in of.rows if row.tier == "valkey"]
    return found


@given(st.floats(0, TOLERANCE * 0.99))
def test_answers_that_differ_by_rounding_agree(noise: float) -> None:
    found = result(passes({}, noise))
    assert findings(found) == []
    check = valkey(found)
    assert (check.compared, check.agree, check.wrong, check.blind) == (8, 8, (), False)
    pairs = [
        pair for n in range(8) for pair in zip(answer_of(n), moved(answer_of(n), noise, n) or (), strict=True)
    ]
    assert check.largest == max(abs((one.logprob or 0) - (other.logprob or 0)) for one, other in pairs)


def test_what_agrees_is_said_in_the_tables_and_in_json() -> None:
    found = result(passes({}, 5e-4))
    assert (
        "valkey: answers agree: 8 of 8, largest difference 0.0005 (tolerance 0.001, float32)"
        in result_text(found)
    )
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["rows"][0]["answers"]["agree"] == 8


def test_wrong_kv_is_found_with_the_documents_and_blocks() -> None:
    found = result(passes({2: answer_of(102), 5: answer_of(105)}))
    [finding] = findings(found)
    assert (finding.level, finding.code, finding.where) == (
        Level.BLOCKING,
        "reused-kv-wrong",
        "valkey · single",
    )
    assert "2 of 8 answers" in finding.text
    assert "doc-2" in finding.text
    assert "doc-5" in finding.text
    text = result_text(found)
    assert "8/8, WRONG" in text
    assert "REUSED KV IS WRONG: 2 of 8 differ" in text


@given(st.floats(TOLERANCE * 1.01, 5), st.integers(0, 7), st.integers(0, 7))
def test_one_token_of_one_document_that_moved_beyond_the_tolerance_is_found(
    by: float, document: int, place: int
) -> None:
    answer = list(answer_of(document))
    answer[place] = answer[place]._replace(logprob=(answer[place].logprob or 0.0) - by)
    found = result(passes({document: tuple(answer)}))
    assert [one.code for one in findings(found)] == ["reused-kv-wrong"]
    assert valkey(found).wrong == (f"doc-{document}",)


def test_kv_that_makes_no_number_is_wrong() -> None:
    broken = tuple(token._replace(logprob=None, other_logprob=None) for token in answer_of(3))
    found = result(passes({3: broken}))
    [finding] = findings(found)
    assert finding.code == "reused-kv-wrong"
    assert "no number" in finding.text


def test_a_token_that_flips_inside_the_tolerance_is_no_finding() -> None:
    close = tuple(token._replace(other_logprob=(token.logprob or 0) - 1e-4) for token in answer_of(4))
    flipped = Token(close[0].other or 0, close[0].logprob, close[0].id, close[0].other_logprob)
    samples = passes({4: (flipped, *answer_of(77)[1:])})
    samples[4] = sample(4, Pass.COLD, close)
    assert findings(result(samples)) == []
    assert valkey(result(samples)).agree == 8


@pytest.mark.parametrize("verdict", [Verdict.NONE, Verdict.UNKNOWN])
def test_an_answer_whose_reuse_is_not_verified_is_not_compared(verdict: Verdict) -> None:
    samples = passes({})
    samples[-1] = sample(7, Pass.CACHED, answer_of(99), verdict)
    check = valkey(result(samples))
    assert (check.compared, check.wrong) == (7, ())


def test_a_cold_request_that_reused_something_is_no_reference() -> None:
    samples = passes({0: answer_of(99)})
    samples[0] = sample(0, Pass.COLD, answer_of(0), reused_tokens=2048)
    assert valkey(result(samples)).compared == 7


def test_the_same_answer_to_every_document_is_blind_and_not_right() -> None:
    uniform = tuple(Token(5, -11.932, 6, -11.932) for _ in range(8))
    samples = [sample(n, step, uniform) for step in (Pass.COLD, Pass.CACHED) for n in range(8)]
    found = result(samples)
    [finding] = findings(found)
    assert (finding.level, finding.code) == (Level.WARNING, "answers-blind")
    assert "cannot tell" in result_text(found)
    assert "answers agree" not in result_text(found)


def test_an_engine_that_answers_otherwise_each_time_is_blind() -> None:
    twice = [
        sample(n, step, moved(answer_of(n), 0.5, n + (step is Pass.CACHED)), Verdict.NONE, tier="none")
        for step in (Pass.COLD, Pass.CACHED)
        for n in range(8)
    ]
    found = result(twice + passes({2: answer_of(102)}))
    [finding] = findings(found)
    assert finding.code == "answers-blind"
    assert "computed twice" in finding.text


def test_what_computing_twice_gives_is_told_beside_what_reuse_gives() -> None:
    twice = [
        sample(n, step, answer_of(n), Verdict.NONE, tier="none")
        for step in (Pass.COLD, Pass.CACHED)
        for n in range(8)
    ]
    found = result(twice + passes({}, 5e-4))
    assert findings(found) == []
    assert valkey(found).noise == 0
    assert "float32), 0 when computed twice" in result_text(found)


def test_each_repeat_is_compared_with_its_own_cold_pass() -> None:
    samples = passes({}) + passes({}, repeat=2) + passes({6: answer_of(66)}, repeat=3)
    found = result([one for one in samples if one.repeat != 1] + samples[:16])
    check = valkey(found)
    assert (check.compared, check.agree, check.wrong) == (24, 23, ("doc-6",))


def test_a_record_without_answers_says_that_nothing_was_compared() -> None:
    cold = [sample(n, Pass.COLD, None) for n in range(8)]
    cached = [sample(n, Pass.CACHED, None) for n in range(8)]
    found = result(cold + cached)
    assert findings(found) == []
    assert valkey(found) is None
    assert "answers not compared" in result_text(found)


@given(st.lists(st.one_of(st.none(), st.just(answer_of(9)), st.just(())), min_size=16, max_size=16))
def test_answers_that_are_missing_never_make_a_finding(answers: list[Answer | None]) -> None:
    steps = [Pass.COLD] * 8 + [Pass.CACHED] * 8
    samples = [
        sample(n % 8, step, answer) for n, (step, answer) in enumerate(zip(steps, answers, strict=True))
    ]
    assert all(one.code != "reused-kv-wrong" for one in findings(result(samples)))


@pytest.mark.parametrize(
    ("dtype", "size_bytes", "expected"),
    [
        ("auto", 4, "float32"),
        ("auto", 2, "bfloat16"),
        ("auto", 1, "bfloat16"),
        ("auto", None, "bfloat16"),
        ("half", 2, "float16"),
        ("float", 1, "float32"),
        ("bfloat16", 2, "bfloat16"),
        ("something", 2, "bfloat16"),
    ],
)
def test_the_tolerance_is_that_of_the_type_computed_in(
    dtype: str, size_bytes: int | None, expected: str
) -> None:
    assert dtype_of(dtype, size_bytes) == expected
