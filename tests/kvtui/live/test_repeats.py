"""A campaign of several repeats, live: the last repeat that has figures is shown, all of them are judged."""

from __future__ import annotations

from kvtui.journal import Event
from kvtui.live.state import LiveState
from kvtui.live.view import LiveView
from kvtui.plan import Plan
from kvtui.results import result_of
from kvtui.samples import Pass
from tests.kvtui.knowing import changed
from tests.kvtui.live.runs import Run, recorded, small_plan
from tests.kvtui.repeated import repeated


def view(plan: Plan, events: tuple[Event, ...]) -> LiveView:
    state = LiveState(plan)
    state.feed(events)
    return state.view(events[-1]["wall_s"])


def test_a_whole_campaign_is_read_and_shows_its_last_repeat() -> None:
    plan, events = repeated(*recorded(), 3)
    found = view(plan, events)
    assert found.head.state == "done"
    assert "events-unread" not in [one.finding.code for one in found.findings]
    assert {mark.repeat for mark in found.tiers} == {3}
    assert all(mark.judged == plan.corpus.documents for mark in found.tiers)
    once = view(*recorded())
    assert [mark.sign for mark in found.tiers] == [mark.sign for mark in once.tiers]
    rows = result_of("run", plan, events).rows
    assert {row.repeats for row in rows} == {3}
    assert {len(row.by_repeat) for row in rows} == {3}


def test_what_the_figures_say_is_said_of_every_repeat() -> None:
    plan, events = repeated(*recorded(), 2)
    where = [one.finding.where for one in view(plan, events).findings if one.finding.code == "reuse-lost"]
    once = [one.finding.where for one in view(*recorded()).findings if one.finding.code == "reuse-lost"]
    assert once
    assert set(where) == {*once, *(place.replace(" · ", " · repeat 2 · ", 1) for place in once)}


def test_the_time_left_counts_the_repeats_to_come() -> None:
    plan, events = recorded()
    begun = events[: len(events) // 3]
    once = view(plan, begun).head
    thrice = view(changed(plan, passes={"repeats": 3}), begun).head
    assert once.run_left_s is not None
    assert thrice.run_left_s is not None
    assert thrice.run_left_s > 2.5 * once.run_left_s
    assert thrice.share is not None
    assert once.share is not None
    assert thrice.share < once.share


def test_the_strip_says_that_the_next_repeat_has_begun_before_it_has_figures() -> None:
    run = Run(changed(small_plan(), passes={"repeats": 2}))
    run.whole_pass("dram", Pass.COLD, [400.0] * 8, "none")
    run.whole_pass("dram", Pass.CACHED, [40.0] * 8, "full")
    before = next(mark for mark in run.view(tier="dram").tiers if mark.tier == "dram")
    assert (before.word, before.repeat) == ("measured", 1)
    run.own("step_begin", step="dram-single-r2.1/engines", words="start engines")
    found = run.view(tier="dram")
    after = next(mark for mark in found.tiers if mark.tier == "dram")
    assert (after.word, after.repeat, after.judged, after.current) == ("running", 2, 0, True)
    assert found.head.repeat == "repeat 2 of 2"
    # What is shown stays that of the first repeat until the second has something.
    assert len(found.histogram.cached_ms) == 8
