"""Asks the person at the terminal about a new host key and for passphrases."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from collections.abc import Iterator, Mapping
from typing import TextIO

from kvtui.loglines import clean
from remote.asking import Asker
from remote.hosts import HostSpec

_YES = ("y", "yes")
_LINE_BYTES = 4096


class TerminalAsker(Asker):
    """Asks on a terminal; links go on living while a question is open.

    Args:
        terminal: File descriptor of the terminal to read from.
        out: Where the questions are written.
    """

    def __init__(self, terminal: int, out: TextIO) -> None:
        super().__init__()
        self._terminal = terminal
        self._out = out

    async def host_key(self, host: HostSpec, offered: str) -> bool:
        """Show the fingerprint and ask."""
        self._tell(f"{host.label} is not known yet. The key that it shows is {offered}.")
        answer = await self._line("Is that the node's own, to be trusted from now on? [y/N] ")
        return answer.strip().lower() in _YES

    async def passphrase(self, key_file: str, attempt: int) -> str | None:
        """Ask without showing what is typed; an empty line goes on without the key."""
        if attempt > 1:
            self._tell("That is not its passphrase.")
        with _unseen(self._terminal):
            return await self._line(f"Passphrase of {key_file} (empty: go on without this key): ") or None

    def _tell(self, text: str) -> None:
        # What another part may have written into the line is wiped.
        self._out.write(f"\r\x1b[K{clean(text)}\n")

    async def _line(self, question: str) -> str:
        self._out.write(f"\r\x1b[K{clean(question)}")
        self._out.flush()
        loop = asyncio.get_running_loop()
        typed = asyncio.Event()
        loop.add_reader(self._terminal, typed.set)
        try:
            await typed.wait()
        finally:
            loop.remove_reader(self._terminal)
        return os.read(self._terminal, _LINE_BYTES).decode("utf-8", "replace").rstrip("\r\n")


class Given(Asker):
    """Answers with passphrases that a person gave before, and trusts no new host.

    Args:
        passphrases: By key file.
    """

    def __init__(self, passphrases: Mapping[str, str]) -> None:
        super().__init__()
        self._given = passphrases

    async def host_key(self, host: HostSpec, offered: str) -> bool:
        """Nobody is there to be asked."""
        return False

    async def passphrase(self, key_file: str, attempt: int) -> str | None:
        """What was given for that key."""
        return self._given.get(key_file) if attempt == 1 else None


def terminal_asker() -> TerminalAsker | None:
    """Who asks the person, or None where nobody sits at a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return TerminalAsker(sys.stdin.fileno(), sys.stderr)


@contextlib.contextmanager
def _unseen(terminal: int) -> Iterator[None]:
    """Do not show what is typed, but for the end of the line."""
    before = termios.tcgetattr(terminal)
    hidden = list(before)
    hidden[3] = (hidden[3] & ~termios.ECHO) | termios.ECHONL
    termios.tcsetattr(terminal, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
