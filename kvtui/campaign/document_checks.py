"""What is wrong with the documents of a run, by their token ids, before the first of them is sent."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.chunks import expected_hit_tokens
from kvtui.campaign.documents import RunDocuments
from kvtui.findings import Finding, Level
from kvtui.units import named


def document_findings(documents: RunDocuments, chunk_tokens: int) -> tuple[Finding, ...]:
    """Documents that a pass would send twice, and those that the engine would know before the cold pass.

    Args:
        documents: The documents.
        chunk_tokens: LMCache's ``chunk_size``.
    """
    return (*_twice(documents), *_overlapping(documents, chunk_tokens))


def _twice(documents: RunDocuments) -> Iterator[Finding]:
    first: dict[tuple[int, ...], str] = {}
    again = []
    for one in documents.corpus:
        known = first.setdefault(one.token_ids, one.document_id)
        if known != one.document_id:
            again.append(f"{one.document_id} is {known}")
    if again:
        what = "1 document is" if len(again) == 1 else f"{len(again)} documents are"
        text = f"{what} sent twice in a pass: {named(again)}. The second time is no cold one."
        remedy = "Take one of each out."
        yield Finding(Level.WARNING, "document-twice", text, remedy, "corpus")


def _overlapping(documents: RunDocuments, chunk_tokens: int) -> Iterator[Finding]:
    before = [one.token_ids for one in (*documents.warmup, *documents.gate)]
    corpus = [one.token_ids for one in documents.corpus]
    alone = expected_hit_tokens(corpus, chunk_tokens)
    after = expected_hit_tokens([*before, *corpus], chunk_tokens)[len(before) :]
    known = [
        one.document_id for one, own, all_ in zip(documents.corpus, alone, after, strict=True) if all_ > own
    ]
    if known:
        what = "1 document begins" if len(known) == 1 else f"{len(known)} documents begin"
        text = (
            f"{what} as one of the warm-up or the gate does, so an engine may know it before the cold pass: "
            f"{named(known)}."
        )
        remedy = "Choose another corpus seed, or take those documents out."
        yield Finding(Level.WARNING, "warm-up-overlaps", text, remedy, "corpus")
