"""Made-up documents for tests of screens."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping

from kvtui.corpus_view import CorpusList, CorpusRow, DocumentText
from kvtui.errors import PlanError
from kvtui.plan import Plan

TITLES = ("Lease of the east wing", "Discharge summary A1", "Share purchase agreement", "Acute case report")
KINDS = ("lease", "discharge-summary", "share-purchase", "case-report")
DOMAINS = ("legal", "medical")
PARAGRAPH = "The Tenant must keep the roof, the gutters and the outer walls of the Property in repair."


def paragraphs(place: int, count: int = 40) -> str:
    """A text of numbered paragraphs."""
    title = f"{TITLES[place % len(TITLES)]} no. {place + 1}"
    return f"{title}\n\n" + "\n\n".join(f"{number}. {PARAGRAPH}" for number in range(1, count + 1))


class FakeDocuments:
    """Documents of a plan that nobody ran, until ``asked`` is set.

    Attributes:
        texts: Text of each place; others have numbered paragraphs.
        titles: Title of each place.
        asked: A run has asked its engine, so ids and borders are known.
        fault: What the list ends with.
        going: The list waits for this.
        stopped: The list was no longer waited for.
        notes: What a reader must know.
        read_places: Places that were read, in order.
    """

    def __init__(self, texts: Mapping[int, str] | None = None, *, asked: bool = False) -> None:
        self.texts = dict(texts or {})
        self.titles: dict[int, str] = {}
        self.asked = asked
        self.fault: PlanError | None = None
        self.going: asyncio.Event | None = None
        self.stopped = False
        self.notes: tuple[str, ...] = ()
        self.read_places: list[int] = []

    def text(self, place: int) -> str:
        """The text at a place."""
        return self.texts.get(place, paragraphs(place))

    def row(self, plan: Plan, place: int) -> CorpusRow:
        """Its figures."""
        text = self.text(place)
        kind, domain = KINDS[place % len(KINDS)], DOMAINS[place % len(DOMAINS)]
        tokens, chunk = plan.corpus.prompt_tokens, plan.hash.chunk_tokens
        return CorpusRow(
            place=place,
            document_id=f"{domain}-{place + 1:03d}-{kind}",
            domain=domain,
            kind=kind,
            title=self.titles.get(place, TITLES[place % len(TITLES)]),
            characters=len(text),
            words=len(text.split()),
            tokens=tokens,
            chunks=tokens // chunk,
            kv_bytes=tokens // chunk * chunk * 57_344,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
        )

    async def all(self, plan: Plan, told: Callable[[int], None]) -> CorpusList:
        """All of them."""
        if self.going is not None:
            told(1)
            try:
                await self.going.wait()
            except asyncio.CancelledError:
                self.stopped = True
                raise
        if self.fault is not None:
            raise self.fault
        rows = tuple(self.row(plan, place) for place in range(plan.corpus.documents))
        return CorpusList(
            rows=rows,
            documents=len(rows),
            tokens=sum(row.tokens for row in rows),
            chunks=sum(row.chunks for row in rows),
            working_set_bytes=sum(row.kv_bytes or 0 for row in rows),
            source=f"generated, seed {plan.corpus.seed}",
            notes=self.notes,
        )

    async def read(self, plan: Plan, place: int) -> DocumentText:
        """One of them; a token a character, where a run asked."""
        self.read_places.append(place)
        text, row = self.text(place), self.row(plan, place)
        why = "" if self.asked else "Nobody asked an engine."
        sent, chunk, prefix = plan.corpus.tokens, plan.hash.chunk_tokens, plan.corpus.prefix_tokens
        ends = tuple(end for end in range(chunk - prefix % chunk, sent + 1, chunk))
        return DocumentText(
            row=row,
            text=text,
            why_no_text="",
            token_ids=tuple(range(plan.corpus.prompt_tokens)) if self.asked else None,
            why_no_ids=why,
            sent_characters=min(sent, len(text)) if self.asked else None,
            chunk_ends=ends if self.asked else None,
            why_no_borders=why,
        )
