"""A run with a person's own documents after a shared prefix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.record_check import problems
from corpus.generate import generate
from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left, check
from tests.campaign.test_cut_off import STAND_IN, events, record


@pytest.fixture
def plan(operator: Operator) -> Path:
    """Two own documents after a prefix, sent to an engine that only walks the steps."""
    operator.engine(f"import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    own = operator.home / "own"
    own.mkdir()
    for name, document in zip("abc", generate(5, 3, 4_000), strict=True):
        (own / f"{name}.md").write_text(document.text)
    (own / "broken.md").write_bytes(b"\xff")
    path = operator.write_plan(kind="none")
    text = path.read_text().replace("capacity_gib = 1", "")
    path.write_text(text.replace("tokens = 300", 'tokens = 300\nprefix_tokens = 520\nsource = "own"'))
    return path


async def test_the_record_says_which_documents_were_sent(operator: Operator, plan: Path) -> None:
    ended = await operator.kvtui("launch", plan, "--json")
    assert ended.code == 0, ended.stderr
    assert "broken.md (It is not UTF-8" in ended.stderr
    (made,) = [event["record"] for event in events(operator) if event.get("step_kind") == "CORPUS"]
    assert (made["documents"], made["prompt_tokens"], made["shared_tokens"]) == (2, 820, 512)
    assert made["source"] == str(operator.home / "own")
    told = [event for event in events(operator) if event["kind"] == "corpus_problem"]
    assert [(event["source"], event["code"]) for event in told] == [("broken.md", "not-utf-8")]
    result = json.loads(ended.stdout)
    assert made["source_sha256"][:12] in result["notes"][0]
    # Other tests may run on this machine meanwhile.
    found = {finding["code"] for finding in result["findings"]} - {"processor-shared"}
    assert found == {"own-documents-left-out"}
    assert result["rows"][0]["cold_n"] == 2
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_too_few_documents_end_it_before_a_record_is_made(operator: Operator, plan: Path) -> None:
    (operator.home / "own" / "b.md").write_text("too short")
    (operator.home / "own" / "c.md").unlink()
    ended = await operator.kvtui("launch", plan)
    check(ended, 2, "holds 1 usable documents of 300 tokens", "b.md (It has 9 bytes", "nothing is padded")
    assert events(operator) == ()
