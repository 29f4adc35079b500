"""A damaged record hides no other, and can be removed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kvtui.errors import RecordError
from kvtui.paths import places
from kvtui.record import find
from kvtui.recordings import RECORDED
from kvtui.services.results import RecordedRuns
from kvtui.services.runs import delete_run
from tests.remote.asker import Person

WHOLE, DAMAGED = "260101-000000-aaaa", "260102-000000-bbbb"


@pytest.fixture
def runs(own_places: Path) -> RecordedRuns:
    """A whole record and a later one whose samples lack a field."""
    for run in (WHOLE, DAMAGED):
        directory = places().runs / run
        directory.mkdir(parents=True)
        for name in ("plan.json", "events.jsonl"):
            shutil.copy(RECORDED / name, directory)
    events = places().runs / DAMAGED / "events.jsonl"
    events.write_text(events.read_text().replace('"verdict"', '"other"'))
    return RecordedRuns(places(), Person())


async def test_the_latest_readable_run_is_shown(runs: RecordedRuns) -> None:
    found = await runs.result(None)
    assert found is not None
    assert found.result.run == WHOLE
    with pytest.raises(RecordError):
        await runs.result(DAMAGED)


async def test_when_none_can_be_read_the_reason_is_told(runs: RecordedRuns) -> None:
    await runs.delete(WHOLE)
    with pytest.raises(RecordError):
        await runs.result(None)


def test_a_run_that_never_had_a_target_can_be_removed(runs: RecordedRuns) -> None:
    events = places().runs / WHOLE / "events.jsonl"
    events.write_text(events.read_text().splitlines(keepends=True)[0])
    delete_run(find(places().runs, WHOLE, unfinished=False))
    assert not (places().runs / WHOLE).exists()
