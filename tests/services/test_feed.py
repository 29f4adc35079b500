"""What a screen reads of a run: each event and line once, whatever the files hold."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.errors import RecordError
from kvtui.feed import FeedBatch
from kvtui.journal import Journal
from kvtui.line_reader import PIECE_BYTES, WIDEST_LINE, LineReader
from kvtui.record import RunRecord, create
from kvtui.services.feed import RunFeed


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    return create(tmp_path, 0.0)


def everything(feed: RunFeed) -> list[FeedBatch]:
    """Poll until there is no more."""
    batches = [feed.poll()]
    while batches[-1].more:
        batches.append(feed.poll())
    return batches


def numbered(path: Path) -> list[tuple[int, str]]:
    """All lines of a file as a reader gives them."""
    reader, found = LineReader(path), []
    while True:
        before = reader.size_left()
        piece = reader.read()
        if piece is not None:
            found += list(enumerate(piece.lines, piece.first))
        if reader.size_left() == before:
            return found


def test_events_come_once_while_they_are_written(record: RunRecord) -> None:
    journal, feed = Journal(record.events), RunFeed(record)
    first = feed.poll()
    assert (first.events, first.logs, first.now) == ((), (), "")
    assert not first.follower_alive
    assert not first.more
    for number in range(3):
        journal.append("step_begin", step=number)
        assert [event["step"] for event in feed.poll().events] == [number]
    assert feed.poll().events == ()


def test_a_torn_last_event_waits_until_it_is_whole_even_if_it_is_written_anew(record: RunRecord) -> None:
    journal, feed = Journal(record.events), RunFeed(record)
    journal.append("step_begin", step=1)
    journal.close()
    with record.events.open("ab") as file:
        file.write(b'{"v": 1, "kind": "ste')
    assert len(feed.poll().events) == 1
    anew = Journal(record.events)  # cuts the torn line off
    anew.append("attached")
    assert [event["kind"] for event in feed.poll().events] == ["attached"]


def test_a_damaged_event_is_said_after_those_before_it(record: RunRecord) -> None:
    Journal(record.events).append("run_begin")
    with record.events.open("ab") as file:
        file.write(b"nonsense\n")
    feed = RunFeed(record)
    assert [event["kind"] for event in feed.poll().events] == ["run_begin"]
    with pytest.raises(RecordError, match="line 2"):
        feed.poll()


def test_more_events_than_fit_into_one_piece_all_come(record: RunRecord) -> None:
    wide = "x" * 1_000_000
    with record.events.open("w") as file:
        for number in range(12):
            file.write(json.dumps({"v": 1, "kind": "k", "n": number, "wide": wide}) + "\n")
        file.write(json.dumps({"v": 1, "kind": "k", "n": 12, "wide": wide * 3}) + "\n")
    batches = everything(RunFeed(record))
    assert len(batches) > 1
    assert [event["n"] for batch in batches for event in batch.events] == list(range(13))


def test_what_happens_now_and_a_broken_word_of_it(record: RunRecord) -> None:
    feed = RunFeed(record)
    record.write_json(record.now, {"wall_s": 3.5, "text": "gpu-a: loading weights, 41 s"})
    with record.follow():
        assert feed.poll().now == "gpu-a: loading weights, 41 s"
        for broken in ("[", "[1]", "{}"):
            record.now.write_text(broken)
            assert feed.poll().now == ""


def test_what_an_ended_process_said_does_not_happen_now(record: RunRecord) -> None:
    record.write_json(record.now, {"wall_s": 3.5, "text": "gpu-a: loading weights, 41 s"})
    assert RunFeed(record).poll().now == ""


def test_logs_name_their_node_and_process(record: RunRecord) -> None:
    feed = RunFeed(record)
    path = record.log("gpu-a", "valkey-single", 1)
    path.write_bytes(b"one\ntwo\nthr")
    (piece,) = feed.poll().logs
    assert (piece.node, piece.process, piece.first_line) == ("gpu-a", "valkey-single.1.engine", 1)
    assert piece.lines == ("one", "two")
    assert feed.poll().logs == ()
    with path.open("ab") as file:
        file.write(b"ee\n")
    (piece,) = feed.poll().logs
    assert (piece.first_line, piece.lines) == (3, ("three",))


def test_a_follower_is_seen(record: RunRecord) -> None:
    feed = RunFeed(record)
    with record.follow():
        assert feed.poll().follower_alive
    assert not feed.poll().follower_alive


def test_a_line_of_two_megabytes_is_one_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"before\n" + b"e" * 2_000_000 + b"\nafter\n")
    found = numbered(path)
    assert [number for number, _ in found] == [1, 2, 3]
    assert found[1][1] == "e" * WIDEST_LINE + "…"
    assert found[2][1] == "after"


def test_a_long_log_comes_in_several_polls(record: RunRecord) -> None:
    line = b"y" * 99 + b"\n"
    count = 40 * PIECE_BYTES // len(line)
    record.log("gpu-a", "dram-single", 1).write_bytes(line * count)
    batches = everything(RunFeed(record))
    assert len(batches) > 1
    pieces = [piece for batch in batches for piece in batch.logs]
    assert sum(len(piece.lines) for piece in pieces) == count
    assert all(b.first_line == a.first_line + len(a.lines) for a, b in itertools.pairwise(pieces))


@given(
    parts=st.lists(st.binary(max_size=30) | st.just(b"w" * (PIECE_BYTES + 7)), max_size=8),
    cuts=st.lists(st.integers(0, 200), max_size=6),
)
def test_any_bytes_are_lines_and_none_is_lost_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    whole = b"\n".join([*parts, b""])
    reader, found = LineReader(path), []
    for end in [*sorted(cuts), len(whole)]:
        path.write_bytes(whole[:end])
        while True:
            before = reader.size_left()
            piece = reader.read()
            if piece is not None:
                found += list(enumerate(piece.lines, piece.first))
            if reader.size_left() == before:
                break
    expected = [
        (text if len(text) <= WIDEST_LINE else text[:WIDEST_LINE] + "…")
        for text in (part.removesuffix(b"\r").decode("utf-8", "replace") for part in whole.split(b"\n")[:-1])
    ]
    assert found == list(enumerate(expected, 1))
