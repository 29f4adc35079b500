"""What a screen shows of a run at one moment, in plain values.

Everywhere ``None`` means unknown: a screen shows a dash for it, never 0. Rates and ceilings are bytes a
second, sizes bytes, times milliseconds or seconds as their names say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvtui.findings import Finding


class Sign(StrEnum):
    """States by sign; a word stands beside each."""

    GOOD = "✓"
    WARNING = "!"
    BAD = "✗"
    RUNNING = "◐"
    WAITING = "·"


@dataclass(frozen=True, slots=True)
class Head:
    """Where the run stands.

    Attributes:
        run: Its id.
        plan: Name of the plan.
        state: ``running``, ``done``, ``failed`` or ``stopped``.
        reason: Why it failed or was stopped, or empty.
        tier: Tier of the step under way, or empty.
        topology: ``single`` or ``fleet`` where the step has one, or empty.
        repeat: Repeat of the step under way, as in ``repeat 2 of 3``; empty where the plan has one.
        step: The step under way in words, without the tier: ``cached pass``, ``start engines``.
        node: The node that serves the pass under way, or empty.
        answered: Requests of this pass that were settled; ``None`` outside a pass.
        requests: Requests of this pass.
        share: Part of the whole run that is behind it, by time, 0 to 1.
        elapsed_s: Since the run began.
        step_left_s: What the step under way still takes; ``None`` when it is overdue.
        run_left_s: What the run still takes at least, each phase judged by its own kind.
        now: What happens this second, in words.
    """

    run: str
    plan: str
    state: str
    reason: str
    tier: str
    topology: str
    repeat: str
    step: str
    node: str
    answered: int | None
    requests: int | None
    share: float | None
    elapsed_s: float | None
    step_left_s: float | None
    run_left_s: float | None
    now: str


@dataclass(frozen=True, slots=True)
class TierMark:
    """One tier in one topology on the strip.

    Attributes:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        sign: Its state.
        word: The state in a word or two.
        speedup: Median over the documents of cold ÷ cached.
        reused: Documents whose KV was reused whole.
        judged: Cached requests that were judged so far.
        documents: Documents of the plan.
        has_cache: Whether the tier can reuse at all.
        current: Whether the run works on it now.
        shown: Whether the view's figures are of it.
        repeat: Which repeat of the campaign the figures are of, from 1: the last that has any.
        repeats: Repeats of the plan.
    """

    tier: str
    topology: str
    sign: Sign
    word: str
    speedup: float | None
    reused: int
    judged: int
    documents: int
    has_cache: bool
    current: bool
    shown: bool
    repeat: int = 1
    repeats: int = 1


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


@dataclass(frozen=True, slots=True)
class Gauge:
    """One rate against its ceiling.

    Attributes:
        name: ``retrieve``, ``store``, ``NIC rx``, ``NIC tx``, ``disk read``, ``disk write``,
            ``store net in`` and ``store net out``.
        node: Where it was seen, or empty.
        rate_bytes_s: The rate.
        ceiling_bytes_s: The best that was measured before the run.
        share: Rate ÷ ceiling.
        age_s: Age of the rate when it is older than three ticks, else ``None``.
    """

    name: str
    node: str
    rate_bytes_s: float | None
    ceiling_bytes_s: float | None
    share: float | None
    age_s: float | None


@dataclass(frozen=True, slots=True)
class Throughput:
    """All gauges, and what they say together.

    Attributes:
        gauges: In a fixed order.
        verdict: The conclusion in a sentence, or empty.
        floor: The floor of a cached TTFT against what was seen, in a sentence, or empty.
    """

    gauges: tuple[Gauge, ...]
    verdict: str
    floor: str


class Health(StrEnum):
    """Whether values of a node are of now."""

    LIVE = "live"
    STALE = "stale"
    DEAD = "dead"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class GpuStrip:
    """One GPU of a node."""

    index: int
    utilisation_percent: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    throttle: str


@dataclass(frozen=True, slots=True)
class NodeStrip:
    """One node's load; every value is ``None`` when the node is dead or was never seen.

    Attributes:
        node: Its name.
        health: Whether the values are of now.
        age_s: Age of the last sample when it is older than three ticks.
        cpu_percent: Of all its cores together, 0 to 100.
        cores: How many.
        ram_total_bytes: Its memory.
        ram_used_bytes: Total less available.
        dram_tier_bytes: The part that the DRAM tier of the step under way reserves by the plan.
        engine_rss_bytes: Resident memory of the engine.
        swap_used_bytes: Swap in use.
        nic_rx_bytes_s: Busiest network interface, in.
        nic_tx_bytes_s: The same interface, out.
        disk_read_bytes_s: All disks together.
        disk_write_bytes_s: Likewise.
        gpus: Its GPUs.
    """

    node: str
    health: Health
    age_s: float | None
    cpu_percent: float | None
    cores: int | None
    ram_total_bytes: int | None
    ram_used_bytes: int | None
    dram_tier_bytes: int | None
    engine_rss_bytes: int | None
    swap_used_bytes: int | None
    nic_rx_bytes_s: float | None
    nic_tx_bytes_s: float | None
    disk_read_bytes_s: float | None
    disk_write_bytes_s: float | None
    gpus: tuple[GpuStrip, ...]


@dataclass(frozen=True, slots=True)
class StoreStrip:
    """The store's load.

    Attributes:
        health: Whether the values are of now.
        age_s: Age of the last sample when it is older than three ticks.
        used_bytes: Memory in use.
        limit_bytes: ``maxmemory``; ``None`` without a limit.
        keys: Keys in it, whoever wrote them.
        evicted: Keys evicted since the first sample of this run.
        net_in_bytes_s: Into the server.
        net_out_bytes_s: Out of it.
    """

    health: Health
    age_s: float | None
    used_bytes: int | None
    limit_bytes: int | None
    keys: int | None
    evicted: int | None
    net_in_bytes_s: float | None
    net_out_bytes_s: float | None


@dataclass(frozen=True, slots=True)
class LineRef:
    """A line of a log: node, process and its number in the whole file, from 1."""

    node: str
    process: str
    line: int


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """A finding with its history.

    Attributes:
        finding: What was found and what to do.
        count: How often it was seen.
        first_wall_s: When first, if known.
        last_wall_s: When last.
        lines: Some of its log lines, the first ones.
        command: What ``y`` copies: a command when the remedy has one, else the finding's text.
    """

    finding: Finding
    count: int
    first_wall_s: float | None
    last_wall_s: float | None
    lines: tuple[LineRef, ...]
    command: str


@dataclass(frozen=True, slots=True)
class LogHead:
    """What is known of one log.

    Attributes:
        node: Where the process runs.
        process: ``engine`` and so on.
        last: Number of its last line, from 1; 0 when it has none.
        kept: Lines in memory.
        warnings: Lines of level WARNING and above among the kept ones.
    """

    node: str
    process: str
    last: int
    kept: int
    warnings: int


@dataclass(frozen=True, slots=True)
class LogRow:
    """One line of a log, without escapes.

    Attributes:
        line: Its number in the file, from 1.
        text: What a person may see of it.
        level: ``INFO``, ``WARNING`` and so on, or empty.
    """

    line: int
    text: str
    level: str


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """One request whole.

    Attributes:
        request_id: The id that the client sent.
        tier: Its tier, or empty while not known.
        topology: ``single`` or ``fleet``.
        step: ``cold`` or ``cached``, or a pass that is no result.
        node: The node that served it.
        document: Its document.
        place: Its place in the pass, or ``None`` while not known.
        sign: The verdict as a sign.
        verdict: As in ``Point``.
        evidence: The evidence in words, or the failure.
        ttft_ms: Time to first token.
        total_ms: Time to the end of the answer.
        prompt_tokens: Tokens of the prompt.
        reusable_tokens: Tokens that could be reused at best.
        reused_tokens: Tokens that were.
        hit_tokens: Found at lookup.
        retrieved_tokens: Read from the tier.
        retrieve_ms: Time that this took.
        retrieve_bytes_s: Its rate.
        stored_tokens: Taken over for storing.
        store_ms: Time that this took.
        parts: The TTFT taken apart.
        lines: Its log lines, as far as they are in memory.
    """

    request_id: str
    tier: str
    topology: str
    step: str
    node: str
    document: str
    place: int | None
    sign: Sign
    verdict: str
    evidence: str
    ttft_ms: float | None
    total_ms: float | None
    prompt_tokens: int | None
    reusable_tokens: int | None
    reused_tokens: int | None
    hit_tokens: int | None
    retrieved_tokens: int | None
    retrieve_ms: float | None
    retrieve_bytes_s: float | None
    stored_tokens: int | None
    store_ms: float | None
    parts: Parts | None
    lines: tuple[LogRow, ...]


@dataclass(frozen=True, slots=True)
class LiveView:
    """Everything that the Live screen shows at one moment.

    Attributes:
        head: Where the run stands.
        tiers: Every tier and topology of the plan, in the plan's order.
        histogram: Of the shown tier and topology.
        multiples: Of all that have samples, for small multiples.
        series: Of the shown tier and topology.
        parts: Of every tier that has samples, in the shown topology.
        throughput: Rates against ceilings.
        nodes: The engine nodes and the store's node.
        store: The store; ``None`` when the plan has none.
        findings: Worst first, then by time.
        logs: The logs that were fed.
    """

    head: Head
    tiers: tuple[TierMark, ...]
    histogram: HistogramData
    multiples: tuple[HistogramData, ...]
    series: Series
    parts: tuple[TierParts, ...]
    throughput: Throughput
    nodes: tuple[NodeStrip, ...]
    store: StoreStrip | None
    findings: tuple[LiveFinding, ...]
    logs: tuple[LogHead, ...]
