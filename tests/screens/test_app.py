"""The frame of the app: modes, keys, help, palette, read-only, quitting, failures."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual.binding import BindingType
from textual.widgets import Button, DataTable, Input, Static

from kvtui.errors import PlanError
from kvtui.settings import Settings, load_settings
from screens.background import in_background
from screens.base import KvtuiScreen
from screens.commands import Command, bindings
from screens.modals.help import Help
from screens.modals.message import Message
from screens.modals.question import Question
from screens.session import Session, Status
from screens.widgets.filter_table import Column, FilterTable, TableRow
from tests.screens.apps import Around, make_app


class First(KvtuiScreen):
    """A table of three rows."""

    MODE = "nodes"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("nodes.filter", "slash", "Filter", "Show fewer rows.", "filter", label="/"),
        Command("nodes.remove", "d", "Remove", "Remove the node.", "remove", changes=True),
        Command("nodes.fail", "f", "Fail", "Fails.", "go_wrong"),
        Command("nodes.copy", "y", "Copy", "Copies.", "copy_it"),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.removed = 0

    def compose_body(self) -> list[FilterTable]:
        """A table."""
        table = FilterTable((Column("name", "NAME"), Column("n", "N", right=True)), "Nothing: press a.")
        table.set_rows(
            [TableRow(name, (name, str(n)), (name, n)) for name, n in (("b", 10), ("a", 9), ("c", 100))]
        )
        return [table]

    def action_filter(self) -> None:
        """Filter."""
        self.query_one(FilterTable).start_filter()

    def action_remove(self) -> None:
        """Count removals."""
        self.removed += 1

    def action_go_wrong(self) -> None:
        """Fail in the background."""

        async def wrong() -> None:
            raise PlanError("The plan is [red]torn\x1b[2J.", "Mend it.")

        in_background(self, wrong, "wrong")

    def action_copy_it(self) -> None:
        """Copy."""
        self.app.copy("kvtui launch", "the command")  # type: ignore[attr-defined]


class Second(KvtuiScreen):
    """Another mode."""

    MODE = "plan"

    def compose_body(self) -> list[Input]:
        """An input."""
        return [Input(id="field")]


MODES = {"nodes": First, "plan": Second}


def names(table: FilterTable) -> list[str]:
    """First column, as shown."""
    inner = table.query_one(DataTable)
    return [str(inner.get_row_at(index)[0]) for index in range(inner.row_count)]


async def test_digits_change_the_mode_but_type_into_inputs() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        assert app.current_mode == "plan"
        app.screen.query_one(Input).focus()
        await pilot.press("1", "2")
        assert app.current_mode == "plan"
        assert app.screen.query_one(Input).value == "12"
        await pilot.press("6")
        assert app.screen.query_one(Input).value == "126"


async def test_tabs_can_be_clicked() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(next(tab for tab in app.screen.query(".tab") if "Plan" in str(tab.render())))
        await pilot.pause()
        assert app.current_mode == "plan"


async def test_help_lists_the_keys_as_they_are_bound_now() -> None:
    app = make_app(MODES, settings=Settings(keys={"nodes.remove": "ctrl+r"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, Help)
        keys = {row.title: row.key for row in app.screen._keys}
        assert keys["Remove"] == "^r"
        assert keys["Help"] == "?"
        await pilot.press("escape")
        await pilot.press("ctrl+r")
        assert isinstance(app.screen, First)
        assert app.screen.removed == 1


async def test_read_only_takes_away_what_changes_something() -> None:
    app = make_app(MODES, readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("d")
        assert isinstance(app.screen, First)
        assert app.screen.removed == 0
        assert app.screen.check_action("remove", ()) is None
        assert app.screen.check_action("filter", ())


async def test_every_command_is_in_the_palette() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"remove")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, First)
        assert app.screen.removed == 1


async def test_quitting_with_a_run_under_way_asks() -> None:
    around = Around()
    app = make_app(MODES, Session(live_run="260101-000000-abcd"), around=around)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(app.screen, Question)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, First)
        await pilot.press("q")
        await pilot.pause()
        app.screen.query_one("#stop", Button).press()
        await pilot.pause()
    assert around.stopped == ["260101-000000-abcd"]
    assert not app.is_running


async def test_quitting_without_a_run_does_not_ask() -> None:
    app = make_app(MODES)
    async with app.run_test() as pilot:
        await pilot.press("q")
        await pilot.pause()
    assert not app.is_running


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_quitting_with_an_unsaved_plan_asks(key: str) -> None:
    app = make_app(MODES, Session(unsaved=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, Question)
        await pilot.press("escape")
        await pilot.pause()
        assert app.is_running
        await pilot.press(key)
        await pilot.pause()
        app.screen.query_one("#lose", Button).press()
        await pilot.pause()
    assert not app.is_running


async def test_ctrl_c_says_which_key_leaves() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert [note.message for note in app._notifications] == ["q leaves kvtui."]


async def test_a_failure_is_one_sentence_without_escapes_and_the_app_goes_on() -> None:
    around = Around()
    app = make_app(MODES, around=around)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f")
        await pilot.pause()
        assert isinstance(app.screen, Message)
        assert app.screen._text == "The plan is [red]torn. Mend it. (Details: kvtui.log)"
        await pilot.press("escape")
        assert isinstance(app.screen, First)
    assert len(around.errors) == 1


async def test_a_copy_goes_to_a_file_too() -> None:
    around = Around()
    app = make_app(MODES, around=around)
    async with app.run_test() as pilot:
        await pilot.press("y")
        assert app.clipboard == "kvtui launch"
    assert around.copied == ["kvtui launch"]


async def test_columns_are_as_wide_as_their_cells_under_a_dialog_too() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.screen.query_one(FilterTable)
        await app.push_screen(Message("Over it", "A dialog."))
        table.set_rows([TableRow("x", ("a longer name", "1,000,000"), ("x", 1))])
        columns = table.query_one(DataTable).ordered_columns
        assert [column.width for column in columns] == [len("a longer name"), len("1,000,000")]
        assert not any(column.auto_width for column in columns)
        await pilot.press("escape")
        assert names(table) == ["a longer name"]


async def test_filter_narrows_and_escape_leaves() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.screen.query_one(FilterTable)
        await pilot.press("slash", "1", "0")
        await pilot.pause()
        assert names(table) == ["b", "c"]
        await pilot.press("escape")
        await pilot.pause()
        assert names(table) == ["b", "a", "c"]
        assert app.current_mode == "nodes"


async def test_a_click_on_a_heading_sorts_by_figures() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.screen.query_one(FilterTable)
        inner = table.query_one(DataTable)
        for expected in (["a", "b", "c"], ["c", "b", "a"]):
            column = list(inner.columns)[1]
            inner.post_message(DataTable.HeaderSelected(inner, column, 1, inner.columns[column].label))
            await pilot.pause()
            assert names(table) == expected


async def test_an_empty_table_says_what_to_do() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.screen.query_one(FilterTable)
        table.set_rows([])
        await pilot.pause()
        empty = table.query_one("#empty", Static)
        assert empty.display
        assert str(empty.render()) == "Nothing: press a."


async def test_the_state_is_seen_on_every_screen() -> None:
    session = Session()
    app = make_app(MODES, session)
    async with app.run_test(size=(80, 24)) as pilot:
        session.say(Status("●", "2/3 up", "success"))
        await pilot.press("2")
        await pilot.pause()
        assert "2/3 up" in str(app.screen.query_one("#status", Static).render())


async def test_a_tiny_terminal_is_told_so() -> None:
    app = make_app(MODES)
    async with app.run_test(size=(50, 10)) as pilot:
        await pilot.pause()
        assert app.screen.query_one("#too-small").display
        assert not app.screen.query_one("#body").display


async def test_an_unknown_theme_is_told_of() -> None:
    app = make_app(MODES, settings=Settings(theme="no-such"))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.theme == "kvtui-dark"
        assert any("no-such" in note.message for note in app._notifications)


@pytest.mark.parametrize(
    ("text", "word"),
    [("theme = 3", "theme"), ("colour = 'x'", "colour"), ("= 1", "TOML"), ("keys = 'a'", "keys")],
)
def test_bad_settings_name_the_field(tmp_path, text: str, word: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(PlanError, match=word):
        load_settings(tmp_path)


def test_no_settings_are_the_defaults(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert load_settings(tmp_path) == Settings()
