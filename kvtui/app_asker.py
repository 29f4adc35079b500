"""Asks about host keys and passphrases in dialogs of the app."""

from __future__ import annotations

from typing import Any

from textual.app import App

from kvtui.loglines import clean
from remote.asking import Asker
from remote.hosts import HostSpec
from screens.modals.question import Answer, Question
from screens.modals.secret import AskText


class AppAsker(Asker):
    """Asks in the app that it was given; before that, every question is answered with no."""

    def __init__(self) -> None:
        super().__init__()
        self.app: App[Any] | None = None

    async def host_key(self, host: HostSpec, offered: str) -> bool:
        """Show the fingerprint and ask."""
        if self.app is None:
            return False
        lines = (
            f"{clean(host.label)} is not known yet. The key that it shows:",
            clean(offered),
            "Compare it with the node's own: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
        )
        answers = (Answer("cancel", "Refuse"), Answer("trust", "Trust it from now on"))
        return await self.app.push_screen_wait(Question("A new host key", lines, answers)) == "trust"

    async def passphrase(self, key_file: str, attempt: int) -> str | None:
        """Ask without showing what is typed."""
        if self.app is None:
            return None
        again = "That is not its passphrase. " if attempt > 1 else ""
        why = f"{again}It stays in memory until kvtui ends. Empty or esc: go on without this key."
        text = await self.app.push_screen_wait(AskText(f"Passphrase of {clean(key_file)}", why, secret=True))
        return text or None
