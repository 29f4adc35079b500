"""The Plan screen, over made-up plans and nodes."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Footer, Input, Static

from kvtui.plan import parse_plan
from screens.modals.corpus_reader import CorpusReader
from screens.modals.message import Message
from screens.modals.model_picker import ModelPicker
from screens.modals.plan_differences import PlanDifferences
from screens.modals.plan_picker import PlanPicker
from screens.modals.question import Question
from screens.modals.secret import AskText
from screens.session import Session
from screens.widgets.plan.finding_list import FindingList
from screens.widgets.plan.rows import ADD_TIER, MODELS
from tests.kvtui.knowing import changed
from tests.screens.apps import Around
from tests.screens.plan_port import FakePlans
from tests.screens.plan_stage import (
    app_with,
    click,
    drawn,
    faults,
    field,
    form_text,
    front,
    go_to,
    on_seed,
    plan_of,
    settled,
    text,
    told,
)


async def test_what_is_typed_is_the_plan_and_reckoned_at_once() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await settled(pilot)
        assert "39 × 14 MiB = 0.533 GiB" in text(screen, "fit")
        assert "0/30 single" in text(screen, "fit")
        assert "Findings (3)" in str(screen.query_one("#findings-panel").border_title)
        go_to(screen, "corpus.documents")
        await pilot.press("end", "backspace", "backspace", "1", "2")
        await settled(pilot)
        assert app.current_mode == "plan"
        assert plan_of(session).corpus.documents == 12
        assert "12/12 single" in text(screen, "fit")
        await pilot.press("x")
        await settled(pilot)
        assert plan_of(session).corpus.documents == 12
        assert "a whole number" in faults(screen)
        assert field(screen, "corpus.documents").has_class("-invalid")
        assert "1 to mend" in str(screen.query_one("#form-panel").border_subtitle)
        await pilot.press("backspace")
        await settled(pilot)
        assert not faults(screen)
        assert "changed" in str(screen.query_one("#form-panel").border_title)


async def test_each_field_says_why_it_is_wrong_below_it() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(120, 50)) as pilot:
        screen = await settled(pilot)
        for name, wrong, words in (
            ("model.path", "", "needed"),
            ("corpus.tokens", "99999", "max_model_len"),
            ("hash.seed", "abc", "PYTHONHASHSEED"),
            ("engine.extra_args", "'", "quote"),
            ("tiers.0.capacity_gib", "", "GiB"),
            ("tiers.1.path", "", "folder"),
            ("passes.cold_node", "zz", "no such node"),
        ):
            one = field(screen, name)
            right, one.value = one.value, wrong
            await pilot.pause()
            assert words in faults(screen), name
            assert one.has_class("-invalid")
            one.value = right
            await pilot.pause()
            assert not faults(screen), name


async def test_f_mends_the_finding_under_the_cursor_and_says_so() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("f")
        await pilot.pause()
        assert "Set dram from 8 to 15.9961 GiB" in told(app)
        await settled(pilot)
        assert plan_of(session).tier("dram").capacity_gib == 15.9961
        assert field(screen, "tiers.0.capacity_gib").value == "15.9961"
        await pilot.press("escape", "G", "f")
        await pilot.pause()
        assert "Only you can mend this" in told(app)


async def test_launch_goes_there_with_the_plan_and_not_with_a_faulty_form() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        one = field(screen, "tiers.0.capacity_gib")
        one.value = "much"
        await pilot.pause()
        await pilot.press("escape", "L")
        await pilot.pause()
        assert app.current_mode == "plan"
        assert "tier dram, capacity_gib: a number" in told(app)
        field(screen, "tiers.0.capacity_gib").value = "24"
        await settled(pilot)
        await pilot.press("escape")
        await pilot.press("L")
        await pilot.pause()
        assert app.current_mode == "launch"
        assert plan_of(session).tier("dram").capacity_gib == 24


async def test_saved_under_a_name_and_opened_again() -> None:
    port = FakePlans()
    port.saved["mine"] = port.plan("lab")
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        field(screen, "corpus.documents").value = "7"
        await pilot.pause()
        await pilot.press("ctrl+s")
        await drawn(pilot)
        for name, why in (("No name", "NO"), ("seven", "")):
            assert isinstance(front(app), AskText)
            front(app).query_one(Input).value = name
            await pilot.press("enter")
            await drawn(pilot)
            if why:
                assert "no name for a plan" in str(front(app).query_one(Static).render())
        await settled(pilot)
        assert front(app) is screen
        assert port.saved["seven"].corpus.documents == 7
        assert plan_of(session) == port.saved["seven"]
        assert session.plan_name == "seven"
        assert "changed" not in str(screen.query_one("#form-panel").border_title)

        await pilot.press("ctrl+s")
        await drawn(pilot)
        front(app).query_one(Input).value = "mine"
        await pilot.press("enter")
        await drawn(pilot)
        assert isinstance(front(app), Question)
        await pilot.press("escape")
        await drawn(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert port.saved["mine"].lab

        await pilot.press("escape", "o")
        await drawn(pilot)
        assert isinstance(front(app), PlanPicker)
        await pilot.press("enter")
        await settled(pilot)
        assert session.plan_name == "mine"
        assert plan_of(session).lab
        assert field(screen, "model.path").value == "kvtui-tiny"


async def test_changes_are_not_lost_without_a_question() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        field(screen, "corpus.documents").value = "7"
        await settled(pilot)
        await pilot.press("escape", "o")
        await drawn(pilot)
        await pilot.press("enter")
        await drawn(pilot)
        assert isinstance(front(app), Question)
        await pilot.press("escape")
        await settled(pilot)
        assert plan_of(session).corpus.documents == 7


async def test_commands_and_toml_are_copied() -> None:
    port, around = FakePlans(), Around()
    app = app_with(port, on_seed(port), around=around)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("y", "e")
        await pilot.pause()
    assert "vllm" in around.copied[0]
    assert "pre_caching_hash_algorithm" in around.copied[0]
    assert parse_plan(around.copied[1], "copied") == port.exported[0] == port.plan("seed")


async def test_comparison_and_arithmetic_open_and_close() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("A")
        await drawn(pilot)
        assert isinstance(message := front(app), Message)
        assert "57,344 bytes a token" in message._text
        await pilot.press("escape", "C")
        await drawn(pilot)
        assert isinstance(front(app), PlanPicker)
        await pilot.press("enter")
        await drawn(pilot)
        assert isinstance(front(app), PlanDifferences)
        table = front(app).query_one(DataTable)
        rows = {str(table.get_row_at(at)[0]): table.get_row_at(at) for at in range(table.row_count)}
        assert [str(cell) for cell in rows["corpus.documents"][1:3]] == ["30", "8"]
        await pilot.press("escape")
        await settled(pilot)
        assert front(app) is screen


async def test_tiers_are_switched_stepped_added_and_removed() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(120, 50)) as pilot:
        screen = await settled(pilot)
        await click(pilot, screen, "tiers.1.on")
        await settled(pilot)
        assert [tier.name for tier in plan_of(session).tiers] == ["dram", "valkey"]
        assert "disk" in form_text(screen)

        go_to(screen, "tiers.0.capacity_gib")
        await pilot.press("plus")
        await settled(pilot)
        assert plan_of(session).tier("dram").capacity_gib == 9
        await pilot.press("plus", "plus", "plus")
        await settled(pilot)
        assert plan_of(session).tier("dram").capacity_gib == 20
        await pilot.press("minus")
        await settled(pilot)
        assert plan_of(session).tier("dram").capacity_gib == 15.9961
        assert "of 83.2 GiB" in form_text(screen)

        await click(pilot, screen, ADD_TIER)
        await settled(pilot)
        assert plan_of(session).tiers[-1].name == "tier-1"
        go_to(screen, "tiers.3.kind")
        await pilot.press("right")
        await settled(pilot)
        assert "folder" in faults(screen)
        await click(pilot, screen, "tiers.3.remove")
        await settled(pilot)
        assert not faults(screen)
        assert "tier-1" not in form_text(screen)


async def test_a_model_of_a_node_brings_its_size_along() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await settled(pilot)
        await click(pilot, screen, MODELS)
        await drawn(pilot)
        assert isinstance(front(app), ModelPicker)
        await pilot.press("enter")
        await settled(pilot)
        model = plan_of(session).model
        assert (model.path, model.served_name, model.kv_bytes_per_token) == (
            "/models/q4",
            "Qwen/Qwen3-4B",
            147_456,
        )
        assert port.asked[-1].model == model


async def test_a_plan_set_elsewhere_is_shown_on_coming_back() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("3")
        await pilot.pause()
        session.plan, session.plan_name = port.plan("lab"), "lab"
        await pilot.press("2")
        await settled(pilot)
        assert field(screen, "model.path").value == "kvtui-tiny"
        assert plan_of(session) == port.plan("lab")


async def test_without_a_plan_it_begins_with_the_lab_and_says_so() -> None:
    session = Session()
    app = app_with(FakePlans(), session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        assert plan_of(session).lab
        assert "comes with kvtui" in str(screen.query_one("#form-panel").border_subtitle)


async def test_d_reads_the_documents_of_the_plan_and_escape_comes_back() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await settled(pilot)
        await pilot.press("d")
        await settled(pilot)
        reader = app.screen_stack[-1]
        assert isinstance(reader, CorpusReader)
        assert str(reader.query_one("#list-panel").border_subtitle).startswith("30 documents")
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen_stack == [screen]


async def test_hostile_texts_are_harmless() -> None:
    port = FakePlans()
    evil = "\x1b[2J[red]a\u202eb"
    plan = changed(port.plan("seed"), model={"path": evil, "served_name": evil}, corpus={"source": evil})
    port.saved["evil"] = plan
    session = Session(plan=plan, plan_name=evil)
    app = app_with(port, session)
    async with app.run_test(size=(120, 50)) as pilot:
        screen = await settled(pilot)
        assert field(screen, "model.path").value == "[red]ab"
        assert plan_of(session) == plan
        field(screen, "model.served_name").value = "x\x1b[31my"
        await settled(pilot)
        assert plan_of(session).model.served_name == "xy"
        field(screen, "passes.cold_node").value = evil
        field(screen, "tiers.0.name").value = evil
        await settled(pilot)
        shown = app.export_screenshot()
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        port.broken = evil
        await pilot.press("escape", "o")
        await drawn(pilot)
        await pilot.press("enter")
        await drawn(pilot)
        assert isinstance(message := front(app), Message)
        assert "\x1b" not in message._text


async def test_a_broken_file_of_nodes_is_told_and_hinders_nothing_else() -> None:
    port = FakePlans()
    port.broken = "hosts.toml is broken."
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        assert isinstance(message := front(app), Message)
        assert "hosts.toml is broken." in message._text
        await pilot.press("escape")
        assert field(screen, "corpus.documents").value == "30"
        assert "0/30 single" in text(screen, "fit")


async def test_read_only_takes_saving_away() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port), readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("ctrl+s", "e")
        await drawn(pilot)
        assert front(app) is screen
        assert not port.exported


@pytest.mark.parametrize("columns", [80, 120])
async def test_the_footer_has_room_and_at_most_eight_keys(columns: int) -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(columns, 24)) as pilot:
        await settled(pilot)
        keys = list(front(app).query_one(Footer).children)
        assert len(keys) <= 9  # the palette's own is the ninth
        assert sum(one.outer_size.width for one in keys) <= columns


async def test_v_shows_the_other_views() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        seen = []
        for _ in range(3):
            seen.append([one.id for one in screen.query(".view") if one.region.height > 2])
            await pilot.press("v")
            await pilot.pause()
        assert seen == [["fit-panel"], ["forecast-panel"], ["keys-panel"]]


async def test_from_start_to_launch_by_keyboard_alone() -> None:
    port = FakePlans()
    session = Session()
    app = app_with(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("i", "down", "down", "down", "backspace", "4")
        await settled(pilot)
        assert plan_of(session).corpus.documents == 4
        await pilot.press("escape")
        assert isinstance(screen.focused, FindingList)
        await pilot.press("f", "L")
        await pilot.pause()
        assert app.current_mode == "launch"


async def _ready(pilot: Pilot[None]) -> None:
    await settled(pilot)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize("name", ["seed", "lab"])
def test_snapshot(snap_compare: Any, columns: int, rows: int, name: str) -> None:
    port = FakePlans()
    session = Session(plan=port.plan(name), plan_name=name)
    assert snap_compare(app_with(port, session), terminal_size=(columns, rows), run_before=_ready)


def test_snapshot_of_a_faulty_form_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    port = FakePlans()

    async def ready(pilot: Pilot[None]) -> None:
        screen = await settled(pilot)
        field(screen, "corpus.documents").value = "many"
        await settled(pilot)

    assert snap_compare(app_with(port, on_seed(port)), terminal_size=(80, 24), run_before=ready)
