"""A person's own documents and shared prefixes, from the plan to the token ids of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.generate import generate
from kvtui.campaign.documents import (
    RunDocuments,
    load_documents,
    make_documents,
    save_documents,
    shared_tokens,
)
from kvtui.campaign.own_documents import read_source, source_findings
from kvtui.campaign.passes import cold_findings
from kvtui.campaign.tokenizing import Tokens
from kvtui.errors import ExitCode, PlanError, PreflightError
from kvtui.fit import expected_reuse
from kvtui.plan import Plan
from kvtui.samples import Pass
from tests.corpus.tokenizers import words_of
from tests.kvtui.plans import lab_plan
from tests.kvtui.test_results import sample

TOKENS = 600
TEXTS = [document.text for document in generate(77, 6, 9_000)]


def a_plan(**corpus: object) -> Plan:
    plan = lab_plan()
    fields = {"documents": 3, "tokens": TOKENS, **corpus}
    return plan.model_copy(update={"corpus": plan.corpus.model_copy(update=fields)})


async def words(text: str) -> Tokens:
    return Tokens(tuple(words_of(text)))


async def letters(text: str) -> Tokens:
    """A token a character, with its name as SentencePiece writes it."""
    return Tokens(tuple(map(ord, text)), tuple(text.replace(" ", "▁")))


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text, encoding="utf-8")
    return path


async def made(plan: Plan) -> RunDocuments:
    return await make_documents(plan, words, read_source(plan))


async def test_own_documents_are_cut_to_exactly_the_length_in_the_order_of_their_names(
    tmp_path: Path,
) -> None:
    own = folder(tmp_path / "own", b=TEXTS[1], a=TEXTS[0], c=TEXTS[2], d=TEXTS[3])
    found = await made(a_plan(source=str(own)))
    assert [one.token_ids for one in found.corpus] == [
        tuple(words_of(text)[:TOKENS]) for text in (TEXTS[0], TEXTS[1], TEXTS[2])
    ]
    assert [about.title for about in found.about] == ["a.txt", "b.txt", "c.txt"]
    assert {len(one.token_ids) for one in (*found.gate, *found.warmup)} == {TOKENS}
    assert found.problems == ()
    assert source_findings(found.problems) == ()


async def test_a_file_too_short_for_the_tokenizer_is_named_and_the_next_takes_its_place(
    tmp_path: Path,
) -> None:
    short = " ".join(TEXTS[5].split()[:300])
    own = folder(tmp_path / "own", a=short, b=TEXTS[1], c=TEXTS[2], d=TEXTS[3])
    found = await made(a_plan(source=str(own)))
    assert [about.title for about in found.about] == ["b.txt", "c.txt", "d.txt"]
    (finding,) = source_findings(found.problems)
    assert finding.code == "own-documents-left-out"
    assert "a.txt (It has" in finding.text
    assert "Nothing is padded" in finding.text
    with pytest.raises(PreflightError) as caught:
        await made(a_plan(source=str(own), documents=4))
    assert "holds 3 usable documents of 600 tokens, but the plan wants 4" in caught.value.message
    assert "a.txt (It has" in caught.value.message


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda own: (own / "a.txt").write_text("too short"), "a.txt (It has 9 bytes"),
        (lambda own: (own / "a.txt").write_text(""), "a.txt (It has no text"),
        (lambda own: (own / "a.txt").write_bytes(b"\xff\xfe"), "a.txt (It is not UTF-8"),
        (lambda own: (own / "a.txt").write_text(TEXTS[2]), "c.txt (It is the same text as a.txt"),
        (lambda own: (own / "a.txt").unlink(), "holds 2 usable documents"),
        (lambda own: [file.unlink() for file in own.iterdir()], "holds no document"),
    ],
)
def test_too_few_usable_files_are_refused_before_anything_starts(
    tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    own = folder(tmp_path / "own", a=TEXTS[0], b=TEXTS[1], c=TEXTS[2])
    plan = a_plan(source=str(own))
    assert read_source(plan) is not None
    spoil(own)
    with pytest.raises(PlanError) as caught:
        read_source(plan)
    assert said in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_source_that_is_not_there_is_said() -> None:
    with pytest.raises(PlanError, match="There is no folder or file"):
        read_source(a_plan(source="/nowhere/at/all"))
    assert read_source(a_plan()) is None


def test_the_digest_of_a_source_follows_its_names_and_bytes(tmp_path: Path) -> None:
    own = folder(tmp_path / "own", a=TEXTS[0], b=TEXTS[1], c=TEXTS[2])
    digests = []
    for change in (
        lambda: None,
        lambda: (own / "a.txt").write_text(TEXTS[3]),
        lambda: (own / "a.txt").rename(own / "e.txt"),
    ):
        change()
        source = read_source(a_plan(source=str(own)))
        assert source is not None
        digests.append(source.sha256)
    assert len(set(digests)) == 3


async def test_files_that_begin_alike_are_told_and_their_hits_reckoned_with(tmp_path: Path) -> None:
    head = TEXTS[4][:3000]
    own = folder(tmp_path / "own", a=head + TEXTS[0], b=head + TEXTS[1], c=TEXTS[2])
    found = await made(a_plan(source=str(own)))
    count = 256 * (len(words_of(head)) // 256)
    assert shared_tokens(found.corpus, 256) == {"own-001": 0, "own-002": count, "own-003": 0}
    (finding,) = source_findings(found.problems)
    assert finding.code == "own-documents-share"
    assert "b.txt (Its first" in finding.text


async def test_a_prefix_stands_before_every_measured_document_and_no_other() -> None:
    plan, bare = a_plan(prefix_tokens=700), a_plan()
    found, plain = await made(plan), await made(bare)
    heads = {one.token_ids[:700] for one in found.corpus}
    assert len(heads) == 1
    assert [one.token_ids[700:] for one in found.corpus] == [one.token_ids for one in plain.corpus]
    assert {len(one.token_ids) for one in (*found.gate, *found.warmup)} == {1300}
    assert not heads & {one.token_ids[:700] for one in (*found.gate, *found.warmup)}
    expected = expected_reuse(plan)
    assert list(shared_tokens(found.corpus, 256).values()) == [0, *[expected.shared_tokens] * 2]


async def test_requests_of_a_trace_share_what_the_trace_says(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    rows = [(1500, [1, 2, 3]), (900, [4, 5]), (100, [6]), (1024, [1, 7])]
    trace.write_text(
        "".join(
            json.dumps({"timestamp": 0, "input_length": length, "output_length": 1, "hash_ids": ids}) + "\n"
            for length, ids in rows
        )
    )
    found = await made(a_plan(source=str(trace)))
    assert {len(one.token_ids) for one in found.corpus} == {TOKENS}
    assert shared_tokens(found.corpus, 256) == {"trace-001": 0, "trace-002": 0, "trace-003": 512}
    assert [problem.source for problem in found.problems] == ["trace.jsonl:3"]


async def test_the_record_reads_back_equal_with_the_borders_of_the_chunks(tmp_path: Path) -> None:
    plan = a_plan(prefix_tokens=300)
    found = await make_documents(plan, letters)
    save_documents(found, tmp_path / "documents.jsonl")
    again = load_documents(tmp_path / "documents.jsonl", 3)
    assert (again.corpus, again.gate, again.warmup, again.about) == (
        found.corpus, found.gate, found.warmup, found.about,
    )  # fmt: skip
    assert [(about.chunk_ends, about.sent_characters) for about in again.about] == [((212, 468), 600)] * 3
    assert again.sha256 == found.sha256


async def test_a_tokenizer_that_names_no_pieces_leaves_the_borders_unknown() -> None:
    assert [about.chunk_ends for about in (await made(a_plan())).about] == [None] * 3


@pytest.mark.parametrize(
    ("reused", "shared", "codes"),
    [
        ([0, 0, 0], [0, 0, 0], []),
        ([0, 256, 0], [0, 0, 0], ["cold-not-cold"]),
        ([0, 512, 512], [0, 512, 512], []),
        ([0, 768, 512], [0, 512, 512], ["cold-not-cold"]),
        ([0, 512, 0], [0, 512, 512], ["shared-not-reused"]),
        ([256, 512, 256], [0, 512, 512], ["cold-not-cold", "shared-not-reused"]),
        ([0, None, 512], [0, 512, 512], []),
    ],
)
def test_a_cold_pass_is_judged_by_what_its_requests_share(
    reused: list[int | None], shared: list[int], codes: list[str]
) -> None:
    samples = [
        sample(number, Pass.COLD, 400.0, reused_tokens=one, shared_tokens=two)
        for number, (one, two) in enumerate(zip(reused, shared, strict=True))
    ]
    assert [finding.code for finding in cold_findings(samples, "valkey")] == codes
