"""The Live screen: every key, and what it says when things are not as they should be."""

from __future__ import annotations

from typing import cast

import pytest
from textual.widgets import Button

from kvtui.errors import RecordError
from screens.live import LiveScreen
from screens.modals.question import Question
from screens.modals.request import RequestModal
from screens.widgets.live.findings import FindingsPanel
from screens.widgets.live.histogram import HistogramPanel
from screens.widgets.live.log_lines import LogLines
from tests.screens.live_app import Stage, made, mid_pass
from tests.screens.live_run import RUN, START_S


def live(stage: Stage) -> LiveScreen:
    """The screen in front."""
    return cast(LiveScreen, stage.app.screen)


async def test_the_screen_says_what_runs_and_what_was_measured() -> None:
    stage = Stage()
    async with stage.show():
        text = stage.text()
        for told in (
            "valkey · single · cached pass on gpu-a",
            "document 22 of 30",
            "✓ disk 1.18× 30/30",
            "! dram",
            "0/30",
            "cold n=30",
            "cached n=22",
            "The network path is at 84 % of its ceiling",
            "dram kept 0 of 30 documents",
            "gpu-b",
            "1,170 keys",
            "Retrieved  cached legal-022-lease  9,984 of 9,984",
        ):
            assert told in text, told
        assert stage.status().strip() == "● run 07aa"
        assert stage.session.live_run == RUN


async def test_without_a_run_it_says_what_to_press() -> None:
    stage = Stage(empty=True)
    async with stage.show() as pilot:
        assert "3  Launch starts the plan" in stage.text()
        for key in ("space", "right_square_bracket", "t", "x", "m", "d", "enter", "w", "slash", "y"):
            await pilot.press(key)
        assert isinstance(live(stage), LiveScreen)
        assert stage.session.live_run is None


async def test_a_record_that_cannot_be_read_is_told_of_once() -> None:
    stage = Stage()
    stage.runs.refused = RecordError("events.jsonl, line 3, is not JSON.")
    async with stage.show() as pilot:
        assert "line 3, is not JSON" in stage.text()
        assert "Launch starts the plan" in stage.text()
        await stage.tick(pilot)
        assert not stage.around.errors


async def test_space_freezes_the_screen_and_says_how_far_behind_it_is() -> None:
    stage = Stage(mid_pass(10))
    async with stage.show() as pilot:
        await pilot.press("space")
        before = [row for row in stage.rows() if "cached n=" in row]
        await stage.tick(pilot, 3.0)
        assert "paused, 3 s behind" in stage.text()
        assert [row for row in stage.rows() if "cached n=" in row] == before
        assert "document 10 of 30" in stage.text()
        await pilot.press("space")
        assert "paused" not in stage.text()
        assert [row for row in stage.rows() if "cached n=" in row] != before


async def test_brackets_go_through_the_tiers() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        histogram = live(stage).query_one(HistogramPanel)
        seen = []
        for key in ("left_square_bracket", "left_square_bracket", "right_square_bracket"):
            await pilot.press(key)
            assert histogram.view is not None
            seen.append((histogram.view.histogram.tier, histogram.view.series.tier))
        assert seen == [("disk", "disk"), ("dram", "dram"), ("disk", "disk")]
        assert "median 403 ms" in stage.text()


async def test_t_shows_the_fleet_then_all_tiers_side_by_side_then_one_again() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("t")
        assert any(row.startswith(" fleet") for row in stage.rows())
        await pilot.press("t")
        await pilot.pause()
        assert "TTFT of every tier, fleet" in stage.text()
        assert not live(stage).query_one("#series").display
        await pilot.press("t")
        await pilot.pause()
        assert any(row.startswith(" single") for row in stage.rows())
        assert live(stage).query_one("#series").display


