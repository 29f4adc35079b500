"""Every request of a run, filed by block, try and pass as its events come in."""

from __future__ import annotations

from kvtui.campaign.steps import Block, blocks
from kvtui.journal import Event
from kvtui.live.book import BlockBook
from kvtui.live.logs import RequestLog, stamp_wall_s
from kvtui.live.numbers import number, positive, whole
from kvtui.live.requests import Request
from kvtui.live.sources import PassSource
from kvtui.plan import Plan
from kvtui.samples import Pass, Sample, sample_from

# No request of a plan takes longer; a stamp further off is of another one.
_STAMP_WITHIN_S = 600.0
# No count of a real record is so large; a larger one is no number that a screen can use.
_MOST = 2**53


class Ledger:
    """Requests by id, and books by block and try."""

    def __init__(self, plan: Plan) -> None:
        self._blocks = {block.name: block for block in blocks(plan)}
        self._blocks_of: dict[tuple[str, str], list[Block]] = {}
        for block in self._blocks.values():
            for topology in block.topologies:
                self._blocks_of.setdefault((block.tier, topology.value), []).append(block)
        self._books: dict[tuple[str, int], BlockBook] = {}
        self._touched: dict[tuple[str, int], BlockBook] = {}
        self._sampled: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._orders: dict[PassSource, int] = {}
        self.requests: dict[str, Request] = {}

    def block(self, name: str) -> Block | None:
        """The block of that name."""
        return self._blocks.get(name)

    def books(self, tier: str, topology: str, *, running: bool) -> tuple[BlockBook, ...]:
        """The requests of a tier in a topology repeat by repeat, each of the try that counts.

        While the run goes on that is the last one of which anything was answered; afterwards the last one of
        which anything was judged, as in the tables.
        """
        found = []
        for block in self._blocks_of.get((tier, topology), ()):
            judged, answered = self._sampled.get(block.name), self._answered.get(block.name)
            attempt = max(judged or 0, answered or 0) if running else judged or answered
            book = self._books.get((block.name, attempt)) if attempt else None
            if book is not None:
                found.append(book)
        return tuple(found)

    def book(self, tier: str, topology: str, *, running: bool) -> BlockBook | None:
        """The same of the last repeat that has any."""
        books = self.books(tier, topology, running=running)
        return books[-1] if books else None

    def settle(self) -> None:
        """Count what changed since the last time."""
        for book in self._touched.values():
            book.settle()
        self._touched.clear()

    def take(self, source: PassSource, event: Event) -> None:
        """An event of a node about one of its requests."""
        request = self._request(event["request_id"], source, event["meta"]["document"])
        match event["kind"]:
            case "sent":
                request.sent_wall_s = number(event.get("wall_s"))
            case "first_token":
                request.ttft_ms = positive(event["ttft_ms"])
            case "done":
                request.ttft_ms = positive(event["ttft_ms"])
                request.failure = ""
                request.total_ms = number(event.get("total_ms"))
                request.prompt_tokens = whole(event.get("prompt_tokens"))
                request.cached_tokens = whole(event.get("cached_tokens"))
            case "failed":
                request.failure = f"{event.get('error')}: {event.get('detail')}"
        if event["kind"] in ("done", "failed"):
            self._answered[source.block] = max(self._answered.get(source.block, 0), source.attempt)
        self._file(request, number(event.get("wall_s")))

    def take_sample(self, event: Event) -> None:
        """The verdict on a request.

        Raises:
            ValueError: It is no whole sample.
        """
        sample = sample_from(event)
        if not _sound(sample):
            raise ValueError(sample.request_id)
        source = PassSource(sample.node, sample.block, sample.attempt, sample.topology, sample.step)
        request = self._request(sample.request_id, source, sample.document)
        request.sample = sample
        self._sampled[sample.block] = max(self._sampled.get(sample.block, 0), sample.attempt)
        self._file(request, number(event.get("wall_s")))

    def take_log(self, request_id: str, log: RequestLog) -> None:
        """What the engine's log says of a request by now."""
        request = self.requests.get(request_id)
        if request is None:
            return
        request.logged = log.evidence
        if log.lookup_stamp and request.sent_wall_s is not None:
            request.lookup_wall_s = stamp_wall_s(log.lookup_stamp, request.sent_wall_s, _STAMP_WITHIN_S)
        self._file(request, None)

    def _request(self, request_id: str, source: PassSource, document: str) -> Request:
        if not isinstance(request_id, str) or not isinstance(document, str) or not document:
            raise ValueError(request_id)
        request = self.requests.get(request_id)
        if request is None:
            order = self._orders[source] = self._orders.get(source, 0) + 1
            request = self.requests[request_id] = Request(request_id, source, document, order)
        return request

    def _file(self, request: Request, wall_s: float | None) -> None:
        source = request.source
        block = self._blocks.get(source.block)
        if block is None or source.step not in (Pass.COLD, Pass.CACHED):
            return
        book = self._books.get((source.block, source.attempt))
        if book is None:
            book = self._books[source.block, source.attempt] = BlockBook(block, source.attempt)
        book.touch(request, wall_s)
        self._touched[source.block, source.attempt] = book


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST


def _sound(sample: Sample) -> bool:
    """Whether a sample's fields are of the kinds that they should be."""
    counts = (sample.place, sample.attempt, sample.reusable_tokens, sample.shared_tokens)
    tokens = (sample.reused_tokens, sample.prompt_tokens)
    return (
        all(_is_count(one) for one in counts)
        and all(one is None or _is_count(one) for one in tokens)
        and (sample.ttft_ms is None or positive(sample.ttft_ms) is not None)
        and isinstance(sample.evidence, dict)
        and all(isinstance(text, str) for text in (sample.node, sample.block, sample.topology, sample.reason))
    )
