"""The parts of a view that are about tiers: strip, histogram, series, parts, throughput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kvtui.attribution import reusable_tokens
from kvtui.campaign.steps import serving_node
from kvtui.ceilings import Ceiling
from kvtui.live.book import BlockBook
from kvtui.live.course import Course
from kvtui.live.histogram import histogram_data
from kvtui.live.judgement import Judged
from kvtui.live.ledger import Ledger
from kvtui.live.load import Load, PassWindows
from kvtui.live.parts import tier_parts
from kvtui.live.rates import Throughput
from kvtui.live.series import PointList, series
from kvtui.live.sources import PassSource
from kvtui.live.standing import TierMark
from kvtui.live.strip import tier_mark
from kvtui.live.throughput import floor_ms, floor_words, path_ceiling, throughput
from kvtui.live.times import HistogramData, Series, TierParts
from kvtui.plan import Plan, TierKind, Topology
from kvtui.samples import Pass

Shown = tuple[str, str]


class TierViews:
    """Keeps what is costly to make between two views."""

    def __init__(self, plan: Plan, ledger: Ledger, load: Load) -> None:
        self.plan, self.ledger, self.load = plan, ledger, load
        self._points: dict[tuple[str, str, str, int], PointList] = {}
        self._series: dict[tuple[str, str, str, int], tuple[int, Series]] = {}
        self._histograms: dict[Shown, tuple[object, HistogramData]] = {}
        self._parts: dict[Shown, tuple[object, TierParts]] = {}

    def at(
        self,
        now_wall_s: float,
        ceilings: Sequence[Ceiling],
        bytes_per_token: Mapping[str, int],
        course: Course,
        latest: PassSource | None,
    ) -> Moment:
        """The tiers at a moment."""
        return Moment(self, now_wall_s, ceilings, bytes_per_token, course, latest)

    def series(self, tier: str, topology: str, book: BlockBook | None) -> Series:
        """The series of a tier, made anew only when its requests changed."""
        documents = self.plan.corpus.documents
        if book is None:
            return Series(tier, topology, documents, (), "")
        key = (tier, topology, book.block.name, book.attempt)
        kept = self._series.get(key)
        if kept is None or kept[0] != book.version:
            has_cache = self.plan.tier(tier).kind is not TierKind.NONE
            points = self._points.setdefault(key, PointList(has_cache=has_cache)).update(book, topology)
            kept = self._series[key] = book.version, series(tier, topology, documents, points)
        return kept[1]

    def histogram(
        self, tier: str, topology: str, book: BlockBook | None, floor: float | None, words: str
    ) -> HistogramData:
        """The histogram of a tier, made anew only when something of it changed."""
        stamp = (book.block.name, book.attempt, book.version, floor) if book else None
        kept = self._histograms.get((tier, topology))
        if kept is None or kept[0] != stamp:
            kept = stamp, histogram_data(tier, topology, book, floor, words)
            self._histograms[tier, topology] = kept
        return kept[1]

    def parts(
        self, tier: str, topology: str, book: BlockBook, bare: BlockBook | None, *, current: bool
    ) -> TierParts:
        """The parts of a tier, made anew only when something of it changed."""
        stamp = tuple((one.block.name, one.attempt, one.version) for one in (book, bare) if one), current
        kept = self._parts.get((tier, topology))
        if kept is None or kept[0] != stamp:
            kept = stamp, tier_parts(tier, topology, book, bare, current=current)
            self._parts[tier, topology] = kept
        return kept[1]


@dataclass(frozen=True, slots=True)
class Moment:
    """The tiers at one moment."""

    kept: TierViews
    now_wall_s: float
    ceilings: Sequence[Ceiling]
    bytes_per_token: Mapping[str, int]
    course: Course
    latest: PassSource | None

    def _all(self) -> Iterator[tuple[str, Topology]]:
        plan = self.kept.plan
        return ((tier.name, topology) for tier in plan.tiers for topology in plan.passes.topologies)

    def _book(self, tier: str, topology: str) -> BlockBook | None:
        return self.kept.ledger.book(tier, topology, running=self.course.running)

    @property
    def current(self) -> Shown | None:
        """The tier and topology that the run works on."""
        step = self.course.step if self.course.running else None
        if step is None or step.block is None:
            return None
        return step.block.tier, (step.topology or step.block.topologies[0]).value

    def shown(self, tier: str | None, topology: str | None) -> Shown:
        """What to show: what was asked for, else the current, else the last with figures, else the first."""
        known = [(name, where.value) for name, where in self._all()]
        fallback = [one for one in known if self._book(*one) is not None]
        usual = self.current or (fallback[-1] if fallback else known[0])
        asked = (usual[0] if tier is None else tier, usual[1] if topology is None else topology)
        return asked if asked in known else usual

    def marks(self, shown: Shown) -> tuple[TierMark, ...]:
        """The tier strip."""
        return tuple(
            tier_mark(
                self.kept.plan,
                self.kept.plan.tier(tier),
                topology,
                self._book(tier, topology.value),
                self.course,
                current=self.current == (tier, topology.value),
                shown=shown == (tier, topology.value),
            )
            for tier, topology in self._all()
        )

    def _document_bytes(self, tier: str) -> int | None:
        size = self.bytes_per_token.get(tier)
        plan = self.kept.plan
        if size is None:
            return None
        return size * reusable_tokens(plan.corpus.prompt_tokens, plan.hash.chunk_tokens)

    def _floor(self, tier: str, topology: str) -> tuple[float | None, str]:
        node = serving_node(self.kept.plan, Topology(topology))
        path = path_ceiling(self.kept.plan.tier(tier).kind, self.ceilings, node)
        size = self._document_bytes(tier)
        return floor_ms(size, path), floor_words(size, path)

    def histogram(self, tier: str, topology: str) -> HistogramData:
        """The histogram of a tier in a topology."""
        return self.kept.histogram(tier, topology, self._book(tier, topology), *self._floor(tier, topology))

    def multiples(self) -> tuple[HistogramData, ...]:
        """The histograms of all that have figures."""
        found = [(tier, topology.value) for tier, topology in self._all()]
        return tuple(self.histogram(*one) for one in found if self._book(*one) is not None)

    def series(self, tier: str, topology: str) -> Series:
        """The documents of a tier in a topology."""
        return self.kept.series(tier, topology, self._book(tier, topology))

    def parts(self, topology: str) -> tuple[TierParts, ...]:
        """Where the time goes, tier by tier."""
        found = []
        for tier in self.kept.plan.tiers:
            book = self._book(tier.name, topology)
            if book is not None:
                bare = None if tier.kind is TierKind.NONE else self._bare(topology, book.block.repeat)
                current = self.current == (tier.name, topology)
                found.append(self.kept.parts(tier.name, topology, book, bare, current=current))
        return tuple(found)

    def _bare(self, topology: str, repeat: int | None = None) -> BlockBook | None:
        """The requests of the tier without a cache, in that repeat if it has it, else in the last one."""
        for tier in self.kept.plan.tiers:
            if tier.kind is TierKind.NONE:
                books = self.kept.ledger.books(tier.name, topology, running=self.course.running)
                own = [book for book in books if book.block.repeat == repeat] or books
                if own:
                    return own[-1]
        return None

    def _bare_cold_ms(self, topology: str, repeat: int | None = None) -> float | None:
        bare = self._bare(topology, repeat)
        return bare.cold.ttft.median if bare else None

    def _source(self, book: BlockBook | None, topology: str, step: Pass) -> PassSource | None:
        plan = self.kept.plan
        if book is None:
            return None
        where = topology if step is Pass.CACHED else book.block.topologies[0].value
        node = serving_node(plan, Topology(topology)) if step is Pass.CACHED else plan.passes.cold_node
        return PassSource(node, book.block.name, book.attempt, where, step)

    def _windows(self, book: BlockBook, topology: str, step: Pass) -> PassWindows | None:
        source = self._source(book, topology, step)
        return None if source is None else self.kept.load.window(source)

    def throughput(self, tier: str, topology: str) -> Throughput:
        """The gauges: of now while this tier's pass goes on, else the means over its cached pass."""
        plan, book = self.kept.plan, self._book(tier, topology)
        kind, latest = plan.tier(tier).kind, self.latest
        ours = latest is not None and book is not None and latest.block == book.block.name
        live = ours and self.course.passing and self.current == (tier, topology)
        source = latest if live else self._source(book, topology, Pass.CACHED)
        if source is None:
            source = PassSource(serving_node(plan, Topology(topology)), "", 0, topology, Pass.CACHED)
        rates = self.kept.load.rates(source, self.now_wall_s, live=live)
        cached_ms = None
        if book is not None:
            cached = book.cached[topology]
            cached_ms = cached.ttft.median
            rates = rates.with_lmcache(
                retrieve=cached.retrieve_bytes_s,
                retrieved_bytes=cached.retrieved_bytes or None,
                store=self._store_bytes_s(tier, book),
                in_cached_pass=source.step is Pass.CACHED,
            )
        return throughput(kind, rates, self.ceilings, self._floor(tier, topology)[0], cached_ms)

    def _store_bytes_s(self, tier: str, book: BlockBook) -> float | None:
        size = self.bytes_per_token.get(tier)
        if size is None or book.cold.stored_ns <= 0 or not book.cold.stored_tokens:
            return None
        return book.cold.stored_tokens * size / book.cold.stored_ns * 1e9

    def judged(self) -> tuple[Judged, ...]:
        """Every tier, topology and repeat for the findings that figures make."""
        return tuple(
            self._judged(name, topology, book)
            for name, topology in self._all()
            for book in self.kept.ledger.books(name, topology.value, running=self.course.running)
        )

    def _judged(self, name: str, topology: Topology, book: BlockBook) -> Judged:
        plan, size = self.kept.plan, self._document_bytes(name)
        cold = self._windows(book, topology.value, Pass.COLD)
        cached = self._windows(book, topology.value, Pass.CACHED)
        return Judged(
            tier=plan.tier(name),
            topology=topology,
            documents=plan.corpus.documents,
            book=book,
            working_set_bytes=None if size is None else size * plan.corpus.documents,
            bare_cold_ms=self._bare_cold_ms(topology.value, book.block.repeat),
            evicted=cold.store.grown("evicted_keys") if cold else None,
            retrieved_bytes=book.cached[topology.value].retrieved_bytes or None,
            device_bytes=cached.node.grown("engine/read_bytes") if cached else None,
            anomaly=self.kept.series(name, topology.value, book).anomaly,
        )
