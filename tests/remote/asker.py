"""A person for tests, who answers as told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from remote.asking import Asker
from remote.hosts import HostSpec
from tests.remote.waiting import reached


class Person(Asker):
    """Answers from lists, and remembers what was asked.

    Args:
        trusts: Whether new host keys are trusted.
        passphrases: What is typed, one after the other.
        others: Answers only once so many links wait with a question of their own.
        thinks: Answers only when this has come true.
    """

    def __init__(
        self,
        *,
        trusts: bool = False,
        passphrases: Sequence[str | None] = (),
        others: int = 0,
        thinks: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__()
        self.trusts = trusts
        self.others = others
        self.thinks = thinks
        self.answers = list(passphrases)
        self.host_keys: list[tuple[str, str]] = []
        self.key_files: list[tuple[str, int]] = []

    async def host_key(self, host: HostSpec, offered: str) -> bool:
        self.host_keys.append((host.label, offered))
        await self._think()
        return self.trusts

    async def passphrase(self, key_file: str, attempt: int) -> str | None:
        self.key_files.append((key_file, attempt))
        await self._think()
        return self.answers.pop(0)

    async def _think(self) -> None:
        await reached(lambda: len(self._turn._waiters or ()) >= self.others and self.thinks())