async def test_a_document_is_chosen_and_opened_with_its_evidence_and_its_log_lines() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("d", "right")
        assert "22 legal-022-lease" in stage.text()
        await pilot.press("left")
        assert "21 legal-021-lease" in stage.text()
        await pilot.press("home")
        assert "1 legal-001-lease" in stage.text()
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(stage.app.screen, RequestModal)
        text = stage.text()
        for told in (".single.cached.gpu-a.legal-001-lease", "✓ full", "engine reports 9984 cached"):
            assert told in text
        assert "Retrieved  cached legal-001-lease" in text
        await pilot.press("y")
        assert "evidence     lookup 9984" in stage.around.copied[0]
        await pilot.press("escape")
        await pilot.pause()
        await pilot.press("end", "enter")
        await pilot.pause()
        # Not asked again yet, so its cold request is shown.
        assert ".single.cold.gpu-a.legal-030-lease" in stage.text()


async def test_a_finding_leads_to_its_log_lines_and_its_remedy_is_copied() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        findings = live(stage).query_one(FindingsPanel)
        await pilot.press("f", "y")
        assert findings.current is not None
        assert stage.around.copied == [findings.current.command]
        await pilot.press("enter")
        assert any("comes from the figures" in note.message for note in stage.app._notifications)
        await pilot.press("j")
        assert findings.current.lines
        await pilot.press("enter")
        lines = live(stage).query_one(LogLines)
        assert lines.has_focus
        assert lines.marked == findings.current.lines[0].line
        assert "Pin count is negative" in lines.texts(lines.marked, lines.marked)[0]


async def test_the_log_is_searched_and_its_warnings_are_gone_through() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("slash", *"legal-005")
        await pilot.press("enter")
        lines = live(stage).query_one(LogLines)
        first = lines.marked
        assert first is not None
        assert "legal-005-lease" in lines.texts(first, first)[0]
        assert "with “legal-005”" in stage.text()
        await pilot.press("n")
        assert lines.marked is not None
        assert lines.marked != first
        await pilot.press("N")
        assert lines.marked == first
        await pilot.press("y")
        assert stage.around.copied[-1] == lines.texts(first, first)[0] + "\n"
        await pilot.press("w")
        assert lines.marked is not None
        assert "WARNING" in lines.texts(lines.marked, lines.marked)[0]
        await pilot.press("slash", *"no such words", "enter")
        assert "nothing with" in stage.text()


async def test_a_log_that_was_scrolled_waits_and_end_follows_again() -> None:
    stage = Stage(mid_pass(10))
    async with stage.show() as pilot:
        await pilot.press("e", "pageup")
        await pilot.pause()
        lines = live(stage).query_one(LogLines)
        top = lines.first + int(lines.scroll_y)
        await stage.tick(pilot, 2.0)
        assert lines.first + int(lines.scroll_y) == top
        assert "lines below · end follows" in stage.text()
        await pilot.press("end")
        await pilot.pause()
        assert lines.is_vertical_scroll_end
        await stage.tick(pilot, 1.0)
        assert lines.is_vertical_scroll_end
        assert "follow · / find" in stage.text()


async def test_another_log_is_chosen_and_stays() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("e", "right")
        await pilot.pause()
        assert "5/8" in stage.text()
        await stage.tick(pilot, 1.0)
        assert "5/8" in stage.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_panel_alone_and_all_again(size: tuple[int, int]) -> None:
    stage = Stage()
    async with stage.show(size) as pilot:
        screen = live(stage)
        shown = {panel.id for panel in screen.query(".panel") if panel.size.height}
        await pilot.press("d", "m") if size[0] >= 100 else await pilot.press("d")
        await pilot.pause()
        assert {panel.id for panel in screen.query(".panel") if panel.size.height} == {"series"}
        await pilot.press("b")
        await pilot.pause()
        assert {panel.id for panel in screen.query(".panel") if panel.size.height} == {"breakdown"}
        await pilot.press("escape")
        await pilot.pause()
        assert {panel.id for panel in screen.query(".panel") if panel.size.height} == shown


