"""TTFTs as a screen shows them: histogram, series by document, and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.live.standing import Sign


@dataclass(frozen=True, slots=True)
class HistogramData:
    """TTFTs of one tier and topology; ``kvtui.live.histogram.bins`` makes the bins for a width.

    Attributes:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        cold_ms: Cold TTFTs in ascending order, all finite.
        cached_ms: Cached ones.
        cold_median_ms: The same median as in the tables.
        cached_median_ms: Likewise.
        cold_p95_ms: Only from 20 samples on.
        cached_p95_ms: Likewise.
        speedup: Median over the documents of cold ÷ cached.
        speedup_low: Lower end of the median's interval; ``None`` with too few documents, or drift.
        speedup_high: Upper end.
        speedup_level: Confidence that this interval really has, 0 to 1.
        floor_ms: Least time that the bytes of a document need at the measured ceiling.
        floor_words: What the floor is made of, or empty.
        log: Whether the axis is logarithmic.
    """

    tier: str
    topology: str
    cold_ms: tuple[float, ...]
    cached_ms: tuple[float, ...]
    cold_median_ms: float | None
    cached_median_ms: float | None
    cold_p95_ms: float | None
    cached_p95_ms: float | None
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    speedup_level: float | None
    floor_ms: float | None
    floor_words: str
    log: bool


@dataclass(frozen=True, slots=True)
class Point:
    """One document in request order.

    Attributes:
        place: Its place in the pass, from 1.
        document: Its id.
        cold_request: Id of its cold request, or empty while there is none.
        cached_request: Id of its cached request, or empty.
        cold_ms: Cold TTFT.
        cached_ms: Cached TTFT.
        speedup: Cold ÷ cached.
        verdict: ``full``, ``partial``, ``none``, ``unknown``, ``pending`` (answered, not judged yet),
            ``failed``, or empty before the cached request.
        sign: The verdict as a sign.
        early: Whether it belongs to the first requests that differ from the rest.
    """

    place: int
    document: str
    cold_request: str
    cached_request: str
    cold_ms: float | None
    cached_ms: float | None
    speedup: float | None
    verdict: str
    sign: Sign
    early: bool


@dataclass(frozen=True, slots=True)
class Series:
    """The documents of one tier and topology in request order.

    Attributes:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        documents: Documents of the plan; points may be fewer.
        points: In the order in which they are asked.
        anomaly: What is peculiar about the first requests, in words, or empty.
    """

    tier: str
    topology: str
    documents: int
    points: tuple[Point, ...]
    anomaly: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A TTFT taken apart; what cannot be told apart is in the rest.

    Attributes:
        ttft_ms: The whole.
        lookup_at_most_ms: From sending to LMCache's answer, so the lookup with the way to it; an upper bound.
        retrieve_ms: Reading from the tier, by LMCache's own line.
        rest_ms: What remains: prefill of what was not reused, scheduling, the first token.
    """

    ttft_ms: float
    lookup_at_most_ms: float | None
    retrieve_ms: float | None
    rest_ms: float


@dataclass(frozen=True, slots=True)
class StorePrice:
    """Cold TTFT of a tier less that of the same document without a cache: its median, and its interval.

    Attributes:
        median_ms: Median over the documents.
        low_ms: Lower end of its interval; ``None`` with too few documents.
        high_ms: Upper end.
    """

    median_ms: float
    low_ms: float | None
    high_ms: float | None

    @property
    def beyond_noise(self) -> bool | None:
        """Whether storing costs anything beyond doubt; ``None`` with too few documents to say."""
        return None if self.low_ms is None else self.low_ms > 0


@dataclass(frozen=True, slots=True)
class TierParts:
    """Where the time of a tier goes: medians over its requests.

    Attributes:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        current: Whether the run works on it now.
        cached_n: Cached requests behind the medians.
        cached_ms: Median cached TTFT.
        lookup_at_most_ms: See ``Parts``.
        retrieve_ms: See ``Parts``.
        rest_ms: ``cached_ms`` without the two.
        cold_ms: Median cold TTFT.
        store_ms: Median time for which storing a document held the engine, by LMCache's own lines.
        store_price: What storing costs a cold request; ``None`` without a document in both cold passes.
    """

    tier: str
    topology: str
    current: bool
    cached_n: int
    cached_ms: float | None
    lookup_at_most_ms: float | None
    retrieve_ms: float | None
    rest_ms: float | None
    cold_ms: float | None
    store_ms: float | None
    store_price: StorePrice | None
