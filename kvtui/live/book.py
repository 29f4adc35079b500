"""The requests of a block by pass, with medians that cost nothing to read."""

from __future__ import annotations

from kvtui.attribution import Verdict
from kvtui.campaign.steps import Block
from kvtui.live.numbers import Sorted, number
from kvtui.live.requests import Counted, Request, counted
from kvtui.live.sources import PassSource
from kvtui.samples import Pass


class PassBook:
    """The requests of one pass; of a document that was sent twice the last counts."""

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}
        self.ttft = Sorted()
        self.lookup = Sorted()
        self.retrieve = Sorted()
        self.store = Sorted()
        self.retrieved_bytes = 0
        self.retrieved_ns = 0
        self.stored_tokens = 0
        self.stored_ns = 0
        self.verdicts: dict[str, int] = {}
        self.hit_not_read = 0
        self.stored_in_part = 0
        self.recovered = 0
        self._counted: dict[str, tuple[Counted, str]] = {}

    @property
    def judged(self) -> int:
        """Requests that have their verdict."""
        return sum(self.verdicts.get(verdict, 0) for verdict in (*Verdict, "failed"))

    @property
    def answered(self) -> int:
        """Requests that were settled, judged or not."""
        return self.judged + self.verdicts.get("pending", 0)

    @property
    def retrieve_bytes_s(self) -> float | None:
        """Rate of all its reads together: bytes ÷ the time that reading took, by LMCache's lines."""
        return self.retrieved_bytes / self.retrieved_ns * 1e9 if self.retrieved_ns > 0 else None

    def update(self, request: Request) -> None:
        """Count a request as it stands now."""
        document = request.document
        old, old_verdict = self._counted.get(document, (Counted(), ""))
        new, verdict = counted(request), request.verdict
        self.requests[document] = request
        self._counted[document] = (new, verdict)
        self.ttft.swap(old.ttft_ms, new.ttft_ms)
        self.lookup.swap(old.lookup_ms, new.lookup_ms)
        self.retrieve.swap(old.retrieve_ms, new.retrieve_ms)
        self.store.swap(old.store_ms, new.store_ms)
        self.retrieved_bytes += new.retrieved_bytes - old.retrieved_bytes
        self.retrieved_ns += new.retrieved_ns - old.retrieved_ns
        self.stored_tokens += new.stored_tokens - old.stored_tokens
        self.stored_ns += new.stored_ns - old.stored_ns
        self.hit_not_read += new.hit_not_read - old.hit_not_read
        self.stored_in_part += new.stored_in_part - old.stored_in_part
        self.recovered += new.recovered - old.recovered
        if verdict != old_verdict:
            self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1
            self.verdicts[old_verdict] = self.verdicts.get(old_verdict, 0) - 1

    @property
    def ttft_ms(self) -> dict[str, float]:
        """The TTFTs that count, by document."""
        found = ((document, one.ttft_ms) for document, (one, _) in self._counted.items())
        return {document: ttft_ms for document, ttft_ms in found if ttft_ms is not None}

    def ttft_of(self, document: str) -> float | None:
        """The TTFT of a document that counts, or ``None``."""
        found = self._counted.get(document)
        return None if found is None else found[0].ttft_ms


class BlockBook:
    """One try of a block: its cold pass, and a cached pass for each topology.

    Attributes:
        block: Which one.
        attempt: Which try.
        cold: Its cold pass.
        cached: Its cached passes by topology.
        speedup: Cold ÷ cached of the documents by topology.
        version: Grows with every change that was counted.
        wall_s: When it changed last.
        changed: Documents that changed, by topology; whoever reads them clears them.
    """

    def __init__(self, block: Block, attempt: int) -> None:
        self.block = block
        self.attempt = attempt
        self.cold = PassBook()
        self.cached = {topology.value: PassBook() for topology in block.topologies}
        self.speedup = {topology.value: Sorted() for topology in block.topologies}
        self.version = 0
        self.wall_s: float | None = None
        self.changed: dict[str, set[str]] = {topology.value: set() for topology in block.topologies}
        self._speedups: dict[tuple[str, str], float] = {}
        self._touched: dict[str, Request] = {}

    def pass_of(self, source: PassSource) -> PassBook | None:
        """The book of a pass; ``None`` for a pass that is no result."""
        if source.step is Pass.COLD:
            return self.cold
        return self.cached.get(source.topology) if source.step is Pass.CACHED else None

    def touch(self, request: Request, wall_s: float | None) -> None:
        """A request of the cold or a cached pass changed, by an event of that time."""
        self._touched[request.request_id] = request
        self.wall_s = wall_s or self.wall_s

    def settle(self) -> None:
        """Count the requests that changed, each once however many events it had meanwhile."""
        self.version += 1
        for request in self._touched.values():
            book = self.pass_of(request.source)
            if book is not None:
                book.update(request)
                self._compare_all(book, request)
        self._touched.clear()

    def _compare_all(self, book: PassBook, request: Request) -> None:
        for topology in self.cached if book is self.cold else (request.source.topology,):
            self._compare(topology, request.document)

    def speedup_of(self, topology: str, document: str) -> float | None:
        """Cold ÷ cached of one document."""
        return self._speedups.get((topology, document))

    def _compare(self, topology: str, document: str) -> None:
        cold_ms, cached_ms = self.cold.ttft_of(document), self.cached[topology].ttft_of(document)
        old = self._speedups.pop((topology, document), None)
        new = number(cold_ms / cached_ms) if cold_ms is not None and cached_ms else None
        if new is not None:
            self._speedups[topology, document] = new
        self.speedup[topology].swap(old, new)
        self.changed[topology].add(document)
