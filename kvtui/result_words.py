"""What the statistics of a run say, in the words that tables and screens share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kvtui.answer_words import answer_line
from kvtui.results import RepeatRow, Result, Row
from kvtui.stats.compare import Claim
from kvtui.stats.economics import BreakEven, Economics, Saving
from kvtui.stats.estimate import Estimate
from kvtui.stats.order import least_count
from kvtui.units import DASH
from kvtui.worth import TierPair

DRIFTS, DIFFER = "drifts", "repeats differ"


def ratio(value: float) -> str:
    """A ratio."""
    return f"{value:.2f}×" if value < 100 else f"{value:,.0f}×"


def milliseconds(value: float) -> str:
    """A time without its unit, with what its size deserves."""
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def level(value: float) -> str:
    """A confidence."""
    return f"{value * 100:.1f} %"


def why_none(row: Row) -> str:
    """Why a row has no interval; empty where that is for want of documents."""
    return DIFFER if row.repeats_differ else DRIFTS if row.drifting else ""


def interval(found: Estimate | None, show: Callable[[float], str], why: str = "") -> str:
    """An interval with its level, or why there is none."""
    if found is None:
        return DASH
    if found.interval is not None:
        low, high = found.interval.low, found.interval.high
        return f"{show(low).rstrip('×')} to {show(high)} ({level(found.interval.level)})"
    return why or f"{found.n} of {least_count()} needed"


def sure_cells(row: Row) -> tuple[str, ...]:
    """Speedup and saved time of a tier: median, interval, Hodges–Lehmann; documents for ± 5 %."""
    cells: list[str] = []
    for found, show in ((row.ratio, ratio), (row.saved_ms, milliseconds)):
        if found is None:
            cells += [DASH, DASH, DASH]
        else:
            shown = interval(found, show, why_none(row))
            cells += [show(found.median), shown, show(found.hodges_lehmann)]
    return (*cells, f"{row.needed:,}" if row.needed is not None else DASH)


def percentile_lines(row: Row) -> Iterator[tuple[str, str]]:
    """p95 and p99 of both passes, as far as there are requests enough."""
    for name, cold, cached in (
        ("p95", row.cold_p95_ms, row.cached_p95_ms),
        ("p99", row.cold_p99_ms, row.cached_p99_ms),
    ):
        if cold is not None or cached is not None:
            shown = [DASH if value is None else milliseconds(value) for value in (cold, cached)]
            yield name, f"{shown[0]} ms cold, {shown[1]} ms cached"


def repeat_lines(row: Row) -> Iterator[tuple[str, str]]:
    """What each repeat gave, where there are several, and how many more documents or repeats a run wants."""
    if row.repeats > 1:
        for one in row.by_repeat:
            cold, cached, speedup, reused, places = repeat_cells(one)[1:]
            words = f"{cold} ms cold, {cached} ms cached, {speedup}, {reused} whole"
            yield (
                f"repeat {one.repeat}",
                words + ("" if places == DASH else f"; requests {places} of the run"),
            )
    if row.needed is not None:
        more = "" if row.needed_repeats is None else f", or {row.needed_repeats} repeats of these"
        yield "for ± 5 %", f"{row.needed:,} documents{more}"


def repeat_cells(one: RepeatRow) -> tuple[str, ...]:
    """A repeat of a tier: its number, cold, cached, speedup, whole documents, its place in the run."""
    places = DASH if one.first_place is None else f"{one.first_place:,} to {one.last_place:,}"
    return (
        str(one.repeat),
        DASH if one.cold_ms is None else milliseconds(one.cold_ms),
        DASH if one.cached_ms is None else milliseconds(one.cached_ms),
        DASH if one.speedup is None else ratio(one.speedup),
        DASH if one.cached_n == 0 else str(one.reused),
        places,
    )


def answer_lines(row: Row) -> Iterator[tuple[str, str]]:
    """Whether the reused KV is right, where any was reused."""
    if row.answers is not None:
        yield "answers", answer_line(row.answers)
    elif row.reused or row.partial:
        yield "answers", "not compared: no log-probabilities recorded"


def reuse_words(row: Row) -> str:
    """How many documents were reused, and that they were reused wrongly."""
    if row.cached_n == 0:
        return DASH
    text = f"{row.reused}/{row.documents}"
    if row.partial:
        text += f", {row.partial} partial"
    if row.unknown:
        text += f", {row.unknown} unknown"
    return f"{text}, WRONG" if row.answers is not None and row.answers.shows_wrong else text


def economics_lines(found: Economics) -> Iterator[tuple[str, str]]:
    """Price and gain of a tier, a line each: what, and the figure with its interval."""
    for name, times, ratios in (
        ("a fill costs", found.fill_ms, found.fill_ratio),
        ("a miss costs", found.miss_ms, found.miss_ratio),
    ):
        if times is not None:
            yield name, _amount(times, "ms", milliseconds) + _part(ratios)
    if found.gain_ms is not None:
        yield "a hit saves", _amount(found.gain_ms, "ms", milliseconds)
    if found.break_even is not None:
        yield "hits to pay for a fill", _break_even(found.break_even)
    for saving in found.savings:
        yield f"an hour saves at {saving.hit_rate * 100:.0f} % hits", _saving(saving)


def _amount(found: Estimate, unit: str, show: Callable[[float], str]) -> str:
    words = f"{show(found.median)} {unit}"
    if found.interval is not None:
        low, high = show(found.interval.low), show(found.interval.high)
        words += f", {low} to {high} ({level(found.interval.level)})"
    elif found.n >= least_count():
        words += f", {DRIFTS}"
    return f"{words}, n={found.n}"


def _part(ratios: Estimate | None) -> str:
    return "" if ratios is None else f", {(ratios.median - 1) * 100:+.1f} %"


def _hits(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _break_even(found: BreakEven) -> str:
    words = _hits(found.hits)
    if found.level is not None and (found.hits, found.low, found.high) != (None, None, None):
        words += f", {_hits(found.low)} to {_hits(found.high)} ({level(found.level)})"
    return f"{words}, n={found.n}"


def _saving(found: Saving) -> str:
    words = _amount(found.seconds, "GPU-s", lambda value: f"{value:,.0f}")
    if found.money is None:
        return words
    words += f", {found.money:,.2f} of the hour's price"
    if found.money_low is not None and found.money_high is not None:
        words += f" ({found.money_low:,.2f} to {found.money_high:,.2f})"
    return words


def pair_line(pair: TierPair) -> str:
    """One tier against another in a sentence."""
    if pair.ratio is None:
        return f"{pair.tier} against {pair.other}: no common document"
    shown = f"{ratio(pair.ratio.median)}"
    if pair.ratio.interval is not None:
        shown += f", {interval(pair.ratio, ratio)}"
    return f"{pair.tier} against {pair.other}: {pair.claim} ({shown}, n={pair.ratio.n})"


def pairs_of(result: Result, row: Row) -> Iterator[tuple[str, str]]:
    """A tier against each other in its topology, seen from it."""
    for pair in result.pairs:
        if pair.topology != row.topology or row.tier not in (pair.tier, pair.other):
            continue
        own = pair.tier == row.tier
        other = pair.other if own else pair.tier
        claim = pair.claim if own or pair.claim is Claim.NOT_SHOWN else _OPPOSITE[pair.claim]
        shown = (
            "" if pair.ratio is None else f", {ratio(pair.ratio.median if own else 1 / pair.ratio.median)}"
        )
        yield f"against {other}", f"{claim}{shown}"


_OPPOSITE = {Claim.FASTER: Claim.SLOWER, Claim.SLOWER: Claim.FASTER}


def neighbours(pairs: Iterable[TierPair], topology: str) -> Iterator[TierPair]:
    """The pairs that make a ranking: each tier and the next slower one."""
    last = ""
    for pair in pairs:
        if pair.topology == topology and last in ("", pair.tier):
            last = pair.other
            yield pair
        elif pair.topology == topology:
            return


def economics_of(result: Result, row: Row) -> Economics | None:
    """Price and gain of a row's tier."""
    return next(
        (one for one in result.economics if (one.tier, one.topology) == (row.tier, row.topology)), None
    )
