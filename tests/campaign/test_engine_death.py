"""An engine that dies in a pass ends the run, with its own words; one request that fails does not."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.record_check import problems
from kvtui.attribution import Verdict
from kvtui.campaign import engine_death, engines
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.campaign.target import Target
from kvtui.errors import RunFailed
from kvtui.journal import Event, Journal
from kvtui.plan import Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from kvtui.samples import Pass, Sample
from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left, check
from tests.campaign.test_cut_off import STAND_IN, events, record
from tests.kvtui.plans import lab_plan

DOCUMENTS = 4
# Two requests warm up.
FIRST_COLD, LAST_CACHED = 3, 2 + 2 * DOCUMENTS
BLOCK = Block("dram", (Topology.SINGLE,))


def plan_with(operator: Operator, fault: str) -> Path:
    """A plan without a cache, and an engine with a fault."""
    setting = f"import os; os.environ.update(STAND_IN_FAULT={fault!r}, STAND_IN_SECONDS='0.02')"
    operator.engine(f"{setting}; import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    path = operator.write_plan(kind="none")
    text = path.read_text().replace("capacity_gib = 1", "")
    path.write_text(text.replace("documents = 2", f"documents = {DOCUMENTS}"))
    return path


def samples(operator: Operator, step: str) -> list[Event]:
    return [e for e in events(operator) if e["kind"] == "sample" and e["step"] == step]


async def test_an_engine_that_dies_in_a_pass_fails_the_run_which_can_be_taken_up_again(
    operator: Operator,
) -> None:
    ended = await operator.kvtui("launch", plan_with(operator, f"dies:{FIRST_COLD + 1}"))
    words = "ended with exit code 3 in the cold pass, which left 3 of 4 requests without an answer"
    check(ended, 1, "gpu-a", words, "MemoryError: no room for the answer", "kvtui attach")
    assert [sample["ttft_ms"] is not None for sample in samples(operator, "cold")] == [True, *[False] * 3]
    assert samples(operator, "cached") == []
    assert_nothing_left(operator)
    shown = json.loads((await operator.kvtui("results", record(operator).run, "--json")).stdout)
    assert (shown["state"], shown["rows"][0]["cold_n"]) == ("failed", 1)
    plan_with(operator, "none:0")
    again = await operator.kvtui("attach", record(operator).run, "--json")
    assert again.code == 0, again.stderr
    row = json.loads(again.stdout)["rows"][0]
    assert (row["cold_n"], row["cached_n"]) == (DOCUMENTS, DOCUMENTS)
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_a_single_request_that_fails_is_a_finding_even_the_last_one(operator: Operator) -> None:
    ended = await operator.kvtui("launch", plan_with(operator, f"refuses:{LAST_CACHED}"), "--json")
    assert ended.code == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["state"] == "done"
    assert "requests-failed" in {finding["code"] for finding in found["findings"]}
    assert found["rows"][0]["cached_n"] == DOCUMENTS - 1
    assert_nothing_left(operator)


def sample(place: int, *, answered: bool) -> Sample:
    return Sample(
        request_id=f"r{place}",
        tier="dram",
        block="dram-single",
        attempt=1,
        topology="single",
        step=Pass.CACHED,
        document=f"d{place}",
        place=place,
        node="gpu-a",
        ttft_ms=80.0 if answered else None,
        prompt_tokens=None,
        reusable_tokens=256,
        reused_tokens=None,
        verdict=Verdict.UNKNOWN,
        reason="",
        evidence={},
    )


class Engine:
    """An engine as its node tells of it.

    Attributes:
        state: ``running`` or ``ended``.
        serves: Whether it answers.
        log: Its lines.
        asked: How often anything was asked of it.
    """

    def __init__(
        self, state: str, log: tuple[str, ...] = (), *, serves: bool = False, reason: str = ""
    ) -> None:
        self.state, self.serves, self.log, self.reason = state, serves, log, reason
        self.asked = 0

    async def status(self) -> SimpleNamespace:
        self.asked += 1
        return SimpleNamespace(
            state=self.state, exit_code=-9 if self.state == "ended" else None, reason=self.reason
        )

    async def served_model(self, *_: object) -> str | None:
        return "m" if self.serves else None

    async def update(self) -> None:
        pass

    def lines(self) -> list[str]:
        return list(self.log)


async def judged(
    engine: Engine, answered: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> RunFailed | None:
    """Check a pass whose requests went as the letters say; ``x`` is one that failed."""
    monkeypatch.setattr(engines, "engine", lambda *_: engine)
    monkeypatch.setattr(engines, "log_copy", lambda *_: engine)
    monkeypatch.setattr(engines, "ports", lambda *_: (1, 2))
    monkeypatch.setattr(engines, "served_model", engine.served_model)
    monkeypatch.setattr(engine_death, "_DYING_S", 0.0)
    ctx = Context(
        lab_plan(), Target({}, {}, "m"), RunRecord(directory), Journal(directory / "e"), {}, Progress()
    )
    found = [sample(place, answered=letter != "x") for place, letter in enumerate(answered, 1)]
    try:
        await engine_death.check(ctx, BLOCK, "gpu-a", "cached", found)
    except RunFailed as error:
        return error
    finally:
        ctx.journal.close()
    return None


@pytest.mark.parametrize(
    ("engine", "answered", "words"),
    [
        (
            Engine("ended", ("MemoryError: full",)),
            "..xx",
            "exit code -9 in the cached pass, which left 2 of 4",
        ),
        (
            Engine("ended", ("MemoryError: full",)),
            "...x",
            "left 1 of 4 requests without an answer: MemoryError: full",
        ),
        (Engine("ended", reason="lease"), "xxxx", "nobody claimed it for its lease"),
        (Engine("running"), "x.xx", "stopped answering in the cached pass, which left 2 of 4"),
        (Engine("running", serves=True), "xxxx", ""),
        (Engine("ended"), "xxx.", ""),
        (Engine("ended"), "....", ""),
        (Engine("ended"), "", ""),
    ],
)
async def test_only_a_dead_engine_whose_last_requests_failed_ends_a_run(
    engine: Engine, answered: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = await judged(engine, answered, tmp_path, monkeypatch)
    assert (failure is not None) == bool(words)
    if failure is not None:
        assert words in failure.message
        assert failure.message.count(".") == 1
        assert "kvtui attach" in failure.hint
    if answered[-1:] != "x":
        assert engine.asked == 0
