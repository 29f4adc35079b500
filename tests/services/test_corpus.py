"""The documents of a plan or run as a screen reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvtui.campaign.documents import make_documents, save_documents
from kvtui.campaign.own_documents import read_source
from kvtui.campaign.tokenizing import Tokenize
from kvtui.errors import PlanError
from kvtui.fit import working_set_bytes
from kvtui.kvsize import KvShape
from kvtui.plan import Plan
from kvtui.record import RunRecord
from kvtui.services import corpus as service
from kvtui.services.corpus import corpus_list, document_text
from tests.kvtui.test_own_documents import TEXTS, a_plan, folder, letters, words

SHAPE = KvShape(4, 4, 64, 4)


async def ran(plan: Plan, path: Path, tokenize: Tokenize = letters) -> RunRecord:
    """The record of a run that has cut its documents."""
    record = RunRecord(path / "run")
    record.path.mkdir()
    save_documents(await make_documents(plan, tokenize, read_source(plan)), record.documents)
    return record


def test_the_list_of_a_plan_has_totals_and_nothing_that_only_a_run_knows() -> None:
    plan = a_plan(prefix_tokens=300)
    found = corpus_list(plan, SHAPE)
    assert [row.document_id for row in found.rows] == [
        "legal-001-lease", "medical-002-discharge-summary", "legal-003-share-purchase",
    ]  # fmt: skip
    assert {(row.tokens, row.chunks) for row in found.rows} == {(900, 3)}
    assert (found.documents, found.tokens, found.chunks) == (3, 2700, 1 + 3 * 2)
    assert found.working_set_bytes == working_set_bytes(plan, SHAPE)
    assert "256 of them" in found.notes[0]
    assert corpus_list(plan).working_set_bytes is None
    read = document_text(plan, 1)
    assert read.text is not None
    assert (len(read.text), read.row.title) == (found.rows[1].characters, found.rows[1].title)
    assert (read.token_ids, read.chunk_ends, read.sent_characters) == (None, None, None)
    assert read.why_no_ids == read.why_no_borders != ""


async def test_a_run_knows_ids_and_borders(tmp_path: Path) -> None:
    plan = a_plan(prefix_tokens=300)
    record = await ran(plan, tmp_path)
    read = document_text(plan, 2, SHAPE, record)
    assert read.token_ids is not None
    assert read.text is not None
    assert read.chunk_ends == (212, 468)
    assert read.sent_characters == 600
    assert tuple(map(ord, read.text[:600])) == read.token_ids[300:]
    assert (read.why_no_text, read.why_no_ids, read.why_no_borders) == ("", "", "")
    found = corpus_list(plan, SHAPE, record)
    assert (found.chunks, found.working_set_bytes) == (7, working_set_bytes(plan, SHAPE))


async def test_a_tokenizer_without_names_of_its_tokens_leaves_the_borders_unknown(tmp_path: Path) -> None:
    plan = a_plan()
    read = document_text(plan, 0, SHAPE, await ran(plan, tmp_path, words))
    assert read.token_ids is not None
    assert read.chunk_ends is None
    assert "did not say" in read.why_no_borders


async def test_own_documents_that_changed_since_the_run_are_not_shown_as_sent(tmp_path: Path) -> None:
    own = folder(tmp_path / "own", a=TEXTS[0], b=TEXTS[1], c=TEXTS[2], d="too short")
    plan = a_plan(source=str(own))
    record = await ran(plan, tmp_path)
    listed = corpus_list(plan, SHAPE, record)
    assert [row.title for row in listed.rows] == ["a.txt", "b.txt", "c.txt"]
    assert "d.txt: It has 9 bytes" in listed.notes[0]
    (own / "b.txt").write_text(TEXTS[3], encoding="utf-8")
    assert [row.sha256 is None for row in corpus_list(plan, SHAPE, record).rows] == [False, True, False]
    read = document_text(plan, 1, SHAPE, record)
    assert (read.text, read.chunk_ends) == (None, None)
    assert "no longer" in read.why_no_text
    assert read.token_ids is not None
    assert document_text(plan, 1).text == TEXTS[3]


def test_own_documents_that_are_gone_are_said(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is no folder"):
        corpus_list(a_plan(source=str(tmp_path / "gone")))


def test_a_large_corpus_is_listed_in_part_and_counted_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LISTED", 2)
    found = corpus_list(a_plan(), SHAPE)
    assert (len(found.rows), found.documents) == (2, 3)
    assert "The first 2 of 3 documents" in found.notes[0]
