"""What happens now, in a file: the latest word, seldom enough, and gone with the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvtui import now
from kvtui.now import NowFile
from kvtui.record import RunRecord, create
from tests.remote.waiting import reached


class Told:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def say(self, text: str) -> None:
        self.heard.append(f"say {text}")

    def phase(self, text: str) -> None:
        self.heard.append(f"phase {text}")


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    return create(tmp_path, 0.0)


def text(record: RunRecord) -> str:
    return str(json.loads(record.now.read_text())["text"])


async def test_everything_is_passed_on_and_phases_are_written(record: RunRecord) -> None:
    told = Told()
    file = NowFile(record, told, lambda: 7.5)
    file.say("a line")
    assert not record.now.exists()
    file.phase("gpu-a: loading weights, 41 s")
    assert json.loads(record.now.read_text()) == {"wall_s": 7.5, "text": "gpu-a: loading weights, 41 s"}
    assert told.heard == ["say a line", "phase gpu-a: loading weights, 41 s"]
    file.close()
    assert not record.now.exists()


async def test_the_last_of_many_words_is_written_and_few_of_them(
    record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []
    write = RunRecord.write_json

    def counted(self: RunRecord, path: Path, data: object) -> None:
        written.append(data)
        write(self, path, data)

    monkeypatch.setattr(now, "PERIOD_S", 0.05)
    monkeypatch.setattr(RunRecord, "write_json", counted)
    file = NowFile(record, Told())
    for number in range(1000):
        file.phase(str(number))
    assert text(record) == "0"
    await reached(lambda: text(record) == "999")
    assert len(written) == 2
    file.close()


async def test_a_step_that_begins_is_what_happens_now(record: RunRecord) -> None:
    file = NowFile(record, Told())
    file.see({"kind": "finding"})
    assert not record.now.exists()
    file.see({"kind": "step_begin", "words": "valkey · cold pass"})
    assert text(record) == "valkey · cold pass"
    file.close()
