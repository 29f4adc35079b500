"""The order of the cached pass, and the counts of bytes that samples keep, in a run from its plan on."""

from __future__ import annotations

from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left
from tests.campaign.test_cut_off import STAND_IN, events


async def test_the_cached_pass_asks_backwards_and_every_place_is_recorded(operator: Operator) -> None:
    operator.engine(f"import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    path = operator.write_plan(kind="none")
    text = path.read_text().replace("capacity_gib = 1", "").replace("documents = 2", "documents = 3")
    path.write_text(text.replace("[passes]", '[passes]\norder = "reversed"'))
    ended = await operator.kvtui("launch", path)
    assert ended.code == 0, ended.stderr
    samples = [event for event in events(operator) if event["kind"] == "sample"]
    cold, cached = (
        {event["place"]: event["document"] for event in samples if event["step"] == step}
        for step in ("cold", "cached")
    )
    assert sorted(cold) == sorted(cached) == [1, 2, 3]
    assert [cached[place] for place in (1, 2, 3)] == [cold[place] for place in (3, 2, 1)]
    sent = [event["request_id"] for event in events(operator) if event["kind"] == "sent"]
    assert [name.rpartition(".")[2] for name in sent if ".cached." in name] == [
        cached[place] for place in (1, 2, 3)
    ]
    for event in samples:
        moved = event["evidence"]["moved"]
        # The engine read no file of the size of a KV, and it has no store.
        assert moved["engine_read_bytes"] >= 0
        assert 0 <= moved["engine_rchar_bytes"] < 10_000_000
        assert "store_rx_bytes" not in moved
        assert "served_by" not in event["evidence"]
    assert_nothing_left(operator)
