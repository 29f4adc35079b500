"""The command palette: every command of the screen in front and of the app."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from screens.base import KvtuiScreen, app_commands
from screens.commands import Command


class CommandProvider(Provider):
    """Finds commands by their title and by what they do."""

    def _possible(self) -> Iterator[Command]:
        here = self.screen.ACTIONS if isinstance(self.screen, KvtuiScreen) else ()
        for command in (*here, *app_commands(self.app)):
            if self.screen.check_action(command.action.partition("(")[0], ()):
                yield command

    def _title(self, command: Command) -> str:
        return f"{command.id.partition('.')[0].title()}: {command.title}"

    def _run(self, command: Command) -> partial[Coroutine[Any, Any, Any]]:
        own = isinstance(self.screen, KvtuiScreen) and command in self.screen.ACTIONS
        return partial(self.screen.run_action if own else self.app.run_action, command.action)

    async def discover(self) -> Hits:
        """All commands, before anything is typed."""
        for command in self._possible():
            yield DiscoveryHit(self._title(command), self._run(command), help=command.tooltip)

    async def search(self, query: str) -> Hits:
        """The commands that fit what is typed."""
        matcher = self.matcher(query)
        for command in self._possible():
            title = self._title(command)
            score = max(matcher.match(title), matcher.match(command.tooltip))
            if score > 0:
                yield Hit(score, matcher.highlight(title), self._run(command), help=command.tooltip)
