"""The copy of a file on a node: whole, by offset, without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote import tail
from remote.link import Link
from remote.process import Chunk

SECRET = "aab"


class Node:
    """A node with one growing file, read in pieces of a given size."""

    def __init__(self, piece_bytes: int) -> None:
        self.content = b""
        self.piece_bytes = piece_bytes

    async def tail(self, link: Link, path: str, offset: int) -> Chunk:
        data = self.content[offset : offset + self.piece_bytes]
        return Chunk(data, offset + len(data), len(self.content))


@given(
    parts=st.lists(st.text("abx\n", max_size=12).map(str.encode), max_size=6), piece_bytes=st.integers(1, 5)
)
async def test_a_copy_is_whole_and_never_holds_the_secret(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], piece_bytes: int
) -> None:
    node = Node(piece_bytes)
    local = tmp_path_factory.mktemp("copy") / "engine.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail, "tail", node.tail)
        for part in [*parts, b"\nend\n"]:
            node.content += part
            await tail.FileCopy(cast(Link, None), "log", local, SECRET).update()
            assert SECRET.encode() not in local.read_bytes()
    expected = node.content.replace(SECRET.encode(), b"***")
    assert local.read_bytes() == expected


async def test_without_a_secret_the_copy_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(3)
    monkeypatch.setattr(tail, "tail", node.tail)
    copy = tail.FileCopy(cast(Link, None), "log", tmp_path / "log")
    assert copy.lines() == []
    node.content = b"one\ntwo\xff\n"
    assert await copy.update() == node.content
    assert await copy.update() == b""
    assert copy.lines() == ["one", "two\ufffd"]
