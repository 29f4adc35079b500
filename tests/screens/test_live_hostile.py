"""Whatever a remote machine writes is shown harmlessly on the Live screen: painted, saved, copied."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import pytest

from kvtui.live.told import RequestDetail
from kvtui.live.view import LiveView
from screens.live import LiveScreen
from screens.live_watch import Followed
from screens.widgets.live.findings import FindingsPanel
from screens.widgets.live.log_lines import LogLines
from tests.screens.live_app import Stage

# A colour, a tab, a title, C1 controls, a bell, bidi marks, half a surrogate, markup, an action.
HOSTILE = (
    "\x1b[31m\t\x1b]0;owned\x07\x9b2J\x07\x08\x7f\u202e\u2066\u200f\u061c\udc80"
    "[red]x[/red][/][@click=app.quit]q[/]"
)
FORBIDDEN = [chr(code) for code in (*range(0x00, 0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0))]
FORBIDDEN += ["\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"]
FORBIDDEN += ["\u200e", "\u200f", "\u061c", "\ud800", "\udc80"]
FORBIDDEN += [f"&#{ord(sign)};" for sign in FORBIDDEN]
# Words of which the screen itself makes choices, not text that it shows.
_KEPT = frozenset(
    {"state", "topology", "process", "code", "level", "request_id", "cold_request", "cached_request"}
)


def poisoned(value: Any, name: str = "") -> Any:
    """The value with every text in it made hostile."""
    if isinstance(value, enum.Enum):
        return value
    if isinstance(value, str):
        return value + HOSTILE if name not in _KEPT else value
    if isinstance(value, tuple):
        return tuple(poisoned(item, name) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **{key: poisoned(item, key) for key, item in fields.items()})
    return value


def assert_harmless(text: str) -> None:
    """Nothing in it that a terminal would obey or a reader could not see."""
    found = [sign for sign in FORBIDDEN if sign in text]
    assert not found


def everywhere(stage: Stage) -> str:
    """All that left the app: what is painted, and the picture of it."""
    picture = stage.app.export_screenshot()
    notes = "\n".join(note.message for note in stage.app._notifications)
    return f"{stage.text()}\n{picture}\n{notes}"


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of every view and of every request is hostile."""
    view, request = Followed.view, Followed.request

    def bad_view(self: Followed, tier: str | None = None, topology: str | None = None) -> LiveView:
        found: LiveView = poisoned(view(self))
        # Logs are looked up by their names, which come from the names of files.
        return dataclasses.replace(found, logs=view(self).logs)

    def bad_request(self: Followed, request_id: str) -> RequestDetail | None:
        found: RequestDetail | None = poisoned(request(self, request_id))
        return found

    monkeypatch.setattr(Followed, "view", bad_view)
    monkeypatch.setattr(Followed, "request", bad_request)


@pytest.mark.usefixtures("poison")
async def test_every_text_of_a_view_is_shown_harmlessly() -> None:
    stage = Stage()
    async with stage.show((200, 50)) as pilot:
        assert "[red]x[/red]" in stage.text()  # as text: nobody took it for markup
        assert_harmless(everywhere(stage))
        for keys in (
            ("t",),
            ("t",),
            ("d", "home"),
            ("enter",),
            ("escape",),
            ("f", "enter"),
            ("w",),
            ("space",),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert_harmless(everywhere(stage))


@pytest.mark.usefixtures("poison")
async def test_copies_and_saved_screens_are_harmless() -> None:
    stage = Stage()
    async with stage.show() as pilot:
        for panel in "fdbcie":
            await pilot.press(panel, "y")
        await pilot.press("s", "d", "home", "enter")
        await pilot.pause()
        await pilot.press("y")
        assert len(stage.around.copied) == 7
        for text in (*stage.around.copied, *stage.around.saved[0]):
            assert_harmless(text.replace("\t", ""))


async def test_hostile_events_and_log_lines_are_shown_harmlessly() -> None:
    stage = Stage()
    stage.feed._events = [
        {
            key: item + HOSTILE if key in ("reason", "words", "how", "tool") else item
            for key, item in event.items()
        }
        for event in stage.feed._events
    ]
    stage.feed._log = [
        (wall_s, node, process, f"{HOSTILE}{text}{HOSTILE}" if number % 3 else text.replace("Pin", HOSTILE))
        for number, (wall_s, node, process, text) in enumerate(stage.feed._log)
    ]
    stage.feed.now = HOSTILE
    async with stage.show((200, 50)) as pilot:
        assert_harmless(everywhere(stage))
        for key in ("e", "m", "pageup", "y", "slash", "q", "enter", "f", "y", "enter"):
            await pilot.press(key)
            await pilot.pause()
            assert_harmless(everywhere(stage))
        for text in stage.around.copied:
            assert_harmless(text.replace("\t", ""))


async def test_a_line_without_an_end_does_not_fill_the_screen_or_the_memory() -> None:
    stage = Stage()
    wall_s, node, process, _ = stage.feed._log[-200]
    stage.feed._log.insert(-200, (wall_s, node, process, "ERROR " + "x" * 2_000_000))
    async with stage.show() as pilot:
        await pilot.press("e")
        screen = stage.app.screen
        assert isinstance(screen, LiveScreen)
        lines = screen.query_one(LogLines)
        assert max(map(len, lines.texts(lines.first, lines.last))) < 5_000
        assert len(screen.query_one(FindingsPanel).copy_text()) < 5_000