async def test_at_80_columns_head_histogram_and_findings_stay() -> None:
    stage = Stage()
    async with stage.show((80, 24)):
        shown = {panel.id for panel in live(stage).query(".panel") if panel.size.height}
        assert shown == {"histogram", "findings"}
        assert "valkey · single · cached pass" in stage.text()
        assert "d Documents  c Ceilings  b Breakdown  i Nodes  e Engine log" in stage.text()


async def test_the_screen_is_saved_as_picture_and_text() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("s")
        svg, text = stage.around.saved[0]
        assert svg.startswith("<svg")
        assert "cached pass on gpu-a" in text
        assert "\x1b" not in text


async def test_a_screen_that_cannot_be_saved_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()

    def refuse(svg: str, text: str) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(stage.app, "_keep_screen", refuse)
    async with stage.show() as pilot:
        await pilot.press("s")
        assert any("Permission denied" in note.message for note in stage.app._notifications)


async def test_stop_asks_and_names_what_it_ends() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(stage.app.screen, Question)
        for told in (RUN, "gpu-a: engine, process 4711", "/mnt/nvme/kv/kvtui-run"):
            assert told in stage.text()
        await pilot.press("escape")
        await pilot.pause()
        assert stage.runs.stopped == []
        await pilot.press("x")
        await pilot.pause()
        stage.app.screen.query_one("#do", Button).press()
        await pilot.pause()
        assert stage.runs.stopped == [RUN]


async def test_read_only_stops_nothing() -> None:
    stage = Stage(readonly=True)
    async with stage.show() as pilot:
        await pilot.press("x")
        await pilot.pause()
        assert live(stage).MODE == "live"
        assert stage.runs.stopped == []


async def test_a_follower_that_died_is_told_of_with_the_remedy() -> None:
    stage = Stage()
    stage.feed.alive = False
    async with stage.show():
        assert f"kvtui attach {RUN}" in stage.text()
        assert "cut off" in stage.status()
        assert stage.session.live_run is None


async def test_a_run_that_ended_stays_readable() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        await stage.tick(pilot, 1000.0)
        assert "✓ done" in stage.text()
        assert "run 07aa done" in stage.status()
        assert stage.session.live_run is None
        assert "cached n=30" in stage.text()
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(stage.app.screen, LiveScreen)


async def test_old_values_show_their_age_and_a_dead_node_is_no_zero() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        batch = stage.feed.poll()
        assert not batch.events
        stage.feed._events = []
        await stage.tick(pilot, 6.0)
        text = stage.text()
        assert "6 s old" in text or "7 s old" in text
        await stage.tick(pilot, 120.0)
        row = next(row for row in stage.rows() if "✗ gpu-a" in row)
        assert "–" in row
        assert "0.00" not in row


async def test_what_happens_this_second_is_said_outside_of_a_pass() -> None:
    engines = next(e for e in made().events if e["kind"] == "step_begin" and "start engines" in e["words"])
    stage = Stage(engines["wall_s"] - START_S + 20.0)
    stage.feed.now = "gpu-b: loading weights, 41 s"
    async with stage.show():
        assert "gpu-b: loading weights, 41 s" in stage.text()
        assert "The first answer will stand here." in stage.text()


async def test_another_run_of_the_session_is_shown_and_replayed() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        stage.session.run, stage.session.replay = "other", True
        await stage.tick(pilot)
        assert stage.runs.replayed == [20.0]
        await stage.tick(pilot)
        assert stage.runs.replayed == [20.0]
        stage.session.replays += 1
        await stage.tick(pilot)
        assert stage.runs.replayed == [20.0, 20.0]
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(stage.app.screen, LiveScreen)


async def test_at_most_eight_keys_stand_in_the_footer() -> None:
    stage = Stage()
    async with stage.show():
        shown = [a for a in live(stage).active_bindings.values() if a.binding.show]
        assert len(shown) <= 8
