"""The tier strip: the state of each tier and topology by sign and word."""

from __future__ import annotations

from kvtui.attribution import Verdict
from kvtui.live.book import BlockBook
from kvtui.live.course import Course
from kvtui.live.standing import Sign, TierMark
from kvtui.plan import Plan, Tier, TierKind, Topology


def tier_mark(
    plan: Plan,
    tier: Tier,
    topology: Topology,
    book: BlockBook | None,
    course: Course,
    *,
    current: bool,
    shown: bool,
) -> TierMark:
    """One tier in one topology."""
    cached = book.cached[topology.value] if book else None
    speedup = book.speedup[topology.value].median if book else None
    full = cached.verdicts.get(Verdict.FULL, 0) if cached else 0
    judged = cached.judged if cached else 0
    block = course.step.block if course.step else None
    repeat = book.block.repeat if book else 1
    if current and block is not None and block.repeat > repeat:
        repeat, judged = block.repeat, 0  # its next repeat has begun, and nothing was answered yet
    sign, word = _state(plan, tier, topology, course, judged, full, speedup, current=current)
    return TierMark(
        tier=tier.name,
        topology=topology.value,
        sign=sign,
        word=word,
        speedup=speedup,
        reused=full,
        judged=judged,
        documents=plan.corpus.documents,
        has_cache=tier.kind is not TierKind.NONE,
        current=current,
        shown=shown,
        repeat=repeat,
        repeats=plan.passes.repeats,
    )


def _state(
    plan: Plan,
    tier: Tier,
    topology: Topology,
    course: Course,
    judged: int,
    full: int,
    speedup: float | None,
    *,
    current: bool,
) -> tuple[Sign, str]:
    if judged < plan.corpus.documents:
        if current:
            return Sign.RUNNING, "running"
        if course.running:
            return (Sign.RUNNING, "in part") if judged else (Sign.WAITING, "waiting")
        if course.step is not None and course.step.block is not None and course.state == "failed":
            block = course.step.block
            if block.tier == tier.name and topology in block.topologies:
                return Sign.BAD, "failed"
        return (Sign.WARNING, "in part") if judged else (Sign.WAITING, "not measured")
    if tier.kind is TierKind.NONE:
        return Sign.GOOD, "measured"
    if full < judged:
        local = topology is Topology.FLEET and tier.kind in (TierKind.DRAM, TierKind.DISK)
        return Sign.WARNING, "node-local" if local and not full else "reuse lost" if full else "no reuse"
    if speedup is not None and speedup < 1:
        return Sign.WARNING, "slower"
    return Sign.GOOD, "measured"
