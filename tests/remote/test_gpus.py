"""GPUs from a program that goes on printing: its values, its absence, its death."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remote.onnode import gpus
from remote.onnode.gpus import Gpus
from tests.remote.node_runner import until

# Prints for each GPU once a second, as nvidia-smi does, and counts how often it was started.
PROGRAM = """#!/bin/sh
echo started >> {count}
case "$1" in *{unknown}*) echo 'Field is not a valid field to query.'; exit 2;; esac
while :; do
  echo '0, 97, 21000, 81920, 1410, 0x0000000000000004'
  echo '1, [N/A], 5, 81920, [Not Supported], 0x0000000000000001'
  {after}
done
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[list[Gpus]]:
    """Readers, ended with the test."""
    readers: list[Gpus] = []
    yield readers
    for reader in readers:
        reader.close()


def reader(tmp_path: Path, made: list[Gpus], after: str = "sleep 1", unknown: str = "nothing") -> Gpus:
    program = tmp_path / "nvidia-smi"
    program.write_text(PROGRAM.format(count=tmp_path / "count", after=after, unknown=unknown))
    program.chmod(0o755)
    made.append(Gpus(str(program)))
    return made[-1]


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "count").read_text().splitlines())


FIRST = {
    "index": 0,
    "utilisation_percent": 97,
    "memory_used_bytes": 21000 * 1024**2,
    "memory_total_bytes": 81920 * 1024**2,
    "clock_mhz": 1410,
    "throttle": "power cap",
}


def test_one_program_for_all_readings(tmp_path: Path, made: list[Gpus]) -> None:
    found = reader(tmp_path, made)
    until(lambda: len(found.sample()) == 2, "two GPUs")
    first, second = found.sample()
    assert first == FIRST
    assert (second["utilisation_percent"], second["clock_mhz"], second["throttle"]) == (None, None, "")
    assert starts(tmp_path) == 1


def test_an_older_driver_is_asked_in_its_own_words(tmp_path: Path, made: list[Gpus]) -> None:
    found = reader(tmp_path, made, unknown="event_reasons")
    until(lambda: len(found.sample()) == 2, "two GPUs")
    assert found.sample()[0] == FIRST
    assert starts(tmp_path) == 2


def test_one_that_dies_is_not_started_again(
    tmp_path: Path, made: list[Gpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = reader(tmp_path, made, after="exit 1")
    until(lambda: len(found.sample()) == 2, "two GPUs")
    monkeypatch.setattr(gpus, "STALE_S", 0.0)
    until(lambda: found.sample() == [], "no old reading")
    for _ in range(20):
        found.sample()
    assert starts(tmp_path) == 1


def test_one_that_never_works_is_tried_once_in_each_way(tmp_path: Path, made: list[Gpus]) -> None:
    found = reader(tmp_path, made, unknown="query")

    def all_tried() -> bool:
        assert found.sample() == []
        return (tmp_path / "count").exists() and starts(tmp_path) == len(gpus.THROTTLE_FIELDS)

    until(all_tried, "every way tried")
    for _ in range(20):
        assert found.sample() == []
    assert starts(tmp_path) == len(gpus.THROTTLE_FIELDS)


def test_a_node_without_the_program_has_no_gpus() -> None:
    assert Gpus("/nowhere/nvidia-smi").sample() == []


def test_lines_that_are_no_readings() -> None:
    for line in ("", "No devices were found", "0, 1", "x, 1, 2, 3, 4, 5"):
        assert gpus.parse(line) is None
    assert gpus.throttle("0x0000000000000060") == "thermal, software, thermal, hardware"
    assert gpus.throttle("[N/A]") is None
