"""Questions at a terminal: what is shown, what is hidden, and what an answer means."""

from __future__ import annotations

import asyncio
import io
import os
import termios
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kvtui.asking import Given, TerminalAsker, terminal_asker
from remote.hosts import HostSpec
from tests.remote.waiting import reached

HOST = HostSpec("gpu-a", "10.0.0.1", 2222)
OFFERED = "ssh-ed25519 SHA256:abc"


@dataclass
class Terminal:
    """A terminal: the person's end, and the program's."""

    person: int
    program: int
    out: io.StringIO

    def types(self, text: str) -> None:
        os.write(self.person, text.encode())

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.program)[3] & termios.ECHO)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    person, program = os.openpty()
    yield Terminal(person, program, io.StringIO())
    os.close(person)
    os.close(program)


@pytest.mark.parametrize(
    ("typed", "trusted"), [("y\n", True), ("YES\n", True), ("\n", False), ("yo\n", False)]
)
async def test_a_host_key(terminal: Terminal, typed: str, trusted: bool) -> None:
    asker = TerminalAsker(terminal.program, terminal.out)
    terminal.types(f"{typed}\n")
    assert await asker.host_key(HOST, OFFERED) is trusted
    assert OFFERED in terminal.out.getvalue()
    assert "gpu-a (10.0.0.1:2222) is not known yet" in terminal.out.getvalue()


async def test_a_passphrase_is_not_shown(terminal: Terminal) -> None:
    asker = TerminalAsker(terminal.program, terminal.out)
    question = asyncio.ensure_future(asker.passphrase("~/.ssh/id", 1))
    await reached(lambda: "Passphrase of ~/.ssh/id" in terminal.out.getvalue())
    assert not terminal.echoes()
    terminal.types("geh heim\n")
    assert await question == "geh heim"
    assert terminal.echoes()
    terminal.types("\n")
    assert await asker.passphrase("~/.ssh/id", 2) is None
    assert "That is not its passphrase." in terminal.out.getvalue()


async def test_a_question_that_is_broken_off_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    asker = TerminalAsker(terminal.program, terminal.out)
    question = asyncio.ensure_future(asker.passphrase("~/.ssh/id", 1))
    await reached(lambda: not terminal.echoes())
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    assert terminal.echoes()


async def test_what_was_given_before() -> None:
    asker = Given({"~/.ssh/id": "secret"})
    assert await asker.passphrase("~/.ssh/id", 1) == "secret"
    assert await asker.passphrase("~/.ssh/id", 2) is None
    assert await asker.passphrase("~/.ssh/other", 1) is None
    assert await asker.host_key(HOST, OFFERED) is False


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert terminal_asker() is None
