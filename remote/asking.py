"""What only a person can answer while a connection is made."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from remote.hosts import HostSpec

if TYPE_CHECKING:
    from remote.private_keys import KeyPairs


class Asker(abc.ABC):
    """Asks a person; one object serves all links of a program.

    Questions come one at a time. The keys that were unlocked stay in this object's memory and nowhere else.

    Attributes:
        unlocked: Keys by file, for as long as this object lives.
        passphrases: Their passphrases, to hand to a process that goes on alone.
    """

    def __init__(self) -> None:
        self.unlocked: dict[str, KeyPairs] = {}
        self.passphrases: dict[str, str] = {}
        self._turn = asyncio.Lock()
        self._declined: dict[str, int] = {}

    @abc.abstractmethod
    async def host_key(self, host: HostSpec, offered: str) -> bool:
        """Whether this host's key, seen for the first time, is to be trusted from now on.

        Args:
            host: The node, or a jump host on the way to it.
            offered: Algorithm and SHA-256 fingerprint of the key that it showed.
        """

    @abc.abstractmethod
    async def passphrase(self, key_file: str, attempt: int) -> str | None:
        """The passphrase of a private key, or None to go on without that key.

        Args:
            key_file: The file.
            attempt: From 1; above it, the passphrase before was wrong.
        """

    async def once(
        self, question: str, settled: Callable[[], bool], ask: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Put a question that several links may have at once, one time for all of them.

        Args:
            question: What tells it from others.
            settled: Whether it has been answered with yes already.
            ask: Asks.
        """
        declined = self._declined.get(question, 0)
        async with self._turn:
            if settled():
                return True
            if self._declined.get(question, 0) != declined:
                # It was asked, and answered with no, while this link waited.
                return False
            if await ask():
                return True
            self._declined[question] = declined + 1
            return False
