"""Brings the events that are written on a node into the run's record, each once."""

from __future__ import annotations

from collections.abc import Callable

from kvtui.journal import Journal
from remote.following import followed
from remote.link import Link
from remote.process import read_on


async def merge(journal: Journal, link: Link, path: str, source: str) -> None:
    """Merge what a node's file holds, up to a last line that is still being written.

    Raises:
        RemoteError: The node cannot be asked.
    """
    while True:
        before = journal.offset(source)
        async for offset, data in read_on(link, path, before):
            if journal.merge(source, offset, data) < offset + len(data):
                break  # a piece may end within a line: read on from that line's start
        if journal.offset(source) == before:
            return


async def merge_on(
    journal: Journal, link: Link, path: str, source: str, over: Callable[[], bool] = lambda: False
) -> None:
    """Merge what is added to a node's file as it is added, until ``over`` says so.

    Raises:
        RemoteError: The node cannot be asked any more.
    """
    held = b""
    async with followed(link, path, journal.offset(source)) as pieces:
        async for offset, data in pieces:
            held += data
            end = offset + len(data)
            held = held[len(held) - (end - journal.merge(source, end - len(held), held)) :]
            if over():
                return
