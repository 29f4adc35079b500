"""The copy of a file on a node: whole, by offset, without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote import process, tail
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
        patch.setattr(process, "tail", node.tail)
        for part in [*parts, b"\nend\n"]:
            node.content += part
            copy = tail.FileCopy(cast(Link, None), "log", local, SECRET)
            await copy.update()
            assert SECRET.encode() not in copy.read(0)
    expected = node.content.replace(SECRET.encode(), b"***")
    assert local.read_bytes() == expected


@given(
    content=st.text("abx\n", max_size=30).map(str.encode),
    reads=st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=30),
)
def test_two_readers_of_one_file_bring_each_byte_once(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, reads: list[tuple[bool, int]]
) -> None:
    local = tmp_path_factory.mktemp("copy") / "engine.log"
    copy = tail.FileCopy(cast(Link, None), "log", local, SECRET)
    at, rest = {False: 0, True: 0}, {False: b"", True: b""}
    for reader, count in [*reads, (True, len(content)), (False, len(content))]:
        data = content[at[reader] : at[reader] + count]
        rest[reader] = copy.append(at[reader] - len(rest[reader]), rest[reader] + data)
        at[reader] += len(data)
        assert SECRET.encode() not in copy.read(0)
    kept = copy.read(0)
    assert kept == content.replace(SECRET.encode(), b"***")[: len(kept)]
    assert len(content) - len(kept) < len(SECRET)


async def test_without_a_secret_the_copy_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(3)
    monkeypatch.setattr(process, "tail", node.tail)
    copy = tail.FileCopy(cast(Link, None), "log", tmp_path / "log")
    assert copy.lines() == []
    node.content = b"one\ntwo\xff\n"
    await copy.update()
    await copy.update()
    assert copy.read(4) == b"two\xff\n"
    assert copy.lines() == ["one", "two\ufffd"]
