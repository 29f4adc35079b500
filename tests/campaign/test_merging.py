"""Events of a node that come as they are written: each once and in order, however they are cut and read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.campaign import merging
from kvtui.journal import Journal, iter_events
from remote.errors import NodeUnreachable
from remote.link import Link
from remote.process import Chunk

SOURCE = "gpu-a:watch"


class File:
    """A node's file that is sent in pieces, over links that are lost after some of them."""

    def __init__(self, data: bytes, pieces: list[int], pieces_a_link: int) -> None:
        self.data = data
        self.pieces = pieces
        self.pieces_a_link = pieces_a_link

    @asynccontextmanager
    async def followed(
        self, link: Link, path: str, offset: int
    ) -> AsyncIterator[AsyncIterator[tuple[int, bytes]]]:
        yield self.sent(offset)

    async def sent(self, offset: int) -> AsyncIterator[tuple[int, bytes]]:
        for _ in range(self.pieces_a_link):
            size = self.pieces.pop() if self.pieces else len(self.data)
            if piece := self.data[offset : offset + size]:
                yield offset, piece
                offset += len(piece)
        raise NodeUnreachable("lost")

    async def tail(self, link: Link, path: str, offset: int, max_bytes: int = 0) -> Chunk:
        return Chunk(self.data[offset:], len(self.data), len(self.data))


def lines(count: int) -> bytes:
    events = [{"v": 1, "kind": "node_sample", "wall_s": n, "n": n} for n in range(count)]
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@given(
    count=st.integers(0, 6),
    pieces=st.lists(st.integers(1, 120), max_size=20),
    pieces_a_link=st.integers(1, 4),
    torn=st.booleans(),
    attach=st.booleans(),
)
def test_each_event_comes_once_over_any_number_of_lost_links(
    tmp_path_factory: pytest.TempPathFactory,
    count: int,
    pieces: list[int],
    pieces_a_link: int,
    torn: bool,
    attach: bool,
) -> None:
    path = tmp_path_factory.mktemp("run") / "events.jsonl"
    file = File(lines(count) + b'{"v": 1, "kin' * torn, pieces, pieces_a_link)
    journal = Journal(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "followed", file.followed)
        patch.setattr("remote.process.tail", file.tail)
        for _ in range(10):
            with pytest.raises(NodeUnreachable):
                asyncio.run(merging.merge_on(journal, cast(Link, None), "samples", SOURCE))
            if attach:
                journal.close()
                journal = Journal(path)
        asyncio.run(merging.merge(journal, cast(Link, None), "samples", SOURCE))
    events = list(iter_events(path))
    assert [event["n"] for event in events] == list(range(count))
    assert [event["off"] for event in events[1:]] == [event["end"] for event in events[:-1]]
    journal.close()


async def test_merging_ends_when_it_is_over(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path_factory.mktemp("run") / "events.jsonl")
    monkeypatch.setattr(merging, "followed", File(lines(3), [], 100).followed)
    await merging.merge_on(journal, cast(Link, None), "samples", SOURCE, lambda: journal.offset(SOURCE) > 0)
    assert journal.offset(SOURCE) == len(lines(3))
