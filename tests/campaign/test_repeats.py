"""A campaign of two repeats, killed in the middle of the second and taken up again."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from bench.record_check import problems
from kvtui.samples import Pass, Sample, sample_from
from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left
from tests.campaign.test_cut_off import STAND_IN, events, record, until

DOCUMENTS = 3


@pytest.fixture
def plan(operator: Operator) -> Path:
    """Two tiers without a cache, twice, sent to an engine that only walks the steps."""
    operator.engine(f"import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    path = operator.write_plan(kind="none")
    text = (
        path.read_text().replace("capacity_gib = 1", "").replace("documents = 2", f"documents = {DOCUMENTS}")
    )
    text = text.replace("[passes]", "[passes]\nrepeats = 2\nshuffle_seed = 4")
    path.write_text(text + '[[tiers]]\nname = "bare"\nkind = "none"\n')
    return path


def samples(operator: Operator) -> list[Sample]:
    return [sample_from(event) for event in events(operator) if event["kind"] == "sample"]


async def test_a_run_killed_in_its_second_repeat_gives_the_whole_result(
    operator: Operator, plan: Path
) -> None:
    process = await operator.start("launch", plan)
    for block in ("none-single.1", "bare-single.1"):
        await until(operator, "step_done", f"{block}/stop")
    await until(operator, "done", "bare-single-r2.1/single.cold")
    process.kill()
    await process.wait()
    before = samples(operator)
    assert {sample.repeat for sample in before if sample.step is Pass.CACHED} == {1}
    ended = await operator.kvtui("attach", "--json")
    assert ended.code == 0, ended.stderr
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)

    found = samples(operator)
    assert found[: len(before)] == before
    blocks = list(dict.fromkeys(sample.block for sample in found))
    assert blocks == ["none-single", "bare-single", "bare-single-r2", "none-single-r2"]
    # Every request has its place in the run's order, warm-ups included.
    assert [sample.run_place for sample in found] == list(range(1, len(found) + 1))
    assert len(found) == 4 * (2 + 2 * DOCUMENTS)

    orders: dict[tuple[str, Pass], list[str]] = defaultdict(list)
    for sample in found:
        orders[sample.block, sample.step].append(sample.document)
    for block in blocks:
        assert orders[block, Pass.COLD] == orders[block, Pass.CACHED]
        assert orders[block, Pass.COLD] == orders[blocks[0 if block.endswith("single") else 2], Pass.COLD]
    listed = sorted(orders["none-single", Pass.COLD])
    assert len({tuple(orders[name, Pass.COLD]) for name in blocks} | {tuple(listed)}) == 3

    rows = json.loads(ended.stdout)["rows"]
    assert [(row["tier"], row["repeats"], row["cold_n"]) for row in rows] == [
        ("none", 2, DOCUMENTS),
        ("bare", 2, DOCUMENTS),
    ]
    places = [one["first_place"] for row in rows for one in row["by_repeat"]]
    assert places[0] < places[2] < places[3] < places[1]  # there and back
    shown = await operator.kvtui("results")
    assert "Repeat by repeat" in shown.stdout
