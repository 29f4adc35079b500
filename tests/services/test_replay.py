"""A replay gives events and log lines when their time comes, each once, as often as it is asked for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kvtui.feed import FeedBatch
from kvtui.live.line_times import LineTimes
from kvtui.live.state import LiveState
from kvtui.services.replay import ReplayFeed
from tests.kvtui.live.runs import RUNS, recorded

START = 1_795_995_700.0  # 2026-11-29 23:41:40 UTC


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def feed(name: str, clock: Clock, speed: float = 20.0, logs: tuple[Path, ...] | None = None) -> ReplayFeed:
    plan, events = recorded(RUNS / name)
    paths = tuple((RUNS / name).glob("logs/*.log")) if logs is None else logs
    return ReplayFeed("261129-120000-abcd", plan, events, speed, paths, clock)


def lines(batches: list[FeedBatch]) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """The lines of each log with their numbers."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for batch in batches:
        for piece in batch.logs:
            numbered = enumerate(piece.lines, piece.first_line)
            found.setdefault((piece.node, piece.process), []).extend(numbered)
    return found


@pytest.mark.parametrize("name", ["evicting", "zero-hit-fleet", "store-down", "engine-killed"])
def test_every_line_comes_once_and_beside_the_events_of_its_time(name: str) -> None:
    clock, batches = Clock(), []
    replay = feed(name, clock)
    for _ in range(400):
        batches.append(replay.poll())
        clock.now_s += 0.5
    assert sum(len(batch.events) for batch in batches) == len(recorded(RUNS / name)[1])
    for path in (RUNS / name).glob("logs/*.log"):
        node, _, process = path.name.removesuffix(".log").partition(".")
        texts = path.read_text(encoding="utf-8").splitlines()
        assert lines(batches)[node, process] == list(enumerate(texts, 1))
    began = next(i for i, batch in enumerate(batches) if batch.logs)
    planned = next(i for i, b in enumerate(batches) if any(e["kind"] == "engine_planned" for e in b.events))
    served = next(i for i, b in enumerate(batches) if any(e["kind"] == "pass_begin" for e in b.events))
    up = next(
        i for i, b in enumerate(batches) for p in b.logs if any("startup complete" in t for t in p.lines)
    )
    assert planned <= began < up <= served


def test_what_the_log_says_of_a_request_is_there_while_its_pass_is_shown_again() -> None:
    clock = Clock()
    replay = feed("evicting", clock)
    state = LiveState(replay.plan)
    heads = []
    for _ in range(400):
        batch = replay.poll()
        state.feed(batch.events)
        for piece in batch.logs:
            state.feed_log(piece.node, piece.process, piece.first_line, piece.lines)
        heads.append(state.view(batch.now_wall_s).logs)
        clock.now_s += 0.5
    counts = [sum(head.last for head in found) for found in heads]
    assert counts == sorted(counts)
    assert len(set(counts)) > 5


def test_a_second_replay_begins_anew() -> None:
    clock = Clock()
    first = feed("evicting", clock)
    clock.now_s += 1000
    everything = first.poll()
    second = feed("evicting", clock)
    again = second.poll()
    assert len(again.events) < len(everything.events)
    assert sum(len(piece.lines) for piece in again.logs) < sum(len(piece.lines) for piece in everything.logs)


def test_a_long_log_comes_in_pieces(tmp_path: Path) -> None:
    (source,) = (RUNS / "evicting").glob("logs/*.log")
    path = Path(shutil.copy(source, tmp_path / source.name))
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"line {number}\n" for number in range(5_000))
    clock = Clock()
    replay = feed("evicting", clock, logs=(path,))
    clock.now_s += 1000
    batches = [replay.poll()]
    while batches[-1].more:
        batches.append(replay.poll())
    assert max(len(piece.lines) for batch in batches for piece in batch.logs) <= 2_000
    ((_, found),) = lines(batches).items()
    assert len(found) == len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("zone_h", [0, 2, -5, 5.5])
def test_a_line_has_its_own_time_or_that_of_the_line_before_in_whatever_zone(zone_h: float) -> None:
    hour, minute = divmod(int((23 * 60 + 42 + zone_h * 60) % 1440), 60)
    day = "11-30" if 23.7 + zone_h >= 24 else "11-29"
    told = [
        "starting",
        f"INFO {day} {hour:02d}:{minute:02d}:10 [a.py:1] up",
        "  no time",
        f"(EngineCore pid=7) [2026-{day} {hour:02d}:{minute:02d}:40,512] LMCache INFO: Reqid: x",
        f"INFO {day} {hour:02d}:{minute:02d}:20 [a.py:1] of another process, written late",
        "INFO 13-77 99:99:99 [a.py:1] no date",
    ]
    assert [t - START for t in LineTimes(START).of(told)] == [0.0, 30.0, 30.0, 60.0, 60.0, 60.0]


def test_the_year_may_end_in_a_run() -> None:
    new_year = 1_798_761_600.0  # 2027-01-01 00:00:00 UTC
    found = LineTimes(new_year - 30).of(["INFO 12-31 23:59:50 [a.py:1] x", "INFO 01-01 00:00:05 [a.py:1] y"])
    assert [time - new_year for time in found] == [-10.0, 5.0]


def test_a_leap_day_is_no_trouble() -> None:
    leap = 1_835_395_200.0  # 2028-02-29 00:00:00 UTC
    assert list(LineTimes(leap).of(["INFO 02-29 00:00:07 [a.py:1] x"])) == [leap + 7]
