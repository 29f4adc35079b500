"""Logs: the newest lines, the next warning, and what LMCache says of each request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kvtui.live.logs import KEPT_LINES, LINE_CHARS, Logs, stamp_wall_s
from kvtui.live.times import StorePrice
from kvtui.samples import Pass
from tests.kvtui.live.runs import Run, small_plan


def lmcache(wall_s: float, message: str, level: str = "INFO", zone_h: float = 0.0) -> str:
    """A line as LMCache writes it, on a node in some time zone."""
    at = datetime.fromtimestamp(wall_s + zone_h * 3600, UTC)
    stamp = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"
    return (
        f"\x1b[32;20m(EngineCore pid=7) [{stamp}] LMCache {level}:\x1b[0m {message} "
        "\x1b[3m(a.py:1:lmcache.v1.a)\x1b[0m"
    )


def engine_lines(run: Run, step: Pass, document: int, sent_s: float, zone_h: float = 0.0) -> list[str]:
    engine_id = f"cmpl-{run.id('valkey', step, document)}-0-88ff4f34"
    hit = "LMCache hit tokens: 2048, need to load: 2048"
    lookup = f"Reqid: {engine_id}, Total tokens 2064, Inference Engine computed tokens: 0, {hit}"
    retrieve = (
        f"[req_id={engine_id}] Retrieved 2048 out of 2048 required tokens (from 2048 total tokens). "
        "size: 0.0156 gb, cost 30.0000 ms, throughput: 0.5200 GB/s;"
    )
    return [lmcache(sent_s + 0.012, lookup, zone_h=zone_h), lmcache(sent_s + 0.045, retrieve, zone_h=zone_h)]


@pytest.mark.parametrize("zone_h", [0.0, 2.0, -7.0, 5.75])
def test_a_ttft_is_taken_apart_from_the_log_whatever_zone_the_node_is_in(zone_h: float) -> None:
    run = Run()
    run.step("valkey", "cached/single")
    run.of_node(run.source("valkey", Pass.CACHED), "pass_begin", requests=8)
    sent_s = run.now_s
    run.answer("valkey", Pass.CACHED, 0, 80.0)
    run.state.feed_log(
        "gpu-a", "valkey-single.1.engine", 1, engine_lines(run, Pass.CACHED, 0, sent_s, zone_h)
    )
    detail = run.state.request(run.id("valkey", Pass.CACHED, 0))
    assert detail is not None
    assert detail.parts is not None
    assert detail.parts.lookup_at_most_ms == pytest.approx(12, abs=1)
    assert detail.parts.retrieve_ms == 30.0
    assert detail.parts.rest_ms == pytest.approx(38, abs=1)
    assert detail.retrieve_bytes_s == pytest.approx(0.0156 * 1024**3 / 0.030)
    assert [row.line for row in detail.lines] == [1, 2]
    (parts,) = run.view().parts
    assert (parts.tier, parts.retrieve_ms, parts.cached_ms) == ("valkey", 30.0, 80.0)


def test_a_lookup_that_answered_after_the_first_token_is_no_bound_of_it() -> None:
    run = Run()
    sent_s = run.now_s
    run.answer("valkey", Pass.CACHED, 0, 80.0)
    run.state.feed_log("gpu-a", "valkey-single.1.engine", 1, engine_lines(run, Pass.CACHED, 0, sent_s + 5))
    detail = run.state.request(run.id("valkey", Pass.CACHED, 0))
    assert detail is not None
    assert detail.parts is not None
    assert (detail.parts.lookup_at_most_ms, detail.parts.rest_ms) == (None, 50.0)


def test_without_a_log_the_lookup_is_not_told_apart_and_stays_in_the_rest() -> None:
    run = Run()
    evidence = {"hit_tokens": 2048, "retrieved_tokens": 2048, "retrieve_ms": 30.0, "retrieve_gib": 0.0156}
    run.tier("valkey", [400.0] * 8, [80.0] * 8, "full", **evidence)
    (parts,) = run.view().parts
    assert (parts.lookup_at_most_ms, parts.retrieve_ms, parts.rest_ms) == (None, 30.0, 50.0)
    assert parts.store_ms == 5.0


def test_the_price_of_storing_is_against_the_tier_without_a_cache() -> None:
    run = Run()
    run.tier("none", [250.0] * 8, [250.0] * 8, "none")
    run.tier("valkey", [426.0] * 8, [229.0] * 8, "full")
    prices = {parts.tier: parts.store_price for parts in run.view().parts}
    assert prices == {"none": None, "valkey": StorePrice(176.0, 176.0, 176.0)}
    assert prices["valkey"] is not None
    assert prices["valkey"].beyond_noise


@pytest.mark.parametrize(
    ("documents", "shift_ms", "beyond"),
    [(8, 0.0, False), (8, -3.0, False), (8, 200.0, True), (4, 200.0, None)],
)
def test_a_price_within_the_noise_is_none_and_few_documents_say_nothing(
    documents: int, shift_ms: float, beyond: bool | None
) -> None:
    run = Run(small_plan(documents))
    noise_ms = [(-1) ** place * 20.0 for place in range(documents)]
    run.tier("none", [250.0] * documents, [250.0] * documents, "none")
    run.tier("dram", [250.0 + shift_ms + one for one in noise_ms], [80.0] * documents, "full")
    price = next(parts.store_price for parts in run.view().parts if parts.tier == "dram")
    assert price is not None
    assert price.beyond_noise is beyond


def test_a_stamp_of_another_request_is_not_taken_for_this_one() -> None:
    assert stamp_wall_s("2026-11-29 12:00:00,000", 1_795_953_600.0 - 700, 600.0) is None
    assert stamp_wall_s("no stamp", 0.0, 600.0) is None


def test_lines_that_were_fed_before_are_left_out() -> None:
    run = Run()
    for first, lines in ((1, ["a", "b"]), (2, ["b", "c"]), (1, ["a"])):
        run.state.feed_log("gpu-a", "x.1.engine", first, lines)
    assert [(row.line, row.text) for row in run.state.log_rows("gpu-a", "x.1.engine")] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]
    assert [row.text for row in run.state.log_rows("gpu-a", "x.1.engine", after=2)] == ["c"]


def test_a_flood_keeps_the_newest_lines_and_loses_no_request() -> None:
    run = Run()
    run.answer("valkey", Pass.CACHED, 0, 80.0)
    flood = engine_lines(run, Pass.CACHED, 0, run.now_s) + [
        f"line {number}" for number in range(3 * KEPT_LINES)
    ]
    run.state.feed_log("gpu-a", "valkey-single.1.engine", 1, flood)
    (head,) = run.view().logs
    assert (head.last, head.kept) == (len(flood), KEPT_LINES)
    rows = run.state.log_rows("gpu-a", "valkey-single.1.engine")
    assert (rows[0].line, rows[-1].line) == (len(flood) - KEPT_LINES + 1, len(flood))
    detail = run.state.request(run.id("valkey", Pass.CACHED, 0))
    assert detail is not None
    assert detail.retrieved_tokens == 2048


def test_the_next_warning_is_found_and_forgotten_with_its_line() -> None:
    logs = Logs()
    logs.feed(
        "gpu-a", "e", 1, ["plain", lmcache(0.0, "careful", "WARNING"), "x", lmcache(0.0, "broken", "ERROR")]
    )
    assert logs.next_warning("gpu-a", "e", 0) == 2
    assert logs.next_warning("gpu-a", "e", 2) == 4
    assert logs.next_warning("gpu-a", "e", 4) is None
    logs.feed("gpu-a", "e", 5, ["more"] * KEPT_LINES)
    assert logs.next_warning("gpu-a", "e", 0) is None


def test_a_word_of_alarm_in_a_message_is_no_level() -> None:
    logs = Logs()
    logs.feed("gpu-a", "e", 1, [lmcache(0.0, "the word ERROR in a message")])
    assert logs.next_warning("gpu-a", "e", 0) is None


def test_a_line_without_an_end_takes_no_memory_and_escapes_are_gone() -> None:
    logs = Logs()
    logs.feed("gpu-a", "e", 1, ["\x1b]0;title\x07" + "x" * 2_000_000])
    (row,) = logs.rows("gpu-a", "e")
    assert len(row.text) <= LINE_CHARS
    assert "\x1b" not in row.text


def test_what_logs_say_stands_among_the_findings_with_its_lines() -> None:
    run = Run()
    run.step("valkey", "cached/single")
    line = lmcache(
        run.now_s, "batched put error: OOM command not allowed when used memory > 'maxmemory'.", "ERROR"
    )
    run.state.feed_log("gpu-a", "valkey-single.1.engine", 1, ["start", line, line, "end"])
    found = [one for one in run.view().findings if one.lines]
    assert [one.count for one in found] == [2]
    assert [(ref.node, ref.process, ref.line) for ref in found[0].lines] == [
        ("gpu-a", "valkey-single.1.engine", 2),
        ("gpu-a", "valkey-single.1.engine", 3),
    ]
    assert found[0].first_wall_s == pytest.approx(run.now_s, abs=1)
    assert "valkey" in found[0].finding.where


def test_ordinary_lines_make_no_findings() -> None:
    run = Run()
    run.answer("valkey", Pass.CACHED, 0, 80.0)
    run.state.feed_log(
        "gpu-a", "valkey-single.1.engine", 1, engine_lines(run, Pass.CACHED, 0, run.now_s - 0.08)
    )
    assert run.codes() == []
