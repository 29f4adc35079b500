"""The record of events: append-only, merged exactly once, readable after any death."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui import journal as journal_module
from kvtui.errors import RecordError
from kvtui.journal import Event, Journal, read_events


def journal(path: Path) -> Journal:
    return Journal(path, clock=lambda: 12.5)


def lines(count: int) -> bytes:
    return b"".join(json.dumps({"v": 1, "kind": "done", "n": n}).encode() + b"\n" for n in range(count))


def test_events_are_there_after_the_process_that_wrote_them(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal(path).append("step_begin", step="prepare")
    assert read_events(path) == (
        {"v": 1, "src": "kvtui", "wall_s": 12.5, "kind": "step_begin", "step": "prepare"},
    )


@given(cuts=st.lists(st.integers(0, 400), max_size=8), count=st.integers(0, 8), data=st.data())
def test_a_nodes_events_are_merged_once_however_the_reading_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], count: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("run") / "events.jsonl"
    raw = lines(count)
    for cut in [*cuts, len(raw)]:
        own = journal(path)  # a new process each time
        offset = own.offset("gpu-a:pass")
        piece = raw[offset : max(offset, cut)]
        end = own.merge("gpu-a:pass", offset, piece)
        assert end == own.offset("gpu-a:pass")
        own.close()
        if data.draw(st.booleans()):
            with path.open("ab") as file:
                file.write(b'{"v": 1, "torn')
    merged = [event["n"] for event in read_events(path)]
    assert merged == list(range(count))


def test_telemetry_is_written_and_told_and_read_on_from_but_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    own = journal(path)
    told: list[Event] = []
    own.listen(told.append)
    sample = b'{"v": 1, "kind": "node_sample", "wall_s": 1}\n'
    own.append("attached")
    own.merge("gpu-a:watch", 0, sample)
    assert [event["kind"] for event in told] == ["attached", "node_sample"]
    assert [event["kind"] for event in own.events] == ["attached"]
    own.close()
    again = journal(path)
    assert again.offset("gpu-a:watch") == len(sample)
    assert [event["kind"] for event in again.events] == ["attached"]
    assert [event["kind"] for event in read_events(path)] == ["attached", "node_sample"]


@given(st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), max_size=4), st.integers(1, 50))
def test_a_torn_end_of_any_length_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, torn: list[bytes], block_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("run") / "events.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "_BLOCK_BYTES", block_bytes)
        for count, rest in enumerate(torn, 1):
            own = journal(path)
            own.append("step_begin", step=count)
            own.close()
            with path.open("ab") as file:
                file.write(rest)
        journal(path).close()
    assert [event["step"] for event in read_events(path)] == list(range(1, len(torn) + 1))
    assert not path.read_bytes() or path.read_bytes().endswith(b"\n")


def test_a_piece_that_does_not_follow_is_refused(tmp_path: Path) -> None:
    own = journal(tmp_path / "events.jsonl")
    own.merge("gpu-a:pass", 0, lines(2))
    with pytest.raises(RecordError, match="from byte 0"):
        own.merge("gpu-a:pass", 0, lines(2))


def test_a_torn_last_line_is_dropped_and_writing_goes_on_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal(path).append("one")
    with path.open("ab") as file:
        file.write(b'{"v": 1, "src": "kvtui", "ki')
    assert [event["kind"] for event in read_events(path)] == ["one"]
    journal(path).append("two")
    assert [event["kind"] for event in read_events(path)] == ["one", "two"]


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"v": 1}', '{"v": 99, "src": "kvtui", "kind": "x"}'])
def test_a_line_that_is_no_event_is_said_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RecordError, match="line 1"):
        read_events(path)


def test_events_that_cannot_be_read_are_said_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.mkdir()
    with pytest.raises(RecordError, match=r"events\.jsonl cannot be read: Is a directory"):
        read_events(path)


def test_who_listens_hears_every_event(tmp_path: Path) -> None:
    own = journal(tmp_path / "events.jsonl")
    heard: list[str] = []
    own.listen(lambda event: heard.append(event["kind"]))
    own.append("one")
    own.merge("gpu-a:pass", 0, lines(2))
    assert heard == ["one", "done", "done"]


def test_what_a_killed_probe_left_of_a_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    own = journal(path)
    data = lines(1) + b'{"v": 1, "kind": "se\n' + b"[1]\n\xff\n" + lines(1)
    assert own.merge("gpu-a:pass", 0, data) == len(data)
    assert [event["kind"] for event in read_events(path)] == ["done", "torn", "torn", "torn", "done"]
    assert journal(path).offset("gpu-a:pass") == len(data)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.jsonl"
    own = journal(path)
    own.append("one")
    write, room = os.write, [5]

    def short(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[: room.pop()])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", short)
        with pytest.raises(OSError, match="No space"):
            own.append("two")
    own.append("three")
    assert [event["kind"] for event in read_events(path)] == ["one", "three"]
