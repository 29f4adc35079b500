"""What findings, logs and single requests tell, in plain values."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.findings import Finding
from kvtui.live.standing import Sign
from kvtui.live.times import Parts


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
