"""The documents of a plan or run for a screen: made or read anew, with what a run recorded of them.

Everything here takes time (text is generated, files are read): call it beside the event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from corpus.chunks import different_chunks
from corpus.document import Document
from corpus.generate import characters_for, document
from corpus.own.formats import TRACE
from kvtui.campaign.documents import TIMES_AS_LONG, About, RunDocuments, load_documents
from kvtui.campaign.own_documents import Source, read_source
from kvtui.corpus_view import CorpusList, CorpusRow, DocumentText
from kvtui.fit import expected_reuse, plan_scan, working_set_bytes
from kvtui.kvsize import KvShape
from kvtui.plan import Plan
from kvtui.record import RunRecord

LISTED = 500
"""Rows of a list at most; more documents than that nobody reads one by one."""
_NO_RUN = "Token ids are known once a run has asked the engine for them."
_NO_PIECES = "The engine's tokenizer did not say where its tokens end in the text."


def _recorded(plan: Plan, record: RunRecord | None) -> RunDocuments | None:
    if record is None or not record.documents.exists():
        return None
    return load_documents(record.documents, plan.corpus.documents)


def _made(plan: Plan, place: int, about: About | None) -> Document | None:
    """The generated document of a place; with what a run says of it, the very text that it cut."""
    factors = TIMES_AS_LONG if about is not None else TIMES_AS_LONG[:1]
    for factor in factors:
        text = document(plan.corpus.seed, place, characters_for(plan.corpus.tokens) * factor)
        if about is None or text.sha256 == about.text_sha256:
            return text
    return None


def _own(source: Source) -> tuple[Document, ...]:
    """A person's texts, or the requests of a trace, which have none."""
    return source.documents or tuple(
        Document(f"trace-{number:03d}", "own", TRACE, request.source, "")
        for number, request in enumerate(source.requests, 1)
    )


def _row(
    plan: Plan, shape: KvShape | None, place: int, text: Document | None, about: About | None, name: str
) -> CorpusRow:
    tokens, chunk = plan.corpus.prompt_tokens, plan.hash.chunk_tokens
    readable = text is not None and bool(text.text)
    return CorpusRow(
        place=place,
        document_id=name or (text.document_id if text else ""),
        domain=about.domain if about else text.domain if text else "",
        kind=about.kind if about else text.kind if text else "",
        title=about.title if about else text.title if text else "",
        characters=len(text.text) if text and readable else None,
        words=text.words if text and readable else None,
        tokens=tokens,
        chunks=tokens // chunk,
        kv_bytes=shape.document_bytes(tokens, chunk) if shape else None,
        sha256=text.sha256 if text and readable else None,
    )


def _texts(
    plan: Plan, source: Source | None, run: RunDocuments | None, told: Callable[[int], None]
) -> list[Document | None]:
    """The text of each listed document; ``None`` where it is no longer what a run sent."""
    count = min(plan.corpus.documents, LISTED)
    about = run.about if run else ()
    if source is None:
        made = []
        for place in range(count):
            told(place)
            made.append(_made(plan, place, about[place] if about else None))
        return made
    own = _own(source)
    if not about:
        return list(islice(own, count))
    by_digest = {(text.title, text.sha256): text for text in own}
    return [by_digest.get((one.title, one.text_sha256)) for one in about[:count]]


def _notes(plan: Plan, source: Source | None, run: RunDocuments | None) -> tuple[str, ...]:
    notes = []
    if plan.corpus.documents > LISTED:
        notes.append(f"The first {LISTED} of {plan.corpus.documents:,} documents are listed.")
    if source is not None:
        notes += [f"{one.source}: {one.message} {one.outcome.capitalize()}." for one in source.problems]
        if run is None and source.documents:
            notes.append(
                f"Which files have {plan.corpus.tokens:,} tokens, and what they share, is known once a run "
                "has asked the engine."
            )
    shared = expected_reuse(plan).shared_tokens
    if shared:
        notes.append(
            f"Each request begins with the same {plan.corpus.prefix_tokens:,} tokens; {shared:,} of them, in "
            "whole chunks, are found again by every request but the first of a pass."
        )
    return tuple(notes)


def _untold(done: int) -> None:
    """Nobody waits for it."""


def corpus_list(
    plan: Plan,
    shape: KvShape | None = None,
    record: RunRecord | None = None,
    told: Callable[[int], None] = _untold,
) -> CorpusList:
    """The documents of a plan with their totals.

    Args:
        plan: The plan.
        shape: The model's KV, once known.
        record: A run of the plan, for what only its engine could tell.
        told: Hears before each document how many are written; what it raises ends the work.

    Raises:
        PlanError: A person's own documents are not there, or too few of them can be used.
    """
    source, run = read_source(plan), _recorded(plan, record)
    about: tuple[About | None, ...] = run.about if run and run.about else (None,) * plan.corpus.documents
    names = [one.document_id for one in run.corpus] if run else [""] * plan.corpus.documents
    rows = tuple(
        _row(plan, shape, place, text, about[place], names[place])
        for place, text in enumerate(_texts(plan, source, run, told))
    )
    chunk = plan.hash.chunk_tokens
    if run is None:
        chunks = plan_scan(plan).working_chunks
        working_set = working_set_bytes(plan, shape) if shape else None
    else:
        chunks = different_chunks([one.token_ids for one in run.corpus], chunk)
        working_set = shape.document_bytes(chunks * chunk, chunk) if shape else None
    return CorpusList(
        rows=rows,
        documents=plan.corpus.documents,
        tokens=plan.corpus.documents * plan.corpus.prompt_tokens,
        chunks=chunks,
        working_set_bytes=working_set,
        source=f"{plan.corpus.source} ({source.form})" if source else f"generated, seed {plan.corpus.seed}",
        notes=_notes(plan, source, run),
    )


def document_text(
    plan: Plan, place: int, shape: KvShape | None = None, record: RunRecord | None = None
) -> DocumentText:
    """One document of a list, to read.

    Args:
        plan: The plan.
        place: Its place in the list, from 0.
        shape: The model's KV, once known.
        record: A run of the plan, for its token ids and the borders of its chunks.

    Raises:
        PlanError: A person's own documents are not there, or too few of them can be used.
        IndexError: There is no document at that place.
    """
    run = _recorded(plan, record)
    about = run.about[place] if run and run.about else None
    source = read_source(plan)
    text = _made(plan, place, about) if source is None else _texts(plan, source, run, _untold)[place]
    sent = run.corpus[place] if run else None
    row = _row(plan, shape, place, text, about, sent.document_id if sent else "")
    why_no_text = ""
    if text is None:
        why_no_text = "The text is no longer the one that the run sent."
    elif not text.text:
        why_no_text = "A request of a trace has no text: its tokens are made up."
    known = about is not None and about.chunk_ends is not None and not why_no_text
    return DocumentText(
        row=row,
        text=None if why_no_text or text is None else text.text,
        why_no_text=why_no_text,
        token_ids=sent.token_ids if sent else None,
        why_no_ids="" if sent else _NO_RUN,
        sent_characters=about.sent_characters if about and known else None,
        chunk_ends=about.chunk_ends if about and known else None,
        why_no_borders="" if known else why_no_text or (_NO_PIECES if sent else _NO_RUN),
    )
