"""The bare way to the store's machine, by a stand-in for iperf3 with its real answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from remote.onnode import iperf

RECORDED = Path(__file__).parents[1] / "data" / "tools" / "iperf-3.12.json"
LINE: dict[str, Any] = {
    "host": "10.0.0.9",
    "port": 20001,
    "streams": 2,
    "repeats": 2,
    "slice_s": 0.5,
    "timeout_s": 15,
}
WORDS = "--client 10.0.0.9 --port 20001 --json --reverse --parallel 2 --time 1 --connect-timeout 3000"


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process as a node that has no programs but those of the test."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def install(tmp_path: Path, script: str) -> None:
    (tmp_path / "iperf.py").write_text(script)
    program = tmp_path / "bin" / "iperf3"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/iperf.py "$@"\n')
    program.chmod(0o700)


def refusing(times: int, tmp_path: Path) -> str:
    """One whose server is not there at first."""
    return f"""
import json, pathlib, sys
tries = pathlib.Path({str(tmp_path / "tries")!r})
count = len(tries.read_text()) if tries.exists() else 0
tries.write_text("x" * (count + 1))
assert " ".join(sys.argv[1:]) == {WORDS!r}, sys.argv
if count < {times}:
    print(json.dumps({{"error": "unable to connect to server: Connection refused"}}))
else:
    print(open({str(RECORDED)!r}).read())
"""


def test_what_was_received_is_the_rate(tmp_path: Path) -> None:
    install(tmp_path, refusing(2, tmp_path))
    answer = iperf.measure(LINE)
    received = json.loads(RECORDED.read_text())["end"]["sum_received"]
    rate = received["bits_per_second"] / 8
    assert rate == pytest.approx(received["bytes"] / received["seconds"])
    assert answer == {
        "ways": [
            {
                "what": "line",
                "how": "bare TCP, 2 streams",
                "threads": 2,
                "tool": "iperf 3.12",
                "bytes_s": [rate, rate],
            }
        ],
        "skipped": [],
    }
    assert len((tmp_path / "tries").read_text()) == 4


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (None, "iperf3 is not installed here."),
        ("import sys; sys.exit('bad option')", "iperf3 ended with status 1: bad option"),
        ("print('hello')", "iperf3's answer is not JSON."),
        ("print('[1]')", "iperf3's answer is not JSON."),
        ("print('{}')", "iperf3's answer names no rate."),
        ('print(\'{"start": {}, "end": []}\')', "iperf3's answer names no rate."),
        (
            'print(\'{"start": {"version": ""}, "end": {"sum_received": {"bits_per_second": 0}}}\')',
            "iperf3 received nothing.",
        ),
        (
            'print(\'{"error": "the server is busy running a test. try again later"}\')',
            "iperf3 failed: the server is busy running a test. try again later.",
        ),
    ],
)
def test_an_iperf_that_fails_is_told_of(tmp_path: Path, script: str | None, why: str) -> None:
    if script is not None:
        install(tmp_path, script)
    answer = iperf.measure(LINE)
    assert answer["ways"] == []
    assert answer["skipped"] == [{"what": "line", "how": "bare TCP, 2 streams", "why": why}]


def test_a_server_that_never_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iperf, "APPEARS_S", 0.2)
    install(tmp_path, refusing(10**6, tmp_path))
    [skipped] = iperf.measure(LINE)["skipped"]
    assert skipped["why"] == "iperf3 failed: unable to connect to server: Connection refused."
